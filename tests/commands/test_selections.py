"""Selections, thresholds and shuffled reports on the command line: values computed independently of the package, and laws."""

import json
from math import exp, log

import mpmath
import pytest
from calling import call

from dpcalc.bounds.mechanisms import exponential, shuffled_ldp

GOLDEN = [  # line, key, lower and upper end of what may be printed
    ("rdp --mechanism exponential --step-epsilon 1 --epsilon .2", "delta", 0.1719432638725825, 0.1719432638725836),
    # the pair alone gives 2.612, 13.432 and 13.106, zCDP 2.419, 13.374 and 12.271
    ("rdp --mechanism exponential --step-epsilon .1 --steps 100 --delta 1e-6", "epsilon", 2.2418, 2.4003),
    ("rdp --mechanism exponential --step-epsilon 1 --steps 20 --delta 1e-6", "epsilon", 11.9057, 12.4252),
    ("rdp --mechanism exponential --step-epsilon .5 --steps 50 --delta 1e-9", "epsilon", 11.4384, 11.8527),
    ("rdp --mechanism exponential --step-epsilon .1 --steps 100 --delta 1e-6", "epsilon_lower", 2.23, 2.2418),
    ("rdp --mechanism above-threshold --threshold-scale 2 --scale 20 --hits 3 --delta 0", "epsilon", 0.8, 0.8 + 2e-16),
    ("rdp --mechanism above-threshold --threshold-scale 2 --scale 20 --hits 3 --queries monotone --delta 0", "epsilon",
     0.65, 0.65 + 2e-16),
    # 1 + 2 log(1 − 0.01), and 2Δ/b = 1/2 likewise
    ("rdp --mechanism permute-and-flip --step-epsilon 1 --delta .01", "epsilon", 0.97989932829, 0.97989932830),
    ("rdp --mechanism rnm --scale 6 --sensitivity 1.5 --delta .01", "epsilon", 0.47989932829, 0.47989932830),
    ("rdp --mechanism rnm --scale 3 --sensitivity 1.5 --queries monotone --delta .01", "epsilon", 0.47989932829,
     0.47989932830),
    ("rdp --mechanism gumbel-max --scale 2 --epsilon .2", "delta", 0.1719432638725825, 0.1719432638725836),
    ("rdp --mechanism top-k --scale 40 --top-k 5 --delta 0", "epsilon", 0.25, 0.25),
    ("rdp --mechanism shuffled-ldp --n 1000 --step-epsilon 1 --delta 1e-6", "epsilon", 0.148670, 0.148672),
    ("rdp --mechanism shuffled-ldp --n 1e4 --step-epsilon 4 --delta 1e-6", "epsilon", 0.410812, 0.410813),
    ("rdp --mechanism shuffled-ldp --n 1e6 --step-epsilon 6 --delta 1e-8", "epsilon", 0.131800, 0.131812),
    ("rdp --mechanism shuffled-ldp --n 1000 --step-epsilon 1 --delta 1e-6", "epsilon_lower", 0.126613, 0.126615),
    ("rdp --mechanism shuffled-ldp --n 1e4 --step-epsilon 4 --delta 1e-6", "epsilon_lower", 0.314642, 0.314644),
]


@pytest.mark.parametrize("line, key, low, high", GOLDEN)
def test_known_values(line, key, low, high, ask):
    assert low <= ask(*line.split())["result"][key] <= high


def test_total_variation_of_one_selection(ask):
    assert ask("tv", "--mechanism", "exponential", "--step-epsilon", 4)["result"]["tv"] == pytest.approx(0.76159415595576)


def test_one_round_of_one_report_is_the_local_guarantee(ask):
    alone = ask("rdp", "--mechanism", "shuffled-ldp", "--n", 1, "--step-epsilon", 1, "--epsilon", 0.3)["result"]
    local = ask("rdp", "--mechanism", "randomized-response", "--probability", "1/(1+exp(-1))", "--epsilon", 0.3)
    assert alone["delta"] == pytest.approx(local["result"]["delta"], rel=1e-8)


def test_more_reports_or_rounds(ask):
    """More reports lose less, more rounds lose more, and shuffling never loses more than the reports alone."""
    def epsilon(n, steps):
        return ask("rdp", "--mechanism", "shuffled-ldp", "--n", n, "--step-epsilon", 2, "--steps", steps, "--delta",
                   1e-6)["result"]["epsilon"]

    assert epsilon(10, 1) >= epsilon(100, 1) > epsilon(10_000, 1) > epsilon(900_000, 1)
    assert epsilon(100, 1) < epsilon(100, 2) < epsilon(100, 5) <= 10


@pytest.mark.slow
def test_solutions_meet_their_budgets(ask):
    budget = ("--epsilon", 1, "--delta", 1e-6)
    for run, name, worse in ((("exponential", "--steps", 10), "step-epsilon", 1.01),
                             (("shuffled-ldp", "--step-epsilon", 2), "n", 0.97),
                             (("shuffled-ldp", "--n", 500, "--steps", 3), "step-epsilon", 1.01),
                             (("above-threshold", "--threshold-scale", 9, "--scale", 30), "hits", 1.6)):
        found = ask("rdp", "--mechanism", *run, *budget, "--solve", name)["result"][name.replace("-", "_")]
        for x, meets in ((found, True), (found * worse if name not in ("n", "hits") else round(found * worse), False)):
            epsilon = ask("rdp", "--mechanism", *run, f"--{name}", x, "--delta", 1e-6)["result"]["epsilon"]
            assert (epsilon <= 1) is meets, (run, name, x)


@pytest.mark.parametrize("line, says", [
    ("rdp --mechanism shuffled-ldp --n 1e10 --step-epsilon 1 --delta 1e-6", "give 1e9"),
    ("rdp --mechanism shuffled-ldp --step-epsilon 1 --delta 1e-6", "--n: needed"),
    ("rdp --mechanism shuffled-ldp --n 100 --step-epsilon 1 --alpha 3", "ask with --delta"),
    ("subsample --mechanism shuffled-ldp --step-epsilon 1 --n 100 --batch-size 5 --steps 3 --delta 1e-6", "dpcalc rdp"),
    ("rdp --mechanism above-threshold --scale 3 --delta 1e-6", "--threshold-scale: needed"),
    ("rdp --mechanism exponential --step-epsilon 0 --delta 1e-6", "> 0"),
    ("rdp --mechanism exponential --scale 3 --delta 1e-6", "noisy-max-gumbel, the same with Gumbel noise"),
    ("rdp --mechanism pf --sensitivity 3 --step-epsilon 1 --delta 1e-6", "--mechanism report-noisy-max"),
    ("rdp --mechanism top-k --scale 3 --delta 1e-6", "--top-k: needed"),
    ("rdp --mechanism rnm --scale 3 --top-k 2 --delta 1e-6", "--top-k: not used"),
    ("rdp --mechanism gumbel --scale 3 --delta 1e-6", "did you mean noisy-max-gumbel"),
])
def test_what_cannot_be_answered_is_said(line, says):
    code, out, err = call(line.split())
    assert code == 2 and out == "" and says in err, err


def test_a_run_of_thresholds_pipes_on_with_its_hits(ask, cli):
    own = ("rdp", "--mechanism", "above-threshold", "--threshold-scale", 4, "--scale", 30, "--hits", 5)
    for queries, pure in (("any", 0.25 + 1 / 3), ("monotone", 0.25 + 1 / 6)):
        record = json.dumps(ask(*own, "--queries", queries))
        composed = json.loads(cli("convert", "-", "--steps", 2, "--delta", 0, "--json", stdin=record).stdout)
        assert composed["result"]["epsilon"] == pytest.approx(2 * pure, rel=1e-14)
        sampled = json.loads(cli("subsample", "-", "--sampling-rate", 1, "--delta", 1e-9, "--json", stdin=record).stdout)
        assert sampled["result"]["epsilon"] == pytest.approx(pure, rel=1e-6)


def test_shuffled_reports_near_certainty_and_with_a_large_local_epsilon():
    mp = mpmath.mp.clone()
    mp.dps = 400
    run = (103.21476347357483, 2, 454.27610284464015)
    assert shuffled_ldp.value(*run) >= mp.log(shuffled_ldp.exact(mp, *run))
    for local in (700.0, 745.5, 1e4):
        assert -1e-300 < shuffled_ldp.value(1.0, 1000, local) <= 0


@pytest.mark.parametrize("local", [365, 700, 745.5, 1e4])
@pytest.mark.filterwarnings("error")
def test_rounds_of_reports_that_nothing_hides(ask, local):
    """With a large local ε nearly all others report the truth, so that the worst report is as good as alone."""
    for steps in (1, 3):
        run = ("rdp", "--mechanism", "shuffled-ldp", "--n", 5, "--step-epsilon", local, "--steps", steps)
        result = ask(*run, "--delta", 1e-6)["result"]
        assert min(local, 700) * steps * 0.999 < result["epsilon_lower"] < result["epsilon"] <= local * steps
        code, out, _ = call([*map(str, run), "--epsilon", "1", "--json"])
        assert code == 0 and json.loads(out)["result"]["delta"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [5e-6, 2e-5])
def test_nearly_all_reports_are_coins_where_the_local_epsilon_is_small(epsilon):
    """Against the mean over all numbers of coins: blocks of up to 1 of 2000 numbers cost little."""
    mp = mpmath.mp.clone()
    mp.dps = 30
    n, local = 1000, 1e-4
    r, share = 2 / (mp.exp(local) + 1), shuffled_ldp.exact_share(mp, epsilon, local)
    mean = mp.fsum(mp.binomial(n - 1, c) * r**c * (1 - r) ** (n - 1 - c) * 2 / ((c + 1) * share)
                   * mp.fsum(((c + 1) * share - i) * mp.binomial(c + 1, i) / mp.mpf(2) ** (c + 1)
                             for i in range(int(mp.ceil((c + 1) * share)))) for c in range(940, n))
    known = mp.log(-mp.expm1(mp.mpf(epsilon) - local) / (1 + mp.exp(-local)) * mean)
    assert known <= shuffled_ldp.value(epsilon, n, local) <= known + 1e-6


def test_the_range_of_a_selection_is_its_epsilon_at_delta_zero():
    assert exponential.inverse(-float("inf"), 2.0) == 2.0


@pytest.mark.parametrize("name, own, other, same", [
    ("rnm", "--scale 4 --steps 9", "permute-and-flip", "--step-epsilon .5 --steps 9"),
    ("rnm", "--scale 4 --sensitivity 2 --queries monotone", "pf", "--step-epsilon .5"),
    ("gumbel-max", "--scale 4 --steps 9", "exponential", "--step-epsilon .5 --steps 9"),
    ("topk", "--scale 4 --top-k 3 --group-size 2", "topk", "--scale 2 --top-k 3"),
    ("topk", "--scale 4 --top-k 3 --queries monotone", "topk", "--scale 8 --top-k 3")])
def test_the_same_selection_in_other_options(name, own, other, same, ask, cli):
    """Also in a pipe, on batches and for an attacker."""
    def answers(mechanism, options):
        described = json.dumps(ask("rdp", "--mechanism", mechanism, *options.split()))
        yield ask("rdp", "--mechanism", mechanism, *options.split(), "--delta", 1e-6)["result"]["epsilon"]
        yield ask("rdp", "--mechanism", mechanism, *options.split(), "--alpha", 3)["result"]["rdp"]
        yield ask("tv", "--mechanism", mechanism, *options.split())["result"]["tv"]
        piped = cli("convert", "-", "--steps", 2, "--delta", 1e-6, "--json", stdin=described)
        yield json.loads(piped.stdout)["result"]["epsilon"]

    assert list(answers(name, own)) == pytest.approx(list(answers(other, same)), rel=1e-12)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("name, options", [("pf", "--step-epsilon 1"), ("rnm", "--scale 2"), ("gumbel-max", "--scale 2"),
                                           ("topk", "--scale 4 --top-k 2")])
def test_noisy_scores_on_poisson_batches(name, options, relation, ask, cli):
    """Less than the pure ε allows, more than one step; and without a lower end, as no pair has all these losses."""
    base = json.dumps(ask("rdp", "--mechanism", name, *options.split(), "--adjacency", "add-remove"))
    run = ("subsample", "-", "--sampling-rate", 0.01, "--delta", 1e-6, "--adjacency", relation, "--json")
    one, many = (json.loads(cli(*run, "--steps", steps, stdin=base).stdout) for steps in (1, 500))
    pure = log(1 + 0.01 * (exp(1) - 1)) - (log(1 + 0.01 * (exp(-1) - 1)) if relation == "replace-one" else 0)
    assert one["result"]["epsilon"] < many["result"]["epsilon"] < 500 * pure and one["result"]["epsilon"] <= pure
    assert "epsilon_lower" not in many["result"]
    assert json.loads(cli("verify", "-", "--json", stdin=json.dumps(many)).stdout)["verified"]


@pytest.mark.parametrize("line", ["exponential --step-epsilon 1e-320", "gumbel-max --scale 1e300 --sensitivity 1e-8",
                                  "pf --step-epsilon 1e-300", "topk --scale 1e300 --top-k 9"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_hardly_any_loss(line):
    """A range that is no normal double has no bound from below, and every bound from above."""
    for question in ("--delta 1e-6", "--delta 0", "--epsilon 1e-3"):
        code, out, err = call(f"rdp --mechanism {line} --steps 2 {question} -q".split())
        assert code == 0 and float(out) < 1e-290, err


def test_peeling_with_gumbel_noise_is_below_the_one_shot(ask):
    shot = ask("rdp", "--mechanism", "top-k", "--scale", 20, "--top-k", 10, "--delta", 1e-6)
    peeled = ask("rdp", "--mechanism", "noisy-max-gumbel", "--scale", 20, "--steps", 10, "--delta", 1e-6)["result"]
    assert peeled["epsilon"] < 0.7 < 0.99 < shot["result"]["epsilon"] <= 1
    assert any("--steps k" in note for note in shot["notes"])


def test_monotone_scores_are_about_adding_a_record(cli):
    done = cli("rdp", "--mechanism", "rnm", "--scale", 2, "--queries", "monotone", "--adjacency", "replace-one", "--delta", 0)
    assert done.returncode == 2 and "--queries" in done.stderr


def test_groups_of_composed_selections(ask, cli):
    """A group of two doubles the range of every selection."""
    record = json.dumps(ask("rdp", "--mechanism", "exponential", "--step-epsilon", 0.5, "--steps", 5))
    pair = json.loads(cli("convert", "-", "--group-size", 2, "--delta", 1e-5, "--json", stdin=record).stdout)["result"]
    twice = ask("rdp", "--mechanism", "exponential", "--step-epsilon", 1, "--steps", 5, "--delta", 1e-5)["result"]
    assert pair["epsilon"] == pytest.approx(twice["epsilon"], rel=2e-3)

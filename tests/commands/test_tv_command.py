"""dpcalc tv: its numbers, other commands' results, solving, curves, errors."""

import json
from math import exp, sqrt, tanh

import pytest
from conftest import slow
from known import best_gaussian
from paths import GOLDEN

from dpcalc.core.numbers import human
from dpcalc.pld.bracket import log_delta_at_epsilon
from dpcalc.pld.pair import Gaussian
from dpcalc.pld.sampled import poisson

RUNS = json.loads((GOLDEN / "tv_peers.json").read_text())["cases"]


def test_gaussian_numbers_and_their_meaning(ask):
    got = ask("tv", "--sigma", 1, "--fpr", "0.001,0.01,0.1", "--prior", 0.5, "--n", 1000)
    result = got["result"]
    assert result["tv"] == pytest.approx(0.38292492254802624, rel=1e-12)
    assert (result["success"], result["posterior"]) == pytest.approx(((1 + result["tv"]) / 2,) * 2, rel=1e-13)
    assert 0 <= 1 - result["tv"] - result["error_sum"] < 1e-15
    assert (result["fpr"], result["tpr"]) == (0.001, got["roc"][0]["tpr"])
    assert [p["tpr"] for p in got["roc"]] == pytest.approx([best_gaussian(f, 1) for f in (0.001, 0.01, 0.1)], rel=1e-9)
    assert got["roc"][2]["tpr"] == pytest.approx(0.38914, abs=5e-6)
    assert got["roc"][2]["confidence"] == pytest.approx(0.38914 / 0.48914, abs=1e-5)
    assert result["tv_one_record"] == 0.001
    assert got["guarantee"]["mechanisms"][0]["noise_multiplier"] == 1.0


@pytest.mark.parametrize("epsilon", [0.01, 1, 8])
def test_stability_is_attained_by_randomised_response(epsilon, ask):
    """A loss that is 0 for one answer and R for the other: its mean changes by R(e^ε − 1)/(e^ε + 1) = R·tanh(ε/2)."""
    mean_changes_by = 3 * (exp(epsilon) - 1) / (exp(epsilon) + 1)
    got = ask("tv", "--epsilon", epsilon, "--delta", 0, "--loss-range", 3)
    assert mean_changes_by <= got["result"]["stability"] * (1 + 1e-15)
    assert got["result"]["stability"] == pytest.approx(3 * tanh(epsilon / 2), rel=1e-14)
    assert any("changes by at most" in note for note in got["notes"])
    # with a range of at most 2, ε-DP is ε-uniformly stable; with 3 it is not where ε is small
    assert ask("tv", "--epsilon", epsilon, "--delta", 0, "--loss-range", 2)["result"]["stability"] <= epsilon
    assert (got["result"]["stability"] > epsilon) == (epsilon < 2)


def test_a_total_variation_that_is_not_proven_says_nothing_about_stability(cli):
    done = cli("tv", "--mechanism", "laplace", "--scale", 2, "--loss-range", 3, "--bound", "tv-laplace-as-published")
    assert done.returncode == 2 and "says nothing" in done.stderr


@pytest.mark.parametrize("run", RUNS, ids=lambda r: f"{r['sampling_rate']}-{r['sigma']}-{r['steps']}")
def test_dp_sgd_agrees_with_published_code(run):
    """The peer's value is an upper bound, ours has a lower one too."""
    parts = ((poisson(Gaussian(1 / run["sigma"]), run["sampling_rate"]), run["steps"]),)
    found = log_delta_at_epsilon(parts, 0.0)
    assert exp(found.lower) <= run["tv"]
    assert exp(found.upper) == pytest.approx(run["tv"], rel=0.01)
    assert found.upper - found.lower < 0.01


@pytest.mark.parametrize("run", RUNS[::7], ids=lambda r: f"{r['sampling_rate']}-{r['sigma']}-{r['steps']}")
def test_dp_sgd_rates_agree_with_published_code(run, ask):
    got = ask("tv", "--sampling-rate", run["sampling_rate"], "--sigma", run["sigma"], "--steps", run["steps"], "--fpr",
              0.1)["result"]
    assert got["tpr"] == pytest.approx(run["riskcal_tpr_at_0.1"], rel=1e-3)
    assert got["tv"] == pytest.approx(run["riskcal_advantage"], rel=0.01)


def test_dp_sgd_through_its_profile(ask, cli):
    line = ("--sampling-rate", 0.01, "--sigma", 1, "--steps", 1000)
    got = ask("tv", *line, "--fpr", 0.1)
    assert 0.1609 < got["bounds"][0]["tv_lower"] <= got["result"]["tv"] < 0.1612
    assert got["bound"] == "poisson-profile"
    assert 0.1 < got["result"]["tpr"] < 0.1 + got["result"]["tv"] - 0.05
    piped = ask("tv", "-", stdin=cli("subsample", *line, "--json").stdout)
    assert piped["result"]["tv"] == pytest.approx(got["result"]["tv"], rel=2e-3)
    point = cli("subsample", *line, "--delta", "1e-5", "--json").stdout
    epsilon = json.loads(point)["result"]["epsilon"]
    through = ask("tv", "--epsilon", epsilon, "--delta", "1e-5")["result"]["tv"]
    assert through > 0.7  # what one point of the profile knows


SHUFFLED = "--sigma 1 --lipschitz 1 --diameter 1 --learning-rate .25 --smoothness .5 --n 1000 --epsilon 1 --json"
BURNT = ("--n 60000 --batch-size 128 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate .05 --diameter 2 --sigma "
         ".1 --delta 1e-5 "
         "--json")


def test_results_of_other_commands(ask, cli):
    shuffled = cli("shuffle-pnsgd", *SHUFFLED.split()).stdout
    delta = json.loads(shuffled)["result"]["delta"]
    assert ask("tv", "-", stdin=shuffled)["result"]["tv"] == pytest.approx((exp(1) - 1 + 2 * delta) / (exp(1) + 1),
                                                                           rel=1e-12)
    burnt = cli("burn-in", *BURNT.split()).stdout
    assert 0 < ask("tv", "-", "--fpr", 0.1, stdin=burnt)["result"]["tpr"] < 0.5
    base = cli("rdp", "--sigma", 2, "--steps", 4, "--json").stdout
    assert ask("tv", "-", stdin=base)["result"]["tv"] == pytest.approx(0.38292492254802624, rel=1e-12)


def test_tv_aware_composition(ask, cli):
    """ε = .5, η = .05, 50 releases: ε at 1e-6 falls from 20.3 to 8.62, TV from .92 to .57."""
    known = ("--epsilon", 0.5, "--delta", 0, "--steps")
    assert ask("tv", *known, 50)["result"]["tv"] == pytest.approx(0.9199, abs=5e-5)
    aware = ask("tv", *known, 50, "--tv", 0.05)
    assert aware["result"]["tv"] == pytest.approx(0.5656, abs=1e-4)
    assert aware["bound"] == "profile-composition"
    one = cli("tv", *known, 1, "--tv", 0.05, "--json").stdout
    assert json.loads(one)["guarantee"] == {"kind": "profile", "epsilon": [0.0, 0.5], "delta": [0.05, 0.0]}
    assert ask("convert", "-", "--steps", 50, "--delta", "1e-6",
               stdin=one)["result"]["epsilon"] == pytest.approx(8.62, abs=5e-3)
    point = json.dumps({"kind": "dp", "epsilon": 0.5, "delta": 0.0})
    assert ask("convert", "-", "--steps", 50, "--delta", "1e-6",
               stdin=point)["result"]["epsilon"] == pytest.approx(20.3, abs=5e-3)


SOURCES = [
    ("--mu 1", 0.38292492254802624), ("--rho 0.02 --bound tv-kl", 0.1), ("--kl 3", sqrt(1 - exp(-3))),
    ("--kl 0.02 --steps 4", 0.2),
    ("--epsilon 1 --delta 1e-6", 0.4621176951428525), ("--tv 0.05 --steps 50", 1 - 0.95**50),
    ("--p .5,.5 --q .4,.6", 0.1),
    ("--mechanism laplace --scale 2", 1 - exp(-0.25)), ("--mechanism randomized-response --probability .6", 0.2),
    ("--mechanism randomized-response --probability .6 --steps 3", 0.6**3 + 3 * 0.36 * 0.4 - 0.4**3 - 3 * 0.16 * 0.6),
    ("--alpha 2,4 --rdp .1,.2 --bound tv-kl", sqrt(0.05)), ("--sigma 50 --bound tv-pinsker --steps 4", 0.02),
    ("--sampling-rate .01 --steps 1 --sigma 1", 0.0038292492254802624),
    ("--scheme without-replacement --n 100 --batch-size 1 --steps 1 --sigma 1", 0.0038292492254802624),
]


@pytest.mark.parametrize("line, want", SOURCES, ids=[s[0] for s in SOURCES])
def test_sources(line, want, ask):
    got = ask("tv", *line.split())["result"]["tv"]
    assert want * (1 - 1e-13) <= got <= want * (1 + 1e-9)


# ρ-zCDP: the root of TV·log((1+TV)/(1−TV)) = ρ, α → 1; one order 2: that of (1+3TV²)/(1−TV²) = e^r
CURVES = [("--rho .5", 0.4790984), ("--rho .1", 0.22174191), ("--rho .25 --steps 2", 0.4790984),
          ("--alpha 2 --rdp 1", sqrt((exp(1) - 1) / (exp(1) + 3))),
          ("--alpha 2,4,8 --rdp 1,2,4", sqrt((exp(1) - 1) / (exp(1) + 3)))]


@pytest.mark.parametrize("line, want", CURVES)
def test_the_total_variation_of_a_curve_is_that_of_its_roc(line, want, ask, cli):
    got = ask("tv", *line.split(), "--fpr", (1 - want) / 2)
    tv, rates = got["result"]["tv"], got["roc"][0]
    assert want * (1 - 1e-7) <= tv <= want * (1 + 2e-5)
    assert rates["tpr"] - rates["fpr"] == pytest.approx(tv, rel=1e-4)
    assert got["bound"] == "tv-rdp"
    assert "not proven" not in cli("verify", "-", stdin=json.dumps(got)).stdout


SOLVED = [
    ("--tv 0.4790984 --solve rho", "rho", "--rho {x}", "tv", 0.4790984, 1e-11),
    ("--mechanism laplace --tv 0.01 --solve scale", "scale", "--mechanism laplace --scale {x}", "tv", 0.01, 1e-11),
    ("--tv 0.2 --sigma 3 --solve steps", "steps", "--sigma 3 --steps {x}", "tv", 0.2, 0.1),
    ("--fpr 0.1 --tpr 0.2 --solve sigma", "sigma", "--sigma {x} --fpr 0.1", "tpr", 0.2, 1e-11),
    ("--mechanism laplace --fpr 0.01 --tpr 0.02 --solve scale", "scale", "--mechanism laplace --scale {x} --fpr 0.01",
     "tpr", 0.02, 1e-7),
    ("--sampling-rate 0.01 --steps 1000 --tv 0.1 --solve sigma", "sigma",
     "--sampling-rate 0.01 --steps 1000 --sigma {x}", "tv", 0.1, 2e-3),
    ("--sampling-rate 0.01 --steps 1000 --fpr 0.01 --tpr 0.05 --solve sigma", "sigma",
     "--sampling-rate 0.01 --steps 1000 --sigma {x} --fpr 0.01", "tpr", 0.05, 2e-3),
    ("--sampling-rate 0.01 --sigma 1 --tv 0.1 --solve steps", "steps", "--sampling-rate 0.01 --sigma 1 --steps {x}",
     "tv", 0.1, 5e-3),
    ("--mechanism laplace --steps 10 --fpr 0.01 --tpr 0.02 --solve scale", "scale",
     "--mechanism laplace --steps 10 --scale {x} --fpr 0.01", "tpr", 0.02, 2e-3),
]


@pytest.mark.parametrize("line, name, back, key, budget, near",
                         [slow(*solved) if solved[0].startswith(("--sampling-rate", "--mechanism laplace --steps"))
                          else solved for solved in SOLVED], ids=[s[0] for s in SOLVED])
def test_a_solved_parameter_meets_its_budget_when_fed_back(line, name, back, key, budget, near, ask, cli):
    solved = ask("tv", *line.split())
    assert solved["solved"] == name and solved["status"] == "proven"
    assert cli("verify", "-", "-q", stdin=json.dumps(solved)).returncode == 0
    got = ask("tv", *back.format(x=repr(solved["result"][name])).split())["result"][key]
    assert budget * (1 - near) <= got <= budget


def test_roc_as_rows(cli, ask):
    text = cli("tv", "--sigma", 1, "--roc", 11, "--format", "csv").stdout.split()
    assert text[0] == "fpr,tpr" and len(text) == 12
    curve = [tuple(map(float, line.split(","))) for line in text[1:]]
    assert curve[5][0] == 0.5
    assert all(t == pytest.approx(best_gaussian(f, 1), rel=1e-9) for f, t in curve)
    table = cli("tv", "--sigma", 1, "--fpr", "0.1,0.2").stdout
    assert "FPR" in table and "0.389144" in table and "\n0.1 " in table.replace("  ", " ")


def test_a_sweep_of_solutions_shows_them_beside_the_rates(cli):
    for format, separator in (("markdown", "|"), ("latex", "&")):
        shown = cli("tv", "--sigma", "1,2", "--tpr", ".3", "--fpr", ".05", "--solve", "steps", "--format", format).stdout
        rows = [[x.strip() for x in line.strip("|").split(separator)] for line in shown.splitlines() if "0.05" in line]
        assert [row[:2] for row in rows] == [["1", "1"], ["2", "5"]]


@pytest.mark.parametrize("rest, rates", [("--fpr .1 --tpr .4", 1), ("--tv .1 --fpr .1,.2", 2), ("--tv .1 --roc 4", 4)])
def test_a_solution_stands_beside_the_rates_in_every_format(rest, rates, cli, ask):
    line = ("tv", *rest.split(), "--solve", "sigma")
    sigma = ask(*line)["result"]["sigma"]
    for format, delimiter in (("csv", ","), ("tsv", "\t")):
        header, *rows = cli(*line, "--format", format).stdout.splitlines()
        assert header == delimiter.join(("sigma", "fpr", "tpr")) and len(rows) == rates
        assert all(float(row.split(delimiter)[0]) == sigma for row in rows)
    for format, separator in (("markdown", "|"), ("latex", "&")):
        text = cli(*line, "--format", format).stdout
        firsts = [row.strip(separator).split(separator)[0].strip() for row in text.splitlines()]
        assert firsts.count(human(sigma)) == rates and ("σ" if format == "markdown" else "$\\sigma$") in firsts


def test_the_published_laplace_rule_only_by_name(ask, cli):
    line = ("tv", "--mechanism", "laplace", "--scale", "sqrt(50)")
    assert [b["name"] for b in ask(*line)["bounds"]] == ["tv-exact"]
    named = cli(*line, "--bound", "tv-laplace-as-published", "--json")
    assert named.returncode == 0 and "tv-laplace-as-published is a published formula without a sound proof, not a guarantee" in named.stderr
    answer = json.loads(named.stdout)
    assert answer["status"] == "as-published" and answer["result"]["tv"] == pytest.approx(0.01, rel=1e-12)
    assert not any("a guess" in note for note in answer["notes"])  # a false number says nothing about attacks
    assert cli(*line, "--bound", "tv-laplace-as-published", "--fpr", 0.1).returncode == 2


REFUSED = [
    ("--sigma 1 --delta 1e-5", 2, "--sigma"), ("--sigma 1 --tpr .3", 2, "--solve"),
    ("--fpr .1 --solve sigma", 2, "--tv"),
    ("--tv .1 --tpr .2 --fpr .1 --solve sigma", 2, "--tpr"), ("--tpr .2 --fpr .1,.2 --solve sigma", 2, "--fpr"),
    ("--tpr .05 --fpr .1 --solve sigma", 3, "0.1"), ("--scale 3", 2, "--scale"),
    ("--tv 0 --solve sigma", 3, "no sigma"),
    ("--sampling-rate .1", 2, "--sigma"), ("--mu 1 --tv .1 --solve sigma", 2, "--mu"),
    ("--sigma 1 --fpr .1 --roc 5", 2, "--roc"),
    ("--scheme weighted --sigma 1", 2, "--scheme"), ("--sigma 1 --fpr 0", 2, "--fpr"),
    ("--mu 1 --tv .1 --solve n", 2, "--solve"),
]


@pytest.mark.parametrize("line, code, says", REFUSED, ids=[r[0] for r in REFUSED])
def test_refused(line, code, says, cli):
    done = cli("tv", *line.split())
    assert done.returncode == code and done.stdout == "" and says in done.stderr
    assert done.stderr.count("\n") == 1 and "Traceback" not in done.stderr and "fault of dpcalc" not in done.stderr

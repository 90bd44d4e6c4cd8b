"""The best of a random number of runs: known values by the commands, pipes, ledgers, statements, and what is refused."""

import json
from itertools import permutations
from math import exp

import numpy as np
import pytest
from answers import answer, number, refusal
from calling import call
from conftest import spread
from paths import GOLDEN
from selection_laws import Candidate, NegativeBinomial, Poisson, renyi, selected_pair
from selection_laws import delta as hockey_stick
from verifying import ask, better

from dpcalc import DpcalcError
from dpcalc import answer as answer_of
from dpcalc.verify.report import REFUTED, VERIFIED, verify

CASES = json.loads((GOLDEN / "tuning.json").read_text())["cases"]
RUN = "subsample --sampling-rate 0.01 --steps 100 --noise-multiplier 1"
TRIED = f"{RUN} --tries 30"
GDP = "convert --from gdp --mu 0.5 --tries 10"


def law_of(question):
    if question.get("law"):
        return f"--tries {question['mean_tries']} --tries-law {question['law']}"
    return f"--tries {question['mean_tries']} --tries-shape {question['shape']}"


def selected(line, **marks):
    """The guarantee of an answer for the next command."""
    return {**answer(line)["guarantee"], **marks}


def converted(*guarantees, **options):
    return answer_of("convert", inputs=list(guarantees), **{"delta": 1e-5, **options})


# --- known values ----------------------------------------------------------------------------------------------------


@spread("case", [c for c in CASES if c["capability"] in ("tuning-profile", "tuning-poisson", "tuning-rdp")])
def test_a_gaussian_run_gives_known_values(case):
    question, value = case["question"], case["value"]
    found = answer(f"convert --from gdp --mu {question['mu']} {law_of(question)} --delta {question['delta']}")
    by_name = {bound["name"]: bound["epsilon"] for bound in reversed(found["bounds"])}
    known = {"selection-profile": value.get("epsilon", value.get("epsilon_profile")),
             "selection-rdp": value.get("with_profile", value.get("epsilon_rdp"))}
    for name, x in known.items():
        if x is not None:
            assert x * (1 - 1e-4) < by_name[name] < x * (1 + case["rel_tol"])
    assert found["result"]["epsilon"] == min(by_name.values())
    assert found["result"]["epsilon"] < value.get("epsilon_at_most", 1e9)


@pytest.mark.parametrize("law, epsilon", [("geometric", 3.14626), ("logarithmic", 2.93762)])
def test_laws_by_their_names(law, epsilon):
    assert number(f"{GDP} --tries-law {law} --delta 1e-5") == pytest.approx(epsilon, abs=2e-5)


def test_a_fixed_number_of_runs_is_composition_and_the_answer_says_what_it_costs():
    notes = " ".join(answer(f"{GDP} --delta 1e-5")["notes"])
    together = number("convert --from gdp --mu 0.5 --steps 10 --delta 1e-5")
    assert f"{together:.4f}"[:-1] in notes and "fixed" in notes
    assert "use --steps 10" in refusal(f"{GDP} --tries-law fixed --delta 1e-5", 2)


def test_the_search_of_a_training_run_costs_little():
    one, best = number(f"{RUN} --delta 1e-5"), number(f"{TRIED} --delta 1e-5")
    fixed = number(f"{RUN.replace('100', '3000')} --delta 1e-5")
    assert one < best < 2.5 * one < fixed


def exact_selection(law, tries, p, q, score):
    """The exact output laws of the best of several runs with these outcomes and scores, in both directions."""
    laws = {"geometric": NegativeBinomial(1.0, 1 / tries), "poisson": Poisson(tries)}
    return selected_pair(laws[law], Candidate("", np.array(p), np.array(q), np.array(score)))


@pytest.mark.parametrize("law", ["geometric", "poisson"])
@pytest.mark.parametrize("epsilon, delta", [(1.0, 1e-3), (0.3, 0.01), (2.0, 0.0), (0.0, 0.05)])
def test_no_run_with_an_epsilon_and_a_delta_is_above_what_is_said_of_it(law, epsilon, delta):
    """The worst mechanism that is (ε, δ)-DP, with its outcomes in every order of scores."""
    odds = (1 - delta) / (1 + exp(epsilon))
    p, q = (delta, exp(epsilon) * odds, odds, 0.0), (0.0, odds, exp(epsilon) * odds, delta)
    one = {"kind": "dp", "epsilon": epsilon, "delta": delta}
    at = 4.6 * delta + 1e-6
    said = answer_of("convert", inputs=[one], tries=4, tries_law=law, delta=at).value
    for score in permutations(range(4)):
        a, b = exact_selection(law, 4.0, p, q, score)
        assert max(float(hockey_stick(x, y, said)) for x, y in ((a, b), (b, a))) <= at * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_no_finite_run_is_above_what_is_said_of_it(seed):
    rng = np.random.default_rng(seed)
    p, q = (rng.dirichlet(np.full(3, 0.7)).round(6) for _ in range(2))
    p[0], q[0] = 1 - p[1] - p[2], 1 - q[1] - q[2]
    one, law = {"kind": "outcomes", "p": p.tolist(), "q": q.tolist()}, ("geometric", "poisson")[seed % 2]
    for asks, at in (("delta", 0.05), ("alpha", 3.0), ("epsilon", 1.5)):
        said = answer_of("convert", inputs=[one], tries=5, tries_law=law, **{asks: at}).value
        for score in permutations(range(3)):
            for a, b in (pair := exact_selection(law, 5.0, p, q, score), pair[::-1]):
                exact = renyi(a, b, 3.0) if asks == "alpha" else float(hockey_stick(a, b, at if asks == "epsilon" else
                                                                                    said))
                assert exact <= (at if asks == "delta" else said) * (1 + 1e-9)


# --- pipes, ledgers, statements --------------------------------------------------------------------------------------


def test_a_question_beside_the_run_and_in_a_pipe_have_one_answer():
    beside, run = number(f"{TRIED} --delta 1e-5"), selected(RUN)
    assert converted(run, tries=30).value == pytest.approx(beside, rel=1e-12)
    assert converted(selected(TRIED)).value == pytest.approx(beside, rel=1e-12)
    assert number("rdp --sigma 2 --tries 5 --delta 1e-5") == pytest.approx(
        number("convert --from gdp --mu 0.5 --tries 5 --delta 1e-5"), rel=1e-12)


def test_what_must_hold_is_handed_on():
    found = converted(selected(f"{TRIED} --tries-law logarithmic"), {"kind": "gdp", "mu": 0.1})
    said = " ".join(found.promises)
    for words in ("logarithmic law with mean 30", "before anything is run", "only the run with the largest score",
                  "score", "batches must be Poisson samples"):
        assert words in said
    assert found.guarantee["adjacency"] == "add-remove"


def test_a_ledger_repeats_a_release_and_selects():
    release = {"command": "subsample", "sampling-rate": 0.01, "steps": 100, "noise-multiplier": 1}
    file = {"release": [{**release, "tries": 30}, {"command": "rdp", "sigma": 10}, {"kind": "gdp", "mu": 0.1, "tries": 5,
                                                                                    "tries-law": "poisson"}]}
    found = answer_of("ledger", file=file, delta=1e-5)
    alone = [number(f"{TRIED} --delta 1e-5"), number("rdp --sigma 10 --delta 1e-5"),
             number("convert --from gdp --mu 0.1 --tries 5 --tries-law poisson --delta 1e-5")]
    each = found.record()["releases"]
    assert [r["epsilon"] for r in each] == pytest.approx(alone, rel=1e-6)
    assert max(alone) < found.value < sum(alone)
    assert found.value >= each[1]["total_epsilon"] >= each[0]["total_epsilon"] >= alone[0] * (1 - 1e-9)


@pytest.mark.parametrize("law", ["", " --tries-law poisson", " --tries-shape 0.5"])
def test_the_profile_at_points_that_composes_is_not_below_the_selection_and_near_it(law):
    alone = number(f"{GDP}{law} --delta 1e-5")
    nothing = {"kind": "dp", "epsilon": 1e-6, "delta": 0.0}
    together = converted(selected(f"{GDP}{law}  --delta 1e-3"), nothing).value
    assert alone <= together < 1.01 * alone


def test_a_selected_run_is_converted_for_replaced_records_run_by_run():
    best = selected("rdp --noise-multiplier 2 --tries 5")
    twice = number("rdp --noise-multiplier 1 --tries 5 --delta 1e-5")
    assert converted(best, adjacency="replace-one").value == pytest.approx(twice, rel=1e-9)


def test_groups_are_those_of_one_run():
    of_group = converted({"kind": "mechanisms", "mechanisms": [{"name": "gaussian", "noise_multiplier": 4.0}]},
                         group_size=2, tries=10)
    assert of_group.value == pytest.approx(number(f"{GDP} --delta 1e-5"), rel=1e-9)
    assert of_group.guarantee["candidate"][0]["group_size"] == 2


def test_the_total_variation_and_attacks_of_the_selection():
    best, run = selected("rdp --sigma 5 --tries 30"), selected("rdp --sigma 5")
    one, found = answer_of("tv", inputs=[run], fpr=0.01), answer_of("tv", inputs=[best], fpr=0.01)
    assert one.value < found.value < 1
    assert one.result["tpr"] < found.result["tpr"] < 0.05
    epsilon, delta = converted(best).value, 1e-5
    assert found.result["tpr"] <= 2.718281828459045**epsilon * 0.01 + delta


def test_a_statement_says_what_was_selected():
    text = " ".join(call([*f"{TRIED} --delta 1e-5 --format statement".split()]).stdout.split())
    for words in ("geometric law with mean 30", "the run with the largest score", "30 expected",
                  "each run makes 100 accesses", "Not covered are preprocessing", "selection-profile"):
        assert words in text
    assert "choice of hyper-parameters" not in text


# --- solving ---------------------------------------------------------------------------------------------------------


def test_the_number_of_runs_for_a_budget():
    tries = number("rdp --sigma 2 --solve tries --epsilon 3 --delta 1e-5")
    assert number(f"rdp --sigma 2 --tries {tries!r} --delta 1e-5") <= 3
    assert number(f"rdp --sigma 2 --tries {tries * 1.001!r} --delta 1e-5") > 3


def test_the_noise_of_each_run_for_a_budget():
    noise = number(f"{TRIED.replace('--noise-multiplier 1', '')} --epsilon 2 --delta 1e-5 --solve noise-multiplier")
    for factor, meets in ((1, True), (0.99, False)):
        line = TRIED.replace("--noise-multiplier 1", f"--noise-multiplier {factor * noise!r}")
        assert (number(f"{line} --delta 1e-5") <= 2) is meets


def test_where_every_number_of_runs_meets_the_budget_there_is_nothing_to_solve_for():
    line = "convert --from dp --epsilon 0.5 --delta 0 --tries-law logarithmic --target-delta 1e-5"
    for epsilon in (1, 1.001):  # the limit of very many runs, and above
        assert "every tries" in refusal(f"{line} --target-epsilon {epsilon} --solve tries", 3)


@pytest.mark.slow
def test_a_ledger_finds_how_many_runs_fit():
    release = {"kind": "gdp", "mu": 0.3, "tries": "?"}
    other = {"kind": "gdp", "mu": 0.3}
    tries = answer_of("ledger", file={"release": [other, release]}, epsilon=4, delta=1e-5).value
    for factor, meets in ((1, True), (1.1, False)):
        total = answer_of("ledger", file={"release": [other, {**release, "tries": factor * tries}]}, delta=1e-5).value
        assert (total <= 4) is meets


# --- verification ----------------------------------------------------------------------------------------------------


VERIFIED_LINES = (
    f"{GDP} --delta 1e-5", f"{GDP} --epsilon 3", f"{GDP} --alpha 8", f"{GDP} --to tv",
    "convert --from gdp --mu 0.2 --tries 30 --tries-law poisson --delta 1e-6",
    "convert --from dp --epsilon 1 --delta 0 --tries 10 --target-delta 0",
    "rdp --mechanism laplace --scale 2 --tries 10 --delta 0",
    "rdp --sigma 2 --tries 10 --tries-shape -0.5 --delta 1e-5",
    "rdp --sigma 2 --solve tries --epsilon 3 --delta 1e-5",
    "convert --from zcdp --rho 0.1 --tries 10 --delta 1e-5",
)


@spread("line", VERIFIED_LINES)
def test_a_result_is_verified_and_a_better_one_is_not(line):
    record = ask(line)
    assert verify(record).word == VERIFIED
    assert verify(better(record)).word == REFUTED


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line, words", [
    ("rdp --sigma 1 --tries 0.5 --delta 1e-5", "at least 1 (with --tries-law poisson above 0)"),
    ("rdp --sigma 1 --tries 5 --tries-law poisson --tries-shape 1 --delta 1e-5", "one of --tries-law and"),
    ("rdp --sigma 1 --tries-law poisson --delta 1e-5", "expected number of runs"),
    ("rdp --sigma 1 --tries 5 --tries-shape -1 --delta 1e-5", "> -1"),
    ("rdp --sigma 1 --tries 1e6 --tries-shape -0.99 --delta 1e-5", "--tries-shape"),
    ("convert --from gdp --mu 1 --tries 5 --to zcdp", "--delta"),
    ("convert --from dp --epsilon 1 --delta 1e-5 --tries 10 --target-delta 1e-5", "δ"),
])
def test_questions_without_an_answer_say_what_to_do(line, words):
    code, out, err = call(line.split())
    assert code in (2, 3) and not out and words in err and "Traceback" not in err


def test_a_selected_run_is_not_selected_again_nor_sampled():
    best = selected("rdp --sigma 5 --tries 30")
    with pytest.raises(DpcalcError, match="best of several runs already"):
        converted(best, tries=3)
    with pytest.raises(DpcalcError, match="cannot be sampled"):
        answer_of("subsample", inputs=[best], sampling_rate=0.1, steps=3, delta=1e-5)
    with pytest.raises(DpcalcError, match="best of several runs already"):
        answer_of("ledger", file={"release": [{**best, "tries": 3}]}, delta=1e-5)


@pytest.mark.parametrize("change, words", [
    ({"law": {"shape": 1.0}}, "shape and gamma"),
    ({"law": {"shape": 1.0, "gamma": 0.1, "mean": 3.0}}, "shape and gamma"),
    ({"candidate": []}, "empty"),
    ({"candidate": [{"kind": "gdp", "mu": 1.0, "status": "conjecture"}]}, "conjecture"),
])
def test_a_guarantee_that_is_written_wrong_is_refused(change, words):
    with pytest.raises(DpcalcError, match=words):
        converted(selected("rdp --sigma 5 --tries 30", **change))


def test_one_run_of_two_relations_is_refused():
    best = selected("rdp --sigma 5 --tries 30")
    best["candidate"] = [{"kind": "gdp", "mu": 1.0, "adjacency": "add-remove"},
                         {"kind": "gdp", "mu": 1.0, "adjacency": "replace-one"}]
    with pytest.raises(DpcalcError, match="neighbours"):
        converted(best)


# --- what one run is, in every way to say it -------------------------------------------------------------------------


@spread("line", (
    "rdp --sigma 1 --group-size 3 --tries 10", "subsample --noise-multiplier 2 --sampling-rate 0.1 --steps 10 "
    "--group-size 3 --tries 10", "rdp --sigma 3 --steps 4 --tries 5", "rdp --mechanism laplace --scale 2 --tries 5",
    "rdp --noise-multiplier 2 --adjacency replace-one --tries 5",
))
def test_the_pipe_says_what_the_answer_says(line):
    piped = converted(answer(f"{line} --delta 1e-5")["guarantee"]).value
    assert piped == pytest.approx(number(f"{line} --delta 1e-5"), rel=1e-9)


@spread("one", (
    {"kind": "gdp", "mu": 1.0}, {"kind": "zcdp", "rho": 0.1}, {"kind": "dp", "epsilon": 0.3, "delta": 0.0},
    {"kind": "outcomes", "p": [0.6, 0.4], "q": [0.4, 0.6]}, {"kind": "rdp", "alpha": [4.0, 8.0], "rdp": [0.5, 1.0]},
    {"kind": "mechanisms", "mechanisms": [{"name": "laplace", "scale": 3.0, "sensitivity": 1.0}]},
))
def test_a_run_of_several_steps_is_handed_on_as_the_selection_of_all_of_them(one):
    found = converted(one, steps=2, tries=10, delta=1e-3)
    assert converted(found.guarantee, delta=1e-3).value >= found.value * (1 - 1e-9)
    assert converted(found.guarantee, delta=1e-3).value == pytest.approx(found.value, rel=1e-2)


@pytest.mark.parametrize("release, unknown", [
    ({"command": "rdp", "sigma": "?", "tries": 5}, "rdp --tries 5 --solve sigma"),
    ({"kind": "gdp", "mu": 0.5, "tries": "?"}, "convert --from gdp --mu 0.5 --solve tries"),
])
def test_a_ledger_of_one_selected_release_finds_its_number(release, unknown):
    found = answer_of("ledger", file={"release": [release]}, epsilon=4, delta=1e-5)
    # both leave a part of the precision; the number of tries grows by five times as much
    assert found.value == pytest.approx(number(f"{unknown} --epsilon 4 --delta 1e-5"), rel=2e-3)
    total = answer_of("ledger", file={"release": [{key: found.value if x == "?" else x for key, x in release.items()}]},
                      delta=1e-5)
    assert total.value <= 4


def test_a_bound_from_below_is_no_bound_on_one_run():
    """One use of shuffled reports has a lower bound that is composed, which must not serve as its profile."""
    record = ask("rdp --mechanism shuffled-ldp --step-epsilon 1 --n 1000 --delta 1e-6 --tries 10")
    assert record["result"]["epsilon"] == pytest.approx(0.24146, rel=1e-4)
    assert verify(record).word == VERIFIED


def test_shuffled_batches_are_selected_by_the_bound_that_covers_them():
    line = "subsample --scheme shuffle --n 1000 --batch-size 50 --epochs 2 --noise-multiplier 1"
    assert number(f"{line} --tries 10 --delta 1e-5") == pytest.approx(converted(selected(line), tries=10).value, rel=1e-3)


@pytest.mark.parametrize("release, words", [
    ({"kind": "gdp", "mu": 1.0, "tries-law": "poisson"}, "expected number of runs"),
    ({"kind": "gdp", "mu": 1.0, "tries": 5, "tries-shape": "?"}, "tries can"),
    ({"parallel": [[{"sigma": 2, "tries": 3}]]}, "disjoint parts"),
])
def test_keys_of_a_release_that_say_no_selection_are_refused(release, words):
    with pytest.raises(DpcalcError, match=words):
        answer_of("ledger", file={"release": [release]}, delta=1e-5, epsilon=8)


def test_the_best_of_several_runs_is_charged_in_an_adaptive_ledger():
    release = {"kind": "gdp", "mu": 0.2, "tries": 5}
    found = answer_of("ledger", file={"release": [release], "adaptive": True}, epsilon=3, delta=1e-5).record()
    order = found["adaptive"]["order"]
    curve = converted(selected("convert --from gdp --mu 0.2 --tries 5 --delta 1e-5"), delta=None, alpha=order).value
    assert found["adaptive"]["spent"] == pytest.approx(curve, rel=1e-9)

"""dpcalc correlated: golden values, values of jax-privacy, noise that other tools return, refusals, pipes, verify."""

import json
from math import sqrt

import pytest
from answers import answer, number, refusal
from calling import call
from conftest import spread
from paths import GOLDEN

import dpcalc as api

CASES = json.loads((GOLDEN / "correlated.json").read_text(encoding="utf-8"))["cases"]
BLT = "--strategy blt --blt-scale 0.2,0.3 --blt-decay 0.95,0.6"
RUN = "correlated --steps 1000 --strategy square-root --sigma 5 --delta 1e-5"


def line_of(case):
    values = {name: x for name, x in case.items() if name not in ("expected", "source")}
    return " ".join(f"--{name.replace('_', '-')} {x}" for name, x in values.items())


@pytest.mark.parametrize("case", CASES, ids=line_of)
def test_value_of_an_independent_calculation(case):
    found = answer(f"correlated {line_of(case)} --sigma 1 --delta 1e-5")["result"]
    for key, expected in case["expected"].items():
        assert found[key] == pytest.approx(expected, rel=1e-9)
    if sensitivity := case["expected"].get("sensitivity"):
        assert found["sensitivity"] >= sensitivity * (1 - 1e-13)
        assert found["mu"] == pytest.approx(sensitivity, rel=1e-9) and found["rho"] == pytest.approx(sensitivity**2 / 2)


def test_many_values_are_of_a_program_that_shares_no_code():
    assert sum(len(case["expected"]) for case in CASES if case["source"].startswith("jax-privacy")) >= 50


@pytest.mark.parametrize("rho, delta, epsilon", [(0.1506840301548885, 1e-10, 3.4240072730610405),
                                                 (0.014342572340349278, 1e-10, 0.9935499570195374)])
def test_published_models_of_a_keyboard(rho, delta, epsilon):
    """Only ρ is published, from which the norm of C at σ = 1 follows."""
    line = f"correlated --steps 1 --coefficients {sqrt(2 * rho)!r} --sigma 1 --delta {delta}"
    assert number(line) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("line, epsilon", [
    (f"{BLT} --steps 59 --sigma 0.7420", 8.92),
    (f"{BLT} --steps 59 --separation 5 --participations 8 --sigma 2.4335", 13.10),
    (f"{BLT} --steps 2950 --order cyclic --separation 59 --sigma 2.0558", 30.8),
    ("--strategy feedback:.9 --steps 59 --sigma 2.0158", 5.09),
])
def test_noise_of_an_add_on_for_a_target_of_8(line, epsilon):
    """It adds up squared column norms, leaves out roots, or takes ε for ρ."""
    assert number(f"correlated {line} --delta 1e-5") == pytest.approx(epsilon, abs=6e-3 if epsilon < 30 else 0.05)


# RMSE and largest error in clipping norms at μ = 1.
@pytest.mark.parametrize("strategy, run, rmse, largest", [
    ("independent", "--steps 1000", 22.37, 31.62), ("feedback:1", "--steps 1000", 31.62, 31.62),
    ("square-root", "--steps 1000", 3.102, 3.265), ("banded-inverse-sqrt:64", "--steps 10000", 8.356, 11.59),
    ("banded-sqrt:342", "--steps 2052 --separation 342", 8.978, 11.05),
    ("feedback:1", "--steps 1000 --separation 100", 196.2, 196.2),
    ("banded-sqrt:100", "--steps 1000 --separation 100", 12.10, 15.69),
])
def test_errors_at_equal_privacy(strategy, run, rmse, largest):
    found = answer(f"correlated {run} --strategy {strategy} --sigma 3 --delta 1e-5")["result"]
    assert found["rmse"] * found["mu"] == pytest.approx(rmse, rel=5e-4)
    assert found["max_error"] * found["mu"] == pytest.approx(largest, rel=5e-4)
    other = answer(f"correlated {run} --strategy independent --sigma 1 --delta 1e-5")["result"]
    assert found["ratio_to_independent"] == pytest.approx(found["rmse"] * found["mu"] / (other["rmse"] * other["mu"]))


@pytest.mark.parametrize("line", [
    "correlated --steps 2052 --separation 342 --participations 6 --strategy banded-sqrt:342",
    "correlated --steps 500 --order cyclic --separation 50 --strategy square-root --adjacency replace-one",
    "correlated --steps 60 --coefficients 1,-0.4,0.9 --separation 2",
])
def test_a_solution_meets_its_budget_and_less_noise_does_not(line):
    found = answer(f"{line} --epsilon 2 --delta 1e-5 --solve sigma")["result"]
    assert found["epsilon"] <= 2
    assert number(f"{line} --sigma {found['sigma']!r} --delta 1e-5") <= 2
    assert number(f"{line} --sigma {found['sigma'] * 0.99!r} --delta 1e-5") > 2


def test_replacing_a_record_counts_twice():
    one, two = (answer(f"{RUN} --adjacency {x}")["result"] for x in ("zero-out", "replace-one"))
    assert two["sensitivity"] == pytest.approx(2 * one["sensitivity"], rel=1e-14) and two["epsilon"] > 2 * one["epsilon"]
    assert two["ratio_to_independent"] == pytest.approx(one["ratio_to_independent"], rel=1e-12)


def test_a_pipe_hands_on_gaussian_differential_privacy():
    first = call([*f"{RUN} --separation 100".split(), "--json"]).stdout
    again = json.loads(call(["convert", "-", "--delta", "1e-5", "--json"], first).stdout)
    mine = json.loads(first)
    [promise] = mine["promises"]
    assert mine["guarantee"] == {"kind": "gdp", "mu": mine["result"]["mu"], "adjacency": "zero-out",
                                 "promises": [promise]}
    assert again["adjacency"] == "zero-out"
    assert again["result"]["epsilon"] == pytest.approx(mine["result"]["epsilon"], rel=1e-12)
    assert answer(f"{RUN} --separation 100 --alpha 3".replace("--delta 1e-5", ""))["result"]["rdp"] == pytest.approx(
        3 * mine["result"]["rho"], rel=1e-12)


@pytest.mark.parametrize("run, conditions", [
    ("--order once", ["each record must take part in at most one step"]),
    ("--separation 20", ["must be at least 20"]), ("--order cyclic --separation 20", ["must be a multiple of 20"]),
    ("--separation 1 --participations 3", ["at most 3 of 90 steps"]), ("--separation 1", []),
    ("--sampling-rate .1", ["4 fixed groups of the same size", "probability 0.4"]),
    ("--sampling-rate .1 --strategy independent", ["take every record with probability 0.1, independently"]),
])
def test_a_pipe_hands_on_which_steps_may_use_a_record(run, conditions):
    strategy = "" if "--strategy" in run else "--strategy banded-sqrt:4"
    line = f"correlated --steps 90 {run} {strategy} --sigma 3 --delta 1e-5"
    first = call([*line.split(), "--json"]).stdout
    shown = call(["convert", "-", "--delta", "1e-5", "--all"], first).stdout
    own = json.loads(first)["promises"]
    for text in (" ".join(call(line.split()).stdout.split()), " ".join(shown.split())):
        assert all(f"Note: {promise}." in text for promise in own) and all(words in text for words in conditions)
    assert bool(own) == bool(conditions)


@pytest.mark.parametrize("bands, sigma, epsilon", [(8, 1.0, 8.78891), (32, 2.0, 6.58505)])
def test_banded_strategies_on_cyclic_poisson_batches(bands, sigma, epsilon):
    """As many Poisson steps as a record meets, at the rate within a group; with upper bounds of jax-privacy 2.0.0."""
    norm = answer(f"correlated --steps 2000 --strategy banded-sqrt:{bands} --sigma 1 --delta 1e-5")["result"]["sensitivity"]
    line = f"correlated --steps 2000 --sampling-rate 0.01 --strategy banded-sqrt:{bands} --sigma {sigma * norm!r} --delta 1e-5"
    found = answer(line)
    same = answer(f"subsample --scheme cyclic-poisson --bands {bands} --sampling-rate {0.01 * bands} --steps 2000 "
                  f"--noise-multiplier {sigma} --delta 1e-5")
    assert found["result"]["epsilon"] == pytest.approx(same["result"]["epsilon"], rel=1e-9)
    assert same["result"]["epsilon_lower"] <= epsilon == pytest.approx(found["result"]["epsilon"], rel=2e-4)
    assert ("epsilon_lower" in found["result"]) == (bands == 8)  # of 32, the last column of the last step is cut off


def test_a_last_column_that_is_short_gives_no_lower_end():
    found = answer("correlated --steps 13 --sampling-rate 0.05 --strategy banded-sqrt:4 --sigma 2 --delta 1e-5")
    assert "epsilon_lower" not in found["result"] and found["guarantee"]["upper_bound"] is True


def test_coefficients_to_paste():
    line = "correlated --steps 9 --strategy square-root --schedule 1:4 --format csv"
    code, out, _ = call(line.split())
    assert code == 0 and out.split() == ["step,coefficient", "1,1.0", "2,-0.5", "3,-0.125", "4,-0.0625"]


def test_coefficients_from_a_file(tmp_path):
    path = tmp_path / "c.txt"
    path.write_text("1\n0.5, 0.375\n")
    mine = answer(f"correlated --steps 100 --separation 10 --coefficients @{path} --sigma 2 --delta 1e-5")
    same = answer("correlated --steps 100 --separation 10 --strategy banded-sqrt:3 --sigma 2 --delta 1e-5")
    assert mine["result"] == pytest.approx(same["result"], rel=1e-12)


def test_a_comparison_at_equal_privacy():
    """The number of bands that pays off grows with ε; a row has the numbers of the answer for that strategy alone."""
    line = "correlated --steps 2052 --separation 342 --participations 6 --epsilon 8 --delta 1e-5"
    table = answer(f"{line} --compare")["guarantee"]
    assert table["strategy"][0] == "banded-sqrt:342" and table["strategy"][-1] == "independent"
    assert table["rmse"] == sorted(table["rmse"]) and table["ratio_to_independent"][-1] == 1
    for strategy, sigma, rmse in zip(table["strategy"], table["sigma"], table["rmse"], strict=True):
        alone = answer(f"{line} --strategy {strategy} --solve sigma")["result"]
        assert (alone["sigma"], alone["rmse"]) == pytest.approx((sigma, rmse), rel=1e-9)
    of_buffers = answer(f"{line} --compare independent,blt {BLT.removeprefix('--strategy blt')}")["guarantee"]
    alone = answer(f"{line} {BLT} --solve sigma")["result"]
    assert of_buffers["rmse"][of_buffers["strategy"].index("blt")] == pytest.approx(alone["rmse"], rel=1e-9)
    few = answer(f"{line} --compare independent,banded-sqrt:8")
    assert few["guarantee"]["strategy"] == ["banded-sqrt:8", "independent"]


@pytest.mark.slow
@pytest.mark.parametrize("epsilon, best, rmse", [(1, "independent", 58.31), (8, "banded-sqrt:32", 13.09)])
def test_whether_correlated_noise_helps_on_poisson_batches(epsilon, best, rmse):
    line = f"correlated --steps 2000 --sampling-rate 0.01 --epsilon {epsilon} --delta 1e-5"
    table = answer(f"{line} --compare independent,banded-sqrt:32")["guarantee"]
    assert table["strategy"][0] == best and table["rmse"][0] == pytest.approx(rmse, rel=2e-3)


REFUSED = [
    ("--sampling-rate 0.01 --strategy banded-sqrt:4 --separation 10", "--separation: Poisson batches draw each record"),
    ("--sampling-rate 0.01 --strategy banded-sqrt:4 --participations 3", "--participations: Poisson batches draw each"),
    ("--sampling-rate 0.01 --strategy square-root", "--sampling-rate: dpcalc knows an amplification by sampling only for"),
    ("--sampling-rate 0.01 --strategy feedback:0.5", "without amplification, --separation 1 in place of --sampling-rate"),
    (f"--sampling-rate 0.01 {BLT}", "amplification by sampling only for strategies with few bands"),
    ("--sampling-rate 0.01 --strategy banded-sqrt:4 --cycle 3", "--cycle: 3 is below 4, the bands of the strategy"),
    ("--sampling-rate 0.3 --strategy banded-sqrt:4", "--sampling-rate: 4 times the sampling rate is above 1"),
    ("--sampling-rate 0.01 --strategy independent --adjacency replace-one", "--adjacency: the theorem about cyclic"),
    ("--strategy square-root --min-separation 313",
     "--min-separation: has two meanings; where 313 is the number of steps between two steps with the same record "
     "(TensorFlow Federated), write --separation 314; where it is their difference (JAX-privacy), write --separation 313"),
    ("--strategy square-root --order once --separation 3", "--separation: not used with --order once"),
    ("--strategy square-root --participations 3", "--separation: needed with --participations: the least j − i"),
    ("--strategy square-root --order cyclic", "--separation: needed with --order cyclic: the number of steps in a pass"),
    ("--strategy square-root --clipping-norm 2", "if it is the noise on the sum of clipped gradients, write --sigma 1 (σ/C)"),
    ("--strategy banded-sqrt:4,feedback:1", "--strategy: takes one strategy; --compare takes a list of them"),
    ("--coefficients c.txt", "or @FILE for a file that holds numbers only"),
    ("--epochs 5", "--epochs: no such option; passes are steps: with e passes of T/e steps"),
    ("--strategy square-root --rounds 7", "--rounds: no such option; did you mean --steps?"),
    ("--strategy square-root --cycle 3", "--cycle: not used without --sampling-rate"),
    ("--strategy feedback", "--strategy: feedback needs a number: feedback:λ"),
    ("--strategy square-root:3", "--strategy: square-root takes no number"),
    ("--strategy feedback:1.5", "--strategy: 1.5 is not ≥ 0 and ≤ 1"),
    ("--strategy banded-sqrt:2.5", "--strategy: 2.5 is not a whole number ≥ 1"),
    ("--strategy sqrt", "'sqrt' is not one of independent, feedback"),
    ("--coefficients 0,1", "--coefficients: its first coefficient is 0"),
    ("--coefficients 1,1 --strategy square-root", "--coefficients: give --strategy or --coefficients"),
    ("--coefficients 1,-2", "--coefficients: the noise of this strategy grows so fast"),
    ("--coefficients 1,-1.5", "--coefficients: the noise of this strategy grows so fast"),  # 1.5^1000, squared
    ("--strategy blt --blt-scale -3 --blt-decay 0.5", "--strategy: the noise of this strategy grows so fast"),
    ("--strategy blt --blt-scale 0.2", "--blt-decay: needed with --strategy blt"),
    ("--strategy blt --blt-scale 0.2 --blt-decay 0.1,0.2", "--blt-decay: has 2 values, and --blt-scale 1"),
    ("--compare square-root", "--sigma: not used with --compare"),
    ("", "--strategy: needed: independent, feedback:λ, square-root, banded-sqrt:B"),
]


@pytest.mark.parametrize("options, says", REFUSED, ids=[options for options, _ in REFUSED])
def test_what_is_refused_and_why(options, says):
    assert says in refusal(f"correlated --steps 1000 --sigma 2 --delta 1e-5 {options}", 2)


@pytest.mark.parametrize("labels, says", [("square-rot", "--compare: 'square-rot' is not one of"),
                                          ("independent,", "--compare: '' is not one of"),
                                          ("feedback", "--compare: feedback needs a number"),
                                          ("blt", "--blt-scale: needed with --strategy blt")])
def test_strategies_to_compare_are_named_in_full(labels, says):
    assert says in refusal(f"correlated --steps 100 --epsilon 1 --delta 1e-5 --compare {labels}", 2)


def test_errors_above_all_doubles_are_refused():
    assert "--sigma: the errors of prefix sums are above the largest double" in refusal(
        "correlated --steps 1e6 --strategy independent --sigma 1e307 --delta 1e-5", 2)


def test_a_noise_multiplier_is_refused_with_both_readings():
    said = refusal("correlated --steps 1000 --separation 100 --strategy square-root --noise-multiplier 3 --delta 1e-5", 2)
    assert "over the clipping norm, write --sigma 3;" in said
    norm = answer(f"{RUN} --separation 100")["result"]["sensitivity"]
    assert 0 <= float(said.split("write --sigma ")[-1]) / (3 * norm) - 1 < 1e-5  # rounded up: to more noise


def test_the_notes_say_what_units_and_distances_mean():
    found = answer(f"{RUN} --separation 100 --participations 40")
    notes = " ".join((*found["promises"], *found["notes"]))
    assert "the sensitivity is exactly" in notes and "calls it 99" in notes and "10 participations only" in notes
    assert "the cross terms between a record's steps are counted" in notes
    assert "passes that are shuffled anew do not ensure" in notes
    notes = " ".join(answer("correlated --steps 60 --strategy independent --sigma 2 --delta 1e-5")["notes"])
    assert "the sensitivity is exactly 1 clipping norm; all steps together are μ-GDP with μ = 0.5, ρ-zCDP with ρ = 0.125, " \
           "and one Gaussian release with the noise multiplier 2" in notes
    notes = " ".join(answer("correlated --steps 60 --coefficients 1,0.2,0.9 --separation 2 --sigma 5 --delta 1e-5")["notes"])
    assert "the sensitivity is at most" in notes


def test_nobody_gets_the_noise_of_one_pass_unsaid():
    """A warning where nothing says which steps use a record, and a note where a separation leaves room for one step."""
    for line in (f"{RUN} -q", "correlated --steps 50 --epsilon 1 --delta 1e-5 --compare independent,square-root"):
        assert "taken to be used in one step" in call(line.split()).stderr
        assert call([*line.split(), "--order", "once"]).stderr == ""
    assert "a separation of 4000 leaves room for one step" in " ".join(answer(f"{RUN} --separation 4000")["notes"])


def test_a_contraction_changes_the_strategy_and_a_note_says_so():
    plain, contracted = (answer(f"{RUN} --separation 100 {x}") for x in ("", "--contraction 0.99"))
    assert contracted["result"]["epsilon"] < plain["result"]["epsilon"]
    assert "--contraction 0.99 changes the coefficients of square-root, and so ε" in contracted["notes"][0]
    assert "the sums Σ_j 0.99^(t−j) g_j" in " ".join(contracted["notes"])
    fed = answer(f"{RUN} --separation 100 --contraction 0.99".replace("square-root", "feedback:0.5"))
    assert not fed["notes"][0].startswith("--contraction")


def test_a_banded_strategy_needs_its_own_last_values_only():
    found = answer("correlated --steps 9 --strategy banded-sqrt:3 --schedule 1:5")
    assert "needs its last 2 values only, where c = 1, 0.5, 0.375" in " ".join(found["notes"])
    noise, z = [], [1.0, 0, 0, 0, 0]
    for t in range(5):
        noise.append(z[t] - sum(c * noise[t - j] for j, c in ((1, 0.5), (2, 0.375)) if t >= j))
    assert noise == pytest.approx(found["guarantee"]["coefficient"], abs=1e-15)


def test_a_strategy_of_the_user_is_a_row_of_the_comparison():
    line = "correlated --steps 50 --order once --epsilon 1 --delta 1e-5"
    table = answer(f"{line} --compare --strategy banded-sqrt:7 --coefficients 1,0.5")["guarantee"]
    assert {"banded-sqrt:7", "coefficients", "square-root", "independent"} <= set(table["strategy"])
    one = answer(f"{line} --coefficients 1,0.5 --solve sigma")["result"]
    assert table["rmse"][table["strategy"].index("coefficients")] == pytest.approx(one["rmse"], rel=1e-9)
    listed = api.answer("correlated", steps=50, order="once", epsilon=1, delta=1e-5, compare=["usual", "banded-sqrt:7"])
    assert set(listed.guarantee["strategy"]) == set(table["strategy"]) - {"coefficients"}
    assert "--coefficients: needed with --compare coefficients" in refusal(f"{line} --compare coefficients", 2)
    for nothing in ([], [True], False):
        with pytest.raises(api.DpcalcError, match="--compare: give a name, a list of names, or true"):
            api.answer("correlated", steps=50, epsilon=1, delta=1e-5, compare=nothing)


@pytest.mark.parametrize("r", [1, 1 - 1e-12, 0.999, 0.5])
def test_the_feedback_of_the_comparison_is_the_best_one(r):
    line = f"correlated --steps 200 --order once --contraction {r} --epsilon 1 --delta 1e-5 --compare"
    found = next(x for x in answer(line)["guarantee"]["strategy"] if x.startswith("feedback"))
    part = float(found.split(":")[1])
    near = [f"feedback:{part + x:.6f}" for x in (-0.003, 0, 0.003)]
    table = answer(f"{line} {','.join(near)}")["guarantee"]
    assert table["strategy"][0] == near[1]


@spread("options, says", [
    ("--separation 100 --strategy banded-sqrt:4 --contraction 0.9", "the strategy banded-sqrt:4 for the contraction 0.9"),
    (f"--separation 100 {BLT}", "the strategy blt with scales 0.2 and 0.3 and decays 0.95 and 0.6"),
    ("--separation 100 --coefficients 1,0.5", "a matrix with 2 given coefficients"),
    ("--sampling-rate 0.1 --strategy independent", "independently of the other steps"),
    ("--sampling-rate 0.1 --strategy independent", "Each record is in a batch with probability 0.1, independently;"),
    ("--sampling-rate 0.1 --strategy banded-sqrt:4", "with probability 0.4, so that 50 steps may use it"),
])
def test_a_statement_describes_the_noise_and_the_batches(options, says):
    line = f"correlated --steps 200 --sigma 5 --delta 1e-5 {options} --format statement"
    assert says in " ".join(call(line.split()).stdout.split())


@pytest.mark.parametrize("options, says", [
    ("--strategy square-root --separation 10 --solve sigma", "the standard deviation of each independent noise is"),
    ("--strategy banded-sqrt:2 --sampling-rate 0.1 --solve sigma", "the standard deviation of each independent noise is"),
    ("--order once --compare independent,square-root", "with the clipping norm 2, σ and the errors are that many times"),
])
def test_a_clipping_norm_gives_the_noise_in_the_units_of_the_gradients(options, says):
    line = f"correlated --steps 50 --epsilon 2 --delta 1e-5 --clipping-norm 2 {options}"
    assert says in " ".join(answer(line)["notes"])


def test_sampled_rows_name_the_theorem_about_groups():
    row = answer("correlated --steps 100 --sampling-rate 0.05 --strategy banded-sqrt:4 --sigma 2 --delta 1e-5")["bounds"][0]
    assert "Balle" in row["source"] and "Choquette-Choo et al. 2023" in row["source"]
    assert any("Poisson sample of group t mod m" in text for text in row["assumptions"])


@pytest.mark.parametrize("epsilon", [1, 2, 3, 8])
@pytest.mark.parametrize("line", ["correlated --steps 90 --separation 30 --strategy square-root", "rdp"])
def test_what_is_solved_for_a_budget_meets_it_in_a_ledger(line, epsilon):
    record = call([*f"{line} --epsilon {epsilon} --delta 1e-5 --solve sigma --json".split()]).stdout
    assert call(["ledger", "-", "--epsilon", str(epsilon), "--delta", "1e-5"], record).returncode == 0


@pytest.mark.parametrize("line", [
    RUN, f"{RUN} --separation 37 --adjacency replace-one", f"{RUN} --order cyclic --separation 100",
    "correlated --steps 100 --coefficients 1,-0.4,0.9 --separation 2 --epsilon 2 --delta 1e-5 --solve sigma",
    f"correlated --steps 300 {BLT} --separation 50 --sigma 3 --epsilon 1",
    "correlated --steps 396 --strategy banded-inverse-sqrt:5 --sigma 1.7 --alpha 2.7801",
    "correlated --steps 2298 --strategy banded-sqrt:9 --order cyclic --separation 1015 --sigma 7.69 --epsilon 0.4",
    "correlated --steps 100 --sampling-rate 0.05 --strategy banded-sqrt:4 --sigma 2 --alpha 4",
    "correlated --steps 3 --coefficients 1e-99,5e-100 --sigma 1e-99 --delta 1e-5",
])
def test_verify_proves_the_sensitivity_and_refutes_a_smaller_one(line):
    record = answer(line)
    done = call(["verify", "-"], json.dumps(record))
    sensitivity = record["result"]["sensitivity"]
    assert done.returncode == 0 and f"verified: s ≤ {sensitivity!r}" in done.stdout
    record["result"]["sensitivity"] = sensitivity * (1 - 1e-8)
    done = call(["verify", "-"], json.dumps(record))
    assert done.returncode != 0 and "but the theorem gives" in done.stdout

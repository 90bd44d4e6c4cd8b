"""--group-size: neighbouring data sets that differ in a group of records, in every command, in pipes and in ledgers."""

import json
from math import exp

import pytest
from answers import answer, number, printed, refusal
from calling import call
from conftest import slow
from verifying import check

import dpcalc

RUN = "subsample --sampling-rate 0.01 --noise-multiplier 1 --steps 1000"


def piped(line, *then):
    """The JSON of the last of several commands, each of which reads the result of the one before."""
    out = call([*line.split(), "--json"]).stdout
    for rest in then:
        done = call([*rest.split(), "--json"], stdin=out)
        assert done.returncode == 0, done.stderr
        out = done.stdout
    return json.loads(out)


# --- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size, epsilon", [(1, 2.124551), (2, 4.554105)])
def test_runs_on_poisson_batches(size, epsilon):
    found = answer(f"{RUN} --group-size {size} --delta 1e-6")
    assert epsilon <= found["result"]["epsilon"] <= epsilon * 1.002
    assert found["bound"] == ("poisson-profile" if size == 1 else "poisson-group-profile")


def test_a_group_of_one_record_changes_nothing():
    for line in (f"{RUN} --delta 1e-6", "rdp --sigma 4 --delta 1e-5", "tv --sigma 4", "rdp --sigma 3 --alpha 4"):
        assert number(f"{line} --group-size 1") == number(line)
    found = answer(f"{RUN} --group-size 1 --delta 1e-6")
    assert "group_size" not in found["guarantee"] and "groups" not in printed(f"{RUN} --group-size 1 --delta 1e-6")[1]
    for scheme in ("without-replacement --sampling-rate 0.01 --steps 1", "weighted --max-weight 0.01 --steps 1"):
        line = f"subsample --scheme {scheme} --sigma 2 --delta 1e-6"
        assert number(f"{line} --group-size 1") == number(line)


@pytest.mark.parametrize("line, same", [
    ("rdp --sigma 4 --sensitivity 2 --group-size 3 --delta 1e-5", "rdp --sigma 4 --sensitivity 6 --delta 1e-5"),
    ("rdp --noise-multiplier 4 --adjacency replace-one --group-size 3 --delta 1e-5", "rdp --sigma 4 --sensitivity 6 "
                                                                                   "--delta 1e-5"),
    ("rdp --sigma 4 --group-size 3 --steps 9 --alpha 5", "rdp --sigma 4 --sensitivity 3 --steps 9 --alpha 5"),
    ("rdp --mechanism laplace --scale 4 --group-size 3 --steps 5 --delta 1e-5",
     "rdp --mechanism laplace --scale 4 --sensitivity 3 --steps 5 --delta 1e-5"),
    ("rdp --mechanism laplace --scale 4 --group-size 3 --delta 0", "rdp --mechanism laplace --scale 4 --sensitivity 3 "
                                                                   "--delta 0"),
    ("rdp --group-size 3 --epsilon 1 --delta 1e-5 --solve sigma", "rdp --sensitivity 3 --epsilon 1 --delta 1e-5 "
                                                                  "--solve sigma"),
    ("tv --sigma 4 --group-size 3", "tv --sigma 4 --sensitivity 3"),
    ("subsample --sampling-rate 1 --noise-multiplier 4 --steps 5 --group-size 3 --delta 1e-5",
     "rdp --sigma 4 --sensitivity 3 --steps 5 --delta 1e-5"),
    (f"{RUN} --adjacency zero-out --group-size 3 --delta 1e-5", f"{RUN} --group-size 3 --delta 1e-5")])
def test_numbers_that_follow_from_those_of_one_record(line, same):
    assert number(line) == pytest.approx(number(same), rel=1e-3 if "1000" in line or "subsample" in line else 1e-12)


@pytest.mark.slow
def test_a_loss_rises_with_the_group_and_a_solution_meets_its_budget():
    epsilons = [number(f"{RUN} --group-size {size} --delta 1e-6") for size in (1, 2, 3, 8)]
    assert epsilons == sorted(epsilons)
    line = "subsample --sampling-rate 0.01 --steps 1000 --group-size 4 --delta 1e-6"
    sigma = number(f"{line} --epsilon 3 --solve noise-multiplier")
    assert number(f"{line} --noise-multiplier {sigma!r}") <= 3 < number(f"{line} --noise-multiplier {0.99 * sigma!r}")


def test_total_variation_and_rates_of_attacks_on_a_group():
    one, three = (answer(f"tv --sampling-rate 0.01 --noise-multiplier 1 --steps 100 --group-size {size} --fpr 0.01")
                  for size in (1, 3))
    assert one["result"]["tv"] < three["result"]["tv"] and one["result"]["tpr"] < three["result"]["tpr"]


# --- words -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line, words", [
    (f"{RUN} --group-size 4 --delta 1e-6", "Neighbours: groups of 4 records added or removed."),
    (f"{RUN} --group-size 4 --delta 1e-6 --adjacency zero-out", "Neighbours: groups of 4 records zeroed out."),
    ("rdp --noise-multiplier 4 --adjacency replace-one --group-size 3 --delta 1e-5", "groups of 3 records replaced."),
    ("rdp --sigma 4 --group-size 3 --delta 1e-5", "groups of 3 records; for one record those your sensitivity refers to"),
    (f"{RUN} --group-size 1,4 --delta 1e-6", "Neighbours: add-remove; groups of 4 records added or removed.")])
def test_an_answer_names_the_group(line, words):
    code, page = printed(line)
    assert code == 0 and words in " ".join(page.split())


@pytest.mark.slow
def test_a_statement_names_the_group_as_the_unit_of_privacy():
    _, page = printed(f"{RUN} --group-size 4 --delta 1e-6 --format statement")
    page = " ".join(page.split())
    assert "differ by adding, or by removing, a group of at most 4 records" in page
    assert "The unit of privacy is a group of 4 records" in page and "--group-size 4" in page
    assert "no test of whether a given group of 4 records is in the data" in page


def test_the_record_has_the_size_as_a_parameter_and_in_its_guarantee():
    found = answer(f"{RUN} --group-size 4 --delta 1e-6")
    assert found["parameters"]["group_size"] == found["guarantee"]["group_size"] == 4
    assert found["adjacency"] == "add-remove"
    assert found["guarantee"]["mechanisms"][0]["noise_multiplier"] == 1  # of one record
    assert dpcalc.answer("subsample", sampling_rate=0.01, noise_multiplier=1, steps=1000, group_size=4,
                         delta=1e-6).value == found["result"]["epsilon"]


# --- pipes and composition -------------------------------------------------------------------------------------------


def test_a_group_passes_through_pipes():
    run, total = f"{RUN} --group-size 4", "convert - --delta 1e-6"
    assert piped(run, total)["result"]["epsilon"] == number(f"{run} --delta 1e-6")
    assert piped(run, total)["guarantee"] == {**piped(run, total)["guarantee"], "group_size": 4}
    mechanism = "rdp --sigma 4 --group-size 3"
    assert piped(mechanism, "convert - --delta 1e-5")["result"]["epsilon"] == pytest.approx(
        number(f"{mechanism} --delta 1e-5"), rel=1e-12)
    laplace = "rdp --mechanism laplace --scale 4 --group-size 3"
    assert piped(laplace, "convert - --delta 0")["result"]["epsilon"] == 0.75
    assert piped("rdp --sigma 4", "subsample - --sampling-rate 0.01 --steps 100 --group-size 3 --delta 1e-6")["result"][
        "epsilon"] == number("subsample --sigma 4 --sampling-rate 0.01 --steps 100 --group-size 3 --delta 1e-6")


def test_guarantees_compose_only_for_groups_of_one_size(tmp_path):
    for name, line in (("a", f"{RUN} --group-size 3"), ("b", "rdp --sigma 9 --group-size 3"), ("c", "rdp --sigma 9")):
        (tmp_path / name).write_text(call([*line.split(), "--json"]).stdout)
    a, b, c = (tmp_path / name for name in "abc")
    together = answer(f"convert {a} {b} --delta 1e-6")
    alone = answer(f"convert {a} --delta 1e-6")
    assert together["result"]["epsilon"] > alone["result"]["epsilon"]
    assert together["guarantee"]["group_size"] == 3
    said = refusal(f"convert {a} {c} --delta 1e-6", 2)
    assert "groups of different sizes (1 and 3 records)" in said and "--group-size 3" in said
    assert "samples one by one" in refusal(f"subsample {b} --sampling-rate 0.1 --delta 1e-6", 2)


def test_a_ledger_has_groups_of_one_size():
    training = {"command": "subsample", "sampling-rate": 0.01, "noise-multiplier": 4, "steps": 100, "group-size": 3}
    query = {"command": "rdp", "mechanism": "laplace", "scale": 20, "group-size": 3}
    found = dpcalc.answer("ledger", file={"release": [training, query]}, delta=1e-5)
    assert found.guarantee["group_size"] == 3 and "groups of 3 records" in str(found)
    alone = dpcalc.answer("ledger", file={"release": [training]}, delta=1e-5)
    assert alone.value == pytest.approx(number("subsample --sampling-rate 0.01 --noise-multiplier 4 --steps 100 "
                                               "--group-size 3 --delta 1e-5"), rel=1e-12)
    with pytest.raises(dpcalc.DpcalcError, match=r"set group-size = 3 in each of them"):
        dpcalc.answer("ledger", file={"release": [training, {**query, "group-size": 1}]}, delta=1e-5)


@pytest.mark.slow
def test_compare_has_rows_for_groups():
    line = "compare --n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5 --group-size 3 --batches"
    run = "subsample --n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5 --group-size 3"
    found = answer(f"{line} poisson")
    assert [row["name"] for row in found["bounds"]] == ["poisson-group-profile", "poisson-replace-one-profile"]
    assert found["result"]["epsilon"] == pytest.approx(number(run), rel=1e-9)
    assert "--group-size 3" in found["bounds"][0]["command"]
    assert number(found["bounds"][0]["command"].removeprefix("dpcalc ")) == found["result"]["epsilon"]
    shuffled = answer(f"{line} shuffled")
    assert shuffled["bound"] == "shuffle-no-amplification" and shuffled["adjacency"] == "zero-out"
    assert shuffled["result"]["epsilon"] == pytest.approx(number("rdp --sigma 1.1 --sensitivity 3 --steps 15 --delta "
                                                                 "1e-5"), rel=1e-9)
    assert shuffled["result"]["epsilon"] == pytest.approx(number(f"{run} --scheme shuffle"), rel=1e-12)
    assert "no theorem covers groups" in refusal(f"{line} without-replacement", 2)


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line, reason", [
    ("subsample --scheme without-replacement --sampling-rate 0.01 --steps 1 --sigma 1 --group-size 4 --delta 1e-5",
     "is known for batches drawn without replacement"),
    ("subsample --scheme weighted --max-weight 0.01 --steps 1 --sigma 1 --group-size 4 --delta 1e-5", "is known for weighted draws of one record"),
    ("subsample --scheme random-allocation --steps-per-epoch 100 --epochs 1 --noise-multiplier 1 --group-size 4 --delta 1e-5",
     "no theorem for groups"),
    ("subsample --n 60000 --batch-size 256 --max-batch-size 400 --steps 100 --noise-multiplier 1 --group-size 4 "
     "--delta 1e-5", "no theorem for groups"),
    ("subsample --mechanism laplace --scale 1 --sampling-rate 0.01 --steps 1 --group-size 4 --delta 1e-5",
     "supported for --mechanism gaussian only"),
    ("rdp --mechanism randomized-response --probability 0.7 --group-size 2 --delta 0", "dpcalc convert --group-size"),
    (f"{RUN} --group-size 4 --alpha 3", "RDP of groups of records in random batches is not supported"),
    (f"{RUN} --group-size 1001 --delta 1e-6", "1001 is above 1000"),
    (f"{RUN} --group-size 0 --delta 1e-6", "0 is not ≥ 1"),
    ("convert --from gdp --mu 1 --group-size 2 --delta 1e-5", "groups of records are supported for"),
    ("convert --from dp --epsilon 0.5 --delta 1e-7 --group-size 2 --steps 4", "not used with --group-size"),
    ("convert --from dp --epsilon 0.5 --delta 1e-7 --group-size 2 --to tv", "gives (ε, δ) only"),
    ("convert --from dp --epsilon 1 --delta 1e-3 --group-size 20", "the δ of the generic bound is 1 or more"),
    ("subsample --sampling-rate 0.01 --epsilon 1 --delta 1e-6 --group-size 3", "to amplify one (ε, δ) point")])
def test_what_no_theorem_covers_is_refused_with_the_reason(line, reason):
    assert reason in " ".join(refusal(line, 3 if "or more" in reason else 2).split())


# --- the generic bound -----------------------------------------------------------------------------------------------


def test_the_generic_bound_of_a_point():
    found = answer("convert --from dp --epsilon 0.5 --delta 1e-7 --group-size 3")
    assert found["result"]["epsilon"] == 1.5 and found["guarantee"]["group_size"] == 3
    assert found["result"]["delta"] == pytest.approx(1e-7 * (1 + exp(0.5) + exp(1)), rel=1e-12)
    line = "convert --from dp --epsilon 0.5 --delta 1e-7 --group-size 3"
    assert number(f"{line} --target-delta 1e-5") == 1.5 and number(f"{line} --target-epsilon 1.4") == 1
    assert number("convert --from dp --epsilon 0.5 --delta 0 --group-size 30") == 15
    assert "the least δ it gives is 5.36701e-07" in refusal(f"{line} --target-delta 1e-7", 3)


def test_the_generic_bound_of_a_profile(tmp_path):
    file = tmp_path / "profile.json"
    file.write_text('{"kind": "profile", "epsilon": [0, 0.5, 1], "delta": [0.1, 1e-4, 1e-8]}')
    delta = 1e-8 * (1 + exp(1) + exp(2))
    assert number(f"convert {file} --group-size 3 --epsilon 3.5") == pytest.approx(delta, rel=1e-12)
    assert number(f"convert {file} --group-size 3 --delta 1e-3") == 1.5


def test_mechanisms_from_json_have_their_own_bound(tmp_path):
    """That of the known mechanism, and not the generic one, unless they only bound a run."""
    file = tmp_path / "run.json"
    file.write_text(call([*RUN.split(), "--json"]).stdout)
    assert number(f"convert {file} --group-size 4 --delta 1e-6") == number(f"{RUN} --group-size 4 --delta 1e-6")
    file.write_text('{"kind": "mechanisms", "upper_bound": true, "mechanisms": [{"name": "gaussian", '
                    '"noise_multiplier": 2}]}')
    assert "groups of records are supported for" in refusal(f"convert {file} --group-size 4 --delta 1e-6", 2)
    file.write_text(call(["rdp", "--sigma", "4", "--group-size", "3", "--json"]).stdout)
    assert "is about groups of 3 records already" in refusal(f"convert {file} --group-size 2 --delta 1e-6", 2)


# --- verify ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", [
    slow("subsample --sampling-rate 0.1 --noise-multiplier 2 --steps 3 --group-size 2 --delta 1e-4"),
    "subsample --sampling-rate 0.1 --steps 1 --noise-multiplier 2 --group-size 3 --delta 1e-5",
    "rdp --sigma 4 --group-size 3 --delta 1e-5", "rdp --mechanism laplace --scale 4 --group-size 2 --steps 4 --delta 1e-5",
    "convert --from dp --epsilon 0.5 --delta 1e-7 --group-size 3",
    slow("tv --sampling-rate 0.1 --noise-multiplier 2 --steps 3 --group-size 3")])
def test_every_number_is_proven_and_no_better_one(line):
    check(line)

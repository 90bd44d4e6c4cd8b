"""Records of compare: every row is checked by its own mechanism and steps."""

import pytest
from answers import answer
from conftest import slow

from dpcalc.verify.report import verify

POISSON = "compare --n 60000 --batches poisson --batch-size 256 --clipping-norm 1 --noise-multiplier 1"
DRAWN = ("compare --n 31032 --batches without-replacement --batch-size 1 --steps 94 --lipschitz 1.17 --sigma .648 "
         "--loss convex --release last-iterate --smoothness 1 --learning-rate .1 --diameter 1 --epsilon .815")


def lowered(record, name, share):
    bounds = [{**row, **{key: row[key] * share for key in ("epsilon", "epsilon_lower") if key in row}}
              if row["name"] == name else row
              for row in record["bounds"]]
    return {**record, "bounds": bounds}


@pytest.mark.parametrize("run, share", [("--steps 1 --delta 1e-4", 0.99), slow("--steps 40 --delta 1e-5", 0.99),
                                        slow("--steps 40 --delta 1e-5", 0.5)])
def test_a_row_composes_its_own_steps_not_those_that_are_handed_on(run, share):
    record = answer(f"{POISSON} {run}")
    assert verify(record).holds and any(
        row["name"] == "poisson-replace-one-profile" for row in record["bounds"][1:])
    found = verify(lowered(record, "poisson-replace-one-profile", share))
    assert not found.holds
    assert any(f.verdict == "not verified" and "poisson-replace-one-profile" in f.text for f in found.others)


@pytest.mark.parametrize("line", [
    "compare --n 310 --batches without-replacement --batch-size 1 --steps 1 --lipschitz 1.17 --sigma 3 --epsilon .815",
    slow("compare --n 310 --batches without-replacement --batch-size 1 --steps 3 --lipschitz 1.17 --sigma 3 "
         "--epsilon .815"),
    slow(DRAWN)])
def test_true_rows_of_a_comparison(line):
    found = verify(answer(line))
    assert found.holds and not any(f.verdict == "not verified" for f in found.others)


def test_a_comparison_whose_epsilon_is_0():
    assert verify(answer("compare --n 600 --batches full --steps 1 --noise-multiplier 1e6 --lipschitz 1 "
                         "--delta 1e-5")).holds


def test_comparisons_in_a_sweep():
    """Records of a sweep do not say which further assumptions would lower the number."""
    for record in answer("compare --n 600 --batches full --steps 10 --lipschitz 1 --noise-multiplier 20 "
                         "--delta 1e-5,1e-6"):
        assert verify(record).holds and not verify(lowered(record, "gaussian-exact", 0.99)).holds


def test_a_smaller_number_in_the_second_row_of_one_bound_is_refused():
    record = answer("compare --n 600 --batches full --steps 10 --noise-multiplier 20 --lipschitz 1 --delta 1e-5")
    assert [row["name"] for row in record["bounds"]] == ["gaussian-exact"] * 2
    record["bounds"][1]["epsilon"] *= 0.99
    assert not verify(record).holds


def test_a_noise_multiplier_is_recorded_as_one():
    line = "compare --n 600 --batches full --steps 10 --lipschitz 1 --delta 1e-5"
    record = answer(f"{line} --noise-multiplier 20")
    assert record["options"]["noise_multiplier"] == 20 and "sigma" not in record["options"]
    assert record["result"]["epsilon"] == pytest.approx(1.1993696, rel=1e-6)

"""Burn-in by windows of the last steps: next to the best windows, and beside the run as a whole."""

import json

import pytest
from answers import answer, number, refusal
from calling import call
from conftest import slow, spread

from dpcalc.verify.report import verify


@spread("line, best", [
    slow("--n 31 --batch-size 1 --steps 3843 --learning-rate .3 --diameter .26575090259411627 --sigma 2.396266682375347 "
     "--delta .00040314824523518923", 0.812337),
    ("--n 134 --batch-size 2 --steps 882 --strong-convexity .007164483661160443 --learning-rate 1 "
     "--diameter .31023890465883586 --sigma 1.0257520292184272 --delta .0010910345122521609", 0.455869),
    ("--n 115 --batch-size 3 --steps 1605 --learning-rate 1.9 --diameter 1.3446601205271067 --sigma .8887209063542602 "
     "--delta 3.100199284523743e-5", 1.23029),
])
def test_epsilon_is_nearly_that_of_the_best_windows(line, best):
    line = f"burn-in --lipschitz 1 --smoothness 1 {line} --bound burn-in-profile"
    record = answer(line)
    assert best * 0.998 <= record["result"]["epsilon"] <= best * 1.035 and verify(record).holds


def test_delta_at_epsilon_and_epsilon_at_delta_are_one_profile():
    line = ("burn-in --lipschitz 1 --smoothness 1 --n 823 --steps 13 --batch-size 1 --learning-rate .941 "
            "--diameter .0814 --sigma .835")
    assert number(f"{line} --epsilon 1.4866517265283434") < 2.25e-5
    assert number(f"{line} --delta 2.25e-5") < 1.4767


@pytest.mark.parametrize("line", [
    "--n 1e12 --batch-size 1e12 --lipschitz 1e-8 --smoothness 0 --learning-rate 1e-8 --diameter 1 --sigma 1 "
    "--delta 1e-300",
    "--n 1e9 --batch-size 999999999 --lipschitz 1e-8 --smoothness 1e8 --learning-rate 1.5e-8 --diameter 1e-8 "
    "--sigma .1 --epsilon 1e-6",
    "--n 1e12 --batch-size 999999999999 --lipschitz 1e-8 --smoothness 1e8 --strong-convexity 1e-4 --learning-rate 1e-8 "
    "--diameter 1e8 --sigma 1e4 --delta .1",
])
def test_pushes_that_round_to_one_double_have_an_answer(line):
    code, out, err = call([*f"burn-in --steps 1 {line}".split(), "--json"])
    result = json.loads(out)["result"]
    assert code == 0 and 0 <= result.get("epsilon", result.get("delta")) < 1e300 and "fault" not in err


def test_the_batch_of_all_records_is_solved_for_by_its_own_theorem():
    line = ("burn-in --lipschitz 1 --smoothness 1 --learning-rate .794 --sigma .236 "
            "--strong-convexity .1 --n 485 --steps 5 --alpha 6.82")
    record = answer(f"{line} --rdp .00515 --solve batch-size")
    assert (record["result"]["batch_size"], record["bound"]) == (485, "iteration") and verify(record).holds
    assert not any("afresh" in note or note.startswith("every") for note in record["notes"])
    assert "even --batch-size 485 has ε(α) = 0.00513563" in refusal(f"{line} --rdp .005 --solve batch-size", 3)
    assert "0.00520568" in refusal(f"{line} --rdp .005 --solve batch-size --bound burn-in-rdp", 3)

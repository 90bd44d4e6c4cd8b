"""Numbers that promise little say so: δ >= 1/n in every command where n is known, and what ε > 20 leaves to an
attacker."""

from __future__ import annotations

import json
from math import exp

import pytest
from calling import call
from conftest import slow, spread

from dpcalc.accounting.cautions import FALSE_POSITIVES, LARGE_EPSILON
from dpcalc.core.numbers import human

RUN = "--lipschitz 1 --smoothness .5 --learning-rate .1 --diameter 2"
KNOWN_N = [  # where n = 100 is known
    "subsample --n 100 --batch-size 10 --epochs 2 --sigma 3",
    "subsample --scheme without-replacement --n 100 --batch-size 10 --epochs 2 --sigma 3",
    f"shuffle-pnsgd {RUN} --sigma 2 --n 100", f"shuffle-pnsgd {RUN} --sigma 2 --n 100 --index 5",
    f"online-noise {RUN} --c1 100 --c2 100 --decay 1.5 --n 100 --index 5",
    f"burn-in {RUN} --n 100 --batch-size 10 --steps 100 --sigma 1",
    "compare --n 100 --batches poisson --batch-size 10 --epochs 2 --noise-multiplier 2 --clipping-norm 1",
]


@spread("line", KNOWN_N)
@pytest.mark.parametrize("delta, warned", [("1e-2", True), (".05", True), ("9.99e-3", False)])
def test_a_delta_of_a_record_in_n_or_more_warns(line, delta, warned):
    done = call([*line.split(), "--delta", delta, "-q"])
    assert done.returncode == 0, done.stderr
    assert (f"warning: δ = {float(delta):g} is at least 1/n = 0.01: publishing one random record in full would satisfy it\n" in done.stderr) == warned


def test_also_beside_the_total_variation_of_a_guarantee():
    for delta, count in ((".02", 1), (".009", 0)):
        done = call(["tv", "--epsilon", "1", "--delta", delta, "--n", "100", "-q"])
        assert done.stderr.count("publishing one random record") == count


@spread("line", [slow(line) if k == 5 else line for k, line in enumerate(KNOWN_N)])
def test_also_where_delta_is_the_answer(line):
    for epsilon in ("0", "1e2"):
        done = call([*line.split(), "--epsilon", epsilon, "--json"])
        assert ("publishing one random record" in done.stderr) == (json.loads(done.stdout)["result"]["delta"] >= 0.01)


def test_also_beside_solutions_and_in_sweeps_and_batches():
    line = "subsample --batch-size 10 --n 100 --epochs 2 --epsilon 1 --delta .02 --solve sigma"
    assert "publishing one random record" in call([*line.split(), "-q"]).stderr
    for delta in (".02", ".1"):  # n is the solution
        done = call(["subsample", "--batch-size", "10", "--steps", "10", "--sigma", "2", "--epsilon", ".3", "--delta",
                     delta, "--solve", "n", "-q"])
        assert ("publishing one random record" in done.stderr) == (float(delta) * int(done.stdout) >= 1)
    swept = call(["subsample", "--batch-size", "10", "--n", "20,40,80", "--epochs", "2", "--sigma", "3", "--delta",
                  ".02"]).stderr
    assert swept.count("publishing one random record") == 1 and "1/n = 0.0125" in swept
    batch = call(["subsample", "--batch-size", "10", "--epochs", "2", "--sigma", "3", "--delta", ".02", "--batch"],
                 '{"n": 40}\n{"n": 80}\n').stderr
    assert batch.count("publishing one random record") == 1


ATTACKED = ["rdp --sigma .1 --delta 1e-5", "rdp --mechanism laplace --scale .04 --delta 0",
            "convert --from gdp --mu 8 --delta 1e-9",
            "subsample --sampling-rate .5 --sigma .2 --steps 5 --delta 1e-5",
            f"shuffle-pnsgd {RUN} --sigma .1 --n 100 --delta 1e-5",
            f"burn-in {RUN} --n 100 --batch-size 10 --steps 100 --sigma .05 --delta 1e-5",
            "rdp --sigma .2 --epsilon 25",
            "noise-feedback --curvature .7 --learning-rate .1 --sigma .02 --steps 6 --lipschitz 1 --delta 1e-5",
            "rdp --epsilon 22 --delta 1e-5 --solve sigma",
            f"online-noise {RUN} --sigmas .1,.1 --n 2 --index 2 --delta 1e-5",
            "compare --n 100 --batches poisson --batch-size 10 --epochs 2 --noise-multiplier .2 --clipping-norm 1 "
            "--delta 1e-5",
            "convert --from dp --epsilon 3 --delta 0 --steps 10 --target-delta 1e-5"]


@spread("line", [slow(line) if k == 10 else line for k, line in enumerate(ATTACKED)])
def test_a_large_epsilon_is_told_as_what_an_attacker_may_find(line):
    done = call([*line.split(), "--json"])
    assert done.returncode == 0, done.stderr
    assert any("promises next to nothing: by itself it allows an attack with a true-positive rate of 100 %" in note
               for note in json.loads(done.stdout)["notes"])
    assert "promises next to nothing" in " ".join(call(line.split()).stdout.split())


def test_smaller_ones_and_other_questions_are_not():
    for line in ("rdp --sigma .5 --delta 1e-5", "rdp --sigma .5 --epsilon 20", "rdp --sigma .1 --alpha 30",
                 "tv --sigma .01"):
        assert "promises next to nothing" not in call(line.split()).stdout


def test_the_true_positive_rate_in_six_digits_is_100_percent():
    """It is at most 1 − e^{−ε}(1 − δ − f), which above ε = 20 is 100 % in six digits, rounded up."""
    missed = exp(-LARGE_EPSILON) * (1 - FALSE_POSITIVES)
    assert human(100 * (1 - missed)) == "100" and FALSE_POSITIVES == 0.001


def test_a_sweep_warns_once_of_each_kind():
    done = call(["rdp", "--sigma", "1", "--delta", "1e-5", "-q"])
    assert done.stderr == ""
    run = [*f"shuffle-pnsgd {RUN} --index 5 --n 100,200,300 --sigma 1 --delta .2".split()]
    for output, only in ((["-q"], 1), ([], 0)):  # a table says itself that its numbers are for one record only
        lines = call([*run, *output]).stderr.splitlines()
        assert len(lines) == 1 + only and lines[0].endswith("would satisfy it (and so at 2 more points)"), lines

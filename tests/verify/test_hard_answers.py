"""Answers that are true but hard to prove anew: each is verified, and a better one is not."""

import pytest
from answers import answer
from calling import call
from conftest import slow

from dpcalc.verify.report import verify

CONJECTURE = "shuffle-pnsgd --lipschitz 1 --bound without-replacement-conjecture"
LAPLACE = "online-noise --noise laplace --lipschitz 1 --diameter 2 --smoothness .5 --learning-rate .1"
RUN = "--lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5"


@pytest.mark.parametrize("line", [
    # with a lower value of 0
    slow("burn-in --n 81065 --batch-size 1 --steps 4 --lipschitz .13 --smoothness .1 --diameter .05 --sigma .05 "
         "--learning-rate 2.5 --strong-convexity .08 --epsilon 3"),
    "burn-in --n 810 --batch-size 810 --steps 4 --lipschitz .13 --smoothness .1 --diameter .05 --sigma .05 "
    "--learning-rate 2.5 --strong-convexity .08 --epsilon 3",
    # whole numbers > 1e308
    "subsample --mechanism discrete-laplace --scale 2.4663034623764326 --sampling-rate .8 --steps 45 --delta 1e-10",
    # two rows of one bound
    "compare --n 600 --batches full --steps 10 --noise-multiplier 20 --lipschitz 1 --delta 1e-5",
    slow("compare --batches poisson --batch-size 256 --steps 100 --noise-multiplier 1.1 --clipping-norm 1 --n 60000 "
         "--delta 1e-5"),
])
def test_every_number_of_a_true_answer_is_verified(line):
    verdict = verify(answer(line))
    assert verdict.holds, [f.text for f in (*verdict.head, *verdict.others, *verdict.record) if f.verdict != "verified"]


@pytest.mark.parametrize("line", [
    "shuffle-pnsgd --noise laplace --scale 2 --delta 0 --lipschitz 1 --diameter .1 --learning-rate .1 --smoothness .5 "
    "--n 10 --index 3",
    "shuffle-pnsgd --noise laplace --scale 2 --delta 0 --lipschitz 1 --diameter .1 --learning-rate .1 --smoothness .5 "
    "--n 10 --index 3 --epochs 3 --bound fixed-order-basic",
    f"{LAPLACE} --scales 15,400,17 --index 1 --delta 0",
    f"{LAPLACE} --c1 10 --c2 2 --decay 1.5 --n 1e6 --index 5 --delta 0",
    f"{CONJECTURE} --tau .5 --sigma 3 --n 1000 --delta 1e-4", f"{CONJECTURE} --tau .5 --sigma 3 --n 1000 --epsilon 1",
])
def test_answers_at_delta_0_and_by_the_conjecture_are_checked_as_a_whole(line):
    done = call(["verify", "-"], call([*line.split(), "--json"]).stdout)
    assert "unchecked" not in done.stdout and "not verified" not in done.stdout, done.stdout
    assert done.returncode == (0 if "conjecture" not in line else done.returncode)


def test_an_answer_with_statements_is_verified():
    for line in ("rdp --sigma 1 --delta 1e-5", f"shuffle-pnsgd {RUN} --sigma 1 --n 10 --epsilon 1"):
        done = call(["verify", "-"], call([*line.split(), "--explain", "--json"]).stdout)
        assert done.returncode == 0, done.stdout + done.stderr

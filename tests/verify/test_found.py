"""Answers that random questions found, and that verify once refuted or left open although they hold."""

import pytest
from verifying import ask, better, refuted, texts

from dpcalc.verify.report import verify

LINES = [
    # the least h of the optimal conversion lies next to p = 1
    "burn-in --n 604065 --batch-size 488269 --steps 4 --lipschitz 8.25888 --smoothness 0.776055 --learning-rate 0.0818229 --diameter 11.3104 "
    "--sigma 1.53867e-05 --epsilon 0.0159637 --bound burn-in-rdp",
    # weights that a convolution drops, under a steep tilt
    "rdp --mechanism laplace --steps 5 --epsilon 0.863037 --delta 1.42507e-05 --solve scale",
    # 1 − (1 − P(∞))^T of a P(∞) far below the last bit of 1
    "subsample --scheme without-replacement --sampling-rate 0.3 --sigma 12 --steps 2 --epsilon 1.5 --bound wor-profile",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", [*LINES[:2], pytest.param(LINES[2], marks=pytest.mark.slow)])
def test_it_is_verified(line):
    record = ask(line)
    verdict = verify(record)
    assert verdict.holds and all(f.verdict == "verified" or "lower end" in f.text for f in (*verdict.head, *verdict.others)), texts(verdict)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", LINES[:2])
def test_no_better_number_is(line):
    assert refuted(better(ask(line)))

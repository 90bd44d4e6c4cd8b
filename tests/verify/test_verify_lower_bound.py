"""Lower values: of the concrete runs after one step, and that a larger one is refuted."""

import sys

import pytest
from verifying import ask, better, refuted, texts

from dpcalc.verify.report import verify

RUN = "burn-in --lipschitz 1 --smoothness 1 --learning-rate .1 --bound lower-bound --steps 1"
LINES = [
    f"{RUN} --n 1000 --batch-size 50 --sigma .2 --diameter 1 --delta 1e-6",
    f"{RUN} --n 100 --batch-size 50 --sigma .002 --diameter 10 --strong-convexity .5 --delta 1e-30",
    f"{RUN} --n 1000 --batch-size 50 --sigma .0002 --diameter 1 --epsilon 10",
    f"{RUN} --n 1000 --batch-size 1000 --sigma .02 --diameter 1 --epsilon 1",
    f"{RUN} --n 1000 --batch-size 50 --sigma .1 --diameter 1 --epsilon 0",
    f"{RUN} --n 1000 --batch-size 50 --sigma 20 --diameter 1 --epsilon .01",
    f"{RUN} --n 1000 --batch-size 50 --sigma .02 --diameter 1 --alpha 4",
    f"{RUN} --n 100 --batch-size 50 --sigma .002 --diameter 10 --strong-convexity .5 --alpha 1.01",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", LINES)
def test_one_step_is_verified_and_no_larger_number(line):
    record = ask(line)
    verdict = verify(record)
    assert verdict.holds and all(f.verdict == "verified" and "≥" in f.text for f in verdict.head), texts(verdict)
    more = better(record)
    if more is not None:
        assert record["bounds"][0]["status"] == "lower" and more["result"] != record["result"]
        assert refuted(more)


@pytest.mark.parametrize("line", LINES[:3])
def test_without_flint(line, monkeypatch):
    record = ask(line)
    monkeypatch.setitem(sys.modules, "flint", None)
    assert verify(record).holds and not verify(better(record)).holds


def test_a_lower_value_of_1_is_not_believed():
    record = ask(f"{RUN} --n 1000 --batch-size 50 --sigma .0002 --diameter 1 --epsilon 10")
    for row in (record["result"], record["bounds"][0]):
        row.update(delta=1.0, log_delta=0.0)
    verdict = verify(record)
    assert not verdict.holds and "a lower value of 1" in verdict.head[0].text

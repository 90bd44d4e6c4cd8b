"""The ways of the hybrids are in their witness: verified as they are told, whatever they are, and refused where they
are none."""

import copy
import json
import random

import pytest
from conftest import slow
from verifying import ask, better, refuted, texts

from dpcalc.bounds.pnsgd._engine.hybrid import Link, coded, decoded, needed
from dpcalc.verify.report import REFUTED, verify

RUN = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .05"
STREAM = "online-noise --noise gaussian --lipschitz 1 --smoothness .5 --diameter 1 --learning-rate .1 --decay 1.2 --c1 1e6 --c2 1e6"
LINES = {
    "deep": f"{RUN} --diameter 2 --sigma 2 --n 1e6 --index 999995 --delta 1e-20 --bound fixed-order-hybrid",
    "tv": f"{RUN} --diameter 2 --sigma 2 --n 1000 --index 800 --epsilon 0",
    "solved": f"{RUN} --diameter 2 --n 1000 --index 900 --epsilon 1 --delta 1e-6 --solve sigma",
    "index": f"{RUN} --diameter 20 --sigma 1 --n 1e6 --index 999000 --delta 1e-6 --bound fixed-order-hybrid",
    "stream": f"{STREAM} --index 999993 --n 1e6 --epsilon .1 --bound online-hybrid",
}


def hybrid(record):
    return next(b for b in record["bounds"] if b["name"].endswith("hybrid"))


def key(record):
    return "links" if "links" in hybrid(record)["witness"] else "way"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [slow(name) if name == "solved" else name for name in LINES])
def test_an_answer_with_its_links_is_verified_and_a_better_one_is_refuted(name):
    record = ask(LINES[name])
    witness = hybrid(record)["witness"]
    assert len(witness[key(record)]) > 1 and len(json.dumps(record)) < 20_000
    low, old = better(record), copy.deepcopy(record)
    del hybrid(old)["witness"][key(old)]
    assert verify(old).holds, "a record without links"

    verdict = verify(record)
    assert all(f.verdict == "verified" for f in verdict.head), texts(verdict)
    assert refuted(low)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["deep", "index", "stream"])
def test_other_links_prove_no_better_number(name):
    rng = random.Random(name)
    record = ask(LINES[name])
    low, at = better(record), key(record)
    told, proven = hybrid(record)["witness"][at], 0
    step, links = ([], told) if at == "links" else (told[:1], told[1:])
    for _ in range(6):
        other = [rng.choice((x, x, 0, -1, rng.randint(0, j), -rng.randint(1, 3) if j > 70 else 1)) for j,
                 x in enumerate(links, 1)]
        for r in (record, low):
            hybrid(r)["witness"][at] = [*step, *other]
        verdict = verify(record)
        proven += verdict.holds
        assert all(f.verdict in ("verified", REFUTED) for f in verdict.head), texts(verdict)
        assert not verify(low).holds
    assert proven < 6 or name == "deep"


@pytest.mark.filterwarnings("ignore")
def test_a_record_of_an_earlier_version():
    """It tells the step and the links apart."""
    record = ask(LINES["index"])
    step, *links = hybrid(record)["witness"].pop("way")
    hybrid(record)["witness"].update(step=step, links=links)
    assert verify(record).holds and refuted(better(record))


def test_steps_that_are_too_many_are_refused():
    record = ask(LINES["index"].replace("--n 1e6 --index 999000", "--n 1e9 --index 1"))
    hybrid(record)["witness"]["way"][0] = 1
    assert "out of range" in verify(record).head[0].text


def test_links_as_numbers():
    nodes = [0, 1, 2, 5, 60, 61]
    links = [Link(-1, 0, 0), Link(0, 1, 1), Link(0, 2, 1), Link(2, 1, 3), Link(3, 5, 11), Link(4, 0, 0)]
    assert coded(links) == [1, 2, -3, -11] and decoded(nodes, coded(links)) == links[:-1]
    assert decoded(nodes, [0, -1]) == [links[0], Link(0, 0, 0), links[0]]
    assert needed(coded(links)) == [0, 2, -3, -11] and needed([1, -1, 0, 1]) == [0, -1, 0, 1]
    for wrong in ([0], [0, 1, 1], [1, 2]):
        with pytest.raises(ValueError, match="nodes"):
            decoded(wrong, [1])


@pytest.mark.parametrize("old", ["shuffled-hybrid", "shuffled-hybrid-basic"])
def test_a_record_of_a_bound_that_was_replaced(old):
    record = ask(LINES["index"])
    hybrid(record)["name"] = old
    verdict = verify(record)
    assert not verdict.holds and "shuffled-hybrid was replaced by shuffled-hiding, which contains it" in verdict.head[0].text

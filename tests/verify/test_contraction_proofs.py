"""burn-in-contraction: other points than its own prove no number."""

import copy

import pytest
from conftest import slow, spread
from verifying import ask

from dpcalc.verify.report import verify

LINE = "burn-in --lipschitz 1 --smoothness 1 --steps 1e6 --bound burn-in-contraction"
FULL = f"{LINE} --n 1000 --batch-size 1000 --learning-rate .1 --diameter 1 --sigma .1"


def lowered(record, factor):
    """The headline lowered wherever it stands."""
    found, name = copy.deepcopy(record), "delta" if "log_delta" in record["bounds"][0] else "epsilon"
    for row in (found["result"], found["bounds"][0]):
        row[name] *= factor
    return found


@pytest.mark.parametrize("line", [
    "--n 1000 --batch-size 1000 --steps 1e3 --learning-rate .1 --diameter 1 --sigma .5 --delta 1e-2",
    slow("--n 1000 --batch-size 1000 --steps 1e5 --learning-rate .1 --diameter 1 --sigma .1 --delta 1e-5"),
    slow("--n 100000 --batch-size 1000 --steps 1e5 --learning-rate .05 --diameter 1 --sigma .05 --delta 1e-3"),
])
def test_the_lower_bound_is_proven_by_the_walk_that_it_was_found_with(line):
    record = ask(f"burn-in --lipschitz 1 --smoothness 1 {line} --bound lower-bound")
    assert verify(record).holds and not verify(lowered(record, 1.02)).holds


@pytest.mark.slow
@pytest.mark.parametrize("run", ["--n 1000 --batch-size 10 --sigma .1 --delta 1e-5",
                                 "--n 100 --batch-size 50 --sigma 1 --delta 1e-2"])
def test_a_window_that_hides_too_many_uses_proves_nothing(run):
    record = ask(f"{LINE} {run} --learning-rate .1 --diameter 1")
    assert verify(record).holds
    forged = lowered(record, 0.0)
    forged["bounds"][0]["witness"]["way"] = [0.0, 1e6, 0.0, 1.0]
    assert not verify(forged).holds


def changed(way, place, value):
    return [*way[:place], value, *way[place + 1:]]


FORGED = {
    "fewer points": lambda way: way[4:],
    "the last alone": lambda way: way[-4:],
    "a number less": lambda way: way[:-1],
    "half a window": lambda way: changed(way, -3, way[-3] / 2 + 0.25),
    "a window without steps": lambda way: changed(way, -3, 0.0),
    "a longer window": lambda way: changed(way, -3, way[-3] * 4),
    "a shorter window": lambda way: changed(way, -3, 1.0),
    "an infinite window": lambda way: changed(way, -3, float("inf")),
    "from a later point": lambda way: changed(way, -2, len(way) / 4),
    "from itself": lambda way: changed(way, -2, len(way) / 4 - 1),
    "from before the first": lambda way: changed(way, -2, -1.0),
    "from the first": lambda way: changed(way, -2, 0.0),
    "another rule": lambda way: changed(way, -1, 7.0),
    "the second point far out": lambda way: changed(way, 4, 100.0),
    "the first one is not at 0": lambda way: changed(way, 0, 0.01),
    "two in one place": lambda way: changed(way, 8, way[4]),
}


@spread("what", FORGED)
def test_a_forged_way_is_not_verified(what):
    record = ask(f"{FULL} --delta 1e-5")
    witness = record["bounds"][0]["witness"]
    witness["way"] = FORGED[what](witness["way"])
    assert not verify(record).holds

"""The recorded accuracy is of the bounds as they are, and a few fresh points keep it."""

import json

import accuracy
import pytest

from dpcalc.bounds import all_bounds
from dpcalc.catalogue import measured

BOUNDS = all_bounds()
FEW = {"rdp-optimal": 2, "online-limit": 1, "composition": 1, "burn-in-rdp": 1, "burn-in-as-published": 1, "poisson-rdp": 2, "lower-bound": 2,
       "profile-composition": 4, "online-hybrid": 3, "online-iteration": 3, "online-contraction": 3, "shuffled-iteration": 3, "shuffled-hybrid": 3,
       "fixed-order-hybrid": 3}


@pytest.mark.parametrize("name", BOUNDS)
def test_the_record_is_of_this_bound(name):
    record = measured(name)
    assert record is not None, "run python tests/accuracy.py NAME"
    bound = BOUNDS[name]
    assert record["claimed"] == (None if bound.status == "lower" else accuracy.oracle.claimed(bound))
    assert record["points"] >= 3
    assert record["worst"] >= 0
    assert bound.status == "lower" or record["worst"] <= record["claimed"]
    assert set(record["domain"]) == set(next(accuracy.stream(name, 0)))


@pytest.mark.parametrize("name", BOUNDS)
def test_fresh_points_keep_what_is_claimed(name):
    accuracy.measure(BOUNDS[name], FEW.get(name, 8), seed="fresh")  # raises Violation


def test_over_a_hundred_thousand_points():
    records = json.loads(accuracy.FILE.read_text(encoding="utf-8"))
    assert set(records) == set(BOUNDS)
    assert sum(r["points"] for r in records.values()) >= 100_000


def test_a_value_below_its_theorem_is_found():
    bound = BOUNDS["gaussian-rdp"]
    with pytest.raises(accuracy.Violation, match="below the theorem"):
        accuracy.measure(bound._replace(value=lambda *p, **q: bound.value(*p, **q) * (1 - 1e-15)), 20)
    with pytest.raises(accuracy.Violation, match="error"):
        accuracy.measure(bound._replace(value=lambda *p, **q: bound.value(*p, **q) * (1 + 1e-15)), 20)


def test_the_table_has_a_line_for_each_bound():
    lines = accuracy.table().splitlines()
    assert len(lines) == 2 + len(BOUNDS)
    assert all(line.count("|") == 6 for line in lines)


def test_a_bound_that_was_not_measured():
    assert measured("no-such-bound") is None

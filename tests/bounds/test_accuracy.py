"""The recorded accuracy is of the bounds as they are, a few fresh points keep it, and its reference is what mpmath says
too."""

import json
import random
from dataclasses import replace

import accuracy
import domains
import enclose
import flint
import mpmath
import oracle
import pytest
from conftest import slow

from dpcalc.bounds import all_bounds
from dpcalc.commands.catalogue import measured
from dpcalc.verify.arb.ball import Undecided

BOUNDS = all_bounds()
POINTS = 100_000
# sums over pairs of blocks or over slices, and chains of points, take up to seconds
COSTLY = dict.fromkeys(("shuffled-hiding", "shuffled-hiding-last", "smooth-nonconvex-shuffled-hiding",
                        "output-perturbation-shuffled-hiding", "burn-in-contraction", "truncated-poisson-lower",
                        "allocation-profile", "allocation-lower", "allocation-replace-one-profile",
                        "allocation-replace-one-lower", "shuffle-lower-allocation", "exponential-lower",
                        "shuffled-ldp-lower", "poisson-replace-one-rdp"),
                       2_000) | {"shuffle-lower": 300, "shuffle-profile": 300, "shuffle-profile-used": 300,
                                 "shuffle-profile-one-order": 300, "wor-zero-out-lower": 300, "with-replacement-lower": 300,
                                 "with-replacement-profile": 20_000, "audit-counts": 20_000,
                                 "audit-gdp": 20_000, "audit-one-run": 20_000, "threshold-composed": 2_000}
FEW = {"profile-composition": 10, "online-limit": 10, "allocation-profile": 4, "allocation-lower": 4,
       "allocation-replace-one-profile": 10, "allocation-replace-one-lower": 10,
       "shuffle-lower": 3, "shuffle-profile": 3, "shuffle-profile-used": 3, "shuffle-profile-one-order": 3, "wor-zero-out-lower": 3, "with-replacement-lower": 3}
# mpmath finds the first to 25 digits by roots of roots; its quadratures miss peaks or take seconds (test_integrals.py);
# its limit ends at e^96
ALONE = {"rdp-optimal": 2, "poisson-rdp": 1, "composition": 0, "burn-in-rdp": 0, "burn-in-rdp-nonconvex": 0,
         "burn-in-as-published": 0, "online-limit": 0, "lower-bound": 3, "allocation-profile": 1, "allocation-lower": 1,
         "shuffle-lower": 1, "shuffle-profile": 1, "shuffle-profile-used": 1, "shuffle-profile-one-order": 1, "wor-zero-out-lower": 1, "with-replacement-lower": 1, "poisson-replace-one-rdp": 1}
# what takes long even at a few points: both tests, fresh points, two arithmetics
SECONDS = {"shuffle-lower", "shuffle-profile", "shuffle-profile-used", "shuffle-profile-one-order", "wor-zero-out-lower",
           "allocation-profile", "burn-in-contraction"}
FRESH, ALIKE = {"with-replacement-lower", "with-replacement-profile"}, {"allocation-lower", "lower-bound"}


@pytest.mark.parametrize("name", BOUNDS)
def test_the_record_is_of_this_bound(name):
    record = measured(name)
    assert record is not None, "run python tests/accuracy.py NAME"
    bound = BOUNDS[name]
    assert record["claimed"] == (None if bound.is_from_below else accuracy.oracle.claimed(bound))
    assert record["points"] >= COSTLY.get(name, POINTS) and "digits" not in record
    assert record["worst"] >= 0
    assert bound.is_from_below or record["worst"] <= record["claimed"]
    assert set(record["domain"]) == set(next(accuracy.stream(name, 0)))


@pytest.mark.parametrize("share", [3, slow(1)], ids=["some", "all"])
@pytest.mark.parametrize("name", [slow(name) if name in SECONDS | FRESH else name for name in BOUNDS])
def test_fresh_points_keep_what_is_claimed(name, share):
    accuracy.measure(BOUNDS[name], -(-FEW.get(name, 20) // share), seed="fresh")  # raises Violation


@pytest.mark.parametrize("name", [slow(name) if name in SECONDS | ALIKE else name for name in BOUNDS])
def test_the_reference_is_what_mpmath_says(name):
    """Two arithmetics that share no code agree on the formula, to 1e-13 (integrals) or 1e-20."""
    bound, rng = BOUNDS[name], random.Random(f"agree {name}")
    near = mpmath.mpf("1e-12") if name == "poisson-rdp" else mpmath.mpf("1e-20")
    for _ in range(ALONE.get(name, 4)):
        p = domains.DRAW[name](rng)
        while name == "profile-composition" and not hasattr(p["pairs"][0][0], "losses"):
            p = domains.DRAW[name](rng)
        want = oracle.exact(bound, p, oracle.DIGITS.get(name, 60))
        for key, x in want.items() if bound.kind == "point" else ((None, want),):
            ball = narrow(bound, p, key)
            if float(ball.upper().log() if ball > 0 else 0) < -1e5:
                continue
            low, high = (oracle.context(60).mpf(end.mid().str(50, radius=False))
                         for end in (ball.lower(), ball.upper()))
            assert low - near * abs(low) - mpmath.mpf("1e-40") <= x <= high + near * abs(high) + mpmath.mpf("1e-40"), p


def narrow(bound, p, key):
    for bits in enclose.BITS:
        try:
            ball = enclose.numbers(bound, p, bits)[key]
        except Undecided:
            continue
        if ball.is_finite() and (ball.rad() < abs(ball) * 1e-12 or ball.rad() < 1e-50):
            return ball
    raise AssertionError("no narrow ball")


def test_over_five_million_points():
    records = json.loads(accuracy.FILE.read_text(encoding="utf-8"))
    assert set(records) == set(BOUNDS)
    assert sum(r["points"] for r in records.values()) >= 5_000_000


def test_a_value_below_its_theorem_is_found():
    bound = BOUNDS["gaussian-rdp"]
    with pytest.raises(accuracy.Violation, match="below the theorem"):
        accuracy.measure(replace(bound, value=lambda *p, **q: bound.value(*p, **q) * (1 - 1e-15)), 20)
    with pytest.raises(accuracy.Violation, match="error"):
        accuracy.measure(replace(bound, value=lambda *p, **q: bound.value(*p, **q) * (1 + 1e-15)), 20)


def test_chunks_merge_to_the_record_of_all():
    bound = BOUNDS["tv-exact"]
    a, b = accuracy.measure(bound, 30, 0), accuracy.measure(bound, 40, 1)
    both = accuracy.merge(a, b)
    assert both["points"] == 70 and both["worst"] == max(a["worst"], b["worst"])
    assert both["domain"]["ratio"] == {min(a["domain"]["ratio"] | b["domain"]["ratio"]),
                                       max(a["domain"]["ratio"] | b["domain"]["ratio"])}
    assert accuracy.plain({**both, "worst": 1.0000001e-12, "claimed": 1e-9})["worst"] == 1.01e-12  # upwards


def test_the_far_tail_of_the_normal_law():
    """Where Arb's erfc of a ball is no more than a bound."""
    c = enclose.context(256)
    x = c.mpf(1399405083) + c.mpf(1) / 3
    tail = c.erfc(x).x
    assert tail > 0 and tail.rel_accuracy_bits() > 100
    scaled = (tail.log() + x.x**2).exp() * x.x * flint.arb.pi().sqrt()  # 1 − 1/(2x²) + …
    assert abs(scaled - 1) < 1e-17


def test_the_table_has_a_line_for_each_bound():
    lines = accuracy.table().splitlines()
    assert len(lines) == 2 + len(BOUNDS)
    assert all(line.count("|") == 5 for line in lines)


def test_a_bound_that_was_not_measured():
    assert measured("no-such-bound") is None

"""Laws that hold for every bound; a new bound gets them by being listed (and by a line in domains.py)."""

import random
import re
from math import exp, inf, log
from pathlib import Path

import domains
import pytest
from conftest import slow
from oracle import claimed, deviations, value

from dpcalc.bounds import ROOMS, all_bounds, modules_of
from dpcalc.core.errors import OutOfScope

BOUNDS = all_bounds()
SLOW = {"profile-composition": 100, "online-limit": 100, "allocation-profile": 40, "allocation-lower": 40,
        "allocation-replace-one-profile": 100, "allocation-replace-one-lower": 100, "shuffle-lower": 40, "burn-in-contraction": 60,
        "shuffle-profile": 30, "shuffle-profile-used": 16, "shuffle-profile-one-order": 20,
        "wor-zero-out-lower": 20, "with-replacement-lower": 12}
# composed numerically: upper bounds within 0.2 %, not closed forms
COMPOSED = {"composition-profile", "burn-in-profile", "burn-in-profile-nonconvex", "burn-in-contraction"}
STEPS = {"composition-basic", "group-privacy"}  # profiles that fall in steps: the inverse gives where a step begins
ON_A_GRID = {"allocation-profile", "allocation-lower", "allocation-replace-one-profile",
             "allocation-replace-one-lower", "shuffle-lower", "shuffle-profile"}  # δ within 3 %
WITH_NODES = {"shuffle-profile-used": 1.0, "shuffle-profile-one-order": 0.05}  # δ of free choices that are few
COUNT = 300
SHARE = 12  # of the points in every run; all of them in CI
STATUS = {"proven", "as-published", "conjecture", "limit", "lower", "model"}
# the number of points in every run, where those of a share take long; and what takes long at a single point
BRIEF = {"allocation-profile": 1, "allocation-lower": 1, "burn-in-contraction": 2, "shuffle-lower-allocation": 10,
         "truncated-poisson-lower": 3, "with-replacement-lower": 1, "with-replacement-profile": 10,
         "wor-zero-out-lower": 1, "shuffled-hiding-last": 5, "smooth-nonconvex-shuffled-hiding": 7}
COSTLY = {"shuffle-lower", "shuffle-profile", "shuffle-profile-used", "shuffle-profile-one-order"}
shares = pytest.mark.parametrize("share", [SHARE, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"])


def few(name, most, share):
    """The number of points for a law: all of them in CI, and fewer elsewhere where a bound takes long."""
    return min(most, BRIEF.get(name, -(-SLOW.get(name, COUNT) // 30))) if share > 1 else most


def test_every_file_with_a_bound_is_listed():
    for room in ROOMS:
        listed = [Path(module.__file__) for module in modules_of(room)]
        files = [path for path in listed[0].parent.glob("*.py")
                 if re.search(r"^BOUNDS? = ", path.read_text(encoding="utf-8"), re.M)]
        where = "core/mechanism_names.py: NAMES" if room == "mechanisms" else f"bounds/{room}/__init__.py: MODULES"
        assert sorted(files) == sorted(listed), where


@shares
@pytest.mark.parametrize("name", [slow(name) if name in COSTLY else name for name in BOUNDS])
def test_value_is_the_printed_formula_and_never_below_it(name, share):
    bound = BOUNDS[name]
    count = -(-SLOW.get(name, COUNT) // share)
    for p in domains.points(name, BRIEF.get(name, count) if share > 1 else count):
        for error, below in deviations(bound, p, claimed(bound)):
            assert not below, f"{name}: value is below exact at {p}"
            assert error <= claimed(bound) or bound.is_from_below, f"{name}: {error:.3g} above exact at {p}"


@pytest.mark.parametrize("name", BOUNDS)
def test_says_where_it_comes_from(name):
    bound = BOUNDS[name]
    for field in ("statement", "source", *(() if name in WITHOUT_ASSUMPTIONS else ("assumptions",))):
        assert getattr(bound.theorem, field), f"the Theorem of {name} has no {field}"
    assert bound.status in STATUS
    assert bound.kind in {"rdp", "profile", "conversion", "point", "composition"}
    assert isinstance(bound.theorem.assumptions, tuple) and 0 < bound.rtol < (
        WITH_NODES.get(name, 0.0) + 0.031 if name in ON_A_GRID | WITH_NODES.keys() else 3e-3 if name in COMPOSED else 3e-8)


@pytest.mark.parametrize("name", BOUNDS)
def test_says_in_a_few_sentences_what_it_means(name):
    words, status = BOUNDS[name].theorem.in_words, BOUNDS[name].status
    assert 25 <= len(words.split()) <= 75 and words.endswith(".")
    assert not re.search(r"= \S+ =", words), "formulas belong in the statement"
    opening = {"lower": "This is a lower bound", "model": "This is a lower bound", "conjecture": "This is a conjecture",
               "limit": "This is no guarantee", "as-published": "This is no guarantee", "proven": ""}
    assert words.startswith(opening[status]), f"a bound that is {status} says so first"


# Theorems about numbers alone, which hold for whatever has the guarantee that they convert.
WITHOUT_ASSUMPTIONS = {"rdp-optimal", "rdp-improved", "rdp-mironov", "gdp-exact", "gdp-rdp", "gdp-zcdp", "zcdp-rdp", "dp-tv"}
COUNTS = {"steps", "iterations", "epochs", "group_size"}
UPPER = {"sampling_rate": 1.0, "max_weight": 1.0, "step_delta": 0.999, "step_tv": 1.0}


@shares
@pytest.mark.parametrize("name", BOUNDS)
def test_monotone(name, share):
    bound, rng = BOUNDS[name], random.Random(7)
    for p in domains.points(name, few(name, 25, share), seed=2):
        for key in domains.INCREASING[name]:
            more = (p[key] + max(1, p[key] // 3) if key in COUNTS else
                    min(p[key] * (1 + rng.random()), UPPER.get(key, inf)))
            low, high = value(bound, p), value(bound, {**p, key: more})
            for a, b in zip(low.values(), high.values(), strict=True) if isinstance(low, dict) else ((low, high),):
                assert a <= b + 2 * bound.rtol * abs(b) or a == b, (key, p, more)


@shares
@pytest.mark.parametrize("name", [n for n, b in BOUNDS.items() if b.kind == "profile"])
def test_profile_falls_and_its_inverse_is_safe(name, share):
    bound = BOUNDS[name]
    for p in domains.points(name, few(name, 40, share), seed=3):
        if bound.is_from_below:
            continue  # lowered by its own error, it may jump
        rest = {k: v for k, v in p.items() if k != "epsilon"}
        at = value(bound, p)
        assert -inf <= at <= 0
        try:
            assert value(bound, {**p, "epsilon": p["epsilon"] * 0.9}) >= at - 1e-9 * abs(at)
        except OutOfScope:
            assert name == "gaussian-classic"
        if bound.inverse and -700 < at < -1e-9 and name not in STEPS:
            back = bound.inverse(at, **rest)
            assert value(bound, {**p, "epsilon": back}) <= at + 1e-12 * max(1, abs(at))
            assert back == pytest.approx(p["epsilon"], rel=1e-6, abs=1e-9 * (1 + back))


@pytest.mark.parametrize("name", [n for n, b in BOUNDS.items() if b.kind == "conversion"])
def test_conversion_and_its_inverse_agree(name):
    bound = BOUNDS[name]
    for p in domains.points(name, 40, seed=4):
        log_delta = log(p["delta"])
        epsilon = bound.value(p["alpha"], p["rdp"], log_delta)
        assert epsilon >= 0
        back = bound.log_delta(p["alpha"], p["rdp"], epsilon)
        assert back <= 0
        if epsilon > 0:
            assert back == pytest.approx(log_delta, rel=1e-6, abs=1e-6), p


def test_every_listed_bound_has_a_domain():
    for table in ("DRAW", "INCREASING"):
        known = set(getattr(domains, table))
        assert not set(BOUNDS) - known, f"tests/oracles/domains.py: {table} lacks {set(BOUNDS) - known}"
        assert not known - set(BOUNDS), f"tests/oracles/domains.py: {table} has {known - set(BOUNDS)}, which no BOUNDS lists"


def test_conversions_are_ordered():
    for p in domains.points("rdp-optimal", 60, seed=5):
        args = (p["alpha"], p["rdp"], log(p["delta"]))
        optimal, improved, original = (BOUNDS[n].value(*args) for n in ("rdp-optimal", "rdp-improved", "rdp-mironov"))
        assert optimal <= improved * (1 + 1e-12) <= original * (1 + 1e-11)


def test_exact_profiles_are_below_the_rdp_route():
    for sigma in (0.5, 1.0, 5.0):
        exact_delta = exp(BOUNDS["gaussian-exact"].value(2.0, sigma, 1.0, 1))
        for a in (1.5, 3.0, 9.0):
            assert exact_delta <= exp(BOUNDS["rdp-optimal"].log_delta(a, BOUNDS["gaussian-rdp"].value(a, sigma, 1.0),
                                                                      2.0)) * (1 + 1e-12)

"""Laws that hold for every bound; a new bound gets them by being listed (and by a line in domains.py)."""

import random
from math import exp, inf, log

import domains
import pytest
from oracle import DIGITS, claimed, deviations, exact, value

from dpcalc.bounds import all_bounds
from dpcalc.errors import OutOfScope

BOUNDS = all_bounds()
SLOW_ORACLES = {"profile-composition": 40, "wor-profile": 200, "poisson-profile": 200, "poisson-rdp": 40, "rdp-optimal": 8, "composition-optimal": 60,
                "randomized-response-exact": 60, "wor-rdp": 60,
                "weighted-rdp": 60, "shuffled-iteration": 15, "shuffled-hybrid": 15, "fixed-order-hybrid": 15, "smooth-nonconvex-shuffled": 20,
                "smooth-nonconvex-high-noise": 20, "smooth-nonconvex-shuffled-exact": 25, "output-perturbation-shuffled": 20,
                "output-perturbation-shuffled-exact": 25, "without-replacement-conjecture-sum": 40, "online-contraction": 15,
                "online-iteration": 40, "online-hybrid": 15, "online-limit": 2, "smooth-nonconvex-exact": 40,
                "output-perturbation-exact": 60, "fixed-order": 40,
                "randomly-stopped": 20, "randomly-stopped-loose": 30, "shuffled-contraction": 30, "shuffled-limit": 40, "fixed-order-iteration": 40,
                "smooth-nonconvex": 100, "output-perturbation": 60, "without-replacement-conjecture": 100, "without-replacement-unamplified": 100,
                "without-replacement-lower": 100, "composition": 5, "burn-in-rdp": 8, "burn-in-as-published": 6, "composition-profile": 12,
                "burn-in-profile": 12, "lower-bound": 10, "iteration": 60, "iteration-schedule": 60, "noise-feedback": 100, "without-feedback": 100}
INTEGRALS = {"composition", "burn-in-rdp", "burn-in-as-published"}  # oracles by quadrature: compared at one precision
COMPOSED = {"composition-profile", "burn-in-profile"}  # composed numerically: upper bounds within 0.2 %, not closed forms
COUNT = 300
SHARE = 4  # of the points in every run; all of them in CI
STATUS = {"proven", "as-published", "conjecture", "limit", "lower"}


@pytest.mark.parametrize("share", [SHARE, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"])
@pytest.mark.parametrize("name", BOUNDS)
def test_value_is_the_printed_formula_and_never_below_it(name, share):
    bound = BOUNDS[name]
    for p in domains.points(name, -(-SLOW_ORACLES.get(name, COUNT) // share)):
        for error, below in deviations(bound, p, claimed(bound)):
            assert not below, p
            assert error <= claimed(bound) or bound.status == "lower", (p, error)


@pytest.mark.parametrize("name", BOUNDS)
def test_oracle_does_not_depend_on_its_precision(name):
    for p in domains.points(name, 3 if name in SLOW_ORACLES else 12, seed=1):
        if name in INTEGRALS or name in DIGITS:
            continue  # a root of a minimum or an integral, found to the working precision: two precisions take minutes
        if name == "poisson-rdp" and p["alpha"] != int(p["alpha"]):
            continue  # an integral: compared with the sum at whole orders, and by halving the step elsewhere
        first, second = exact(BOUNDS[name], p, 60), exact(BOUNDS[name], p, 120)
        for a, b in ((first[k], second[k]) for k in first) if isinstance(first, dict) else ((first, second),):
            assert a == b or abs(a / b - 1) < 1e-20, p


@pytest.mark.parametrize("name", BOUNDS)
def test_says_where_it_comes_from(name):
    bound = BOUNDS[name]
    assert bound.statement and bound.source and bound.status in STATUS
    assert bound.kind in {"rdp", "profile", "conversion", "point", "composition"}
    assert isinstance(bound.assumptions, tuple) and 0 < bound.rtol < (3e-3 if name in COMPOSED else 1e-8)


INCREASING = {  # in these a bound loses more privacy
    "gaussian-rdp": ("alpha", "sensitivity"), "gaussian-exact": ("sensitivity", "steps"), "gaussian-classic": ("sensitivity", "steps"),
    "laplace-rdp": ("alpha", "sensitivity"), "laplace-exact": ("sensitivity",), "laplace-profile": ("sensitivity",), "randomized-response-exact": ("steps",),
    "randomized-response-rdp": ("alpha",), "rdp-mironov": ("rdp",), "rdp-improved": ("rdp",), "rdp-optimal": ("rdp",),
    "gdp-exact": ("mu", "steps"), "gdp-rdp": ("alpha", "mu"), "zcdp-rdp": ("alpha", "rho"), "pure-rdp": ("alpha", "step_epsilon"),
    "pure-gdp": ("step_epsilon",), "dp-tv": ("step_epsilon", "step_delta"), "composition-basic": ("step_delta", "steps"),
    "composition-advanced": ("step_epsilon", "step_delta", "steps"), "composition-optimal": ("step_epsilon", "step_delta", "steps"),
    "outcomes-exact": (), "outcomes-rdp": ("alpha",), "rdp-curve": (), "rdp-composition": ("alpha",),
    "wor-profile": ("sampling_rate",), "poisson-profile": ("sampling_rate",), "profile-composition": (),
    "poisson-rdp": ("sampling_rate",), "wor-rdp": ("sampling_rate",), "weighted-rdp": ("max_weight",),
    "amplification": ("step_epsilon", "sampling_rate"),
    "fixed-order": ("lipschitz", "diameter"), "randomly-stopped": ("lipschitz", "diameter"),
    "randomly-stopped-loose": ("lipschitz", "diameter"), "shuffled-contraction": ("lipschitz", "diameter"), "shuffled-limit": (),
    "fixed-order-iteration": ("lipschitz",), "shuffled-iteration": ("lipschitz",), "fixed-order-hybrid": ("lipschitz",),
    "shuffled-hybrid": ("lipschitz",), "smooth-nonconvex": ("alpha", "lipschitz", "smoothness", "learning_rate"),
    "smooth-nonconvex-exact": ("lipschitz", "smoothness", "learning_rate"),
    "smooth-nonconvex-shuffled": ("alpha", "lipschitz", "smoothness", "learning_rate"),
    "smooth-nonconvex-shuffled-exact": ("lipschitz", "smoothness", "learning_rate"),
    "smooth-nonconvex-high-noise": ("smoothness", "learning_rate"), "output-perturbation": ("alpha", "lipschitz"),
    "output-perturbation-exact": ("lipschitz",), "output-perturbation-shuffled": ("alpha", "lipschitz"),
    "output-perturbation-shuffled-exact": ("lipschitz",), "without-replacement-conjecture": ("alpha", "passes", "constant"),
    "without-replacement-conjecture-sum": ("alpha", "passes", "constant"), "without-replacement-unamplified": ("alpha", "passes"),
    "without-replacement-lower": ("passes",), "online-contraction": ("lipschitz",), "online-iteration": ("lipschitz",),
    "online-hybrid": ("lipschitz",), "online-limit": ("lipschitz",),
    "composition": ("alpha", "iterations", "lipschitz"), "composition-profile": ("lipschitz",),
    "burn-in-rdp": ("alpha", "lipschitz", "diameter"), "burn-in-profile": ("lipschitz",), "iteration": ("lipschitz", "diameter"),
    "burn-in-as-published": ("alpha", "lipschitz", "diameter"), "lower-bound": (), "iteration-schedule": ("lipschitz", "diameter"),
    "noise-feedback": ("lipschitz",), "without-feedback": ("lipschitz",),
    "tv-exact": ("ratio",), "tv-pinsker": ("ratio", "steps"), "tv-laplace-as-published": ("sensitivity",), "tv-product": ("step_tv", "steps"),
    "tv-kl": ("kl", "steps"),
}
UPPER = {"sampling_rate": 1.0, "max_weight": 1.0, "step_delta": 0.999, "step_tv": 1.0}


@pytest.mark.parametrize("name", BOUNDS)
def test_monotone(name):
    bound, rng = BOUNDS[name], random.Random(7)
    for p in domains.points(name, 25, seed=2):
        for key in INCREASING[name]:
            more = p[key] + max(1, p[key] // 3) if key in ("steps", "iterations") else min(p[key] * (1 + rng.random()), UPPER.get(key, inf))
            low, high = value(bound, p), value(bound, {**p, key: more})
            for a, b in zip(low.values(), high.values(), strict=True) if isinstance(low, dict) else ((low, high),):
                assert a <= b + 2 * bound.rtol * abs(b) or a == b, (key, p, more)


@pytest.mark.parametrize("name", [n for n, b in BOUNDS.items() if b.kind == "profile"])
def test_profile_falls_and_its_inverse_is_safe(name):
    bound = BOUNDS[name]
    for p in domains.points(name, 40, seed=3):
        if bound.status == "lower":
            continue  # lowered by its own error, it may jump
        rest = {k: v for k, v in p.items() if k != "epsilon"}
        at = value(bound, p)
        assert -inf <= at <= 0
        try:
            assert value(bound, {**p, "epsilon": p["epsilon"] * 0.9}) >= at - 1e-9 * abs(at)
        except OutOfScope:
            assert name == "gaussian-classic"
        if bound.inverse and -700 < at < -1e-9 and name != "composition-basic":
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
    assert set(domains.DRAW) == set(BOUNDS) == set(INCREASING)


def test_conversions_are_ordered():
    for p in domains.points("rdp-optimal", 60, seed=5):
        args = (p["alpha"], p["rdp"], log(p["delta"]))
        optimal, improved, original = (BOUNDS[n].value(*args) for n in ("rdp-optimal", "rdp-improved", "rdp-mironov"))
        assert optimal <= improved * (1 + 1e-12) <= original * (1 + 1e-11)


def test_exact_profiles_are_below_the_rdp_route():
    for sigma in (0.5, 1.0, 5.0):
        exact_delta = exp(BOUNDS["gaussian-exact"].value(2.0, sigma, 1.0, 1))
        for a in (1.5, 3.0, 9.0):
            assert exact_delta <= exp(BOUNDS["rdp-optimal"].log_delta(a, BOUNDS["gaussian-rdp"].value(a, sigma, 1.0), 2.0)) * (1 + 1e-12)

"""The trapezoidal sums of integrals.py enclose what Arb's rigorous integration does, and sums at whole orders; those of
limits.py mpmath's integral."""

import random

import domains
import enclose
import flint
import integrals
import limits
import oracle
import pytest
from conftest import slow

from dpcalc.bounds import all_bounds
from dpcalc.bounds.noisy_sgd._engine import sampled_step
from dpcalc.bounds.sampling import poisson_rdp

arb = flint.arb
ORDINARY = [(1.5, 0.01, 1.0), (3.3, 0.4, 0.7), (1.01, 1e-4, 5.0), (12.5, 0.2, 2.0), (1.05, 0.05, 0.15)]  # α, q, z
KINDS = {
    "forward": (integrals.forward, lambda c, a, q, z: poisson_rdp.exact(c, a, z, q)),
    "reverse": (integrals.reverse, lambda c, a, q, z: poisson_rdp.exact_reverse(c, a, z, q)),
    "one-step": (integrals.one_step, sampled_step.exact),
}


def both(kind, point):
    ours, printed = KINDS[kind]
    found = ours(*map(arb, point), integrals.FIRST)
    return found, printed(enclose.context(256), *point).x


@pytest.mark.parametrize("point", ORDINARY)
@pytest.mark.parametrize("kind", KINDS)
def test_two_rigorous_integrations_meet(kind, point):
    found, want = both(kind, point)
    assert found.overlaps(want)
    assert found.rel_accuracy_bits() > 42 and want.rel_accuracy_bits() > 40


@pytest.mark.parametrize("order", [2, 3, 7, 30])
def test_whole_orders_are_the_printed_sum(order):
    for q, z in ((0.01, 1.0), (1e-9, 30.0), (0.7, 0.4), (0.999, 3.0), (1e-5, 0.3)):
        want = poisson_rdp.exact(enclose.context(512), float(order), z, q).x
        found = integrals.forward(arb(order), arb(q), arb(z), integrals.FIRST)
        assert found.overlaps(want) and found.rel_accuracy_bits() > 42


@pytest.mark.parametrize("kind", KINDS)
def test_where_a_closed_form_takes_over_both_agree(kind, monkeypatch):
    """Minkowski's inequality beyond LARGE, and v = 1 − q where the components hardly overlap."""
    point = (2.0, 0.5, 0.1) if kind != "reverse" else (1.5, 0.3, 0.033)
    ours = KINDS[kind][0]
    closed = ours(*map(arb, point), integrals.FIRST)
    monkeypatch.setattr(integrals, "LARGE", 1e9)
    monkeypatch.setattr(integrals, "APART", 1e9)
    summed = ours(*map(arb, point), 2 * integrals.FIRST)
    assert closed.overlaps(summed)
    assert closed.rel_accuracy_bits() > 42 and summed.rel_accuracy_bits() > 42


def test_a_sum_with_too_few_terms_is_noticed(monkeypatch):
    """The error bound is no decoration: with a fifth of the terms the ball is wide, and still holds the number."""
    want = both("one-step", ORDINARY[0])[1]
    monkeypatch.setattr(integrals, "ENOUGH", 8.0)
    for ours, target in ((integrals.one_step, want), (integrals.forward, both("forward", ORDINARY[0])[1])):
        wide = ours(*map(arb, ORDINARY[0]), integrals.FIRST)
        assert wide.overlaps(target) and wide.rel_accuracy_bits() < 40


@pytest.mark.parametrize("name", enclose.INTEGRALS)
def test_formulas_are_the_published_ones_around_their_integrals(name):
    bound = all_bounds()[name]
    for p in domains.points(name, 6, seed="around"):
        if p["sigma"] * p["batch_size"] / p["lipschitz"] < 1:
            continue  # Arb's integration takes seconds there
        found = enclose.numbers(bound, p, 128)[None]
        assert found.overlaps(enclose.by_the_formula(enclose.context(256), bound, p)[None])


@pytest.mark.parametrize("noise, decays", [("laplace", (5.5,)), slow("laplace", (2.2,)), slow("gaussian", (2.5,))])
def test_limits_are_the_integrals_of_their_logarithms(noise, decays):
    """At decays where what mpmath leaves out, beyond e^96, is below e^−110."""
    bound, rng = all_bounds()["online-limit"], random.Random(8)
    for decay in decays:
        p = domains.DRAW["online-limit"](rng)
        while p["law"].name != noise:
            p = domains.DRAW["online-limit"](rng)
        p["levels"] = p["levels"]._replace(decay=decay)
        want = oracle.context(30).log(oracle.exact(bound, p, 30))
        found = enclose.numbers(bound, p, 128)[None].log()
        assert found.rel_accuracy_bits() > 40
        assert abs(float(found.mid()) - want) < 1e-13 * abs(want)


def test_the_sum_of_a_limit_is_as_wide_as_its_error(monkeypatch):
    args = [flint.arb(x) for x in (1.7, 300.0, 20.0, 5)]
    want = limits.gaussian(*args)
    monkeypatch.setattr(limits, "ENOUGH", 10.0)
    wide = limits.gaussian(*args)
    assert wide.overlaps(want) and wide.rel_accuracy_bits() < want.rel_accuracy_bits() - 20

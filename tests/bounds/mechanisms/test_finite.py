"""Lists of finitely many privacy losses, from which the bounds of a mechanism follow."""

import random
from math import exp, inf, log

import domains
import mpmath
import pytest

from dpcalc.bounds import modules_of
from dpcalc.bounds.mechanisms import discrete_laplace, finite, k_randomized_response

ATOMS = {name: module.atoms for module in modules_of("mechanisms") if hasattr(module, "atoms")
         for name in (module.__name__.rpartition(".")[2].replace("_", "-"),)}
LISTED = [(name, domains.PARAMETERS[name](random.Random(seed))) for name in ATOMS for seed in range(3)]
EDGES = [("randomized-response", {"probability": 0.3}), ("k-randomized-response", {"step_epsilon": 0.7, "categories": 2}),
         ("unary", {"probability": 0.6, "flip_probability": 0.6})]


@pytest.mark.parametrize("name, own", LISTED + EDGES)
@mpmath.workdps(50)
def test_the_losses_are_those_of_two_distributions_in_either_order(name, own):
    losses = ATOMS[name](mpmath.mp, **own)
    for law in ([p for _, p in losses], [p - loss for loss, p in losses]):
        assert abs(mpmath.fsum(map(mpmath.exp, law)) - 1) < 1e-45
    turned = sorted((-loss, p - loss) for loss, p in losses)
    for (loss, p), (other, q) in zip(sorted(losses), turned, strict=True):
        assert abs(loss - other) < 1e-45 and abs(p - q) < 1e-45
    for (loss, p), (other, q) in zip(losses, ATOMS[name](finite.DOUBLES, **own), strict=True):
        assert other == pytest.approx(float(loss), rel=1e-15) and q == pytest.approx(float(p), rel=2e-15, abs=2e-15)


@pytest.mark.parametrize("scale, s", [(0.3, 2.0), (5.0, 7.0), (1e4, 60.0)])
@mpmath.workdps(50)
def test_many_losses_give_the_closed_forms_of_discrete_laplace_noise(scale, s):
    losses, most = discrete_laplace.atoms(finite.DOUBLES, scale, s), discrete_laplace.pure(scale, s)
    exact = discrete_laplace.atoms(mpmath.mp, scale, s)
    for share in (0.0, 1e-9, 0.3, 0.77, 1 - 1e-9, 1.0):
        delta = finite.exact_delta(mpmath.mp, share * most, exact)
        assert float(delta) == pytest.approx(float(discrete_laplace.exact(mpmath.mp, share * most, scale, s)), rel=1e-15)
        if delta > 0:
            highest = mpmath.log(finite.exact_delta(mpmath.mp, share * most * (1 - mpmath.mpf(2e-14)), exact))
            assert mpmath.log(delta) <= finite.log_delta(share * most, losses, most) <= highest + 2e-14 * (1 - highest)
    for log_delta in (-1e-12, -0.1, -3.0, -30.0, -700.0, -inf):
        found = finite.least_epsilon(log_delta, losses, most)
        assert finite.exact_delta(mpmath.mp, found, exact) <= mpmath.exp(log_delta)
        assert found == pytest.approx(discrete_laplace.inverse(max(log_delta, -744.0), scale, s), rel=1e-12)
    for alpha in (1 + 1e-12, 1.1, 3.0, 1e3, 1e6):
        rdp = finite.exact_rdp(mpmath.mp, alpha, exact)
        assert rdp * (1 - 1e-12) <= discrete_laplace.exact_rdp(mpmath.mp, alpha, scale, s) <= rdp * (1 + 1e-12)
        assert rdp <= finite.rdp(alpha, losses, most) <= rdp * (1 + 3e-14)


def test_no_mass_is_lost_below_the_doubles():
    """Of a loss that is nearly certain, and of one whose mass has no double."""
    pair = k_randomized_response.EXACT.pair(1000.0, 2)
    assert pair.log_p == (0.0, -1000.0) and pair.losses == (1000.0, -1000.0)
    assert k_randomized_response.EXACT.value(999.0, 1000.0, 2) == pytest.approx(log(1 - exp(-1.0)))
    assert k_randomized_response.RDP.value(1e3, 1000.0, 10) == pytest.approx(1000.0)

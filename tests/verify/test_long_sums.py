"""Sums too long to be added term by term hold their exact values."""

import mpmath
import pytest
from conftest import slow
from verifying import ask

from dpcalc.bounds.curve import of_bound
from dpcalc.bounds.mechanisms import gaussian, shuffled_ldp
from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.sampling import wor_rdp
from dpcalc.core.errors import OutOfScope
from dpcalc.verify import shuffled_reports
from dpcalc.verify.arb.context import Context
from dpcalc.verify.decreasing_sums import decreasing_sum
from dpcalc.verify.report import verify

STREAM = "online-noise --lipschitz {l} --diameter 1 --learning-rate {eta} --smoothness .5 --decay {a} --c1 {c} --c2 {c}"
LAPLACE = STREAM.format(l=10, eta=".01", a=1.5, c=100) + " --index 100 --noise laplace"


def test_a_limit_is_called_one():
    verdict = verify(ask(f"{LAPLACE} --n inf --epsilon 1"))
    assert "a limit: no claim about a finite n" in verdict.head[0].text


@pytest.mark.parametrize("f, exact", [
    (lambda x: 1 / (x * x), lambda m, a, b: m.zeta(2, a) - m.zeta(2, b + 1)),
    (lambda x: 1 / (x * x * x), lambda m, a, b: m.zeta(3, a) - m.zeta(3, b + 1)),
])
@pytest.mark.parametrize("first, last", [(1, 150), (1, 10**6), (7, 10**15)])
def test_sums_hold_the_exact_value(f, exact, first, last):
    mp, m = Context(128), mpmath.mp.clone()
    m.dps = 60
    value = m.nstr(exact(m, first, last), 40)
    above, below = (decreasing_sum(mp, f, first, last, above=side).real.x for side in (True, False))
    assert not above < mp.arb(value) and not below > mp.arb(value)
    assert abs(float(above) / float(value) - 1) < 1e-14 and abs(float(below) / float(value) - 1) < 1e-14


@pytest.mark.parametrize("epsilon, r", [(1.0, 0.02), (2.0, 0.049), (1.0, 0.001), (5.0, 0.1), (1e3, 3.0), (0.0, 0.1),
                                        (1e-3, 1e-5), (0.0, 1e-30)])
def test_theta_far_out_holds_the_printed_form(epsilon, r):
    mp, m = Context(128), mpmath.mp.clone()
    m.dps = 60
    value = mp.arb(m.nstr(theta(m, epsilon, r), 50))
    found = theta(mp, epsilon, r).real.x
    assert found.overlaps(value) and found.rel_accuracy_bits() >= 64  # half the bits of the arithmetic, at least


def test_theta_of_a_ratio_below_all_doubles_is_bounded_at_once():
    mp = Context(128)
    found = theta(mp, 1.0, mp.mpf(2) ** -(10**8)).real.x
    assert found.is_finite() and found < mp.arb(10) ** -1000


@pytest.mark.parametrize("n, e0, epsilons", [(31, 1.0, [0.0]), slow(300, 0.3, [0.0, 0.01, 0.02, 0.29, 0.3, 0.4]),
                                             (301, 5.0, [1.0, 1.5, 4.9])])
def test_short_sums_of_reports_hold_the_long_ones(n, e0, epsilons):
    """In ball arithmetic, where the far terms are bounded and sums are continued from one ε to the next, and term by
    term."""
    mp = Context(192)
    for epsilon, short in zip(epsilons, shuffled_reports.deltas_at(mp, epsilons, n, e0), strict=True):
        printed = shuffled_ldp.exact(mp, epsilon, n, e0)
        assert short.x.overlaps(printed.x) and (epsilon >= e0 or short.x.rel_accuracy_bits() > 60)


def test_orders_beyond_the_largest_are_refused():
    with pytest.raises(OutOfScope):
        wor_rdp.value(100_001, 0.1, of_bound(gaussian.RDP, sigma=30.0, sensitivity=1.0))

"""Sums too long to be added term by term: verified, and a better answer is not."""

import mpmath
import pytest
from verifying import ask, check

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.verify.arb.context import Context
from dpcalc.verify.decreasing_sums import decreasing_sum
from dpcalc.verify.report import verify

STREAM = "online-noise --lipschitz {l} --diameter 1 --learning-rate {eta} --smoothness .5 --decay {a} --c1 {c} --c2 {c}"
LAPLACE = STREAM.format(l=10, eta=".01", a=1.5, c=100) + " --index 100 --noise laplace"
GAUSSIAN = STREAM.format(l=1, eta=".1", a=1.2, c=1e6) + " --noise gaussian"
SHUFFLE = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .1"
LINES = [
    f"{LAPLACE} --n 1e6 --epsilon 1", f"{LAPLACE} --n 1e12 --epsilon 1", f"{LAPLACE} --n inf --epsilon 1",
    f"{LAPLACE} --n 3e5 --delta 1e-8",
    f"{LAPLACE} --n 900 --epsilon 1 --bound online-limit", f"{GAUSSIAN} --index 999993 --n 1e6 --epsilon .1",
    f"{GAUSSIAN} --index 295 --n 300 --epsilon .1",
    f"{GAUSSIAN} --index 1900 --n 2000 --strong-convexity .01 --delta 1e-5",
    f"{GAUSSIAN} --index 100 --n 1e6 --delta 1e-5 --bound online-iteration",
    f"{SHUFFLE} --sigma 3 --n 1e9 --bound smooth-nonconvex-shuffled --alpha 3",
    f"{SHUFFLE} --sigma 30 --n 1e12 --bound smooth-nonconvex-high-noise --alpha 3",
    f"{SHUFFLE} --sigma 3 --n 1e12 --strong-convexity .3 --bound output-perturbation-shuffled --alpha 3",
    "shuffle-pnsgd --sigma 4 --lipschitz 1 --n 1e9 --tau .5 --bound without-replacement-conjecture --alpha 3",
    "convert --from dp --epsilon 1e-3 --delta 1e-10 --steps 1e6 --target-delta 1e-3",
    "convert --from dp --epsilon 1e-5 --delta 0 --steps 1e9 --target-delta 1e-9",
    "rdp --mechanism randomized-response --probability .501 --steps 1e6 --delta 1e-5",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", LINES)
def test_long_sums_are_verified_and_no_better_ones(line):
    check(line, lower_ends=False)


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

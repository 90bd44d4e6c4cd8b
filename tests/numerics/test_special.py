"""Special functions against mpmath."""

import random
from math import inf, log

import mpmath
import numpy as np
import pytest

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.numerics import binomial_array, elementary, hockey_stick_array, legendre, normal, tails_array
from dpcalc.numerics.hockey_stick import epsilon_for, log_theta, log_theta_complement

mp = mpmath.mp.clone()
mp.dps = 60


def signed(rng):
    return rng.choice((-1, 1)) * 10 ** rng.uniform(-12, 1.5)


def beyond(x):
    return mp.erfc(x / mp.sqrt(2)) / 2


# A function, what it is, a draw of its arguments, and how near it is: relative, and absolute for sums of logarithms.
FUNCTIONS = {
    "expm1mx": (elementary.expm1mx, lambda x: mp.expm1(x) - x, lambda rng: (signed(rng),), 2e-15),
    "x_minus_log1p": (elementary.x_minus_log1p, lambda x: x - mp.log1p(x),
                      lambda rng: (max(signed(rng), -rng.random()),), 4e-15),
    "log1mexp": (elementary.log1mexp, lambda x: mp.log(-mp.expm1(x)) if x > -1 else mp.log1p(-mp.exp(x)),
                 lambda rng: (-abs(signed(rng)) * rng.choice((1, 20)),), 2e-15),
    "log_expm1": (elementary.log_expm1, lambda x: mp.log(mp.expm1(x)),
                  lambda rng: (abs(signed(rng)) * rng.choice((1, 800)),), 4e-15),
    "log_ratio": (elementary.log_ratio, lambda a, b: mp.log(a / b),
                  lambda rng: (x := 10 ** rng.uniform(-300, 300), x * (1 + 10 ** rng.uniform(-15, 9))), 4e-15),
    "log_add": (elementary.log_add, lambda a, b: mp.log(mp.exp(a) + mp.exp(b)),
                lambda rng: (rng.uniform(-50, 50), rng.uniform(-50, 50)), 4e-15),
    "log_sub": (elementary.log_sub, lambda a, b: mp.log(mp.exp(a) - mp.exp(b)),
                lambda rng: (x := rng.uniform(-50, 50), x - 10 ** rng.uniform(-1, 2)), 1e-14),
    "log_sum": (lambda *x: elementary.log_sum([*x]), lambda *x: mp.log(mp.fsum(map(mp.exp, x))),
                lambda rng: (rng.uniform(-50, 50), rng.uniform(-50, 50), -abs(signed(rng))), 4e-15),
    "geometric_sum": (elementary.geometric_sum, lambda x, n: mp.expm1(n * x) / mp.expm1(x),
                      lambda rng: (-abs(signed(rng)), round(10 ** rng.uniform(0, 12))), 2e-15),
    "lambert_w": (elementary.lambert_w, lambda x: mp.lambertw(x).real,
                  lambda rng: (10 ** rng.choice((rng.uniform(-300, 300), rng.uniform(-1, 1))),), 1e-14),
    "mills": (normal.mills, lambda x: beyond(x) / mp.npdf(x), lambda rng: (rng.uniform(-1, 100),), 4e-15),
    "log_tail": (normal.log_tail, lambda x: mp.log(beyond(x)), lambda rng: (rng.uniform(-6, 60),), 1e-14),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_that_lose_no_digits(name):
    """To a few ulps, on both sides of where they change their form."""
    function, exact, draw, near = FUNCTIONS[name]
    rng = random.Random(name)
    for _ in range(200):
        given = draw(rng)
        absolute = near if name in ("log_add", "log_sub", "log_sum", "log_expm1") else 0.0
        assert function(*given) == pytest.approx(float(exact(*map(mp.mpf, given))), rel=near, abs=absolute), given


def test_functions_at_the_ends_of_their_domains():
    assert elementary.log1mexp(0.0) == -inf == elementary.log_sum([]) == elementary.log_sum([-inf])
    assert elementary.log_add(-inf, 2.0) == 2.0 == elementary.log_add(2.0, -inf) == elementary.log_sub(2.0, -inf)
    assert elementary.lambert_w(0.0) == 0
    assert [elementary.geometric_sum(x, n) for x, n in ((0.0, 7), (-inf, 7), (-inf, 0))] == [7, 1, 0]


def test_tails_of_arrays():
    """R(z), Q(z) and log Q(z), by pieces, far out by a series, of any sign, and at infinity."""
    rng = random.Random(11)
    z = np.array([*(rng.uniform(0, 38.7) for _ in range(300)), *(rng.uniform(38.7, 300) for _ in range(40)),
                  *(10 ** rng.uniform(1, 9) for _ in range(100)), 0.0, 1 / 64, 38.75])
    upper = [beyond(mp.mpf(x)) for x in z.tolist()]
    near = [x * mp.npdf(at) / want for x, at, want in zip(tails_array.mills(z).tolist(), z.tolist(), upper, strict=True)]
    assert max(abs(x - 1) for x in near) < 1e-14
    small = z < 37
    assert tails_array.tail(z)[small].tolist() == pytest.approx([float(q) for q, x in zip(upper, z, strict=True)
                                                                 if x < 37], rel=2e-13)
    assert tails_array.above(-z)[small].tolist() == pytest.approx([1 - float(q) for q, x in zip(upper, z, strict=True)
                                                                   if x < 37], rel=1e-15)
    want = [float(mp.log(q)) for q in upper] + [float(mp.log1p(-q)) for q in upper]
    assert tails_array.log_tail(np.concatenate((z, -z))).tolist() == pytest.approx(want, rel=1e-14)
    at_ends = tails_array.log_tail(np.array([-np.inf, -60.0, 0.0, 1e200, np.inf])).tolist()
    assert at_ends[:3] == pytest.approx([0.0, 0.0, log(0.5)], rel=1e-15) and max(at_ends[3:]) < -1e299


@pytest.mark.parametrize("count", [8, 20, 24])
def test_legendre_rules(count):
    x, w = legendre.rule(count)
    for a, b in zip(x.tolist(), w.tolist(), strict=True):
        root = mp.findroot(lambda t: mp.legendre(count, t), mp.mpf(a))
        slope = count * (root * mp.legendre(count, root) - mp.legendre(count - 1, root)) / (root**2 - 1)
        assert abs(a - root) <= legendre.ERROR and abs(b * (1 - root**2) * slope**2 / 2 - 1) <= legendre.ERROR


def test_theta_and_its_complement():
    rng = random.Random(1)
    for _ in range(150):
        r = 10 ** rng.uniform(-13, 1.9)
        e = max(0.0, r * (r / 2 + rng.uniform(-8, 30)))
        want = theta(mp, e, r)
        assert log_theta(e, r) == pytest.approx(float(mp.log(want)), rel=1e-12, abs=1e-300), (e, r)
        assert log_theta_complement(e, r) == pytest.approx(float(mp.log1p(-want)), rel=1e-12, abs=1e-300), (e, r)


def test_theta_near_and_beyond_the_middle():
    """a = ε/r − r/2 from −1 on, where θ is a difference of Mills ratios: a series, a quadrature or their difference."""
    rng = random.Random(2)
    for _ in range(400):
        r = 10 ** rng.uniform(-6, 2)
        a = rng.choice([rng.uniform(-1, 3), 10 ** rng.uniform(-1, 2.5)])
        if a + r / 2 >= 0:
            e = (a + r / 2) * r
            assert log_theta(e, r) == pytest.approx(float(mp.log(theta(mp, e, r))), rel=1e-14), (e, r)


def test_theta_of_arrays_is_never_below_and_close():
    rng = np.random.default_rng(1)
    r = 10 ** rng.uniform(-9, 2.5, 20000)
    e = np.maximum(0.0, r * (r / 2 + np.where(rng.random(20000) < 0.5, rng.uniform(-12, 4, 20000),
                                              10 ** rng.uniform(-2, 3, 20000))))
    got = hockey_stick_array.log_theta(e, r)
    true = np.array([log_theta(x, y) for x, y in zip(e.tolist(), r.tolist(), strict=True)])
    assert (got >= true).all()
    assert ((got - true) <= 1e-6 * np.maximum(1, -true)).all()
    assert hockey_stick_array.log_theta(np.array([0.0, 1.0]), np.array([0.0, 0.0])).tolist() == [-np.inf, -np.inf]
    assert hockey_stick_array.log_theta(np.array([0.0, 1e9]), np.array([1e-300, 1e-3])).max() < -690
    x = np.concatenate([np.linspace(-1, 20, 20001), 10 ** np.linspace(1, 8, 10001)])
    assert abs(tails_array.mills(x) / np.array([normal.mills(y) for y in x.tolist()]) - 1).max() < 5e-15


def test_theta_to_an_end_is_never_below_and_close():
    """θ(br − r²/2, r) at high precision, also where its ε is below 0."""
    ends, ratios = 10 ** np.linspace(-3, 3, 25), 10 ** np.linspace(-6, 2.5, 40).reshape(4, 10)
    got = hockey_stick_array.log_theta_to(ends[:, None], ratios)
    assert got.shape == (25, 4, 10)
    for (i, j, k), found in np.ndenumerate(got):
        b, r = mp.mpf(float(ends[i])), mp.mpf(float(ratios[j, k]))
        with mp.workdps(60):
            last = mp.exp(b * r - r * r / 2) * mp.ncdf(-b)
            true = float(mp.log1p(-mp.ncdf(b - r) - last) if r > b else mp.log(mp.ncdf(r - b) - last))
        assert true <= found <= true + 1e-6 * max(1, -true), (b, r)


def test_the_epsilon_of_a_gaussian_is_safe_and_tight_everywhere():
    rng = random.Random(5)
    for _ in range(300):
        r, log_delta = 10 ** rng.uniform(-4, 1.5), -(10 ** rng.uniform(-2, 2.5))
        epsilon = epsilon_for(log_delta, r)
        assert log_theta(epsilon, r) <= log_delta
        assert epsilon == 0 or log_theta(epsilon * (1 - 3e-13), r) > log_delta, (r, log_delta)


def test_theta_of_no_shift_and_of_an_endless_one():
    assert (log_theta(0.5, 0.0), log_theta_complement(0.5, 0.0), log_theta(0.5, np.inf),
            log_theta_complement(0.5, np.inf)) == (-np.inf, 0.0, 0.0, -np.inf)


def test_fair_binomial_probabilities_of_arrays():
    for n in (1, 2, 5, 17, 40, 1000, 10**9):
        k = sorted({0, 1, n // 3, n // 2, max(0, n // 2 - 3 * int(n**0.5)), n - 1} - {n})
        with np.errstate(all="raise"):
            got = binomial_array.log_fair_pmf(np.array(k, float), np.full(len(k), float(n)))
        want = [float(mp.loggamma(n + 1) - mp.loggamma(j + 1) - mp.loggamma(n - j + 1) - n * mp.log(2)) for j in k]
        assert got == pytest.approx(want, rel=1e-12, abs=1e-13)

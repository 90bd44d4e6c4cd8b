"""Noisy SGD over a stream, a noise level for each step: the guarantee of one index, by contraction."""

from functools import lru_cache, partial
from math import exp, expm1, frexp, inf, ldexp, log
from typing import Any

from dpcalc.bounds.online._engine.levels import ASSUMPTIONS, EXAMPLE, STREAM, Levels, Listed, Schedule
from dpcalc.bounds.online._engine.shift import reaches
from dpcalc.bounds.online._engine.sums import NEGLIGIBLE, Progress, Tail, integral, lower_sum, panel_factor
from dpcalc.bounds.pnsgd._engine.laws import Law
from dpcalc.bounds.pnsgd._engine.step import (
    LAPLACE_LINE,
    check_step_size,
    contraction_exact,
    log_b,
    move_ratio,
    reach_ratio,
)
from dpcalc.bounds.pnsgd._engine.step import pure as pure_step
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.numerics.mp.sums import is_long, smooth_sum
from dpcalc.numerics.rounding import up


def value(epsilon: float, law: Law, levels: Levels, lipschitz: float, diameter: float, learning_rate: float,
          smoothness: float, strong_convexity: float, n: float, index: int) -> float:
    check_step_size(learning_rate, smoothness, strong_convexity)
    log_a = law.log_delta(epsilon, move_ratio(levels.at(index), lipschitz))
    if n == index or log_a == -inf:
        return log_a

    if isinstance(levels, Listed):
        from dpcalc.bounds.online import listed  # arrays: for lists only

        reach = reach_ratio(1.0, diameter, learning_rate, smoothness, strong_convexity)
        return min(0.0, up(log_a - listed.loss(epsilon, law, levels, reach, index + 1, int(n)), 1e-12))

    # A power of 16 that is at most −log A, so that the arguments of a cache seldom change.
    offset = ldexp(1.0, (frexp(-log_a)[1] - 1) // 4 * 4) if log_a else 0.0
    total = _loss(epsilon, law, levels.shape, index + 1, n, offset)
    return min(0.0, up(log_a - total, 1e-12))


@lru_cache(maxsize=64)  # the same at every learning rate
def _loss(epsilon: float, law: Law, shape: Schedule, first: int, n: float, offset: float) -> float:
    """Σ −log B_t over the steps from first to n, from below, to 1e-12 of the sum with the `offset`."""
    ratio, power = reaches(shape), 2 * shape.decay + 2

    def loss(t: float) -> float:
        return -log_b(law, epsilon, ratio(t))

    return lower_sum(loss, first, n, panel_factor(power), offset, tail_of_losses(epsilon, shape, power),
                     shape.head_terms(first, n))


# --- the remainder of an integral of −log B after its first panels: by arrays, or in closed form ---------------------

_TINY = 1e-13  # largest 1 − B and C2/x for the closed form, whose relative error is about as large


def tail_of_losses(epsilon: float, levels: Schedule, power: float) -> Tail:
    """The argument `tail` of `sums.integral` for the integrand −log B, where −d log(−log B)/d log t is at most about
    `power`."""
    return partial(_gaussian_tail if levels.noise == "gaussian" else _laplace_tail, epsilon, levels, power)


def _gaussian_tail(epsilon: float, levels: Schedule, power: float, done: Progress) -> float | None:
    """The total of the integral, with the remaining panels computed by arrays; None before 100 panels are done."""
    if done.panels < 100:  # they take 10 ms, and the import of numpy 100 ms
        return None
    from dpcalc.bounds.online._engine import sums_array

    return sums_array.integral(partial(sums_array.losses, epsilon, levels), done, panel_factor(power), NEGLIGIBLE)


def _laplace_tail(epsilon: float, levels: Schedule, power: float, done: Progress) -> float | None:
    """The total with a lower bound on the remainder, the integral of q = 1 − B = e^{ε/2}/(x + C2) <= −log B in closed
    form; None where q or C2/x is not tiny."""
    log_q = epsilon / 2 - levels.log_x(done.low)
    if log_q > log(_TINY) or levels.share(done.low) < 1 - _TINY:
        return None
    error = 10 * _TINY + 1e-15 * (epsilon / 2 + abs(log(levels.c1)) + levels.decay * log(done.low))
    excess = levels.decay - 1
    rest = exp(log_q) * done.low / excess * -expm1(excess * log(done.low / done.high))
    return done.total + rest * (1 - error)


def exact(mp: Any, epsilon: float, law: Law, levels: Levels, lipschitz: float, diameter: float, learning_rate: float,
          smoothness: float, strong_convexity: float, n: int, index: int) -> Any:
    contraction = contraction_exact(mp, learning_rate, smoothness, strong_convexity)
    reach = contraction * mp.mpf(diameter) / mp.mpf(learning_rate)
    product, n = law.exact(mp, epsilon, 2 * mp.mpf(lipschitz) / levels.exact(mp, index)), int(n)
    if isinstance(levels, Listed) or not is_long(mp, n - index):
        for t in range(index + 1, n + 1):
            product *= law.exact(mp, epsilon, reach / levels.exact(mp, t))
        return product
    if not product:
        return product

    def loss(t: Any) -> Any:
        ratio = reach / levels.exact(mp, t)
        rest = law.exact_rest(mp, epsilon, ratio)
        return -mp.log1p(-rest) if rest < 0.5 else -mp.log(law.exact(mp, epsilon, ratio))

    return product * mp.exp(-smooth_sum(mp, loss, index + 1, n))


def pure(law: Law, levels: Levels, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
         strong_convexity: float, index: int, n: float = inf) -> float:
    """The least ε with δ = 0, where A or some B is 0."""
    check_step_size(learning_rate, smoothness, strong_convexity)
    own = pure_step(law, levels.at(index), lipschitz)
    if n == index:
        return own
    if isinstance(levels, Listed):
        largest = max(levels.levels[index : int(n)])
        return min(own, up(reach_ratio(1.0, diameter, learning_rate, smoothness, strong_convexity) / largest, 1e-15))
    return min(own, levels.reach(index + 1))  # the noise falls


BOUND = ProfileBound(Theorem(
    name="online-contraction", example=EXAMPLE,
    statement="δ_i(n) = A_i Π_{t=i+1..n} B_t, A and B as in fixed-order at the noise level of each step",
    in_words="Noisy projected SGD on a stream of records in a fixed order, whose noise may decay, where only the last "
             "iterate is released: each later step contracts the divergence of the record at index i by a factor. A "
             "record is replaced. It is for convex smooth losses without clipping, and a learning rate of at most "
             "2/(β+ρ). It is false where earlier iterates are released.",
    source="Sordello, Bu & Dong 2021, eq. 11", assumptions=(*ASSUMPTIONS, LAPLACE_LINE),
    errata=("Sordello et al. 2021 report the limits (13) and (15) at finite n: δ_i(n) falls to its limit, and at n "
            "= 1e4 of Figure 4 it is 26.6 times that.",),
), params=("law", *STREAM), value=value, pure=pure, exact=exact, rtol=5e-9)

# --- the limit as the stream goes on for ever; not a guarantee at any finite n ----------------------------------------

# The integral is never too large by more than `_QUADRATURE`, relatively. What is left out beyond its last panel only
# lowers it.
# Gauss-Legendre with 12 points on a panel [l, gl], g = min(2, 1 + 4/(4a+2)), is off by at most (64/15)·M·ρ^{−22}/(1 −
# ρ^{−2}) times half the panel, M the maximum of f = −log B on the Bernstein ellipse of parameter ρ (Trefethen 2013,
# Theorem 19.3), which reaches down to v·l and spans angles up to φ seen from 0. There Re x^a >= (vl)^a cos(aφ); f
# falls, so that the panel's integral is at least (g−1)l·f(gl).
# - Laplace: 1 − B = e^{ε/2}/(x^a/C1 + C2) is at most U = e^{ε/2}/(C2 + (vl)^a cos(aφ)/C1) there, f(gl) >= 1 − B(gl),
#   and so the relative error at most L·(64/30)·ρ^{−22}/(1 − ρ^{−2})·(g/v)^a/cos(aφ), L = −log(1 − U)/U. The best ρ
#   gives below 1e-15·L for all a up to 100.
# - Gaussian at ε = 0: 1 − B = erfc(√(W/2)), W e^W = z = x^{2a}/(2πC1²) + C2, and |erfc(√(W/2))| <= e^{−Re W/2} =
#   √(|W/z|) for Re z > 0, where |W| <= W(|z|) + π/2; erfc(s) >= (2/√π)e^{−s²}/(s + √(s²+2)). With angles 2aφ < π/2 the
#   relative error is at most L·K·(64/30)·ρ^{−22}/(1 − ρ^{−2})·(g/v)^a/√cos(2aφ), K = (√π/2)(s + √(s²+2))√(1 + π/(2W)),
#   s = √(W/2): below 7e-13·L·K for a <= 3. L·K is below 300 from z = 0.01 up to the largest double.
# The rounding of log B is below 1e-12. Not covered: where B nears 0 at the first step (U near 1), a > 3 for Gaussian
# noise, where a = 10 has 2e-11·L·K, and Gaussian noise at ε > 0.
_QUADRATURE = 3e-10  # relative error of the integral


def _limit(epsilon: float, law: Law, levels: Schedule, lipschitz: float, diameter: float, learning_rate: float,
           smoothness: float, strong_convexity: float, index: int) -> float:
    """log A_i + ∫_{i+1}^∞ log B_x dx."""
    check_step_size(learning_rate, smoothness, strong_convexity)
    log_a = law.log_delta(epsilon, move_ratio(levels.at(index), lipschitz))
    reach, power = reaches(levels.shape), 4 * levels.decay + 2

    def loss(t: float) -> float:
        return -log_b(law, epsilon, reach(t))

    if log_a == -inf or loss(index + 1) == inf:
        return -inf
    total = integral(loss, index + 1, inf, panel_factor(power), -log_a, tail_of_losses(epsilon, levels, power))
    return min(0.0, up(log_a - total, _QUADRATURE))


def _limit_exact(mp: Any, epsilon: float, law: Law, levels: Schedule, lipschitz: float, diameter: float,
                 learning_rate: float, smoothness: float, strong_convexity: float, index: int) -> Any:
    contraction = contraction_exact(mp, learning_rate, smoothness, strong_convexity)
    reach = contraction * mp.mpf(diameter) / mp.mpf(learning_rate)
    a = law.exact(mp, epsilon, 2 * mp.mpf(lipschitz) / levels.exact(mp, index))

    def loss(u: Any) -> Any:
        x = mp.exp(u)
        return x * mp.log(law.exact(mp, epsilon, reach / levels.exact(mp, x)))

    start = mp.log(index + 1)
    return a * mp.exp(mp.quad(loss, [start + x for x in (0, 1, 3, 6, 12, 24, 48, 96)]))


LIMIT = ProfileBound(Theorem(
    name="online-limit", example=f"{EXAMPLE} --bound online-limit",
    statement="as n → ∞ the δ_i of online-contraction tends to at most A_i exp(∫_{i+1}^∞ log B_x dx)",
    in_words="This is no guarantee at a finite n: an upper bound of what the δ of online-contraction for the record at "
             "index i falls to as the stream goes on without end. A record is replaced. At a finite n that δ may be "
             "many times as large, and a run that was stopped has only that δ as its guarantee.",
    source="Sordello, Bu & Dong 2021, Theorems 6 and 7, eq. 13 and 15, corrected",
    assumptions=(*ASSUMPTIONS, "says nothing at a finite n: δ_i(n) falls to its limit"), status="limit",
    errata=("Sordello et al. 2021, eq. 13, has −ε/2 in A_i; it must be +ε/2.",
            "Sordello et al. 2021, eq. 15, prints exp(∫) inside the argument of θ; it must multiply θ.",
            "Sordello et al. 2021 give the rate 1/log n in the captions of Figures 4 and 5; it is n^(−(a−1)), with a "
            "the exponent of the decay."),
), params=("law", *(p for p in STREAM if p != "n")), value=_limit, pure=pure, exact=_limit_exact, rtol=5e-9)

BOUNDS = (BOUND, LIMIT)

"""The privacy profile of one step with Gaussian noise in which the record is in the batch k times with probability π_k,
and moves the output by at most k times as much as once; here at high precision, and in doubles in
repeated_draws_array.py.

Let N(d) be the noise with mean d, in units of its standard deviation, and let γ = e^ε >= 1. For all c_k >= 0 with
Σ_{k>=1} π_k c_k <= (γ−1)π_0 the theorems that use this file bound δ(ε) by

    Σ_{k>=1} π_k·∫(N(ar) − γN((a−1)r) − c_k N(0))₊,    r = kμ,

where a is 2 or 1, and μ one over the noise multiplier: the record moves the mean from 0 to ar on one data set, and to
(a−1)r on the other. The sum is convex in the c_k, and its derivative in c_k is −π_k times the mass of N(0) above the
zero t_k of the k-th integrand. So for the best c_k all t_k with c_k > 0 are equal, to some t: c_k is the number that
makes the integrand 0 at t, or 0 where this is negative. (That is not needed for the bound to hold.) At t the logs of
the ratios of N(ar) to N((a−1)r) and to N(0) are

    x_k = r(t − (a − 1/2)r),    y_k = ar(t − ar/2).

Where x_k > ε let w_k = 1 − e^{ε−x_k}, so that c_k = w_k e^{y_k}; else let w_k = 0, and x_k be ε. With the hockey-stick
divergence θ(x, r) of N(r) from N(0) at e^x, the integral is (1−w_k)θ(x_k, r) + w_kθ(y_k, ar), of positive terms. As
(·)₊ is subadditive, this is an upper bound for any x_k, y_k and 0 <= w_k <= 1 with (1−w_k)e^{x_k} <= γ, not only for
those of one t, if Σ π_k w_k e^{y_k} <= (γ−1)π_0. So errors of x_k and y_k do no harm if w_k is computed from the x_k
that is used, and the sum is rounded up; those of θ and π_k are bounded apart. """

from collections.abc import Sequence
from itertools import pairwise
from math import inf, log, log1p
from typing import Any, NamedTuple

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.sampling._engine.group_mixture import NEWTON_STEPS, ULPS, mu_up

LARGEST_RATIO = 1e100  # μ: with less noise the record counts as seen where it is in the batch


class Draws(NamedTuple):
    """How often the record is in a batch: the logs of the probabilities of not at all, of k times with a bound on the
    error, and of more often than all k, rounded up."""

    log_none: float
    counts: tuple[int, ...]
    log_weights: tuple[float, ...]
    errors: tuple[float, ...]
    log_more: float


def once(rate: float) -> Draws:
    """The draws of a record that is in the batch once or not at all."""
    log_none = log1p(-rate) if rate < 1 else -inf
    return Draws(log_none, (1,), (log(rate),), (ULPS * (1 - log(rate)),), -inf)


def mu_of_draws(noise_multiplier: float) -> float:
    """μ = 1/z, so much rounded up that no product kμ in doubles is below k/z."""
    return inf if noise_multiplier * LARGEST_RATIO < 1 else mu_up(noise_multiplier) * (1 + ULPS)


class ExactDraws(NamedTuple):
    """π_0, the pairs (k, π_k), and the probability of other numbers of draws, at high precision."""

    none: Any
    weights: Sequence[tuple[int, Any]]
    more: Any


def exact_once(mp: Any, rate: float) -> ExactDraws:
    """The same at high precision."""
    return ExactDraws(1 - mp.mpf(rate), ((1, mp.mpf(rate)),), mp.mpf(0))


def exact(mp: Any, epsilon: float, reach: int, noise_multiplier: float, draws: ExactDraws) -> Any:
    """The bound with the best half-line, for a = `reach`. Other numbers of draws are added as a whole.

    In balls t is a number, and all c_k are multiplied by what makes Σ π_k c_k the whole budget, (γ−1)π_0. Where the
    precision does not suffice to find t, all c_k are 0: a valid choice, too. """
    e = mp.mpf(epsilon)
    budget = mp.expm1(e) * draws.none
    rows, more = _rows_that_matter(mp, e, reach, 1 / mp.mpf(noise_multiplier), draws, budget)
    used = _exact_logs(mp, _exact_half_line(mp, e, reach, rows, budget), e, reach, rows)
    spent = mp.fsum(rows[i][0] * -mp.expm1(-x) * mp.exp(y) for i, (x, y) in used.items())
    missing = mp.log(budget / spent) if _is_positive(mp, spent) and _is_positive(mp, budget) else mp.mpf(1)
    if abs(float(missing)) > 0.5:  # t has no correct digit
        used = {}
    terms = []
    for i, (w, r) in enumerate(rows):
        if i in used:
            x, y = used[i]
            terms.append(w * (mp.exp(-x) * theta(mp, e + x, r) - mp.expm1(-x) * theta(mp, y + missing, reach * r)))
        else:
            terms.append(w * theta(mp, e, r))
    return more + mp.fsum(terms)


def _rows_that_matter(mp: Any, e: Any, reach: int, mu: Any, draws: ExactDraws,
                      budget: Any) -> tuple[list[tuple[Any, Any]], Any]:
    """The pairs (π_k, kμ), and the probability of other numbers of draws, without the largest k that are negligible at
    the working precision. Any k may be left out; how large δ is, is estimated from the single terms."""
    rows, sizes, more = [(w, k * mu) for k, w in draws.weights], list[float](), draws.more
    for w, r in rows:
        t = _single(mp, e, reach, budget / w, r)
        beyond = max(float(t - reach * r), 0.0) + 1
        sizes.append(float(mp.log(w)) - beyond * beyond / 2 + min(float(mp.log(r)), 0.0))
    negligible = max(sizes) - mp.prec * log(2)
    while len(rows) > 1 and float(mp.log(more + rows[-1][0])) < negligible:
        more = more + rows.pop()[0]
    return rows, more


def _exact_half_line(mp: Any, e: Any, reach: int, rows: Sequence[tuple[Any, Any]], budget: Any) -> Any:
    """The t at which Σ π_k c_k is the budget; None where all c_k are 0. The sum is convex in t, so that Newton's method
    falls to the root from the least t at which one of its terms is the whole budget."""
    if not _is_positive(mp, budget):
        return None
    t = min((_single(mp, e, reach, budget / w, r) for w, r in rows), key=float)
    for _ in range(NEWTON_STEPS):
        spent, slope = -budget, mp.mpf(0)
        for i, (x, y) in _exact_logs(mp, t, e, reach, rows).items():
            (w, r), rest = rows[i], mp.exp(-x)
            spent += w * (1 - rest) * mp.exp(y)
            slope += w * r * (reach * (1 - rest) + rest) * mp.exp(y)
        if not _is_positive(mp, slope):
            return None
        step = spent / slope
        t = mp.midpoint(t - step) if hasattr(mp, "midpoint") else t - step
        if abs(float(step / t)) < 2.0 ** (-mp.prec // 2 - 10):  # the next step would square it
            break
    return t


def _single(mp: Any, e: Any, reach: int, c: Any, r: Any) -> Any:
    """The t at which c_k = c: e^{y_k} − γ for a = 1. For a = 2 it is u² − bu with u = e^{r(t−r)} and b = γe^{r²/2}."""
    if reach == 1:
        return mp.log(mp.exp(e) + c) / r + r / 2
    b = mp.exp(e + r * r / 2)
    return mp.log((b + mp.sqrt(b * b + 4 * c)) / 2) / r + r


def _exact_logs(mp: Any, t: Any, e: Any, reach: int, rows: Sequence[tuple[Any, Any]]) -> dict[int, tuple[Any, Any]]:
    """x_k − ε and y_k at t, by the index of the row, where the former is positive."""
    if t is None:
        return {}
    xs = [r * (t - (reach - mp.mpf(0.5)) * r) - e for _, r in rows]
    return {i: (x, reach * r * (t - reach * r / 2)) for i, (x, (_, r)) in enumerate(zip(xs, rows, strict=True))
            if _is_positive(mp, x)}


def _is_positive(mp: Any, x: Any) -> bool:
    """Whether x is positive; in balls, whether that is sure."""
    return bool(x.surely_positive() if hasattr(mp, "between") else x > 0)


# --- one step of the pair that repeated draws attain, in cells of outcomes --------------------------------------------


def delta_of_cells(mp: Any, epsilon: float, cuts: Sequence[float], mu: Any, draws: ExactDraws, reach: int) -> Any:
    """The larger sum of (P − e^ε Q)₊ over the cells, of both directions. More draws than are listed are left out."""
    in_p, in_q = cells(mp, cuts, mu, draws, reach)
    factor = mp.exp(mp.mpf(epsilon))
    gains = ([p - factor * q for p, q in zip(*pair, strict=True)] for pair in ((in_p, in_q), (in_q, in_p)))
    return max(mp.fsum(x for x in each if x > 0) for each in gains)


def cells(mp: Any, cuts: Sequence[float], mu: Any, draws: ExactDraws, reach: int) -> tuple[list[Any], list[Any]]:
    """The masses under P and under Q of the cells below, between and above the cuts."""
    in_p, in_q = ([mp.fsum(x) for x in zip(*columns, strict=True)] for columns in (
        [normal_cells(mp, cuts, w, (reach - back) * k * mu) for k, w in ((0, draws.none), *draws.weights)]
        for back in (0, 1)))
    return in_p, in_q


def normal_cells(mp: Any, cuts: Sequence[float], weight: Any, mean: Any) -> list[Any]:
    """The masses of all cells under a normal distribution with variance 1, times its weight, from the smaller tails of
    their ends."""
    distances = [mp.mpf(cut) - mean for cut in cuts]
    tails = [mp.mpf(0), *(mp.erfc(abs(x) / mp.sqrt(mp.mpf(2))) / 2 for x in distances), mp.mpf(0)]
    is_right = [False, *(float(x) > 0 for x in distances), True]
    masses = []
    for (a, a_right), (b, b_right) in pairwise(zip(tails, is_right, strict=True)):
        masses.append(weight * (a - b if a_right else 1 - a - b if b_right else b - a))
    return masses

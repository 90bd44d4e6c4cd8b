"""Binomial probabilities to full relative accuracy for n up to 1e15, by Loader's saddle-point expansion (Loader
2000)."""

from functools import lru_cache
from math import exp, fsum, inf, lgamma, log, log1p
from typing import Any, NamedTuple

from dpcalc.numerics.elementary import log1mexp
from dpcalc.numerics.normal import LOG_SQRT_2PI

STIRLING_COEFFICIENTS = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)


def stirling_error(n: float) -> float:
    """log n! − log(√(2πn)(n/e)^n)."""
    if n < 16:
        return 0.0 if n == 0 else lgamma(n + 1) - (n + 0.5) * log(n) + n - LOG_SQRT_2PI
    return float(stirling_series(n))


def stirling_series(n: Any) -> Any:
    """The same for n >= 16, a number or an array: the first omitted term is below 1e-17/n."""
    square, s = 1 / (n * n), 0.0
    for c in reversed(STIRLING_COEFFICIENTS):
        s = s * square + c
    return s / n


def deviance(x: float, mean: float) -> float:
    """x log(x/m) + m − x >= 0 for the mean m, without cancellation near x = m."""
    d = x - mean
    if abs(d) < 0.1 * (x + mean):
        v = d / (x + mean)
        s, term, k = d * v, 2 * x * v, 1
        while True:
            term *= v * v
            k += 2
            if (nxt := s + term / k) == s:
                return s
            s = nxt
    return (x * log(x / mean) if x > 0 else 0.0) + mean - x


def log_binomial_pmf(k: float, n: float, log_p: float, log_q: float, p: float, q: float) -> float:
    """log C(n,k) p^k q^{n−k}. Both p and q = 1 − p are given, and their logs, as either may be tiny."""
    if k == 0:
        return n * log_q
    if k == n:
        return n * log_p
    core = stirling_error(n) - stirling_error(k) - stirling_error(n - k) - deviance(k, n * p) - deviance(n - k, n * q)
    return core - LOG_SQRT_2PI - 0.5 * (log(k) + log1p(-k / n))


@lru_cache(maxsize=16)
def log_binomial_weights(n: int, p: float) -> tuple[float, ...]:
    """log C(n,k) p^k (1−p)^{n−k} for k = 0..n, where 0 < p < 1."""
    return tuple(log_binomial_pmf(k, n, log(p), log1p(-p), p, 1 - p) for k in range(n + 1))


def log_choose(n: int, k: int) -> float:
    """log C(n,k), with an error of a few units in the last place of `spread`, which is of about the same size (log n!
    may be much larger)."""
    k = min(k, n - k)
    if k < 16:
        return fsum(log((n - i) / (i + 1)) for i in range(k))
    spread = -k * log(k / n) - (n - k) * log1p(-k / n)
    errors = stirling_error(n) - stirling_error(k) - stirling_error(n - k)
    return spread + errors - LOG_SQRT_2PI - 0.5 * (log(k) + log1p(-k / n))


def exact_log_choose(mp: Any, n: int, k: int) -> Any:
    """log C(n,k) at high precision."""
    return mp.loggamma(mp.mpf(n + 1)) - mp.loggamma(mp.mpf(k + 1)) - mp.loggamma(mp.mpf(n - k + 1))


class LogTail(NamedTuple):
    """The logarithm of a probability, and an upper bound on its absolute error."""

    log: float
    error: float = 0.0


@lru_cache(maxsize=64)
def log_tails(k: int, n: int, p: float) -> tuple[LogTail, LogTail]:
    """Pr[X < k] and Pr[X ≥ k] of X ~ Bin(n, p), with relative accuracy also where they are as small as 1e-300. The
    error covers a probability p that is off by half a unit in the last place, as a ratio of whole numbers is.

    The tail on the side away from the mean is the sum of its terms from k on, each by the ratio of neighbours; the
    other tail is its complement. All terms are positive, so nothing cancels. """
    if k <= 0 or k > n or p == 1:
        is_sure = k <= 0 or (k <= n and p == 1)
        return (LogTail(-inf), LogTail(0.0)) if is_sure else (LogTail(0.0), LogTail(-inf))
    upper = k > n * p
    first = k if upper else k - 1
    odds = p / (1 - p)
    total = term = 1.0
    steps = 0
    while term > 1e-20 * total and 0 <= first + steps <= n:  # the terms fall geometrically
        j = first + steps
        term *= (n - j) / (j + 1) * odds if upper else j / ((n - j + 1) * odds)
        total += term
        steps += 1 if upper else -1
    tail = min(log_binomial_pmf(first, n, log(p), log1p(-p), p, 1 - p) + log(total), 0.0)
    # Rounding: of the logarithm of the first term and of |steps| products; and of p, n·p and n·(1 − p), as the
    # derivative of the logarithm is (k − np)/(1 − p) in log p.
    error = 1e-15 * (8 + abs(tail) + abs(steps)) + 8e-16 * abs(k - n * p) / (1 - p)
    rest = log1mexp(tail)
    summed, complement = LogTail(tail, error), LogTail(rest, error * exp(min(tail - rest, 700.0)) + 1e-15 * abs(rest))
    return (complement, summed) if upper else (summed, complement)


def exact_tails(mp: Any, k: int, n: int, p: float) -> tuple[Any, Any]:
    """Pr[X < k] and Pr[X ≥ k] for X ~ Bin(n, p) at the precision of a context; in ball arithmetic, balls that contain
    them."""
    if k <= 0 or k > n or p == 1:
        is_sure = k <= 0 or (k <= n and p == 1)
        return (mp.mpf(0), mp.mpf(1)) if is_sure else (mp.mpf(1), mp.mpf(0))
    upper, q = k > n * p, mp.mpf(p)
    j = k if upper else k - 1
    odds = q / (1 - q)
    term = total = mp.binomial(n, j) * q**j * (1 - q) ** (n - j)
    size, ratio, smallest = 1.0, 1.0, 2.0 ** -(mp.prec + 8)  # of the term relative to the first, in doubles
    while size * ratio >= smallest * (1 - ratio) and (j < n if upper else j > 0):
        factor = mp.mpf(n - j) / (j + 1) * odds if upper else mp.mpf(j) / (n - j + 1) / odds
        ratio = min(float(factor), 1.0)
        term, size, j = term * factor, size * ratio, j + 1 if upper else j - 1
        total += term
    # The ratios fall, so what is left out is at most a geometric series; 1 where the sum is complete.
    if hasattr(mp, "between") and (j < n if upper else j > 0):
        total += mp.between(0, term * factor / (1 - factor))
    return (1 - total, total) if upper else (total, 1 - total)

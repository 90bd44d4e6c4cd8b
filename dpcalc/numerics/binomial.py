"""Binomial probabilities to full relative accuracy for n up to 1e15, by Loader's saddle-point expansion (Loader
2000)."""

from functools import lru_cache
from math import fsum, lgamma, log, log1p

from dpcalc.numerics.normal import LOG_SQRT_2PI

_STIRLING_COEFFICIENTS = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)


def stirling_error(n: float) -> float:
    """log n! − log(√(2πn)(n/e)^n)."""
    if n < 16:
        return 0.0 if n == 0 else lgamma(n + 1) - (n + 0.5) * log(n) + n - LOG_SQRT_2PI
    s, power, square = 0.0, 1 / n, 1 / (n * n)
    for c in _STIRLING_COEFFICIENTS:  # for n >= 16 the first omitted term is below 1e-17/n
        s += c * power
        power *= square
    return s


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

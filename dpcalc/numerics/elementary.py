"""Elementary functions that stay accurate where the textbook formula cancels or overflows."""

from math import exp, expm1, fsum, inf, log, log1p

LARGEST_EXPONENT = 700.0  # exp of a larger number is close to the overflow of doubles, at 709.8


def expm1mx(x: float) -> float:
    """e^x − 1 − x >= 0, to a few units in the last place (ulp) also where x is small."""
    if abs(x) > 0.5:
        return expm1(x) - x
    # For |x| <= 1/2 the omitted terms (k >= 18) sum to less than 2^-60 of the first.
    term, terms = x, []
    for k in range(2, 18):
        term *= x / k
        terms.append(term)
    return fsum(terms)


def x_minus_log1p(x: float) -> float:
    """x − log(1+x) >= 0 for x > −1, to a few ulp; where it cancels by log(1+x) = 2 artanh(x/(2+x))."""
    if abs(x) > 0.2:
        return x - log1p(x)
    r = x / (2 + x)
    square, s = r * r, 0.0
    for k in range(23, 1, -2):  # for |r| <= 1/9 the omitted terms are below 1e-20 of the first
        s = (s + 1 / k) * square
    return r * (x - 2 * s)


def bregman(alpha: float, u: float, y: float) -> float:
    """(1+u)^α − 1 − αu >= 0, the terms of which Rényi divergences near 0 are sums, without cancellation: r·χ((α−1)y) +
    (α−1)(r·y − u) with r = 1+u, y = log r given and χ(x) = e^x − 1 − x."""
    a1, r = alpha - 1, 1 + u if u > -0.5 else exp(y)
    if abs(u) < 0.5:
        return r * (expm1mx(a1 * y) + a1 * (u * u / r - x_minus_log1p(u)))
    return r * expm1mx(a1 * y) + a1 * (r * y - u)


def log1mexp(x: float) -> float:
    """log(1 − e^x) for x <= 0 (Mächler 2012); −inf at 0."""
    if x == 0.0:
        return -inf
    return log(-expm1(x)) if x > -log(2) else log1p(-exp(x))


def log_expm1(x: float) -> float:
    """log(e^x − 1) for x >= 0; −inf at 0."""
    if x == 0.0:
        return -inf
    return log(expm1(x)) if x < LARGEST_EXPONENT else x


def log_ratio(a: float, b: float) -> float:
    """log(a/b) of positive numbers, with a small relative error also near a = b, and without overflow."""
    if a / 2 <= b <= 2 * a:
        return log1p((a - b) / b)  # the difference is exact
    return log(a / b) if b > 1e-300 and 1e-300 < a / b < 1e300 else log(a) - log(b)


def log_add(a: float, b: float) -> float:
    """log(e^a + e^b)."""
    if a < b:
        a, b = b, a
    return a if b == -inf else a + log1p(exp(b - a))


def log_sub(a: float, b: float) -> float:
    """log(e^a − e^b) for a >= b; −inf where they are equal."""
    if b == -inf:
        return a
    return a + log1mexp(min(b - a, 0.0))


def log_sum(terms: list[float]) -> float:
    """log Σ e^t."""
    top = max(terms, default=-inf)
    return top if top == -inf else top + log(fsum(exp(t - top) for t in terms))


def geometric_sum(x: float, count: int) -> float:
    """Σ_{k<count} e^{kx}, to a few ulp; x may be −∞."""
    return expm1(count * x) / expm1(x) if x != 0 and count else float(count)


def lambert_w(x: float) -> float:
    """Lambert's W(x) for x >= 0, the solution of W e^W = x, to a few units in the last place."""
    if x == 0:
        return 0.0
    if x > 1:
        return lambert_w_log(log(x))
    w = x / (1 + x) if x < 0.5 else log1p(x) * 0.8
    for _ in range(4):  # Halley's iteration converges cubically, from within 10 % here
        e = exp(w)
        f = w * e - x
        w -= f / (e * (w + 1) - (w + 2) * f / (2 * w + 2))
    return w


def lambert_w_log(log_x: float) -> float:
    """W(e^t) for t >= −700, by Newton's method for w + log w = t."""
    if log_x < 0:
        return lambert_w(exp(log_x))
    w = log_x - log(log_x) if log_x > 2 else 0.5671432904097838 + 0.36 * log_x
    for _ in range(6):  # it converges quadratically, from within 30 % here
        w = w * (1 + log_x - log(w)) / (1 + w)
    return w

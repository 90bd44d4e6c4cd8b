"""The discrete Gaussian distribution on the integers, Pr[X = x] proportional to g(x) = e^(−x²/(2σ²))."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp, expm1, log, log1p, pi, sin, sqrt
from typing import Any

from dpcalc.bounds.mechanisms.whole_sensitivity import whole
from dpcalc.core.errors import OutOfScope

ASSUMPTIONS = ("the query is one integer that changes by at most s between neighbouring data sets",
               "noise on the integers with Pr[X = x] proportional to e^(−x²/(2σ²))")
NAME = "discrete Gaussian"
LARGEST_SIGMA = 50_000.0  # δ is a sum of about 20σ terms, which takes a second there
_POISSON_FROM = 0.4  # σ from which Poisson's summation formula converges fast; below, the sum itself does


def sensitivity_and_sigma(sigma: float, sensitivity: float) -> tuple[int, float]:
    """The arguments of a sum over the integers. Raises OutOfScope where it would be too long."""
    if sigma > LARGEST_SIGMA:
        raise OutOfScope("too-large", f"{sigma:g} is above {LARGEST_SIGMA:g}, where the exact sum over the integers "
                                      "has too many terms", "--sigma")
    return whole(sensitivity, NAME), sigma


def log_total(sigma: float) -> float:
    """log Σ_x g(x), to a few ulp of 1 and of itself: of σ√(2π)(1 + 2Σ_j e^(−2π²σ²j²)) or of the sum itself, without the
    terms below 1e-17 of it."""
    if sigma >= _POISSON_FROM:
        return log(sigma * sqrt(2 * pi)) + log1p(2 * sum(exp(-2 * (pi * sigma * j) ** 2) for j in range(1, 6)))
    return log1p(2 * sum(exp(-((k / sigma) ** 2) / 2) for k in range(1, 6)))


def log_share_off_centre(c: float, sigma: float) -> float:
    """log(Σ_x g(x − c)/Σ_x g(x)) <= 0 for 0 <= c <= 1/2, without cancellation.

    By Poisson's formula the ratio is (1 + 2Σ_j t_j cos(2πjc))/(1 + 2Σ_j t_j), t_j = e^(−2π²σ²j²). For small σ it is
    e^(−c²/(2σ²))·(1 + 2Σ_k g(k)cosh(kc/σ²))/(1 + 2Σ_k g(k)).
    """
    if sigma >= _POISSON_FROM:
        terms = [(j, exp(-2 * (pi * sigma * j) ** 2)) for j in range(1, 6)]
        missing = 4 * sum(t * sin(pi * j * c) ** 2 for j, t in terms)
        return log1p(-missing / (1 + 2 * sum(t for _, t in terms)))
    beside = [(k, exp(-((k / sigma) ** 2) / 2)) for k in range(1, 7)]
    more = sum(exp(-k * (k - 2 * c) / (2 * sigma * sigma)) * expm1(-k * c / sigma**2) ** 2 for k, _ in beside)
    return log1p(more / (1 + 2 * sum(g for _, g in beside))) - c * c / (2 * sigma * sigma)


def exact_total(mp: Any, sigma: Any, centre: Any = 0) -> Any:
    """Σ_x e^(−(x − c)²/(2σ²)) for |c| <= 1/2, at high precision: directly, or by Poisson's summation formula."""
    bits = mp.prec + 20
    if sigma < 1:
        last = int(float(sigma) * sqrt(2 * 0.7 * bits)) + 2
        return mp.fsum(mp.exp(-((k - centre) / sigma) ** 2 / 2) for k in range(-last, last + 1))
    last = int(sqrt(0.7 * bits / 2) / (pi * float(sigma))) + 2
    waves = mp.fsum(mp.exp(-2 * (mp.pi * sigma * j) ** 2) * mp.cos(2 * mp.pi * j * centre) for j in range(1, last + 1))
    return sigma * mp.sqrt(2 * mp.pi) * (1 + 2 * waves)


def exact_outcomes(mp: Any, sigma: float, shifts: Sequence[int]) -> tuple[list[tuple[Any, ...]], Any]:
    """The probabilities of x + shift for each shift, of all outcomes x that matter at this precision, and an upper
    bound of the mass of the others."""
    v, most = mp.mpf(sigma), max(map(abs, shifts))
    reach = int(sigma * sqrt(1.4 * (mp.prec + 40))) + 1  # where g is 2^−bits
    far, total = reach + 2 * most, exact_total(mp, v)
    g = [x / total for x, _ in zip(exact_weights(mp, v, -far), range(2 * far + 1), strict=False)]
    return ([tuple(g[k + shift] for shift in shifts) for k in range(most, 2 * far + 1 - most)],
            2 * g[far + reach] * v**2 / reach)  # Σ_{k > x} g(k) <= g(x)σ²/x


def exact_weights(mp: Any, sigma: Any, first: int) -> Iterator[Any]:
    """g(x) for x = first, first + 1, … at high precision, by products."""
    step, fall = mp.exp(-1 / sigma**2), mp.exp(-(2 * first + 1) / (2 * sigma**2))
    weight = mp.exp(-(mp.mpf(first) / sigma) ** 2 / 2)
    while True:
        yield weight
        weight, fall = weight * fall, fall * step

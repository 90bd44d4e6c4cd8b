"""The burn-in theorem as printed, which is false where the noise is small; it is shown only on request by name.

Why it is false stands in the errata of burn_in_rdp.py. """

from math import exp, log1p
from typing import Any

from dpcalc.bounds.noisy_sgd import burn_in_rdp
from dpcalc.bounds.noisy_sgd._engine import contraction
from dpcalc.bounds.noisy_sgd.burn_in_rdp import SHARED
from dpcalc.bounds.noisy_sgd.composition import FRESH, SETTING, Steps
from dpcalc.bounds.sampling import poisson_rdp
from dpcalc.core.bound import Choices, RdpBound, Theorem
from dpcalc.numerics.minimize import minimise_over
from dpcalc.numerics.rounding import ratio_up, up


def last_step_weight(g: float, r: int) -> float:
    """The printed weight of the start: 1/R for c = 1, and c^{2R} for c < 1, where the last step alone undoes the shift
    (eq. 5.2)."""
    if g == 0:
        return up(1 / r)
    x = 2 * r * contraction.log_c(g)
    return up(exp(x), 4e-16 * (4 - x)) if x > -700 else 5e-324


def value(alpha: float, n: int, batch_size: int, iterations: int, lipschitz: float, smoothness: float,
          strong_convexity: float, learning_rate: float, diameter: float, sigma: float, r: int,
          sigma1: float) -> float:
    window = Steps(n, batch_size, lipschitz, burn_in_rdp.remaining_noise(sigma, sigma1), r)
    steps = r * printed_step(alpha, window.rate, window.noise_multiplier)
    if not sigma1:
        return up(steps)
    w = last_step_weight(contraction.gap(learning_rate, smoothness, strong_convexity), r)
    return up(steps + alpha / 2 * (diameter / learning_rate / sigma1) ** 2 * w, 2e-15)


def printed_step(alpha: float, q: float, z: float) -> float:
    """S_α(q, z) of Definition 2.10: D_α(N(0,z²) ‖ (1−q)N(0,z²) + qN(1,z²))."""
    if q == 1:
        return ratio_up((alpha,), (2.0, z, z))
    limit = up(-log1p(-q), 4e-16)
    # At z = 0.03 the two components overlap by e^{−138}, and the divergence is its limit for z → 0.
    return limit if z < 0.03 else min(poisson_rdp.reverse(alpha, z, q), limit)


def search(alpha: float, n: int, batch_size: int, iterations: int, lipschitz: float, smoothness: float,
           strong_convexity: float, learning_rate: float, diameter: float, sigma: float) -> dict[str, Any]:
    """{r, sigma1} near the optimum of the printed expression, which is convex in R."""
    g = contraction.gap(learning_rate, smoothness, strong_convexity)

    def best_window(step: float, share: float) -> tuple[float, int]:
        start = alpha / 2 * (diameter / learning_rate / sigma) ** 2 / share

        def total(k: int) -> float:
            return k * step + start * last_step_weight(g, k)

        r = minimise_over(total, 1, 1, iterations)
        return total(r), r

    return burn_in_rdp.split_noise(lambda z: printed_step(alpha, batch_size / n, z), best_window, iterations, sigma,
                                   batch_size * sigma / (2 * lipschitz))


def exact(mp: Any, alpha: float, n: int, batch_size: int, iterations: int, lipschitz: float, smoothness: float,
          strong_convexity: float, learning_rate: float, diameter: float, sigma: float, r: int, sigma1: float) -> Any:
    s1 = mp.mpf(sigma1)
    z = batch_size * mp.sqrt(mp.mpf(sigma) ** 2 - s1**2) / (2 * mp.mpf(lipschitz))
    steps = r * poisson_rdp.exact_reverse(mp, alpha, z, mp.mpf(batch_size) / n)
    if not sigma1:
        return steps
    c = 1 - contraction.exact_gap(mp, learning_rate, smoothness, strong_convexity)
    weight = 1 / mp.mpf(r) if c == 1 else c ** (2 * r)
    return steps + mp.mpf(alpha) * mp.mpf(diameter) ** 2 * weight / (2 * mp.mpf(learning_rate) ** 2 * s1**2)


BOUND = RdpBound(
    Theorem(
        name="burn-in-as-published",
        example="burn-in --n 60000 --batch-size 128 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate 0.05 "
                "--diameter 2 --sigma 0.1 --alpha 8 --bound burn-in-as-published",
        statement="min over R, σ1² + σ2² = σ² of R·S_α(b/n, bσ2/(2L)) + αD²/(2η²σ1²)·(1/R, or c^(2R)), "
                  "S_α = D_α(N‖mix)",
        in_words="This is no guarantee, but equation (3.6) of the burn-in paper as printed, with a Rényi divergence of "
                 "one step that is too small: it is false where the noise is small, which the paper's Theorem 3.1 "
                 "excludes. A record is replaced. It serves to reproduce numbers of the paper; the repaired bound is "
                 "burn-in-rdp.",
        source="Altschuler & Talwar 2022, eq. 3.6 and 5.3, arXiv:2205.13710",
        assumptions=(*SETTING, *FRESH, "the iterates stay in a convex set of diameter D",
                     "only the last iterate is released"),
        status="as-published",
        errata=burn_in_rdp.BOUND.theorem.errata,
    ),
    params=SHARED, value=value, exact=exact, rtol=1e-9, choices=Choices(search=search))

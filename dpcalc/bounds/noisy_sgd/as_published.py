"""The burn-in theorem as printed: false where the noise is small, shown only when asked for by name."""

from math import exp, log, log1p, sqrt
from typing import Any

from dpcalc.bounds.noisy_sgd import burn_in_rdp
from dpcalc.bounds.noisy_sgd._engine import contraction
from dpcalc.bounds.noisy_sgd.burn_in_rdp import SHARED
from dpcalc.bounds.noisy_sgd.composition import FRESH, SETTING, noise_multiplier
from dpcalc.bounds.sampling import poisson_rdp
from dpcalc.core.bound import Bound
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.minimize import minimise, minimise_over
from dpcalc.numerics.rounding import ratio_up, up


def last_step_weight(g: float, r: int) -> float:
    """1/R for c = 1; c^{2R}, the shift undone by the last step alone (eq. 5.2), for c < 1."""
    if g == 0:
        return up(1 / r)
    x = 2 * r * contraction.log_c(g)
    return up(exp(x), 4e-16 * (4 - x)) if x > -700 else 5e-324


def value(alpha: float, n: int, batch_size: int, iterations: int, lipschitz: float, smoothness: float,
          strong_convexity: float,
          learning_rate: float, diameter: float, sigma: float, r: int, sigma1: float) -> float:
    """R·D_α(N‖mix) + αD²/(2η²σ1²)·(1/R or c^{2R})."""
    z = noise_multiplier(burn_in_rdp.rest(sigma, sigma1), batch_size, lipschitz)
    steps = r * printed_step(alpha, ratio_up((float(batch_size),), (float(n),)), z)
    if not sigma1:
        return up(steps)
    w = last_step_weight(contraction.gap(learning_rate, smoothness, strong_convexity), r)
    return up(steps + alpha / 2 * (diameter / learning_rate / sigma1) ** 2 * w, 2e-15)


def printed_step(alpha: float, q: float, z: float) -> float:
    """S_α(q, z) of Definition 2.10: D_α(N(0,z²) ‖ (1−q)N(0,z²) + qN(1,z²))."""
    if q == 1:
        return ratio_up((alpha,), (2.0, z, z))
    limit = up(-log1p(-q), 4e-16)
    # At z = 0.03 the two components overlap by e^{−138}: the divergence is its limit.
    return limit if z < 0.03 else min(poisson_rdp.reverse(alpha, z, q), limit)


def search(alpha: float, n: int, batch_size: int, iterations: int, lipschitz: float, smoothness: float,
           strong_convexity: float,
           learning_rate: float, diameter: float, sigma: float) -> dict[str, Any]:
    """{r, sigma1} near the optimum of the printed expression."""
    g = contraction.gap(learning_rate, smoothness, strong_convexity)
    q, unit = batch_size / n, batch_size * sigma / (2 * lipschitz)

    def split(u: float) -> tuple[float, int]:
        share = 1 / (1 + exp(-u))
        step = printed_step(alpha, q, unit * sqrt(share))
        hide = alpha / 2 * (diameter / learning_rate / sigma) ** 2 / (1 - share)
        if g == 0:
            guess = sqrt(hide / step)
        else:
            rate = -2 * contraction.log_c(g)
            guess = log(max(hide * rate / step, 1.0)) / rate
        near = max(1, min(iterations, int(guess) if guess < iterations else iterations))

        def total(k: int) -> float:
            return k * step + hide * last_step_weight(g, k)

        r = minimise_over(total, near, 1, iterations)
        return total(r), r

    u = minimise(lambda u: split(u)[0], 0.0, -18.0, 18.0, 0.8, 2e-3)
    total, r = split(u)
    if iterations * printed_step(alpha, q, unit) <= total:
        return {"r": iterations, "sigma1": 0.0}
    return {"r": r, "sigma1": sigma / sqrt(1 + exp(u))}


def exact(mp: Any, alpha: float, n: int, batch_size: int, iterations: int, lipschitz: float, smoothness: float,
          strong_convexity: float,
          learning_rate: float, diameter: float, sigma: float, r: int, sigma1: float) -> Any:
    s1 = mp.mpf(sigma1)
    z = batch_size * mp.sqrt(mp.mpf(sigma) ** 2 - s1**2) / (2 * mp.mpf(lipschitz))
    steps = r * poisson_rdp.exact_reverse(mp, alpha, z, mp.mpf(batch_size) / n)
    if not sigma1:
        return steps
    c = 1 - contraction.exact_gap(mp, learning_rate, smoothness, strong_convexity)
    weight = 1 / mp.mpf(r) if c == 1 else c ** (2 * r)
    return steps + mp.mpf(alpha) * mp.mpf(diameter) ** 2 * weight / (2 * mp.mpf(learning_rate) ** 2 * s1**2)


def closed_form(alpha: float, q: float, z: float) -> float:
    """Lemma 2.12: S_α(q, z) <= 2αq²/z². Raises OutOfScope outside q < 1/5, z >= 4, α <= α*(q, z)."""
    if q >= 0.2 or z < 4:
        raise OutOfScope("out-of-range",
                         f"q = {q:g}, noise multiplier {z:g}: Lemma 2.12 (Altschuler & Talwar 2022) needs "
                         "q < 1/5 and z >= 4", "--sigma")
    m = log1p(1 / (q * (alpha - 1)))
    second = (m * m * z * z / 2 - log(5 * z * z)) / (m + log(q * alpha) + 1 / (2 * z * z))
    if alpha > m * z * z / 2 - log(z * z) or alpha > second:
        raise OutOfScope("out-of-range", f"{alpha:g} is above α*(q, z) of Lemma 2.12 (Altschuler & Talwar 2022)",
                         "--alpha")
    return ratio_up((2.0, alpha, q, q), (z, z))


ERRATA = burn_in_rdp.BOUND.errata

BOUND = Bound(
    name="burn-in-as-published",
    example="burn-in --n 60000 --batch-size 128 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate 0.05 "
    "--diameter 2 --sigma 0.1 --alpha 8 --bound burn-in-as-published",
    kind="rdp",
    statement="min over R, σ1² + σ2² = σ² of R·S_α(b/n, bσ2/(2L)) + αD²/(2η²σ1²)·(1/R, or c^(2R)), S_α = D_α(N‖mix)",
    source="Altschuler & Talwar 2022, eq. 3.6 and 5.3, arXiv:2205.13710",
    assumptions=(*SETTING, *FRESH, "the iterates stay in a convex set of diameter D",
                 "only the last iterate is released"),
    params=SHARED,
    value=value,
    exact=exact,
    rtol=1e-9,
    status="as-published",
    errata=ERRATA,
    search=search,
)

"""Rényi DP of the last iterate of noisy SGD: after a burn-in, more steps do not increase the privacy loss.

Statement. For every R <= T and σ1² + σ2² = σ²,

    ε(α) <= R·S_r(α, b/n, bσ2/(2L)) + α d² w(R)/(2η²σ1²),   d = min(D, (2ηL/b)(1−c^{T−R})/(1−c)),

w(R) = c^{2R}(1−c²)/(1−c^{2R}), which is 1/R for c = 1; for R = T, d = 0 and σ1 = 0. The last R steps are the window.

Proof. Write a batch as a uniform b-subset B of the other records in which a uniform j in B is replaced by the
differing record with probability q = b/n; both runs share B, j and the coin. A step from w is then: gradient, noise
η·N(0, σ2²), noise η·N(0, σ1²), projection. Without noise a step moves two points apart by at most a factor c, plus
2ηL/b where the differing record is used: after the first T−R steps the two iterates, with the same noise, are at most
d apart in W_∞. Follow the shifted divergence D_α^{(s)}(w, w′) = inf D_α(v, w′) over v within s of w. (1) From the
same point the laws of a step before the noise σ1 are (1−q)N(ψ) + qN(ψ₁) and (1−q)N(ψ) + qN(ψ₁′), the three means
pairwise within 2ηL/b, so this part costs S_r(α, q, bσ2/(2L)) (sampled_step.py), from whichever point; (2) a copy v
that takes P's step, with P's record, stays within c·s of P's run (D_α of v's law and w′'s grows by (1) at most, from
one point at a time); (3) adding η·N(0, σ1²) lets the shift fall by a at the cost α a²/(2η²σ1²): of the two noises
this one is drawn second, so that given the first one, the batch, the coin and the point, the law is a Gaussian around
a point that is a measurable function of them, as is the shift of each run, and over all of them a mixture of such
shifted Gaussians; the cost is the same for each; (4) the projection contracts. Start at d, choose a_k with Σ
c^{R−k}a_k = c^R d, so that the shift ends at 0; Σ a_k² is least for a_k ∝ c^{R−k}, which gives d²w(R). ∎ """

from collections.abc import Callable
from math import asinh, exp, inf, sqrt
from typing import Any

from dpcalc.bounds.noisy_sgd import composition
from dpcalc.bounds.noisy_sgd._engine import contraction, sampled_step
from dpcalc.bounds.noisy_sgd.composition import FRESH, HELD, SETTING
from dpcalc.core.bound import Choices, RdpBound, Theorem
from dpcalc.numerics.minimize import minimise, minimise_over
from dpcalc.numerics.rounding import down, up


def value(alpha: float, n: int, batch_size: int, iterations: int, lipschitz: float, smoothness: float,
          strong_convexity: float, learning_rate: float, diameter: float, sigma: float, r: int,
          sigma1: float) -> float:
    steps = composition.value(alpha, n, batch_size, r, lipschitz, remaining_noise(sigma, sigma1))
    mu = start_ratio(batch_size, iterations, lipschitz, smoothness, strong_convexity, learning_rate, diameter, r,
                     sigma1)
    return up(steps + alpha / 2 * mu * mu, 1e-15) if mu else steps


def start_ratio(batch_size: int, iterations: int, lipschitz: float, smoothness: float, strong_convexity: float,
                learning_rate: float, diameter: float, r: int, sigma1: float) -> float:
    """μ = d√w(R)/(ησ1), rounded up: the ratio of the Gaussian mechanism that hides the distance at the start of the
    window; 0 for R = T."""
    g = contraction.gap(learning_rate, smoothness, strong_convexity)
    d = min(diameter, contraction.reached(g, iterations - r, 2 * learning_rate * lipschitz / batch_size))
    if d == 0:
        return 0.0
    return up(d * sqrt(contraction.weight(g, r)) / learning_rate / sigma1, 2e-15)


def remaining_noise(sigma: float, sigma1: float) -> float:
    """σ2 = √(σ² − σ1²), rounded down."""
    return down(sqrt((sigma - sigma1) * (sigma + sigma1)), 3e-16) if sigma1 else sigma


def search(alpha: float, n: int, batch_size: int, iterations: int, lipschitz: float, smoothness: float,
           strong_convexity: float, learning_rate: float, diameter: float, sigma: float) -> dict[str, Any]:
    """{r, sigma1} near the optimum: the best R of a given σ1 is nearly a closed form, and σ1 is searched for."""
    push = 2 * learning_rate * lipschitz / batch_size
    g = contraction.gap(learning_rate, smoothness, strong_convexity)

    def best_window(step: float, share: float) -> tuple[float, int]:
        start = alpha / (2 * learning_rate**2 * sigma**2 * share)
        return _best_window(step, start, g, iterations, push, diameter)

    def step_at(z: float) -> float:
        return sampled_step.value(alpha, batch_size / n, z)

    return split_noise(step_at, best_window, iterations, sigma, batch_size * sigma / (2 * lipschitz))


def split_noise(step_at: Callable[[float], float], best_window: Callable[[float, float], tuple[float, int]],
                iterations: int, sigma: float, z: float) -> dict[str, Any]:
    """{r, sigma1} near the optimum. `step_at` is the loss of a step by its noise multiplier, z for all of σ;
    `best_window` the least total and its R, from the loss of a step and the share of σ1² in σ²."""
    def best_at(u: float) -> tuple[float, int]:
        """That with σ2² = σ²/(1 + e^{−u})."""
        share = 1 / (1 + exp(-u))
        return best_window(step_at(z * sqrt(share)), 1 - share)

    whole = {"r": iterations, "sigma1": 0.0}
    if best_window(step_at(z), 1.0)[1] == iterations:  # even if both parts had all of the noise
        return whole
    u = minimise(lambda u: best_at(u)[0], 0.0, -18.0, 18.0, 0.8, 2e-3)
    total, r = best_at(u)
    if iterations * step_at(z) <= total or r == iterations:
        return whole
    return {"r": r, "sigma1": sigma / sqrt(1 + exp(u))}


def _best_window(step: float, start: float, g: float, iterations: int, push: float,
                 diameter: float) -> tuple[float, int]:
    """The least value of step·R + start·d²·w(R) over R, and its R."""
    if not 0 < step < inf:
        return (inf if step else 0.0), iterations

    def total(r: int) -> float:
        d = min(diameter, contraction.reached(g, iterations - r, push))
        return r * step + start * d * d * contraction.weight(g, r)

    largest_d = min(diameter, push / g) if g > 0 else diameter
    # The best R where d is the largest distance, and the best R where d still grows with T − R.
    if g == 0:
        guess = largest_d * sqrt(start / step)
        growing = iterations / sqrt(1 + step / (start * push * push))
    elif g < 1:
        rate = abs(2 * contraction.log_c(g))
        guess = 2 * asinh(0.5 * largest_d * sqrt(start * abs(g * (2 - g)) * rate / step)) / rate
        growing = iterations - 1 / rate
    else:
        guess = growing = 1.0
    growth = diameter / push if largest_d == diameter else 30 / g  # at least the steps until d is the largest distance
    grown = int(growth) + 1 if growth < iterations else iterations
    trials = {max(1, min(iterations, int(x) + k))
              for x in (min(guess, iterations), min(guess, iterations - grown), growing) for k in (0, 1)}
    best = min(trials, key=total)
    if g != 0 and iterations - best < grown:  # while d grows there is a closed form for g = 0 only
        best = min(best, minimise_over(total, best, max(1, iterations - grown), iterations), key=total)
    return total(best), best


def exact(mp: Any, alpha: float, n: int, batch_size: int, iterations: int, lipschitz: float, smoothness: float,
          strong_convexity: float, learning_rate: float, diameter: float, sigma: float, r: int, sigma1: float) -> Any:
    eta, s1 = mp.mpf(learning_rate), mp.mpf(sigma1)
    steps = composition.exact(mp, alpha, n, batch_size, r, lipschitz, mp.sqrt(mp.mpf(sigma) ** 2 - s1**2))
    g = contraction.exact_gap(mp, learning_rate, smoothness, strong_convexity)
    d = min(mp.mpf(diameter), contraction.exact_reached(mp, g, iterations - r,
                                                        2 * eta * mp.mpf(lipschitz) / batch_size))
    return steps + (alpha * d**2 * contraction.exact_weight(mp, g, r) / (2 * eta**2 * s1**2) if d else 0)


SHARED = ("n", "batch_size", "iterations", "lipschitz", "smoothness", "strong_convexity", "learning_rate", "diameter",
          "sigma")

BOUND = RdpBound(
    Theorem(
        name="burn-in-rdp",
        example="burn-in --n 60000 --batch-size 128 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate 0.05 "
                "--diameter 2 --epsilon 2 --delta 1e-5 --solve sigma",
        statement="min over R ≤ T, σ1² + σ2² = σ² of R·S_r(α, b/n, bσ2/(2L)) + α d² w(R)/(2η²σ1²), w(R) = "
                  "c^(2R)(1−c²)/(1−c^(2R)) or 1/R, d = min(D, (2ηL/b)(1−c^(T−R))/(1−c)); proof in "
                  "dpcalc/bounds/noisy_sgd/burn_in_rdp.py",
        in_words="The Rényi divergence of the last iterate of noisy SGD on a bounded set: after a burn-in, the noise "
                 "has hidden what the early steps used, and more steps cost nothing. A record is replaced. It is never "
                 "above composition. It is for convex smooth losses without clipping, and false where an earlier "
                 "iterate or an average of iterates is released, or for shuffled batches.",
        source="Altschuler & Talwar 2022, Theorems 3.1 and 5.1, arXiv:2205.13710, repaired",
        assumptions=(*SETTING, *FRESH, HELD, "only the last iterate is released"),
        errata=(
            "Altschuler & Talwar 2022, Definition 2.10, prints D_α(N‖mixture), at most −log(1−q) for every noise; eq. "
            "(3.6) with it is false: n = 1e6, b = 1, σ = .1L, α = 2 and the constraint set [0, ηL] lose at least "
            "170.98, (3.6) says at most .030 (Theorem 3.1 itself assumes σ > 8√2·L/b). S_r, the loss of a step in "
            "which the record is replaced, takes its place.",
            "Altschuler & Talwar 2022, eq. (5.2), undo the shift in the last step alone: 82.6 times looser than over "
            "the last R = 100 steps at condition number κ = 1000.",
            "Altschuler & Talwar 2022, §1.2, take L = MD from smoothness M and diameter D; that needs a point of "
            "the constraint set where the gradient is 0. Linear losses have M = 0 and any L.",
        ),
    ),
    params=SHARED, value=value, exact=exact, rtol=1e-9, choices=Choices(search=search))

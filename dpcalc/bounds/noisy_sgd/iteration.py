"""Gaussian DP of the last iterate for full batches or a fixed order of batches: amplification by iteration, with the
best shifts.

Statement. The last iterate is μ-GDP, μ² = min over τ, a of Σ_{k>τ} a_k²/(ησ)² with z_k = cz_{k−1} + s_k − a_k >= 0, z_T
= 0, z_τ = min(D, distance reached by τ); s_k = 2ηL/b (a push) at the steps that use the record, one in N = n/b, else 0.

Proof. As in burn_in_rdp.py, with μ for the divergence: all randomness is the noise, a step multiplies the distance of
two runs by c and adds s_k at most, and the noise lets the distance fall by a_k at the cost of a Gaussian mechanism of
ratio a_k/(ησ) (Bok, Su & Altschuler 2024). ∎

Closed form. With constant steps and c <= 1 the pushes to come lie on a convex chain over the noise to come (taut.py),
so that the hull has at most four points: the end, the last use, the first use after τ, and τ. (nonconvex.py has the
one for c > 1.) Full batch, strongly convex, τ = 0: μ = (2L/(nσ))√((1−c^T)/(1+c^T)·(1+c)/(1−c)). """

from math import exp, expm1, inf, log, log1p, sqrt
from typing import Any, NamedTuple

from dpcalc.bounds.gaussian_dp import gaussian_bound
from dpcalc.bounds.noisy_sgd import iteration_schedule
from dpcalc.bounds.noisy_sgd._engine import contraction, taut
from dpcalc.bounds.noisy_sgd.composition import HELD, SETTING
from dpcalc.core.bound import Choices, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.elementary import LARGEST_EXPONENT, geometric_sum
from dpcalc.numerics.minimize import minimise_over
from dpcalc.numerics.rounding import up


class Run(NamedTuple):
    """A run with constant steps, with lengths in units of the noise ησ of a step."""

    log_c: float
    push: float  # s, at every use of the record
    period: int  # steps from one use to the next
    last: int  # the last use is in the `last`-th step from the end (1: in the last step)
    uses: int
    diameter: float
    steps: int


def make_run(batch_size: int, iterations: int, lipschitz: float, smoothness: float, strong_convexity: float,
             learning_rate: float, diameter: float, sigma: float, period: int, last: int, **question: float) -> Run:
    """The run of these parameters."""
    uses = (iterations - last) // period + 1 if iterations >= last else 0
    push, width = 2 * lipschitz / batch_size / sigma, diameter / learning_rate / sigma
    log_c = contraction.log_c(contraction.gap(learning_rate, smoothness, strong_convexity))
    return Run(max(log_c, -1e4), push, period, last, uses, width, iterations)  # e^−10000 is 0, as c = 0 is


def _powers(r: Run, m: int, power: int, start: int, count: int, every: int = 1) -> float:
    """Σ c^{−power·i} over i = start, start + every, …, where i counts steps from m steps before the end: pushes (power
    1) and noises (power 2) as they count there. For c <= 1 it is multiplied by c^{power·m}, against overflow."""
    x = power * abs(r.log_c)
    nearest = start if r.log_c > 0 else m - start - (count - 1) * every
    return exp(-x * nearest) * geometric_sum(-x * every, count) if count else 0.0


def _start_distance(r: Run, m: int) -> float:
    """z_τ, m steps before the end."""
    before = r.uses - uses_in_last(r, m)
    if not before:
        return 0.0

    def grown(steps: int) -> float:
        return exp(steps * r.log_c) if steps * r.log_c < LARGEST_EXPONENT else inf

    each = abs(r.log_c) * r.period
    at_use = r.push * grown((before - 1) * r.period if r.log_c > 0 else 0) * geometric_sum(-each, before)
    since = r.last + (r.uses - before) * r.period - 1 - m  # steps from the last of the earlier uses
    return min(r.diameter, min(r.diameter, at_use) * grown(since))


def mu_from(r: Run, m: int) -> float:
    """μ with shifts in the last m steps only, from the distance that the steps before them have reached."""
    inside = uses_in_last(r, m)
    first = m + 1 - r.last - (inside - 1) * r.period if inside else m + 1  # the step of the first use
    start = _start_distance(r, m) * _powers(r, m, 1, 0, 1)
    if r.log_c > 0:
        return up(sqrt(_cost_of_expanding(r, m, first, start)), 3e-13)
    hull = taut.Hull()
    if inside:
        hull.put(_powers(r, m, 2, m + 1 - r.last, r.last), r.push * _powers(r, m, 1, m + 1 - r.last, 1))
    if inside > 1:
        hull.put(_powers(r, m, 2, first, (inside - 1) * r.period),
                 r.push * _powers(r, m, 1, first, inside - 1, r.period))
    return up(sqrt(hull.put(_powers(r, m, 2, 1, first - 1), start)[2]), 3e-13)


def _cost_of_expanding(r: Run, m: int, first: int, start: float) -> float:
    """μ² for c > 1 (nonconvex.py): the first few uses after τ are undone together with the distance there, and each
    later one in the steps up to the next one."""
    inside = uses_in_last(r, m)

    def pooled(p: int) -> tuple[float, float]:
        """The start distance plus the first p pushes, and the noise until the next use."""
        steps = m if p == inside else first - 1 + p * r.period
        return start + r.push * _powers(r, m, 1, first, p, r.period), _powers(r, m, 2, 1, steps)

    def noise_to_next(p: int) -> float:
        """From use p on, in units of the noise there."""
        return geometric_sum(-2 * r.log_c, r.last if p == inside else r.period)

    def is_pooled(p: int) -> bool:
        """Whether push p >= 1 is undone together with all before it: its own ratio is no larger than theirs."""
        pushes, noise = pooled(p - 1)
        own = log(r.push) + (first + (p - 1) * r.period) * r.log_c - log(noise_to_next(p))
        return pushes > 0 and (noise == 0 or log(pushes / noise) >= own)

    low, high = 0, inside
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if is_pooled(middle) else (low, middle - 1)
    pushes, noise = pooled(low)
    together = pushes * pushes / noise if noise > 0 else inf if pushes else 0.0
    if low == inside:
        return together
    return together + r.push**2 * ((inside - low - 1) / noise_to_next(low) + 1 / noise_to_next(inside))


def uses_in_last(r: Run, m: int) -> int:
    """The number of uses of the record in the last m steps."""
    return min(r.uses, (m - r.last) // r.period + 1) if m >= r.last else 0


def search(**params: Any) -> dict[str, Any]:
    """{r}: the number of last steps with shifts; any proves a bound. A start just after a use is best, so the number of
    uses is searched for."""
    r = make_run(**params)
    if not r.uses:
        return {"r": r.steps}
    # What was pushed before the last M steps with c^M = e^−300 has no effect.
    visible = r.steps if r.log_c >= 0 else max(1, min(r.steps, int(-300 / r.log_c)))
    low, most = (0 if r.last > 1 else 1), min(r.uses - 1, (visible - r.last) // r.period)
    trials = [visible]
    if most >= low:
        # A guess, as if every step after the first of these uses were one, too: the distance grows to D.
        x = r.period * r.log_c
        grown = r.diameter / r.push * expm1(min(x, LARGEST_EXPONENT))
        guess = r.diameter / r.push if x == 0 else log1p(grown) / x if grown > -1 else inf
        i = minimise_over(lambda i: mu_from(r, r.last - 1 + i * r.period), int(min(guess, most)), low, most)
        trials += [r.last - 1 + i * r.period, min(visible, r.last + i * r.period)]
    return {"r": min(trials, key=lambda m: mu_from(r, m))}


def mu(r: int, **params: Any) -> float:
    """μ with shifts in the last r steps, rounded up."""
    run = make_run(**params)
    return mu_from(run, r) if run.uses else 0.0


def exact_mu(mp: Any, iterations: int, learning_rate: float, sigma: float, period: int, last: int,
             **params: Any) -> Any:
    """μ at high precision, by the hull over each of the last r steps."""
    longest = 200_000  # about six seconds
    if iterations > longest:
        raise OutOfScope("out-of-range", f"the formula has {iterations} steps; at most {longest} are allowed with "
                                         "--digits", "--digits")
    schedule = tuple((learning_rate, sigma, k >= last and (k - last) % period == 0) for k in range(iterations, 0, -1))
    return iteration_schedule.exact_mu(mp, schedule=schedule, **params)


BOUND = gaussian_bound(
    Theorem(
        name="iteration",
        example="burn-in --n 60 --batch-size 6 --steps 1e6 --order fixed --lipschitz 1 --smoothness 1 --learning-rate "
                "0.05 --diameter 2 --sigma 0.1 --delta 1e-5",
        statement="the last iterate is μ-GDP, μ² = min Σ a_k²/(ησ)² over shifts z_k = cz_{k−1} + s_k − a_k ≥ 0 that "
                  "end at 0 (lower convex hull); proof in dpcalc/bounds/noisy_sgd/iteration.py",
        in_words="The last iterate of noisy SGD with all records in every step, or with batches in the same order in "
                 "every pass: later noise helps to hide what earlier steps used. A record is replaced. It is for "
                 "convex smooth losses without clipping. It is false for batches that are drawn at random, and where "
                 "an earlier iterate or an average of iterates is released.",
        source="Feldman, Mironov, Talwar & Thakurta 2018, Theorem 22; Bok, Su & Altschuler 2024, Theorems 4.1 and "
               "4.3, arXiv:2403.00278",
        assumptions=(*SETTING,
                     "every step uses all records (b = n), or the batches come in the same fixed order in every pass",
                     HELD, "only the last iterate is released"),
    ),
    params=("batch_size", "iterations", "lipschitz", "smoothness", "strong_convexity", "learning_rate", "diameter",
            "sigma", "period", "last"),
    mu=mu, exact_mu=exact_mu, rtol=1e-11, choices=Choices(search=search))

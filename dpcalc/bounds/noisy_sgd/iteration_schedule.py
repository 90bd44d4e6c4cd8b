"""Gaussian DP of the last iterate where every step has its own step size and noise: amplification by iteration.

The statement and proof of iteration.py hold step by step: z_k = c_k z_{k−1} + s_k − a_k with c_k = max(|1−η_kρ|,
|1−η_kβ|), s_k = 2η_kL/b where the record is used, and μ² = Σ (a_k/(η_kσ_k))². The hull of taut.py needs time in
proportion to T; every start τ is tried.

The product of the c_k of steps that expand (ρ < 0, in nonconvex.py) may exceed every double. Where the last steps
expand by more than 10^60, z = 0 is required before them, which is one of the choices that the statement allows, and the
product starts anew. """

from collections.abc import Iterator
from functools import lru_cache
from math import sqrt
from typing import Any

from dpcalc.bounds.gaussian_dp import gaussian_bound
from dpcalc.bounds.noisy_sgd._engine import contraction, taut
from dpcalc.bounds.noisy_sgd.composition import HELD, SETTING
from dpcalc.core.bound import Choices, Theorem
from dpcalc.numerics.rounding import up

Schedule = tuple[tuple[float, float, bool], ...]  # η_k, σ_k, whether the record is used
LONGEST = 1_000_000  # steps of a schedule: about half a minute


@lru_cache(maxsize=1)
def _gaps(smoothness: float, strong_convexity: float, schedule: Schedule) -> tuple[float, ...]:
    """1 − c_k of every step."""
    return tuple(contraction.gap(eta, smoothness, strong_convexity) for eta, _, _ in schedule)


def _resets(gaps: tuple[float, ...]) -> frozenset[int]:
    """The numbers M of last steps before which z = 0 is required."""
    resets, factor = set(), 1.0
    for m, g in enumerate(reversed(gaps), 1):
        factor *= 1 - g
        if factor > 1e60:  # any value below √(largest double) is valid
            resets.add(m)
            factor = 1.0
    return frozenset(resets)


def _least_cost(r: int | None, smoothness: float, strong_convexity: float, schedule: Schedule, batch_size: int,
                lipschitz: float, diameter: float, **question: float) -> tuple[float, int]:
    """μ² and the number of last steps with shifts: r, or the best one if r is None."""
    gaps = _gaps(smoothness, strong_convexity, schedule)
    resets = _resets(gaps)
    return taut.least(_backwards(gaps, resets, schedule, r, batch_size, lipschitz, diameter), resets)


def _backwards(gaps: tuple[float, ...], resets: frozenset[int], schedule: Schedule, r: int | None, batch_size: int,
               lipschitz: float, diameter: float) -> Iterator[tuple[float, float, float, bool]]:
    """(noise², push, start, allowed) of every step from the last one backwards, as `taut.least` takes them."""
    pushes = [2 * eta * lipschitz / batch_size if used else 0.0 for eta, _, used in schedule]
    distances = [0.0]
    for g, push in zip(gaps, pushes, strict=True):
        distances.append(min(diameter, (1 - g) * distances[-1] + push))
    factor = 1.0
    for m in range(1, len(schedule) + 1):
        g, push, (eta, sigma, _) = gaps[-m], pushes[-m], schedule[-m]
        noise = factor * eta * sigma
        start = factor * (1 - g) * distances[len(schedule) - m]
        yield noise * noise, factor * push, start, r is None or m == r
        factor = 1.0 if m in resets else factor * (1 - g)
        if factor < 1e-140 or m == r:  # its square is near the least double: earlier steps have no effect
            return


def mu(r: int, **params: Any) -> float:
    """μ with shifts in the last r steps, rounded up."""
    return up(sqrt(_least_cost(r, **params)[0]), (len(params["schedule"]) + 10) * 7e-16)


def search(**params: Any) -> dict[str, Any]:
    """{r}: the best number of last steps with shifts, of all."""
    return {"r": _least_cost(None, **params)[1]}


def exact_mu(mp: Any, batch_size: int, lipschitz: float, smoothness: float, strong_convexity: float, diameter: float,
             schedule: Schedule, r: int) -> Any:
    """μ at high precision, by the hull over each of the last r steps."""
    factors = {eta: 1 - contraction.exact_gap(mp, eta, smoothness, strong_convexity) for eta, _, _ in schedule}
    contractions = [factors[eta] for eta, _, _ in schedule]
    pushes = [2 * mp.mpf(eta) * mp.mpf(lipschitz) / batch_size * used for eta, _, used in schedule]
    z = mp.mpf(0)
    for c, push in zip(contractions[:-r], pushes[:-r], strict=True):
        z = min(mp.mpf(diameter), c * z + push)
    resets = _resets(_gaps(smoothness, strong_convexity, schedule))
    steps, factor = [], mp.mpf(1)
    for m in range(1, r + 1):
        eta, sigma, _ = schedule[-m]
        steps.append(((factor * mp.mpf(eta) * mp.mpf(sigma)) ** 2, factor * pushes[-m], factor * contractions[-m] * z,
                      m == r))
        factor = mp.mpf(1) if m in resets else factor * contractions[-m]
    return mp.sqrt(taut.least(steps, resets)[0])


BOUND = gaussian_bound(
    Theorem(
        name="iteration-schedule",
        example="burn-in --n 1 --batch-size 1 --schedule steps.json --lipschitz 1 --smoothness 1 --diameter 2 --delta "
                "1e-5",
        statement="the bound of iteration with η_k, σ_k and use of the record given for every step",
        in_words="The bound of iteration where every step has its learning rate and noise, and the steps that use the "
                 "record are given: later noise helps to hide what earlier steps used. A record is replaced. It is for "
                 "convex smooth losses without clipping, and false where the steps depend on chance or on the data, or "
                 "where an earlier iterate is released.",
        source="Feldman, Mironov, Talwar & Thakurta 2018, Theorem 22; Bok, Su & Altschuler 2024, Theorem 3.1, "
               "arXiv:2403.00278",
        assumptions=(*SETTING, "the steps that use the record do not depend on chance or on the data",
                     HELD, "only the last iterate is released"),
    ),
    params=("batch_size", "lipschitz", "smoothness", "strong_convexity", "diameter", "schedule"), mu=mu,
    exact_mu=exact_mu, rtol=1e-9, choices=Choices(search=search))

"""Amplification by iteration with a step size and a noise of its own at every step, solved exactly.

The statement and proof of iteration.py hold step by step: z_k = c_k z_{k−1} + s_k − a_k with c_k = max(|1−η_kρ|,
|1−η_kβ|), s_k = 2η_kL/b where the record is used, and μ² = Σ (a_k/(η_kσ_k))². The hull of taut.py needs time in
proportion to T; every start τ is tried.

Steps that expand (ρ < 0, in nonconvex.py) may do so beyond every double: where the steps to come expand by more than
10^60 since the last such place, z = 0 is required, which is one of the choices that the statement allows. """

from collections.abc import Iterator
from functools import lru_cache
from math import sqrt
from typing import Any

from dpcalc.bounds.conversions import gdp_exact, gdp_rdp
from dpcalc.bounds.mechanisms import gaussian_exact
from dpcalc.bounds.noisy_sgd._engine import contraction, taut
from dpcalc.bounds.noisy_sgd.composition import HELD, SETTING
from dpcalc.core.bound import Bound
from dpcalc.numerics.rounding import up

Schedule = tuple[tuple[float, float, bool], ...]  # η_k, σ_k, whether the record is used
LONGEST = 1_000_000
_FAINT = 1e-140  # C_k beyond which earlier steps leave nothing
_LARGE = 1e60  # C_k beyond which z = 0 is required


@lru_cache(maxsize=1)
def _gaps(smoothness: float, strong_convexity: float, schedule: Schedule) -> tuple[float, ...]:
    return tuple(contraction.gap(eta, smoothness, strong_convexity) for eta, _, _ in schedule)


def _closed(gaps: tuple[float, ...]) -> frozenset[int]:
    """Before how many last steps z = 0 is required."""
    closed, factor = set(), 1.0
    for m, g in enumerate(reversed(gaps), 1):
        factor *= 1 - g
        if factor > _LARGE:
            closed.add(m)
            factor = 1.0
    return frozenset(closed)


def _least(smoothness: float, strong_convexity: float, schedule: Schedule, r: int | None, **own: Any) -> tuple[float,
                                                                                                               int]:
    gaps = _gaps(smoothness, strong_convexity, schedule)
    closed = _closed(gaps)
    return taut.least(_backwards(gaps, closed, schedule, r, **own), closed)


def _backwards(gaps: tuple[float, ...], closed: frozenset[int], schedule: Schedule, r: int | None, batch_size: int,
               lipschitz: float,
               diameter: float) -> Iterator[tuple[float, float, float, bool]]:
    """(noise², push, start, allowed) of the steps from the last one, as taut.least takes them."""
    pushes = [2 * eta * lipschitz / batch_size if used else 0.0 for eta, _, used in schedule]
    apart = [0.0]
    for g, push in zip(gaps, pushes, strict=True):
        apart.append(min(diameter, (1 - g) * apart[-1] + push))
    factor = 1.0
    for m, (g, push,
            (eta, sigma, _)) in enumerate(zip(reversed(gaps), reversed(pushes), reversed(schedule), strict=True), 1):
        noise = factor * eta * sigma
        yield noise * noise, factor * push, factor * (1 - g) * apart[len(schedule) - m], r is None or m == r
        factor = 1.0 if m in closed else factor * (1 - g)
        if factor < _FAINT or m == r:
            return


def mu(batch_size: int, lipschitz: float, smoothness: float, strong_convexity: float, diameter: float,
       schedule: Schedule, r: int) -> float:
    """μ from the last r steps, rounded up."""
    square, _ = _least(smoothness, strong_convexity, schedule, r, batch_size=batch_size, lipschitz=lipschitz,
                       diameter=diameter)
    return up(sqrt(square), (len(schedule) + 10) * 7e-16)


def search(batch_size: int, lipschitz: float, smoothness: float, strong_convexity: float, diameter: float,
           schedule: Schedule,
           **at: float) -> dict[str, Any]:
    """{r}: the best start, over all of them."""
    own = {"batch_size": batch_size, "lipschitz": lipschitz, "diameter": diameter}
    return {"r": _least(smoothness, strong_convexity, schedule, None, **own)[1]}


def value(epsilon: float, **params: Any) -> float:
    """log δ(ε) = log θ(ε, μ)."""
    return gdp_exact.value(epsilon, mu(**params), 1)


def inverse(log_delta: float, **params: Any) -> float:
    return gdp_exact.inverse(log_delta, mu(**params), 1)


def rdp(alpha: float, **params: Any) -> float:
    """αμ²/2."""
    return gdp_rdp.value(alpha, mu(**params))


def exact_mu(mp: Any, batch_size: int, lipschitz: float, smoothness: float, strong_convexity: float, diameter: float,
             schedule: Schedule,
             r: int) -> Any:
    contractions = [1 - contraction.exact_gap(mp, eta, smoothness, strong_convexity) for eta, _, _ in schedule]
    pushes = [2 * mp.mpf(eta) * mp.mpf(lipschitz) / batch_size * used for eta, _, used in schedule]
    z = mp.mpf(0)
    for c, push in zip(contractions[:-r], pushes[:-r], strict=True):
        z = min(mp.mpf(diameter), c * z + push)
    closed = _closed(_gaps(smoothness, strong_convexity, schedule))
    steps, factor = [], mp.mpf(1)
    for k in range(len(schedule) - 1, len(schedule) - 1 - r, -1):
        steps.append(((factor * mp.mpf(schedule[k][0]) * mp.mpf(schedule[k][1])) ** 2, factor * pushes[k],
                      factor * contractions[k] * z,
                      k == len(schedule) - r))
        factor = mp.mpf(1) if len(schedule) - k in closed else factor * contractions[k]
    return mp.sqrt(taut.least(steps, closed)[0])


def exact(mp: Any, epsilon: float, **params: Any) -> Any:
    return gaussian_exact.theta(mp, epsilon, exact_mu(mp, **params))


BOUND = Bound(
    name="iteration-schedule",
    example="burn-in --n 1 --batch-size 1 --schedule steps.json --lipschitz 1 --smoothness 1 --diameter 2 --delta 1e-5",
    kind="profile",
    statement="the bound of iteration with η_k, σ_k and use of the record given for every step",
    source="Feldman, Mironov, Talwar & Thakurta 2018, Theorem 22; Bok, Su & Altschuler 2024, Theorem 3.1, "
           "arXiv:2403.00278",
    assumptions=(*SETTING, "the steps that use the record do not depend on chance or on the data",
                 HELD, "only the last iterate is released"),
    params=("batch_size", "lipschitz", "smoothness", "strong_convexity", "diameter", "schedule"),
    value=value,
    exact=exact,
    rtol=1e-9,
    inverse=inverse,
    rdp=rdp,
    search=search,
    mu=mu,
)

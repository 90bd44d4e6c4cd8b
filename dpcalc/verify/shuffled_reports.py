"""The privacy profile of shuffled reports of local randomisers, for any number of reports."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

from dpcalc.bounds.mechanisms import shuffled_ldp_exact, shuffled_ldp_profile
from dpcalc.verify import composition_atoms
from dpcalc.verify.arb.ball import Ball
from dpcalc.verify.arb.context import compute_once, is_ball_context
from dpcalc.verify.loss_distributions import LossPair

_NEGLIGIBLE = 2.0**-90  # relative, of the rest of a sum: differences of such sums are the masses of a pair
_MAX_PRINTED = 30  # reports up to which the sums are evaluated as printed, which takes milliseconds


def delta(mp: Any, epsilon: float, n: int, step_epsilon: float) -> Any:
    """Return δ(ε) as `shuffled_ldp_exact.exact` does, with the far ends of its sums bounded by geometric series."""
    return _delta_by_masses(mp, epsilon, n, step_epsilon, _masses(mp, n, step_epsilon))


def _masses(mp: Any, n: int, step_epsilon: float) -> list[tuple[int, Any]]:
    return shuffled_ldp_exact.exact_masses(mp, n, mp.mpf(step_epsilon), step_epsilon)


def _delta_by_masses(mp: Any, epsilon: float, n: int, step_epsilon: float, masses: list[tuple[int, Any]]) -> Any:
    if n <= _MAX_PRINTED or epsilon >= step_epsilon:
        return shuffled_ldp_exact.exact(mp, epsilon, n, step_epsilon)
    share = shuffled_ldp_exact.exact_share(mp, epsilon, step_epsilon)
    one = -mp.expm1(mp.mpf(epsilon) - mp.mpf(step_epsilon)) / (1 + mp.exp(-mp.mpf(step_epsilon)))
    return one * mp.fsum(mass * _mean(mp, m, m * share) for m, mass in masses)


def _mean(mp: Any, m: int, g: Any) -> Any:
    """Return (2/g)·E(g − I)₊ for I ~ Bin(m, 1/2), of which the terms are added downwards from the largest I below g."""
    i = ceil(float(g)) - 1
    log_choose = mp.loggamma(mp.mpf(m + 1)) - mp.loggamma(mp.mpf(i + 1)) - mp.loggamma(mp.mpf(m - i + 1))
    weight, ahead = mp.exp(log_choose - m * mp.log(mp.mpf(2))), g - i
    nearest = mp.mpf(0)
    if float(g) == i + 1 and i < m:  # g is a whole number up to rounding: it may exceed i + 1
        nearest = weight * (m - i) / (i + 1) * abs(ahead - 1)
    total, rest = _add_downwards(_raw(weight), _raw(ahead), m, i)
    rest = mp.mpf(rest) + nearest
    return 2 * (mp.mpf(total) + (mp.between(0, rest) if is_ball_context(mp) else 0)) / g


def _add_downwards(weight: Any, ahead: Any, m: int, i: int) -> tuple[Any, Any]:
    """Return Σ_{j<=i} (g − j)·P(j) from j = i down to where the rest is negligible, and an upper bound of that rest.
    `weight` and `ahead` are P(i) and g − i."""
    total = weight * ahead
    for j in range(i, 0, -1):
        weight, ahead = weight * j / (m - j + 1), ahead + 1
        total += weight * ahead
        if j % 64 == 0:  # only sometimes, as conversions to doubles take time
            decay = (j - 1) / (m - j + 2)
            rest = (float(ahead) + 1 / (1 - decay)) * decay / (1 - decay)
            if float(weight) * rest < _NEGLIGIBLE * float(total):
                return total, weight * (2 * rest)
    return total, weight * 0


def _raw(x: Any) -> Any:
    """Return the python-flint number of a Ball, with which arithmetic is faster; another number unchanged."""
    return x.x if isinstance(x, Ball) else x


def losses(part: Mapping[str, Any]) -> LossPair:
    """Return the dominating pair of one round, whose profile is known at points and linear in e^ε between them."""
    from dpcalc.pld.atoms import hull

    n, e0 = int(part["n"]), float(part["step_epsilon"])
    points = shuffled_ldp_profile.epsilons(n, e0)
    values = [shuffled_ldp_profile.value(x, n, e0) for x in points]
    masses = compute_once(lambda mp: _masses(mp, n, e0))
    return composition_atoms.profile_pair([x for x, _ in hull(points, values)],
                                          lambda mp, x: _delta_by_masses(mp, x, n, e0, masses(mp)))

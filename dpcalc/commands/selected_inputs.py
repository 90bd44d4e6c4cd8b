"""The best of a random number of runs as one of several guarantees that are composed: its Rényi curve, and its privacy
profile at points, from what is proven about one run."""

from __future__ import annotations

from functools import lru_cache
from math import exp, inf, log
from typing import TYPE_CHECKING

from dpcalc.accounting.selection import OneRun
from dpcalc.bounds.conversions import selection
from dpcalc.bounds.conversions.selection_laws import RTOL, Law, added_loss, poisson, truncated
from dpcalc.bounds.curve import Curve
from dpcalc.core.errors import DpcalcError, OutOfScope
from dpcalc.core.results import Question
from dpcalc.numerics.rounding import sum_up, up

if TYPE_CHECKING:
    from dpcalc.accounting.guarantee import Dp, Sampled, Selected

_POINTS = 200  # of a profile; with twice as many, the ε of a composition is 3e-4 smaller, relative
_LEAST_DELTAS = (1e-30, 1e-8)  # of one run at the last point: the first that its guarantee reaches


def law_of(selected: Selected) -> Law:
    """The law of the number of runs."""
    tries = selected.law
    if tries.shape is None or tries.gamma is None:
        assert tries.mean is not None
        return poisson(tries.mean)
    return truncated(tries.shape, tries.gamma)


def point_or_profile(selected: Selected, one: OneRun) -> Dp | Sampled:
    """Its pure ε, or where it has none its profile at points."""
    from dpcalc.accounting.guarantee import Dp

    try:
        epsilon = selection.pure(one, law_of(selected))
    except DpcalcError:
        return profile(selected, one)
    return Dp(kind="dp", epsilon=epsilon, delta=0.0)


def profile(selected: Selected, one: OneRun) -> Sampled:
    """Its privacy profile at points."""
    from dpcalc.accounting.guarantee import Sampled

    law = law_of(selected)
    least = added_loss(law, **selection.search(one, law))
    points = [(sum_up((least, x)), log_delta + log(law.mean)) for x, log_delta in _samples(one)]
    deltas = [min(1.0, up(exp(y), 1e-13 * (1 + abs(y)))) if y > -inf else 0.0 for _, y in points]
    return Sampled(kind="profile", epsilon=tuple(x for x, _ in points), delta=tuple(deltas))


@lru_cache(maxsize=64)
def _samples(one: OneRun) -> tuple[tuple[float, float], ...]:
    """(ε, log δ) of one run at points, up to where δ is negligible or the least that is reached."""
    largest = 1.0
    for delta in _LEAST_DELTAS:
        try:
            largest = max(one.epsilon(log(delta)), RTOL)
            break
        except OutOfScope:
            continue
    epsilons = [largest * (k / _POINTS) ** 2 for k in range(_POINTS + 1)]
    log_delta = one.profile_up_to(largest)
    return tuple((x, log_delta(x)) for x in epsilons)


def curve(selected: Selected, one: OneRun) -> Curve:
    """Its Rényi curve. Raises DpcalcError where one run has none."""
    law = law_of(selected)
    one.routes(Question("rdp", alpha=2.0))  # raises where there is none
    own = [part for part, _ in one.params.get("parts", ())]
    orders = tuple(sorted({alpha for part in own for alpha in part.orders}))

    def rdp(alpha: float) -> float:
        return selection.rdp(alpha, one, law, **selection.search_at_order(alpha, one, law))

    def exact(mp: object, alpha: float) -> object:
        return selection.exact_rdp(mp, alpha, one, law, **selection.search_at_order(alpha, one, law))

    return Curve(rdp, exact, source=selection.RDP.source, orders=orders, whole=any(part.whole for part in own))

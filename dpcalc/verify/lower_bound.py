"""The loss of the concrete runs of lower-bound. After one step their laws are mixtures of two Gaussians, clamped to an
interval; after more they are bounded in walks.py.

Any run, any threshold, and any cells, prove a lower value. After one step they are looked for anew, from the densities;
after more the best ones of the fast path are taken. """

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from dpcalc.bounds.noisy_sgd import lower_bound
from dpcalc.bounds.noisy_sgd._engine.walk import law
from dpcalc.bounds.noisy_sgd._engine.walk_step import Pair, places
from dpcalc.verify import lower_bound_walks
from dpcalc.verify.unchecked import Unchecked

_CELLS, _FINEST = 2000, 0.02


def delta(mp: Any, epsilon: Any, **params: Any) -> Any:
    """The largest P(A) − e^ε Q(A) of half-lines A."""
    if params["iterations"] > 1:
        return _delta_of_walks(mp, epsilon, params)
    grown = mp.exp(mp.mpf(epsilon))
    found = [_Law(mp, pair).gap(t, grown) for pair in lower_bound.instances(**params)
             for t in _thresholds(mp, pair, grown)]
    return max((mp.mpf(0), *found), key=float)


def _delta_of_walks(mp: Any, epsilon: float, params: Mapping[str, Any]) -> Any:
    """At the threshold that is best by the fast path."""
    import numpy as np

    _needs_balls(mp)
    steps = int(params["iterations"])

    def scores(pair: Pair) -> Any:
        known = law(pair, steps)
        return known.lead - np.expm1(min(float(epsilon), 700.0)) * known.above

    pair = max(lower_bound.instances(**params), key=lambda pair: float(scores(pair).max()))
    above, lead = lower_bound_walks.events(mp, pair, steps, [float(places(pair)[int(scores(pair).argmax())])])[0]
    return mp.mpf(lead) - mp.expm1(mp.mpf(epsilon)) * mp.mpf(above)


def _needs_balls(mp: Any) -> None:
    if not hasattr(mp, "arb"):
        raise Unchecked("many steps of the runs need python-flint: pip install python-flint")


def _thresholds(mp: Any, pair: Pair, grown: Any) -> tuple[Any, ...]:
    """Where the densities' ratio, which rises, is e^ε; and the right wall."""
    law, low, high = _Law(mp, pair), mp.mpf(-pair.half), mp.mpf(pair.half)
    for _ in range(mp.prec):
        t = _middle(mp, (low + high) / 2)
        low, high = (low, t) if float(law.density(pair.up, t) / law.density(pair.down, t) - grown) > 0 else (t, high)
    return low, mp.mpf(pair.half)


def _middle(mp: Any, x: Any) -> Any:
    return mp.middle(x) if hasattr(mp, "middle") else x


class _Law:
    """Of one step, up or down."""

    def __init__(self, mp: Any, pair: Pair) -> None:
        self.mp, self.pair = mp, pair
        self.base, self.rate = pair.pull * mp.mpf(pair.start), mp.mpf(pair.rate)

    def density(self, kick: float, x: Any) -> Any:
        z = x - self.base
        return (1 - self.rate) * self.mp.npdf(z - self.pair.drift) + self.rate * self.mp.npdf(z - kick)

    def gap(self, t: Any, grown: Any) -> Any:
        return self._tail(self.pair.up, t) - grown * self._tail(self.pair.down, t)

    def _tail(self, kick: float, x: Any) -> Any:
        return (1 - self.rate) * self._beyond(x, self.pair.drift) + self.rate * self._beyond(x, kick)

    def _beyond(self, x: Any, push: float) -> Any:
        return self.mp.erfc((x - self.base - push) / self.mp.sqrt(self.mp.mpf(2))) / 2

    def cells(self, kick: float) -> list[Any]:
        """The masses between the walls, which are the first and the last."""
        by_drift, by_kick = (self._cells(push) for push in (self.pair.drift, kick))
        return [(1 - self.rate) * a + self.rate * b for a, b in zip(by_drift, by_kick, strict=True)]

    def _cells(self, push: float) -> list[Any]:
        """Differences of the tails that are small there."""
        mp, half = self.mp, self.pair.half
        count = min(_CELLS, max(8, int(2 * half / _FINEST)))
        cuts = [mp.mpf(half) * (2 * k - count) / count for k in range(count + 1)]
        above = [self._beyond(x, push) for x in cuts]
        below = [mp.erfc((self.base + push - x) / mp.sqrt(mp.mpf(2))) / 2 for x in cuts]
        inner = [low - high if float(low) < 0.5 else other - one
                 for (low, high), (one, other) in zip(pairwise(above), pairwise(below), strict=True)]
        return [below[0], *inner, above[-1]]


def rdp(mp: Any, alpha: float, params: Mapping[str, Any]) -> Any:
    """log Σ P^α Q^{1−α} over cells, over α − 1."""
    if params["iterations"] > 1:
        return _rdp_of_walks(mp, alpha, params)
    found = [_divergence(mp, mp.mpf(alpha), _Law(mp, pair)) for pair in lower_bound.instances(**params)]
    return max((mp.mpf(0), *found), key=float)


def _rdp_of_walks(mp: Any, alpha: float, params: Mapping[str, Any]) -> Any:
    """By 1 + Σ Q·g(d/Q), which falls in Q and rises in |d| (lower_bound.py)."""
    _needs_balls(mp)
    steps, a = int(params["iterations"]), mp.mpf(alpha)
    pair = max(lower_bound.instances(**params), key=lambda pair: lower_bound.divergence(alpha, pair, steps))
    total = mp.mpf(0)
    for q, d in lower_bound_walks.cells(mp, pair, steps, [float(x) for x in places(pair)]):
        if q > 0 and 1 + d / q > 0:
            total = total + mp.mpf(q) * (mp.exp(a * mp.log1p(mp.mpf(d / q))) - 1 - a * mp.mpf(d / q))
    return mp.log1p(total) / (a - 1)


def _divergence(mp: Any, a: Any, law: _Law) -> Any:
    p, q = law.cells(law.pair.up), law.cells(law.pair.down)
    return mp.log(mp.fsum(mp.exp(a * mp.log(x) - (a - 1) * mp.log(y)) for x, y in zip(p, q, strict=True))) / (a - 1)

"""The exact law of the privacy loss of one use: the probability, under P and under Q, of a loss above a number.

Closed forms, in any arithmetic (a context of ball.py, or mpmath's). They say what dpcalc.pld.pair says with arrays of
masses, and share no code with it. """

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any, NamedTuple

from dpcalc.verify.arb.context import Formula, once

Masses = tuple[Any, Any]  # under P, under Q


class Base(NamedTuple):
    """A pair (P, Q). above(mp, w, closed): the masses of losses > w (>= w where closed), below likewise; `infinite` is
    P(loss = ∞), which `above` leaves out. `most` is the largest finite loss."""

    above: Callable[[Any, Any, bool], Masses]
    below: Callable[[Any, Any, bool], Masses]
    infinite: Callable[[Any], Any] = lambda mp: mp.mpf(0)
    most: float = inf
    # the losses and their masses, where there are no others
    atoms: Callable[[Any], list[tuple[float, Any, Any]]] | None = None
    twin: Base | None = None  # the pair (Q, P) of a guarantee that is not symmetric
    mu: Formula | None = None  # of a Gaussian


class Use(NamedTuple):
    """One use of a base, on a sample or not; where it is not symmetric, in one direction: a record removed, or
    added."""

    base: Base
    scheme: str | None = None
    rate: float = 1.0
    added: bool = False

    @property
    def symmetric(self) -> bool:
        return self.base.twin is None and (self.scheme != "poisson" or self.rate == 1)

    @property
    def whole(self) -> Base | None:
        """The base alone, in its direction, where nothing is sampled."""
        if self.scheme is not None and self.rate != 1:
            return None
        return self.base.twin if self.added and self.base.twin else self.base


def gaussian(mu: Callable[[Any], Any]) -> Base:
    """N(μ,1) against N(0,1); the loss is μt + μ²/2, t ~ N(0,1) under P."""

    shape = once(lambda mp: (1 / mu(mp), mu(mp) / 2))

    def above(mp: Any, w: Any, closed: bool) -> Masses:
        scale, half = shape(mp)
        x = w * scale
        return _tail(mp, x - half, (mu, 0)), _tail(mp, x + half, (mu, 1))

    def below(mp: Any, w: Any, closed: bool) -> Masses:
        scale, half = shape(mp)
        x = w * scale
        return _tail(mp, half - x, (mu, 2)), _tail(mp, -half - x, (mu, 3))

    return Base(above, below, mu=mu)


def _tail(mp: Any, x: Any, slot: Any) -> Any:
    """P(N(0,1) > x)."""
    return mp.normal_tail(x, slot) if hasattr(mp, "normal_tail") else mp.erfc(x / mp.sqrt(mp.mpf(2))) / 2


def laplace(ratio: Callable[[Any], Any], most: float) -> Base:
    """Sensitivity over scale r: atoms at ±r, a density e^{(w−r)/2}/4 under P between them."""

    def above(mp: Any, w: Any, closed: bool) -> Masses:
        r = ratio(mp)
        if w > r or (w >= r and not closed):
            return mp.mpf(0), mp.mpf(0)
        if w < -r or (w <= -r and closed):
            return mp.mpf(1), mp.mpf(1)
        return 1 - mp.exp((w - r) / 2) / 2, mp.exp(-(w + r) / 2) / 2

    def below(mp: Any, w: Any, closed: bool) -> Masses:
        p, q = above(mp, -w, closed)  # by symmetry
        return q, p

    return Base(above, below, most=most)


def above(use: Use, mp: Any, loss: Any, closed: bool = False) -> Masses:
    """The masses under P and Q of the losses above a number, without the infinite one."""
    if (base := use.whole) is not None:
        return base.above(mp, loss, closed)
    assert use.scheme is not None
    return _SCHEMES[use.scheme](use, mp, loss, closed)


def below(use: Use, mp: Any, loss: Any) -> Any:
    """The P-mass of the losses <= a number."""
    if (base := use.whole) is not None:
        return base.below(mp, loss, True)[0]
    if use.scheme == "poisson" and not use.added:
        return _mixed(use, mp, loss, True, use.base.below)[0]
    if use.scheme == "poisson":
        return _mixed(use, mp, -loss, True, use.base.above)[1]
    if loss < 0:
        return _mixed(use, mp, -loss, True, use.base.above)[1]  # P(L <= −x) = Q(L >= x)
    return 1 - infinite(use, mp) - above(use, mp, loss)[0]


def infinite(use: Use, mp: Any) -> Any:
    """P(loss = ∞): a record that is in the sample, and its infinite loss."""
    if (base := use.whole) is not None:
        return base.infinite(mp)
    return use.base.infinite(mp) * (0 if use.added else mp.mpf(use.rate if use.scheme else 1.0))


def _inner(mp: Any, rate: Any, loss: Any) -> Any:
    """w with log(1 − q + q e^w) = ℓ; None where ℓ <= log(1 − q)."""
    inner = 1 + mp.expm1(loss) / rate
    return mp.log(inner) if inner > 0 else None


def _mixed(use: Use, mp: Any, loss: Any, closed: bool, side: Callable[[Any, Any, bool], Masses]) -> Masses:
    """A record removed: (1−q)Q + qP against Q, by the monotone ℓ = log(1 − q + q e^w)."""
    rate = mp.mpf(use.rate)
    w, lost = _inner(mp, rate, loss), use.base.infinite(mp)  # Q has no more than P(∞) where P has nothing, by symmetry
    if side == use.base.below:
        if w is None and 1 + mp.expm1(loss) / rate < 0:  # below log(1 − q), the least loss of all
            return mp.mpf(0), mp.mpf(0)
        p, q = side(mp, w, closed) if w is not None else (mp.mpf(0), mp.mpf(0))
        return (1 - rate) * (q + lost) + rate * p, q + lost
    if w is None:
        return 1 - rate * lost, mp.mpf(1)
    p, q = side(mp, w, closed)
    return (1 - rate) * q + rate * p, q


def _poisson(use: Use, mp: Any, loss: Any, closed: bool) -> Masses:
    if not use.added:
        return _mixed(use, mp, loss, closed, use.base.above)
    p, q = _mixed(use, mp, -loss, closed, use.base.below)  # the roles exchanged: the loss changes its sign
    return q, p


def _without_replacement(use: Use, mp: Any, loss: Any, closed: bool) -> Masses:
    """The positive losses of the removed record, their mirror images, and the rest at 0."""
    if loss > 0 or (loss >= 0 and not closed):
        return _mixed(use, mp, loss, closed, use.base.above)
    if loss >= 0:
        p, q = _mixed(use, mp, loss, False, use.base.above)
        return 1 - infinite(use, mp) - q, 1 - p - infinite(use, mp)
    p, q = _mixed(use, mp, -loss, not closed, use.base.above)
    return 1 - infinite(use, mp) - q, 1 - p - infinite(use, mp)


_SCHEMES: Mapping[str, Callable[[Use, Any, Any, bool], Masses]] = {"poisson": _poisson,
                                                                   "without-replacement": _without_replacement}

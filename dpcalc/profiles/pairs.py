"""The dominating pairs of mechanisms, guarantees and sampled batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, expm1, fsum, inf, log, log1p, nextafter
from typing import TYPE_CHECKING

import numpy as np

from dpcalc.numerics.elementary import log_ratio
from dpcalc.profiles.law import fits
from dpcalc.profiles.pair import Pair, Piece

if TYPE_CHECKING:
    from dpcalc.profiles.pair import Array

_LOG_SQRT_2PI = 0.9189385332046727
_LEAST_LOG_DELTA = -690.0  # a smaller δ of a sampled profile is rounded up to this
_LARGEST_EXPONENT = 700.0
_LARGEST_MU = 1e150  # μ² stays below the largest double
_SEPARATED = Pair(log_infinite=0.0, top=0.0)  # every loss counts as infinite: worse than any other pair


def gaussian(mu: float) -> Pair:
    """N(0,1) against N(−μ,1): every μ-GDP guarantee. The loss is μt + μ²/2, t ~ N(0,1). Attained by Gaussian noise on a query that
    changes by as much as the sensitivity allows."""
    if mu > _LARGEST_MU:
        return _SEPARATED
    centre = mu * mu / 2
    return Pair((Piece(
        lambda t: mu * t + centre,
        lambda loss: (loss - centre) / mu,
        lambda t: -t * (t / 2) - _LOG_SQRT_2PI,
        lambda lam, k: (lam * mu - k, lam * mu + k),
        min(1.0, 1 / mu),
    ),), attained=True)


def laplace(ratio: float) -> Pair:
    """Laplace noise with sensitivity/scale = r: atoms at ±r, and a density proportional to e^{ℓ/2} between them. Attained by one number
    that changes by the sensitivity."""
    return Pair((Piece(
        lambda t: t,
        lambda loss: loss,
        lambda t: (t - ratio) / 2 - log(4),
        lambda lam, k: (-ratio, ratio),
        1.0,
    ),), ((ratio, log(0.5)), (-ratio, log(0.5) - ratio)), attained=True)


def binary(epsilon: float, log_delta: float = -inf) -> Pair:
    """Every (ε, δ)-DP guarantee (Kairouz, Oh & Viswanath 2015, Theorem 3.1); δ = 0 is randomised response, which attains it."""
    if log_delta >= 0:
        return Pair(log_infinite=0.0)
    left = log1p(-exp(log_delta))
    kept = left - log1p(exp(-epsilon))
    atoms = ((epsilon, kept), (-epsilon, kept - epsilon)) if epsilon > 0 else ((0.0, left),)
    return Pair((), atoms, log_delta, attained=log_delta == -inf)


def outcomes(p: Sequence[float], q: Sequence[float]) -> Pair:
    """Two distributions on the same finite set, which are the outputs themselves; the twin is the other direction."""
    return _discrete(p, q)._replace(twin=_discrete(q, p))


def _discrete(p: Sequence[float], q: Sequence[float]) -> Pair:
    """The pair of p against q. Probabilities that add up to 1 only about count as what they are and as what they are once they are divided
    by their sum, whichever is worse: those of P are not taken to be smaller, nor those of Q larger."""
    few, many = min(1.0, fsum(p)), max(1.0, fsum(q))
    both = tuple((log_ratio(a, b) - log(few) + log(many), log(a) - log(few)) for a, b in zip(p, q, strict=True) if a > 0 and b > 0)
    infinite = fsum(a for a, b in zip(p, q, strict=True) if b == 0)
    return Pair((), both, min(0.0, nextafter(log(infinite) - log(few), inf)) if infinite > 0 else -inf,
                attained=many - few <= 1e-15 * len(p))  # but for the rounding of the probabilities


def sampled(epsilons: Sequence[float], log_deltas: Sequence[float]) -> Pair:
    """An upper bound on a symmetric profile, given at points ε_i >= 0 as log δ_i.

    A profile is convex in γ = e^ε, never rises, and δ(−ε) = 1 − e^{−ε}(1 − δ(ε)); so the lower convex hull of the points
    and their mirror images is a bound too. It is the profile of the pair with atoms at its corners, whose masses under Q
    are the bends of the hull and under P e^ε times those (Doroshenko et al. 2022, Theorem 3.3, arXiv:2207.04380v3).
    """
    corners = hull(epsilons, log_deltas)
    atoms: list[tuple[float, float]] = []
    for before, corner, after in zip([None, *corners], corners, [*corners[1:], None], strict=False):
        if corner[0] > 0 and (bend := _bend(before, corner, after)) > 0:  # at ε = 0 the mass is what is left over
            mass = log(bend)
            atoms += [(corner[0], mass), (-corner[0], mass - corner[0])]
    return Pair((), tuple(atoms), corners[-1][1], 0.0 if corners[0][0] == 0 else None)


Point = tuple[float, float]  # ε, log δ


def hull(epsilons: Sequence[float], log_deltas: Sequence[float]) -> list[Point]:
    """The corners at ε >= 0 of the lower convex hull of the points and their mirror images."""
    points = [(e, max(d, _LEAST_LOG_DELTA)) for e, d in sorted(zip(epsilons, log_deltas, strict=True))]
    found: list[Point] = []
    for point in points:
        if found and point[1] >= found[-1][1]:
            continue
        while found and not (point[0] > found[-1][0] and _bend(found[-2] if len(found) > 1 else None, found[-1], point) > 0):
            found.pop()
        found.append(point)
    return found


def _bend(before: Point | None, corner: Point, after: Point | None) -> float:
    """How much steeper δ falls in γ before a corner than after it, times the γ of the corner: its mass under P. Before the first
    corner is its own mirror image, after the last one a flat line. Only differences of ε enter: they may be of any size."""
    epsilon, log_delta = corner
    if before is None:
        left = -expm1(log_delta) / (1 + exp(-epsilon))
    else:
        left = exp(before[1]) * expm1(log_delta - before[1]) / expm1(before[0] - epsilon)
    if after is None:
        return left
    step = after[0] - epsilon
    return left + (exp(log_delta) * expm1(after[1] - log_delta) / expm1(step) if step < _LARGEST_EXPONENT else 0.0)


# --- sampled batches -------------------------------------------------------------------------------------------------


def poisson(base: Pair, rate: float) -> Pair:
    """(1−q)Q + qP against Q (a record removed), with the reverse (added) as twin; base is a symmetric pair (P, Q).

    Zhu, Dong & Wang 2022, Theorem 11. Attained where the base is: by data sets whose other records add nothing to the batch. Where losses
    are too large to be composed, a record that is in the batch counts as seen.
    """
    if rate == 1:
        return base
    remove = Pair(
        tuple(_mixed(piece, rate) for piece in base.pieces),
        tuple(_mixed_atom(atom, rate) for atom in base.atoms) + _nothing(base, rate),
        log(rate) + base.log_infinite,
        top=base.top,
        attained=base.attained,
    )
    add = Pair(tuple(_added(piece, rate) for piece in base.pieces),
               tuple((-loss, mass - loss) for loss, mass in remove.atoms), attained=base.attained)
    return remove._replace(twin=add) if _fit(remove) and _fit(add) else poisson(_SEPARATED, rate)


def without_replacement(base: Pair, rate: float) -> Pair:
    """δ′(ε) = q·δ(log(1 + (e^ε − 1)/q)) for ε >= 0, symmetric (Balle, Barthe & Gaboardi 2018, Theorem 9): the positive
    losses of the Poisson pair, their mirror images, and the rest at 0. It has the larger of the two directions' δ at every ε, which
    neither direction of a mechanism needs to have: not attained."""
    if rate == 1:
        return base
    gains = tuple(_mixed_atom(atom, rate) for atom in base.atoms if atom[0] > 0)
    pieces = tuple(half(piece, rate) for piece in base.pieces for half in (_positive, _mirrored))
    found = Pair(pieces, gains + tuple((-loss, mass - loss) for loss, mass in gains), log(rate) + base.log_infinite, 0.0, top=base.top)
    return found if _fit(found) else without_replacement(_SEPARATED, rate)


def _fit(pair: Pair) -> bool:
    """Whether the losses of a pair, as likely as they are, fit in memory."""
    return all(fits(*piece.reach(0.0, 0.0), piece.scale) for piece in pair.pieces)


def _mix(rate: float, loss: Array) -> Array:
    """log(1 − q + q e^w)."""
    with np.errstate(over="ignore"):
        mixed = np.log1p(rate * np.expm1(loss))
    large = loss > _LARGEST_EXPONENT
    return np.where(large, loss + log(rate), mixed) if large.any() else mixed


def _unmix(rate: float, loss: Array) -> Array:
    """w with log(1 − q + q e^w) = ℓ; NaN or −∞ where there is none."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        base = np.log1p(np.expm1(loss) / rate)
    large = loss > _LARGEST_EXPONENT + log(rate)
    return np.where(large, loss - log(rate), base) if large.any() else base


def _mixed_loss(piece: Piece, rate: float) -> Callable[[Array], Array]:
    return lambda t: _mix(rate, piece.loss(t))


def _mixed_density(piece: Piece, rate: float) -> Callable[[Array], Array]:
    def log_density(t: Array) -> Array:
        w = piece.loss(t)
        return piece.log_density(t) - w + _mix(rate, w)

    return log_density


def _unsampled_density(piece: Piece) -> Callable[[Array], Array]:
    """Under Q."""
    return lambda t: piece.log_density(t) - piece.loss(t)


def _mixed(piece: Piece, rate: float) -> Piece:
    return Piece(_mixed_loss(piece, rate), lambda loss: piece.at(_unmix(rate, loss)), _mixed_density(piece, rate),
                 lambda lam, k: (piece.reach(-1, k)[0], piece.reach(lam, k)[1]), piece.scale)


def _added(piece: Piece, rate: float) -> Piece:
    mixed = _mixed_loss(piece, rate)
    return Piece(lambda t: -mixed(t), lambda loss: piece.at(_unmix(rate, -loss)), _unsampled_density(piece),
                 lambda lam, k: (piece.reach(-1 - _pull(piece, rate, max(lam, 0.0)), k)[0], piece.reach(max(-1.0, -1 - lam), k)[1]),
                 piece.scale)


def _pull(piece: Piece, rate: float, lam: float) -> float:
    """How far the tilt e^{−λ log(1 − q + q e^w)} moves the law of Q, at most, as a tilt in w: λ times the share of P in
    the mixture at the peak. The share rises in w, so that bounds from above and below alternate."""

    def share(tilt: float) -> float:
        w = float(piece.loss(np.array(piece.reach(-1 - tilt, 0.0)[0])))
        odds = log(rate) - log1p(-rate) + w
        return 1 / (1 + exp(-odds)) if odds > -_LARGEST_EXPONENT else 0.0

    pull = lam * share(0.0)
    for _ in range(4):
        pull = lam * share(lam * share(pull))
    return pull


def _positive(piece: Piece, rate: float) -> Piece:
    start = float(piece.at(np.array(0.0)))
    return _mixed(piece, rate)._replace(reach=lambda lam, k: (start, max(start, piece.reach(lam, k)[1])))


def _mirrored(piece: Piece, rate: float) -> Piece:
    start, mixed = float(piece.at(np.array(0.0))), _mixed_loss(piece, rate)
    return Piece(lambda t: -mixed(t), lambda loss: piece.at(_unmix(rate, -loss)), _unsampled_density(piece),
                 lambda lam, k: (start, max(start, piece.reach(max(-1.0, -1 - lam), k)[1])), piece.scale)


def _mixed_atom(atom: tuple[float, float], rate: float) -> tuple[float, float]:
    w, mass = atom
    loss = log1p(rate * expm1(w)) if w < _LARGEST_EXPONENT else w + log(rate)
    return loss, mass - w + loss


def _nothing(base: Pair, rate: float) -> tuple[tuple[float, float], ...]:
    """Where P has no mass: by the symmetry of the base it has under Q what the infinite loss has under P."""
    loss = log1p(-rate)
    return ((loss, base.log_infinite + loss),) if base.log_infinite > -inf else ()

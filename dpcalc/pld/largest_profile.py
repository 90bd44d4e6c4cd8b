"""The pair of the largest of several privacy profiles, each of a composition: of what is lost in the worst of several
cases. A maximum of profiles is convex in γ = e^ε, so that the chords between its values at any ε are upper bounds, and
the profile of a pair (see profile_pairs.py). """

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import exp, fsum, inf, log, log1p

import numpy as np

from dpcalc.numerics.rounding import ULP
from dpcalc.pld.atoms import Atoms, Point, distinct, enumerate_sums
from dpcalc.pld.bracket import epsilon_at_delta, log_infinite, merge_gaussians, upper_profile
from dpcalc.pld.multiscale import TooLarge
from dpcalc.pld.pair import Gaussian
from dpcalc.pld.pilot import Parts
from dpcalc.pld.profile_pairs import pair_of_points, walk

_TAIL = 1e-30  # of δ: at larger ε than that of this δ the profile counts as constant
_LEAST_GAP = 1e-5  # of neighbouring ε, as a part of the largest: at a tenth of it, rounding takes 1e-12 of the masses
_MOST_LOSSES = 500  # of a case with finitely many losses, at which its profile is computed, too; all are near enough
_MOST_CASES = 400  # that are composed on grids, each in some milliseconds


def parts(cases: Sequence[tuple[Parts, Parts]], either_order: bool) -> Parts:
    """The pairs of the largest loss of all cases: those of the only case, or a single one of them all. Of each case the
    first pairs are composed with the reverse of the second ones. With `either_order` it is not known which of the two
    data sets is which in a case, and the larger loss of both orders counts. Raises TooLarge."""
    each = [directions(*case) for case in cases]
    directed = [each[k] for k in largest(each)]
    if len(directed) == 1:
        return directed[0][0]
    if len(directed) > _MOST_CASES:
        raise TooLarge("too-large", f"disjoint parts have {len(directed)} cases to compose, of which at most "
                       f"{_MOST_CASES} are; give the parts with the least noise in place of similar ones", "--input")
    sides = [one for one, _ in directed], [other for _, other in directed]
    return ((_pair(*(([*sides[0], *sides[1]],) * 2 if either_order else sides)), 1),)


def directions(lost: Parts, gained: Parts) -> tuple[Parts, Parts]:
    """The pairs of a case, and those of its reverse; Gaussian ones are merged."""
    return _merged((*lost, *_reversed(gained))), _merged((*_reversed(lost), *gained))


def largest(cases: Sequence[tuple[Parts, Parts]]) -> list[int]:
    """The indices of the cases without those that are Gaussian and lose less than another Gaussian one."""
    mus = {k: one[0][0].mu for k, (one, _) in enumerate(cases) if len(one) == 1 and isinstance(one[0][0], Gaussian)}
    worst = max(mus, key=lambda k: mus[k], default=-1)
    return [k for k in range(len(cases)) if k == worst or k not in mus]


def _merged(one: Parts) -> Parts:
    return tuple(merge_gaussians(one))


def _reversed(one: Parts) -> Parts:
    """The pairs of the other direction."""
    return tuple((pair.reverse or pair, count) for pair, count in one)


def _pair(forward: Sequence[Parts], backward: Sequence[Parts]) -> Atoms:
    """The pair of the largest profile in each direction, at the ε of a walk and at losses of the cases."""
    profiles, ends = list[list[Callable[[float], float]]](), [0.0]
    for side in (forward, backward):
        if profiles and side is forward:
            profiles.append(profiles[0])
            break
        found = [upper_bound(one) for one in side]
        profiles.append([profile for profile, _ in found])
        ends += [end for _, end in found]

    def log_delta(side: int, epsilon: float) -> float:
        return max(profile(epsilon) for profile in profiles[side])

    epsilons = set(ends)

    def at_walk(epsilon: float, precision: float, about: float) -> float:
        epsilons.add(epsilon)
        return max(log_delta(0, epsilon), log_delta(1, epsilon))

    walk(at_walk, exp(log_delta(0, 0.0)), _TAIL, max(ends))
    epsilons |= {loss for one in (*forward, *backward) for loss in few_losses(one) if 0 <= loss <= max(ends)}
    at_zero = min(log_delta(0, 0.0), log_delta(1, 0.0))  # the total variation, which is one number
    positive = _without_near_ones(sorted(epsilons))[1:]
    points = [[(0.0, at_zero), *((e, log_delta(side, e)) for e in positive)] for side in (0, 1)]
    return _rounded_up(pair_of_points(*points), points)


def _without_near_ones(epsilons: Sequence[float]) -> list[float]:
    """The ε without those that are so near to the one before, or to the last one, that slopes between them would be
    rounding errors. Any ε are valid."""
    chosen, gap = [epsilons[0]], _LEAST_GAP * epsilons[-1]
    for epsilon in epsilons[1:-1]:
        if epsilon - chosen[-1] >= gap and epsilons[-1] - epsilon >= gap:
            chosen.append(epsilon)
    return [*chosen, epsilons[-1]]


def _rounded_up(pair: Atoms, points: Sequence[Sequence[Point]]) -> Atoms:
    """The pair with all that rounding errors may have taken from it as a probability of infinite losses: what its
    masses under P lack of 1, those under Q exceed 1, and its profiles lack of δ at their corners, where there are
    losses, is enough, as E_γ(P‖Q) = P(all) − γQ(all) + γE_{1/γ}(Q‖P) at γ < 1."""
    assert pair.reverse is not None
    lacking = 0.0
    for one, side in zip((pair, pair.reverse), points, strict=True):
        losses, log_p = one.sorted_atoms
        masses, infinite = np.exp(log_p), exp(one.log_infinite)
        corners = set(losses.tolist())
        epsilons, deltas = np.array([point for point in side if point[0] in corners or point is side[-1]]).T
        profile = (masses * -np.expm1(np.minimum(epsilons[:, None] - losses, 0.0))).sum(axis=1) + infinite
        lacking += max(float((np.exp(deltas) - profile).max()), 0.0) + abs(1 - fsum((*masses, infinite)))
    extra = lacking + 8 * ULP
    return replace(pair, log_infinite=log(exp(pair.log_infinite) + extra), reverse=replace(
        pair.reverse, log_infinite=log(exp(pair.reverse.log_infinite) + extra)))


def upper_bound(one: Parts) -> tuple[Callable[[float], float], float]:
    """The function ε → an upper bound on log δ of a composition, and about the ε at which only infinite losses are
    left, from which on it is constant."""
    for share in (1e-6, 1e-3, 1.0) if one else ():  # by which δ is above the probability of an infinite loss
        least = max(log(_TAIL), log_infinite(one) + log1p(share))
        if least < 0 and (last := epsilon_at_delta(one, least, bracket=False, one_sided=True).upper) < inf:
            return _until(last, least, upper_profile(one, max(last, 1e-9))), last
    return (lambda epsilon: 0.0 if one else -inf), 0.0


def _until(last: float, least: float, log_delta: Callable[[float], float]) -> Callable[[float], float]:
    """This bound on log δ up to `last`, and `least` from there on."""
    return lambda epsilon: least if epsilon >= last else max(least, log_delta(epsilon))


def few_losses(one: Parts) -> Sequence[float]:
    """The losses of a composition that has finitely many and not too many, else none."""
    sums = enumerate_sums(one)
    losses = distinct(sums.loss[sums.loss.argsort()]).tolist() if sums and len(sums.loss) <= 20 * _MOST_LOSSES else []
    return losses if len(losses) <= _MOST_LOSSES else ()

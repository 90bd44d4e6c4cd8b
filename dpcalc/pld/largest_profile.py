"""The pair of the largest of several privacy profiles, each of a composition: of what is lost in the worst of several
cases. A maximum of profiles is convex in γ = e^ε, so that the chords between its values at any ε are upper bounds, and
the profile of a pair (see profile_pairs.py). """

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, inf, log, log1p

from dpcalc.pld.atoms import Atoms, distinct, enumerate_sums
from dpcalc.pld.bracket import epsilon_at_delta, log_infinite, merge_gaussians, upper_profile
from dpcalc.pld.multiscale import TooLarge
from dpcalc.pld.pair import Gaussian
from dpcalc.pld.pilot import Parts
from dpcalc.pld.profile_pairs import pair_of_points, walk

_TAIL = 1e-30  # of δ: at larger ε than that of this δ the profile counts as constant
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
    profiles, ends = [], [0.0]
    for side in (forward, backward):
        found = [_profile(one) for one in side]
        profiles.append([profile for profile, _ in found])
        ends += [end for _, end in found]

    def log_delta(side: int, epsilon: float) -> float:
        return max(profile(epsilon) for profile in profiles[side])

    epsilons = set(ends)

    def at_walk(epsilon: float, precision: float, about: float) -> float:
        epsilons.add(epsilon)
        return max(log_delta(0, epsilon), log_delta(1, epsilon))

    walk(at_walk, exp(log_delta(0, 0.0)), _TAIL, max(ends))
    epsilons |= {loss for one in (*forward, *backward) for loss in _few_losses(one) if 0 <= loss <= max(ends)}
    return pair_of_points(*([(e, log_delta(side, e)) for e in sorted(epsilons)] for side in (0, 1)))


def _profile(one: Parts) -> tuple[Callable[[float], float], float]:
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


def _few_losses(one: Parts) -> Sequence[float]:
    sums = enumerate_sums(one)
    losses = distinct(sums.loss[sums.loss.argsort()]).tolist() if sums and len(sums.loss) <= 20 * _MOST_LOSSES else []
    return losses if len(losses) <= _MOST_LOSSES else ()

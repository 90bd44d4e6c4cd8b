"""ε at δ and δ at ε of a composition of dominating pairs, from above and from below, for both directions of
adjacency."""

from collections.abc import Callable
from dataclasses import replace
from math import hypot, inf, sqrt

from dpcalc.numerics.rounding import ULP
from dpcalc.pld.atoms import Atoms, enumerate_sums
from dpcalc.pld.multiscale import TooLarge
from dpcalc.pld.one_direction import PRECISION, Bracket, Question, answer_one_direction, composition_of
from dpcalc.pld.pair import ROUNDING, Gaussian
from dpcalc.pld.pilot import Parts, log_probability_of_any, rounding_margin
from dpcalc.pld.profiles_on_grids import compose_on_grids

__all__ = ["PRECISION", "Bracket", "epsilon_at_delta", "log_delta_at_epsilon", "log_infinite", "upper_profile"]


def epsilon_at_delta(parts: Parts, log_delta: float, precision: float = PRECISION, bracket: bool = True,
                     one_sided: bool = False) -> Bracket:
    """The smallest ε with δ(ε) <= δ of the composition of all parts (pair, count); inf where the probability of an
    infinite loss is larger than δ. Both directions are composed, unless the question is one-sided. Raises TooLarge."""
    return _worse_direction(Question(merge_gaussians(parts), None, log_delta, precision, bracket), one_sided)


def log_delta_at_epsilon(parts: Parts, epsilon: float, precision: float = PRECISION, bracket: bool = True,
                         one_sided: bool = False) -> Bracket:
    """log δ(ε) of the composition of all parts, at ε >= 0; otherwise like `epsilon_at_delta`."""
    return _worse_direction(Question(merge_gaussians(parts), epsilon, None, precision, bracket), one_sided)


def log_infinite(parts: Parts) -> float:
    """log of the probability of an infinite loss."""
    return log_probability_of_any([(pair.log_infinite, count) for pair, count in parts])


def merge_gaussians(parts: Parts) -> Parts:
    """The same composition with all Gaussian pairs replaced by a single one: it depends on Σμ² only."""
    ratios = [pair.mu * sqrt(count) for pair, count in parts if isinstance(pair, Gaussian)]
    others = [(pair, count) for pair, count in parts if not isinstance(pair, Gaussian)]
    return [(Gaussian(hypot(*ratios) * (1 + 4 * ULP)), 1), *others] if ratios else others


def _worse_direction(question: Question, one_sided: bool) -> Bracket:
    """The bracket of the direction with the larger loss. The second direction is composed only if the bound by moments
    does not already show that its loss is not the larger one."""
    answer = answer_one_direction(question)
    # δ(0) is the total variation distance in both directions; those of atoms differ by the rounding of their masses.
    is_symmetric = question.epsilon == 0 and not any(isinstance(pair, Atoms) for pair, _ in question.parts)
    if one_sided or is_symmetric or not any(pair.reverse for pair, _ in question.parts):
        return answer
    other = question.reversed
    if _is_at_most(other, answer):
        return answer
    second = answer_one_direction(replace(other, bracket=False, enough=answer.upper))
    if second.upper > answer.upper and question.bracket:
        second = answer_one_direction(other)
    better, worse = sorted((answer, second), key=lambda x: x.upper)
    witness = {**worse.witness, "other": better.witness, **({"reversed": 1} if worse is second else {})}
    return Bracket(worse.upper, max(answer.lower, second.lower), witness)


def _is_at_most(question: Question, answer: Bracket) -> bool:
    """Whether a bound by moments shows that the value asked by a question is at most `answer.upper`. The tilts that are
    tried are close to that of the answer."""
    if question.epsilon is None:
        epsilon, log_delta = answer.upper, question.log_delta or 0.0
    else:
        epsilon, log_delta = question.epsilon, answer.upper
    if epsilon == inf:
        return True
    c = composition_of(question)
    return any(c.chernoff_log_delta(answer.witness["tilt"] * x, epsilon) <= log_delta
               for x in (0.5, 0.7, 1.0, 1.4, 2.0))


def upper_profile(parts: Parts, largest: float) -> Callable[[float], float]:
    """The function ε → an upper bound on log δ of a composition, for 0 <= ε <= `largest`, from a single set of grids.
    It is of one direction; symmetric pairs have no other."""
    parts = merge_gaussians(parts)
    if sums := enumerate_sums(parts):
        return sums.upper_log_delta
    c = composition_of(Question(parts, largest, None, PRECISION, False)).capped_for(largest)
    tilt, _ = c.tilt_at(largest / 4)  # the grids of a smaller tilt still serve larger ε; not the other way round
    try:
        on_grids = compose_on_grids(c, tilt, PRECISION, False).upper.log_delta
    except TooLarge:
        on_grids = None
    by_moments = c.chernoff_profile(tilt)

    def log_delta(epsilon: float) -> float:
        if epsilon >= c.largest_sum * (1 + ROUNDING) + ROUNDING:  # only infinite losses are above ε
            return min(0.0, c.log_truncated + rounding_margin(c.log_truncated))
        return min(by_moments(epsilon), on_grids(epsilon) if on_grids else 0.0)

    return log_delta

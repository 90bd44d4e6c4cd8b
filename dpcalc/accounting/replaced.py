"""Guarantees for records that are replaced, from those for records that are added or removed, or zeroed out
(bounds/conversions/to_replace_one.py). What is known of mechanisms stays known: their sensitivity doubles, and on a
Poisson batch they are compared to the batch without the record, as before."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import exp, inf, isfinite, log
from typing import Any

from dpcalc.accounting.guarantee import Dp, Gdp, Guarantee, Mechanisms, Outcomes, Parallel, Rdp, Sampled, Tv, Zcdp
from dpcalc.accounting.guarantee_parts import Part
from dpcalc.bounds.conversions import to_replace_one
from dpcalc.core.errors import DpcalcError, NoSolution
from dpcalc.core.relations import ADD_REMOVE, REPLACE_ONE
from dpcalc.numerics.rounding import ratio_up, up

_POINTS = 200  # of a profile that is sampled; with half as many, ε is 1e-3 larger


def guarantee(given: Guarantee, relation: str, name: str) -> Guarantee:
    """A guarantee for another relation as one for replace-one; the result does not state that."""
    return _CONVERTED[type(given)](given.model_copy(update={"adjacency": relation}), name)


def _mechanisms(g: Mechanisms, name: str) -> Guarantee:
    relation = str(g.adjacency)
    if g.upper_bound and any(part.name != "gaussian" or part.sampling for part in g.mechanisms):
        return _sampled_from_above(g)
    return g.model_copy(update={"mechanisms": tuple(_part(part, relation, name) for part in g.mechanisms)})


def _part(part: Part, relation: str, name: str) -> Part:
    """A mechanism for replaced records. Where its theorem compares the same two batches as before, it stays as it is;
    else its numbers are those of two records."""
    sampling = part.sampling
    if sampling and REPLACE_ONE not in sampling.record.bases:
        raise DpcalcError("refused", f"{name}: no theorem covers {sampling.record.words} with {REPLACE_ONE} neighbours",
                          "--adjacency")
    base = part.base(relation)
    if sampling and sampling.record.bases[REPLACE_ONE].relation == base:
        return part.model_copy(update={"between": base})
    if part.mechanism.group is None:
        raise DpcalcError("refused", f"{name} has {part.mechanism.words} for {relation} neighbours, from which nothing "
                          f"is concluded for {REPLACE_ONE} ones; compute it with --adjacency {REPLACE_ONE}, "
                          "which disjoint parts do not take", "--adjacency")
    twice = part.mechanism.of_group(part.params(relation), 2)
    return part.model_copy(update={**part.mechanism.part.write(twice), "between": None, "sum": None})


# δ of the last point of a profile: the first of these with a finite ε, as a law on a grid may be infinite with some
# probability. A δ below the first is negligible.
_LEAST_DELTAS = (1e-30, 1e-20, 1e-16, 1e-12, 1e-8, 1e-5)


def _sampled_from_above(g: Mechanisms) -> Guarantee:
    """The profile of a run that loses at most what these mechanisms lose together, whatever it is made of."""
    from dpcalc.accounting.guarantee_pld import dominating_pairs
    from dpcalc.pld.bracket import epsilon_at_delta, upper_profile

    parts = dominating_pairs(g)
    reverse = tuple((pair.reverse or pair, count) for pair, count in parts)
    ends = (epsilon_at_delta(parts, log(delta), bracket=False).upper for delta in _LEAST_DELTAS)
    most = max(next(filter(isfinite, ends), inf), 1e-9)
    if most == inf:
        raise _nothing_left("this profile")
    both = [upper_profile(each, most) for each in (parts, reverse)]
    epsilons = [most * (k / _POINTS) ** 2 for k in range(_POINTS + 1)]
    points = [(e, min(1.0, up(exp(max(f(e) for f in both)), 1e-12))) for e in epsilons]
    return _profile(points, g)


def _profile(points: Sequence[tuple[float, float]], g: Guarantee) -> Guarantee:
    """δ(a + b) <= δ(a) + e^a δ(b) for equal and for neighbouring a and b of the points."""
    found = []
    for (a, first), (b, second) in [*zip(points, points, strict=True), *pairwise(points)]:
        delta = to_replace_one.of_two_steps(a, first, second)
        if delta < 1:
            found.append((a + b, delta))
    if not found:
        raise _nothing_left("this profile")
    epsilons, deltas = zip(*sorted(found), strict=True)
    return Sampled(kind="profile", epsilon=epsilons, delta=deltas, group_size=g.group_size,
                   promises=g.promises)


def _dp(g: Dp, name: str) -> Guarantee:
    found = to_replace_one.value(g.epsilon, g.delta)
    if found["delta"] >= 1:
        raise _nothing_left(name)
    return g.model_copy(update=found)


def _nothing_left(name: str) -> NoSolution:
    return NoSolution("no-solution", f"for replace-one neighbours the δ that follows from {name} is 1 or more, which "
                      "says nothing; compute it with --adjacency replace-one where its command has that option",
                      "--adjacency")


def _outcomes(g: Outcomes, name: str) -> Guarantee:
    raise DpcalcError("refused", f"{name} has the probabilities on two data sets, which say nothing of a third one; "
                      "give those on two data sets in which a record is replaced", "--adjacency")


def _curve(g: Rdp, name: str) -> Guarantee:
    from dpcalc.accounting.guarantee_pld import profile_samples

    epsilons, log_deltas = profile_samples(tuple(zip(g.alpha, g.rdp, strict=True)))
    points = [(e, min(1.0, up(exp(d), 1e-15 * (1 - d)))) for e, d in zip(epsilons, log_deltas, strict=True)]
    return _profile(points, g)


def _parallel(g: Parallel, name: str) -> Guarantee:
    """Disjoint parts: the releases for a record that is added or removed, as it may move to another part, and the same
    ones for a record that is replaced and stays in its part."""
    if g.adjacency != ADD_REMOVE:
        raise DpcalcError("refused", f"{name} holds for {g.adjacency} neighbours, from which nothing follows for a "
                          f"record that moves to another part; compute it with --adjacency {ADD_REMOVE}", "--adjacency")
    of_parts = tuple(tuple(one.model_copy(update={"adjacency": ADD_REMOVE}) for one in part) for part in g.parts)
    staying = tuple(tuple(guarantee(one, ADD_REMOVE, name).model_copy(update={"adjacency": REPLACE_ONE})
                          for one in part) for part in of_parts)
    return g.model_copy(update={"parts": of_parts, "replaced": staying})


_CONVERTED: dict[type, Callable[[Any, str], Guarantee]] = {
    Mechanisms: _mechanisms,
    Dp: _dp,
    Gdp: lambda g, name: g.model_copy(update={"mu": ratio_up((2.0, g.mu))}),
    Zcdp: lambda g, name: g.model_copy(update={"rho": ratio_up((4.0, g.rho))}),
    Tv: lambda g, name: g.model_copy(update={"tv": min(1.0, 2 * g.tv)}),
    Sampled: lambda g, name: _profile(tuple(zip(g.epsilon, g.delta, strict=True)), g),
    Rdp: _curve,
    Outcomes: _outcomes,
    Parallel: _parallel,
}

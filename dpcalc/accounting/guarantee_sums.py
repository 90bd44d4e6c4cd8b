"""What adds up where guarantees compose: their RDP curves, (ε, δ), ρ of zCDP, and μ² of Gaussian DP."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate
from typing import Any, TypeVar

from dpcalc.accounting import disjoint_parts
from dpcalc.accounting.guarantee import Dp, Gdp, Guarantee, Mechanisms, Outcomes, Parallel, Rdp, Sampled, Tv, Zcdp
from dpcalc.accounting.guarantee_parts import Part
from dpcalc.bounds import curve
from dpcalc.bounds.conversions import composition_basic, gdp, outcomes, pure, rdp_curves, zcdp
from dpcalc.bounds.conversions.composition_basic import Points
from dpcalc.bounds.conversions.gdp import Mus
from dpcalc.bounds.conversions.zcdp import PURE, Term, Terms
from dpcalc.bounds.curve import Curve
from dpcalc.core.bound import Params
from dpcalc.core.errors import DpcalcError, OutOfScope
from dpcalc.core.relations import RELATIONS
from dpcalc.numerics.rounding import decimal, decimal_up, quotient_up, ratio_down, root_up

_T = TypeVar("_T")


def _no_pure(reason: str) -> OutOfScope:
    return OutOfScope("no-solution", f"0 has no finite ε: {reason}; give a positive δ", "--delta")


def points(guarantee: Guarantee) -> tuple[tuple[float, float, int], ...]:
    """(ε, δ, count) for every part of a guarantee, with the least δ that is known for it.

    Raises OutOfScope where a part has no pure ε, so that it holds for no ε at its least δ.
    """
    if isinstance(guarantee, Mechanisms):
        return tuple(point for part in guarantee.mechanisms for point in _points_of_part(part, guarantee))
    if isinstance(guarantee, Dp):
        return ((guarantee.epsilon, guarantee.delta, 1),)
    if isinstance(guarantee, Tv):
        return ((0.0, guarantee.tv, 1),)
    if isinstance(guarantee, Outcomes):
        return ((outcomes.pure(guarantee.p, guarantee.q), 0.0, guarantee.count),)
    if isinstance(guarantee, Sampled):
        delta, epsilon = min(zip(guarantee.delta, guarantee.epsilon, strict=True))
        return ((epsilon, delta, 1),)
    if isinstance(guarantee, Parallel):
        return _largest_point(_of_cases(guarantee, points))
    if isinstance(guarantee, Gdp):
        nothing, reason = guarantee.mu == 0, "Gaussian noise has no pure ε"
    elif isinstance(guarantee, Zcdp):
        nothing, reason = guarantee.rho == 0, "zCDP gives no pure ε, as Gaussian noise is zCDP"
    elif isinstance(guarantee, Rdp):
        nothing, reason = min(guarantee.rdp) == 0, "an RDP curve gives no pure ε"
    else:
        raise _no_pure("the best of several runs is known by its profile")
    if not nothing:  # where nothing is lost, the two distributions are the same
        raise _no_pure(reason)
    return ((0.0, 0.0, 1),)


def _points_of_part(part: Part, guarantee: Mechanisms) -> Points:
    """(ε, δ) of one use, and how often it is used: of a pure mechanism, or of one whose δ is positive."""
    if part.mechanism.points is None or part.sampling is not None:
        return ((_pure_part(part, guarantee), 0.0, part.count),)
    one = part.mechanism.points(part.params(guarantee.adjacency, guarantee.size_of_group))
    return tuple((epsilon, delta, count * part.count) for epsilon, delta, count in one)


def _pure_part(part: Part, guarantee: Mechanisms) -> float:
    """The pure ε of one use."""
    if part.mechanism.pure is None:
        raise _no_pure(f"{part.mechanism.words[0].upper()}{part.mechanism.words[1:]} has no pure ε")
    size = guarantee.size_of_group
    if part.sampling is None:
        return part.mechanism.pure(part.params(guarantee.adjacency, size))
    scheme = part.sampling.record
    if scheme.pure is None or size > 1:
        raise _no_pure(f"{scheme.name} sampling gives no pure ε here")
    return scheme.pure(part.use(guarantee.adjacency))


def one_group_size(guarantees: Iterable[Guarantee]) -> int:
    """The number of records that the neighbouring data sets of all guarantees differ in. Raises DpcalcError where they
    differ in different numbers."""
    sizes = sorted({g.size_of_group for g in guarantees})
    if len(sizes) > 1:
        raise DpcalcError("refused", f"the inputs are about groups of different sizes ({' and '.join(map(str, sizes))} "
                          "records), whose guarantees do not compose; compute them with --group-size "
                          f"{sizes[-1]}", "--input")
    return sizes[0] if sizes else 1


def _rho(guarantee: Guarantee, number: Callable[[float], Fraction]) -> Fraction | None:
    """The exact ρ of a guarantee that is ρ-zCDP, or μ-GDP (which is μ²/2-zCDP), or Gaussian and not sampled, for its
    groups of records; else None. `number` reads μ."""
    if isinstance(guarantee, Zcdp):
        return decimal(guarantee.rho)
    if isinstance(guarantee, Gdp):
        return number(guarantee.mu) ** 2 / 2
    if isinstance(guarantee, Parallel):
        each = [_total_rho(case.all_members, number) for case in disjoint_parts.cases(guarantee)]
        return None if None in each else max(filter(None, each), default=Fraction(0))
    if not isinstance(guarantee, Mechanisms) or not all(map(_is_gaussian, guarantee.mechanisms)):
        return None
    return sum((count / Fraction(ratio_down((sigma,), (sensitivity,))) ** 2 / 2
                for sensitivity, sigma, count in mus(guarantee)), Fraction(0))


def _total_rho(guarantees: Iterable[Guarantee], number: Callable[[float], Fraction]) -> Fraction | None:
    found = [_rho(g, number) for g in guarantees]
    return None if None in found else sum(filter(None, found), Fraction(0))


def total_rho(guarantees: Iterable[Guarantee]) -> float | None:
    """ρ of the composition where every part has one, rounded up; else None."""
    total = _total_rho(guarantees, Fraction)
    return None if total is None else quotient_up(total.numerator, total.denominator)


def gaussian_mu(guarantees: tuple[Guarantee, ...]) -> float | None:
    """μ of the composition where every part is μ-GDP, or Gaussian and not sampled: the root of twice the exact ρ,
    rounded up; else None."""
    total = _total_rho(guarantees, Fraction if len(guarantees) == 1 else decimal)
    return None if total is None or any(map(_has_zcdp, guarantees)) else root_up(2 * total)


def _has_zcdp(guarantee: Guarantee) -> bool:
    members = (one for part in guarantee.parts for one in part) if isinstance(guarantee, Parallel) else (guarantee,)
    return any(isinstance(one, Zcdp) for one in members)


def sums_of_first(guarantees: Sequence[Guarantee]) -> list[Guarantee]:
    """The first guarantee, the first two, … and all of them as one of μ-GDP or ρ-zCDP, by their exact ρ; empty where
    not every part has one."""
    found = [_rho(g, decimal) for g in guarantees]
    rhos = [rho for rho in found if rho is not None]
    if len(rhos) < len(guarantees):
        return []
    gaussian = list(accumulate((not _has_zcdp(g) for g in guarantees), min))
    return [Gdp(kind="gdp", mu=root_up(2 * rho)) if is_gaussian else
            Zcdp(kind="zcdp", rho=quotient_up(rho.numerator, rho.denominator))
            for is_gaussian, rho in zip(gaussian, accumulate(rhos), strict=True)]


# --- μ and ρ of the parts, by kind -----------------------------------------------------------------------------------


def mus(guarantee: Guarantee) -> Mus:
    """(numerator, denominator, count) of the μ of every part that is μ-GDP, or Gaussian and not sampled."""
    if isinstance(guarantee, Gdp):
        return ((guarantee.mu, 1.0, 1),)
    if isinstance(guarantee, Parallel):
        return _case_of_largest_mu(guarantee)[0]
    each = [(on_all_records(part, guarantee), part.count) for part in getattr(guarantee, "mechanisms", ())
            if part.name == "gaussian"]
    return tuple((p["sensitivity"], p["sigma"], count) for p, count in each if p is not None)


def _is_gaussian(part: Part) -> bool:
    return part.name == "gaussian" and part.sampling is None


def on_all_records(part: Part, guarantee: Guarantee) -> Params | None:
    """The parameters of one use, of which a use on a Poisson batch loses at most as much: ρ and μ are those without
    sampling (proof in bounds/conversions/zcdp.py). None for other batches."""
    size = guarantee.size_of_group
    if part.sampling is None:
        return part.params(guarantee.adjacency, size)
    if part.sampling.scheme != "poisson":
        return None
    is_replaced = RELATIONS[str(part.relation(guarantee.adjacency))].sensitivity > 1  # one leaves, another one enters
    return part.mechanism.of_group(part.params(guarantee.adjacency), 2 * size if is_replaced else size)


def pure_points(guarantee: Guarantee) -> Points:
    """(ε, 0, count) of every other part. Raises OutOfScope where one is not pure."""
    if isinstance(guarantee, Gdp):
        return ()
    if isinstance(guarantee, Parallel):
        return _case_of_largest_mu(guarantee)[1]
    if isinstance(guarantee, Mechanisms):
        return tuple((_pure_part(part, guarantee), 0.0, part.count) for part in guarantee.mechanisms
                     if part.name != "gaussian" or on_all_records(part, guarantee) is None)
    found = points(guarantee)
    if any(delta for _, delta, _ in found):
        raise _no_pure("a guarantee with δ > 0 is not pure")
    return found


def rho_terms(guarantee: Guarantee) -> Terms:
    """(numerators, denominators, count) of the ρ of every part. Raises OutOfScope where one has no ρ."""
    if isinstance(guarantee, Zcdp):
        return (((guarantee.rho,), (), 1),)
    if isinstance(guarantee, Gdp):
        return (((guarantee.mu, guarantee.mu), (2.0,), 1),)
    if isinstance(guarantee, Mechanisms):
        return tuple(_rho_term(part, guarantee) for part in guarantee.mechanisms)
    if isinstance(guarantee, Parallel):
        return max(_of_cases(guarantee, rho_terms), key=zcdp.exact_sum)
    return tuple(_pure_term(epsilon, count) for epsilon, _, count in pure_points(guarantee))


def _rho_term(part: Part, guarantee: Mechanisms) -> Term:
    own = on_all_records(part, guarantee) if part.mechanism.zcdp else None
    if own is None or not part.mechanism.zcdp:
        return _pure_term(_pure_part(part, guarantee), part.count)
    known: Term = (*part.mechanism.zcdp(own), part.count)
    if part.sampling is None or part.mechanism.pure is None or guarantee.size_of_group > 1:
        return known
    return min(known, _pure_term(_pure_part(part, guarantee), part.count), key=lambda term: zcdp.exact_sum((term,)))


def _pure_term(epsilon: float, count: int) -> Term:
    return (epsilon, epsilon), PURE, count


# --- RDP curves ------------------------------------------------------------------------------------------------------


def _part_curve(part: Part, guarantee: Mechanisms) -> Curve:
    size = guarantee.size_of_group
    if part.sampling is None:
        return part.mechanism.rdp_curve(part.params(guarantee.adjacency, size))
    scheme = part.sampling.record
    if scheme.curve is None or size > 1:
        of_groups = " for groups of records" if size > 1 else ""
        raise DpcalcError("unsupported", f"{scheme.name} sampling has no RDP bound{of_groups} here; ask with --delta",
                          "--input")
    return scheme.curve(part.use(guarantee.adjacency))


def curves(guarantee: Guarantee) -> tuple[tuple[Curve, int], ...]:
    """(curve, count) of every part. Raises DpcalcError where a guarantee has no RDP curve."""
    if isinstance(guarantee, Mechanisms):
        return tuple((_part_curve(part, guarantee), part.count) for part in guarantee.mechanisms)
    if isinstance(guarantee, Rdp):
        given = curve.of_bound(rdp_curves.CURVE, alphas=guarantee.alpha, rdps=guarantee.rdp)
        return ((given._replace(rdp=rdp_curves.follow(guarantee.alpha, guarantee.rdp)), 1),)
    if isinstance(guarantee, Gdp):
        return ((curve.of_bound(gdp.RDP, mu=guarantee.mu), 1),) if guarantee.mu > 0 else ()
    if isinstance(guarantee, Zcdp):
        return ((curve.of_bound(zcdp.RDP, rho=guarantee.rho), 1),) if guarantee.rho > 0 else ()
    if isinstance(guarantee, Outcomes):
        return ((curve.of_bound(outcomes.RDP, outcomes.pure(guarantee.p, guarantee.q), p=guarantee.p, q=guarantee.q),
                 guarantee.count),)
    if isinstance(guarantee, Dp) and guarantee.delta == 0:
        return ((curve.of_bound(pure.RDP, guarantee.epsilon, step_epsilon=guarantee.epsilon), 1),)
    if isinstance(guarantee, Parallel):
        return _largest_curve(_of_cases(guarantee, curves))
    if isinstance(guarantee, Tv):
        raise DpcalcError("refused", "a total variation alone is (0, TV)-DP, which implies no RDP; ask with --delta or "
                                     "--epsilon", "--input")
    if isinstance(guarantee, Sampled):
        raise DpcalcError("refused", "a profile whose last δ is above 0 implies no RDP; ask with --delta or --epsilon",
                          "--input")
    raise DpcalcError("refused",
                      "an (ε, δ) guarantee with δ > 0 implies no RDP (Mironov 2017, Prop. 3, has no converse)",
                      "--input")


# --- disjoint parts of the data: the largest loss of all cases of the theorem -----------------------------------------


def _of_cases(guarantee: Parallel, of: Callable[[Guarantee], tuple[_T, ...]]) -> list[tuple[_T, ...]]:
    """What the releases of each case have together."""
    return [tuple(x for member in case.all_members for x in of(member)) for case in disjoint_parts.cases(guarantee)]


def _largest_point(cases: list[Points]) -> Points:
    """The largest sum of ε and the largest sum of δ, of whichever cases."""
    if len(cases) == 1:
        return cases[0]
    delta = max(map(composition_basic.total_delta, cases))
    if delta >= 1:
        raise OutOfScope("no-solution", "the δs of the releases of one part add up to 1 or more", "--delta")
    return ((decimal_up(max(map(composition_basic.total_epsilon, cases))), decimal_up(delta), 1),)


def _case_of_largest_mu(guarantee: Parallel) -> tuple[Mus, Points]:
    """The μ of the case whose releases compose to the largest one, and its pure ε."""
    cases = zip(_of_cases(guarantee, mus), _of_cases(guarantee, pure_points), strict=True)
    return max(cases, key=lambda case: gdp.total_square(*case))


def _largest_curve(cases: list[tuple[tuple[Curve, int], ...]]) -> tuple[tuple[Curve, int], ...]:
    """The largest RDP of all cases at each order."""
    if len(cases) == 1:
        return cases[0]

    def exact(mp: Any, alpha: Any) -> Any:
        return max((rdp_curves.exact_composition(mp, alpha, case) for case in cases), key=float)

    each = [one for case in cases for one, _ in case]
    orders = tuple(sorted({alpha for one in each for alpha in one.orders}))
    largest = cache(lambda alpha: max(rdp_curves.composition(alpha, case) for case in cases))
    return ((Curve(largest, exact, orders=orders, whole=any(one.whole for one in each),
                   coarse=lambda alpha: max(rdp_curves.coarse_composition(alpha, case) for case in cases)), 1),)

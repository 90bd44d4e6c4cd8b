"""What adds up where guarantees compose: their (ε, δ), ρ of zCDP, and μ² of Gaussian DP."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from dpcalc.accounting.guarantee import Dp, Gdp, Guarantee, Mechanisms, Outcomes, Sampled, Tv, Zcdp
from dpcalc.accounting.guarantee_parts import Part
from dpcalc.bounds.conversions import outcomes
from dpcalc.bounds.conversions.composition_basic import Points
from dpcalc.bounds.conversions.gdp import Mus
from dpcalc.bounds.conversions.zcdp import PURE, Term, Terms
from dpcalc.core.errors import DpcalcError, OutOfScope
from dpcalc.numerics.rounding import decimal, quotient_up, ratio_down, root_up


def _no_pure(reason: str) -> OutOfScope:
    return OutOfScope("no-solution", f"0 has no finite ε: {reason}; give a positive δ", "--delta")


def points(guarantee: Guarantee) -> tuple[tuple[float, float, int], ...]:
    """(ε, δ, count) for every part of a guarantee, with the least δ that is known for it.

    Raises OutOfScope where a part has no pure ε, so that it holds for no ε at its least δ.
    """
    if isinstance(guarantee, Mechanisms):
        return tuple((_pure_part(part, guarantee), 0.0, part.count) for part in guarantee.mechanisms)
    if isinstance(guarantee, Dp):
        return ((guarantee.epsilon, guarantee.delta, 1),)
    if isinstance(guarantee, Tv):
        return ((0.0, guarantee.tv, 1),)
    if isinstance(guarantee, Outcomes):
        return ((outcomes.pure(guarantee.p, guarantee.q), 0.0, guarantee.count),)
    if isinstance(guarantee, Sampled):
        delta, epsilon = min(zip(guarantee.delta, guarantee.epsilon, strict=True))
        return ((epsilon, delta, 1),)
    if isinstance(guarantee, Gdp):
        nothing, reason = guarantee.mu == 0, "Gaussian noise has no pure ε"
    elif isinstance(guarantee, Zcdp):
        nothing, reason = guarantee.rho == 0, "zCDP gives no pure ε, as Gaussian noise is zCDP"
    else:
        nothing, reason = min(guarantee.rdp) == 0, "an RDP curve gives no pure ε"
    if not nothing:  # where nothing is lost, the two distributions are the same
        raise _no_pure(reason)
    return ((0.0, 0.0, 1),)


def _pure_part(part: Part, guarantee: Mechanisms) -> float:
    """The pure ε of one use."""
    if part.mechanism.pure is None:
        raise _no_pure(f"{part.mechanism.name.capitalize()} noise has no pure ε")
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


def _gaussian_sigmas(guarantee: Guarantee) -> tuple[tuple[float, int], ...] | None:
    """The noise multiplier σ/s, for the groups of the guarantee, and the count of each mechanism, where all are
    Gaussian and not sampled; else None."""
    if not isinstance(guarantee, Mechanisms) or any(m.name != "gaussian" or m.sampling for m in guarantee.mechanisms):
        return None
    each = [(m.params(guarantee.adjacency, guarantee.size_of_group), m.count) for m in guarantee.mechanisms]
    return tuple((ratio_down(p["sigma"], p["sensitivity"]), count) for p, count in each)


def total_rho(guarantees: Iterable[Guarantee]) -> float | None:
    """ρ of the composition where every part is ρ-zCDP, or μ-GDP (which is μ²/2-zCDP), or Gaussian and not sampled,
    rounded up; else None."""
    total = Fraction(0)
    for g in guarantees:
        if isinstance(g, Zcdp):
            total += decimal(g.rho)
        elif isinstance(g, Gdp):
            total += Fraction(g.mu) ** 2 / 2
        elif sigmas := _gaussian_sigmas(g):
            total += sum(count / Fraction(sigma) ** 2 / 2 for sigma, count in sigmas)
        else:
            return None
    return quotient_up(total.numerator, total.denominator)


def gaussian_mu(guarantees: tuple[Guarantee, ...]) -> float | None:
    """μ of the composition where every part is μ-GDP, or Gaussian and not sampled: the root of twice the exact ρ,
    rounded up; else None."""
    square = Fraction(0)
    for g in guarantees:
        if isinstance(g, Gdp):
            square += (Fraction(g.mu) if len(guarantees) == 1 else decimal(g.mu)) ** 2
        elif sigmas := _gaussian_sigmas(g):
            square += sum(count / Fraction(sigma) ** 2 for sigma, count in sigmas)
        else:
            return None
    return root_up(square)


# --- μ and ρ of the parts, by kind -----------------------------------------------------------------------------------


def mus(guarantee: Guarantee) -> Mus:
    """(numerator, denominator, count) of the μ of every part that is μ-GDP, or Gaussian and not sampled."""
    if isinstance(guarantee, Gdp):
        return ((guarantee.mu, 1.0, 1),)
    each = [(part.params(guarantee.adjacency, guarantee.size_of_group), part.count)
            for part in getattr(guarantee, "mechanisms", ()) if _is_gaussian(part)]
    return tuple((p["sensitivity"], p["sigma"], count) for p, count in each)


def _is_gaussian(part: Part) -> bool:
    return part.name == "gaussian" and part.sampling is None


def pure_points(guarantee: Guarantee) -> Points:
    """(ε, 0, count) of every other part. Raises OutOfScope where one is not pure."""
    if isinstance(guarantee, Gdp):
        return ()
    if isinstance(guarantee, Mechanisms):
        return tuple((_pure_part(part, guarantee), 0.0, part.count) for part in guarantee.mechanisms
                     if not _is_gaussian(part))
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
    return tuple(_pure_term(epsilon, count) for epsilon, _, count in pure_points(guarantee))


def _rho_term(part: Part, guarantee: Mechanisms) -> Term:
    if part.sampling is None and part.mechanism.zcdp:
        return (*part.mechanism.zcdp(part.params(guarantee.adjacency, guarantee.size_of_group)), part.count)
    return _pure_term(_pure_part(part, guarantee), part.count)


def _pure_term(epsilon: float, count: int) -> Term:
    return (epsilon, epsilon), PURE, count

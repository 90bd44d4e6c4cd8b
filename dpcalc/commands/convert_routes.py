"""The bounds by which each kind of guarantee is converted or composed, and the parameters of these bounds, for dpcalc
convert and dpcalc tv.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import fsum
from typing import TYPE_CHECKING, Any

from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, OutOfScope

if TYPE_CHECKING:
    from dpcalc.core.question import Question
    from dpcalc.core.results import Route

Values = Mapping[str, Any]


def scalar_params(*names: str) -> Callable[[Values], dict[str, Any]]:
    """A function from the options to bound parameters of the same names, and the number of steps."""
    return lambda values: {**{n: values[n] for n in names}, "steps": int(values["steps"])}


# --- (ε, δ) of every step --------------------------------------------------------------------------------------------


def dp_routes(given: Given, question: Question) -> tuple[Route, ...]:
    """From (ε, δ) of every step."""
    from dpcalc.accounting.routes import COMPOSITION, converted
    from dpcalc.bounds.conversions import composition_basic, composition_optimal, pure
    from dpcalc.core.results import Route

    if question.asks == "mu":
        return (Route(pure.GDP),)
    if question.asks == "rho":
        return _pure_to_zcdp(may_have_bounded_range=True)
    if question.asks == "rdp":
        return (Route(pure.RDP),)
    if question.asks == "tv":
        return tv_routes_of_dp(given["steps"] > 1)
    if given["slack"] is not None:
        return (Route(composition_basic.ADVANCED), Route(composition_optimal.BOUND))
    return COMPOSITION + (converted(pure.RDP) if given["delta"] == 0 else ())


def tv_routes_of_dp(several: bool) -> tuple[Route, ...]:
    """From (ε, δ) of every release to the total variation of one or of several."""
    from dpcalc.bounds.conversions import composition_optimal, pure
    from dpcalc.core.results import Route

    return (Route(composition_optimal.BOUND if several else pure.TV),)


def _pure_to_zcdp(may_have_bounded_range: bool) -> tuple[Route, ...]:
    """From pure ε to zCDP, with bounded range on request. Bounded range, a privacy loss with a range of length ε, is an
    assumption about an unknown mechanism. It is false for the described ones: with Laplace noise and with randomised
    response of this ε the range has the length 2ε."""
    from dpcalc.bounds.conversions import pure
    from dpcalc.core.results import Route

    bounded = (Route(pure.BOUNDED_RANGE_ZCDP, on_request=True),) if may_have_bounded_range else ()
    return (Route(pure.ZCDP), *bounded)


def dp_params(values: Values) -> dict[str, Any]:
    """The parameters of composition: ε and δ of every step, and the number of steps."""
    from dpcalc.bounds.conversions import composition_basic

    return composition_basic.repeated(values["epsilon"], values["delta"], int(values["steps"]))


def group_routes(given: Given, question: Question) -> tuple[Route, ...]:
    """From (ε, δ), or from points of a profile, to groups of records."""
    from dpcalc.bounds.conversions import group_privacy
    from dpcalc.core.results import Route

    return (Route(group_privacy.BOUND),)


def group_params(values: Values) -> dict[str, Any]:
    """The known (ε, δ) for one record, and the size of the group."""
    points = values.get("profile_points") or ((values["epsilon"], values["delta"]),)
    return {"profile_points": points, "group_size": values["group_size"]}


def converted_routes(given: Given, question: Question) -> tuple[Route, ...]:
    """From (ε, δ) of a record that is added or removed to that of one that is replaced."""
    from dpcalc.bounds.conversions import to_replace_one
    from dpcalc.core.results import Route

    return (Route(to_replace_one.BOUND),)


# --- μ-GDP, zCDP and RDP ---------------------------------------------------------------------------------------------


def gdp_routes(given: Given, question: Question) -> tuple[Route, ...]:
    """From μ-GDP."""
    from dpcalc.accounting.routes import converted
    from dpcalc.bounds.conversions import gdp
    from dpcalc.core.results import Route

    if question.asks == "mu":
        return (Route(gdp.COMPOSITION),)
    if question.asks == "rho":
        return (Route(gdp.ZCDP),)
    return (Route(gdp.EXACT), *converted(gdp.RDP))


def gdp_params(values: Values) -> dict[str, Any]:
    """The μ of every step and the number of steps; also as what is composed with other guarantees."""
    steps = int(values["steps"])
    return {"mu": values["mu"], "steps": steps, "mus": ((values["mu"], 1.0, steps),), "pure": ()}


def gdp_guarantee(values: Values) -> dict[str, Any]:
    """The μ-GDP of all steps, μ√T rounded up, for the next command."""
    from math import sqrt

    from dpcalc.numerics.rounding import up

    return {"kind": "gdp", "mu": up(values["mu"] * sqrt(int(values.get("steps") or 1)), 5e-16)}


def curve_routes(given: Given, question: Question) -> tuple[Route, ...]:
    """From an RDP curve, or from zCDP, whose RDP curve is a line."""
    from dpcalc.accounting.routes import converted, to_total_variation
    from dpcalc.bounds.conversions import rdp_curves, zcdp
    from dpcalc.core.results import Route

    if question.asks == "rho":
        return (Route(zcdp.COMPOSITION),)
    bounds = {"rdp": rdp_curves.CURVE, "zcdp": zcdp.RDP}
    bound = bounds[given["from"]]
    return to_total_variation(bound) if question.asks == "tv" else converted(bound, by_conversion=True)


def rdp_params(values: Values) -> dict[str, Any]:
    """The orders of the curve and the RDP at each; one value stands for all orders."""
    alphas, rdps = values["alpha"], values["rdp"]
    if len(rdps) == 1:
        rdps = rdps * len(alphas)
    if len(alphas) != len(rdps):
        raise DpcalcError("contradictory",
                          f"{len(alphas)} orders but {len(rdps)} values; give one value for each order, or one for "
                          "all", "--rdp")
    return {"alphas": alphas, "rdps": rdps, "steps": int(values["steps"])}


def mixture_routes(given: Given, question: Question) -> tuple[Route, ...]:
    """From the RDP of several mechanisms of which one is drawn."""
    from dpcalc.bounds.conversions import rdp_curves
    from dpcalc.core.results import Route

    return (Route(rdp_curves.MIXTURE),)


def mixture_params(values: Values) -> dict[str, Any]:
    """The RDP of each mechanism, and the probability that it is drawn."""
    rdps, weights = values["rdp"], values["weights"]
    if len(rdps) != len(weights):
        raise DpcalcError("contradictory", f"{len(weights)} weights but {len(rdps)} values of --rdp; give one for each "
                                           "mechanism", "--weights")
    _check_sum(weights, "--weights")
    return {"rdps": rdps, "weights": weights}


def _check_sum(probabilities: Sequence[float], option: str) -> None:
    from dpcalc.accounting.guarantee import UNIT

    if abs(fsum(probabilities) - 1) > UNIT:
        raise DpcalcError("out-of-range", f"the probabilities add up to {fsum(probabilities):g}, not 1", option)


# --- a finite mechanism ----------------------------------------------------------------------------------------------


def total_count(values: Values) -> int:
    """How often a finite mechanism is used: --steps times the count of the guarantee that is read."""
    return int(values.get("steps") or 1) * int(values.get("count") or 1)


def is_one_sided(given: Given) -> bool:
    """Whether an outcome is possible on one data set only."""
    return any((a > 0) != (b > 0) for a, b in zip(given["p"] or (), given["q"] or (), strict=False))


def outcome_routes(given: Given, question: Question) -> tuple[Route, ...]:
    """From outcome probabilities: one use in closed form; several uses by their RDP, by composing the mechanism's own
    dominating pair, and by the sum of their pure ε."""
    from dpcalc.accounting.routes import converted
    from dpcalc.bounds.conversions import composition_basic, gdp, outcomes, profile_composition
    from dpcalc.core.results import Route

    if question.asks == "mu":
        return (Route(gdp.COMPOSITION),)
    if question.asks == "rho":
        return _pure_to_zcdp(may_have_bounded_range=False)
    several = question.unknown is not None or total_count(given.values) > 1
    if question.asks == "rdp":
        return (Route(outcomes.RDP),) if several else (Route(outcomes.PROFILE), Route(outcomes.RDP))
    if not several:
        return (Route(outcomes.PROFILE),)
    if is_one_sided(given):  # there is no finite Rényi divergence and no pure ε
        return (Route(profile_composition.BOUND),)
    sums = () if question.asks == "tv" else (Route(composition_basic.BOUND),)
    return (*converted(outcomes.RDP), Route(profile_composition.BOUND), *sums)


def outcome_params(values: Values) -> dict[str, Any]:
    """The outcome probabilities, and the parts of a composition of several uses. Raises DpcalcError where --p and --q
    are not two distributions on the same outcomes."""
    p, r = values["p"], values["q"]
    if len(p) != len(r):
        raise DpcalcError("contradictory", f"{len(p)} outcomes in --p, but {len(r)} in --q", "--q")
    _check_sum(p, "--p")
    _check_sum(r, "--q")
    steps = total_count(values)
    described = ({"kind": "outcomes", "p": p, "q": r, "count": 1},)
    parts = _finite_parts(p, r, steps, bool(values.get("solve")))
    return {"p": p, "q": r, "steps": steps, "described": described, "precision": values.get("precision"), **parts}


def _finite_parts(p: tuple[float, ...], q: tuple[float, ...], steps: int, solved: bool) -> dict[str, Any]:
    """The parts of a composition of several uses of a finite mechanism: its pure ε, if that is finite, and its
    dominating pair."""
    from dpcalc.bounds.conversions import outcomes

    try:
        pure = ((outcomes.pure(p, q), 0.0, steps),)
        sums: dict[str, Any] = {"points": pure, "pure": pure, "mus": ()}
    except OutOfScope as reason:
        sums = {"no_pure": reason}
    if steps == 1 and not solved:
        return sums
    from dpcalc.pld import atoms

    return {**sums, "pairs": ((atoms.outcomes(p, q), 1),)}


# --- several guarantees ----------------------------------------------------------------------------------------------


def part_routes(given: Given, question: Question) -> tuple[Route, ...]:
    """Composition by RDP where every guarantee has a curve, of profiles where every one has a dominating pair, and
    basic composition where every one has an (ε, δ). Raises DpcalcError where none of these applies."""
    from dpcalc.accounting.routes import converted, to_total_variation
    from dpcalc.bounds.conversions import composition_basic, gdp, profile_composition, rdp_curves
    from dpcalc.core.results import Route

    if question.asks == "mu":
        return (Route(gdp.COMPOSITION),)
    if question.asks == "rho":
        return _terms_to_zcdp(given)
    curve = to_total_variation if question.asks == "tv" else partial(converted, by_conversion=True)
    rdp = curve(rdp_curves.COMPOSITION) if "parts" in given.values else ()
    profile = (Route(profile_composition.BOUND),) if "pairs" in given.values and question.asks != "rdp" else ()
    has_sum = "points" in given.values and question.asks in ("epsilon", "delta")
    found = rdp + profile + ((Route(composition_basic.BOUND),) if has_sum else ())
    if not found:
        raise given["reason"]
    return found


def _terms_to_zcdp(given: Given) -> tuple[Route, ...]:
    """From the ρ of several guarantees: by the theorem about their kind, where they all are of one."""
    from dpcalc.bounds.conversions import pure, zcdp
    from dpcalc.core.results import Route

    kinds = {divided_by for _, divided_by, _ in given["terms"] or ()}
    if kinds == {zcdp.BOUNDED_RANGE}:
        return (Route(pure.BOUNDED_RANGE_ZCDP), Route(pure.ZCDP))
    if kinds <= {zcdp.PURE} and "points" in given.values:
        return _pure_to_zcdp(all(part["kind"] == "dp" for part in given["described"] or ()))
    return (Route(zcdp.SUM),)


def part_params(values: Values) -> dict[str, Any]:
    """The parts that are composed, from convert_inputs. `no_pure` is the reason where some guarantee has no (ε, δ)."""
    steps = int(values["steps"])
    sums = {name: tuple((a, b, count * steps) for a, b, count in values[name])
            for name in ("points", "mus", "pure", "terms") if name in values}
    return {"parts": values.get("parts", ()), "pairs": values.get("pairs", ()), "described": values["described"],
            "steps": steps, "precision": values.get("precision"), **sums, "no_pure": values.get("no_pure")}

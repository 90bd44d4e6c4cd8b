"""The bounds by which each kind of guarantee is converted or composed, and the parameters of these bounds, for dpcalc
convert and dpcalc tv."""

from collections.abc import Sequence
from functools import partial
from math import fsum, sqrt
from typing import Any

from dpcalc.accounting.routes import COMPOSITION, converted, to_total_variation
from dpcalc.bounds.conversions import (
    composition_basic,
    composition_optimal,
    gdp,
    outcomes,
    profile_composition,
    pure,
    rdp_curves,
    zcdp,
)
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, OutOfScope
from dpcalc.core.results import Route
from dpcalc.core.run import Run
from dpcalc.numerics.rounding import up

CURVES = {"rdp": rdp_curves.CURVE, "zcdp": zcdp.RDP}  # of zCDP the RDP curve is a line

# --- (ε, δ) of every step --------------------------------------------------------------------------------------------


def dp_routes(run: Run) -> tuple[Route, ...]:
    """From (ε, δ) of every step."""
    if run.question.asks == "mu":
        return (Route(pure.GDP),)
    if run.question.asks == "rho":
        return _pure_to_zcdp(may_have_bounded_range=True)
    if run.question.asks == "rdp":
        return () if run["delta"] else (Route(pure.RDP),)
    if run.question.asks == "tv":
        return tv_routes_of_dp(run["steps"] > 1)
    if run["slack"] is not None:
        return (Route(composition_basic.ADVANCED), Route(composition_optimal.BOUND))
    return COMPOSITION + (converted(pure.RDP) if run["delta"] == 0 else ())


def tv_routes_of_dp(several: bool) -> tuple[Route, ...]:
    """From (ε, δ) of every release to the total variation of one or of several."""
    return (Route(composition_optimal.BOUND if several else pure.TV),)


def _pure_to_zcdp(may_have_bounded_range: bool) -> tuple[Route, ...]:
    """From pure ε to zCDP, with bounded range on request. Bounded range, a privacy loss with a range of length ε, is an
    assumption about an unknown mechanism. It is false for the described ones: with Laplace noise and with randomised
    response of this ε the range has the length 2ε."""
    bounded = (Route(pure.BOUNDED_RANGE_ZCDP, on_request=True),) if may_have_bounded_range else ()
    return (Route(pure.ZCDP), *bounded)


# --- μ-GDP, zCDP and RDP ---------------------------------------------------------------------------------------------


def gdp_routes(run: Run) -> tuple[Route, ...]:
    """From μ-GDP."""
    if run.question.asks == "mu":
        return (Route(gdp.COMPOSITION),)
    if run.question.asks == "rho":
        return (Route(gdp.ZCDP),)
    return (Route(gdp.EXACT), *converted(gdp.RDP))


def gdp_params(run: Run) -> dict[str, Any]:
    """The μ of every step and the number of steps; also as what is composed with other guarantees."""
    steps = int(run["steps"])
    return {"mu": run["mu"], "steps": steps, "mus": ((run["mu"], 1.0, steps),), "pure": ()}


def gdp_guarantee(run: Run) -> dict[str, Any]:
    """The μ-GDP of all steps, μ√T rounded up, for the next command."""
    return {"kind": "gdp", "mu": up(run["mu"] * sqrt(int(run.get("steps") or 1)), 5e-16)}


def curve_routes(run: Run) -> tuple[Route, ...]:
    """From an RDP curve, or from zCDP, whose RDP curve is a line."""
    if run.question.asks == "rho":
        return (Route(zcdp.COMPOSITION),)
    bound = CURVES[run["from"]]
    return to_total_variation(bound) if run.question.asks == "tv" else converted(bound, by_conversion=True)


def rdp_params(run: Run) -> dict[str, Any]:
    """The orders of the curve and the RDP at each; one value stands for all orders."""
    alphas, rdps = run["alpha"], run["rdp"]
    if len(rdps) == 1:
        rdps = rdps * len(alphas)
    if len(alphas) != len(rdps):
        raise DpcalcError("contradictory", f"{len(alphas)} orders but {len(rdps)} values; give one value for each "
                                           "order, or one for all", "--rdp")
    return {"alphas": alphas, "rdps": rdps, "steps": int(run["steps"])}


def mixture_params(run: Run) -> dict[str, Any]:
    """The RDP of each mechanism, and the probability that it is drawn."""
    rdps, weights = run["rdp"], run["weights"]
    if len(rdps) != len(weights):
        raise DpcalcError("contradictory", f"{len(weights)} weights but {len(rdps)} values of --rdp; give one for each "
                                           "mechanism", "--weights")
    _check_sum(weights, "--weights")
    return {"rdps": rdps, "weights": weights}


def _check_sum(probabilities: Sequence[float], option: str) -> None:
    from dpcalc.accounting.guarantee import UNIT  # imports pydantic

    if abs(fsum(probabilities) - 1) > UNIT:
        raise DpcalcError("out-of-range", f"the probabilities add up to {fsum(probabilities):g}, not 1", option)


# --- a finite mechanism ----------------------------------------------------------------------------------------------


def total_count(run: Run) -> int:
    """How often a finite mechanism is used: --steps times the count of the guarantee that is read."""
    return int(run.get("steps") or 1) * int(run.get("count") or 1)


def is_one_sided(run: Run | Given) -> bool:
    """Whether an outcome is possible on one data set only."""
    return any((a > 0) != (b > 0) for a, b in zip(run["p"] or (), run["q"] or (), strict=False))


def outcome_routes(run: Run) -> tuple[Route, ...]:
    """From outcome probabilities: one use in closed form; several uses by their RDP, by composing the mechanism's own
    dominating pair, and by the sum of their pure ε."""
    if run.question.asks == "mu":
        return (Route(gdp.COMPOSITION),)
    if run.question.asks == "rho":
        return _pure_to_zcdp(may_have_bounded_range=False)
    several = run.unknown is not None or total_count(run) > 1
    if run.question.asks == "rdp":
        return (Route(outcomes.RDP),) if several else (Route(outcomes.PROFILE), Route(outcomes.RDP))
    if not several:
        return (Route(outcomes.PROFILE),)
    if is_one_sided(run):  # there is no finite Rényi divergence and no pure ε
        return (Route(profile_composition.BOUND),)
    sums = () if run.question.asks == "tv" else (Route(composition_basic.BOUND),)
    return (*converted(outcomes.RDP), Route(profile_composition.BOUND), *sums)


def outcome_params(run: Run) -> dict[str, Any]:
    """The outcome probabilities, and the parts of a composition of several uses. Raises DpcalcError where --p and --q
    are not two distributions on the same outcomes."""
    p, r = run["p"], run["q"]
    if len(p) != len(r):
        raise DpcalcError("contradictory", f"{len(p)} outcomes in --p, but {len(r)} in --q", "--q")
    _check_sum(p, "--p")
    _check_sum(r, "--q")
    steps = total_count(run)
    described = ({"kind": "outcomes", "p": p, "q": r, "count": 1},)
    parts = _finite_parts(p, r, steps, bool(run.get("solve")))
    return {"p": p, "q": r, "steps": steps, "described": described, "precision": run.get("precision"), **parts}


def _finite_parts(p: tuple[float, ...], q: tuple[float, ...], steps: int, solved: bool) -> dict[str, Any]:
    """The parts of a composition of several uses of a finite mechanism: its pure ε, if that is finite, and its
    dominating pair."""
    try:
        pure = ((outcomes.pure(p, q), 0.0, steps),)
        sums: dict[str, Any] = {"points": pure, "pure": pure, "mus": ()}
    except OutOfScope as reason:
        sums = {"no_pure": reason}
    if steps == 1 and not solved:
        return sums
    from dpcalc.pld import atoms  # imports numpy

    return {**sums, "pairs": ((atoms.outcomes(p, q), 1),)}


# --- several guarantees ----------------------------------------------------------------------------------------------


def part_routes(run: Run) -> tuple[Route, ...]:
    """Composition by RDP where every guarantee has a curve, of profiles where every one has a dominating pair, and
    basic composition where every one has an (ε, δ). Raises DpcalcError where none of these applies."""
    if run.question.asks == "mu":
        return (Route(gdp.COMPOSITION),)
    if run.question.asks == "rho":
        kinds = {divided_by for _, divided_by, _ in run["terms"] or ()}
        if kinds == {zcdp.BOUNDED_RANGE}:
            return (Route(pure.BOUNDED_RANGE_ZCDP), Route(pure.ZCDP))
        if kinds <= {zcdp.PURE} and "points" in run:
            return _pure_to_zcdp(all(part["kind"] == "dp" for part in run["described"] or ()))
        return (Route(zcdp.SUM),)
    curve = to_total_variation if run.question.asks == "tv" else partial(converted, by_conversion=True)
    rdp = curve(rdp_curves.COMPOSITION) if "parts" in run else ()
    profile = (Route(profile_composition.BOUND),) if "pairs" in run and run.question.asks != "rdp" else ()
    has_sum = "points" in run and run.question.asks in ("epsilon", "delta")
    found = rdp + profile + ((Route(composition_basic.BOUND),) if has_sum else ())
    if not found:
        raise run["reason"]
    return found


def part_params(run: Run) -> dict[str, Any]:
    """The parts that are composed, from convert_inputs. `no_pure` is the reason where some guarantee has no (ε, δ)."""
    steps = int(run["steps"])
    sums = {name: tuple((a, b, count * steps) for a, b, count in run[name])
            for name in ("points", "mus", "pure", "terms") if name in run}
    return {"parts": run.get("parts", ()), "pairs": run.get("pairs", ()), "described": run["described"],
            "steps": steps, "precision": run.get("precision"), **sums, "no_pure": run.get("no_pure")}

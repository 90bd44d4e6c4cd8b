"""Budgets on ρ of zero-concentrated DP and on μ of Gaussian DP, of one mechanism on all records: the question, and the
parameters of the bounds."""

from collections.abc import Mapping
from typing import Any

from dpcalc.accounting.mechanisms import Mechanism, with_steps
from dpcalc.bounds.conversions import gdp, zcdp
from dpcalc.commands.asking import read_question, read_unknown
from dpcalc.core.bound import Params
from dpcalc.core.command import Command, Given
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.quantities import symbol
from dpcalc.core.results import Question, Route

# Quantity → its bound, and what dpcalc convert turns a guarantee into for it.
ROUTES: Mapping[str, tuple[Route, str]] = {"rho": (Route(zcdp.SUM), "zcdp"), "mu": (Route(gdp.COMPOSITION), "gdp")}
_OTHERS = ("rho", "mu", "epsilon", "delta", "alpha", "rdp", "orders")  # options of other budgets


def question_of(command: Command, given: Given) -> Question:
    """The question of a call, which may be about a budget on ρ or μ. Raises DpcalcError where that stands beside
    another budget, or where nothing is solved for."""
    name = next((name for name in ROUTES if given.has(name)), None)
    if name is None:
        return read_question(command, given)
    unknown = read_unknown(command, given)
    if unknown is None:
        raise DpcalcError("unneeded", f"is a budget for --solve; to print {symbol(name)}, drop it and add --json | "
                          f"dpcalc convert - --to {ROUTES[name][1]}", flag(name))
    if beside := [other for other in _OTHERS if given.has(other) and other != name]:
        raise DpcalcError("contradictory", f"is a budget, and {flag(beside[0])} belongs to another one; drop one of "
                          "them (dpcalc ledger meets several budgets at once)", flag(name))
    return Question(name, unknown=unknown, target=given[name])


def params_of(mechanism: Mechanism, asks: str, run: Params) -> dict[str, Any]:
    """The parameters of the bounds of a mechanism. Raises DpcalcError where it has no ρ, or no μ."""
    params = with_steps(mechanism, run)
    if asks not in ROUTES:
        return params
    steps, pure = params["steps"], mechanism.pure(params) if mechanism.pure is not None else None
    if asks == "rho" and mechanism.zcdp:
        return {**params, "terms": ((*mechanism.zcdp(params), steps),)}
    if asks == "mu" and mechanism.name == "gaussian":
        return {**params, "mus": ((params["sensitivity"], params["sigma"], steps),), "pure": ()}
    if pure is None:
        raise DpcalcError("unsupported", f"{mechanism.name} has no {symbol(asks)} here; give --epsilon and --delta",
                          flag(asks))
    if asks == "rho":
        return {**params, "terms": (((pure, pure), zcdp.PURE, steps),)}
    return {**params, "mus": (), "pure": ((pure, 0.0, steps),)}

"""Which question a call asks, from which of ε, δ, α, RDP and --solve are given."""

from __future__ import annotations

from dpcalc.core import noise_multiplier
from dpcalc.core.command import Command, Given
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.quantities import RDP, Quantity
from dpcalc.core.question import Question
from dpcalc.core.validate import near


def asked(command: Command, given: Given, epsilon: str = "epsilon", delta: str = "delta") -> Question:
    """The question of a call, from which of ε, δ, α, RDP and --solve are given (under these names)."""
    orders = given["orders"] or ()
    unknown = unknown_of(command, given)
    has_alpha = given["alpha"] is not None and (unknown is None or unknown.name != "alpha")
    has_epsilon, has_delta = given[epsilon] is not None, given[delta] is not None
    if has_alpha and (has_epsilon or has_delta):
        orders_too = "; --orders restricts the search over orders" if _has(command, "orders") else ""
        raise DpcalcError("contradictory", "asks for the RDP at one order, --epsilon and --delta for another guarantee"
                          + orders_too,
                          "--alpha")
    if unknown is not None:
        if has_alpha and given["rdp"] is not None:
            return Question("rdp", alpha=given["alpha"], orders=orders, unknown=unknown, target=given["rdp"])
        if has_epsilon and has_delta:
            _refuse_rdp(command, given)
            return Question("epsilon", given[epsilon], given[delta], orders=orders, unknown=unknown,
                            target=given[epsilon])
        raise DpcalcError("missing", f"needs a budget: {flag(epsilon)} and {flag(delta)}, or --alpha and --rdp",
                          "--solve")
    _refuse_rdp(command, given)
    if has_alpha:
        return Question("rdp", alpha=given["alpha"], orders=orders)
    if has_epsilon and has_delta:
        raise DpcalcError("contradictory",
                          f"with {flag(delta)} there is nothing left to compute: add --solve "
                          f"{_solvable(command, given)}, "
                          "or drop one", flag(epsilon))
    if has_delta:
        return Question("epsilon", delta=given[delta], orders=orders)
    if has_epsilon:
        return Question("delta", epsilon=given[epsilon], orders=orders)
    if command.describes and given["format"] in ("json", "jsonl"):
        for name in ("bound", "digits", "orders", "precision"):
            if given.has(name):
                raise DpcalcError("unneeded",
                                  "no bound is computed without a question (--delta, --epsilon, --alpha, --solve)",
                                  flag(name))
        return Question("guarantee")
    tv = ", --to tv (prints the total variation)" if _has(command, "to") else ""
    rdp = ", --alpha (prints the RDP)" if "--alpha" in command.asks else ""
    raise DpcalcError("missing",
                      f"nothing to compute: give {flag(delta)} (prints ε), {flag(epsilon)} (prints δ){rdp}{tv}, or a "
                      f"budget and "
                      "--solve")


def _refuse_rdp(command: Command, given: Given) -> None:
    """An RDP is a budget, and used together with --solve and --alpha only; a curve is another option."""
    if given.has("rdp") and command.option("rdp").quantity is RDP:
        raise DpcalcError("unneeded",
                          "a budget on the RDP needs --solve and --alpha; without --solve, --alpha prints the RDP",
                          "--rdp")


def _solvable(command: Command, given: Given) -> str:
    """'noise-multiplier (or sigma)': the noise first where it is Gaussian, else all that can be solved for."""
    names, mechanism = command.solvable(), given["mechanism"] or "gaussian"
    if "noise-multiplier" in names and mechanism == "gaussian":
        return "noise-multiplier (or sigma)"
    if given["mechanism"]:
        from dpcalc.accounting.mechanisms import MECHANISMS

        elsewhere = {"noise-multiplier", *(o for name, m in MECHANISMS.items() if name != mechanism for o in m.options)}
        names = tuple(name for name in names if name not in elsewhere)
    first, *others = names
    return f"{first} (or {', '.join(others)})" if others else first


def _has(command: Command, name: str) -> bool:
    return any(o.name == name for o in command.options)


def unknown_of(command: Command, given: Given) -> Quantity | None:
    """The quantity that --solve names."""
    name = given["solve"]
    if name is None:
        return None
    word = name.removeprefix("--").replace("_", "-")
    if word not in command.solvable():
        raise DpcalcError("unknown-value", f"{name!r} is not one of {', '.join(command.solvable())}"
                          f"{near(word, command.solvable())}", "--solve")
    quantity = command.option(word.replace("-", "_")).quantity
    if given.has(quantity.name):
        raise DpcalcError("contradictory", f"{quantity.option} is given and to be solved for", "--solve")
    noise_multiplier.refuse_others(quantity.name, given.provided)
    return quantity

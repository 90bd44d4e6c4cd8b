"""The question of a call of dpcalc convert, which depends on the kind of guarantee that it starts from."""

from __future__ import annotations

from dpcalc.commands.asking import read_question
from dpcalc.commands.convert_routes import is_one_sided
from dpcalc.core.command import Command, Given, require
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.question import Question


def plain_question(command: Command, given: Given) -> Question:
    """The question that --to tv or --to zcdp asks, or that ε, δ, α and --solve ask."""
    to = given["to"]
    if to == "tv":
        return Question("tv")
    if to == "zcdp":
        if given["from"] in _NOT_ALWAYS_PURE and not _is_pure(given):
            raise DpcalcError("refused",
                              "zcdp: ρ follows from pure ε, from μ-GDP and from zCDP, and not all that is given is one "
                              "of these", "--to")
        return Question("rho")
    question = read_question(command, given)
    _check_target(to, question)
    return question


_NOT_ALWAYS_PURE = ("outcomes", "parts", "rdp")


def _is_pure(given: Given) -> bool:
    """Whether the given guarantees together satisfy pure ε-DP."""
    if given["from"] == "outcomes":
        return not is_one_sided(given)
    return given["points"] is not None and not any(delta for _, delta, _ in given["points"])


def outcome_question(command: Command, given: Given) -> Question:
    """The question about outcome probabilities. Without options that ask, it is the pure ε; or the total variation,
    where an outcome is possible on one data set only and no pure ε exists."""
    if any(given[name] is not None for name in ("epsilon", "delta", "alpha", "rdp", "solve", "to")):
        return plain_question(command, given)
    return Question("tv") if is_one_sided(given) else Question("epsilon", delta=0.0)


def _check_target(to: str | None, question: Question) -> None:
    """Raises DpcalcError where --to is not the kind of guarantee that the question asks for."""
    gives = {"epsilon": "dp", "delta": "dp", "rdp": "rdp", "tv": "tv", "mu": "gdp", "rho": "zcdp"}[question.asks]
    if to is not None and to != gives:
        raise DpcalcError("contradictory",
                          f"{to} is not what the other options ask for ({gives}); --to rdp goes with --alpha, --to dp "
                          "with --delta or --epsilon", "--to")


def curve_question(command: Command, given: Given) -> Question:
    """The question about an RDP curve, which --alpha and --rdp describe: ε, δ or total variation."""
    free = given.replace({**given.values, "alpha": None, "rdp": None}, given.provided - {"alpha", "rdp"}, ())
    if given["to"] in ("tv", "zcdp"):
        return plain_question(command, free)
    question = read_question(command, free)
    _check_target(given["to"], question)
    return question


def dp_question(command: Command, given: Given) -> Question:
    """The question about (ε, δ) of every step, which --epsilon and --delta describe: that of --target-epsilon,
    --target-delta, --slack, --alpha or --to."""
    to = given["to"]
    if to == "rdp" or given["alpha"] is not None:
        _refuse_delta(given, "an (ε, δ) guarantee has no Rényi divergence; Mironov 2017, Prop. 3, has no converse "
                             "(Sordello et al. 2021, §5, prints one that is negative: −10.5 at ε = 1, δ = 1e-5, α = 2)")
        if given["alpha"] is None:
            raise DpcalcError("missing", "needed for --to rdp", "--alpha")
        return Question("rdp", alpha=given["alpha"])
    if to in ("gdp", "zcdp"):
        symbol = "μ" if to == "gdp" else "ρ"
        _refuse_delta(given, f"one (ε, δ) point does not bound the other points, so no {symbol} follows from it; from "
                             "pure ε (δ = 0) one does")
        return Question("mu" if to == "gdp" else "rho")
    if to == "tv":
        return Question("tv")
    if given["slack"] is not None:
        return _advanced_composition(given)
    if given["solve"] or given["target_delta"] is not None or given["target_epsilon"] is not None:
        return read_question(command, given.replace({**given.values, "alpha": None}, inputs=()), "target_epsilon",
                     "target_delta")
    raise DpcalcError("missing",
                      "nothing to compute: --target-delta (prints the total ε), --target-epsilon (prints the total δ), "
                      "--slack, --to tv, and for pure ε --to gdp, --to zcdp or --alpha")


def _refuse_delta(given: Given, why: str) -> None:
    """Raises DpcalcError where δ is not 0."""
    if delta := given["delta"]:
        raise DpcalcError("refused", f"δ = {delta:g} > 0: {why}", "--input" if given.inputs else "--delta")


def _advanced_composition(given: Given) -> Question:
    """The question for the total ε at the total δ = Tδ + δ′, for the slack δ′ of advanced composition."""
    from dpcalc.numerics.rounding import ratio_up, sum_up

    for target in ("target_delta", "target_epsilon"):
        if given[target] is not None:
            raise DpcalcError("contradictory", "--slack already says the total δ = Tδ + δ′, and asks for ε",
                              flag(target))
    require(given, ("epsilon", "delta"), "with --from dp")
    total = sum_up((ratio_up((given["steps"], given["delta"])), given["slack"]))
    if total >= 1:
        raise DpcalcError("out-of-range", f"Tδ + δ′ = {total:g} is not below 1", "--slack")
    return Question("epsilon", delta=total)

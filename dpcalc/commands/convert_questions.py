"""The question of a call of dpcalc convert, which depends on the kind of guarantee that it starts from."""

from dpcalc.accounting.guarantee_words import delta_result
from dpcalc.bounds.conversions import group_privacy
from dpcalc.commands.asking import read_question
from dpcalc.commands.convert import COMMAND
from dpcalc.commands.convert_routes import is_one_sided
from dpcalc.core.checks import refuse, require
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, NoSolution, flag
from dpcalc.core.results import Question
from dpcalc.numerics.rounding import ratio_up, sum_up


def plain_question(given: Given) -> Question:
    """The question that --to tv or --to zcdp asks, or that ε, δ, α and --solve ask."""
    to = given["to"]
    if to == "tv":
        return Question("tv")
    if to in _NAMES:
        if reason := _not_implied(given, to):
            raise DpcalcError("refused", reason, "--to")
        return Question("mu" if to == "gdp" else "rho")
    if to == "rdp" and not any(given[name] is not None for name in ("alpha", "delta", "epsilon")):
        if given["from"] == "rdp":
            raise DpcalcError("refused", "the guarantee is RDP already; ask with --delta or --epsilon", "--to")
        raise DpcalcError("missing", _NO_ALPHA, "--alpha")
    if to == "dp" and given["delta"] is None and given["epsilon"] is None:
        raise DpcalcError("missing", "add --delta (prints ε) or --epsilon (prints δ); --to dp needs one", "--to")
    question = read_question(COMMAND, given)
    _check_target(to, question)
    return question


_NO_ALPHA = "add --alpha, the Rényi order; --to rdp needs it"
_NAMES = {"gdp": "GDP", "zcdp": "zCDP"}  # what only some guarantees imply


def _not_implied(given: Given, to: str) -> str:
    """Why no theorem leads from the given guarantees together to GDP or zCDP, and what can be asked instead; empty
    where one does."""
    name, ways = _NAMES[to], "ask with --delta, --epsilon or --alpha"
    match given["from"]:
        case "gdp":
            return ""
        case "zcdp":
            return "" if to == "zcdp" else f"zCDP does not imply {name}; {ways}"
        case "rdp":
            return f"an RDP curve does not imply {name}; ask with --delta or --epsilon"
        case "outcomes":
            return f"outcomes without a pure ε do not imply {name}; {ways}" if is_one_sided(given) else ""
        case "parts" if given[{"gdp": "pure", "zcdp": "terms"}[to]] is not None:
            return ""
    if all(g.kind == "tv" for g in given.inputs):
        return f"a total variation does not imply {name}; ask with --delta or --epsilon"
    return f"no theorem in dpcalc turns all of these guarantees into {name}; {ways}"


def outcome_question(given: Given) -> Question:
    """The question about outcome probabilities. Without options that ask, it is the pure ε; or the total variation,
    where an outcome is possible on one data set only and no pure ε exists."""
    if any(given[name] is not None for name in ("epsilon", "delta", "alpha", "rdp", "solve", "to")):
        return plain_question(given)
    return Question("tv") if is_one_sided(given) else Question("epsilon", delta=0.0)


def _check_target(to: str | None, question: Question) -> None:
    """Raises DpcalcError where --to is not the kind of guarantee that the question asks for."""
    gives = {"epsilon": "dp", "delta": "dp", "rdp": "rdp", "tv": "tv", "mu": "gdp", "rho": "zcdp"}[question.asks]
    if to is not None and to != gives:
        raise DpcalcError("contradictory", f"{to} does not go with options that ask for {gives}; drop --to", "--to")


def curve_question(given: Given) -> Question:
    """The question about an RDP curve, which --alpha and --rdp describe: ε, δ or total variation."""
    free = given.replace({**given.values, "alpha": None, "rdp": None}, given.provided - {"alpha", "rdp"}, ())
    if given["to"] in ("tv", "zcdp", "gdp", "rdp"):
        return plain_question(free)
    question = read_question(COMMAND, free)
    _check_target(given["to"], question)
    return question


def mixture_question(given: Given) -> Question:
    """The question about a mixture of mechanisms with known RDP at one order: its RDP there."""
    require(given, ("alpha",), "with --weights")
    refuse(given, ("delta", "epsilon"), "not used with --weights, which prints the RDP of the mixture; pipe its JSON "
                                        "into dpcalc convert - {option}")
    if len(given["alpha"]) != 1:
        raise DpcalcError("contradictory", "give one order; --rdp has one value for each of the --weights", "--alpha")
    _check_target(given["to"], question := Question("rdp", alpha=given["alpha"][0]))
    return question


def dp_question(given: Given) -> Question:
    """The question about (ε, δ) of every step, which --epsilon and --delta describe: that of --target-epsilon,
    --target-delta, --slack, --alpha or --to."""
    to = given["to"]
    if to == "rdp" or given["alpha"] is not None:
        _refuse_delta(given, "an (ε, δ) guarantee implies no RDP, as Mironov 2017, Prop. 3, has no converse; only "
                             "pure ε does")
        if given["alpha"] is None:
            raise DpcalcError("missing", _NO_ALPHA, "--alpha")
        return Question("rdp", alpha=given["alpha"])
    if to in ("gdp", "zcdp"):
        _refuse_delta(given, f"an (ε, δ) guarantee does not imply {_NAMES[to]}; only pure ε does")
        return Question("mu" if to == "gdp" else "rho")
    if to == "tv":
        return Question("tv")
    if given["slack"] is not None:
        return _advanced_composition(given)
    if total := _about_total(given):
        return total
    raise DpcalcError("missing",
                      "nothing to compute: add --target-delta (prints the total ε), --target-epsilon (prints the total "
                      "δ), --slack or --to tv; for pure ε also --to gdp, --to zcdp or --alpha")


def group_question(given: Given) -> Question:
    """The question about groups of records: that of --target-epsilon or --target-delta, or of --solve. Of a single
    (ε, δ), without options that ask, it is the least ε with its δ, both of the group."""
    if given["to"] not in (None, "dp"):
        raise DpcalcError("refused", "the generic bound for groups of records gives (ε, δ) only", "--to")
    if total := _about_total(given):
        return total
    if given["profile_points"] and len(given["profile_points"]) > 1:
        raise DpcalcError("missing", "nothing to compute: give --delta (prints ε) or --epsilon (prints δ)")
    require(given, ("epsilon", "delta"), "with --group-size")
    epsilon, log_delta = group_privacy.of_group(given["epsilon"], given["delta"], given["group_size"])
    if log_delta >= 0:
        raise NoSolution("no-solution", f"for groups of {given['group_size']} records the δ of the generic bound is 1 "
                         "or more, which says nothing; the group bound of the mechanism itself is smaller",
                         "--group-size")
    return Question("epsilon", delta=delta_result(log_delta, epsilon)["delta"])


def _about_total(given: Given) -> Question | None:
    """The question of --target-epsilon, --target-delta or --solve, where one of them is given."""
    if given["solve"] or given["target_delta"] is not None or given["target_epsilon"] is not None:
        return read_question(COMMAND, given.having(alpha=None), "target_epsilon", "target_delta")
    return None


def _refuse_delta(given: Given, why: str) -> None:
    """Raises DpcalcError where δ is not 0."""
    if delta := given["delta"]:
        raise DpcalcError("refused", f"δ = {delta:g} > 0: {why}", "--input" if given.inputs else "--delta")


def _advanced_composition(given: Given) -> Question:
    """The question for the total ε at the total δ = Tδ + δ′, for the slack δ′ of advanced composition."""
    for target in ("target_delta", "target_epsilon"):
        if given[target] is not None:
            raise DpcalcError("contradictory", "not used with --slack, which fixes the total δ = Tδ + δ′; drop one",
                              flag(target))
    require(given, ("epsilon", "delta"), "with --from dp")
    total = sum_up((ratio_up((given["steps"], given["delta"])), given["slack"]))
    if total >= 1:
        raise DpcalcError("out-of-range", f"the total δ = Tδ + δ′ = {total:g} is not below 1; give a smaller "
                                          "--slack", "--slack")
    return Question("epsilon", delta=total)

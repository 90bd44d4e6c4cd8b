"""The parts that the commands about the last iterate add to their rows: notes on the noise and the first iterate, the
guarantee for the next command, the worst record, and the limit of a noise schedule.
"""

from collections.abc import Mapping, Sequence
from math import exp, inf, log
from typing import Any

from dpcalc.accounting.evaluate import evaluate
from dpcalc.accounting.guarantee_words import delta_result
from dpcalc.accounting.orders import own_params
from dpcalc.bounds.online._engine.levels import Listed
from dpcalc.bounds.pnsgd.contraction import RELEASED
from dpcalc.bounds.start import START
from dpcalc.commands.asking import key_of_rows
from dpcalc.core.bound import Bound, Params, ProfileBound
from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import human, human_log, human_probability, plain
from dpcalc.core.quantities import symbol
from dpcalc.core.results import OneRecord, Question, Row, for_one, guarantee_of
from dpcalc.core.run import Run
from dpcalc.numerics.elementary import LARGEST_EXPONENT
from dpcalc.numerics.root import Unreachable

_AS_SHARP = 1e-9  # relative difference up to which two bounds count as equally tight


def noise_note(noise: str) -> str:
    """The note on the meaning of the noise level."""
    level = "σ is" if noise == "gaussian" else "v is the scale of"
    return f"{level} the noise on every gradient; the noise on the iterate is η times that"


def setting_note(head: Row) -> tuple[str, ...]:
    """What the theorem of a row assumes of the losses and of the order of the records, which no option states."""
    assumed = [text for theorem in head.route.theorems for text in theorem.theorem.assumptions
               if text.startswith(("the loss of every record", "the order is"))]
    return (f"the bound assumes that {' and that '.join(dict.fromkeys(assumed))}",) if assumed else ()


def start_note(found: Sequence[Row]) -> tuple[str, ...]:
    """The assumption on the first iterate, which no output of a run shows, where a theorem of these rows needs it."""
    needs = any(START in theorem.theorem.assumptions for row in found for theorem in row.route.theorems)
    has_set = any(row.params.get("diameter") is not None for row in found)
    where = "lie in the constraint set K, and neither may" if has_set else "not"
    return (f"the first iterate w₀ must {where} depend on the data",) if needs else ()


# --- the guarantee ---------------------------------------------------------------------------------------------------


def guarantee(run: Run, found: Sequence[Row]) -> dict[str, Any]:
    """The guarantee that a next command can read, of the record at an index if one was given: μ-GDP, which holds at
    every δ, where a bound that proves it is as sharp as the headline; else the point."""
    head, key = found[0].result, key_of_rows(run.question)
    of_record = {} if run["index"] is None else {"index": [run["index"]]}
    for row in found:
        bound = row.route.bound
        if not isinstance(bound, ProfileBound) or bound.mu is None or key not in row.result:
            continue
        if abs(row.result[key] - head[key]) > _AS_SHARP * abs(head[key]):
            continue
        if 0 < (mu := bound.mu.mu(**own_params(bound, found[0].params))) < inf:
            return {"kind": "gdp", "mu": mu, **of_record}
    return {**point_guarantee(run.question, head), **of_record}


def point_guarantee(question: Question, result: Mapping[str, float]) -> dict[str, Any]:
    """The RDP at one order, or the (ε, δ), that was computed."""
    if question.asks == "rdp":
        return {"kind": "rdp", "alpha": [question.alpha], "rdp": [result["rdp"]]}
    return guarantee_of(result.get("epsilon", question.epsilon), result.get("delta", question.delta))


# --- the worst record ------------------------------------------------------------------------------------------------


def epsilon_for_companions(run: Run, head: Row) -> float | None:
    """The ε at which companions are computed: that of the budget, where a parameter was solved for, else that of the
    answer; None where neither has one."""
    return run.question.epsilon if run.unknown else head.result.get("epsilon", run.question.epsilon)


def worst_index(params: Params, head: Row) -> int:
    """The place of the worst record: the last one, which no step follows, or, of a run that stops at random, the first
    one, which the most steps may follow."""
    return 1 if head.route.bound.theorem.released == RELEASED else int(params["n"])


def worst_log_delta(run: Run, head: Row, epsilon: float) -> tuple[int, float]:
    """The place of the worst record and its log δ at ε, by the bound of the headline."""
    bound, index = head.route.bound, worst_index(run.params, head)
    if index == run["index"] and 0 < epsilon == head.result.get("epsilon"):
        return index, log_delta_of(head.result)  # the guarantee itself
    of_worst = {**run.params, "index": index}
    if bound.kind != "profile":
        return index, log_delta_of(evaluate(head.route, of_worst, Question("delta", epsilon=epsilon)).result)
    return index, bound.value(epsilon, **own_params(bound, of_worst))


def log_delta_of(result: Mapping[str, float]) -> float:
    """log δ of a result that has δ."""
    return result["log_delta"] if "log_delta" in result else log(result["delta"]) if result["delta"] > 0 else -inf


def worst_companions(run: Run, head: Row, params: Params, worst: int,
                     what: str = "record") -> tuple[dict[str, float], OneRecord]:
    """The asked quantity for the worst record (at a solution, the ε at the δ of the budget), by the bound of the
    headline: as companion numbers and in words. `params` are those of the worst record."""
    asks = run.question.asks
    result = evaluate(head.route, params, run.question._replace(unknown=None, target=None)).result
    value = human_probability(result["delta"], result["log_delta"]) if asks == "delta" else human(result[asks])
    only = for_one(run["index"], worst, f"{symbol(asks)} = {value}", what)
    return {"worst_index": worst, f"worst_{asks}": result[asks]}, only


def worst_companions_at_epsilon(run: Run, head: Row, epsilon: float, worst: float,
                                log_delta: float) -> tuple[dict[str, float], OneRecord]:
    """The worst record with its δ at ε (of a solution, the ε of the budget), and its ε at δ where the question is for
    ε: as companion numbers and in words.

    The δ is never below that of the record of the question, and may be rounded up more coarsely."""
    result, found, question = delta_result(min(0.0, log_delta), epsilon), head.result, run.question
    if 0 < epsilon == found.get("epsilon") and (found_log_delta := log_delta_of(found)) > log_delta:
        result = {"delta": found["delta"], "log_delta": found_log_delta}
    delta = human_probability(result["delta"], result["log_delta"])
    numbers = {"worst_index": worst, "worst_delta": result["delta"], "worst_log_delta": result["log_delta"]}
    # an ε that was given is printed as it was given, one that was computed with a few digits
    epsilon_text = plain(epsilon) if epsilon in (question.epsilon, question.target) else human(epsilon)
    words = f"δ = {delta}" if question.asks == "delta" else f"δ = {delta} at ε = {epsilon_text}"
    if question.asks == "epsilon" and not question.unknown:
        worst_epsilon = _worst_epsilon(run, head, worst)
        if worst_epsilon is not None:
            numbers["worst_epsilon"] = worst_epsilon
            words = f"ε = {human(worst_epsilon)}"
    return numbers, for_one(run["index"], worst, words)


def _worst_epsilon(run: Run, head: Row, worst: float) -> float | None:
    """The ε of the worst record at the δ of the question; None where the worst record depends on ε, or there is no such
    ε."""
    if worst == run["index"]:
        return head.result["epsilon"]
    # another record may be the worst one at another ε where the noise of every step is listed
    if worst == inf or isinstance(run.params.get("levels"), Listed):
        return None
    try:
        found = evaluate(head.route, {**run.params, "index": int(worst)}, run.question).result["epsilon"]
    except (DpcalcError, Unreachable, OverflowError, ZeroDivisionError):
        return None
    return max(found, head.result["epsilon"])


# --- the limit of a schedule -----------------------------------------------------------------------------------------


def limit_numbers(log_limit: float) -> dict[str, float]:
    """δ*, the limit of δ as n → ∞, from its logarithm: 0 only where the limit is 0."""
    if log_limit == -inf:
        return {"delta_limit": 0.0}
    return {"delta_limit": max(exp(log_limit), 5e-324), "log_delta_limit": log_limit}


def limit_companions(log_limit: float, epsilon: float, params: Params, bound: Bound,
                     what: str) -> tuple[dict[str, float], str]:
    """The limit δ* as n → ∞ (`what` is its description), and the factor by which the δ of a bound at this n is above
    it: as companion numbers and in words."""
    numbers = limit_numbers(log_limit)
    as_double = abs(log_limit) < LARGEST_EXPONENT or log_limit == -inf
    limit = human(numbers["delta_limit"]) if as_double else human_log(log_limit)
    note = f"δ* = {limit} is {what}, and not a guarantee"
    if log_limit == -inf:
        return numbers, note
    above = bound.value(epsilon, **own_params(bound, params)) - log_limit
    numbers["limit_factor"] = exp(above) if above < LARGEST_EXPONENT else inf
    in_full = abs(above) < LARGEST_EXPONENT or above == -inf
    times = f"{numbers['limit_factor']:.4g}" if in_full else f"e^{above:.6g}"
    return numbers, f"{note}; at this n, {bound.name} gives {times} times it"

"""Warnings and notes beside an answer of any command whose number promises little."""

from collections.abc import Sequence
from math import inf
from typing import Any

from dpcalc.core.numbers import human
from dpcalc.core.relations import RELATIONS
from dpcalc.core.results import Answer, for_some

# By the trade-off function of (ε, δ)-DP (Kairouz, Oh & Viswanath 2015) the true-positive rate at the false-positive
# rate f is at most 1 − e^{−ε}(1 − δ − f). For a larger ε that is above 99.9999997 %: in six digits, rounded up, 100 %.
LARGE_EPSILON = 20.0
_SETTINGS = ("schedule", "feedback", "audit")  # the kinds of JSON that are no guarantee: settings of noise, audits
_CONDITIONS = ("the bound assumes ", "the first iterate ")  # how the notes begin that limit what a guarantee covers
FALSE_POSITIVES = 0.001  # the false-positive rate at which attacks are compared (Carlini et al. 2022, arXiv:2112.03570)


def with_cautions(answer: Answer, inputs: Sequence[Any]) -> Answer:
    """The answer with a warning for a large δ, a note for a large ε, and the records that it is about."""
    if answer.rows:
        point, own = _point(answer), answer.parameters
        delta = point[1] if point else own.get("delta")
        warnings = (*answer.warnings, *large_delta(answer.headline.result.get("n", own.get("n")), delta))
        answer = answer._replace(warnings=warnings, notes=(*_large_epsilon(answer), *answer.notes))
    return of_records(answer, inputs)


def of_records(answer: Answer, inputs: Sequence[Any]) -> Answer:
    """The answer, marked with what a next command must know of its neighbouring data sets: their relation, what must
    hold for it, the size of the groups of records that they differ in, from its own option or from its inputs, and the
    indices of the records that its inputs are about."""
    size = int(answer.parameters.get("group_size") or max((read.size_of_group for read in inputs), default=1))
    marks: dict[str, Any] = {"group_size": size} if size > 1 else {}
    if answer.adjacency in RELATIONS:
        marks["adjacency"] = answer.adjacency
    if promises := (*answer.promises, *(note for note in answer.notes if note.startswith(_CONDITIONS))):
        marks["promises"] = list(promises)
    if marks and answer.guarantee and answer.guarantee["kind"] not in _SETTINGS:
        answer = answer._replace(guarantee={**answer.guarantee, **marks})
    found = sorted({i for read in inputs for one in (read, *getattr(read, "candidate", ())) for i in one.index or ()})
    if not found:
        return answer
    return answer._replace(guarantee=answer.guarantee and {**answer.guarantee, "index": found}, only=for_some(found))


def _point(answer: Answer) -> tuple[float, float] | None:
    """The (ε, δ) of an answer, or of the budget that a solution meets; None where another quantity is asked for."""
    question, result = answer.question, answer.headline.result
    epsilon, delta = result.get("epsilon", question.epsilon), result.get("delta", question.delta)
    return None if question.asks not in ("epsilon", "delta") or epsilon is None or delta is None else (epsilon, delta)


def large_delta(n: float | None, delta: float | None) -> tuple[str, ...]:
    """A warning where δ is at least 1/n; nothing where one of them is unknown."""
    if n is None or n == inf or delta is None or delta * n < 1:
        return ()
    return (f"δ = {human(delta)} is at least 1/n = {1 / n:.6g}: publishing one random record in full would satisfy it",)


def _large_epsilon(answer: Answer) -> tuple[str, ...]:
    """A note on what an attack may find where ε is large."""
    point = _point(answer)
    if point is None or answer.headline.route.bound.status != "proven" or not LARGE_EPSILON < point[0] < inf:
        return ()
    return (f"ε = {human(point[0])} promises next to nothing: by itself it allows an attack with a true-positive rate "
            f"of 100 % at a false-positive rate of {100 * FALSE_POSITIVES:g} %",)

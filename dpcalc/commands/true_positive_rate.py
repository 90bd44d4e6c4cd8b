"""The largest true-positive rate of any attack against what an answer guarantees, at one false-positive rate."""

from contextlib import suppress
from math import exp, nextafter
from typing import Any

from dpcalc.accounting.cautions import FALSE_POSITIVES
from dpcalc.commands import calculator
from dpcalc.commands.ask import answer as answer_of
from dpcalc.core.errors import DpcalcError
from dpcalc.core.results import Answer
from dpcalc.numerics.elementary import LARGEST_EXPONENT
from dpcalc.numerics.root import Unreachable

_MARGIN = 1e-15  # relative: more than the rounding errors of one exponential, two products and two sums


def true_positive_rate(answer: Answer) -> float:
    """The rate at the false-positive rate FALSE_POSITIVES: the least by the whole trade-off of the guarantee, as
    `dpcalc tv --fpr` gives it, and by the (ε, δ) of the answer. Rounded up; 1 where nothing better is known."""
    rates = [1.0]
    epsilon, delta = (answer.headline.result.get(name, getattr(answer.question, name)) for name in ("epsilon", "delta"))
    if answer.question.asks in ("epsilon", "delta") and epsilon is not None and delta is not None:
        rates.append(rate_of_point(epsilon, delta))
    with suppress(DpcalcError, Unreachable, OverflowError, ZeroDivisionError):  # no trade-off is known of the guarantee
        rates.append(float(_ask(answer).extra["tpr"]))
    return min(rates)


def rate_of_point(epsilon: float, delta: float, fpr: float = FALSE_POSITIVES) -> float:
    """min(e^ε·f + δ, 1 − e^{−ε}(1 − δ − f)), the largest true-positive rate under (ε, δ)-DP (Kairouz, Oh & Viswanath
    2015), rounded up."""
    exponent = min(epsilon, LARGEST_EXPONENT)  # beyond it the rate is 1 − e^{−ε}(1 − δ − f) anyway
    by_loss = (exp(exponent) * fpr + delta) * (1 + _MARGIN)
    missed = max(0.0, 1 - delta - fpr - _MARGIN) * exp(-exponent) * (1 - _MARGIN)
    missed = missed if epsilon == exponent else 0.0
    return min(1.0, by_loss, nextafter(1 - missed, 2.0))


def _ask(answer: Answer) -> Answer:
    """The answer of dpcalc tv about the same guarantee. A question about total variation without a solution is asked
    again, because its own guarantee says less than its bounds."""
    from dpcalc.accounting.guarantee import read  # imports pydantic

    options: dict[str, Any]
    if answer.command in ("tv", "convert") and answer.inputs and answer.question.unknown is None:
        inputs = tuple(read(g, "the input") for g in answer.inputs)
        options = {k: v for k, v in answer.options.items() if k in ("steps", "adjacency", "group_size")}
    elif answer.command == "tv" and answer.question.unknown is None:
        options, inputs = {k: v for k, v in answer.options.items() if k not in ("roc", "prior")}, ()
    else:
        options, inputs = {}, (read(answer.guarantee, "the guarantee"),)
    return answer_of(calculator("tv"), {**options, "fpr": FALSE_POSITIVES}, inputs)

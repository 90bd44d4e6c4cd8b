"""The budget of a question in words, and the parameter that is solved for."""

from dpcalc.core.numbers import human, plain
from dpcalc.core.quantities import Quantity, symbol
from dpcalc.core.results import Question
from dpcalc.numerics.rounding import decimal, decimal_up


def noun(unknown: Quantity) -> str:
    """A parameter to be solved for in a sentence, for example 'noise multiplier' or 'number of steps'."""
    counted = {"steps": "steps", "epochs": "epochs", "n": "records", "people": "people"}.get(unknown.name)
    return f"number of {counted}" if counted else unknown.name.replace("_", " ")


def budget(question: Question) -> str:
    """The budget of a question in a sentence, for example 'ε ≤ 1 at δ = 1e-05', or 'ε ≤ 1' for pure DP."""
    asks, at = question.asks, ""
    if asks == "epsilon" and question.delta:
        at = f" at δ = {human(question.delta)}"
    elif asks == "delta":
        at = f" at ε = {plain(question.epsilon or 0.0)}"
    elif asks == "rdp":
        at = f" at α = {plain(question.alpha or 0.0)}"
    elif asks == "tpr":
        at = f" at FPR = {plain(question.fpr or 0.0)}"
    name, sign, number = limit(question)
    return f"{symbol(name)} {sign} {plain(number)}{at}"


def limit(question: Question) -> tuple[str, str, float]:
    """The budget of a question: the name of a quantity, ≤ or ≥, and a number."""
    if question.asks == "drop_probability":  # a key is dropped at most as often as the least keep probability leaves
        return "keep_probability", "≥", decimal_up(1 - decimal(question.target or 0.0))
    return question.asks, "≤", question.target or 0.0

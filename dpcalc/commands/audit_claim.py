"""What a program promises, beside what an attack on it achieved: its ε at δ, and the best attack that it allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dpcalc.accounting.cautions import with_cautions
from dpcalc.commands.convert import COMMAND as CONVERT
from dpcalc.commands.tv import COMMAND as TV
from dpcalc.core.checks import refuse
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import human, plain
from dpcalc.core.results import Answer
from dpcalc.core.validate import validate


class Claim(NamedTuple):
    """The guarantees that a program promises, with an answer about them that says for which neighbours they are and
    what must hold; and their ε at the δ of the audit, None where they give none, with the reason."""

    inputs: tuple[Any, ...]
    about: Answer
    epsilon: float | None
    delta: float
    why_not: str = ""
    adjacency: str | None = None  # that --adjacency converts it to

    @property
    def in_words(self) -> str:
        """The claim, as 'ε = 2.98888 at δ = 1e-05', to stand behind 'the claim, '."""
        if self.epsilon is None:
            return f"which has no ε at this δ ({self.why_not})"
        several = f" of the {len(self.inputs)} inputs together" if len(self.inputs) > 1 else ""
        return f"ε = {human(self.epsilon)} at δ = {plain(self.delta)}{several}"

    def largest_rates(self, rates: Sequence[float]) -> list[float]:
        """The largest true-positive rate of any attack on what is promised, at each of these false-positive rates,
        rounded up; 1 at a rate of 1."""
        inside = tuple(rate for rate in rates if rate < 1)
        asked = {"fpr": inside, "adjacency": self.adjacency}
        found = TV.answer(validate(TV, asked, self.inputs)).roc if inside else None
        known = dict(zip(inside, (row[1] for row in found.rows), strict=True)) if found else {}
        return [known.get(rate, 1.0) for rate in rates]


def delta_of(given: Given) -> float:
    """The δ of the audit: the one that is given, or that of the claim. Raises DpcalcError where there is none."""
    if given.has("delta"):
        return float(given["delta"])
    known = [g.at_delta if g.at_delta is not None else getattr(g, "delta", None) for g in given.inputs]
    deltas = {x for x in known if isinstance(x, float)}
    if len(deltas) == 1 and None not in known:
        return deltas.pop()
    why = "the claim names none, or several" if given.inputs else "a claim, as FILE or - for a pipe, has one"
    raise DpcalcError("missing", f"needed: the δ of the bound ({why}); well below 1/n, or 0 for pure differential "
                      "privacy", "--delta")


def claim_of(given: Given, delta: float) -> Claim | None:
    """What the inputs, or --epsilon at δ, promise; None where nothing is claimed."""
    if given.inputs and given.has("epsilon"):
        raise DpcalcError("contradictory", "the claim is the input; drop one of them", "--epsilon")
    inputs = given.inputs
    if given.has("epsilon"):
        from dpcalc.accounting.guarantee import Dp

        inputs = (Dp(kind="dp", epsilon=given["epsilon"], delta=delta),)
    if not inputs:
        refuse(given, ("adjacency",), "is about the claim; give the result that was audited, or --epsilon")
        return None
    known = {"adjacency": given["adjacency"]}
    try:
        found = with_cautions(CONVERT.answer(validate(CONVERT, {"delta": delta, **known}, inputs)), inputs)
        return Claim(inputs, found, found.value, delta, **known)
    except DpcalcError as error:
        if error.option not in ("--delta", "--target-delta"):
            raise
        found = with_cautions(TV.answer(validate(TV, known, inputs)), inputs)
        return Claim(inputs, found, None, delta, error.message, **known)

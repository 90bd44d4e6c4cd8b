"""The sentences of a privacy statement on noise that is correlated between steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpcalc.accounting.schemes.record import NOT_SHUFFLED
from dpcalc.core.numbers import human_claimed, plain
from dpcalc.core.results import Answer
from dpcalc.output.values import stated

Values = Mapping[str, Any]
_MOST_NAMED = 8  # numbers that are named


def feedback(answer: Answer, values: Values) -> list[str]:
    """The noise of dpcalc noise-feedback, the steps that use a record, and the curvatures."""
    part = answer.extra["feedback"]
    back = {0.0: "", 1.0: ", and taken back at the next one"}.get(
        part, f", and the part {plain(part)} of it is taken back at the next one")
    return [f"Gaussian noise of standard deviation {stated(answer, 'sigma', values)} is added to the iterate at each "
            f"of {stated(answer, 'steps', values)} steps{back}.",
            "" if values.get("used_at") else "A record is used at one step only.",
            _curvatures(values.get("curvature") or ())]


def _curvatures(found: tuple[float, ...]) -> str:
    """The curvatures, or their number and range where they are many."""
    if len(found) > _MOST_NAMED:
        return f"There are {len(found)} curvatures, from {plain(min(found))} to {plain(max(found))}."
    if len(found) == 1:
        return f"The curvature is {plain(found[0])}."
    return f"The curvatures are {_numbers(found)}." if found else ""


def correlated(answer: Answer, values: Values) -> list[str]:
    """The noise of dpcalc correlated, and which steps use a record."""
    steps, numbers = stated(answer, "steps", values), answer.extra
    sensitivity = human_claimed(numbers["sensitivity"], 1e-12)
    noise = (f"Gaussian noise of standard deviation {stated(answer, 'sigma', values)} clipping norms is drawn at each "
             f"of {steps} steps, {_strategy(values)}, and added to the sum of clipped gradients; the sensitivity is "
             f"{sensitivity} clipping norm{'' if sensitivity == '1' else 's'}.")
    if values.get("sampling_rate") is not None:
        [part] = answer.guarantee["mechanisms"]
        if part["count"] == values["steps"]:
            return [noise, f"Each record is in a batch with probability {part['sampling']['rate']:.6g}, independently; "
                           f"{NOT_SHUFFLED}"]
        return [noise, "The records form fixed groups of the same size, from which Poisson batches are drawn in turn: "
                       f"each record of the group is in the batch with probability {part['sampling']['rate']:.6g}, so "
                       f"that {part['count']} steps may use it (Choquette-Choo et al. 2023); {NOT_SHUFFLED}"]
    if values.get("separation") is None:
        return [noise, "Each record takes part in one step."]
    often = f" at most {values['participations']}" if values.get("participations") is not None else ""
    apart = "a multiple of" if values.get("order") == "cyclic" else "at least"
    return [noise, f"Each record takes part in{often} steps that are {apart} {values['separation']} apart, whatever "
                   "the data."]


def _strategy(values: Values) -> str:
    """How the noise is correlated."""
    name, r = values.get("strategy"), values.get("contraction")
    if name == "independent":
        return "independently of the other steps"
    if name is None:
        return f"correlated between steps by a matrix with {len(values['coefficients'])} given coefficients"
    if name == "blt":
        scales, decays = (_numbers(values[key]) for key in ("blt_scale", "blt_decay"))
        return f"correlated between steps by the strategy blt with scales {scales} and decays {decays}"
    return f"correlated between steps by the strategy {name}" + (f" for the contraction {plain(r)}" if r else "")


def _numbers(found: Sequence[float]) -> str:
    """The numbers as a list in words, or how many they are."""
    if len(found) > _MOST_NAMED:
        return f"that are {len(found)} numbers"
    *others, last = map(plain, found)
    return f"{', '.join(others)} and {last}" if others else last

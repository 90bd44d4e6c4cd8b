"""The words of a plot: its axes, and its subtitle (the fixed parameters)."""

import re
import textwrap
from collections.abc import Collection, Mapping
from typing import Any

from dpcalc.core import quantities as q
from dpcalc.core.command import Command
from dpcalc.core.quantities import Quantity
from dpcalc.core.results import Answer
from dpcalc.output.sweep_words import conditions

# Quantities that may be on an axis without being an option of the command.
_MORE = (q.EPSILON, q.DELTA, q.ALPHA, q.RDP, q.TV, q.TPR, q.FPR, q.MU, q.SIGMA, q.SCALE, Quantity("step", "step", "j"),
         Quantity("noise_within", "half-width of the noise"), Quantity("drop_probability", "drop probability"),
         Quantity("epsilon_lower", "lower bound on the privacy loss", "ε"))
# The words of an axis, where the help of the quantity is too long for it.
_WORDS = {"tv": "total variation distance", "fpr": "false-positive rate", "tpr": "true-positive rate", "sigma": "noise",
          "scale": "noise scale", "c1": "scale of the noise schedule", "c2": "offset of the noise schedule",
          "tau": "share of the records in a pass", "constant": "constant of the conjecture", "rdp": "Rényi divergence",
          "noise_multiplier": "noise multiplier", "sensitivity": "sensitivity", "prior": "prior probability",
          "sampling_rate": "sampling rate", "decay": "decay exponent", "epochs": "epochs", "confidence": "confidence",
          "probability": "truth probability", "target_epsilon": "privacy loss", "flip_probability": "flip probability",
          "step_epsilon": "privacy loss of a step", "categories": "categories", "target_delta": "failure probability"}


def _quantity(command: Command, name: str) -> Quantity:
    return next(x for x in (*(o.quantity for o in command.all_options()), *_MORE) if x.name == name)


def symbol(command: Command, name: str) -> str:
    """The symbol of an option, or its name."""
    return _quantity(command, name).symbol or name


def axis_label(command: Command, name: str) -> str:
    """The label of an axis, as 'noise σ [units of the sensitivity]'."""
    quantity = _quantity(command, name)
    words = _WORDS.get(name) or quantity.brief
    trains = any(o.name == "lipschitz" for o in command.options)
    unit = "units of the gradient" if quantity.unit and trains else quantity.unit
    return " ".join(part for part in (words, quantity.symbol, f"[{unit}]" if unit else "") if part)


def subtitle(command: Command, raw: Mapping[str, Any], answer: Answer, swept: Collection[str], grid: bool) -> str:
    """The fixed parameters, as 'subsample, poisson, gaussian: n = 60000, b = 256'."""
    # orders and precision change how the answer is computed, not the question
    known = {*swept, *conditions(answer, swept), "orders", "precision"}
    options = {**{o.name: o.quantity for o in command.options},
               **{name: _quantity(command, name) for name in ("epsilon", "delta", "alpha", "rdp")}}
    fixed = {name: quantity for name, quantity in options.items() if name not in known}
    choices = (_CHOICES.get(name, "{}").format(text) for name, quantity in fixed.items()
               if quantity.kind == "choice" and (text := answer.parameters.get(name)))
    texts = {name: str(raw[name]) for name, quantity in fixed.items()
             if quantity.kind != "choice" and raw.get(name) not in (None, ())}
    numbers = (f"{fixed[name].symbol or name} = {text if len(text) <= 24 else f'{text[:23]}…'}"
               for name, text in texts.items())
    head, tail = ", ".join((command.name, *choices)), ", ".join(numbers)
    line = f"{head}: {tail}" if tail else head
    return f"{line} (best bound at each point)" if grid and not raw.get("bound") else line


_CHOICES = {"order": "{} order", "from": "from {}", "to": "to {}", "adjacency": "{} neighbours"}


_POWER = re.compile(r"(?<![\w.])(-?)(\d+(?:\.\d+)?)e([+-]?)0*(\d+)(?![\w.])")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def in_powers(text: str) -> str:
    """The text with its numbers as people write them: 10⁻⁵ for 1e-05, and 2.5·10⁶ for 2.5e6."""
    text = re.sub(r"(?<![\w.])0\.0001(?![\w.])", "1e-4", text)
    return _POWER.sub(lambda found: found[1] + ("" if found[2] == "1" else f"{found[2]}·") + "10"
                      + (found[3] + found[4]).removeprefix("+").translate(_RAISED), text)


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most `width`, not broken around ' = '."""
    lines = textwrap.wrap(text.replace(" = ", "\u00a0=\u00a0"), width, break_on_hyphens=False)
    return [line.replace("\u00a0", " ") for line in lines]

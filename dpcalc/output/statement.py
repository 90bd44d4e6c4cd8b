"""A privacy statement: the paragraphs about an answer that a paper or a model card can use as they are.

It says what guidance on reporting asks for (Ponomareva et al. 2023, "How to DP-fy ML", arXiv:2303.00654): the
guarantee, the unit of privacy, the adjacency, what is released, the accesses to the data that are covered, how batches
are drawn, how the number was computed, and how to check it.
"""

from __future__ import annotations

import re
from decimal import Decimal

from dpcalc import __version__
from dpcalc.accounting.cautions import FALSE_POSITIVES
from dpcalc.commands.true_positive_rate import true_positive_rate
from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import human
from dpcalc.core.results import Answer
from dpcalc.core.text import NO_BREAK, shell_lines
from dpcalc.output import statement_words as words
from dpcalc.output.command_line import command_line
from dpcalc.output.statement_procedure import procedure
from dpcalc.output.tables import paragraph, width
from dpcalc.output.theorem import short_source

_NEAR_ALL = 0.99  # from this rate on the missed share is printed with two digits, not the rate with three
_NOT_COVERED = ("Not covered are the choice of hyper-parameters, preprocessing, and every other use of the same data: "
                "each of them costs privacy of its own where it depends on the data.")
# Where a line must not end: within a pair, around an equals sign, and before a unit. A no-break space stands there
# until the text is wrapped.
_TOGETHER = re.compile(r"\([^() ]+, [^() ]+\)| = | %")


def statement(answer: Answer) -> str:
    """The paragraphs about an answer, wrapped to the width. Raises DpcalcError where there is no number to state."""
    if answer.table or not answer.rows or answer.question.asks == "feedback":
        raise DpcalcError("unneeded", "statement is about a guarantee; ask with --delta, --epsilon or --alpha",
                          "--format")
    status = answer.headline.route.bound.status
    first = [] if status == "proven" else [f"This is not a privacy guarantee: {words.UNPROVEN[status]}."]
    claim = (*first, *words.of_one_record(answer), words.guarantee(answer), words.neighbours(answer),
             *words.promises(answer), *procedure(answer), words.released(answer))
    attacks = [_attacks(answer)] if status == "proven" else []
    cautions = [f"Caution: {warning}." for warning in answer.warnings if warning not in answer.promises]
    meaning = (*attacks, *cautions, _NOT_COVERED)
    return "\n\n".join((_wrapped(claim), _wrapped(meaning), _computation(answer)))


def _wrapped(sentences: tuple[str, ...]) -> str:
    """The sentences as one paragraph."""
    text = _TOGETHER.sub(lambda match: match.group().replace(" ", NO_BREAK), " ".join(sentences))
    return paragraph([text]).replace(NO_BREAK, " ")


def _attacks(answer: Answer) -> str:
    """What the guarantee means for an attacker."""
    rate, fpr = true_positive_rate(answer), _percent(FALSE_POSITIVES)
    if rate == 1:
        return f"The guarantee excludes no attack at a false-positive rate of {fpr}."
    return (f"Whatever else an attacker knows, no test of {words.tested(answer)} has a true-positive rate above "
            f"{_percent(rate)} at a false-positive rate of {fpr}.")


def _percent(share: float) -> str:
    """A share of 1 as a percentage, rounded up."""
    if share < _NEAR_ALL:
        percentage = 100 * Decimal(human(share, 3))
    else:
        percentage = 100 - 100 * Decimal(human(1 - share, 2, upward=False))
    return f"{percentage.normalize():f} %"


def _computation(answer: Answer) -> str:
    """How the number was computed: the theorems with their sources, the program, and the command on its own lines."""
    theorems = answer.headline.route.theorems
    names = " and ".join(f"{theorem.name} ({short_source(theorem.source)})" for theorem in theorems)
    subject = "theorems are" if len(theorems) > 1 else "theorem is"
    lower = answer.headline.route.bound.status == "lower"
    certified = ["The number was proven in ball arithmetic."] if answer.certified else []
    line = command_line(answer)
    files = f", where FILE holds {line.files}" if line.files else ""
    text = _wrapped((f"The {subject} {names}: {words.method(answer)}.", *words.assumptions(answer), *certified,
                     f"Results are rounded {'down' if lower else 'to the safe side'}. They were computed by dpcalc "
                     f"{__version__} with this command{files}:"))
    return "\n".join((text, "", *(f"    {part}" for part in shell_lines(line.text, width() - 4))))

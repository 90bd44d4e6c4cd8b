"""dpcalc rdp: one mechanism, released once or many times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dpcalc.commands.mechanism_options import mechanism_options
from dpcalc.core import noise_multiplier
from dpcalc.core import quantities as q
from dpcalc.core.command import MECHANISM, QUESTION, RUN, Command, Given, Option

if TYPE_CHECKING:
    from dpcalc.core.results import Answer, Route


def answer(given: Given) -> Answer:
    """ε, δ or RDP of a mechanism and its T-fold composition, or the parameter that meets a budget."""
    from dpcalc.accounting.answer import rows
    from dpcalc.accounting.mechanisms import MECHANISMS, with_steps
    from dpcalc.commands.asking import check_options, read_question, shown, with_solution
    from dpcalc.core.results import Answer

    mechanism = MECHANISMS[given["mechanism"]]
    question = read_question(COMMAND, given)
    unknown = question.unknown.name if question.unknown else None
    required, optional = noise_multiplier.options(mechanism, given, unknown)
    by_multiplier = noise_multiplier.NAME in required
    used = {*required, *optional, "mechanism", "steps", "orders", "group_size",
            *(("adjacency",) if by_multiplier else ())}
    name = given["mechanism"]
    check_options(given, question, used, required, _why_not(given), f"with --mechanism {name}",
                  f"with --mechanism {name}")
    composed = unknown == "steps" or given["steps"] > 1
    found = rows(mechanism.often if composed else mechanism.once, given,
                 lambda values: with_steps(mechanism, values), question, given["bound"] or ())
    values = with_solution(given, question, found)
    record = mechanism.as_part(noise_multiplier.with_sigma(values), None, int(values["steps"]))
    adjacency = noise_multiplier.adjacency_of(values) if by_multiplier else mechanism.neighbours
    return Answer("rdp", question, shown(given, used), found, {"kind": "mechanisms", "mechanisms": [record]}, adjacency,
                  "every output", noise_multiplier.notes(given, values) if by_multiplier else mechanism.notes,
                  {"steps": values["steps"], **noise_multiplier.companion(values, of_sum=False)})


def _why_not(given: Given) -> str:
    """Where an option is not used, in words that continue "not used"."""
    if given.has("adjacency") and given["mechanism"] == "gaussian":
        return "without --noise-multiplier, as your sensitivity fixes the neighbours"
    return f"with --mechanism {given['mechanism']}"


def theorems() -> Iterator[Route]:
    from dpcalc.accounting.mechanisms import MECHANISMS

    return (route for m in MECHANISMS.values() for route in (*m.once, *m.often))


COMMAND = Command(
    "rdp",
    "Privacy of one mechanism, used once or many times.",
    (
        *mechanism_options("standard deviation of the Gaussian noise on the query"),
        Option(q.ADJACENCY._replace(help="which data sets are neighbours; only with --noise-multiplier (default: "
                                         "add-remove)"), MECHANISM),
        Option(q.GROUP_SIZE, MECHANISM),
        Option(q.STEPS._replace(help="number of releases; all of them are composed"), RUN, default=1),
        Option(q.ORDERS, QUESTION),
    ),
    answer,
    (
        ("rdp --sigma 1 --delta 1e-5", "ε = 4.37718"),
        ("rdp --mechanism laplace --scale 2 --alpha 8", "ε(α) = 0.410268"),
        ("rdp --epsilon 1 --delta 1e-5 --solve sigma", "σ = 3.73064"),
    ),
    describes=True,
    theorems=theorems,
    usual=("epsilon", "delta", "alpha", "solve", "mechanism", "sigma", "scale", "probability", "sensitivity",
           "steps"),
)

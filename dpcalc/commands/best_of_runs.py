"""What an answer about the best of a random number of runs says: the law of their number, what one run costs and what a
fixed number would cost, and the guarantee for the next command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpcalc.accounting.selection import OneRun, is_asked, law_of
from dpcalc.bounds.conversions.selection_laws import GEOMETRIC, LOGARITHMIC, Law
from dpcalc.commands import calculator
from dpcalc.core import tries
from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import human, plain
from dpcalc.core.quantities import symbol
from dpcalc.core.relations import RELATIONS
from dpcalc.core.results import Answer
from dpcalc.core.run import Run
from dpcalc.core.validate import validate

if TYPE_CHECKING:
    from dpcalc.accounting.guarantee import Guarantee, Selected

_MOST_RUNS = 10_000  # of a fixed number whose cost is computed for a note
_SETTING = ("each run must draw its hyper-parameters and seeds anew, from one law that does not depend on the data; "
            "only the run with the largest score may be published, with its settings and its score, and nothing of the "
            "others; a score that is computed on the data must be part of what the guarantee of one run covers")


def promises(law: Law, expected: float) -> tuple[str, ...]:
    """What must hold for the best of a random number of runs."""
    return (f"the number of runs must be drawn before anything is run, from {_in_words(law, expected)}, and kept "
            "secret", _SETTING)


def _in_words(law: Law, expected: float) -> str:
    """The law as a person draws from it."""
    if law.gamma == 1:
        return "the law that is always 1"
    if law.shape is None:
        return f"the Poisson law with mean {plain(law.mean)} (in Python: numpy.random.poisson({law.mean!r}))"
    of_shape = {GEOMETRIC: ("geometric", f"geometric({law.gamma!r})"),
                LOGARITHMIC: ("logarithmic", f"logseries(1 - {law.gamma!r})")}
    if law.shape in of_shape:
        name, call = of_shape[law.shape]
        return (f"the {name} law with mean {plain(expected)} and γ = {law.gamma!r} (in Python: numpy.random.{call})")
    return (f"the truncated negative binomial law with mean {plain(expected)}, shape η = {plain(law.shape)} and γ = "
            f"{law.gamma!r} (Papernot & Steinke 2022, Definition 1)")


def with_selection(answer: Answer, run: Run, one_run: Sequence[dict[str, Any]]) -> Answer:
    """The answer with its notes and promises about the selection; unchanged where nothing is selected. `one_run` are
    the guarantees that one run composes, as JSON; where there are none, the (ε, δ) of the answer is handed on."""
    if not is_asked(run):
        return answer
    law, guarantee = law_of(run), answer.guarantee
    expected = float(run["tries"] or f"{law.mean:.12g}")
    if one_run:
        own: dict[str, Any] = {"adjacency": answer.adjacency} if answer.adjacency in RELATIONS else {}
        own |= {"group_size": run["group_size"]} if (run["group_size"] or 1) > 1 else {}
        guarantee = {"kind": "selected", "law": _parameters(law), "candidate": [{**own, **g} for g in one_run]}
    numbers = {"expected_runs": expected, **({} if law.gamma is None else {"gamma": law.gamma})}
    costs = "; ".join((*_one_run(answer), *_fixed(answer, law, one_run)))
    return answer._replace(guarantee=guarantee, released="the selected run only", extra={**answer.extra, **numbers},
                           notes=(*((costs,) if costs else ()), *answer.notes),
                           promises=tuple(dict.fromkeys((*promises(law, expected), *answer.promises))))


def keys_of_tries(entry: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options that say how many runs are tried, by name, and the other keys of an entry of a ledger."""
    return ({tries.SPELLINGS[key]: x for key, x in entry.items() if key in tries.SPELLINGS},
            {key: x for key, x in entry.items() if key not in tries.SPELLINGS})


def best_of(one_run: Guarantee, options: Mapping[str, Any]) -> Selected:
    """The best of a random number of runs with a guarantee. Raises DpcalcError for options that name no law."""
    from dpcalc.accounting.guarantee import Selected, Tries

    if isinstance(one_run, Selected):
        raise DpcalcError("refused", "it is the best of several runs already; drop tries", "--tries")
    given = validate(calculator("convert"), options)
    law = law_of(given.values)
    return Selected(kind="selected", law=Tries(**_parameters(law)), candidate=(one_run,), index=one_run.index,
                    adjacency=one_run.adjacency, promises=promises(law, given["tries"]))


def _parameters(law: Law) -> dict[str, float]:
    """The law as the JSON of a guarantee holds it."""
    if law.shape is None or law.gamma is None:
        return {"mean": law.mean}
    return {"shape": law.shape, "gamma": law.gamma}


def _one_run(answer: Answer) -> tuple[str, ...]:
    """What one run costs, at the question of the answer."""
    one = answer.headline.params.get("candidate") if answer.rows else None
    asks = answer.question.asks
    if not isinstance(one, OneRun) or asks == "tpr":
        return ()
    question = answer.question._replace(unknown=None, target=None, upper_only=True)
    try:
        return (f"{tries.ONE_RUN} has {symbol(asks)} = {human(one.row(question).result[asks])}",)
    except DpcalcError:
        return ()


def _fixed(answer: Answer, law: Law, one_run: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    """What the same number of runs costs where it is fixed: their composition."""
    question, runs = answer.question, round(law.mean)
    if (question.asks != "epsilon" or not question.delta or question.unknown or not one_run
            or not 1 < runs <= _MOST_RUNS or abs(law.mean - runs) > 1e-9):
        return ()
    from dpcalc.accounting.guarantee import read

    convert, given = calculator("convert"), tuple(read(g, "one run") for g in one_run)
    try:
        found = convert.answer(validate(convert, {"delta": question.delta, "steps": runs}, given))
    except DpcalcError:
        return ()
    return (f"{runs} runs, if their number was fixed and not drawn by this law, have ε = {human(found.value)} "
            "together, whatever is published of them (composition)",)

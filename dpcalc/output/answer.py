"""An answer as JSON, a table, CSV, …: pure functions of the record."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import isinf
from typing import Any

from dpcalc import __version__
from dpcalc.core.numbers import human, plain
from dpcalc.core.quantities import symbol
from dpcalc.core.results import Answer, Row
from dpcalc.core.results import Table as Numbers
from dpcalc.output.tables import LEAST_WORDS, Cells, delimited, latex, markdown, paragraph, text, width
from dpcalc.output.values import row_label, shown

# --- JSON ------------------------------------------------------------------------------------------------------------


def record(answer: Answer, explain: bool = False) -> dict[str, Any]:
    """The JSON envelope, schema dpcalc/v1; `explain` adds what the theorems of each row state."""
    head = answer.headline if answer.rows else None
    return {
        "schema": "dpcalc/v1",
        "version": __version__,
        "command": answer.command,
        "parameters": {k: list(v) if isinstance(v, tuple) else strict(v) for k, v in answer.parameters.items()},
        "options": {k: _listed(v) for k, v in answer.options.items()},
        "inputs": list(answer.inputs),
        "result": {k: strict(v) for k, v in {**answer.extra, **(head.result if head else {})}.items()},
        "status": head.route.bound.status if head else None,
        "bound": head.route.label if head else None,
        "solved": answer.question.unknown.option[2:] if answer.question.unknown else None,
        "guarantee": answer.handed_on,
        "bounds": [_row_record(row) | (_statements(row) if explain else {}) for row in answer.rows],
        "adjacency": answer.adjacency,
        "released": answer.released,
        "notes": list(answer.all_notes),
        **({"certified": {k: strict(v) for k, v in answer.certified.items()}} if answer.certified else {}),
        **({"roc": [dict(zip(answer.roc.header, row, strict=True)) for row in answer.roc.rows]} if answer.roc else {}),
        **(answer.more() if answer.more else {}),
    }


def _listed(x: Any) -> Any:
    return list(x) if isinstance(x, tuple) else strict(x)


def _row_record(row: Row) -> dict[str, Any]:
    bound = row.route.bound
    conversion = {"curve": bound.name, "conversion": row.route.conversion.name} if row.route.conversion else {}
    digits = {"digits": row.digits} if row.digits else {}
    return {
        "name": row.route.label,
        **conversion,
        "status": bound.status,
        **{k: strict(v) for k, v in row.result.items()},
        "witness": {k: strict(v) for k, v in row.proof.items()},
        **digits,
        **row.said,
        "source": _sources(row),
        "assumptions": [a for t in row.route.theorems for a in t.assumptions],
        "errata": [e for t in row.route.theorems for e in t.errata],
    }


def _sources(row: Row) -> str:
    return "; ".join(t.source for t in row.route.theorems)


def _statements(row: Row) -> dict[str, Any]:
    return {"statements": [t.statement for t in row.route.theorems]}


def strict(x: float) -> float | str:
    """JSON knows no infinity."""
    return x if not isinstance(x, float) or not isinf(x) else ("inf" if x > 0 else "-inf")


def as_json(answer: Answer, explain: bool) -> str:
    return json.dumps(record(answer, explain), indent=2, ensure_ascii=False, allow_nan=False)


def as_jsonl(answer: Answer, explain: bool) -> str:
    return json.dumps(record(answer, explain), ensure_ascii=False, allow_nan=False)


# --- numbers for people ----------------------------------------------------------------------------------------------


# --- tables ----------------------------------------------------------------------------------------------------------


def headline(answer: Answer) -> str:
    """'ε = 4.37718 at δ = 1e-05 (gaussian-exact)'."""
    asked, head = answer.asked, answer.headline
    text = f"{symbol(asked)} = {shown(answer, asked, head)}"
    rest = _CONDITIONS[answer.question.asks if answer.question.unknown is None else "budget"](answer)
    rest += f" {answer.scope}" if answer.scope else ""
    status = head.route.bound.status
    only = f", {answer.only.text}" if answer.only else ""
    return f"{text}{rest} ({head.route.label}{'' if status == 'proven' else ', ' + status}){only}"


def in_headline(answer: Answer, note: str) -> bool:
    """Whether a table has said it already."""
    return answer.only is not None and note == answer.only.text


def _budget(answer: Answer) -> str:
    question = answer.question
    assert question.target is not None
    if question.asks == "tv":
        return f" gives TV <= {plain(question.target)}"
    if question.asks == "tpr":
        return f" gives TPR <= {plain(question.target)} at FPR = {plain(question.fpr or 0.0)}"
    if question.asks == "rdp":
        return f" gives ε(α) <= {plain(question.target)} at α = {plain(question.alpha or 0.0)}"
    return f" gives ε <= {plain(question.target)} at δ = {plain(question.delta or 0.0)}"


_CONDITIONS: dict[str, Callable[[Answer], str]] = {
    "epsilon": lambda a: f" at δ = {plain(a.headline.result['delta'])}",
    "delta": lambda a: f" at ε = {plain(a.headline.result['epsilon'])}",
    "rdp": lambda a: f" at α = {plain(a.headline.result['alpha'])}",
    "tv": lambda a: "",
    "mu": lambda a: "",
    "rho": lambda a: "",
    "budget": _budget,
}


def columns(answer: Answer) -> Cells:
    """Header and rows of the table of bounds, numbers rounded for people."""
    if answer.table:
        return numbers(answer.table)
    if answer.more:
        from dpcalc.output.comparison import columns as compared

        return compared(answer)
    from dpcalc.accounting.digits import shown as digits_of
    from dpcalc.output.theorem import short_source

    answer = answer.for_people
    asked = answer.asked
    with_status = any(row.route.bound.status != "proven" for row in answer.rows)
    with_order = any("alpha" in row.witness for row in answer.rows)
    with_digits = any(row.digits for row in answer.rows)
    header = ("bound", *(("status",) if with_status else ()), symbol(asked), *(("order α",) if with_order else ()),
              *(("published formula",) if with_digits else ()), "source")
    rows = []
    for row in answer.rows:
        alpha = row.witness.get("alpha")
        order = ((human(alpha, 4) if alpha else "",) if with_order else ())
        digits = ((digits_of(row),) if with_digits else ())
        status = (row.route.bound.status,) if with_status else ()
        rows.append((row_label(row), *status, shown(answer, asked, row), *order, *digits,
                     short_source(row.route.named.source)))
    return header, rows


def numbers(table: Numbers) -> Cells:
    """A table of numbers for people; what a person gave is printed as it was given."""
    shown_as = [plain if h == "fpr" else human for h in table.header]
    header = tuple(symbol(h) for h in table.header)
    return header, [tuple(show(x) for show, x in zip(shown_as, row, strict=True)) for row in table.rows]


_WORDS = frozenset({"source", "assumes"})
_LEFT = _WORDS | {"bound", "status", "neighbours"}


def as_table(answer: Answer, explain: bool) -> str:
    """The headline, the table, and what it assumes; plain text, fitted to the width."""
    answer = answer.for_people
    head = "" if answer.table else paragraph([headline(answer), ""]) + "\n"
    notes = [note for note in answer.all_notes if not in_headline(answer, note)]
    below = [f"Neighbours: {answer.adjacency}. Released: {answer.released}.", *(f"Note: {note}." for note in notes)]
    if answer.more:
        from dpcalc.output.comparison import below as compared

        below += compared(answer)
    roc = "\n" + text(numbers(answer.roc), frozenset(), frozenset()) + "\n" if answer.roc else ""
    after = "\n" + paragraph(explanation(answer), "  ") if explain else ""
    table, words = _fitted(columns(answer))
    body = text(table, _LEFT, _WORDS)
    return head + (body.rstrip("\n") if words else body) + "\n" + words + roc + paragraph(below) + after


def _fitted(table: Cells) -> tuple[Cells, str]:
    """The table, and below it its last column, where that is words for which a narrow terminal leaves no room."""
    header, rows = table
    others = sum(max(len(row[k]) for row in (header, *rows)) + 3 for k in range(len(header) - 1))
    if header[-1] not in _WORDS or others + LEAST_WORDS <= width():
        return table, ""
    lines = dict.fromkeys(f"{row[0]}: {row[-1]}" for row in rows)
    return (header[:-1], [row[:-1] for row in rows]), paragraph(["", *lines, ""], "  ") + "\n"


def alone(answer: Answer) -> Cells:
    """The one table of a format that holds no more: the rates of a ROC curve where they were asked for, like
    `cells`."""
    return numbers(answer.roc) if answer.roc else columns(answer)


def explanation(answer: Answer) -> list[str]:
    """Statement, assumptions, source and errata of every theorem used, once each."""
    from dpcalc.output.theorem import lines

    theorems = {t.name: t for row in answer.rows for t in row.route.theorems}
    return [line for t in theorems.values() for line in ("", *lines(t))]


def cells(answer: Answer) -> Cells:
    """Header and rows with full doubles, for programs."""
    table = answer.table or answer.roc
    if table:
        return table.header, [tuple(repr(x) for x in row) for row in table.rows]
    keys = list(dict.fromkeys(k for row in answer.rows for k in row.result))
    said = tuple(dict.fromkeys(k for row in answer.rows for k in row.said))
    header = ("bound", "conversion", "status", *keys, "order", *said, "source")
    body = []
    for row in answer.rows:
        values = (repr(row.result[k]) if k in row.result else "" for k in keys)
        order = repr(row.witness["alpha"]) if "alpha" in row.witness else ""
        via = row.route.conversion.name if row.route.conversion else ""
        body.append((row.route.label, via, row.route.bound.status, *values, order, *(row.said.get(k, "") for k in said),
                     _sources(row)))
    return header, body


FORMATS: dict[str, Callable[[Answer, bool], str]] = {
    "table": as_table,
    "json": as_json,
    "jsonl": as_jsonl,
    "csv": lambda answer, explain: delimited(cells(answer), ","),
    "tsv": lambda answer, explain: delimited(cells(answer), "\t"),
    "markdown": lambda answer, explain: markdown(alone(answer)),
    "latex": lambda answer, explain: latex(alone(answer)),
}

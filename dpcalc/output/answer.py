"""One answer as a document: its JSON record, its tables, and the page of text for people."""

from collections.abc import Callable
from functools import partial
from math import isinf
from typing import Any

from dpcalc import __version__
from dpcalc.core import audits
from dpcalc.core.budgets import budget
from dpcalc.core.counts import NOISE_LINE, NOT_ABOUT_PRIVACY, SENSITIVITY_LINE
from dpcalc.core.noise_multiplier import NAME as NOISE_MULTIPLIER
from dpcalc.core.numbers import human, in_percent, plain
from dpcalc.core.quantities import symbol
from dpcalc.core.results import Answer, Row, Table
from dpcalc.core.tries import ONE_RUN
from dpcalc.output.comparison import lines_below
from dpcalc.output.formats import Document
from dpcalc.output.ledger import budget_lines, full_releases, release_records, rounded_releases
from dpcalc.output.tables import LEAST_SENTENCE, TextTable, aligned, heading, paragraph
from dpcalc.output.theorem import lines, of_answers, short_source
from dpcalc.output.values import about_unsolved, begun, in_full, row_label, shown_value

_BELOW_HEADLINE = (ONE_RUN, SENSITIVITY_LINE, NOISE_LINE, *audits.VERDICTS)  # how notes begin that stand there


def document(answer: Answer, explain: bool = False) -> Document:
    """The answer as a document; `explain` adds the statements of the theorems to its JSON and to its page for
    people."""
    def statement() -> str:
        from dpcalc.output.statement import statement  # imports mechanisms and schemes

        return statement(answer)

    return Document(lambda: page(answer, explain), lambda: record(answer, explain), lambda: full_table(answer),
                    lambda: rounded_roc(answer, answer.roc) if answer.roc else main_table(answer),
                    statement=statement, bibtex=lambda: of_answers([answer]))


def main_table(answer: Answer) -> TextTable:
    """The first table of the page for people: of a ledger its releases, else the bounds."""
    return rounded_releases(answer) if answer.releases else rounded_table(answer)


# --- JSON ------------------------------------------------------------------------------------------------------------


def record(answer: Answer, explain: bool = False) -> dict[str, Any]:
    """The JSON record, schema dpcalc/v1; `explain` adds the statements of the theorems to each row."""
    head = answer.headline if answer.rows else None
    return {
        "schema": "dpcalc/v1", "version": __version__, "command": answer.command,
        "parameters": json_values(answer.parameters), "options": json_values(answer.options),
        "inputs": list(answer.inputs),
        "result": json_values({**answer.extra, **(head.result if head else {})}),
        "status": head.status if head else None, "bound": head.route.label if head else None,
        "solved": answer.question.unknown.option[2:] if answer.question.unknown else answer.options.get("solve"),
        "guarantee": answer.piped_guarantee, "bounds": [_row_record(row, explain) for row in answer.rows],
        "adjacency": answer.adjacency, "released": answer.released,
        "notes": list(answer.all_notes), "promises": list(answer.promises),
        **({"certified": json_values(answer.certified)} if answer.certified else {}),
        **({"roc": [dict(zip(answer.roc.header, row, strict=True)) for row in answer.roc.rows]} if answer.roc else {}),
        **({"releases": release_records(answer)} if answer.releases else {}),
        **({"adaptive": dict(answer.adaptive)} if answer.adaptive else {}),
        **({"refuted": answer.refuted} if answer.question.asks == audits.ASKS else {}),
        **(answer.more() if answer.more else {}),
    }


def _row_record(row: Row, explain: bool) -> dict[str, Any]:
    bound, theorems = row.route.bound, row.route.theorems
    return {
        "name": row.route.label,
        **({"curve": bound.name, "conversion": row.route.conversion.name} if row.route.conversion else {}),
        "status": bound.status, **json_values(row.result), "witness": json_values(row.proof),
        **({"digits": row.digits} if row.digits else {}), **row.context, "source": _sources(row),
        "assumptions": [a for bound in theorems for a in bound.theorem.assumptions],
        "errata": [e for bound in theorems for e in bound.theorem.errata],
        **({"statements": [bound.theorem.statement for bound in theorems]} if explain else {}),
    }


def json_values(values: Any) -> dict[str, Any]:
    """The mapping with values that JSON has: infinities become the texts "inf" and "-inf", and tuples become lists."""
    return {name: list(x) if isinstance(x, tuple) else
            ("inf" if x > 0 else "-inf") if isinstance(x, float) and isinf(x) else x for name, x in values.items()}


def _sources(row: Row) -> str:
    return "; ".join(theorem.source for theorem in row.route.theorems)


# --- tables ----------------------------------------------------------------------------------------------------------


def rounded_table(answer: Answer) -> TextTable:
    """The table for people: the best row of each theorem, with numbers rounded to the safe side."""
    if answer.table:
        return table_of_numbers(answer.table)
    from dpcalc.accounting.digits import shown as shown_digits

    answer = answer.with_best_rows
    rows, quantity, compared = answer.rows, answer.quantity, answer.more is not None
    columns: tuple[tuple[str, bool, Callable[[Row], str]], ...] = (  # header, whether it is shown, the cell of a row
        ("bound", True, row_label),
        ("status", any(row.status != "proven" for row in rows),
         lambda row: row.status),
        ("neighbours", compared and any(row.context["adjacency"] != answer.adjacency for row in rows),
         lambda row: row.context["adjacency"]),
        (symbol(quantity), True, lambda row: shown_value(answer, quantity, row)),
        ("order α", answer.every_row and not compared and any("alpha" in row.witness for row in rows),
         lambda row: human(row.witness["alpha"], 4) if row.witness.get("alpha") else ""),
        ("TV", compared and "tv" in answer.headline.result and not answer.question.unknown,
         lambda row: shown_value(answer, "tv", row)),
        ("published formula", any(row.digits for row in rows), shown_digits),
        ("source", True, lambda row: short_source(row.route.named.source)),
    )
    shown = [(header, cell) for header, is_shown, cell in columns if is_shown]
    doubtful = frozenset(k for k, row in enumerate(rows) if row.status != "proven")
    return TextTable(tuple(header for header, _ in shown), [tuple(cell(row) for _, cell in shown) for row in rows],
                     left=frozenset({"bound", "status", "neighbours", "source"}), sentences=frozenset({"source"}),
                     dim=frozenset({"source"}), doubtful=doubtful)


def table_of_numbers(table: Table) -> TextTable:
    """A table for people: numbers rounded to the safe side, and false-positive rates as they were given."""
    formats = [str if name == "strategy" else plain if name == "fpr" else
               partial(human, upward=not name.startswith("tpr_lower")) for name in table.header]
    return TextTable(tuple(map(symbol, table.header)),
                     [tuple(text(x) for text, x in zip(formats, row, strict=True)) for row in table.rows])


def rounded_roc(answer: Answer, roc: Table) -> TextTable:
    """The true-positive rates for people, beside the solution where there is one."""
    return _beside_solution(table_of_numbers(roc), answer, symbol,
                            lambda name: shown_value(answer, name, answer.headline))


def _beside_solution(table: TextTable, answer: Answer, header: Callable[[str], str],
                     number: Callable[[str], str]) -> TextTable:
    """The table with the parameter that was solved for in its first column, if there is one."""
    if answer.question.unknown is None:
        return table
    name = answer.question.unknown.name
    return TextTable((header(name), *table.header), [(number(name), *row) for row in table.rows])


_OF_NOISE = ("noise_within", "noise_within_all", "keep_probability", "drop_probability")  # numbers of the whole answer


def full_table(answer: Answer) -> TextTable:
    """The table for programs: every row, with numbers in full precision."""
    if answer.releases:
        return full_releases(answer)
    table = answer.table or answer.roc
    if table:
        return _beside_solution(TextTable(table.header, list(map(in_full, table.rows))), answer, str,
                                lambda name: repr(answer.value))
    results = tuple(dict.fromkeys(name for row in answer.rows for name in row.result))
    verdict = ("refuted", str(answer.refuted).lower()) if answer.refuted is not None else ()
    words = tuple(dict.fromkeys(name for row in answer.rows for name in row.context))
    beside = {name: repr(answer.extra[name]) for name in _OF_NOISE if name in answer.extra}
    header = ("bound", "conversion", "status", *results, "order", *words, *beside, *verdict[:1], "source")
    rows = []
    for row in answer.rows:
        numbers = {**{name: repr(x) for name, x in row.result.items()},
                   **({"order": repr(row.witness["alpha"])} if "alpha" in row.witness else {})}
        via = row.route.conversion.name if row.route.conversion else ""
        rows.append((row.route.label, via, row.status, *(numbers.get(name, "") for name in results),
                     numbers.get("order", ""), *(row.context.get(name, "") for name in words),
                     *beside.values(), *verdict[1:], _sources(row)))
    return TextTable(header, rows)


# --- the page for people ---------------------------------------------------------------------------------------------


def page(answer: Answer, explain: bool = False) -> str:
    """The page for people, fitted to the width: the headline and what it holds for, the table, and the notes."""
    answer = answer.with_best_rows
    parts = [_fitted(main_table(answer))]
    if answer.rows and not answer.table:
        parts.insert(0, "\n".join([heading(headline(answer)), paragraph(lines_below_headline(answer)), ""]))
    else:
        if answer.table and answer.table.title:
            parts.insert(0, heading(answer.table.title) + "\n")
        parts.append(paragraph([holds_for(answer)]) + "\n")
    if answer.releases and answer.every_row:
        parts.append(_fitted(rounded_table(answer)))
    if answer.roc and not _is_one_rate(answer.roc):
        parts.append(aligned(table_of_numbers(answer.roc)) + "\n")
    if below := _notes(answer):
        parts.append(paragraph(below) + "\n")
    if answer.more:
        parts.append(paragraph(lines_below(answer)).strip("\n") + "\n")
    if explain:  # every theorem of the answer once
        theorems = {theorem.name: theorem for row in answer.rows for theorem in row.route.theorems}
        parts.append(paragraph([line for theorem in theorems.values() for line in ("", *lines(theorem))], "  ")
                     .strip("\n"))
    return "\n".join(parts).rstrip("\n")


def lines_below_headline(answer: Answer) -> list[str]:
    """What stands below the headline: how close the number is, the noise multiplier, and what the number holds for."""
    asks, result = answer.question.asks, answer.headline.result
    found, lower = list[str](), {**answer.extra, **result}.get(f"{asks}_lower", 0.0)
    if 0 < lower < result.get(asks, 0.0):
        upper = shown_value(answer, asks, answer.headline)
        found.append(f"The true {symbol(asks)} is between {human(lower, upward=False)} and {upper}.")
    if NOISE_MULTIPLIER in answer.extra and answer.quantity != NOISE_MULTIPLIER:
        upward = answer.question.unknown is not None  # a multiplier to be used: more noise is safe
        found.append(f"Noise multiplier: {human(answer.extra[NOISE_MULTIPLIER], upward=upward)}")
    if answer.roc and _is_one_rate(answer.roc):
        fpr, tpr = answer.roc.rows[0]
        on = " on this record" if answer.only and not answer.only.is_worst else ""
        found.append(f"No attack{on} has a TPR above {human(tpr)} at an FPR of {plain(fpr)}.")
    found += [f"{note[0].upper()}{note[1:]}." for note in answer.notes if note.startswith(_BELOW_HEADLINE)]
    return [*budget_lines(answer), *found, holds_for(answer)]


def _is_one_rate(roc: Table) -> bool:
    """Whether an ROC curve is one pair of rates, which a sentence says."""
    return len(roc.rows) == 1 and len(roc.header) == 2


def holds_for(answer: Answer) -> str:
    """The sentence on the neighbouring data sets, and on what is released; of a number about something else, that."""
    if answer.question.asks == audits.ASKS:
        return audits.SENTENCE
    if answer.question.asks in NOT_ABOUT_PRIVACY:
        return "This number says nothing about privacy: ask for that with --delta or --epsilon."
    return f"Neighbours: {answer.neighbours}. Released: {answer.released}."


def _notes(answer: Answer) -> list[str]:
    """A note on bounds without a solution, all promises, and the first notes as sentences: three together, or all
    with --all."""
    promises, notes = ([f"Note: {x}." for x in texts] for texts in (answer.promises, notes_beside_headline(answer)))
    promises[:0] = about_unsolved(answer)
    shown = len(notes) if answer.every_row or answer.adaptive else max(0, 3 - len(promises))
    left = len(notes) - shown
    return [*promises, *notes[:shown], *([f"({left} more note{'s' if left > 1 else ''}: --all)"] if left > 0 else [])]


def headline(answer: Answer) -> str:
    """The headline of the page for people, for example 'ε = 4.37718 at δ = 1e-05 (gaussian-exact)'."""
    quantity, head = answer.quantity, answer.headline
    several = f"for {len(answer.releases)} releases" if len(answer.releases) > 1 else ""
    if answer.adaptive:
        several = "for everything within this budget, however it was chosen"
    scope = f" {answer.scope or several}" if answer.scope or several else ""
    is_plain = head.status == ("lower" if quantity == audits.ASKS else "proven")
    status = "" if is_plain else f", {head.status}"
    only = f", {answer.only.text}" if answer.only else ""
    sign = "ε ≥" if quantity == audits.ASKS else f"{begun(symbol(quantity))} ="
    return (f"{sign} {shown_value(answer, quantity, head)}{_condition(answer)}{scope} "
            f"({head.route.label}{status}){only}")


def _condition(answer: Answer) -> str:
    """The condition in the headline: the quantity that the question fixes, for example ' at δ = 1e-05'; or the budget
    that a solved parameter meets."""
    question, result = answer.question, answer.headline.result
    if question.asks == audits.ASKS:
        return f" at δ = {plain(question.delta or 0.0)}, with confidence {in_percent(answer.parameters['confidence'])}"
    if question.asks == "keep_probability":
        people = int(answer.parameters["people"])
        return f" for a key of {people} {'person' if people == 1 else 'people'}"
    if question.unknown is None:
        name = {"epsilon": "delta", "delta": "epsilon", "rdp": "alpha"}.get(question.asks)
        text = human if name == "delta" else plain  # a larger δ promises less
        return f" at {symbol(name)} = {text(result[name])}" if name else _with_probability(answer)
    return f" gives {budget(question)}{' at δ = 0' if question.delta == 0 else ''}{_with_probability(answer)}"


def _with_probability(answer: Answer) -> str:
    """The probability of an interval for the noise."""
    return f" with probability {plain(answer.parameters['accuracy'])}" if answer.question.asks == "noise_within" else ""


def notes_beside_headline(answer: Answer) -> list[str]:
    """The notes, without those that are already part of the headline."""
    return [note for note in answer.all_notes if note not in answer.limits and not note.startswith(_BELOW_HEADLINE)]


def _fitted(table: TextTable) -> str:
    """The table with its newline. Where the terminal is too narrow for a last column of sentences, that is printed
    below."""
    if table.header[-1] not in table.sentences or table.room_for_last_column() >= LEAST_SENTENCE:
        return aligned(table) + "\n"
    sentences = dict.fromkeys(f"{row[0]}: {row[-1]}" for row in table.rows if row[-1])
    numbers = table._replace(header=table.header[:-1], rows=[row[:-1] for row in table.rows])
    return aligned(numbers).rstrip("\n") + "\n" + paragraph(["", *sentences], "  ") + "\n"

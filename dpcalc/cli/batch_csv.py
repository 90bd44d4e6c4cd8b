"""CSV and TSV batches: the header names the options, and each line is repeated with the columns of its answer."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from dpcalc.cli.batch import LONGEST, Replies, Request, is_guarantee
from dpcalc.core import audits
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.results import RESULT, Answer
from dpcalc.core.strict_json import dumps
from dpcalc.core.text import listed, printable
from dpcalc.core.validate import near
from dpcalc.output.formats import spreadsheet_cell

# Names of columns that describe a line, are no options, and are repeated as they came.
_DESCRIBING = ("id", "name", "label", "comment", "note")
_MARK = "_"  # begins the name of any other column that is repeated as it came


class CsvQuestions:
    """The lines of a CSV or TSV file. Raises DpcalcError where its header names anything but options."""

    def __init__(self, lines: Iterator[bytes | None], names: Mapping[str, str], command: str, first: int) -> None:
        """`first` is the number of the first of these lines."""
        self._lines = _TextLines(lines, first)
        try:
            header = next(self._lines, "")
            self.delimiter = "\t" if "\t" in header else ","
            self._lines.put_back(header)
            self._reader = csv.reader(self._lines, delimiter=self.delimiter, strict=True, skipinitialspace=True)
            titles = [title.strip() for title in next(self._reader, [])]
        except csv.Error as error:
            raise DpcalcError("bad-csv", f"the header: {error}", "--batch") from None
        self.columns = dict(enumerate(titles))
        self._options = _option_columns(self.columns, names, command)

    def __iter__(self) -> Iterator[Request]:
        while True:
            number = self._lines.number + 1
            try:
                cells = next(self._reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Request(number, error=DpcalcError("bad-csv", str(error)))
                continue
            if cells and cells != [""]:
                yield self._request(number, cells)

    def _request(self, number: int, cells: list[str]) -> Request:
        came = dict(enumerate(cells))
        if len(cells) != len(self.columns):
            reason = f"the line has {len(cells)} cells, and the header {len(self.columns)}"
            return Request(number, cells=came, error=DpcalcError("bad-csv", reason))
        fields = {title: cell for k, title in self._options.items() if (cell := cells[k].strip())}
        for title, cell in fields.items():
            if any("\ud800" <= c <= "\udfff" for c in cell):  # bytes that are no UTF-8
                return Request(number, cells=came, error=DpcalcError("bad-csv", "not UTF-8 text", flag(title)))
        return Request(number, fields, came)


def _option_columns(columns: Mapping[int, str], names: Mapping[str, str], command: str) -> dict[int, str]:
    """The columns that are read: options, and the id. Raises DpcalcError for a column of another name, since a
    mistyped option would silently leave its default in the answer."""
    found: dict[int, str] = {}
    unknown: list[str] = []
    for k, title in columns.items():
        name = names.get(title)
        if name is not None and name != "input":
            if name in [names[other] for other in found.values()]:
                raise DpcalcError("contradictory", f"two columns name {flag(name)}", "--batch")
            found[k] = title
        elif title and title.lower() not in _DESCRIBING and not title.startswith(_MARK):
            unknown.append(title)
    if unknown:
        raise _unknown_columns(unknown, names, command)
    if not any(title != "id" for title in found.values()):
        raise DpcalcError("bad-csv", f"no column of the header names an option of {command}", "--batch")
    return found


def _unknown_columns(titles: Sequence[str], names: Mapping[str, str], command: str) -> DpcalcError:
    shown = [printable(title[:40]) for title in titles]
    if ";" in titles[0]:
        way_out = "; columns are separated by commas or tabs"
    elif not (way_out := near(shown[0], tuple(names))):
        way_out = f"; name {'it' if len(shown) == 1 else 'them'} {listed([f'{_MARK}{title}' for title in shown])} if "
        way_out += f"{'it is' if len(shown) == 1 else 'they are'} only to be repeated"
    which = f"column {shown[0]!r} is" if len(shown) == 1 else f"columns {listed([repr(title) for title in shown])} are"
    return DpcalcError("unknown-option", f"the first line is a CSV header, and its {which} no option of {command}"
                       f"{way_out}", "--batch")


class _TextLines:
    """Lines of bytes as text, counted. A line that is too long raises csv.Error, and the next one can be read.

    Bytes that are not UTF-8 become lone surrogates, so that a column that is only repeated stays as it came.
    """

    def __init__(self, lines: Iterator[bytes | None], first: int) -> None:
        self._lines, self._put_back, self.number = lines, "", first - 1

    def put_back(self, line: str) -> None:
        self._put_back = line

    def __iter__(self) -> _TextLines:
        return self

    def __next__(self) -> str:
        if self._put_back:
            line, self._put_back = self._put_back, ""
            return line
        data = next(self._lines)
        self.number += 1
        if data is None:
            raise csv.Error(f"a line of more than {LONGEST} bytes")
        return data.decode("utf-8", "surrogateescape").removeprefix("\ufeff") + "\n"


class CsvReplies(Replies):
    """Each line as it came, and the columns of its answer: numbers, bound, status, adjacency, error.

    The first answer decides which numbers have a column. Lines that fail before it are printed with it. A number whose
    name a column of the input already has gets no second one; only the number asked for fills its empty cell there.
    Where the line describes a guarantee by such columns, the numbers of the answer are in result_epsilon and so on;
    the error is in result_error where --error has a column.
    """

    error_column = True

    def __init__(self, names: Mapping[str, str], delimiter: str, columns: Mapping[Any, str] | None = None) -> None:
        self._names, self._delimiter = names, delimiter
        self._columns = dict(columns or {})  # of JSON Lines: the keys of the lines up to the first answer
        self._fixed = columns is not None
        self._added: tuple[str, ...] | None = None
        self._held: list[tuple[Mapping[Any, str], str]] = []

    def answered(self, request: Request, answer: Answer) -> str:
        cells = self._cells(request)
        of_input = {self._names.get(title, title): k for k, title in self._columns.items()}
        found, quantity = _columns_of(answer, of_input)
        head = []
        if self._added is None:
            self._added = tuple(name for name in found if name not in of_input)
            head = [self._header(), *self._held_rows()]
        if quantity in of_input:
            column = of_input[quantity]
            cells[column] = cells[column] if cells.get(column, "").strip() else found[quantity]
        elif quantity not in self._added:
            raise DpcalcError("contradictory", f"the answer is {quantity}, which has no column: the first "
                              "answer of a batch decides the columns (--format jsonl needs none)")
        return "\n".join([*head, self._row(cells, found)])

    def failed(self, request: Request, error: DpcalcError) -> str | None:
        text = error.line().replace("\n", " ")
        try:
            cells = self._cells(request)
        except DpcalcError:
            cells = _cells_as_text(request)
        if self._added is None:
            self._held.append((cells, text))
            return None
        return self._row(cells, {"error": text})

    def rest(self) -> str | None:
        """The lines that wait for an answer, where the input ends without one."""
        if self._added is not None or not (self._held or self._fixed):
            return None
        self._added = ()
        return "\n".join([self._header(), *self._held_rows()])

    def _cells(self, request: Request) -> dict[Any, str]:
        """The cells of a line as it came. Of JSON Lines, raises DpcalcError for a key that has no column."""
        cells = _cells_as_text(request)
        if self._fixed:
            return cells
        if self._added is None:
            self._columns.update((key, key) for key in cells)
        elif new := [key for key in cells if key not in self._columns]:
            raise DpcalcError("contradictory", "has no column: the lines up to the first answer decide the columns "
                              "(--format jsonl needs none)", flag(new[0][:40]))
        return cells

    def _header(self) -> str:
        of_errors = f"{RESULT}error" if "error" in self._columns.values() else "error"
        return self._text(self._columns.values(), (*(self._added or ()), of_errors))

    def _held_rows(self) -> list[str]:
        rows = [self._row(cells, {"error": text}) for cells, text in self._held]
        self._held.clear()
        return rows

    def _row(self, cells: Mapping[Any, str], found: Mapping[str, str]) -> str:
        return self._text((cells.get(k, "") for k in self._columns),
                          (found.get(name, "") for name in (*(self._added or ()), "error")))

    def _text(self, of_input: Iterable[str], added: Iterable[str]) -> str:
        """A line: the cells of the input and those of the answer.

        A cell of CSV is repeated as it came, because tables are joined by its cells, and the file of the user holds
        the same formulas already; but control characters are escaped, which a terminal would obey.
        """
        if not self._fixed:
            of_input = map(spreadsheet_cell, of_input)
        else:
            of_input = map(printable if sys.stdout.isatty() else _without_controls, of_input)
        out, cells = io.StringIO(), [*of_input, *map(spreadsheet_cell, added)]
        csv.writer(out, delimiter=self._delimiter, lineterminator="\r\n").writerow(cells)  # quotes both in cells
        return out.getvalue().removesuffix("\r\n")


def _without_controls(cell: str) -> str:
    """The cell with every unprintable character escaped, but for ends of lines, tabs, and bytes that are not UTF-8."""
    parts = re.split("(\r\n|[\n\t\ud800-\udfff])", cell)
    return "".join(part if k % 2 else printable(part) for k, part in enumerate(parts))


def _cells_as_text(request: Request) -> dict[Any, str]:
    """The cells of a line of CSV, or of JSON Lines its values as text, without guarantees."""
    if request.cells or is_guarantee(request.fields):
        return dict(request.cells)
    return {key: x if isinstance(x, str) else "" if x is None else dumps(x)
            for key, x in request.fields.items()
            if key not in ("input", "inputs") and not (key == "error" and isinstance(x, dict))}


def _columns_of(answer: Answer, of_input: Container[str]) -> tuple[dict[str, str], str]:
    """Column → cell of an answer, and the column of the number asked for. Raises DpcalcError for an answer that is more
    than one line."""
    if answer.table or (answer.roc and len(answer.roc.rows) > 1):
        raise DpcalcError("contradictory", "the answer is a table, which is no line of CSV; use --format jsonl")
    if not answer.rows:
        raise DpcalcError("missing", "nothing to compute: give --delta, --epsilon or --alpha")
    head, wanted = answer.headline, {answer.quantity: answer.value}  # the number asked for comes first
    numbers = {**wanted, **answer.extra, **head.result}
    renamed = {name for name in head.result if name in of_input} if answer.has_given_namesake else ()
    titles = {name: f"{RESULT}{name}" if name in renamed else name for name in numbers}
    refuted = {} if answer.question.asks != audits.ASKS else {
        "refuted": "" if answer.refuted is None else str(answer.refuted).lower()}
    return {**{titles[name]: repr(x) for name, x in numbers.items()}, **refuted,
            "bound": head.route.label, "status": head.status, "adjacency": answer.adjacency}, titles[answer.quantity]

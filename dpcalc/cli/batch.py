"""--batch: answers a stream of questions, one JSON object a line, by one line each, in order.

A line holds options under their names (with _ or -), as JSON numbers or texts, and may hold

    id       a text, number or boolean, which is repeated in the answer
    input    (or inputs) a guarantee or a whole result, or a list of them, for the commands that read one

A line that is itself a result or a guarantee counts as the input, so that batches form pipes; an error line of the
previous command is passed on. Options in a line override those of the command line, and null removes one. Empty lines
are skipped.
The answer to a line that cannot be answered is {"error": {…, "line": k}}, and the stream continues.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from dpcalc.cli.standard_streams import quiet_beside
from dpcalc.commands.ask import answer as answer_of
from dpcalc.commands.ask import command_of, named, spellings, warnings_of
from dpcalc.core.command import Command
from dpcalc.core.errors import DpcalcError, fault, flag
from dpcalc.core.strict_json import BadJson, dumps, loads
from dpcalc.output.result import Input, given_inputs

LONGEST = 1_000_000  # bytes of a line; a limit, so that no input can exhaust the memory
_WHITE_SPACE = b" \t\r\n\x0b\x0c"


class Line(NamedTuple):
    """The answer to a line, without its newline, and the messages about it."""

    text: str
    error: str = ""
    warnings: tuple[str, ...] = ()


class Batch:
    """A command with default options and inputs. The answer to a line depends on nothing but these and the line."""

    def __init__(self, command: Command, defaults: Mapping[str, Any], inputs: tuple[Any, ...] = (),
                 quiet: bool = False) -> None:
        from dpcalc.core.validate import validate

        self.command, self.inputs, self.quiet = command, inputs, quiet
        self.defaults = {**defaults, "format": "jsonl"}
        self._names = {**spellings(command), "id": "id", "input": "input", "inputs": "input"}
        validate(command, self.defaults)  # an invalid default is one error here, instead of an error for each line

    def line(self, data: bytes | None, number: int) -> Line:
        """The answer to the line of that number; `data` is None for a line that is too long."""
        tag: dict[str, Any] = {}
        try:
            fields = _object(data)
            if "id" in fields:
                tag = {"id": _id(fields.pop("id"))}
            if _is_error(fields):
                message = fields["error"]["message"]
                text = f"line {number}: an error of the command before: {message}".replace("\n", " ")
                return Line("" if self.quiet else dumps({**tag, **fields}), text)
            if "schema" in fields or "kind" in fields:
                fields = {"input": fields}
            return self._answered(tag, *self._question(fields))
        except DpcalcError as error:
            return self._failed(tag, error, number)
        except Exception as error:
            if "DPCALC_DEBUG" in os.environ:
                raise
            return self._failed(tag, fault(error), number)

    def _question(self, fields: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Any, ...]]:
        """The options and the inputs of a line."""
        raw: dict[str, Any] = {}
        for key, x in fields.items():
            name = self._names.get(key)
            if name is None:
                from dpcalc.core.validate import near

                reason = f"no such key of a line for {self.command.name}{near(key[:40], tuple(self._names))}"
                raise DpcalcError("unknown-option", reason, flag(key[:40]))
            if name in raw:
                raise DpcalcError("contradictory", "there twice", flag(name))
            raw[name] = x
        inputs = self.inputs
        if (own := raw.pop("input", None)) is not None:
            inputs = given_inputs(self.command, own if isinstance(own, list) else [own])
        for name, x in raw.items():
            if isinstance(x, str):
                option = self.command.option(name)
                if option.quantity.source(x) is not None:
                    raise DpcalcError("refused", "a line holds its data itself; a file is named on the command line",
                                      flag(name))
                raw[name] = (x,) if option.multiple else x
        return {**self.defaults, **raw}, inputs

    def _answered(self, tag: dict[str, Any], raw: dict[str, Any], inputs: tuple[Any, ...]) -> Line:
        answer = answer_of(self.command, raw, inputs)
        if self.quiet:
            return Line(repr(answer.value), warnings=warnings_of(answer))
        from dpcalc.output.answer import record

        return Line(dumps({**tag, **record(answer)}), warnings=warnings_of(answer))

    def _failed(self, tag: dict[str, Any], error: DpcalcError, number: int) -> Line:
        text = f"line {number}: {error.line()}".replace("\n", " ")
        return Line("" if self.quiet else dumps({**tag, "error": {**error.record()["error"], "line": number}}), text)


def _object(data: bytes | None) -> dict[str, Any]:
    """The JSON object in a line. Raises DpcalcError where the line is anything else."""
    if data is None:
        raise DpcalcError("bad-json", f"a line of more than {LONGEST} bytes")
    try:
        value = loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise DpcalcError("bad-json", "not UTF-8 text") from None
    except BadJson as e:
        raise DpcalcError("bad-json", str(e) if e.at_fault else f"not one JSON object: {e}") from None
    if not isinstance(value, dict):
        raise DpcalcError("bad-json", "not a JSON object; a line looks like {\"sigma\": 1, \"delta\": 1e-5}")
    return value


def _is_error(fields: Mapping[str, Any]) -> bool:
    """Whether a line is an error line, which a batch prints for a question that it cannot answer."""
    error = fields.get("error")
    if set(fields) != {"error"} or not isinstance(error, dict):
        return False
    return "message" in error and all(isinstance(x, str | int) for x in error.values())


def _id(x: Any) -> Any:
    if isinstance(x, dict | list):
        raise DpcalcError("unknown-value", "a text, a number or a boolean is needed", "id")
    return x


def answer_lines(lines: Iterable[str | bytes], command: str, /, *, inputs: Iterable[Input] = (),
                 **defaults: Any) -> Iterator[str]:
    """The answers of a command to JSON Lines, one line each, in order and lazily: what `dpcalc COMMAND --batch` prints.

    `defaults` are options of the lines that do not set them. The answer to a line that cannot be answered is
    {"error": …}. Every answer depends on its line alone, so a stream may be split over any number of machines.

    >>> for line in answer_lines(['{"scale": 2}', '{"scale": -1, "id": 7}'], "rdp", mechanism="laplace", delta=0):
    ...     print(line[:58])
    {"schema": "dpcalc/v1", "version": "0.1.0", "command": "rd
    {"id": 7, "error": {"code": "out-of-range", "option": "--s
    """
    if isinstance(lines, str | bytes):
        raise DpcalcError("usage", r"lines are needed (text.split('\n')), not one text")
    found = command_of(command)
    batch = Batch(found, named(found, defaults), given_inputs(found, inputs))
    for number, line in enumerate(lines, 1):
        data = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
        if data.strip(_WHITE_SPACE):
            yield batch.line(data if len(data) <= LONGEST else None, number).text


# --- the command line ------------------------------------------------------------------------------------------------


def stream(command: Command, raw: dict[str, Any], sources: tuple[str, ...],
           switches: Mapping[str, bool]) -> Callable[[], int]:
    """A function that answers the lines of standard input on standard output and returns the exit code.

    Raises DpcalcError for options that do not go with --batch.
    """
    from dpcalc.commands.sweep import axes

    if raw.get("format") not in (None, "json", "jsonl"):
        raise DpcalcError("contradictory", "--batch prints JSON Lines, or with -q numbers", "--format")
    if switches["quiet"] and (switches["json"] or raw.get("format")):
        raise quiet_beside("--json" if switches["json"] else f"--format {raw['format']}")
    if raw.get("plot"):
        raise DpcalcError("contradictory", "--batch prints lines; a sweep is drawn", "--plot")
    if switches["all"]:
        raise DpcalcError("unneeded", "every line of --batch holds every row already", "--all")
    if switches["explain"]:
        raise DpcalcError("unneeded", "every line of --batch names source, assumptions and errata already", "--explain")
    reading = (o.quantity.option for o in command.all_options() if o.quantity.source(raw.get(o.name)) == "-")
    if own := "--input" if "-" in sources else next(reading, None):
        raise DpcalcError("contradictory", "standard input (-) is the batch", own)
    for axis in axes(command, raw):
        raise DpcalcError("contradictory", "no sweep beside --batch: a line is a point", flag(axis.quantity.name))
    inputs: tuple[Any, ...] = ()
    if sources:
        from dpcalc.accounting.guarantee import load_all

        inputs = load_all(sources)
    batch = Batch(command, {k: v for k, v in raw.items() if v is not None and v != ()}, inputs, switches["quiet"])

    def run() -> int:
        from dpcalc.cli.streams import Messages, Writer, blocks

        if sys.stdin is None or sys.stdout is None:
            raise DpcalcError("unreadable", f"standard {'input' if sys.stdin is None else 'output'} is closed",
                              "--batch")
        messages, failed, number = Messages(f"dpcalc {command.name}: "), False, 0
        with Writer(sys.stdout.buffer) as out:
            for block in blocks(sys.stdin.fileno(), LONGEST):
                for data in block:
                    number += 1
                    if data is None or data.strip(_WHITE_SPACE):
                        line = batch.line(data, number)
                        failed = failed or bool(line.error)
                        out.line(line.text)
                        if line.error and batch.quiet:
                            out.flush()
                            messages.print_error(line.error)
                        messages.print_new_warnings(line.warnings)
                out.flush()
        return 1 if failed else 0

    return run

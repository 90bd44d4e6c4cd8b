"""The lines of a batch: each holds the options of one question, and is answered by itself.

A line of JSON Lines is an object with options under their names (with _ or -), as JSON numbers or texts. It may hold

    id       a text, number or boolean, which is repeated in the answer
    input    (or inputs) a guarantee or a whole result, or a list of them, for the commands that read one

A line that is itself a result or a guarantee counts as the input, so that batches form pipes; an error line of the
previous command is passed on. Options in a line override those of the command line, and null removes one. Empty lines
are skipped.
The answer to a line that cannot be answered is {"error": {…, "line": k}}, and the stream continues.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from dpcalc.commands import CALCULATORS
from dpcalc.commands.ask import answer as answer_of
from dpcalc.commands.ask import command_of, named, spellings, warnings_of
from dpcalc.core.command import Command
from dpcalc.core.errors import DpcalcError, fault, flag
from dpcalc.core.named_files import option_with_file
from dpcalc.core.reading import MEGABYTE
from dpcalc.core.results import Answer
from dpcalc.core.strict_json import BadJson, dumps, loads
from dpcalc.core.validate import validate
from dpcalc.output.answer import record
from dpcalc.output.result import Input, given_inputs

LONGEST = MEGABYTE  # of a line; a limit, so that no input can exhaust the memory
WHITE_SPACE = b" \t\r\n\x0b\x0c"


class Line(NamedTuple):
    """What is printed for a line, without its newline (None: nothing yet), and the messages about it."""

    text: str | None
    error: str = ""
    warnings: tuple[str, ...] = ()
    is_refuted: bool = False  # of an audit: whether it refutes its claim


class Request(NamedTuple):
    """A line that was read: its options and id, its cells as they came (for CSV), or why it cannot be read."""

    number: int
    fields: Mapping[str, Any] = {}
    cells: Mapping[Any, str] = {}  # column → cell
    error: DpcalcError | None = None


class Replies(Protocol):
    """A form of the answers. Each method returns the text for one line, or None where it is printed later."""

    error_column: bool = False  # whether a failed line says why in its column error

    def answered(self, request: Request, answer: Answer) -> str | None: ...

    def failed(self, request: Request, error: DpcalcError) -> str | None: ...

    def rest(self) -> str | None:
        """The text after the last line, where some lines are still to be printed."""
        return None


class JsonReplies(Replies):
    """JSON Lines: the record of each answer, or {"error": …}, with the id of the line."""

    def answered(self, request: Request, answer: Answer) -> str:
        return dumps({**_tag(request), **record(answer)})

    def failed(self, request: Request, error: DpcalcError) -> str:
        if _is_error(request.fields):
            return dumps({**_tag(request), **request.fields})
        return dumps({**_tag(request), "error": {**error.record()["error"], "line": request.number}})


class NumberReplies(Replies):
    """--quiet: the headline number of each answer, and an empty line where there is none."""

    def answered(self, request: Request, answer: Answer) -> str:
        return repr(answer.value)

    def failed(self, request: Request, error: DpcalcError) -> str:
        return ""


class Batch:
    """A command with default options and inputs. The answer to a line depends on nothing but these and the line."""

    def __init__(self, command: Command, defaults: Mapping[str, Any], inputs: tuple[Any, ...] = (),
                 certify: bool = False) -> None:
        self.command, self.inputs, self._certify = command, inputs, certify
        self.defaults = {**defaults, "format": "jsonl"}
        self.names = {**spellings(command), "id": "id", "input": "input", "inputs": "input"}
        validate(command, self.defaults)  # an invalid default is one error here, instead of an error for each line

    def reply(self, request: Request, replies: Replies) -> Line:
        """The answer to a line, or its error, in the given form."""
        try:
            answer = self._answer(request)
            text = replies.answered(request, answer)
            return Line(text, warnings=warnings_of(answer), is_refuted=bool(answer.refuted))
        except DpcalcError as error:
            return self._failed(request, error, replies)
        except Exception as error:
            if "DPCALC_DEBUG" in os.environ:
                raise
            return self._failed(request, fault(error), replies)

    def _failed(self, request: Request, error: DpcalcError, replies: Replies) -> Line:
        text = f"line {request.number}: {error.line()}".replace("\n", " ")
        return Line(replies.failed(request, error), text)

    def _answer(self, request: Request) -> Answer:
        if request.error:
            raise request.error
        fields = dict(request.fields)
        if isinstance(fields.pop("id", None), dict | list):
            raise DpcalcError("unknown-value", "a text, a number or a boolean is needed", "id")
        if _is_error(request.fields):
            raise DpcalcError("passed-on", f"an error of the command before: {fields['error']['message']}")
        if is_guarantee(fields):
            fields = {"input": fields}
        answer = answer_of(self.command, *self._question(fields))
        if self._certify:
            from dpcalc.verify.certify import certified

            answer = certified(answer)
        return answer

    def _question(self, fields: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[Any, ...]]:
        """The options and the inputs of a line."""
        raw, inputs = named(self.command, fields, self.names), self.inputs
        if (own := raw.pop("input", None)) is not None:
            inputs = given_inputs(self.command, own if isinstance(own, list) else [own])
        if name := option_with_file(self.command, raw):
            raise DpcalcError("refused", "a line holds its data itself; a file is named on the command line",
                              flag(name))
        return {**self.defaults, **raw}, inputs


def request_in_json(data: bytes | None, number: int) -> Request:
    """A line of JSON Lines; `data` is None for a line that is too long."""
    try:
        return Request(number, _object(data))
    except DpcalcError as error:
        return Request(number, error=error)


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


def is_guarantee(fields: Mapping[str, Any]) -> bool:
    """Whether a line is itself a result or a guarantee."""
    return "schema" in fields or "kind" in fields


def _is_error(fields: Mapping[str, Any]) -> bool:
    """Whether a line is an error line, which a batch prints for a question that it cannot answer."""
    error = fields.get("error")
    if not set(fields) <= {"error", "id"} or not isinstance(error, dict):
        return False
    return "message" in error and all(isinstance(x, str | int) for x in error.values())


def _tag(request: Request) -> dict[str, Any]:
    """The id of a line, where it has a valid one."""
    has_id = "id" in request.fields and not isinstance(request.fields["id"], dict | list)
    return {"id": request.fields["id"]} if has_id else {}


def answer_lines(lines: Iterable[str | bytes], command: str, /, *, inputs: Iterable[Input] = (),
                 **defaults: Any) -> Iterator[str]:
    """The answers of a command to JSON Lines, one line each, in order and lazily: what `dpcalc COMMAND --batch` prints.

    `defaults` are options of the lines that do not set them. The answer to a line that cannot be answered is
    {"error": …}. Every answer depends on its line alone, so a stream may be split over any number of machines.

    >>> for line in answer_lines(['{"scale": 2}', '{"scale": -1, "id": 7}'], "rdp", mechanism="laplace", delta=0):
    ...     print(line[:58])
    {"schema": "dpcalc/v1", "version": "0.2.0", "command": "rd
    {"id": 7, "error": {"code": "out-of-range", "option": "--s
    """
    if isinstance(lines, str) and lines in CALCULATORS:
        raise DpcalcError("usage", f"the lines come first: answer_lines(lines, {lines!r})")
    if isinstance(lines, str | bytes):
        raise DpcalcError("usage", r"lines are needed (text.split('\n')), not one text")
    found = command_of(command)
    batch, replies = Batch(found, named(found, defaults), given_inputs(found, inputs)), JsonReplies()
    for number, line in enumerate(lines, 1):
        data = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
        if data.strip(WHITE_SPACE):
            yield batch.reply(request_in_json(data if len(data) <= LONGEST else None, number), replies).text or ""

"""Reading text and JSON from a file or from standard input (-), for every command."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dpcalc.core.errors import DpcalcError
from dpcalc.core.strict_json import BadJson, loads

MEGABYTE = 1_000_000  # bytes
_standard_input: tuple[Any, bytes] | None = None  # the stream and its content: each point of a sweep reads it again
STANDARD_INPUT = "standard input"  # as an input is called in messages


def where(source: str) -> str:
    """The name of a source in a sentence."""
    return STANDARD_INPUT if source == "-" else source


@contextmanager
def about(subject: str) -> Iterator[None]:
    """The message of an error within the body begins with its subject: a file, or a part of one."""
    try:
        yield
    except DpcalcError as error:
        error.message = f"{subject}: {error.message}"
        raise


def text(source: str, megabytes: int, option: str | None = None) -> str:
    """The UTF-8 text of a file or of standard input, of at most so many megabytes.

    Raises DpcalcError, with the option that named the source, for what cannot be read.
    """
    limit = megabytes * MEGABYTE
    try:
        if source == "-":
            data = _read_standard_input(limit + 1)
        else:
            with open(source, "rb") as file:
                data = file.read(limit + 1)
    except (OSError, ValueError) as e:
        raise DpcalcError("unreadable", f"{source!r}: {getattr(e, 'strerror', None) or e}", option) from None
    if len(data) > limit:
        raise DpcalcError("unreadable", f"{where(source)} has more than {megabytes} MB, the most that is read", option)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DpcalcError("unreadable", f"{where(source)} is not UTF-8 text", option) from None


def inline_or_text(source: str, megabytes: int, option: str) -> tuple[str, str]:
    """The text and the name of a source, which is a file, or itself the text where it is a JSON object."""
    if source.lstrip().startswith("{"):
        return source, "the JSON"
    return text(source, megabytes, option), where(source)


def json_value(content: str, source: str, option: str | None = None) -> Any:
    """The value of a strict JSON text. Raises DpcalcError with the reason and the place where it is not one."""
    try:
        return loads(content)
    except BadJson as e:
        reason = f"{source}: {e}" if e.at_fault else f"{source} is not one JSON object: {e}{e.place}"
        if option == "--input" and source.lower().endswith((".csv", ".tsv", ".jsonl", ".ndjson")):
            reason += f"; a question per line is read by --batch {source}"
        raise DpcalcError("bad-json", reason, option) from None


def json_values(content: str, source: str, option: str) -> list[Any]:
    """The JSON values of a text: the entries of an array, one value, one in every line, or objects one after another as
    --json prints them. Lines are read as such where the first one is a JSON value by itself."""
    objects = re.split(r"(?m)(?<=^\})\n+(?=\{)", content.strip())
    if len(objects) > 1 and "\n" in objects[0]:
        return [json_value(text, f"{source}, object {k}", option) for k, text in enumerate(objects, 1)]
    lines = [(k, line) for k, line in enumerate(content.split("\n"), 1) if line.strip()]
    try:
        whole = loads(content)
    except BadJson:
        try:
            loads(lines[0][1])
        except BadJson:
            json_value(content, source, option)  # raises what is wrong with the whole text
        if len(lines) == 1:
            json_value(content, source, option)
        return [json_value(line, f"{source}, line {k}", option) for k, line in lines]
    return whole if isinstance(whole, list) else [whole]


def _read_standard_input(most: int) -> bytes:
    global _standard_input
    stream = sys.stdin
    if stream is None:
        raise ValueError("standard input is closed")
    if _standard_input is None or _standard_input[0] is not stream:
        data = getattr(stream, "buffer", stream).read(most)  # in a notebook, stdin has no buffer and gives text
        _standard_input = stream, data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return _standard_input[1]

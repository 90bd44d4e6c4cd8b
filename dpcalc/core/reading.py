"""Text and JSON from a file or from standard input (-): one way to read for every command."""

from __future__ import annotations

import sys
from typing import Any

from dpcalc.core.errors import DpcalcError

MEGABYTE = 1_000_000
_standard_input: tuple[Any, bytes] | None = None  # the stream and what it held: a sweep asks again


def where(source: str) -> str:
    """A source as a sentence names it."""
    return "standard input" if source == "-" else source


def text(source: str, megabytes: int, option: str | None = None) -> str:
    """The UTF-8 text of a file or of standard input. Raises DpcalcError, with the option that named it, for what cannot
    be read."""
    limit = megabytes * MEGABYTE
    try:
        data = _of_standard_input(limit + 1) if source == "-" else _of_file(source, limit + 1)
    except (OSError, ValueError) as e:
        raise DpcalcError("unreadable", f"{source!r}: {getattr(e, 'strerror', None) or e}", option) from None
    if len(data) > limit:
        raise DpcalcError("unreadable", f"{where(source)} has more than {megabytes} MB", option)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DpcalcError("unreadable", f"{where(source)} is not UTF-8 text", option) from None


def inline_or_text(source: str, megabytes: int, option: str) -> tuple[str, str]:
    """(text, where it is from): what a file holds, or the source itself where that is an object of JSON."""
    if source.lstrip().startswith("{"):
        return source, "the JSON"
    return text(source, megabytes, option), where(source)


def json_value(content: str, source: str, option: str | None = None) -> Any:
    """The value of a strict JSON text. Raises DpcalcError that says where it is none, and why."""
    from dpcalc.core.strict_json import BadJson, loads

    try:
        return loads(content)
    except BadJson as e:
        reason = f"{source}: {e}" if e.at_fault else f"{source} is not one JSON object: {e}{e.place}"
        raise DpcalcError("bad-json", reason, option) from None


def _of_file(path: str, most: int) -> bytes:
    with open(path, "rb") as file:
        return file.read(most)


def _of_standard_input(most: int) -> bytes:
    global _standard_input
    stream = sys.stdin
    if stream is None:
        raise ValueError("standard input is closed")
    if _standard_input is None or _standard_input[0] is not stream:
        data = getattr(stream, "buffer", stream).read(most)  # a notebook's has no bytes
        _standard_input = stream, data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return _standard_input[1]

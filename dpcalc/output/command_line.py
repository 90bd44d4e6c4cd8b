"""The command line that repeats the question of an answer."""

from __future__ import annotations

import json
import shlex
from typing import Any, NamedTuple

from dpcalc.core.errors import flag
from dpcalc.core.numbers import plain
from dpcalc.core.results import Answer

LONGEST_LIST = 20  # entries of an option that are written out; more do not fit into a command that people read
LONGEST_JSON = 800  # characters of JSON that are written out, for the same reason: eight lines of a page


class CommandLine(NamedTuple):
    """A command, and what the FILE in it holds; '' where it can be run as it is."""

    text: str
    files: str = ""


def command_line(answer: Answer) -> CommandLine:
    """The command that repeats the question of an answer, quoted for a shell. Every number is written such that it is
    read back as the same double."""
    words, files = list[str](), list[str]()
    for name, value in answer.options.items():
        written = [_written(x) for x in value] if isinstance(value, tuple) else [_written(value)]
        if isinstance(value, list):  # the releases of a ledger
            continue
        if len(written) > LONGEST_LIST or len(written[0]) > LONGEST_JSON:
            files.append(f"the values of {flag(name)}")
            words += [flag(name), "@FILE" if isinstance(value, tuple) else "FILE"]
        elif isinstance(value, tuple) and all(isinstance(x, str) for x in value):  # a repeatable option
            words += [word for x in written for word in (flag(name), x)]
        else:
            words += [flag(name), ",".join(written)]
    data = _data(answer)
    if data is None:
        return CommandLine(shlex.join(["dpcalc", answer.command, *words]), " and ".join(files))
    text = json.dumps(data, ensure_ascii=False)
    if len(text) > LONGEST_JSON:
        read = "the releases" if answer.command == "ledger" else "the guarantees that are read"
        return CommandLine(shlex.join(["dpcalc", answer.command, "FILE", *words]), " and ".join((f"{read}, as JSON",
                                                                                                 *files)))
    return CommandLine(f"echo {shlex.quote(text)} | {shlex.join(['dpcalc', answer.command, '-', *words])}",
                       " and ".join(files))


def _written(x: object) -> str:
    return plain(x) if isinstance(x, float) else str(x)


def _data(answer: Answer) -> Any:
    """What the command reads: one guarantee, several, or the releases of a ledger with them; None where it reads
    nothing."""
    releases = [release for value in answer.options.values() if isinstance(value, list)
                for part in value for release in part["release"]]
    if releases:
        return {"release": [*releases, *answer.inputs]}
    return None if not answer.inputs else answer.inputs[0] if len(answer.inputs) == 1 else list(answer.inputs)

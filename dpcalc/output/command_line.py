"""The command line that repeats the question of an answer."""

import shlex
from typing import Any, NamedTuple

from dpcalc.core.errors import flag
from dpcalc.core.results import Answer
from dpcalc.core.strict_json import dumps
from dpcalc.core.text import option_words

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
        if isinstance(value, list):  # the releases of a ledger
            continue
        if isinstance(value, tuple | str) and len(value) > (LONGEST_LIST if isinstance(value, tuple) else LONGEST_JSON):
            files.append(f"the values of {flag(name)}")
            words += [flag(name), "@FILE" if isinstance(value, tuple) else "FILE"]
        else:
            words += option_words(name, value)
    data = _data(answer)
    if data is None:
        return CommandLine(shlex.join(["dpcalc", answer.command, *words]), " and ".join(files))
    text = dumps(data)
    if len(text) > LONGEST_JSON:
        read = "the releases" if answer.command == "ledger" else "the guarantees that are read"
        return CommandLine(shlex.join(["dpcalc", answer.command, "FILE", *words]), " and ".join((f"{read}, as JSON",
                                                                                                 *files)))
    return CommandLine(f"echo {shlex.quote(text)} | {shlex.join(['dpcalc', answer.command, '-', *words])}",
                       " and ".join(files))


def _data(answer: Answer) -> Any:
    """What the command reads: one guarantee, several, or the releases of a ledger with them; None where it reads
    nothing."""
    releases = [release for value in answer.options.values() if isinstance(value, list)
                for part in value for release in part["release"]]
    if releases:
        return {"release": [*releases, *answer.inputs]}
    return None if not answer.inputs else answer.inputs[0] if len(answer.inputs) == 1 else list(answer.inputs)

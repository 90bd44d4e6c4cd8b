"""The files that data written by others may name: none in JSON in place of a file, those of its folder in a ledger."""

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from dpcalc.core.command import Command
from dpcalc.core.errors import DpcalcError
from dpcalc.core.reading import json_values
from dpcalc.core.remarks import without_remarks

_KEYS = ("file", "input", "run", "schedule")  # their texts are names of files


class Folder(NamedTuple):
    """Where the files are that a ledger may name: in the folder at this path or below it, or `anywhere`. The path is
    None for a ledger that is JSON in place of a file, which names none."""

    path: str | None
    anywhere: bool

    def file(self, name: str, where: str) -> str:
        """The path of a file that the ledger names. Raises DpcalcError where it may not be read, or is no file."""
        if name == "-":
            return name
        if self.path is None:
            raise DpcalcError("refused", f"{where}: JSON in place of a file names no file; write it into a file",
                              "--file")
        if "\0" in name:
            raise DpcalcError("unreadable", f"{where}: {name!r} is no name of a file: it holds a null character",
                              "--file")
        path = os.path.join(self.path, name)
        is_absolute = os.path.isabs(name) or os.path.splitdrive(name)[0] != ""
        inside = (os.path.realpath(path) + os.sep).startswith(os.path.join(os.path.realpath(self.path), ""))
        if not self.anywhere and (is_absolute or ".." in name.replace("\\", "/").split("/") or not inside):
            raise DpcalcError("refused", f"{where}: {name!r}: a ledger names files in its folder and below, without "
                              ".. and links that lead out of it; to read it all the same, add --allow-files-anywhere",
                              "--file")
        if os.path.exists(path) and not os.path.isfile(path):
            raise DpcalcError("unreadable", f"{where}: {name!r} is not a regular file", "--file")
        return path


def option_with_file(command: Command, options: Mapping[str, Any]) -> str | None:
    """The first of the options (by name) whose value names a file, or holds data that name one; None where all hold
    their data themselves."""
    for name, x in options.items():
        quantity = command.option(name).quantity
        if quantity.source(x) is not None or (quantity.reads and _name_file(x)):
            return name
    return None


def _name_file(data: Any) -> bool:
    """Whether data that are given in place of a file, such as a ledger, name a file within them."""
    rest = [("", data)]
    while rest:
        key, x = rest.pop()
        if isinstance(x, Mapping):
            rest += [(str(name), value) for name, value in without_remarks(x).items()]
        elif isinstance(x, list | tuple):
            rest += [(key, value) for value in x]
        elif isinstance(x, str) and x.lstrip().startswith("{"):  # JSON in place of a file
            try:
                rest.append(("", json_values(x, "the JSON", "--file")))
            except DpcalcError:
                continue  # it is no JSON, which is refused where it is read
        elif isinstance(x, str) and (key in _KEYS or (x.startswith("@") and key != "name")):
            return True
    return False

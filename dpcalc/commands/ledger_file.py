"""The files of a ledger: releases in TOML or JSON, results and guarantees of dpcalc, and states of Opacus' accountant.

What a file holds becomes a `Ledger` that stands alone: a release that names another file holds its guarantee instead.
"""

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from dpcalc.accounting.guarantee import load
from dpcalc.accounting.guarantee import read as read_guarantee
from dpcalc.commands.ask import command_of, spellings
from dpcalc.commands.run_file import toml
from dpcalc.core import reading
from dpcalc.core.errors import DpcalcError
from dpcalc.core.named_files import Folder
from dpcalc.core.remarks import remarks, without_remarks
from dpcalc.core.tries import SPELLINGS
from dpcalc.core.validate import near

UNKNOWN = "?"  # stands in place of the number to be solved for
_MEGABYTES = 50  # of the largest file that is read; a result with the grids of its compositions may have some
_EXPECTED = "give a [[release]] for each release"
# keys of a ledger beside its releases
_HEADER = ("delta", "epsilon", "rho", "mu", "adjacency", "adaptive", "filter", "order", "delta-reserve")
_OF_STATE = "poisson_sampling must have been on, which a state of Opacus does not tell"
_NO_OPTIONS = ("name", "command", "input")  # keys of a release that are no options of its command


class Ledger(NamedTuple):
    """What the files hold: the keys of a ledger where they say them, and the releases as objects of JSON."""

    header: dict[str, Any]
    releases: tuple[dict[str, Any], ...]


def read(sources: Iterable[str], files_anywhere: bool = False) -> Ledger:
    """The releases of all files, in their order. A file may name others in its folder, or `files_anywhere`. Raises
    DpcalcError that names the file and the release."""
    header, releases = dict[str, Any](), list[dict[str, Any]]()
    for source in sources:
        found = _read_one(source, files_anywhere)
        for key, x in found.header.items():
            if header.setdefault(key, x) != x:
                raise DpcalcError("contradictory", f"the files say {key} = {header[key]} and {x}; give --{key} to "
                                                   "decide", f"--{key}")
        releases += found.releases
    return Ledger(header, tuple(releases))


def _read_one(source: str, files_anywhere: bool) -> Ledger:
    """The ledger in a file, in standard input, or in a JSON text that stands in place of a file's name."""
    text, where = reading.inline_or_text(source, _MEGABYTES, "--file")
    inline = source.lstrip().startswith("{")
    folder = Folder(None if inline else "" if source == "-" else os.path.dirname(source), files_anywhere)
    own_name = "" if inline or source == "-" else os.path.basename(source)
    header, releases = dict[str, Any](), list[dict[str, Any]]()
    for value in _values(text, where):
        if isinstance(value, Mapping) and value and value.keys() <= {*_HEADER}:
            raise DpcalcError("missing", f'{where}: command = "…", file = "…" or kind = "…" is needed in a [[release]];'
                              ' "?" in place of a number shows what fits', "--file")
        if not (isinstance(value, Mapping) and "release" in value):
            releases += _release(value, where, folder, own_name)
            continue
        for key in value.keys() - {*_HEADER, "release"}:
            known = (*_HEADER, "release")
            raise DpcalcError("unknown-key", f"{where}: {key[:40]!r} is no key of a ledger; there are "
                              f"{', '.join(known)}{near(key[:40], known)}", "--file")
        if not isinstance(value["release"], list):
            raise DpcalcError("bad-toml", f"{where}: {_EXPECTED} (in JSON \"release\": [{{…}}, …])", "--file")
        header |= {key.replace("-", "_"): value[key] for key in _HEADER if key in value}
        for k, data in enumerate(value["release"], 1):
            releases += _release(data, f"{where}, release {k}", folder)
    return Ledger(header, tuple(releases))


def _values(text: str, where: str) -> list[Any]:
    """The objects in a text: of TOML its one table, of JSON one object, those of an array, or one in every line."""
    if text.lstrip()[:1] in ("{", "[") and not re.match(r"\s*\[{1,2}\s*\w+\s*\]{1,2}", text):
        return reading.json_values(text, where, "--file")
    try:
        return [toml(text, where, "--file", _EXPECTED)]
    except DpcalcError as error:
        if re.search(r"=\s*\?", text):
            error.message += '; write "?" with quotes'
        raise


def _release(data: Any, where: str, folder: Folder, name: str = "") -> list[dict[str, Any]]:
    """The releases that an object describes: one, or as many as the file holds that it names."""
    if not isinstance(data, Mapping):
        raise DpcalcError("bad-json", f"{where} is no object with a command, a file or a guarantee", "--file")
    name = " ".join(str(data.get("name", name)).split())
    beside = remarks(data, where)
    data = without_remarks(data)
    named = {**({"name": name} if name else {}), **beside}
    if "history" in data:
        return [{**named, **_of_opacus(data, where)}]
    if "schema" in data or "kind" in data:
        tries = {k: x for k, x in data.items() if k in SPELLINGS}
        rest = {k: x for k, x in data.items() if k != "name" and k not in SPELLINGS}
        return [{**named, **tries, **_guarantee(rest, where)}]
    if "file" in data and "command" not in data:
        return [{**one, **beside} for one in _of_file(data, where, folder, name)]
    if "parallel" in data:
        tries = {k: x for k, x in data.items() if k in SPELLINGS}
        return [{**named, **tries, "parallel": _parts(data, where, folder)}]
    if "command" not in data:
        close = next(filter(None, (near(str(k), ("command", "file", "kind", "parallel", "release")) for k in data)), "")
        raise DpcalcError("missing", f'{where}: command = "…", file = "…" or kind = "…" is needed, or parallel = '
                          f"[[…], […]]{close}", "--file")
    return [{**_of_command(data, where, folder), **beside}]


def _parts(data: Mapping[str, Any], where: str, folder: Folder) -> list[list[dict[str, Any]]]:
    """The releases of each of several disjoint parts of the data. Their command is rdp where they name none."""
    parts = data["parallel"]
    if others := data.keys() - {"parallel", "name", *SPELLINGS}:
        raise DpcalcError("unneeded", f"{where}: {min(others)[:40]!r} does not stand beside parallel; write it into "
                          "the releases of the parts", "--file")
    if not isinstance(parts, list) or not parts or not all(isinstance(part, list) and part for part in parts):
        raise DpcalcError("bad-toml", f"{where}: parallel is a list of parts, each a list of its releases, as "
                          "parallel = [[{sigma = 2}], [{sigma = 3}, {sigma = 4}]]", "--file")
    return [[_of_constant_size(found, there) for r, one in enumerate(part, 1)
             for there in (f"{where}, part {k}, release {r}",)
             for found in _release(_with_command(one, there), there, folder)] for k, part in enumerate(parts, 1)]


def _with_command(one: Any, where: str) -> Any:
    """A release of a part, by rdp where it names nothing else. Raises DpcalcError for parts within parts."""
    if isinstance(one, Mapping) and "parallel" in one:
        raise DpcalcError("refused", f"{where}: a part is not divided again; list all parts in one parallel", "--file")
    is_short = isinstance(one, Mapping) and not one.keys() & {"command", "file", "kind", "schema", "history"}
    return {"command": "rdp", **one} if is_short else one


def _of_constant_size(release: dict[str, Any], where: str) -> dict[str, Any]:
    """A release of a part. Raises DpcalcError where its options say how many records the part has."""
    names = spellings(command_of(release["command"])) if "command" in release else {}
    if sizes := [key for key in release if names.get(key) in ("n", "batch_size")]:
        raise DpcalcError("refused", f"{where}: {sizes[0]} is a size of the part, which is not fixed where a record is "
                          "added, removed or moved; give a constant sampling-rate, and steps", "--file")
    return release


def _of_file(data: Mapping[str, Any], where: str, folder: Folder, name: str) -> list[dict[str, Any]]:
    """The releases in the file that a release names: results, guarantees, or a state of Opacus' accountant."""
    path, others = data["file"], data.keys() - {"file", "name", *SPELLINGS}
    if not isinstance(path, str) or others:
        raise DpcalcError("bad-toml", f"{where}: file is the name of one file, and only a name, remarks and tries "
                          "may stand beside it", "--file")
    path = folder.file(path, where)
    with reading.about(where):
        found = _values(reading.text(path, _MEGABYTES, "--file"), reading.where(path))
    if any(isinstance(x, Mapping) and "schema" not in x and x.keys() & {"release", "file", "command"} for x in found):
        raise DpcalcError("bad-toml", f"{where}: {path} must hold results, guarantees or a state of Opacus; another "
                          "ledger is given on the command line", "--file")
    tries = {k: x for k, x in data.items() if k in SPELLINGS}
    if tries and len(found) > 1:
        raise DpcalcError("refused", f"{where}: {path} holds {len(found)} guarantees, and tries is about one run; "
                          "compose them first, by dpcalc convert --tries", "--file")
    return [{**release, **tries} for x in found
            for release in _release(x, path, folder, name or os.path.basename(path))]


def _of_command(data: Mapping[str, Any], where: str, folder: Folder) -> dict[str, Any]:
    """The release by a command; files that its options name are those beside the ledger."""
    found = {**data, **({"name": " ".join(str(data["name"]).split())} if "name" in data else {})}
    try:
        command = command_of(str(data["command"]))
    except DpcalcError as error:
        raise DpcalcError(error.code, f"{where}: {error.message}", "--file") from None
    if command.name == "ledger":
        raise DpcalcError("refused", f"{where}: a ledger is no release; give both files on the command line", "--file")
    if "input" in data:
        if not command.inputs:
            raise DpcalcError("unneeded", f"{where}: dpcalc {command.name} reads no guarantee", "--input")
        each = data["input"] if isinstance(data["input"], list) else [data["input"]]
        found["input"] = [g for x in each for g in _inputs(x, where, folder)]
    names = spellings(command)
    for key in data.keys() - {*_NO_OPTIONS}:
        quantity = command.option(names[key]).quantity if key in names else None
        if quantity and (source := quantity.source(found[key])) and source != "-":
            found[key] = found[key].replace(source, folder.file(source, where))
    return found


def _inputs(x: Any, where: str, folder: Folder) -> list[dict[str, Any]]:
    """The guarantees in a file that stands under the key `input` of a release, or the guarantee itself."""
    if not isinstance(x, str):
        return [_guarantee(x, where)]
    path = folder.file(x, where)
    with reading.about(where):
        return [g.as_json() for g in load(path)]


def _guarantee(data: Any, where: str) -> dict[str, Any]:
    """A guarantee without what only its result says. One with a number to be solved for is read later."""
    if isinstance(data, Mapping) and "kind" in data and UNKNOWN in data.values():
        return dict(data)
    try:
        return read_guarantee(data, where).as_json()
    except DpcalcError as error:
        error.option = "--file"
        raise


def _of_opacus(state: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The guarantee of a state of Opacus' accountant: each entry (noise multiplier, sampling rate, steps) is Gaussian
    noise on Poisson batches, whichever accountant wrote it."""
    history = state["history"]
    if not isinstance(history, list) or not history:
        raise DpcalcError("bad-json", f"{where}: history is no list of [noise multiplier, sampling rate, steps]",
                          "--file")
    parts = list[dict[str, Any]]()
    for k, entry in enumerate(history, 1):
        if not isinstance(entry, list) or len(entry) != 3:
            raise DpcalcError("bad-json", f"{where}: entry {k} of history is not [noise multiplier, sampling rate, "
                              "steps]", "--file")
        noise, rate, steps = entry
        part = {"name": "gaussian", "noise_multiplier": noise, "sampling": {"scheme": "poisson", "rate": rate},
                "count": steps}
        checked = _guarantee({"kind": "mechanisms", "mechanisms": [part]}, f"{where}, entry {k} of history")
        parts += checked["mechanisms"]
    return {"kind": "mechanisms", "mechanisms": parts, "adjacency": "add-remove", "promises": [_OF_STATE]}

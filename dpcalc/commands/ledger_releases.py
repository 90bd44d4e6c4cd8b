"""The releases of a ledger as guarantees: by the command of each, or as they stand in its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from dpcalc.accounting.guarantee import read
from dpcalc.accounting.neighbours import Composed, compose
from dpcalc.accounting.ways_out import computed_as_zeroed
from dpcalc.commands import calculator
from dpcalc.commands.ask import answer, command_of, named
from dpcalc.commands.best_of_runs import best_of, keys_of_tries
from dpcalc.commands.ledger_file import UNKNOWN
from dpcalc.core import quantities as q
from dpcalc.core import tries
from dpcalc.core.command import Command, Given
from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import human, plain
from dpcalc.core.quantities import Quantity
from dpcalc.core.reading import about
from dpcalc.core.relations import REPLACE_ONE
from dpcalc.core.remarks import is_remark, without_remarks
from dpcalc.core.results import Answer
from dpcalc.core.validate import validate

# The numbers of guarantees that can be solved for. An ε has a name of its own, as the total is an ε as well.
_OF_KIND = {("gdp", "mu"): q.MU, ("zcdp", "rho"): q.RHO, ("dp", "epsilon"): q.RELEASE_EPSILON}
_OF_ONE = {"rho": q.RELEASE_RHO, "mu": q.RELEASE_MU}
_TO = {"rho": "zcdp", "mu": "gdp"}  # what convert turns guarantees into, for these quantities
# What describes a guarantee of `convert` of which an answer at one δ would say less.
_FIELDS = {"rdp": ("alpha", "rdp"), "dp": ("epsilon", "delta")}


class Unknown(NamedTuple):
    """The number to be solved for: the place of its release, from 0, its key there, and its quantity. Within a release
    of disjoint parts, `within` is the place of its part and its place there."""

    place: int
    key: str
    quantity: Quantity
    within: tuple[int, int] | None = None

    def beside_budgets(self, given: Mapping[str, Any]) -> Unknown:
        """The same, by a name of its own where the ledger has a budget on the total of this quantity."""
        if given.get(self.quantity.name) is None or self.quantity.name not in _OF_ONE:
            return self
        return self._replace(quantity=_OF_ONE[self.quantity.name])

    def replaced(self, data: Mapping[str, Any], value: Any) -> dict[str, Any]:
        """The release with a value in its place."""
        if self.within is None:
            return {**data, self.key: value}
        return {**data, "parallel": [[{**one, self.key: value} if (k, r) == self.within else one
                                      for r, one in enumerate(part)] for k, part in enumerate(data["parallel"])]}


class Entry:
    """A release as it stands in a ledger, and the δ of the ledger, if it has one."""

    def __init__(self, number: int | str, data: Mapping[str, Any], delta: float | None, is_only: bool) -> None:
        self.number, self.data, self.delta, self.is_only = number, data, delta, is_only
        self.parameters: Mapping[str, Any] = {}  # of its answer
        self._known: Any = None  # its guarantee, where no number of it is unknown

    @property
    def title(self) -> str:
        """The release in an error: 'release 2 (rdp)'."""
        return f"release {self.number} ({str(self.data.get('name') or self._first)[:40]})"

    @property
    def _first(self) -> str:
        """Its command, or else its kind of guarantee."""
        return str(self.data.get("command") or self.data.get("kind") or "parallel")

    def name(self, unknown: Unknown | None = None, value: float | None = None) -> str:
        """The name of the release, or else its command with its options, or its guarantee. A solution stands in its
        place."""
        if unknown and value is not None and unknown.place + 1 == self.number:
            shown = human(value, upward=unknown.quantity.safe_direction > 0)
            described = _described(unknown.replaced(self.data, shown))
            return f"{self.data['name']}: {unknown.key} = {shown}" if "name" in self.data else described
        return str(self.data.get("name") or _described(self.data))

    def guarantee(self, unknown: Unknown | None = None, value: float | None = None) -> Any:
        """The guarantee of the release, with the value of its unknown number. Raises DpcalcError that names it."""
        if unknown and unknown.place + 1 == self.number:
            return self._read(unknown.replaced(self.data, value))
        self._known = self._known or self._read(self.data)
        return self._known

    def _read(self, entry: Mapping[str, Any]) -> Any:
        """The guarantee that an entry without unknown numbers describes: of the best of several runs where it has a key
        `tries`."""
        options, rest = keys_of_tries(entry)
        found = self._of_one_run(rest)
        if not options:
            return found
        with about(self.title):
            return best_of(found, options)

    def _of_one_run(self, entry: Mapping[str, Any]) -> Any:
        """The guarantee that an entry describes, without what it says of a number of runs."""
        data = without_remarks({key: x for key, x in entry.items() if key != "name"})
        if "parallel" in data:
            return self._of_parts(data["parallel"])
        if "command" not in data:
            return read(data, self.title)
        with about(self.title):
            return self._of_command(data)

    def _of_parts(self, parts: Any) -> Any:
        """The guarantee of disjoint parts of the data, from those of their releases."""
        found = [[one.guarantee().model_copy(update={"name": None}).as_json() for one in part]
                 for part in self.parts(parts)]
        if any(one["kind"] == "selected" for part in found for one in part):
            raise DpcalcError("refused", f"{self.title}: no theorem here covers the best of several runs within "
                              "disjoint parts; give it as a release of its own, about all data", "--tries")
        return read({"kind": "parallel", "parts": found}, self.title)

    def parts(self, parts: Any = None) -> list[list[Entry]]:
        """The releases of each of its parts, as entries; none where it has no parts."""
        return [[Entry(f"{self.number}, part {k}, release {r}", one, self.delta, False)
                 for r, one in enumerate(part, 1)] for k, part in enumerate(parts or self.data.get("parallel", ()), 1)]

    def names_of_parts(self, unknown: Unknown | None = None, value: float | None = None) -> tuple[str, ...]:
        """The names of the releases of each part, where it has parts."""
        own = unknown if unknown and unknown.place + 1 == self.number else None
        shown = human(value or 0.0, upward=own.quantity.safe_direction > 0) if own else ""
        data = own.replaced(self.data, shown) if own else self.data
        return tuple("; ".join(one.name() for one in part) for part in self.parts(data.get("parallel")))

    def facts(self, unknown: Unknown | None = None, value: float | None = None) -> dict[str, Any]:
        """What is said of the release beside its numbers: what is released of disjoint parts, and its remarks."""
        return {"parts": self.names_of_parts(unknown, value) or None,
                "remarks": {key: x for key, x in self.data.items() if is_remark(key)}}

    def can_be_for(self, relation: str) -> bool:
        """Whether its command answers for these neighbours, too."""
        if "command" not in self.data:
            return False
        try:
            self._read({**self.data, "adjacency": relation})
        except DpcalcError:
            return False
        return True

    def _of_command(self, data: Mapping[str, Any]) -> Any:
        """The guarantee of the answer of a command."""
        command = command_of(data["command"])
        raw = named(command, {key: x for key, x in data.items() if key not in ("command", "input")})
        fields = _FIELDS.get(str(raw.get("from")), ())
        if command.name == "convert" and fields and raw.keys() == {"from", *fields}:  # nothing is asked about it
            given = validate(command, raw)
            return read({"kind": given["from"], **{name: given[name] for name in fields}}, "it")
        answer = self._answer(command, raw, tuple(read(x, "its input") for x in data.get("input", ())))
        self.parameters = answer.parameters
        if raw.get("epsilon") is not None and answer.question.unknown is None and (
                answer.guarantee.get("kind") in ("mechanisms", "selected")):
            raise DpcalcError("unneeded", f"{raw['epsilon']} asks for a δ of the release, which a ledger does not use, "
                              "and does not set its noise; drop it", "--epsilon")
        delta = self.delta or 0.0
        if not answer.guarantee or (answer.guarantee["kind"] == "dp" and answer.question.delta == delta
                                    and delta > 0 and not self.is_only):
            raise DpcalcError("missing", "its guarantee is one (ε, δ), so it needs a δ of its own below the total "
                              f"{plain(delta)}, for example delta = {delta / 10:.6g}", "--delta")
        return read({"schema": "dpcalc/v1", "adjacency": answer.adjacency, "guarantee": answer.piped_guarantee}, "it")

    def _answer(self, command: Command, raw: Mapping[str, Any], inputs: tuple[Any, ...]) -> Answer:
        """The answer of the command: with a question of its own, a description, or its ε at the δ of the ledger."""
        try:
            return answer(command, {**raw, "format": "json"}, inputs)
        except DpcalcError as error:
            if error.code != "missing" or error.option is not None or "delta" in raw:
                raise
            if self.delta is None:
                raise DpcalcError("missing", "it is known by its ε at a δ alone, which has no ρ or μ; give delta = "
                                  "1e-5 at the top of the ledger", "--delta") from None
        return answer(command, {**raw, "format": "json", "delta": self.delta}, inputs)


_MOST_PARTS = 2  # mechanisms of one guarantee that are listed in its description


def _described(data: Mapping[str, Any]) -> str:
    """A release in words: its command with its options, or its kind of guarantee with its numbers."""
    if "parallel" in data:
        return f"{len(data['parallel'])} disjoint parts"
    if data.get("kind") == "mechanisms":
        return "; ".join(map(_part_in_words, data["mechanisms"][:_MOST_PARTS])) + (
            f"; … ({len(data['mechanisms'])} mechanisms)" if len(data["mechanisms"]) > _MOST_PARTS else "")
    first = data.get("command") or data["kind"]
    options = ", ".join(key.replace("_", "-") if x is True else f"{key.replace('_', '-')} = {x}"
                        for key, x in without_remarks(data).items()
                        if key not in ("command", "kind", "name", "adjacency")
                        and isinstance(x, str | int | float) and x is not False)
    return f"{first}: {options}" if options else str(first)


def _part_in_words(part: Mapping[str, Any]) -> str:
    """A mechanism of a guarantee in words: 'gaussian: noise-multiplier = 1.1, sampling-rate = 0.01, steps = 1000'."""
    sampling, count = part.get("sampling"), part.get("count", 1)
    numbers = {name: x for name, x in part.items() if name not in ("name", "sampling", "count", "between", "sum")}
    names = {"rate": "sampling-rate"}
    numbers |= {names.get(name, name): x for name, x in (sampling or {}).items() if name != "scheme"}
    numbers |= {"steps": count} if count > 1 else {}
    return f"{part['name']}: " + ", ".join(f"{name.replace('_', '-')} = {x:g}" for name, x in numbers.items())


# --- the unknown number ----------------------------------------------------------------------------------------------


def find_unknown(entries: Sequence[Entry]) -> Unknown | None:
    """The number that is "?", or None. Raises DpcalcError where there are two, or where it cannot be solved for."""
    each: list[tuple[Entry, int, tuple[int, int] | None]] = [(entry, k, None) for k, entry in enumerate(entries)]
    each += [(one, k, (p, r)) for k, entry in enumerate(entries) for p, part in enumerate(entry.parts())
             for r, one in enumerate(part)]
    found = [(entry, key, k, within) for entry, k, within in each for key, x in entry.data.items()
             if x == UNKNOWN and not is_remark(key)]
    if not found:
        return None
    if len(found) > 1:
        (first, key, *_), (second, other, *_) = found[:2]
        raise DpcalcError("contradictory", f'{first.title} has "?" for {key} and {second.title} for {other}; exactly '
                          "one number can be solved for (equal releases are one release with steps)", "--file")
    entry, key, place, within = found[0]
    return Unknown(place, key, _quantity(entry, key), within)


def _quantity(entry: Entry, key: str) -> Quantity:
    """The quantity of a key that can be solved for, in the command of its release or in its guarantee."""
    if tries.SPELLINGS.get(key) == tries.TRIES.name:
        return tries.TRIES
    if key in tries.SPELLINGS:
        raise DpcalcError("unknown-value", f'{entry.title}: {key} cannot be "?"; tries can', "--file")
    if "command" not in entry.data:
        kind = entry.data["kind"]
        if (kind, key) not in _OF_KIND:
            raise DpcalcError("unknown-value", f'{entry.title}: {key} cannot be "?"; epsilon of a dp guarantee, mu of '
                              "gdp and rho of zcdp can", "--file")
        return _OF_KIND[kind, key]
    command = command_of(entry.data["command"])
    with about(entry.title):
        (name,) = named(command, {key: UNKNOWN})
    quantity = command.option(name).quantity
    if not quantity.safe_direction:
        raise DpcalcError("unknown-value",
                          f'{entry.title}: {key} cannot be "?"; {", ".join(command.solvable())} can', "--file")
    return quantity


# --- the neighbours --------------------------------------------------------------------------------------------------


def _way_out(entries: Sequence[Entry], places: Mapping[str, Sequence[int]]) -> str:
    """What makes releases agree that have different neighbours (relation → their places): an option that asks for those
    of the others, where their commands answer it, or the conversion of all of them."""
    convert = f'adjacency = "{REPLACE_ONE}" at the top of the file (or --adjacency {REPLACE_ONE})'
    for relation in places:
        changed = [entries[k] for other, those in places.items() if other != relation for k in those]
        if all(entry.can_be_for(relation) for entry in changed):
            which = " and ".join(f"release {entry.number}" for entry in changed)
            return f'set adjacency = "{relation}" in {which}, or convert with {convert}'
    first = computed_as_zeroed([entry.title for entry in entries], places)
    return f"{first}write {convert}, which converts the others"


def composed_of(entries: Sequence[Entry], wanted: str | None, unknown: Unknown | None = None,
                value: float | None = None) -> Composed:
    """The guarantees of all releases, with the value of an unknown number, as guarantees about the same neighbouring
    data sets. Raises DpcalcError where they are not."""
    found = tuple(entry.guarantee(unknown, value) for entry in entries)
    sizes, titles = [guarantee.size_of_group for guarantee in found], [entry.title for entry in entries]
    if len(set(sizes)) > 1:
        said = "; ".join(f"{title}: {size}" for title, size in zip(titles, sizes, strict=True))
        raise DpcalcError("refused", "the releases are about groups of different numbers of records, whose guarantees "
                          f"do not compose ({said}); set group-size = {max(sizes)} in each of them", "--file")
    try:
        return compose(found, wanted, titles, lambda places: _way_out(entries, places))
    except DpcalcError as error:
        error.option = "--file" if error.option == "--input" else error.option
        raise


# --- the composition -------------------------------------------------------------------------------------------------


def total_of(guarantees: Sequence[Any], delta: Any, options: Any = None, given: Given | None = None,
             asks: str = "epsilon") -> Answer:
    """The total ε (or ρ, or μ) as `dpcalc convert` answers it. Where a record is verified, `given` holds its rows."""
    convert = calculator("convert")
    question = {"delta": delta} if asks == "epsilon" else {"to": _TO[asks]}
    call = validate(convert, {**(options or {}), **question}, tuple(guarantees))
    call.recorded = given.recorded if given else None
    return convert.answer(call)

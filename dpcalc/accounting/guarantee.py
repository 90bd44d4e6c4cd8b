"""Guarantees in JSON, which one command writes and the next one reads: their models, and how they are read."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from math import fsum
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError, model_validator

from dpcalc.accounting import older_records
from dpcalc.accounting.guarantee_parts import AnyPart, Count, Model
from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.core import reading
from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import brief
from dpcalc.core.quantities import ADJACENCY
from dpcalc.core.strict_json import OutOfRange
from dpcalc.core.text import printable

_MEGABYTES = 50  # the largest input that is read, so that a wrong file is refused before it fills the memory
_MOST_ORDERS = 100_000  # of an RDP curve: all are tried, in half a second, at every value that --solve evaluates
UNIT = 1e-9  # absolute: by how much the sum of probabilities may differ from 1, as they are rounded
Loss = Annotated[float, Field(ge=0, allow_inf_nan=False, strict=True)]
Probability = Annotated[float, Field(ge=0, le=1, strict=True)]
Delta = Annotated[float, Field(ge=0, lt=1, strict=True)]
Sentence = Annotated[str, AfterValidator(printable), Field(max_length=1000)]
Order = Annotated[float, Field(gt=1, le=1e10, strict=True)]


class _Kind(Model):
    """What every guarantee may state beside its numbers.

    `adjacency` is the relation of neighbouring data sets, where it is known. `promises` are sentences on what must hold
    for the guarantee, besides the assumptions of theorems. `name` is the file that it was read from. `group_size` is
    the number of records that they differ in, where it is above 1: the numbers hold for groups of so many records.
    `index` is the position in a run of the only record that the guarantee is about (of a composition: the positions in
    its runs). `status` and `bound` are those of the bound behind the numbers, where it is not proven. """

    adjacency: Literal["add-remove", "replace-one", "zero-out"] | None = None
    promises: tuple[Sentence, ...] | None = None
    name: Sentence | None = None
    group_size: Count | None = None
    index: Annotated[tuple[Count, ...], Field(min_length=1)] | None = None
    status: Literal["proven", "as-published", "conjecture", "limit", "lower"] | None = None
    bound: str | None = None

    @property
    def size_of_group(self) -> int:
        """The number of records by which neighbouring data sets differ."""
        return self.group_size or 1

    def as_json(self) -> dict[str, Any]:
        """The guarantee for the record of an answer, without its status: one that was read is proven."""
        optional = ("adjacency", "promises", "name", "group_size", "index", "upper_bound")
        unknown = {name for name in optional if getattr(self, name, None) is None}
        return self.model_dump(mode="json", exclude={"status", "bound", *unknown})


class Mechanisms(_Kind):
    """`upper_bound` is true where a run loses at most what these mechanisms lose, and may lose less. The fields of the
    mechanisms are about one record, also where there is a `group_size`."""

    kind: Literal["mechanisms"]
    upper_bound: Literal[True] | None = None
    mechanisms: Annotated[tuple[AnyPart, ...], Field(min_length=1)]


class Rdp(_Kind):
    kind: Literal["rdp"]
    alpha: Annotated[tuple[Order, ...], Field(min_length=1, max_length=_MOST_ORDERS)]
    rdp: tuple[Loss, ...]

    @model_validator(mode="after")
    def _same_length(self) -> Rdp:
        if len(self.alpha) != len(self.rdp):
            raise ValueError("alpha and rdp differ in length")
        return self


class Dp(_Kind):
    kind: Literal["dp"]
    epsilon: Loss
    delta: Delta


class Gdp(_Kind):
    kind: Literal["gdp"]
    mu: Loss


class Zcdp(_Kind):
    kind: Literal["zcdp"]
    rho: Loss


class Outcomes(_Kind):
    """A mechanism with finitely many outcomes: their probabilities p and q on two neighbouring data sets, and how often
    it is used.

    Where several are composed, p belongs to the same one of the two data sets in each of them. It need not be known
    which one that is: beside a mechanism whose two directions differ, as on Poisson batches, either order counts.
    """

    kind: Literal["outcomes"]
    p: Annotated[tuple[Probability, ...], Field(min_length=1)]
    q: tuple[Probability, ...]
    count: Count = 1

    @model_validator(mode="after")
    def _are_distributions(self) -> Outcomes:
        if len(self.p) != len(self.q):
            raise ValueError("p and q differ in length")
        for name, vector in (("p", self.p), ("q", self.q)):
            if abs(fsum(vector) - 1) > UNIT:
                raise ValueError(f"the probabilities {name} add up to {fsum(vector):g}, not 1")
        return self


class Tv(_Kind):
    kind: Literal["tv"]
    tv: Probability


class Sampled(_Kind):
    """A privacy profile at some values of ε, valid for both orders of the neighbours."""

    kind: Literal["profile"]
    epsilon: Annotated[tuple[Loss, ...], Field(min_length=1)]
    delta: tuple[Probability, ...]

    @model_validator(mode="after")
    def _same_length(self) -> Sampled:
        if len(self.epsilon) != len(self.delta):
            raise ValueError("epsilon and delta differ in length")
        return self


_Single = Mechanisms | Rdp | Dp | Gdp | Zcdp | Outcomes | Tv | Sampled
_Part = Annotated[tuple[Annotated[_Single, Field(discriminator="kind")], ...], Field(min_length=1)]


class Parallel(_Kind):
    """Disjoint parts of the data: the guarantees of what is released of each part, which read its records alone. See
    accounting/disjoint_parts.py. For replace-one they are those for records that are added or removed, and `replaced`
    are those for records that are replaced and stay in their part, where they are other ones. """

    kind: Literal["parallel"]
    parts: Annotated[tuple[_Part, ...], Field(min_length=1)]
    replaced: tuple[_Part, ...] | None = None

    @model_validator(mode="after")
    def _same_parts(self) -> Parallel:
        if self.replaced is not None and len(self.replaced) != len(self.parts):
            raise ValueError("replaced and parts differ in length")
        return self

    def as_json(self) -> dict[str, Any]:
        """The guarantee for the record of an answer."""
        each = {name: [[one.as_json() for one in part] for part in found]
                for name, found in (("parts", self.parts), ("replaced", self.replaced)) if found}
        return {**{name: x for name, x in super().as_json().items() if name != "replaced"}, **each}


Guarantee = _Single | Parallel
_KINDS = tuple(get_args(kind.model_fields["kind"].annotation)[0] for kind in get_args(Guarantee))
_ADAPTER: TypeAdapter[Guarantee] = TypeAdapter(Annotated[Guarantee, Field(discriminator="kind")])


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a guarantee."""
    return _ADAPTER.json_schema(ref_template="#/$defs/{model}")


def load(source: str) -> tuple[Guarantee, ...]:
    """The guarantees in a file or in standard input (-): one, an array, or one in every line. A result of dpcalc counts
    as its guarantee. A guarantee without a name gets that of the file."""
    found = parse_all(reading.text(source, _MEGABYTES, "--input"), reading.where(source))
    name = printable(os.path.basename(reading.where(source)))[:100]
    names = [name] if len(found) == 1 else [f"{name} ({k})" for k in range(1, len(found) + 1)]
    return tuple(g if g.name else g.model_copy(update={"name": x}) for g, x in zip(found, names, strict=True))


def load_all(sources: Iterable[str]) -> tuple[Guarantee, ...]:
    """The guarantees of several files, in their order."""
    return tuple(guarantee for source in sources for guarantee in load(source))


def parse(text: str, where: str) -> Guarantee:
    """The one guarantee in a JSON text. Raises DpcalcError that says what is wrong and what is expected."""
    return read(reading.json_value(text, where, "--input"), where)


def parse_all(text: str, where: str) -> tuple[Guarantee, ...]:
    """The guarantees in a JSON text: one, an array of them, or one in every line (JSON Lines)."""
    if not text.strip():
        raise DpcalcError("bad-json", f"{where} is empty; give the output of a dpcalc command with --json, or a "
                                      "guarantee", "--input")
    values = reading.json_values(text, where, "--input")
    if not values:
        raise DpcalcError("bad-json", f"{where} is an empty array; give at least one guarantee", "--input")
    return tuple(read(x, where if len(values) == 1 else f"{where}, guarantee {k}") for k, x in enumerate(values, 1))


def _refuse_unproven(status: Any, bound: Any, where: str) -> None:
    if status not in (None, "proven"):
        by = f" ({brief(bound)})" if isinstance(bound, str) else ""
        raise DpcalcError("refused",
                          f"{where}: the status is {brief(status)}{by}; only proven guarantees can be converted or "
                          "composed", "--input")


def read(data: Any, where: str) -> Guarantee:
    """The guarantee in a JSON value: the value itself, or the guarantee of a result of dpcalc.

    Raises DpcalcError with what is wrong, also where the guarantee is not proven.
    """
    adjacency = None
    if isinstance(data, dict) and "schema" in data:
        if data["schema"] != "dpcalc/v1":
            raise DpcalcError("bad-json", f"{where}: schema {brief(data['schema'])} is not dpcalc/v1", "--input")
        if not isinstance(data.get("inputs", []), list | None):
            raise DpcalcError("bad-json", f'{where} has no list "inputs"', "--input")
        _refuse_unproven(data.get("status"), data.get("bound"), where)
        older_records.refuse_uncovered(data, where)
        adjacency = older_records.relation_of(data)
        is_written_by_dpcalc = "version" in data
        data = data.get("guarantee")
        if is_written_by_dpcalc:
            _refuse_without_count(data, where)
    if isinstance(data, list):
        raise DpcalcError("bad-json", f"{where} is an array of {len(data)} values; give one guarantee", "--input")
    if isinstance(data, dict) and "history" in data:
        raise DpcalcError("bad-json", f"{where} is a state of Opacus' accountant, which dpcalc ledger reads", "--input")
    if not isinstance(data, dict) or "kind" not in data:
        raise DpcalcError("bad-json",
                          f"{where} is not a dpcalc result or guarantee; a guarantee has a \"kind\": "
                          f"{', '.join(_KINDS)}", "--input")
    try:
        found = _ADAPTER.validate_python(data)
    except ValidationError as e:
        raise DpcalcError("bad-json", f"{where}: {_complaint(e.errors(include_url=False)[0])}", "--input") from None
    for one in (found, *(one for name in ("parts", "replaced") for part in getattr(found, name, None) or ()
                       for one in part)):
        _refuse_unproven(one.status, one.bound, where)
    if found.adjacency is None and adjacency in ADJACENCY.choices:
        found = found.model_copy(update={"adjacency": adjacency})
    return found


def _refuse_without_count(guarantee: Any, where: str) -> None:
    """Raises DpcalcError where the guarantee of a result lacks a count, which dpcalc always writes: without it the
    result would seem to lose less privacy. JSON that is written by hand, and has no version of dpcalc, may leave out a
    count of 1."""
    if isinstance(guarantee, dict):
        parts = guarantee["mechanisms"] if isinstance(guarantee.get("mechanisms"), list) else []
        parts = [*parts, *([guarantee] if guarantee.get("kind") == "outcomes" else ())]
        if any(isinstance(part, dict) and "count" not in part for part in parts):
            raise DpcalcError("bad-json", f"{where}: its guarantee does not say how often a mechanism is used (count); "
                              "compute the result again", "--input")


def _complaint(issue: Any) -> str:
    """An issue of pydantic as a sentence: the key, its value, and what is allowed."""
    path = [str(x) for x in issue["loc"][1:]]
    key = ".".join(p for p in path if p not in MECHANISMS) or "kind"
    if isinstance(x := issue["input"], OutOfRange) or (isinstance(x, int) and abs(x) > sys.float_info.max):
        return f"{key}: {str(x)[:40]} is not a finite number, or below the least positive double"
    limits = issue.get("ctx", {})
    bad = limits.get("tag", issue["input"])
    value = brief(bad) if isinstance(bad, dict | list) else json.dumps(bad, default=str, ensure_ascii=False)
    value = value if len(value) <= 60 else value[:57] + "…"
    allowed = " and ".join(f"{_SIGNS[name]} {limit:g}" for name, limit in limits.items() if name in _SIGNS)
    return f"{key}: " + _WORDS.get(issue["type"], "{value} is not valid here").format(
        value=value, allowed=allowed, most=limits.get("max_length"), error=limits.get("error"),
        expected=limits.get("expected") or limits.get("expected_tags"))


_SIGNS = {"gt": ">", "ge": "≥", "lt": "<", "le": "≤"}
_RANGE = "{value} is not {allowed}"
_WORDS = {
    "missing": "missing",
    "extra_forbidden": "there is no such key here",
    "greater_than": _RANGE, "greater_than_equal": _RANGE, "less_than": _RANGE, "less_than_equal": _RANGE,
    "finite_number": "{value} is not a finite number",
    "float_type": "{value} is not a number", "int_type": "{value} is not a whole number",
    "int_from_float": "{value} is not a whole number",
    "tuple_type": "{value} is not a list", "too_short": "the list is empty",
    "too_long": "a list of more than {most} entries; give the orders that matter (some hundreds show any curve)",
    "literal_error": "{value} is not one of {expected}", "union_tag_invalid": "{value} is not one of {expected}",
    "union_tag_not_found": f"{{value}} has no name ({', '.join(MECHANISMS)})",
    "model_type": "{value} is not an object", "model_attributes_type": "{value} is not an object",
    "value_error": "{error}",
}

"""Guarantees in JSON, which one command writes and the next one reads: their models, and how they are read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from math import fsum
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field, TypeAdapter, ValidationError, model_validator

from dpcalc.accounting import older_records
from dpcalc.accounting.guarantee_complaints import (
    complaint,
    delta_of,
    refuse_audit,
    refuse_unproven,
    refuse_without_count,
)
from dpcalc.accounting.guarantee_parts import AnyPart, Count, Model, Unwritten
from dpcalc.core import reading
from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import brief
from dpcalc.core.quantities import ADJACENCY
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
    its runs). `status` and `bound` are those of the bound behind the numbers, where it is not proven. `at_delta` is the
    δ of the answer that it was read from, and no key of its JSON. """

    adjacency: Literal["add-remove", "replace-one", "zero-out"] | None = None
    promises: tuple[Sentence, ...] | None = None
    name: Sentence | None = None
    group_size: Count | None = None
    index: Annotated[tuple[Count, ...], Field(min_length=1)] | None = None
    status: Literal["proven", "as-published", "conjecture", "limit", "lower", "model"] | None = None
    bound: str | None = None
    at_delta: Unwritten = None

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


class Tries(Model):
    """The law of the number of runs: truncated negative binomial with a shape and a gamma, or Poisson with a mean."""

    shape: Annotated[float, Field(gt=-1, le=1000, strict=True)] | None = None
    gamma: Annotated[float, Field(gt=0, le=1, strict=True)] | None = None
    mean: Annotated[float, Field(gt=0, le=1e12, strict=True)] | None = None

    @model_validator(mode="after")
    def _is_one_law(self) -> Tries:
        if (self.shape is None) != (self.gamma is None) or (self.shape is None) == (self.mean is None):
            raise ValueError("give shape and gamma of a truncated negative binomial law, or the mean of a Poisson law")
        return self


Single = Mechanisms | Rdp | Dp | Gdp | Zcdp | Outcomes | Tv | Sampled


_Part = Annotated[tuple[Annotated[Single, Field(discriminator="kind")], ...], Field(min_length=1)]


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


OfOneRun = Single | Parallel


class Selected(_Kind):
    """The best of a random number of runs: the law of their number, and the guarantees that one run composes."""

    kind: Literal["selected"]
    law: Tries
    candidate: Annotated[tuple[Annotated[OfOneRun, Field(discriminator="kind")], ...], Field(min_length=1)]

    @property
    def size_of_group(self) -> int:
        return max(g.size_of_group for g in self.of_one_run)

    @property
    def of_one_run(self) -> tuple[OfOneRun, ...]:
        """The guarantees of one run, about what is stated for the selection: neighbours, groups and an index."""
        return tuple(g.model_copy(update={name: getattr(g, name) or getattr(self, name) for name in (
            "adjacency", "group_size", "index")}) for g in self.candidate)

    def as_json(self) -> dict[str, Any]:
        law = self.law.model_dump(mode="json", exclude_none=True)
        return {**super().as_json(), "law": law, "candidate": [g.as_json() for g in self.candidate]}


Guarantee = OfOneRun | Selected


def within(guarantee: Guarantee) -> tuple[OfOneRun, ...]:
    """The guarantees that a guarantee is made of: those of one of several runs, or of disjoint parts."""
    if isinstance(guarantee, Selected):
        return tuple(one for run in guarantee.candidate for one in (run, *within(run)))
    if isinstance(guarantee, Parallel):
        return tuple(one for part in (*guarantee.parts, *(guarantee.replaced or ())) for one in part)
    return ()
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


def read(data: Any, where: str) -> Guarantee:
    """The guarantee in a JSON value: the value itself, or the guarantee of a result of dpcalc.

    Raises DpcalcError with what is wrong, also where the guarantee is not proven.
    """
    adjacency = at_delta = None
    if isinstance(data, dict) and "schema" in data:
        if data["schema"] != "dpcalc/v1":
            raise DpcalcError("bad-json", f"{where}: schema {brief(data['schema'])} is not dpcalc/v1", "--input")
        if not isinstance(data.get("inputs", []), list | None):
            raise DpcalcError("bad-json", f'{where} has no list "inputs"', "--input")
        refuse_audit(data, where)
        refuse_unproven(data.get("status"), data.get("bound"), where)
        older_records.refuse_uncovered(data, where)
        at_delta = delta_of(data)
        adjacency = older_records.relation_of(data)
        is_written_by_dpcalc = "version" in data
        data = older_records.guarantee_of(data)
        if is_written_by_dpcalc:
            refuse_without_count(data, where)
    if isinstance(data, list):
        raise DpcalcError("bad-json", f"{where} is an array of {len(data)} values; give one guarantee", "--input")
    if isinstance(data, dict) and "history" in data:
        raise DpcalcError("bad-json", f"{where} is a state of Opacus' accountant, which dpcalc ledger reads", "--input")
    refuse_audit(data, where)
    if not isinstance(data, dict) or "kind" not in data:
        raise DpcalcError("bad-json",
                          f"{where} is not a dpcalc result or guarantee; a guarantee has a \"kind\": "
                          f"{', '.join(_KINDS)}", "--input")
    try:
        found = _ADAPTER.validate_python(data)
    except ValidationError as e:
        raise DpcalcError("bad-json", f"{where}: {complaint(e.errors(include_url=False)[0])}", "--input") from None
    for one in (found, *within(found)):
        refuse_unproven(one.status, one.bound, where)
    if found.adjacency is None and adjacency in ADJACENCY.choices:
        found = found.model_copy(update={"adjacency": adjacency})
    return found if at_delta is None else found.model_copy(update={"at_delta": at_delta})

"""The parts of a guarantee in JSON: mechanisms, how they sample, and how often they are used."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    create_model,
    model_serializer,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticKnownError

from dpcalc.accounting.mechanisms import MECHANISMS, Mechanism
from dpcalc.accounting.mechanisms.record import Number
from dpcalc.accounting.schemes import SCHEMES, Scheme
from dpcalc.accounting.schemes.record import COUNT, RATE, Use
from dpcalc.core.quantities import LEAST_RATE
from dpcalc.core.relations import RELATIONS

# When the first model is made, pydantic reads the metadata of every installed package to look for plugins; dpcalc uses
# none.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

Rate = Annotated[float, Field(ge=LEAST_RATE, le=1, strict=True)]
Count = Annotated[int, Field(ge=1, le=2**53, strict=True)]


def _refuse_key(x: Any) -> Any:
    raise PydanticKnownError("extra_forbidden")


# a number that dpcalc adds to a guarantee after it is read: neither read nor written, and in no schema
Unwritten = Annotated[SkipJsonSchema[float | None], BeforeValidator(_refuse_key), Field(exclude=True)]


class Model(BaseModel):
    """A model that refuses unknown fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Sampling(Model):
    """A way to form batches; a model for each scheme adds its fields."""

    scheme: str

    @property
    def record(self) -> Scheme:
        return SCHEMES[self.scheme]


_FIELDS: dict[str, Any] = {RATE: Rate, COUNT: Count}


def _sampling_model(scheme: Scheme) -> type[Sampling]:
    """The model of the batches of this scheme, from its record."""
    fields: dict[str, Any] = {name: (_FIELDS[kind], ...) for name, kind in scheme.fields.items()}
    fields["scheme"] = (Literal.__getitem__(scheme.name), ...)
    return create_model(f"{_title(scheme.name)}Batches", __base__=Sampling, **fields)


def _title(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))


if TYPE_CHECKING:
    _AnySampling = Sampling
else:
    _AnySampling = Annotated[reduce(or_, [_sampling_model(s) for s in SCHEMES.values() if s.fields]),
                             Field(discriminator="scheme")]


class Part(Model):
    """A mechanism, how it samples, and how often it is used; a model for each mechanism adds the fields of its noise.

    `between` says which two batches the numbers of the mechanism are about, where it is not what the theorem about its
    way of sampling needs for the neighbouring data sets of the guarantee. With `sum` (of Gaussian noise) the noise
    multiplier is the one of a sum, σ over the clipping norm. `moved` is how many of the uses are one release: those on
    the values that one person moves. """

    name: str
    sampling: _AnySampling | None = None
    count: Count = 1
    between: Literal["add-remove", "replace-one"] | None = None
    sum: Literal[True] | None = None
    moved: Count | None = None

    @property
    def mechanism(self) -> Mechanism:
        return MECHANISMS[self.name]

    @model_validator(mode="after")
    def _can_be_used(self) -> Part:
        if self.sum and self.name != "gaussian":
            raise ValueError(f"sum is about a noise multiplier, which {self.name} does not have")
        if self.sampling is None:
            return self
        only = self.sampling.record.only
        if self.mechanism.query.not_sampled:
            query = self.mechanism.query
            rounds = ", and count the rounds that a respondent is asked in" if query.of_respondents else ""
            raise ValueError(f"{self.name} {query.not_sampled}; leave out its sampling{rounds}")
        if only and self.name not in only:
            words = " or ".join(MECHANISMS[name].words for name in only)
            raise ValueError(f"{self.sampling.scheme} sampling is supported for {words} only")
        return self

    @model_serializer(mode="wrap")
    def _without_defaults(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found: dict[str, Any] = serialize(self)
        return {name: x for name, x in found.items() if x is not None or name not in ("between", "sum", "moved")}

    def relation(self, stated: str | None) -> str | None:
        """The relation of the neighbouring data sets: the stated one, or else the usual one of its sampling, or None
        where it is unstated. Where its fields say how many people differ, it is one of those relations."""
        if self.mechanism.contributors is not None:
            people = self.mechanism.contributors(vars(self))
            possible = [relation.name for relation in RELATIONS.values() if relation.sensitivity == people]
            return stated if stated in possible else possible[0]
        return stated or (None if self.sampling is None else self.sampling.record.neighbours[0])

    def base(self, relation: str | None) -> str | None:
        """The relation between the two batches (or data sets) that the numbers of the mechanism are about."""
        if self.sampling is None or relation is None:
            return self.between or relation
        return self.between or self.sampling.record.bases[relation].relation

    def params(self, relation: str | None, group_size: int = 1) -> Mapping[str, Any]:
        """The parameters of one use on a batch, or on all records where nothing is sampled, for groups of so many
        records."""
        own = self.mechanism.of_part(vars(self))
        if self.sum and (base := self.base(relation)):
            own["sensitivity"] = RELATIONS[base].sensitivity
        return self.mechanism.of_group(own, group_size)

    def use(self, stated: str | None, group_size: int = 1) -> Use:
        """One use on a random batch."""
        relation = self.relation(stated)
        assert self.sampling is not None and relation is not None
        return Use(self.mechanism, self.params(relation), vars(self.sampling), relation, group_size,
                   bool(self.sum))


def _annotation(number: Number) -> Any:
    """The type of a number of a mechanism."""
    if number.least is not None:
        return Annotated[int, Field(ge=number.least, le=number.most, strict=True, description=number.description)]
    return Annotated[float, Field(gt=0, lt=number.below, allow_inf_nan=False, strict=True,
                                  description=number.description)]


def _part_model(mechanism: Mechanism) -> type[Part]:
    """The model of a part by this mechanism, from its record."""
    fields: dict[str, Any] = {
        name: (_annotation(number), ...) for name, number in mechanism.part.fields.items()}
    fields["name"] = (Literal.__getitem__(mechanism.name), ...)
    return create_model(_title(mechanism.name), __base__=Part, **fields)


if TYPE_CHECKING:
    AnyPart = Part
else:
    AnyPart = Annotated[reduce(or_, map(_part_model, MECHANISMS.values())), Field(discriminator="name")]

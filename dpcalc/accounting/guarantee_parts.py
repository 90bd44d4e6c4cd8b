"""The parts of a guarantee in JSON: mechanisms, how they sample, and how often they are used."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from dpcalc.accounting.mechanisms import MECHANISMS, Mechanism
from dpcalc.accounting.mechanisms.record import Number
from dpcalc.accounting.schemes import SCHEMES, Scheme
from dpcalc.accounting.schemes.record import COUNT, RATE

# When the first model is made, pydantic reads the metadata of every installed package to look for plugins; dpcalc uses
# none.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

Rate = Annotated[float, Field(gt=0, le=1, strict=True)]
Count = Annotated[int, Field(ge=1, le=2**53, strict=True)]


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
    """A mechanism, how it samples, and how often it is used; a model for each mechanism adds the fields of its
    noise."""

    name: str
    sampling: _AnySampling | None = None
    count: Count = 1

    @property
    def mechanism(self) -> Mechanism:
        return MECHANISMS[self.name]

    @model_validator(mode="after")
    def _can_be_sampled(self) -> Part:
        if self.sampling is None:
            return self
        only, unsampled = self.sampling.record.only, self.mechanism.unsampled
        if unsampled:
            raise ValueError(f"{self.name} does not go with random batches, as {unsampled}")
        if only and self.name not in only:
            words = " or ".join(MECHANISMS[name].words for name in only)
            raise ValueError(f"{self.sampling.scheme} sampling is supported for {words} only")
        return self

    def params(self, group_size: int) -> Mapping[str, Any]:
        """The parameters of one use for groups of so many records."""
        return self.mechanism.of_group(self.mechanism.of_part(vars(self)), group_size)


def _annotation(number: Number) -> Any:
    """The type of a number of a mechanism."""
    if number.least is not None:
        return Annotated[int, Field(ge=number.least, le=2**53, strict=True, description=number.description)]
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

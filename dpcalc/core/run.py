"""One question about one run, in one record that is made once, after validation:

    Given (options as they were written) → Run (with the question) → Run.params (of the bounds) → rows → Answer
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from dpcalc.core.bound import Params
from dpcalc.core.command import Command, Given
from dpcalc.core.results import Answer, Question, Row

_OF_QUESTION = frozenset({"epsilon", "delta", "alpha", "rdp"})


@dataclass(frozen=True, eq=False)
class Run(Mapping[str, Any]):
    """What every function between the options and the answer reads.

    As a mapping it holds the options: run["sigma"] is --sigma as given, by default, or as solved for, and None without
    a value. run.params holds what the theorems take. Nothing else carries a parameter.
    """

    command: Command
    given: Given
    question: Question
    to_bounds: Callable[[Run], Params]  # from the options to the parameters of the bounds
    uses: frozenset[str] = frozenset()  # the options that the answer depends on, which it shows
    instead: Mapping[str, Any] = field(default_factory=dict)  # values that replace given ones, as a solution does
    _options: Mapping[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_options", {**self.given.values, **self.instead})

    def __getitem__(self, option: str) -> Any:
        return self._options.get(option)

    def get(self, option: str, default: Any = None) -> Any:
        return self._options.get(option, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._options)

    def __len__(self) -> int:
        return len(self._options)

    def __contains__(self, option: object) -> bool:
        return option in self._options

    @cached_property
    def params(self) -> Params:
        """The parameters of the bounds."""
        return self.to_bounds(self)

    @property
    def unknown(self) -> str | None:
        """The name of the parameter to be solved for, if there is one."""
        return self.question.unknown.name if self.question.unknown else None

    @property
    def bounds(self) -> tuple[str, ...]:
        """The bounds that --bound names."""
        return self["bound"] or ()

    def sets(self, *options: str) -> bool:
        """Whether one of these options is given, or to be solved for."""
        return any(self.given.has(option) or option == self.unknown for option in options)

    def asking(self, question: Question) -> Run:
        """The same run with another question."""
        return replace(self, question=question)

    def completed(self, **options: Any) -> Run:
        """The run with options that others imply; the answer shows them as if they were given."""
        return replace(self, given=self.given.having(**options))

    def having(self, **options: Any) -> Run:
        """The run with other values of some options."""
        return Run(self.command, self.given, self.question, self.to_bounds, self.uses, {**self.instead, **options})

    def at(self, unknown: float) -> Run:
        """The run with a value of the parameter to be solved for."""
        assert self.unknown is not None
        return self.having(**{self.unknown: unknown})

    def solved(self, rows: Sequence[Row]) -> Run:
        """The run with the solution of the headline, where a parameter was solved for."""
        return self.at(rows[0].result[self.unknown]) if self.unknown else self

    def answer(self, rows: tuple[Row, ...], guarantee: dict[str, Any], adjacency: str, released: str,
               notes: tuple[str, ...] = (), numbers: Mapping[str, float] = MappingProxyType({}),
               **others: Any) -> Answer:
        """The answer with these rows; it shows the options that it depends on, and those of the question."""
        shown = {name: x for name, x in self.items() if name in self.uses | _OF_QUESTION}
        return Answer(self.command.name, self.question, shown, rows, guarantee, adjacency, released, notes, numbers,
                      **others)

"""The budgets of a ledger: on ε at its δ, on ρ of zero-concentrated DP, and on μ of Gaussian DP. All that are given are
checked; the first of them that the ledger can answer is the one that its table is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

from dpcalc.accounting.guarantee import Mechanisms, Parallel
from dpcalc.commands.ledger_releases import total_of
from dpcalc.commands.ledger_totals import Releases
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, EveryValueMeets, flag
from dpcalc.core.numbers import ROUNDED, human, plain
from dpcalc.core.quantities import Quantity, symbol
from dpcalc.core.results import Question, Release, Row
from dpcalc.numerics.rounding import decimal, decimal_down, decimal_up, root_up

NAMES = ("epsilon", "rho", "mu")
_SAMPLED = "Poisson sampling does not lower {}: it is that of the same noise on all records in every step"


class Budget(NamedTuple):
    """A budget, and what is spent of it."""

    name: str
    limit: float
    spent: float

    @property
    def left(self) -> float:
        return decimal_down(decimal(self.limit) - decimal(self.spent))

    @property
    def over(self) -> float:
        """By how much it is exceeded; 0 where it is met. Three times 1/3 is within a budget of 1."""
        if self.spent <= self.limit * (1 + ROUNDED):
            return 0.0
        return decimal_up(decimal(self.spent) - decimal(self.limit))

    @property
    def numbers(self) -> dict[str, float]:
        """The numbers beside the result of the ledger; those of ε have short names, as there is always one δ."""
        own = self.name + "_" if self.name != "epsilon" else ""
        return {f"{own}budget": self.limit, f"{own}left": self.left, **({f"{own}over": self.over} if self.over else {}),
                **({self.name: self.spent} if own else {})}

    @property
    def warnings(self) -> tuple[str, ...]:
        exceeded = f"over the budget {symbol(self.name)} ≤ {plain(self.limit)} by {human(self.over)}"
        return (exceeded,) if self.over else ()


def main_quantity(given: Given) -> str:
    """The quantity that the ledger is about: ε where there is a δ, else the first other one with a budget. Raises
    DpcalcError where there is none."""
    if given["delta"] is not None:
        return "epsilon"
    others = [name for name in NAMES[1:] if given[name] is not None]
    if unused := [name for name in ("orders", "precision") if others and given.has(name)]:
        raise DpcalcError("unneeded", f"it is about ε at a δ, and this ledger is about {symbol(others[0])}; drop it",
                          flag(unused[0]))
    if not others or given["epsilon"] is not None:
        other = "" if others else "; a ledger of ρ or μ alone has a budget rho or mu, and needs none"
        raise DpcalcError("missing", "needed: the δ of the total, as --delta or as delta = 1e-5 in the file" + other,
                          "--delta")
    return others[0]


def question_of(given: Given, name: str) -> Question:
    """The question for the total of one quantity."""
    if name != "epsilon":
        return Question(name)
    return Question(name, delta=given["delta"], orders=given["orders"] or ())


def spent(guarantees: Sequence[Any], titles: Sequence[str], question: Question) -> float:
    """The total of a quantity. Raises DpcalcError that names the release which has none."""
    try:
        return _total(guarantees, question)
    except DpcalcError as error:
        if question.asks == "epsilon":
            raise
        for guarantee, title in zip(guarantees, titles, strict=True):
            try:
                _total((guarantee,), question)
            except DpcalcError:
                raise without(title, question.asks) from None
        raise error


def _total(guarantees: Sequence[Any], question: Question) -> float:
    return float(total_of(guarantees, question.delta, asks=question.asks).headline.result[question.asks])


def without(title: str, name: str) -> DpcalcError:
    """The error for a release that has no ρ, or no μ."""
    return DpcalcError("refused", f"{title} has no {symbol(name)}, which the budget {name} needs of every release: "
                       "Gaussian noise has one, also on Poisson batches, and ε-DP; an (ε, δ), an RDP curve and other "
                       f"batches have none. Drop {name}, or use a budget epsilon at a delta", flag(name))


def budgets(given: Given, guarantees: Sequence[Any], titles: Sequence[str], asks: str, total: float) -> list[Budget]:
    """All budgets, with what is spent of them. `total` is that of the quantity that the ledger asks for."""
    return [Budget(name, given[name], total if name == asks else spent(guarantees, titles, question_of(given, name)))
            for name in NAMES if given[name] is not None]


def notes_on_sampling(found: Sequence[Budget], guarantees: Sequence[Any]) -> tuple[str, ...]:
    """What a reader must know of ρ and μ of releases on Poisson batches."""
    each = [one for g in guarantees for one in ([x for part in g.parts for x in part] if isinstance(g, Parallel)
                                                else [g])]
    sampled = any(part.sampling and part.mechanism.zcdp for one in each if isinstance(one, Mechanisms)
                  for part in one.mechanisms)
    return tuple(_SAMPLED.format(symbol(one.name)) for one in found if sampled and one.name != "epsilon")


def running(names: Sequence[str], guarantees: Sequence[Any], question: Question, limit: float | None,
            total: float) -> Releases:
    """Each release with its own ρ or μ, and the total up to it: sums of ρ, or roots of sums of μ²."""
    def found() -> tuple[Release, ...]:
        alone: Callable[[Any], float] = cache(lambda guarantee: _total((guarantee,), question))
        own, power = [alone(g) for g in guarantees], 2 if question.asks == "mu" else 1
        sums = accumulate(decimal(x) ** power for x in own)
        totals = [min(total, root_up(x) if power == 2 else decimal_up(x)) for x in sums]
        totals[-1] = total
        return tuple(Release(name, x, up_to, limit if limit is None else
                             decimal_down(decimal(limit) - decimal(up_to)), quantity=question.asks)
                     for name, x, up_to in zip(names, own, totals, strict=True))

    return Releases(len(names), found)


def facts(shown: Releases, more: Sequence[Mapping[str, Any]], limit: float | None) -> Releases:
    """The releases with further facts, and with what each adds to the total as a share of the budget, rounded up."""
    def found() -> tuple[Release, ...]:
        before, each = decimal(0.0), list[Release]()
        for one, own in zip(shown, more, strict=True):
            up_to = decimal(one.total_epsilon) if one.total_epsilon < float("inf") else None
            share = None
            if limit and up_to is not None:
                share, before = decimal_up((up_to - before) / decimal(limit)), up_to
            each.append(one._replace(share=share, **own))
        return tuple(each)

    return Releases(len(shown), found)


def most_restrictive(given: Given, unknown: Quantity, solved: Callable[[Question], tuple[Row, ...]]
                     ) -> tuple[tuple[Row, ...], Question]:
    """The rows and the question of the budget that allows the least, where one number is solved for. A budget that
    every value meets allows all. Raises NoSolution where one cannot be met, or where all are met by every value."""
    found, reason = list[tuple[tuple[Row, ...], Question]](), None
    for name in NAMES:
        if given[name] is None:
            continue
        question = question_of(given, name)._replace(unknown=unknown, target=given[name])
        if name == "epsilon":
            question = question._replace(epsilon=given[name])
        try:
            found.append((solved(question), question))
        except EveryValueMeets as error:
            reason = reason or error
    if not found:
        assert reason is not None
        raise reason
    return max(found, key=lambda one: unknown.safe_direction * one[0][0].result[unknown.name])

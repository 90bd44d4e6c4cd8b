"""The ε of each release of a ledger, and the total ε of the first k releases, for every k.

Equal releases are answered once, and prefixes are composed together: Gaussian ones by μ = √Σμ_i², others on shared
grids (pld/prefixes.py). Every prefix is composed anew where there are few, or where an RDP curve is given, which adds
up to a smaller loss than the dominating pair that follows from it. """

from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate
from math import inf
from typing import Any

from dpcalc.accounting.guarantee import Gdp, Mechanisms, Rdp, Selected, Zcdp
from dpcalc.accounting.guarantee_sums import points, sums_of_first
from dpcalc.bounds.conversions import composition_basic, gdp
from dpcalc.commands.convert_answer import one_run
from dpcalc.commands.ledger_releases import total_of
from dpcalc.commands.selected_inputs import profile
from dpcalc.core.errors import DpcalcError
from dpcalc.core.least_epsilon import least_epsilon
from dpcalc.core.results import Question, Release
from dpcalc.numerics.rounding import decimal, decimal_down, decimal_up

_FEW = 4  # releases that are composed anew for every prefix: sharing grids saves nothing before


class Releases(Sequence[Release]):
    """Releases whose numbers are computed when one of them is printed."""

    def __init__(self, number: int, found: Callable[[], tuple[Release, ...]]) -> None:
        self._number, self._found = number, cache(found)

    def __len__(self) -> int:
        return self._number

    def __getitem__(self, k: Any) -> Any:
        return self._found()[k]


def releases(names: Sequence[str], guarantees: Sequence[Any], delta: float, total: float,
             budget: float | None) -> Releases:
    """Each release with its own ε, the total ε up to it, and what is left of the budget."""
    return Releases(len(names), lambda: _releases(names, guarantees, delta, total, budget))


def _releases(names: Sequence[str], guarantees: Sequence[Any], delta: float, total: float,
              budget: float | None) -> tuple[Release, ...]:
    """Fewer releases lose no more, so that the total of more of them bounds theirs. Each number is the least of its own
    and of those after it, as the rounding of numerical compositions may differ."""
    alone: Callable[[Any], float] = cache(lambda guarantee: _epsilon((guarantee,), delta, len(names) > _FEW))
    last, found = total, list[Release]()
    for k, of_first in zip(range(len(names), 0, -1), reversed(_totals(guarantees, delta, total)), strict=True):
        last = min(last, of_first)
        own = last if k == 1 else min(last, alone(guarantees[k - 1]))
        left = None if budget is None else decimal_down(decimal(budget) - decimal(last))
        found.append(Release(names[k - 1], own, last, left))
    return tuple(reversed(found))


def _totals(guarantees: Sequence[Any], delta: float, total: float) -> list[float]:
    """Upper bounds on the total ε of the first k releases, for every k; the last is `total`."""
    number, found = len(guarantees), list[float]()
    if delta > 0 and (sums := sums_of_first(guarantees)):
        found = [_epsilon((one,), delta, True) for one in sums]
    elif number > _FEW and delta > 0 and not any(isinstance(g, Rdp | Zcdp) for g in guarantees):
        found = _on_shared_grids(guarantees, delta)
        found[:_FEW] = [inf] * _FEW
    found = found or [inf] * number
    return [_epsilon(guarantees[:k], delta) if x == inf else x for k, x in enumerate(found[:-1], 1)] + [total]


def _epsilon(guarantees: Sequence[Any], delta: float, fast: bool = False) -> float:
    """ε at δ of some of the releases; infinity where no bound gives one. The fast answer is by the bound that is nearly
    always the best one, without a lower end."""
    try:
        one = (sums_of_first(guarantees) or guarantees)[-1]
        if fast and isinstance(one, Gdp) and one.mu * delta > 0:
            return least_epsilon(gdp.EXACT, _log(delta), {"mu": one.mu, "steps": 1})
        found = _on_shared_grids(guarantees, delta)[-1] if fast and isinstance(one, Mechanisms) and delta > 0 else inf
        return found if found < inf else float(total_of(guarantees, delta).headline.result["epsilon"])
    except DpcalcError:
        return inf


def _on_shared_grids(guarantees: Sequence[Any], delta: float) -> list[float]:
    """ε of each prefix by composing dominating pairs, or by adding (ε, δ) where that is less; ∞ where pairs give none
    that is close."""
    from dpcalc.accounting.guarantee_pld import pairs_of_all
    from dpcalc.pld import prefixes

    try:
        each = pairs_of_all([profile(g, one_run(g.of_one_run)) if isinstance(g, Selected) else g for g in guarantees])
    except DpcalcError:
        return [inf] * len(guarantees)
    of_parts = [0.0, *prefixes.epsilons([part for parts in each for part in parts], _log(delta))]
    ends, sums = accumulate(map(len, each)), _by_sums(guarantees, delta)
    return [min(of_parts[end], x) if of_parts[end] < inf else inf for end, x in zip(ends, sums, strict=True)]


def _by_sums(guarantees: Sequence[Any], delta: float) -> list[float]:
    """ε of each prefix by adding (ε, δ); ∞ where a release has none, or where the sum of their δ is larger."""
    found, epsilon, used = list[float](), decimal(0.0), decimal(0.0)
    try:
        for each in map(points, guarantees):
            epsilon, used = epsilon + composition_basic.total_epsilon(each), used + composition_basic.total_delta(each)
            found.append(decimal_up(epsilon) if used <= decimal(delta) else inf)
    except DpcalcError:
        pass
    return found + [inf] * (len(guarantees) - len(found))


def _log(delta: float) -> float:
    """log δ as answers about δ round it."""
    return Question("epsilon", delta=delta).log_delta

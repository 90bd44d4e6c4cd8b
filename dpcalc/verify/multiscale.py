"""Laws of sums on nested grids, by whole numbers: what a witness says of a composition, done again with every rounding
to the safe side.

Weights are whole units of 2^−bits, and products are exact before they are rounded. A law has one row of weights, of its
mass under P split between points, for an upper bound; or two, of the masses of cells under P and under Q, for a lower
bound. All that is left out of an upper bound is counted. """

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import ceil, exp
from typing import Any, NamedTuple

from dpcalc.verify.composition_convolution import product
from dpcalc.verify.composition_plans import Plan
from dpcalc.verify.unchecked import TooLong

LONGEST = 4_000_000  # points of a product
LARGEST_EXPONENT = 700.0  # of a double

Rows = tuple[list[int], ...]


class Points(NamedTuple):
    """Weights at the losses offset + (first + i)·step, tilted by e^{λ(first + i)·step}, and what was left out of
    them."""

    step: float
    first: int
    rows: Rows
    missing: int = 0
    offset: float = 0.0

    @property
    def size(self) -> int:
        return len(self.rows[0])

    def index_of(self, loss: float) -> int:
        return ceil(min(max((loss - self.offset) / self.step - self.first, 0.0), self.size))

    def part(self, begin: int, end: int) -> Points:
        return self._replace(first=self.first + begin, rows=tuple(row[begin:end] for row in self.rows))


Law = tuple[Points, ...]  # from the finest to the coarsest level


class Rounding(NamedTuple):
    """Of products of weights, to whole units: upwards or downwards."""

    bits: int
    up: tuple[bool, ...]  # for each row

    def shifted(self, x: int, row: int) -> int:
        return (x + ((1 << self.bits) - 1 if self.up[row] else 0)) >> self.bits

    def times(self, weights: Sequence[int], factor: int, row: int) -> list[int]:
        return [self.shifted(w * factor, row) for w in weights]


class Replay:
    """The choices of a plan, in their order, for laws that are split or merged."""

    def __init__(self, p: Plan, rounding: Rounding, units: Callable[[float, bool], int]) -> None:
        """`units` says e^x in units, rounded up or down."""
        self.rounding, self.units = rounding, units
        self.tilts = (p.tilt, p.tilt + 1)
        self.windows, self.steps = iter(p.windows), iter(p.steps)

    def double(self, x: Points) -> Points:
        """The same masses on a grid of twice the step: by splitting or by merging, as a subclass does it."""
        raise NotImplementedError

    def plus(self, x: Points, y: Points) -> Points:
        first, last = min(x.first, y.first), max(x.first + x.size, y.first + y.size)
        rows = []
        for a, b in zip(x.rows, y.rows, strict=True):
            row = [0] * (x.first - first) + a + [0] * (last - x.first - len(a))
            for k, w in enumerate(b, y.first - first):
                row[k] += w
            rows.append(row)
        return Points(x.step, first, tuple(rows), x.missing + y.missing, x.offset)

    def window(self, x: Points) -> tuple[float, float]:
        low, high = _following(self.windows)
        return float(low), float(high)

    def step(self) -> float:
        return float(_following(self.steps))


class Splitting(Replay):
    """For an upper bound."""

    def double(self, x: Points) -> Points:
        h, tilt, (row,) = x.step, self.tilts[0], x.rows
        low, high = self.share(-(tilt + 1) * h, h), self.share(tilt * h, h)
        pad = x.first % 2
        row = [0] * pad + row
        row += [0] * ((len(row) + 1) % 2)
        odd, even = row[1::2], row[::2]
        for k, w in enumerate(odd):
            even[k] += self.rounding.shifted(w * low, 0)
            even[k + 1] += self.rounding.shifted(w * high, 0)
        missing = self.rounding.shifted(x.missing * max(low + high, 1 << self.rounding.bits), 0)
        return Points(2 * h, (x.first - pad) // 2, (even,), missing)

    def share(self, exponent: float, h: float) -> int:
        """e^exponent/(1 + e^{−h}) in units, rounded up."""
        one = 1 << self.rounding.bits
        return -(-self.units(exponent, True) * one // (one + self.units(-h, False)))


class Merging(Replay):
    """For a lower bound; `offset` follows the mean loss of merged outcomes, by which nearly equal ones are put
    together."""

    def double(self, x: Points) -> Points:
        h, pad, rows = x.step, x.first % 2, []
        shift = 0.0
        for k, row in enumerate(x.rows):
            row = [0] * pad + row
            row += [0] * (len(row) % 2)
            factor = self.units(-self.tilts[k] * h, self.rounding.up[k])
            odd = self.rounding.times(row[1::2], factor, k)
            if k == 0 and (total := sum(row)):
                shift = h * (sum(row[1::2]) / total)
            rows.append([a + b for a, b in zip(row[::2], odd, strict=True)])
        return Points(2 * h, (x.first - pad) // 2, tuple(rows), 0, x.offset + shift)

    def plus(self, x: Points, y: Points) -> Points:
        apart = round((y.offset - x.offset) / x.step)
        if apart:
            factors = [self.units(self.tilts[k] * x.step * apart, up) for k, up in enumerate(self.rounding.up)]
            rows = tuple(self.rounding.times(row, factor, k) for k,
                         (row, factor) in enumerate(zip(y.rows, factors, strict=True)))
            y = y._replace(first=y.first + apart, rows=rows, offset=y.offset - apart * x.step)
        by, total = y.offset - x.offset, sum(y.rows[0])
        share = 1 / (1 + sum(x.rows[0]) / total * decay(-self.tilts[0] * by)) if total else 0.0
        return super().plus(x, y)._replace(offset=x.offset + share * by)

    def window(self, x: Points) -> tuple[float, float]:
        low, high = super().window(x)
        return low - x.step, high + x.step


def _following(choices: Iterator[Any]) -> Any:
    for found in choices:
        return found
    raise ValueError("its choices are too few")


def coarsened(x: Points, step: float, replay: Replay) -> Points:
    while x.step < step:
        x = replay.double(x)
    return x


def on_steps(law: Law, steps: Sequence[float], replay: Replay) -> Law:
    found: dict[float, Points] = {}
    for level in law:
        step = next((h for h in steps if h >= level.step), None)
        if step is None:
            raise ValueError("its steps are too small")
        here = coarsened(level, step, replay)
        found[step] = replay.plus(found[step], here) if step in found else here
    return tuple(found[h] for h in sorted(found))


def multiply(a: Law, b: Law, replay: Replay) -> Law:
    """The law of a sum: level j is A_j·B_j without A_{j−1}·B_{j−1}, for the sums A_j and B_j of all levels up to j."""
    found: list[Points] = []
    all_a: Points | None = None
    all_b: Points | None = None
    for step in sorted({level.step for level in (*a, *b)}):
        x, y = (next((level for level in law if level.step == step), None) for law in (a, b))
        lower_a = coarsened(all_a, step, replay) if all_a else None
        if a is b:
            level = _times(x, _plus(_twice(lower_a), x, replay), replay)
        else:
            lower_b = coarsened(all_b, step, replay) if all_b else None
            all_b = _plus(lower_b, y, replay)
            level = _plus(_times(x, all_b, replay), _times(lower_a, y, replay), replay)
        if level is not None:
            found.append(level)
        all_a = _plus(lower_a, x, replay)
    return tuple(found)


def _plus(x: Points | None, y: Points | None, replay: Replay) -> Points | None:
    return x or y if x is None or y is None else replay.plus(x, y)


def _twice(x: Points | None) -> Points | None:
    return x and x._replace(rows=tuple([2 * w for w in row] for row in x.rows), missing=2 * x.missing)


def _times(x: Points | None, y: Points | None, replay: Replay) -> Points | None:
    if x is None or y is None:
        return None
    if (length := x.size + y.size) > LONGEST:
        raise TooLong(f"its sums have {length} points, and sums of at most {LONGEST} are checked")
    r = replay.rounding
    rows = tuple([r.shifted(w, k) for w in product(a, b)] for k, (a, b) in enumerate(zip(x.rows, y.rows, strict=True)))
    missing = r.shifted(x.missing * (sum(y.rows[0]) + y.missing) + y.missing * sum(x.rows[0]), 0) if r.up[0] else 0
    return Points(x.step, x.first + y.first, rows, missing, x.offset + y.offset)


def settled(law: Law, replay: Replay) -> Law:
    levels = list(law)
    for j in range(len(levels) - 1):
        levels[j], outside = _cut(levels[j], replay.window(levels[j]))
        for part in outside:
            levels[j + 1] = replay.plus(levels[j + 1], coarsened(part, levels[j + 1].step, replay))
    levels[-1], outside = _cut(levels[-1], replay.window(levels[-1]))
    lost = sum(sum(part.rows[0]) for part in outside)
    levels[-1] = levels[-1]._replace(missing=levels[-1].missing + (lost if replay.rounding.up[0] else 0))
    steps = [replay.step() for _ in levels][::-1]
    return on_steps(tuple(levels), steps, replay)


def _cut(x: Points, window: tuple[float, float]) -> tuple[Points, list[Points]]:
    begin = min(x.index_of(window[0]), x.size - 1)
    end = max(x.index_of(window[1]), begin + 1)
    outside = [x.part(*ends)._replace(missing=0) for ends in ((0, begin), (end, x.size)) if ends[0] < ends[1]]
    return x.part(begin, end), outside


def power(one: Law, count: int, replay: Replay) -> Law:
    found = one = settled(one, replay)
    for bit in bin(count)[3:]:
        found = multiply(found, found, replay)
        if bit == "1":
            one = on_steps(one, [level.step for level in found], replay)
            found = multiply(found, one, replay)
        found = settled(found, replay)
    return found


def combined(laws: Sequence[Law], replay: Replay) -> Law:
    def steps(law: Law) -> list[float]:
        return [level.step for level in law]

    rest = sorted(laws, key=steps)
    while len(rest) > 1:
        pairs: Iterator[tuple[Law, Law]] = zip(rest[::2], rest[1::2], strict=False)
        found = []
        for a, b in pairs:
            finest = max(a[0].step, b[0].step)
            common = sorted({h for h in (*steps(a), *steps(b)) if h >= finest})
            found.append(settled(multiply(on_steps(a, common, replay), on_steps(b, common, replay), replay), replay))
        rest = sorted(found + rest[len(rest) // 2 * 2 :], key=steps)
    return rest[0]


def decay(x: float) -> float:
    return exp(max(-LARGEST_EXPONENT, min(LARGEST_EXPONENT, x)))

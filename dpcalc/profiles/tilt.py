"""The tilt λ that makes the loss asked about typical: found roughly, since every tilt gives a valid answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import exp, inf, log, log1p, pi, sqrt
from typing import NamedTuple

import numpy as np

from dpcalc.profiles.law import Law, law, masses
from dpcalc.profiles.pair import Pair

Parts = Sequence[tuple[Pair, int]]
_DEPTH, _DEEP = 40.0, 700.0  # log of the weight that may be left out
DEEPEST = -1500.0  # of log δ: below, Chernoff's bound is good enough
_HEAVIEST = 0.5  # log of the magnification by a slight tilt
_FEW = 5.0  # large losses in a composition
_LARGEST = 1e9  # ε looked for
_FAR, _FARTHEST = 64.0, 1e150  # of a ratio: such a tilt is no use; what is not squared
_STEEPEST, _LARGEST_EXPONENT = 1e13, 700.0  # tilt; and of another one
_TURNS = 3  # from one side to the other, and back
_SHORT, _FALL = 0.5, 0.5  # standard deviations, from a mean to ε; of log δ, by a step
_STEPS, _STEP, _ROUNDS = 16, 8.0, 4  # a factor at most; from one ε to the next
_LEAST = 0.5  # of the tilt, in units of one over the standard deviation of the sum


class Cumulants(NamedTuple):
    """Of the sum under the tilt: log M, mean, standard deviation."""

    tilt: float
    log_total: float
    mean: float
    deviation: float

    @property
    def rate(self) -> float:
        """−log P(sum >= mean), to leading order."""
        return self.tilt * self.mean - self.log_total

    @property
    def prefactor(self) -> float:
        """How much log δ is below −rate, to the next order."""
        spread = sqrt(2 * pi) * self.deviation * self.tilt * (1 + self.tilt)
        return log1p(spread)

    @property
    def fall(self) -> float:
        """About by how much log δ falls where log ε grows by 1, from the mean on."""
        slope = self.tilt + 0.3 / self.deviation if self.deviation > 0 else self.tilt
        return slope * max(self.mean, 0.02 * self.deviation)


def cumulants(parts: Parts, tilt: float) -> Cumulants:
    total = mean = variance = 0.0
    for pair, count in parts:
        x = law(pair, tilt, _DEPTH)
        m = float((x.weight * x.loss).sum())
        total += count * x.log_total
        mean += count * m
        variance += count * float((x.weight * (x.loss - m) ** 2).sum())
    return Cumulants(tilt, total, mean, sqrt(variance))


def skewness(parts: Parts, c: Cumulants) -> float:
    """Of the sum under the tilt."""
    third = 0.0
    for pair, count in parts:
        x = law(pair, c.tilt, _DEPTH)
        third += count * float((x.weight * (x.loss - float((x.weight * x.loss).sum())) ** 3).sum())
    return third / c.deviation**3


@lru_cache(maxsize=8)
def for_delta(parts: Parts, log_delta: float) -> Cumulants:
    """The tilt whose mean is about the ε at δ; not steeper than δ falls where the largest loss of all is more likely than that."""
    c = _search(parts, lambda c: (-log_delta - c.prefactor) / c.rate if c.rate > 0 else inf)
    most = exp(min(_log_top(parts) - log_delta, _LARGEST_EXPONENT))
    return cumulants(parts, most) if 1 < most < c.tilt else c


def _log_top(parts: Parts) -> float:
    """log of the probability of the largest loss: of next to nothing, where that is no atom."""
    found = 0.0
    for pair, count in parts:
        loss, log_mass, _ = masses(pair, 0.0, _DEPTH, None)
        found += count * float(log_mass[loss.argmax()])
    return found


@lru_cache(maxsize=8)
def for_epsilon(parts: Parts, epsilon: float) -> Cumulants:
    """The tilt whose mean is about ε."""
    start = cumulants(parts, 0.0)
    base = start.mean
    if epsilon <= base + _LEAST * start.deviation:  # δ is not small: a slight tilt, that does not magnify what is left of ε
        return _slight(parts, _LEAST / max(start.deviation, base - epsilon), epsilon) if start.deviation > 0 else cumulants(parts, 1.0)

    def wanted(c: Cumulants) -> float:
        if chernoff(c, epsilon) < DEEPEST:
            return 1.0  # far enough: larger tilts take long
        return min((epsilon - base) / (c.mean - base), _FARTHEST) ** 2 if c.mean > base else inf

    return _nearer(parts, _search(parts, wanted), epsilon)


def _nearer(parts: Parts, c: Cumulants, epsilon: float) -> Cumulants:
    """By Newton's steps, as long as Chernoff's bound falls: where δ falls steeply, means that are alike are those of very different tilts.
    A step after which it is not less was too long."""
    most, least = _STEP, chernoff(c, epsilon)
    for _ in range(_STEPS):
        short = epsilon - c.mean
        if least < DEEPEST or abs(short) <= _SHORT * c.deviation or not c.deviation:
            break
        step = min(max(1 + short / c.deviation**2 / c.tilt, 1 / most), most)
        other = cumulants(parts, min(c.tilt * step, _STEEPEST))
        fall = least - chernoff(other, epsilon)
        if fall > 0:
            c, least = other, least - fall
            if fall < _FALL:
                break
        else:
            most = sqrt(max(step, 1 / step))
    return c


def least_epsilon(c: Cumulants, log_delta: float) -> float:
    """The ε at δ by Chernoff's bound at one tilt, but for what is infinite."""
    return (chernoff(c, 0.0) - log_delta) / c.tilt


def of_least_epsilon(parts: Parts, c: Cumulants, log_delta: float) -> Cumulants:
    """From a tilt on, one nearer to that of the least such ε, which makes it typical."""
    for _ in range(_ROUNDS):
        other = _nearer(parts, c, least_epsilon(c, log_delta))
        if least_epsilon(other, log_delta) >= least_epsilon(c, log_delta):
            break
        c = other
    return c


def _slight(parts: Parts, tilt: float, epsilon: float) -> Cumulants:
    """This tilt, or a smaller one where rare large losses (few steps of small batches) would carry all of the tilted weight."""
    c = cumulants(parts, tilt)
    while c.log_total - c.tilt * epsilon > _HEAVIEST:
        c = cumulants(parts, c.tilt / 2)
    return c


def _search(parts: Parts, ratio: Callable[[Cumulants], float]) -> Cumulants:
    """Multiplies the tilt by √ratio, which is what a Gaussian asks for, between the least tilt and where it stays."""
    tilt, bounds, last, turns = 1.0, [0.0, inf], None, 0
    for _ in range(60):
        c = cumulants(parts, tilt)
        if last and tilt > 3 * last.tilt and c.deviation < 0.05 * last.deviation:  # the law is all at its largest loss
            if ratio(last) < _FAR:
                break
            bounds[1], tilt = tilt, sqrt(last.tilt * tilt)
            continue
        turns = turns + 1 if last and (ratio(last) < 1) != (ratio(c) < 1) else 0
        last = c
        r = ratio(c)
        if c.deviation == 0 and (r >= 1 or c.rate < 1):
            return c  # one loss; or all of the weight is at the largest one, which is wanted
        bounds[r < 1] = tilt
        step = sqrt(min(max(r, 1 / 64), 64.0))
        least = _LEAST / c.deviation if c.deviation > 0 else inf
        if abs(log(step)) < 0.04 or (step < 1 and tilt <= least and c.rate < 1):  # not where the law is all at its largest loss
            break
        tilt = max(tilt * step, least if step < 1 and least < tilt else 0.0)
        if turns > _TURNS or not bounds[0] < tilt < bounds[1]:  # to and fro between two: the law is nothing like a Gaussian
            tilt = sqrt(bounds[0] * bounds[1]) if bounds[0] > 0 else bounds[1] / 4
        if tilt > _STEEPEST or bounds[1] < bounds[0] * (1 + 1e-7):
            break
    assert last is not None
    return last


def is_rare(parts: Parts, c: Cumulants) -> bool:
    """Whether few losses as large as the spread of the sum make most of its variance: then it is not like a Gaussian, whose mean would
    be √(2·rate) deviations above where it was."""
    if c.rate <= 0 or c.mean > c.deviation * sqrt(2 * c.rate) / 2:
        return False
    times = square = 0.0
    for pair, count in parts:
        x = law(pair, c.tilt, _DEPTH)
        large = np.abs(x.loss) > c.deviation / 2
        times += count * float(x.weight[large].sum())
        square += count * float((x.weight * x.loss * x.loss)[large].sum())
    return times < _FEW and square > c.deviation**2 / 2


def of_single_losses(parts: Parts) -> Callable[[float], float]:
    """ε → log of the sum of the steps' own δ at ε: about that of the composition, where one loss decides."""
    laws = [(law(pair, 0.0, _DEEP), log(count), pair.log_infinite) for pair, count in parts]

    def log_delta(epsilon: float) -> float:
        logs = [-inf]
        for x, log_count, infinite in laws:
            beyond = x.loss > epsilon
            total = float((x.weight[beyond] * -np.expm1(epsilon - x.loss[beyond])).sum())
            logs.append(log_count + max(x.log_total + log(total) if total > 0 else -inf, infinite))
        return max(logs)

    return log_delta


def of_single_loss(parts: Parts, log_delta: float) -> float:
    """An ε at which the sum of the steps' own δ is about δ; inf where it never is, 0 where it always is less."""
    at = of_single_losses(parts)
    low, high = 0.0, 1.0
    while at(high) > log_delta:
        low, high = high, 2 * high
        if high > _LARGEST:
            return inf
    while high - low > 1e-3 * high and high > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle) > log_delta else (low, middle)
    return high


def chernoff(c: Cumulants, epsilon: float) -> float:
    """An upper bound on log δ at ε from the cumulants at one tilt."""
    return c.log_total - c.tilt * epsilon + log_peak(c.tilt)


def log_peak(tilt: float) -> float:
    """log max_x e^{−λx}(1 − e^{−x}) over x >= 0."""
    return (tilt * -log1p(1 / tilt) if tilt > 0 else 0.0) - log1p(tilt)


def median(x: Law) -> float:
    """A loss in the middle of a law: where it is a lump, the lump."""
    order = np.argsort(x.loss)
    return float(x.loss[order][np.searchsorted(np.cumsum(x.weight[order]), 0.5)])

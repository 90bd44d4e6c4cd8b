"""The privacy loss of R steps of noisy SGD from the same start: the windows of burn_in_contraction.py.

Units: the noise ησ of a step is 1; a use of the differing record moves one run by at most `push` = 2L/(bσ) from the
other; a step uses it with probability q = b/n. Every profile is an upper bound, for every start of the R steps.

Composition. R steps of the pair of sampled_step.py, or of Gaussians of ratio `push` for full batches.

Delayed hiding. Fix the steps that use the record (the pattern), which are the same in both runs and independent of
everything else; E_γ is jointly convex. Count steps from the end, and cut them twice: 0 = x_0 < x_1 < … and 0 = y_0 <
y_1 < … < y_J = R, with x_j <= y_{j−1} + 1. The N_j uses among the steps (y_{j−1}, y_j] move the two runs by at most
N_j·push. The noise of the steps (x_{j−1}, x_j] comes with or after these uses; a shift N_j·push/(x_j − x_{j−1}) of
each of these noises undoes the move, at the cost of a Gaussian of the ratio r_j = N_j·push/√(x_j − x_{j−1}). So R
steps are dominated by the composition over j of the pairs Σ_N p_N θ(ε, N·push/√(x_j − x_{j−1})), where N is binomial.
This is small where one use would show (push >= 1) and is rare: its noise is that of many steps.
Proof. Follow a run with one data set whose noises are shifted towards the other run. Let z be the sum over j of what
is left of N_j·push. The shifts of a segment begin when all its uses are made, so no term falls below 0; as c <= 1 the
two runs stay within z of each other (a shift that is longer than their distance is cut to it), and z ends at 0. Each
noise is shifted for one segment only, so given the pattern the Gaussians have fixed ratios and compose to one of
ratio √Σ r_j². The N_j are independent, and to reveal them helps the attacker only. In a run of t < R steps the later
segments lack noise, but also uses: x_j > t implies y_{j−1} >= t. ∎ """

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from math import exp, log, log1p, log2, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.hockey_stick_array import log_theta
from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

# Runs for which delayed hiding is tried: for smaller pushes, or more expected uses, it is no better than composition.
LEAST_PUSH, MOST_USES = 1.0, 1000.0
_RARE = 1e-20  # where the chance of a number of uses in a segment is less, the loss of more uses counts as infinite
# Of the V of `law_of_hidden`: numbers in [v, 2v] to which it is rounded up (with twice as many ε is 0.1 % smaller); the
# number beyond which the loss counts as infinite; a relative margin for the rounding of chances and values.
_PER_OCTAVE, _LARGEST, _ROUNDING = 512, 2.0**12, 1e-9


class Window(NamedTuple):
    """R steps from the same start, and an upper bound on their log δ at an array of ε."""

    steps: int
    hidden: bool  # by delayed hiding
    log_delta: Callable[[Array], Array]


def windows(q: float, push: float, unit: int, multiples: list[int], hidden: list[int], largest: float) -> list[Window]:
    """Windows whose lengths are these multiples of a unit, which rise, for questions up to ε = `largest`; `hidden` are
    the lengths by delayed hiding."""
    lengths = [m * unit for m in multiples]
    if q == 1:
        return [Window(r, False, _of_full_batches(up(push * sqrt(r), 1e-15))) for r in lengths]
    from dpcalc.pld.multiples import upper_profiles

    composed = upper_profiles(step(q, push), unit, multiples, largest)
    found = [Window(r, False, x) for r, x in zip(lengths, composed, strict=True)]
    if push >= LEAST_PUSH:
        found += [Window(r, True, of_hidden(q, push, r)) for r in hidden if q * r <= MOST_USES]
    return found


def _of_full_batches(ratio: float) -> Callable[[Array], Array]:
    return lambda epsilon: log_theta(epsilon, np.full(1, ratio))


def step(q: float, push: float) -> Pair:
    """The pair of a sampled step, for `verify` too."""
    from dpcalc.pld.pair import Gaussian
    from dpcalc.pld.sampled import without_replacement

    return without_replacement(Gaussian(push), q)


def of_hidden(q: float, push: float, r: int, per_octave: int = _PER_OCTAVE) -> Callable[[Array], Array]:
    """An upper bound on log δ of R steps by delayed hiding, as a function of an array of ε."""
    values, chances, missing = law_of_hidden(q, r, per_octave)
    ratios, logs = push * np.sqrt(values), np.log(chances)

    def log_delta(epsilon: Array) -> Array:
        found = np.logaddexp.reduce(log_theta(epsilon[:, None], ratios[None, :]) + logs, axis=1)
        bound: Array = np.minimum(np.logaddexp(found, log(missing)), 0.0)
        return bound

    return log_delta


def exact_hidden(mp: Any, epsilon: Any, q: float, push: Any, r: int) -> Any:
    """δ of R steps by delayed hiding at high precision, for the law of V as it is rounded up."""
    values, chances, missing = law_of_hidden(q, r)
    return mp.mpf(missing) + mp.fsum(mp.mpf(p) * theta(mp, epsilon, push * mp.sqrt(mp.mpf(v)))
                                     for v, p in zip(values.tolist(), chances.tolist(), strict=True))


@lru_cache(maxsize=32)
def law_of_hidden(q: float, r: int, per_octave: int = _PER_OCTAVE) -> tuple[Array, Array, float]:
    """The values of V = Σ_j N_j²/(x_j − x_{j−1}) but 0, their chances, and the chance of larger ones, all rounded up.
    Given the pattern, R steps are dominated by a Gaussian of the ratio push·√V. Raises ValueError where the record is
    used so often that rounding errors of the chances would add up."""
    if not q * r <= MOST_USES:
        raise ValueError(f"{q * r:g} expected uses are too many for delayed hiding")

    segments = lengths_of_segments(r)
    least = 1 / max(noise for noise, _ in segments)
    values = np.append(0.0, least * 2 ** (np.arange(int(per_octave * log2(_LARGEST / least)) + 1) / per_octave))
    law, missing = np.append(1.0, np.zeros(len(values) - 1)), 5e-324
    for (noise, steps), count in segments.items():
        none, *some = _uses(steps, q)
        reached = [np.ceil(per_octave * np.log2((values + k * k / noise) / least) - _ROUNDING).astype(int) + 1
                   for k in range(1, len(some) + 1)]
        missing += count * _RARE if len(some) < steps else 0.0
        for _ in range(count):
            at, before = law.nonzero()[0], law[law > 0]
            law = none * law
            for chance, to in zip(some, reached, strict=True):
                inside = to[at] < len(values)
                law += np.bincount(to[at][inside], chance * before[inside], len(values))
                missing += chance * float(before[~inside].sum())
    if not float(law.sum()) + missing >= 1 - _ROUNDING:
        raise ArithmeticError("chances are lost to underflow")
    # Chances that add up to little beside that of an infinite loss are not worth a term each: they count as infinite.
    negligible = law <= 1e-6 * missing / len(law)
    missing += float(law[1:][negligible[1:]].sum())
    positive = (~negligible[1:]).nonzero()[0] + 1
    return values[positive] * (1 + _ROUNDING), law[positive] * (1 + _ROUNDING), missing * (1 + _ROUNDING)


def lengths_of_segments(r: int) -> Counter[tuple[int, int]]:
    """How many segments have (x_j − x_{j−1}, y_j − y_{j−1}): one step first, then noises that grow with the delay y − x
    and hide the uses of twice as many steps, up to the longest segments."""
    found, noised, used, longest = Counter[tuple[int, int]](), 0, 0, max(1, r // 10)  # any is valid
    while used < r:
        noise = min(used + 1 - noised, longest)
        steps = min(2 * noise if noise < longest and used else noise, r - used)
        repeat = max(1, (r - used) // steps) if noise == steps == longest else 1
        found[noise, steps] += repeat
        noised, used = noised + repeat * noise, used + repeat * steps
    return found


def _uses(steps: int, q: float) -> list[float]:
    """The chances of 0, 1, … uses in so many steps, up to a number that is rare: beyond twice the mean each chance is
    less than half of the one before."""
    logs, k = [steps * log1p(-q)], 0
    while k < steps and (k < 2 * steps * q or exp(logs[-1]) > _RARE):
        logs.append(logs[-1] + log((steps - k) / (k + 1)) + log(q) - log1p(-q))
        k += 1
    return [exp(x) for x in logs]

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
from math import exp, inf, log, log1p, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpcalc.pld.pilot import Parts

    Array = NDArray[Any]

LEAST_PUSH = 1.0  # of runs for which delayed hiding is tried; for smaller ones it is no better than composition
# The longest segments, any of which are valid: a share of the window, and a number of expected uses.
_LONGEST_SHARE, _LONGEST_USES = 0.1, 2.0
_RARE = 1e-20  # chance of a number of uses in a segment from which on they are not told apart: their loss is infinite
_ROUNDING = 1e-12  # relative, of a binomial probability


class Window(NamedTuple):
    """R steps from the same start, and an upper bound on their log δ at an array of ε."""

    steps: int
    hidden: bool  # by delayed hiding
    log_delta: Callable[[Array], Array]


def windows(q: float, push: float, lengths: list[int], hidden: list[int], largest: float) -> list[Window]:
    """Windows of these lengths, for questions up to ε = `largest`; `hidden` are the lengths by delayed hiding."""
    if q == 1:
        return [_of_full_batches(push, r) for r in lengths]
    found = [_composed(composition(q, push, r), r, False, largest) for r in lengths]
    if push >= LEAST_PUSH:
        found += [_composed(segments(q, push, r), r, True, largest) for r in hidden]
    return found


def _of_full_batches(push: float, r: int) -> Window:
    from dpcalc.numerics.hockey_stick_array import log_theta

    ratio = up(push * sqrt(r), 1e-15)

    def log_delta(epsilon: Array) -> Array:
        import numpy as np

        return log_theta(epsilon, np.full(1, ratio))

    return Window(r, False, log_delta)


def _composed(parts: Parts, r: int, hidden: bool, largest: float) -> Window:
    from dpcalc.pld.bracket import upper_profile

    return Window(r, hidden, upper_profile(parts, largest))


def composition(q: float, push: float, r: int) -> Parts:
    """The pairs of R sampled steps."""
    from dpcalc.pld.pair import Gaussian
    from dpcalc.pld.sampled import without_replacement

    return ((without_replacement(Gaussian(push), q), r),)


def segments(q: float, push: float, r: int) -> Parts:
    """The pairs of R steps by delayed hiding."""
    from dpcalc.pld.mixed import GaussianOfRandomRatio

    return tuple((GaussianOfRandomRatio(push / sqrt(noise) * (1 + 4e-16), *uses_of_segment(steps, q)), count)
                 for (noise, steps), count in lengths_of_segments(q, r).items())


def lengths_of_segments(q: float, r: int) -> Counter[tuple[int, int]]:
    """How many segments have (x_j − x_{j−1}, y_j − y_{j−1}): one step first, then noises that grow with the delay y − x
    and hide the uses of twice as many steps, up to the longest segments."""
    found, noised, used = Counter[tuple[int, int]](), 0, 0
    longest = max(1, int(min(_LONGEST_SHARE * r, _LONGEST_USES / q)))
    while used < r:
        noise = min(used + 1 - noised, longest)
        steps = min(2 * noise if 0 < noise < longest and used else noise, r - used)
        repeat = max(1, (r - used) // steps) if noise == steps == longest else 1
        found[noise, steps] += repeat
        noised, used = noised + repeat * noise, used + repeat * steps
    return found


def uses_of_segment(steps: int, q: float) -> tuple[tuple[float, ...], float]:
    """The chances of 1, 2, … uses in so many steps, rounded up, and the log of the chance of more, which is tiny."""
    chances, k = [exp(steps * log1p(-q))], 0
    while k < steps and (k < steps * q or chances[-1] > _RARE):
        chances.append(chances[-1] * (steps - k) / (k + 1) * q / (1 - q))
        k += 1
    # Chances that small are far beyond the mean, where each is less than half of the one before.
    return tuple(p * (1 + _ROUNDING) for p in chances[1:]), log(_RARE) if k < steps else -inf

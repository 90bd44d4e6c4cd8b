"""Points of a privacy profile that holds after any number of steps, by the recursion of burn_in_contraction.py.

A point is (ε_j, δ_j) with E_{e^{ε_j}} <= δ_j for every number of steps. They are found in the order of ε from ε_0 = 0
on, each from those before it. All sums are of positive terms, so their rounding errors are small relative to them;
every result is raised by more than that.

The corners of the hull in Theorem B are decided in doubles. Nothing depends on that but its convexity at γ = 1, for
which points may be raised: as a function of the points, the bound has weights >= 0 at those before ε_k, and later ones
do not count. """

from dataclasses import dataclass
from functools import lru_cache
from math import exp, expm1, inf, log, log1p, log2, sqrt
from typing import NamedTuple

import numpy as np

from dpcalc.bounds.noisy_sgd._engine import contraction, estimates, meeting
from dpcalc.bounds.noisy_sgd._engine.windows import Window, windows
from dpcalc.bounds.pnsgd._engine.hybrid import conditional_epsilon
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary import log_expm1
from dpcalc.numerics.hockey_stick_array import log_theta

# Lengths R of windows: from _SHORTEST·Δ² to Δ² (c = 1), at nearly equal ratios, all of them multiples of about 1/_UNITS
# of the longest. Where steps contract, R with w(R) = 1/Δ² hides the distance Δ well, and a few more steps hide it very
# well. With twice as many lengths ε is up to 0.3 % smaller.
_SHORTEST, _LONGEST_CONTRACTING, _LENGTHS, _UNITS = 0.1, 10.0, 17, 40
POINTS, _ROUGH_POINTS = 161, 41  # of a profile; twice as many give an ε that is up to 0.2 % smaller
_MARGIN = 1e-9  # relative, above the rounding errors of a sum of POINTS positive terms and of their logarithms
TINY = 1e-290  # a smaller δ of a window is raised to it, so that δ of a point never underflows

COMPARED, COMPARED_HIDDEN, POOLED = 0, 1, 2  # the steps of the proof by which a point follows from those before it


class Run(NamedTuple):
    """A run of noisy SGD with constant steps, in units of the noise ησ of a step."""

    q: float  # b/n, the chance that a step uses the differing record
    push: float  # 2L/(bσ), by how much a use moves one run from the other
    width: float  # D/(ησ)
    g: float  # 1 − c
    apart: float  # a bound on the distance of the two runs if they have the same noise


class Source(NamedTuple):
    """How a point is proven: by a window of R steps, from another point (itself, for ε = 0), by one of the rules."""

    steps: int
    point: int  # its index
    rule: int


@dataclass(frozen=True)
class Profile:
    """Points of the profile of a run, and what every further point is computed from."""

    run: Run
    epsilons: Array  # of the points, from 0 on
    windows: list[Window]
    kernels: tuple[tuple[tuple[float, float], ...], ...]  # of meeting.py, for every window
    at_windows: Array  # δ of every window (row) at the ε of every point
    deltas: Array  # of the points
    log_kept: Array  # log of δ_j·κ_R(1 + (e^{ε_j} − 1)/δ_j) for every window (row) and point
    sources: list[Source]

    def point(self, epsilon: float) -> tuple[float, Source]:
        """An upper bound on δ at any ε, from the points below it, and its source."""
        return _point(self, epsilon, int(np.searchsorted(self.epsilons, epsilon)))

    def way(self, epsilon: float) -> list[float]:
        """The points that prove δ at ε, each as ε, R, the index of the point it follows from, and its rule; the last
        one is the point at ε itself."""
        before = int(np.searchsorted(self.epsilons, epsilon))
        sources = [*self.sources[:before], self.point(epsilon)[1]]
        needed, k = [before], before
        while k > 0:  # a point by pooling needs all points before it, any other one only one of them
            k = sources[k].point
            needed.insert(0, k)
        if any(sources[j].rule == POOLED for j in needed):
            needed = list(range(before + 1))
        at = [*self.epsilons[:before].tolist(), epsilon]
        return [float(y) for j in needed for y in (at[j], sources[j].steps,
                                                   needed.index(sources[j].point) if j else 0, sources[j].rule)]


@lru_cache(maxsize=16)
def profile(run: Run, largest: float, proven: bool = True) -> Profile:
    """The points from ε = 0 to `largest`; if not `proven`, about these, by windows that are not composed. Raises
    ValueError where steps expand."""
    refuse_expanding(run)
    points = POINTS if proven else _ROUGH_POINTS
    epsilons = largest * np.linspace(0.0, 1.0, points) ** 2
    hidden = sorted({_hidden_length(run, share * run.width**2) for share in (0.5, 2.0)})
    unit, multiples = _lengths(run)
    if proven or run.q == 1:
        tried = windows(run.q, run.push, unit, multiples, hidden, largest)
    else:
        tried = estimates.windows(run.q, run.push, [m * unit for m in multiples], hidden)
    kernels = tuple(meeting.kernel(run.width, run.g, window.steps) for window in tried)
    near = _ratios_of_near(run, tried)
    at_windows = np.maximum([_deltas(window, epsilons) for window in tried], TINY)
    x = Profile(run, epsilons, tried, kernels, at_windows, np.zeros(points), np.zeros((len(tried), points)), [])
    for j, epsilon in enumerate(epsilons.tolist()):
        delta, source = _point(x, epsilon, j)
        x.deltas[j] = delta
        x.sources.append(source)
        inner = conditional_epsilon(epsilon, log_expm1(epsilon), log(delta))
        kept = meeting.log_kept(np.array([inner]), kernels)[:, 0]
        x.log_kept[:, j] = np.minimum(log(delta) + kept, log_theta(np.full(1, epsilon), near)) + _MARGIN
    return x


def _deltas(window: Window, epsilons: Array) -> Array:
    """Upper bounds on δ of a window at an odd number of rising ε: by delayed hiding, where they take long, at every
    other one, and by the chord in e^ε between these, which is not below a convex function."""
    if not window.hidden:
        return np.exp(window.log_delta(epsilons))
    found = np.empty(len(epsilons))
    found[::2] = np.exp(window.log_delta(epsilons[::2]))
    found[1::2] = _chord(epsilons[1::2], epsilons[:-2:2], epsilons[2::2], found[:-2:2], found[2::2])
    return found


def _chord(u: Array, left: Array, right: Array, at_left: Array, at_right: Array) -> Array:
    """The chord at u between values at two ε as a function of e^ε, rounded up."""
    weight = np.minimum(np.expm1(u - right) / np.expm1(left - right) * (1 + _MARGIN), 1.0)  # of the value on the left
    found: Array = at_right + weight * (at_left - at_right)
    return found


def _point(x: Profile, epsilon: float, before: int) -> tuple[float, Source]:
    """An upper bound on δ at an ε above those of the first `before` points, which it follows from, and its source."""
    if before == 0:
        return _total_variation(x)
    at_windows = _window_deltas(x, epsilon, before)
    # In logs, as e^ε may be large where what is left of the difference is tiny. Sums above 1 count as 1.
    log_rest = np.minimum(epsilon - x.epsilons[:before] + x.log_kept[:, :before], 1.0)
    compared = at_windows + np.exp(log_rest)
    w, i = np.unravel_index(int(compared.argmin()), compared.shape)
    delta, source = float(compared[w, i]), _source(x.windows[w], int(i))
    if x.run.q == 1:
        pooled, how = _pooled(x, epsilon, at_windows)
        if pooled < min(1.0, delta):
            delta, source = pooled, how
    else:  # without the chord
        delta = exp(log_rest[w, i]) + max(exp(float(x.windows[w].log_delta(epsilon - x.epsilons[i : i + 1])[0])), TINY)
    return min(1.0, delta * (1 + _MARGIN)), source


def deviations(run: Run) -> tuple[float, float]:
    """About the standard deviations of the losses of the shortest and the longest window, if no use is a large loss."""
    unit, multiples = _lengths(run)
    return run.q * run.push * sqrt(multiples[0] * unit), run.q * run.push * sqrt(multiples[-1] * unit)


def _lengths(run: Run) -> tuple[int, list[int]]:
    """The lengths R of windows that are tried, as multiples of a unit; any are valid."""
    shortest = _length(run, _SHORTEST * run.width**2 if run.apart == run.width else run.apart**2)
    longest = max(shortest, _length(run, (_LONGEST_CONTRACTING if run.g else 1) * run.width**2))
    unit = max(1, round(longest / _UNITS))
    return unit, sorted({max(1, round(x / unit)) for x in np.geomspace(float(shortest), float(longest), _LENGTHS)})


def _length(run: Run, x: float) -> int:
    """The R with w(R) = 1/x, which is x for c = 1; at least 1."""
    if run.g == 0:
        return max(1, round(x))
    if run.g >= 1:
        return 1
    return max(1, round(log1p(run.g * (2 - run.g) * x) / (-2 * contraction.log_c(run.g))))


def _hidden_length(run: Run, x: float) -> int:
    """About the R with w(R) = 1/x, for delayed hiding, whose loss hardly grows with R. Runs with similar noise have the
    same R where c = 1, as it takes long to find the law of these windows."""
    r = _length(run, x)
    return r if run.g else round(2 ** (round(8 * log2(r)) / 8))


def _total_variation(x: Profile) -> tuple[float, Source]:
    """δ at ε = 0: W_R/(1 − κ_R), which solves δ = W_R + κ_R δ, or W_R and what is left of the distance of the runs."""
    log_kept = meeting.log_kept(np.zeros(1), x.kernels)[:, 0]
    near = np.exp(log_theta(np.zeros(1), _ratios_of_near(x.run, x.windows)))
    of_window = x.at_windows[:, 0]
    found = np.minimum(of_window / np.maximum(-np.expm1(log_kept), TINY), of_window + near) * (1 + _MARGIN)
    w = int(found.argmin())
    return min(1.0, float(found[w])), _source(x.windows[w], 0)


def _ratios_of_near(run: Run, tried: list[Window]) -> Array:
    """a√w(R) for every window, rounded up: the ratio of a Gaussian that hides the distance a of the two runs."""
    return np.array([run.apart * sqrt(contraction.weight(run.g, window.steps)) * (1 + _MARGIN) for window in tried])


def refuse_expanding(run: Run) -> None:
    """Raises ValueError for steps with c > 1, for which the theorems are false."""
    if run.g < 0:
        raise ValueError("a step may take two points apart")


def _source(window: Window, index: int) -> Source:
    return Source(window.steps, index, COMPARED_HIDDEN if window.hidden else COMPARED)


def _window_deltas(x: Profile, epsilon: float, before: int) -> Array:
    """δ of every window at ε − ε_i for the first points; between two ε of the points by the chord in e^ε, which is
    not below a convex function."""
    u = epsilon - x.epsilons[:before]
    if x.run.q == 1:
        return np.maximum(np.exp([window.log_delta(u) for window in x.windows]), TINY)
    k = np.minimum(np.searchsorted(x.epsilons, u, side="right"), len(x.epsilons) - 1)
    return _chord(u, x.epsilons[k - 1], x.epsilons[k], x.at_windows[:, k - 1], x.at_windows[:, k])


def _pooled(x: Profile, epsilon: float, at_windows: Array) -> tuple[float, Source]:
    """The least bound on δ at ε by pooling (full batches), with its source; inf where no points can be pooled."""
    before = at_windows.shape[1]
    corners = hull(x.epsilons[:before], x.deltas[:before])
    masses = _masses(x.epsilons[corners], x.deltas[corners])
    if masses is None:
        return inf, Source(x.windows[0].steps, 0, POOLED)
    at_zero, at_corner, beyond = masses
    w_at = at_windows[:, corners]
    # The ratio of a Gaussian that dominates R full-batch steps from any two starts, rounded up.
    apart = np.array([[(x.run.width * sqrt(contraction.weight(x.run.g, w.steps)) + x.run.push * sqrt(w.steps))
                       * (1 + _MARGIN)] for w in x.windows])
    deltas = x.deltas[corners]
    excess = deltas * np.exp(log_theta((epsilon + np.log(deltas[0] / deltas))[None, :], apart))
    inside = np.cumsum(at_corner * w_at, axis=1)
    total = at_zero * w_at[:, :1] + inside + beyond * w_at + excess
    w, k = np.unravel_index(int(total.argmin()), total.shape)
    return float(total[w, k]), Source(x.windows[w].steps, int(corners[k]), POOLED)


def hull(epsilons: Array, deltas: Array) -> list[int]:
    """The corners of the lower convex hull, in e^ε, of the points; δ falls from each to the next."""
    corners: list[int] = []

    def is_corner(i: int, j: int, k: int) -> bool:
        """Whether the slope in e^ε from i to j is steeper than from j to k, in spite of rounding errors."""
        before = (deltas[i] - deltas[j]) / -expm1(epsilons[i] - epsilons[j])
        after = (deltas[j] - deltas[k]) / expm1(epsilons[k] - epsilons[j])
        return bool(before > after * (1 + 1e-12))

    for j in range(len(epsilons)):
        if corners and deltas[j] >= deltas[corners[-1]]:
            continue
        while len(corners) > 1 and not is_corner(corners[-2], corners[-1], j):
            corners.pop()
        corners.append(j)
    return corners


def _masses(epsilons: Array, deltas: Array) -> tuple[float, Array, Array] | None:
    """P(ℓ <= 0), the P-masses of the corners with ε > 0, and e^{ε_k}·Q(ℓ > ε_k), of the pair whose profile has these
    corners; None where that profile is not convex at ε = 0 together with its mirror image."""
    width = np.diff(epsilons)
    falls = -np.diff(deltas)
    beyond = np.append(falls / np.expm1(width), 0.0)
    before = falls / -np.expm1(-width)
    # A mass has a rounding error of 1e-15, relative to the larger one of the two slopes whose difference it is.
    at_corner = np.append(0.0, before - beyond[1:] + 1e-15 * before)
    at_zero = 1 - deltas[0] - beyond[0]
    return (float(at_zero) + 1e-15, at_corner, beyond) if at_zero >= beyond[0] else None

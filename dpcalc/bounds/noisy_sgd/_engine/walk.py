"""Proven bounds on the probabilities of intervals under two clamped random walks after T steps.

A step is w ← clamp(a·w + m + N(0, 1), ±h), where m is the drift, or with probability q (`rate`) `up` in the walk P and
`down` in the walk Q. A law is an atom at each wall and a density between them. All quantities below are positive and
all errors relative, so the errors of successive steps multiply, and tails are as accurate as the rest.

a >= 0. Computed are the law of Q and S(x) = (P(w >= x) − Q(w >= x))/q, by a recursion without
cancellation (integration by parts):
    S_{t+1}(x) = ∫ S_t(y) a·k_P(x − ay) dy + ∫ Q_t(dy)·(Φ(ay + up − x) − Φ(ay + down − x)),  k_P the density of P's
    noise with its m.
Integrals over y become sums over the nodes of walk_grid.py, as Q's density, S and the integrands are mixtures of the
Gaussians for which its relative error is proven. T steps are computed by repeated squaring of [M B; 0 N] (M moves Q, N
moves S, B is the second integral). The results are true within a factor exp(±E), E = T·(quadrature + entries + sums):
an entry has errors from its argument |z| <= 38.6 through rounded nodes and means, from exp and erfc, and from the
weights; a sum of N positive products has an error of N·2^-53 in any order. What underflows is below FLOOR in all. The
last step gives the probabilities of intervals (cells), by the same sums.

At rest. The start may be random, as long as it does not depend on the data: δ at ε, and e^{(α−1)D_α},
are jointly convex, so the loss from some point of the support is at least as large. Let both walks start from masses μ
at the walls and nodes that a step of Q, as computed, changes by factors within e^{±r}: after t steps Q's law is μ
within e^{±t(r + e)}, e = E/T, and S_t = Σ_{s<t} N^s(μB) within the same factor. Let S̃ >= 0 be a vector with |log((NS̃
+ μB)/S̃)| <= r′. As S → NS + μB is monotone and takes cS to at least (at most) c times the image of S for c < 1 (c >
1), t steps of it from S̃ end within e^{±tr′} of S̃; and they end at S_t + N^t·S̃. So S_t lies between e^{−tr′}·S̃ −
N^t·S̃ and e^{tr′}·S̃. If Nu <= λu for some u > 0, N^t·S̃ <= λ^t·u·max(S̃/u). Where μ, S̃ and u come from does not
matter, and no power of a matrix is needed: this is how a wide interval is afforded.

More steps than are followed. a >= 0 makes w_{t+1} increase in w_t, so P_T(w >= x) for a start anywhere and T >= t lies
between its values after t steps from the left and from the right wall, and so does Q's: they differ by C(x), C_0 = 1,
C_{t+1}(x) = ∫ C_t(y) a·k(x − ay) dy, which λ and u bound too. So the laws after T and after t steps from μ differ by
at most C_P and C_Q.

a < 0, or nearly. The laws of P and Q are computed separately, and their difference has the error E·(P +
Q). Let two copies of a walk have the same noise. Each step multiplies their distance by |a| at most, and the noise of
the last step blurs what is left. So the laws from any two starts differ in total variation after t steps by at most
2h|a|^t, and T may be replaced by t < T at this price. """

from __future__ import annotations

from functools import lru_cache
from math import ceil, exp, log
from typing import NamedTuple

import numpy as np

from dpcalc.bounds.noisy_sgd._engine.one_step import LEAST_PULL, Pair
from dpcalc.bounds.noisy_sgd._engine.walk_grid import Grid, grid
from dpcalc.bounds.noisy_sgd._engine.walk_rest import (
    UNCOUNTED,
    Kept,
    at_rest,
    kept_by_step,
    largest_change,
    steps_followed,
)
from dpcalc.bounds.noisy_sgd._engine.walk_step import (
    FLOOR,
    Law,
    cell_error,
    cells,
    density,
    entry_error,
    flush,
    moved_masses,
    places,
    push,
    unknown,
)
from dpcalc.numerics.arrays import Array

_FEW = 400  # so many products of a vector and a matrix take less time than one square of the matrices


@lru_cache(maxsize=64)
def law(pair: Pair, steps: int) -> Law:
    """Bounds on the two laws after T >= 2 steps."""
    g = grid(pair.half, abs(pair.pull), pair.reach)
    y = np.concatenate([[-pair.half], g.x, [pair.half]])
    of_kind = _from_rest if pair.at_rest else _from_point if pair.pull >= LEAST_PULL else _apart
    return of_kind(pair, g, y, steps)


class _Power(NamedTuple):
    """A power of the step [M B; 0 N]; B may be 0 (None)."""

    m: Array
    b: Array | None
    n: Array

    def after(self, x: Array, y: Array) -> tuple[Array, Array]:
        return x @ self.m, y @ self.n if self.b is None else y @ self.n + x @ self.b

    @property
    def squared(self) -> _Power:
        b = None if self.b is None else flush(self.m @ self.b + self.b @ self.n)
        return _Power(flush(self.m @ self.m), b, flush(self.n @ self.n))


def _moved(power: _Power, x: Array, y: Array, steps: int) -> tuple[Array, Array]:
    """The two vectors after so many steps."""
    while steps > _FEW:
        if steps & 1:
            x, y = power.after(x, y)
        steps, power = steps >> 1, power.squared
    for _ in range(steps):
        x, y = power.after(x, y)
    return x, y


# --- a >= 0 ----------------------------------------------------------------------------------------------------------


def _from_point(pair: Pair, g: Grid, y: Array, steps: int) -> Law:
    step = _Power(flush(moved_masses(pair, g, y, up=False).dense), flush(push(pair, y, g.x).dense),
                  kept_by_step(pair, g, up=True).dense)
    start = np.array([pair.start])
    mass, s = _moved(step, moved_masses(pair, g, start, up=False).dense[0], push(pair, start, g.x).dense[0], steps - 2)
    return _last_step(pair, g, y, mass, s, steps * (g.error + entry_error(pair, len(y))))


def _from_rest(pair: Pair, g: Grid, y: Array, steps: int) -> Law:
    before, matrix = steps_followed(pair, steps), moved_masses(pair, g, y, up=False)
    mass, kept_p = at_rest(pair, y, matrix), Kept(pair, g, up=True)
    source = push(pair, y, g.x).times(mass)
    s = kept_p.solve(source)
    changed = largest_change(mass, matrix.times(mass)) + largest_change(s, kept_p.matrix.times(s) + source)
    error = before * (g.error + entry_error(pair, len(y)) + changed)
    if not error < 1:
        return unknown(places(pair))

    def left(kept: Kept, start: Array) -> Array:
        """What `before` steps and one more leave of differences of tails, at the edges."""
        bound = kept.bound(start, before) * g.w * pair.pull
        return density(pair, g.x, places(pair), kept.up).times(bound) * exp(error + 1e-6) + UNCOUNTED

    lost = pair.rate * left(kept_p, s)
    if before == steps - 1:
        return _last_step(pair, g, y, mass, s, error, lost, UNCOUNTED)
    c_p, c_q = (left(kept, np.ones(len(g.x))) for kept in (kept_p, Kept(pair, g, up=False)))
    return _last_step(pair, g, y, mass, s, error, lost + c_p + c_q, c_q)


def _last_step(pair: Pair, g: Grid, y: Array, mass: Array, s: Array, error: float, lost: Array | float = 0.0,
               c_q: Array | float = 0.0) -> Law:
    """Bounds after one more step, cell by cell, from the masses of Q at y and from S at the nodes. At the edges of the
    cells, P(w >= x) − Q(w >= x) is within `lost` of what these say, and Q(w >= x) within `c_q`, besides the relative
    error."""
    edges = places(pair)
    error += cell_error(pair, edges)
    if not error < 1:
        return unknown(edges)
    of_q = cells(pair, y, mass, edges)
    s = push(pair, y, edges).times(mass) + density(pair, g.x, edges, up=True).times(s * g.w * pair.pull)
    # P(w >= x) >= Q(w >= x), as up >= down.
    low = np.maximum(pair.rate * s * exp(-error) - lost - FLOOR, 0.0)
    high = pair.rate * s * exp(error) + lost + FLOOR
    at_least, at_most = np.concatenate([[0.0], low, [0.0]]), np.concatenate([[0.0], high, [0.0]])
    gain_low, gain_high = at_least[:-1] - at_most[1:], at_most[:-1] - at_least[1:]
    at_edges = np.broadcast_to(c_q, edges.shape)
    added = np.concatenate([at_edges, [0.0]]) + np.concatenate([[0.0], at_edges])
    return Law(of_q * exp(error) + added + FLOOR, np.where(gain_low > 0, gain_low, np.minimum(gain_high, 0.0)),
               np.cumsum(of_q[::-1])[::-1][1:] * exp(error) + c_q + FLOOR, low)


# --- a < 0, or nearly ------------------------------------------------------------------------------------------------


def _apart(pair: Pair, g: Grid, y: Array, steps: int) -> Law:
    """The laws of P and Q by the transition matrix of each, after T steps or after so many that the start is
    forgotten."""
    distance = 0.0
    if abs(pair.pull) < 1:
        log_pull = log(max(abs(pair.pull), 1e-300))
        forgotten = max(2, ceil(-(700 + log(2 * pair.half + 1)) / log_pull))  # 2h|a|^t is below e^−700 then
        if forgotten < steps:
            steps, distance = forgotten, distance_of_starts(pair, forgotten)
    start, sides = np.array([pair.start]), (True, False)
    of_p, of_q = (flush(moved_masses(pair, g, y, up).dense) for up in sides)
    first_p, first_q = (moved_masses(pair, g, start, up).dense[0] for up in sides)
    masses = _moved(_Power(of_p, None, of_q), first_p, first_q, steps - 2)
    edges = places(pair)
    error = steps * (g.error + entry_error(pair, len(y))) + cell_error(pair, edges)
    if not error < 1:
        return unknown(edges)
    p, q = (cells(pair, y, mass, edges, up) for mass, up in zip(masses, sides, strict=True))
    relative, absolute = np.expm1(error), distance + FLOOR
    gain, (above_p, above_q) = p - q, (np.cumsum(x[::-1])[::-1][1:] for x in (p, q))
    gain = np.sign(gain) * np.maximum(np.abs(gain) - relative * (p + q) - 2 * absolute, 0.0)
    lead = np.maximum(above_p - above_q - relative * (above_p + above_q) - 2 * absolute, 0.0)
    return Law(q * (1 + relative) + absolute, gain, above_q * (1 + relative) + absolute, lead)


def distance_of_starts(pair: Pair, steps: int) -> float:
    """A bound on the total variation distance of the laws from any two starts after so many steps, rounded up."""
    return min(1.0, 2 * pair.half * abs(pair.pull) ** min(steps, 2**50)) * (1 + 1e-6)

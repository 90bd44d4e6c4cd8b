"""Proven bounds on the probabilities of intervals under two clamped random walks after T steps.

A step is w ← clamp(a·w + m + N(0, 1), ±h), where m is the drift, or with probability q (`rate`) `up` in the walk P and
`down` in the walk Q. A law is an atom at each wall and a density between them. All quantities below are positive and
all errors relative, so the errors of successive steps multiply, and tails are as accurate as the rest.

a >= 0 (walk_monotone.py). Computed are the law of Q and S(x) = (P(w >= x) − Q(w >= x))/q, by a recursion without
cancellation (integration by parts):
    S_{t+1}(x) = ∫ S_t(y) a·k_P(x − ay) dy + ∫ Q_t(dy)·(Φ(ay + up − x) − Φ(ay + down − x)),  k_P the density of P's
    noise with its m.
Integrals over y become sums over the nodes of walk_grid.py, as Q's density, S and the integrands are mixtures of the
Gaussians for which its relative error is proven. T steps are computed by repeated squaring of [M B; 0 N] (M moves Q, N
moves S, B is the second integral). The results are true within a factor exp(±E), E = T·(quadrature + entries + sums):
an entry has errors from its argument |z| <= 38.6 through rounded nodes and means, from exp and erfc, and from the
weights; a sum of N positive products has an error of N·2^-53 in any order. What underflows is below FLOOR in all. The
last step gives the probabilities of intervals (cells), by the same sums.

Many steps. a >= 0 makes w_{t+1} increase in w_t, so P_T(w >= x) for a start anywhere and T >= t lies between its values
after t steps from the left and from the right wall, and so does Q's: they differ by C(x), C_0 = 1, C_{t+1}(x) = ∫
C_t(y) a·k(x − ay) dy. From the right wall,
    Q_T ∈ [Q_t − C_Q, Q_t],  P_T − Q_T ∈ [q·S_t − C_P, q·S_t + C_Q],
so that any T beyond mixing costs no more than t, a power of two for which C is below the rounding errors.

a < 0, or nearly, and wide walks (walk_apart.py). The laws of P and Q are computed separately, and their difference has
the error E·(P + Q). Let two copies of a walk have the same noise. Each step multiplies their distance by |a| at most,
and the noise of the last step blurs what is left; for a = 1 they meet when the noise of m steps adds up to 2h or more
in either direction, as one then hits a wall where the other is. So the laws from any two starts differ in total
variation after t steps by at most g(t) = min(2h|a|^t, erf(2h/√(2m))^⌊t/m⌋), and T may be replaced by t < T at this
price. For a wide walk the stationary law π is solved for: if π(1 − r) <= πM <= π(1 + r) at the nodes, the law t steps
after π is π within e^{±tE′}, E′ = r + E/T, and that of the walk within g(t) of it. """

from __future__ import annotations

from functools import lru_cache

from dpcalc.bounds.noisy_sgd._engine import walk_apart, walk_monotone
from dpcalc.bounds.noisy_sgd._engine.walk_grid import grid
from dpcalc.bounds.noisy_sgd._engine.walk_step import LEAST_PULL, Law, Pair

WIDE = 45.0  # half-width in units of the noise; wider walks are solved for their stationary law, as matrices are large


@lru_cache(maxsize=64)
def law(pair: Pair, steps: int) -> Law:
    """Bounds on the two laws after T >= 2 steps."""
    g = grid(pair.half, abs(pair.pull), pair.reach)
    if pair.half > WIDE:
        return walk_apart.stationary(pair, g, steps)
    return walk_monotone.law(pair, g, steps) if pair.pull >= LEAST_PULL else walk_apart.law(pair, g, steps)

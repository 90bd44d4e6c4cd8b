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

At rest (walk_rest.py). The start may be random, as long as it does not depend on the data: δ at ε, and e^{(α−1)D_α},
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

a < 0, or nearly (walk_apart.py). The laws of P and Q are computed separately, and their difference has the error E·(P +
Q). Let two copies of a walk have the same noise. Each step multiplies their distance by |a| at most, and the noise of
the last step blurs what is left. So the laws from any two starts differ in total variation after t steps by at most
2h|a|^t, and T may be replaced by t < T at this price. """

from __future__ import annotations

from functools import lru_cache

from dpcalc.bounds.noisy_sgd._engine import walk_apart, walk_monotone, walk_rest
from dpcalc.bounds.noisy_sgd._engine.walk_grid import grid
from dpcalc.bounds.noisy_sgd._engine.walk_step import LEAST_PULL, Law, Pair


@lru_cache(maxsize=64)
def law(pair: Pair, steps: int) -> Law:
    """Bounds on the two laws after T >= 2 steps."""
    g = grid(pair.half, abs(pair.pull), pair.reach)
    if pair.at_rest:
        return walk_rest.law(pair, g, steps)
    return walk_monotone.law(pair, g, steps) if pair.pull >= LEAST_PULL else walk_apart.law(pair, g, steps)

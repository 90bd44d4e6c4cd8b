"""The privacy profile of shuffled projected SGD with Laplace noise on an interval, where the secret order hides a late
record among much earlier ones.

Setting. As in shuffled_hiding.py (its P_m, Q_m and Theorem are used), with K = [a, b] of length D and Laplace noise of
scale v on every gradient. For γ >= 1, r = 2L/v and κ = MD/(ηv) let A_γ = (1 − √γ e^{−r/2})₊ and B_γ = (1 − √γ
e^{−κ/2})₊: the E_γ between a Laplace law of scale v and its shift by 2L, and by MD/η. One step from one point by two
maps whose gradients differ by at most 2L gives laws with E_γ <= A_γ (E_γ rises with the shift), and one map from two
points of K laws with E_γ <= B_γ, as they are at most MD apart before the noise ηv; Π_K is post-processing. After one
slot all iterates are in K.

Contraction. For γ >= 1 and a kernel R with E_γ(R(x)‖R(y)) <= B for all x, y: E_γ(μR‖νR) <= B·E_γ(μ‖ν).
Proof. Let (μ − γν)₊ = E·α and (μ − γν)₋ = E′·β with laws α, β (any, where E or E′ is 0): E = E_γ(μ‖ν) <= 1 and E′ = E +
γ − 1 >= γE. On any event μR − γνR = E·αR − E′·βR <= E(αR − γβR) <= E·E_γ(αR‖βR), which is at most EB by joint
convexity. ∎

Sum rule. For γ1, γ2 >= 0 and any law S: E_{γ1γ2}(P‖R) <= E_γ1(P‖S) + γ1·E_γ2(S‖R), as P − γ1γ2R = (P − γ1S) + γ1(S −
γ2R). ∎

Lemma. For γ >= 1: E_γ(P_m‖Q_m) <= A_γ B_γ^m, and for m < m′ E_γ(P_m‖Q_m′) <= A_1 B_1^{m′} + A_γ B_γ^m; with P and Q
exchanged, too. Proof. As in shuffled_hiding.py, exchanging record i at slot m with record j at slot m′ is a bijection
between the orders with i at slot m and those with i at slot m′, and takes the uniform law to the uniform law; E_γ is
jointly convex, so it is enough to compare the run X on an order τ with the run X′ on its image τ′. In every slot but
two they use the same map; at slot m′ X uses j and X′ uses x_i′, and at slot m X uses x_i and X′ uses j. Let S be the
law of the chain that uses x_i′ at slot m′, x_i at slot m and the common maps elsewhere: a chain of kernels that is well
defined, though no data set has such a run. S differs from X at slot m′ only, where both come from the same law: after
it E_1 <= A_1, by joint convexity, and each of the m′ slots after it multiplies by at most B_1. S differs from X′ at
slot m only, so E_γ(S‖X′) <= A_γ B_γ^m. The sum rule with γ1 = 1 and γ2 = γ adds them. One place is the same with one
differing slot. ∎

The choice γ1 = 1 is best up to small factors: a larger one contracts the first term √γ1 times as fast, but then γ2 =
γ/γ1 makes the second term vanish only at a γ that is γ1 times as large, for which only 1/γ1 as many places can be
compared with early ones. For γ1 < 1, E_γ1 does not fall below 1 − γ1.

Theorem. For whole 0 <= k <= h < n and, where k > 0, t >= 0 with e^ε t >= 1 and s = kt/(n − h) <= 1 − e^{−ε}: with γ =
e^ε t and λ = e^ε(1 − s)
    nδ(ε) <= k·A_1·(1/(n − h))Σ_{h<=m<n} B_1^m + A_γ Σ_{m<k} B_γ^m + A_{e^ε} Σ_{k<=m<h} B_{e^ε}^m + A_λ Σ_{h<=m<n}
    B_λ^m.
Proof. In the Theorem of shuffled_hiding.py take p_mm′ = 1/(n − h) and c_mm′ = t/(n − h) for late m < k and early m′ >=
h; p = c = 1 on the diagonal for k <= m < h; p = 1 and c = 1 − s on that of early places; elsewhere 0. Rows of p add up
to 1, columns of c to at most 1, and every e^ε c/p is at least 1. ∎

The second term vanishes where e^ε t >= e^{2L/v}. All sums are geometric. With k = 0 the bound is shuffled-contraction.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import exp, inf, log, log1p
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.hiding.shuffled_hiding import EQUAL, FIXED, OTHERS, PLAIN, SECRET
from dpcalc.bounds.pnsgd._engine.laws import LAPLACE
from dpcalc.bounds.pnsgd._engine.step import (
    LAPLACE_LINE,
    SETTING,
    STEP,
    STEP_SIZE,
    Step,
    average_power_exact,
    log_average_power,
    move_ratio,
    reach_ratio,
    step,
    step_exact,
)
from dpcalc.core.bound import Choices, ProfileBound, Theorem
from dpcalc.numerics.elementary import log_sum
from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from dpcalc.numerics.arrays import Array

Choice = tuple[int, int, float]  # k, h and log t of the Theorem
_NO_HIDING: Choice = (0, 0, 0.0)


def value(epsilon: float, **p: Any) -> float:
    return _best(epsilon, p)[0]


def _best(epsilon: float, p: dict[str, Any]) -> tuple[float, Choice]:
    """An upper bound on log δ at ε, and the k, h and log t of its proof."""
    without = _log_delta(epsilon, _NO_HIDING, p)
    if without == -inf or (choice := _search(epsilon, p)) is None:
        return without, _NO_HIDING
    return min((without, _NO_HIDING), (_log_delta(epsilon, choice, p), choice), key=lambda found: found[0])


def _log_delta(epsilon: float, choice: Choice, p: dict[str, Any]) -> float:
    """The Theorem's log δ at k, h and log t, rounded up; 0 where its conditions fail."""
    (k, h, log_t), n = choice, p["n"]
    run = {key: p[key] for key in STEP[1:]}
    s = k * exp(log_t) / (n - h) * (1 + 1e-15)
    log_gamma, log_lambda = (epsilon + log_t) * (1 - 3e-16), epsilon + log1p(-s) if s < 1 else -inf
    log_lambda -= 4e-16 * (epsilon + abs(log_lambda - epsilon)) if k else 0.0
    if k and not (log_gamma >= 0 and log_lambda >= 0):
        return 0.0
    terms = [_log_power_sum(step(epsilon, LAPLACE, **run), k, h),
             _log_power_sum(step(log_lambda, LAPLACE, **run), h, n)]
    if k:
        terms += [log(k) + _log_power_sum(step(0.0, LAPLACE, **run), h, n) - log(n - h),
                  _log_power_sum(step(log_gamma, LAPLACE, **run), 0, k)]
    total = log_sum(terms)
    return min(0.0, up(total - log(n), 1e-14) + 1e-14 * (1 + log(n))) if total > -inf else -inf


def _log_power_sum(s: Step, start: int, end: int) -> float:
    """log of A Σ_{start <= m < end} B^m."""
    if start == end or s.log_a == -inf:
        return -inf
    first = s.log_a + (start * s.log_b if start else 0.0)
    return first + log_average_power(s.log_b, s.log_rest, end - start) + log(end - start)


@lru_cache(maxsize=4)
def _candidates(n: int) -> tuple[Array, Array, Array]:
    """The k and h that are tried, in a column, and the parts of the largest s."""
    import numpy as np

    late = np.unique(np.floor(np.geomspace(1, max(1, 0.7 * n), 48)))
    early_over_late, part_of_s = (1.0, 1.25, 1.6, 2.5, 5.0, 12.0), (0.97, 0.6, 0.25, 0.08, 0.02)
    k, times = (x.reshape(-1, 1) for x in np.meshgrid(late, early_over_late, indexing="ij"))
    return k, np.minimum(np.ceil(k * times), n - 1), np.array(part_of_s)


def _search(epsilon: float, p: dict[str, Any]) -> Choice | None:
    """A good k, h and log t, the best of a grid.

    Any choice is valid. As k and h are of a grid that depends on n only, and t is a function of (ε, 2L/v, n, k, h), the
    δ of each candidate falls as ε grows and rises with L and D, and so does the least one. """
    import numpy as np

    n, r = p["n"], move_ratio(p["level"], p["lipschitz"])
    kappa = reach_ratio(p["level"], **{key: p[key] for key in STEP[3:]})
    if n < 2 or epsilon <= 0:
        return None
    k, h, part = _candidates(n)
    with np.errstate(all="ignore"):
        # The least t with A_γ = 0 (raised by 1e-9, so that rounding leaves it 0), or a part of the largest s.
        log_t = np.minimum((r - epsilon) + 1e-9 * r, np.log(part * -np.expm1(-epsilon) * (n - h) / k))
        log_lambda = epsilon + np.log1p(-k * np.exp(log_t) / (n - h))

        def log_a(e: Any) -> Any:
            return np.where(e < r, np.log(-np.expm1(np.minimum(e - r, 0) / 2)), -inf)

        def log_powers(e: Any, start: Any, end: Any) -> Any:
            """log Σ_{start <= m < end} B^m."""
            rest = np.minimum(e - kappa, 0) / 2
            log_b = np.log1p(-np.exp(rest))
            y = (end - start) * log_b
            length = np.where(y > -1e-9, np.log(end - start), np.log(-np.expm1(y)) - rest)
            return np.where(start > 0, start * log_b, 0.0) + length

        found = np.logaddexp(np.log(k / (n - h)) + log_a(0.0) + log_powers(0.0, h, n),
                             np.where(h > k, log_a(epsilon) + log_powers(epsilon, k, h), -inf))
        for term in (log_a(epsilon + log_t) + log_powers(epsilon + log_t, 0 * k, k),
                     log_a(log_lambda) + log_powers(log_lambda, h, n)):
            found = np.logaddexp(found, term)
        found = np.where((epsilon + log_t > 0) & (log_lambda > 0) & ~np.isnan(found), found, inf)
    row, column = divmod(int(found.argmin()), found.shape[1])
    return (int(k[row, 0]), int(h[row, 0]), float(log_t[row, column])) if found[row, column] < inf else None


def pure(level: float, lipschitz: float, **_: Any) -> float:
    """ε from which δ = 0: 2L/v."""
    return move_ratio(level, lipschitz)


def choices(epsilon: float, log_delta: float, **p: Any) -> dict[str, Any]:
    """The free choices of the value at ε: k, h and log t."""
    return {"way": list(_best(epsilon, p)[1])}


def exact(mp: Any, epsilon: Any, n: int, way: Sequence[float] | None = None, **p: Any) -> Any:
    """δ at high precision, by the choices of the value or by given ones; 1 where they do not meet the conditions of the
    Theorem. Raises ValueError where they are malformed."""
    k, h, log_t = _read_choice(way, n) if way else _best(float(epsilon), {**p, "n": n})[1]
    e, log_t = mp.mpf(epsilon), mp.mpf(log_t)
    s = k * mp.exp(log_t) / (n - h)
    if k and not (e + log_t >= 0 and s < 1 and e + mp.log1p(-s) >= 0):
        return mp.mpf(1)

    def powers(log_gamma: Any, start: int, end: int) -> Any:
        """A Σ_{start <= m < end} B^m."""
        if start == end:
            return mp.mpf(0)
        a, b, rest = step_exact(mp, log_gamma, LAPLACE, **p)
        return a * b**start * (end - start) * average_power_exact(mp, rest, end - start)

    late = powers(mp.mpf(0), h, n) * k / (n - h) + powers(e + log_t, 0, k) if k else 0
    return (late + powers(e, k, h) + powers(e + mp.log1p(-s), h, n)) / n


def _read_choice(way: Sequence[float], n: int) -> Choice:
    """k, h and log t of a witness. Raises ValueError where it is malformed; the number of places is below e^700."""
    if len(way) == 3 and 0 <= way[0] <= way[1] < n and all(x == int(x) for x in way[:2]) and abs(way[2]) < 700:
        return int(way[0]), int(way[1]), float(way[2])
    raise ValueError(f"{str(way)[:40]} is no plan")


BOUND = ProfileBound(Theorem(
    name="shuffled-hiding-laplace",
    example="shuffle-pnsgd --noise laplace --scale 2 --lipschitz 1 --diameter 8 --learning-rate 1 --smoothness "
            "0.5 --n 10000 --epsilon 0.5",
    statement="nδ(ε) ≤ k·A_1·(1/(n−h))Σ_{h≤m<n} B_1^m + A_γ Σ_{m<k} B_γ^m + A_{e^ε} Σ_{k≤m<h} B_{e^ε}^m + A_λ "
              "Σ_{h≤m<n} B_λ^m, γ = e^ε t, λ = e^ε(1 − s), s = kt/(n − h), for all 0 ≤ k ≤ h < n and t with γ "
              "≥ 1 and λ ≥ 1; A_γ = (1 − √γ e^(−L/v))₊ and B_γ = (1 − √γ e^(−MD/(2ηv)))₊, M² = 1 − 2ηβρ/(β+ρ); "
              "k, h and t are sought",
    in_words="What shuffled-hiding says for Laplace noise, with one parameter in an interval: in a secret order a "
             "record that is used late hides among those that are used much earlier. A record is replaced. Once "
             "n·min(ε, 1) is much larger than e^(MD/(2ηv) + 2L/v), δ falls much below 1/n. It is for convex smooth "
             "losses without clipping, and false where the order is known.",
    source="dpcalc, bounds/hiding/shuffled_hiding_laplace.py (proof there), from Sordello, Bu & Dong 2021, Theorem "
           "1",
    assumptions=(*SETTING, SECRET, OTHERS, FIXED, PLAIN, EQUAL, STEP_SIZE, LAPLACE_LINE),
), params=(*STEP[1:], "n"), value=value, exact=exact, rtol=2e-10, pure=pure, choices=Choices(witness=choices))

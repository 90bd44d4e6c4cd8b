"""The worst index of a list of noise levels, in one pass from the end."""

from __future__ import annotations

from math import inf, log
from typing import Any

from dpcalc.bounds.online.levels import Listed
from dpcalc.bounds.pnsgd.laws import Law
from dpcalc.bounds.pnsgd.positions import scaled
from dpcalc.bounds.pnsgd.step import log_b, log_factor, move_ratio, reach_ratio
from dpcalc.numerics.elementary import log_add


def of_list(epsilon: float, law: Law, levels: Listed, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
            strong_convexity: float, n: int, **_: Any) -> tuple[int, float]:
    """(i, log δ_i) with the largest δ_i, the smaller of online-contraction and (Gaussian noise) online-iteration for each i."""
    log_c = max(log_factor(learning_rate, strong_convexity), -300.0)
    worst, product, log_sum = (n, -inf), 0.0, -inf
    for i in range(n, 0, -1):
        level = levels.at(i)
        move = move_ratio(level, lipschitz)
        log_delta = law.log_delta(epsilon, move) + product
        # log of Σ_{t>=i} c^{−2(t−i)}σ_t², from below, for the shift that iteration carries to the end
        log_sum = log_add(2 * log(level), log_sum - 2 * log_c)
        if law.name == "gaussian":
            log_delta = min(log_delta, law.log_delta(epsilon, scaled(2 * lipschitz, -log_sum + 1e-12)))
        if log_delta > worst[1]:
            worst = i, log_delta
        product += log_b(law, epsilon, reach_ratio(level, diameter, learning_rate, smoothness, strong_convexity))
        product *= 1 - 2e-16
    return worst

"""What the guarantee of one index tends to as the stream goes on. A limit, not a guarantee."""

from math import inf
from typing import Any

from dpcalc.bound import Bound
from dpcalc.bounds.online.levels import Schedule
from dpcalc.bounds.online.setting import ASSUMPTIONS, STREAM
from dpcalc.bounds.online.sums import integral
from dpcalc.bounds.pnsgd.laws import Law
from dpcalc.bounds.pnsgd.step import check_step_size, contraction_exact, log_b, move_ratio, reach_ratio
from dpcalc.numerics.rounding import up


def value(epsilon: float, law: Law, levels: Schedule, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
          strong_convexity: float, index: int) -> float:
    """log A_i + ∫_{i+1}^∞ log B_x dx."""
    check_step_size(learning_rate, smoothness, strong_convexity)
    log_a = law.log_delta(epsilon, move_ratio(levels.at(index), lipschitz))

    def loss(t: float) -> float:
        return -log_b(law, epsilon, reach_ratio(levels.at(t), diameter, learning_rate, smoothness, strong_convexity))

    if log_a == -inf or loss(index + 1) == inf:
        return -inf
    return min(0.0, up(log_a - integral(loss, index + 1, inf, 2 * levels.decay + 2), 2e-9))


def exact(mp: Any, epsilon: float, law: Law, levels: Schedule, lipschitz: float, diameter: float, learning_rate: float,
          smoothness: float, strong_convexity: float, index: int) -> Any:
    reach = contraction_exact(mp, learning_rate, smoothness, strong_convexity) * mp.mpf(diameter) / mp.mpf(learning_rate)
    a = law.exact(mp, epsilon, 2 * mp.mpf(lipschitz) / levels.exact(mp, index))

    def loss(u: Any) -> Any:
        x = mp.exp(u)
        return x * mp.log(law.exact(mp, epsilon, reach / levels.exact(mp, x)))

    start = mp.log(index + 1)
    return a * mp.exp(mp.quad(loss, [start, start + 1, start + 3, start + 6, start + 12, start + 24, start + 48, start + 96]))


BOUND = Bound(
    name="online-limit",
    kind="profile",
    statement="as n → ∞ the δ_i of online-contraction tends to at most A_i exp(∫_{i+1}^∞ log B_x dx)",
    source="Sordello, Bu & Dong 2021, Theorems 6 and 7, eq. 13 and 15, corrected",
    assumptions=(*ASSUMPTIONS, "says nothing at a finite n: δ_i(n) falls to its limit"),
    params=("law", *(p for p in STREAM if p != "n")),
    value=value,
    exact=exact,
    rtol=5e-9,
    status="limit",
    errata=("eq. 13 has −ε/2 in A_i; it must be +ε/2.", "In eq. 15 exp(∫) multiplies θ; it is printed inside its argument.",
            "The captions' rate 1/log n is n^(−(a−1))."),
    margin=3e-10,
)

"""The limit of shuffled-contraction under the noise schedules of Sordello, Bu & Dong 2021 as n grows: no guarantee.

It is a limit of that bound, not of the run: under the same schedules the bounds by which a record hides among the
others are below δ* at large n. With Laplace noise, C1 = 1e5, C2 = 2, L = 10, η = .1, D = 1 and ε = 1, δ* is 6.07e-6 and
shuffled-hiding-laplace gives 6.2e-8 at n = 1e12.
"""

from math import exp, log
from typing import Any

from dpcalc.bounds.pnsgd._engine.laws import Law
from dpcalc.bounds.pnsgd._engine.ratio_limits import LEAST_EXPONENT
from dpcalc.bounds.pnsgd._engine.step import log_shrink
from dpcalc.bounds.start import START
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.numerics.rounding import up

_FACTOR = {"laplace": 1.0, "gaussian": 2.0}  # x is this times C1 e^{ε/2}


def value(epsilon: float, law: Law, c1: float) -> float:
    """log of δ* = (1 − e^{−x})/x, rounded up."""
    log_x = log(_FACTOR[law.name] * c1) + epsilon / 2
    if log_x > -LEAST_EXPONENT:
        return up(-log_x, 1e-15)
    x = exp(log_x)
    return min(0.0, up(log_shrink(x), 1e-12))


def exact(mp: Any, epsilon: float, law: Law, c1: float) -> Any:
    x = _FACTOR[law.name] * mp.mpf(c1) * mp.exp(mp.mpf(epsilon) / 2)
    return (1 - mp.exp(-x)) / x


BOUND = ProfileBound(
    Theorem(
        name="shuffled-limit",
        example="shuffle-pnsgd --noise laplace --c1 1e5 --c2 2 --lipschitz 10 --smoothness 0.5 --learning-rate 0.1 "
                "--diameter 1 --n 1e6 --epsilon 1 --bound shuffled-limit",
        statement="as n → ∞ the δ of shuffled-contraction under the schedule tends to δ* = (1 − e^(−x))/x, x = C1 "
                  "e^(ε/2) for Laplace noise and 2C1 e^(ε/2) for Gaussian; of that bound alone: those of "
                  "shuffled-hiding-laplace and shuffled-hiding are smaller at large n",
        source="Sordello, Bu & Dong 2021, Theorems 3 and 4",
        assumptions=(START, "says nothing at a finite n", "rate 1/n for Laplace noise only where 2Lη/(MD) ≥ 1"),
        status="limit",
        errata=("At the paper's own Figure 2 parameters δ exceeds δ* by factors 119, 13 and 2.5 at n = 1e3, 1e4, 1e5.",
                "The O(1/n) rate of Theorem 3 needs 2Lη/(MD) ≥ 1."),
    ),
    params=("law", "c1"),
    value=value,
    exact=exact,
    rtol=1e-11,
)

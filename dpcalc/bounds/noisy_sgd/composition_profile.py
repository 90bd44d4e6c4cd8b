"""The privacy profile of T composed steps of noisy SGD on random batches.

Statement. One step is dominated by the pair with the profile δ(ε) = q·θ(log(1 + (e^ε − 1)/q), 2L/(bσ)), q = b/n
(sampled_step.py), and T steps by T copies of that pair, composed (Zhu, Dong & Wang 2022, Theorem 10). One step has
closed forms; more are composed numerically, from above. """

from __future__ import annotations

from functools import lru_cache
from math import expm1, inf, log, log1p, sqrt
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms import gaussian
from dpcalc.bounds.noisy_sgd import composition
from dpcalc.core.bound import Choices, ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.hockey_stick import epsilon_for, log_theta
from dpcalc.numerics.rounding import ratio_up, up

if TYPE_CHECKING:
    from dpcalc.pld.bracket import Bracket
    from dpcalc.pld.pilot import Parts

Composed = tuple[int, int, float, float, int, float]  # the arguments of `parts_of`
PRECISION = 1e-3  # accuracy of a composed ε, relative, and of a composed log δ, absolute: what the bounds claim
_LARGEST_LOG = 3000.0  # mean privacy loss, or −log δ, beyond which composing takes long and improves on no RDP bound


def parts_of(n: int, batch_size: int, lipschitz: float, sigma2: float, r: int, mu: float) -> Parts:
    """The dominating pair of R sampled steps with noise σ2, each at q = b/n and 1/z = 2L/(bσ2) rounded up, and of a
    Gaussian mechanism of ratio μ (none where μ = 0)."""
    from dpcalc.pld.pair import Gaussian
    from dpcalc.pld.sampled import without_replacement

    q, ratio = _rate_and_ratio(n, batch_size, lipschitz, sigma2)
    step = without_replacement(Gaussian(ratio), q)
    return ((step, r), (Gaussian(mu), 1)) if mu else ((step, r),)


def _rate_and_ratio(n: int, batch_size: int, lipschitz: float, sigma: float) -> tuple[float, float]:
    """q = b/n and 1/z = 2L/(bσ), rounded up."""
    return ratio_up((float(batch_size),), (float(n),)), ratio_up((2.0, lipschitz), (float(batch_size), sigma))


@lru_cache(maxsize=8)
def composed_at_epsilon(epsilon: float, composed: Composed) -> Bracket:
    """log δ at ε, from above, with the grids that prove it."""
    from dpcalc.pld.bracket import log_delta_at_epsilon

    return log_delta_at_epsilon(parts_of(*composed), epsilon, PRECISION, bracket=False)


@lru_cache(maxsize=8)
def composed_at_delta(log_delta: float, composed: Composed) -> Bracket:
    """ε at log δ, from above, with the grids that prove it. Raises OutOfScope where no finite ε has that δ."""
    from dpcalc.pld.bracket import epsilon_at_delta

    found = epsilon_at_delta(parts_of(*composed), log_delta, PRECISION, bracket=False)
    if found.upper == inf:
        raise OutOfScope("no-solution", "no ε is enough for this δ by the composed profile; give a larger δ", "--delta")
    return found


def composed_witness(composed: Composed, epsilon: float | None, log_delta: float | None) -> dict[str, Any]:
    """The grids that prove the answer at ε, or else at log δ."""
    if log_delta is None:
        return composed_at_epsilon(epsilon or 0.0, composed).witness
    return composed_at_delta(log_delta, composed).witness


def require_worth_composing(epsilon: float | None, mean: float, rdp_at_two: float) -> None:
    """Raises OutOfScope where a composed profile would take long and not improve on the RDP bounds.

    The mean loss is about `mean` = ε(1.01): it may be in the thousands, or so far above the ε of the question that δ is
    1. Or δ, which is about e^{−ε²/(2μ²)} with μ² about ε(2), is far below every double."""
    hopeless = mean > _LARGEST_LOG or (epsilon is not None and mean > epsilon + 12 * sqrt(2 * mean))
    tiny = epsilon is not None and rdp_at_two > 0 and epsilon * epsilon / (2 * rdp_at_two) > _LARGEST_LOG
    if hopeless or tiny:
        raise OutOfScope("no-solution",
                         "the privacy loss is out of the range of a composed profile; use an RDP bound",
                         "--bound")


def _require_worth_composing(epsilon: float | None, *run: Any) -> None:
    require_worth_composing(epsilon, composition.value(1.01, *run), composition.value(2.0, *run))


def one_step(epsilon: float, n: int, batch_size: int, lipschitz: float, sigma: float) -> float:
    """log δ(ε) of one step, from above: log of q·θ(log(1 + (e^ε − 1)/q), 2L/(bσ))."""
    q, ratio = _rate_and_ratio(n, batch_size, lipschitz, sigma)
    inner = log1p(expm1(epsilon) / q) if epsilon < 600 else epsilon - log(q)
    return min(0.0, up(log(q) + log_theta(inner * (1 - 1e-15), ratio), 1e-12))


def one_step_inverse(log_delta: float, n: int, batch_size: int, lipschitz: float, sigma: float) -> float:
    """ε of one step at log δ, from above."""
    q, ratio = _rate_and_ratio(n, batch_size, lipschitz, sigma)
    if log_delta >= log(q):
        return 0.0
    inner = epsilon_for((log_delta - log(q)) * (1 + 1e-12), ratio)
    return up(log1p(q * expm1(inner)) if inner < 600 else inner + log(q), 1e-14)


def value(epsilon: float, n: int, batch_size: int, iterations: int, lipschitz: float, sigma: float) -> float:
    """An upper bound on log δ(ε) of T sampled steps."""
    if iterations == 1:
        return one_step(epsilon, n, batch_size, lipschitz, sigma)
    _require_worth_composing(epsilon, n, batch_size, iterations, lipschitz, sigma)
    return composed_at_epsilon(epsilon, (n, batch_size, lipschitz, sigma, iterations, 0.0)).upper


def inverse(log_delta: float, n: int, batch_size: int, iterations: int, lipschitz: float, sigma: float) -> float:
    """An upper bound on ε of T sampled steps at log δ."""
    if iterations == 1:
        return one_step_inverse(log_delta, n, batch_size, lipschitz, sigma)
    _require_worth_composing(None, n, batch_size, iterations, lipschitz, sigma)
    return composed_at_delta(log_delta, (n, batch_size, lipschitz, sigma, iterations, 0.0)).upper


def trace(n: int, batch_size: int, iterations: int, lipschitz: float, sigma: float, epsilon: float | None = None,
          log_delta: float | None = None) -> dict[str, Any]:
    """The grids of the composition."""
    if iterations == 1:
        return {}
    return composed_witness((n, batch_size, lipschitz, sigma, iterations, 0.0), epsilon, log_delta)


def exact(mp: Any, epsilon: float, n: int, batch_size: int, iterations: int, lipschitz: float, sigma: float) -> Any:
    """δ(ε) of one step at high precision."""
    if iterations != 1:
        raise OutOfScope("out-of-range",
                         "not used by a composed profile, which has no closed form; drop it", "--digits")
    q = mp.mpf(batch_size) / n
    return q * gaussian.theta(mp, mp.log1p(mp.expm1(mp.mpf(epsilon)) / q),
                                    2 * mp.mpf(lipschitz) / (batch_size * mp.mpf(sigma)))


BOUND = ProfileBound(
    Theorem(
        name="composition-profile",
        example="burn-in --n 60000 --batch-size 128 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate 0.05 "
                "--diameter 2 --sigma 0.1 --delta 1e-5",
        statement="T steps of the pair δ(ε) = q·θ(log(1 + (e^ε − 1)/q), 2L/(bσ)), q = b/n, composed",
        source="Balle, Barthe & Gaboardi 2018, Theorem 9; Zhu, Dong & Wang 2022, Theorem 10",
        assumptions=composition.BOUND.theorem.assumptions,
    ),
    params=composition.BOUND.params,
    value=value,
    exact=exact,
    rtol=2 * PRECISION,
    inverse=inverse,
    choices=Choices(trace=trace),
)

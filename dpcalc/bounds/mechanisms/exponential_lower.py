"""What composed selections of bounded range can lose at least: the loss of T equal ones with two outcomes.

Two outcomes of the losses t and t − η, 0 < t < η, have a range of length η, and the exponential mechanism with two
candidates has them: E_P[e^{−ℓ}] = 1 gives the first one the P-probability p = (1 − e^{t−η})/(1 − e^{−η}). So no ε below
that of T such selections holds for all mechanisms of range η. Any t is valid; here it is the worst one at the Rényi
order that answers for δ = 1e-6 (see exponential_rdp.py). """

from math import exp, expm1, log, log1p
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms import exponential_rdp
from dpcalc.bounds.mechanisms.exponential_exact import RANGE
from dpcalc.core.bound import CompositionBound, Theorem

if TYPE_CHECKING:
    from dpcalc.pld.pilot import Parts

LOG_DELTA = log(1e-6)  # a usual δ; the t of another δ would raise ε by 2 % in the cases tried
ORDERS = tuple(1 + 10 ** (k / 20) for k in range(-40, 101))  # from 1.01 to 1e5, 12 % apart


def largest_loss(step_epsilon: float, steps: int) -> float:
    """The loss t of the first outcome."""
    def epsilon(alpha: float) -> float:
        return steps * exponential_rdp.value(alpha, step_epsilon) - LOG_DELTA / (alpha - 1)

    alpha, eta = min(ORDERS, key=epsilon), step_epsilon
    t = eta + log((1 - 1 / alpha) * expm1(-alpha * eta) / expm1((1 - alpha) * eta))
    return min(max(t, eta / 2), eta * (1 - 1e-6))


def value(step_epsilon: float, steps: int) -> "Parts":
    """The pair of one selection, once: the caller repeats it T times."""
    from dpcalc.pld.atoms import Atoms

    t = largest_loss(step_epsilon, steps)
    below = t - step_epsilon
    p = expm1(below) / expm1(-step_epsilon)
    share = expm1(-t) / expm1(-step_epsilon)  # 1 − p = e^(t − η)·share
    rest = exp(below) * share
    first = log(p) if p < 0.5 else log1p(-rest)
    second = below + log(share) if rest < 0.5 else log1p(-p)
    reverse = Atoms((-t, -below), (first - t, second - below), attained=True, rounding_scale=step_epsilon)
    return ((Atoms((t, below), (first, second), reverse=reverse, attained=True, rounding_scale=step_epsilon), 1),)


def exact(mp: Any, epsilon: float, step_epsilon: float, steps: int) -> Any:
    """δ of one of the T selections, the larger one of both directions."""
    e, t, eta = mp.mpf(epsilon), mp.mpf(largest_loss(step_epsilon, steps)), mp.mpf(step_epsilon)
    p = mp.expm1(t - eta) / mp.expm1(-eta)
    q = p * mp.exp(-t)

    def delta(p: Any, q: Any) -> Any:
        return max(p - mp.exp(e) * q, mp.mpf(0)) + max(1 - p - mp.exp(e) * (1 - q), mp.mpf(0))

    return max(delta(p, q), delta(q, p))


BOUND = CompositionBound(
    Theorem(
        name="exponential-lower",
        example="rdp --mechanism exponential --step-epsilon 1 --steps 20 --delta 1e-6",
        statement="T selections with the losses t and t − η are of bounded range η, so every bound for all mechanisms "
                  "of this range is at least their δ(ε), at any t",
        source="Dong, Durfee & Rogers 2020, arXiv:1909.13830 (the worst case with two outcomes)",
        assumptions=(RANGE,),
        status="lower",
    ),
    params=("step_epsilon", "steps"),
    value=value,
    exact=exact,
    rtol=1e-9,
)

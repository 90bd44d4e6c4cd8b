"""A finite mechanism given by its two output distributions p and q: everything about it is a finite sum."""

from math import exp, expm1, fsum, inf, log
from typing import Any

from dpcalc.bound import Bound
from dpcalc.errors import OutOfScope
from dpcalc.numerics.rounding import up

Vector = tuple[float, ...]


def pure(p: Vector, q: Vector) -> float:
    """max |log p_i/q_i|. Raises OutOfScope where an outcome is possible on one side only."""
    pairs = [(a, b) for a, b in zip(p, q, strict=True) if a or b]
    if any(a == 0 or b == 0 for a, b in pairs):
        raise OutOfScope("no-solution", "an outcome is possible on one data set only: there is no pure ε", "--delta")
    return max(up(abs(log(a) - log(b)), 1e-15) + 1e-16 for a, b in pairs)


def value(epsilon: float, p: Vector, q: Vector) -> float:
    """log δ(ε) = log max over both directions of Σ (p_i − e^ε q_i)₊."""
    delta = max(_hockey_stick(epsilon, p, q), _hockey_stick(epsilon, q, p))
    return min(0.0, up(log(delta), 1e-15) + 1e-15) if delta > 0 else -inf


def _hockey_stick(epsilon: float, p: Vector, q: Vector) -> float:
    terms = []
    for a, b in zip(p, q, strict=True):
        if a > 0 and b == 0:
            terms.append(a)
        elif a > 0 and (gap := epsilon + log(b) - log(a)) < 0:
            terms.append(-a * expm1(gap))
    return fsum(terms)


def _renyi(alpha: float, p: Vector, q: Vector) -> float:
    """D_α(p‖q), from log Σ q (p/q)^α = log(1 + Σ q((p/q)^α − 1 − α(p/q − 1))) when both sum to 1."""
    terms = []
    for a, b in zip(p, q, strict=True):
        if a > 0 and b == 0:
            return inf
        if a > 0:
            terms.append(alpha * log(a) + (1 - alpha) * log(b))
    top = max(terms)
    return (top + log(fsum(exp(t - top) for t in terms))) / (alpha - 1)


def rdp(alpha: float, p: Vector, q: Vector) -> float:
    """ε(α) = max(D_α(p‖q), D_α(q‖p)). Raises OutOfScope where that is infinite."""
    worst = max(_renyi(alpha, p, q), _renyi(alpha, q, p))
    if worst == inf:
        raise OutOfScope("no-solution", "an outcome is possible on one data set only: the Rényi divergence is infinite",
                         "--alpha")
    return max(0.0, worst + 4e-15 * (1 + worst) + 4e-16 / (alpha - 1) * 10)


def exact(mp: Any, epsilon: float, p: Vector, q: Vector) -> Any:
    e = mp.exp(mp.mpf(epsilon))
    sides = ((p, q), (q, p))
    return max(mp.fsum(max(mp.mpf(a) - e * mp.mpf(b), 0) for a, b in zip(x, y, strict=True)) for x, y in sides)


def exact_rdp(mp: Any, alpha: float, p: Vector, q: Vector) -> Any:
    a1 = mp.mpf(alpha) - 1

    def side(x: Vector, y: Vector) -> Any:
        return mp.log(mp.fsum(mp.mpf(a) ** (a1 + 1) * mp.mpf(b) ** -a1 for a, b in zip(x, y, strict=True) if a)) / a1

    return max(side(p, q), side(q, p))


_ASSUMPTIONS = ("p and q are the output distributions on two neighbouring data sets", "the worst pair is the one given")

PROFILE = Bound(
    name="outcomes-exact",
    kind="profile",
    statement="δ(ε) = max( Σ (p_i − e^ε q_i)₊, Σ (q_i − e^ε p_i)₊ ); pure ε = max |log(p_i/q_i)|",
    source="Dwork & Roth 2014, Definition 2.4 (the definition itself)",
    assumptions=_ASSUMPTIONS,
    params=("p", "q"),
    value=value,
    exact=exact,
    rtol=1e-13,
    pure=pure,
)

RDP = Bound(
    name="outcomes-rdp",
    kind="rdp",
    statement="ε(α) = max(D_α(p‖q), D_α(q‖p))",
    source="Mironov 2017, Definition 4, arXiv:1702.07476v3 (the definition itself)",
    assumptions=_ASSUMPTIONS,
    params=("p", "q"),
    value=rdp,
    exact=exact_rdp,
    rtol=1e-12,
)

"""A finite mechanism given by its two output distributions p and q: everything about it is a finite sum."""

from math import exp, expm1, fsum, inf, log, log1p
from typing import Any

from dpcalc.core.bound import Bound
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.elementary import expm1mx, log_ratio, x_minus_log1p
from dpcalc.numerics.rounding import up

Vector = tuple[float, ...]
_ROUNDING = 6e-16


def pure(p: Vector, q: Vector) -> float:
    """max |log p_i/q_i|. Raises OutOfScope where an outcome is possible on one side only."""
    pairs = [(a, b) for a, b in zip(p, q, strict=True) if a or b]
    if any(a == 0 or b == 0 for a, b in pairs):
        raise OutOfScope("no-solution", "0: an outcome is possible on one data set only, so there is no pure ε",
                         "--delta")
    return max(up(abs(log_ratio(a, b)), 1e-15) for a, b in pairs)


def value(epsilon: float, p: Vector, q: Vector) -> float:
    """log δ(ε) = log max over both directions of Σ (p_i − e^ε q_i)₊."""
    return max(sided(epsilon, side, p, q) for side in (+1, -1))


def sided(epsilon: float, side: int, p: Vector, q: Vector) -> float:
    """The same of one direction."""
    delta = _hockey_stick(epsilon, *((p, q) if side > 0 else (q, p)))
    return min(0.0, up(log(delta), 1e-15) + 1e-15) if delta > 0 else -inf


def _hockey_stick(epsilon: float, p: Vector, q: Vector) -> float:
    terms = []
    for a, b in zip(p, q, strict=True):
        if a > 0 and b == 0:
            terms.append(a)
        elif a > 0:
            loss = log_ratio(a, b)
            gap = epsilon - loss - _ROUNDING * (epsilon + abs(loss))  # down: where it cancels, its rounding decides
            terms.append(-a * expm1(min(gap, 0.0)))
    return fsum(terms)


def _renyi(alpha: float, p: Vector, q: Vector) -> float:
    """D_α(p‖q): Σ q (p/q)^α = Σq + α(Σp − Σq) + Σ q g(p/q − 1) with g(u) = (1+u)^α − 1 − αu >= 0."""
    if any(a > 0 and b == 0 for a, b in zip(p, q, strict=True)):
        return inf
    logs = [alpha * log(a) + (1 - alpha) * log(b) for a, b in zip(p, q, strict=True) if a > 0]
    top = max(logs)
    if top > 1:  # one term alone carries the sum: nothing cancels
        return (top + log(fsum(exp(t - top) for t in logs))) / (alpha - 1)
    rest = [fsum((*q, -1.0)), alpha * fsum((*p, *(-b for b in q)))]
    return log1p(fsum(rest + [b * _bernoulli(alpha, a / b, (a - b) / b) for a,
                              b in zip(p, q, strict=True) if b > 0])) / (alpha - 1)


def _bernoulli(alpha: float, ratio: float, u: float) -> float:
    """(1+u)^α − 1 − αu = (1+u)χ((α−1)y) + (α−1)((1+u)y − u), χ(x) = e^x − 1 − x, y = log(1+u)."""
    if ratio == 0:
        return alpha - 1
    near = abs(u) < 0.2
    y = log1p(u) if near else log(ratio)
    excess = u * u - ratio * x_minus_log1p(u) if near else ratio * y - u
    return ratio * expm1mx((alpha - 1) * y) + (alpha - 1) * excess


def rdp(alpha: float, p: Vector, q: Vector) -> float:
    """ε(α) = max(D_α(p‖q), D_α(q‖p)). Raises OutOfScope where that is infinite."""
    worst = max(_renyi(alpha, p, q), _renyi(alpha, q, p))
    if worst == inf:
        raise OutOfScope("no-solution", "an outcome is possible on one data set only: the Rényi divergence is infinite",
                         "--alpha")
    return max(0.0, up(worst, 1e-13))


def exact(mp: Any, epsilon: float, p: Vector, q: Vector) -> Any:
    return max(sided_exact(mp, epsilon, side, p, q) for side in (+1, -1))


def sided_exact(mp: Any, epsilon: float, side: int, p: Vector, q: Vector) -> Any:
    e = mp.exp(mp.mpf(epsilon))
    return mp.fsum(max(mp.mpf(a) - e * mp.mpf(b), 0) for a, b in zip(*((p, q) if side > 0 else (q, p)), strict=True))


def exact_rdp(mp: Any, alpha: float, p: Vector, q: Vector) -> Any:
    a1 = mp.mpf(alpha) - 1

    def side(x: Vector, y: Vector) -> Any:
        return mp.log(mp.fsum(mp.mpf(a) ** (a1 + 1) * mp.mpf(b) ** -a1 for a, b in zip(x, y, strict=True) if a)) / a1

    return max(side(p, q), side(q, p))


_ASSUMPTIONS = ("p and q are the output distributions on two neighbouring data sets", "the worst pair is the one given")

PROFILE = Bound(
    name="outcomes-exact",
    example="convert --from outcomes --p 5/12,1/6,5/12 --q 1/6,2/3,1/6 --delta 0",
    kind="profile",
    statement="δ(ε) = max( Σ (p_i − e^ε q_i)₊, Σ (q_i − e^ε p_i)₊ ); pure ε = max |log(p_i/q_i)|",
    source="Dwork & Roth 2014, Definition 2.4 (the definition itself)",
    assumptions=_ASSUMPTIONS,
    params=("p", "q"),
    value=value,
    exact=exact,
    sided=sided,
    sided_exact=sided_exact,
    rtol=1e-13,
    pure=pure,
)

RDP = Bound(
    name="outcomes-rdp",
    example="convert --from outcomes --p 5/12,1/6,5/12 --q 1/6,2/3,1/6 --alpha 4",
    kind="rdp",
    statement="ε(α) = max(D_α(p‖q), D_α(q‖p))",
    source="Mironov 2017, Definition 4, arXiv:1702.07476v3 (the definition itself)",
    assumptions=_ASSUMPTIONS,
    params=("p", "q"),
    value=rdp,
    exact=exact_rdp,
    rtol=1e-12,
)

"""Mechanisms with finitely many privacy losses: their bounds and their dominating pair from one list of the losses.

A mechanism is described by a function atoms(number, *parameters) → [(loss ℓ, log of its P-mass), …], which lists all
losses ℓ = log(P/Q) of its worst pair of neighbours (P, Q). `number` has the functions exp, expm1, log, log1p and tanh,
and mpf makes a number from a double: it is DOUBLES here, an mpmath context, or ball arithmetic. The pair is symmetric:
exchanging P and Q gives the same list. In doubles losses and logs need a small relative error, except for the log of
the mass of the loss 0, which follows from the others where it is near 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, expm1, fsum, inf, log, log1p, tanh
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from dpcalc.core.bound import ProfileBound, RdpBound, Theorem
from dpcalc.numerics.elementary import LARGEST_EXPONENT, log1mexp, log_ratio, log_sum
from dpcalc.numerics.rounding import up

if TYPE_CHECKING:
    from dpcalc.pld.atoms import Atoms

Losses = list[tuple[Any, Any]]
DOUBLES: Any = SimpleNamespace(mpf=float, exp=exp, expm1=expm1, log=log, log1p=log1p, tanh=tanh)
MOST_LOSSES = 2**18  # of a pair: a composition of so many takes seconds
_ERROR = 4e-15  # relative: more than the rounding errors of a loss, of a mass, and of the few operations with them


def symmetric(above: Losses, zero: Sequence[tuple[Any, Any]] = ()) -> Losses:
    """All losses of a symmetric pair from those above 0, and that of 0 if there is one: Q(ℓ) = P(−ℓ) = e^(−ℓ)P(ℓ)."""
    return [*above, *zero, *((-loss, log_p - loss) for loss, log_p in above)]


def binary(number: Any, odds: Any) -> Losses:
    """Randomised response with the log odds log(p/(1−p)) >= 0: the losses ± odds of the masses p and 1 − p."""
    return symmetric([(odds, -number.log1p(number.exp(-odds)))])


def log_quotient(number: Any, a: Any, b: Any) -> Any:
    """log(a/b), with a small relative error also near a = b."""
    return log_ratio(a, b) if number is DOUBLES else number.log(a / b)


def log_delta(epsilon: float, losses: Losses, largest: float) -> float:
    """log δ(ε) = log Σ p(1 − e^(ε−ℓ))₊, rounded up; −inf from the largest loss on, of which an upper bound is given."""
    if epsilon >= largest:
        return -inf
    above = ((loss + _ERROR * abs(loss), log_p) for loss, log_p in losses)
    delta = log_sum([log_p + log1mexp(epsilon - loss) for loss, log_p in above if loss > epsilon])
    return min(0.0, up(delta, _ERROR) + _ERROR)


def least_epsilon(log_delta: float, losses: Losses, largest: float) -> float:
    """The least ε >= 0 with δ(ε) <= δ, rounded up.

    As δ(ε) is the largest P(S) − e^ε Q(S) of a set S of outcomes, which is one of those with the k largest losses, this
    ε is the largest log((P(S) − δ)/Q(S)) of these. With the least loss ℓ of S, R = e^ℓ Q(S) and D = P(S) − R, which are
    sums of positive terms, that is ℓ + log(1 − (δ − D)/R).
    """
    delta, found, d, r, last = exp(log_delta), 0.0, 0.0, 0.0, inf
    for loss, log_p in sorted(losses, reverse=True):
        if loss <= 0:
            break
        d, r, last = d - r * expm1(loss - last), r * exp(loss - last) + exp(log_p), loss
        if not r:
            return largest
        # relative, of δ − D and of R: those of the sums, and the errors of logarithms times their size
        error = _ERROR / 2 + 4e-16 * (len(losses) + max(-log_p, min(-log_delta, LARGEST_EXPONENT)))
        share = (delta - d - error * (delta + d)) / r
        if share < 1:
            below = log1p(-share)
            found = max(found, loss + below + _ERROR * (loss + abs(below)))
    return min(largest, found)


def rdp(alpha: float, losses: Losses, largest: float) -> float:
    """ε(α) = log(1 + Σ p(e^((α−1)ℓ) − 1)(1 − e^(−αℓ)))/(α−1) over the losses ℓ > 0, rounded up, and at most the largest
    loss. These products of positive factors are what the terms at ℓ and −ℓ add to E_P[e^((α−1)ℓ)] = 1 + …."""
    b = alpha - 1
    above = [(loss, log_p) for loss, log_p in losses if loss > 0]
    if b * largest < LARGEST_EXPONENT:
        total = fsum(exp(log_p) * (expm1(b * loss) / b) * -expm1(-alpha * loss) * (1 + _ERROR * (1 + b * loss / 8))
                     for loss, log_p in above)
        raw = log1p(b * total) / b if b * total > 1e-200 else total  # b·total may underflow where the sum does not
    else:
        raw = log_sum([0.0, *(log_p + b * loss + log1mexp(-b * loss) + log1mexp(-alpha * loss)
                              + _ERROR * (b * loss - log_p) for loss, log_p in above)]) / b
    return max(min(up(raw, _ERROR), largest), 5e-324 if largest else 0.0)


def rdp_of_pure(alpha: float, step_epsilon: float) -> float:
    """ε(α) of randomised response with log odds ε, which is the largest of all ε-DP mechanisms, rounded up."""
    return rdp(alpha, binary(DOUBLES, step_epsilon), step_epsilon)


def pair(losses: Losses) -> Atoms:
    """The dominating pair of one use. All logs of its masses have relative errors of a few ulp, in either direction, as
    bounds from above and from below are computed from it."""
    from dpcalc.pld.atoms import Atoms

    if not any(loss for loss, _ in losses):
        return Atoms((0.0,), (0.0,), attained=True)
    values, logs = [loss for loss, _ in losses], [log_p for _, log_p in losses]
    if 0.0 in values and (others := fsum(exp(x) for loss, x in zip(values, logs, strict=True) if loss)) < 0.5:
        logs[values.index(0.0)] = log1p(-others)
    return Atoms(tuple(values), tuple(logs), attained=True)


def exact_delta(mp: Any, epsilon: Any, losses: Losses) -> Any:
    """Σ p(1 − e^(ε−ℓ))₊."""
    return mp.fsum(max(-mp.exp(log_p) * mp.expm1(mp.mpf(epsilon) - loss), mp.mpf(0)) for loss, log_p in losses)


def exact_rdp(mp: Any, alpha: Any, losses: Losses) -> Any:
    """log Σ p^α q^(1−α)/(α−1), q = pe^(−ℓ)."""
    b = mp.mpf(alpha) - 1
    return mp.log(mp.fsum(mp.exp(log_p + b * loss) for loss, log_p in losses)) / b


def exact_outcomes(mp: Any, losses: Losses) -> tuple[list[tuple[Any, Any]], Any]:
    """The (P-mass, Q-mass) of each loss, of which none is left out."""
    return [(mp.exp(log_p), mp.exp(log_p - loss)) for loss, log_p in losses], mp.mpf(0)


def bounds(exact: Theorem, renyi: Theorem, params: tuple[str, ...], atoms: Callable[..., Losses],
           pure: Callable[..., float]) -> tuple[ProfileBound, RdpBound]:
    """The profile and the RDP curve of a mechanism. `pure` takes its parameters, and returns the largest loss, rounded
    up; it raises OutOfScope where they are out of range."""
    def pair_of_one(*own: Any, **named: Any) -> Atoms:
        pure(*own, **named)
        return pair(atoms(DOUBLES, *own, **named))

    profile = ProfileBound(
        exact, params, rtol=2e-14, pure=pure, pair=pair_of_one,
        value=lambda epsilon, *own, **named: log_delta(epsilon, atoms(DOUBLES, *own, **named), pure(*own, **named)),
        exact=lambda mp, epsilon, *own, **named: exact_delta(mp, epsilon, atoms(mp, *own, **named)),
        inverse=lambda log_delta, *own, **named: least_epsilon(log_delta, atoms(DOUBLES, *own, **named),
                                                               pure(*own, **named)),
        outcomes=lambda mp, *own, **named: exact_outcomes(mp, atoms(mp, *own, **named)))
    return profile, RdpBound(
        renyi, params, rtol=5e-14,
        value=lambda alpha, *own, **named: rdp(alpha, atoms(DOUBLES, *own, **named), pure(*own, **named)),
        exact=lambda mp, alpha, *own, **named: exact_rdp(mp, alpha, atoms(mp, *own, **named)))

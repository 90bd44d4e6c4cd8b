"""A bound on the Rényi divergence of two laws from their privacy profile, by its integral.

    e^{(α−1)D_α} <= 1 + α(α−1) ∫_0^∞ (e^{(α−1)ε} + e^{−αε}) δ(ε) dε

for both directions, where δ bounds the hockey-stick divergences of both. Proof. For a convex f with f(1) = 0 and γ =
e^ε, D_f(P‖Q) = ∫_1^∞ [f″(γ) E_γ(P‖Q) + γ^{−3} f″(1/γ) E_γ(Q‖P)] dγ (Sason & Verdú 2016, arXiv:1508.00335); take f(t) =
t^α − 1. ∎ E_γ is convex in γ, so between two ε it is at most its chord in e^ε, which is at most the chord of upper
bounds at the two; the integral of a chord is elementary. Beyond the last ε the profile of one place alone, θ(ε, μ_0),
is taken: ∫_K^∞ e^{(α−1)ε} θ(ε, μ) dε <= e^{α(α−1)μ²/2} Φ(μ/2 + (α−1)μ − K/μ)/(α−1), as θ(ε, μ) <= Φ(μ/2 − ε/μ), by
parts. """

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import exp, frexp, log, log1p
from typing import Any

import numpy as np

from dpcalc.numerics.normal import log_tail
from dpcalc.numerics.rounding import up

_CELLS, _EVEN = 160, 600  # of geometric steps of ε, and of even ones, at most
_NEAREST = 1e-5  # of the last ε: the first one after 0
_STEP = 0.25  # of μ_0, an even step: the integrand of θ(ε, μ) has a width of μ
_BEYOND = 14.0  # standard deviations of θ(ε, μ_0) after which its part of the integral is negligible
_SHORT = 1e-4  # of a cell times its rate: below, the chord is replaced by its larger end, as its integral would cancel
# relative: of the integrals over cells; and over h, as a difference of terms is about h/2 of them
_ROUNDING, _CANCELLED = 1e-11, 4e-15


def value(alpha: float, profile: Callable[..., Any], first: float, params: tuple[tuple[str, Any], ...]) -> float:
    """D_α, from above. `profile` takes an array of ε and the parameters, and gives log δ from above; `first` = μ_0."""
    a1 = alpha - 1
    last = first * (first * (2.0 ** frexp(alpha)[1]) + _BEYOND)
    epsilons, logs = _nodes(profile, first, last, params)
    tail = alpha * a1 * first * first / 2 + log_tail(last / first - first / 2 - a1
                                                     * first) - log(a1) + log1p(exp(-(2 * alpha - 1) * last))
    h = np.diff(epsilons)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        parts = np.concatenate([_cells(epsilons, h, logs, a1), _cells(epsilons, h, logs, -alpha), [tail]])
        total = float(np.logaddexp.reduce(np.where(np.isnan(parts), np.inf, parts))) + log(alpha * a1) + 2 * _ROUNDING
    raised = log1p(exp(total)) if total < 40 else total + exp(-total)
    return up(raised / a1, 1e-14)


def _cells(epsilons: Any, h: Any, logs: Any, rate: float) -> Any:
    """log of ∫ e^{rate·ε}·chord over every cell: with weights I₀ − I₁ and I₁ on the ends, I₀ = ∫_0^h e^{rate·u}du and
    I₁ = ∫_0^h e^{rate·u}(e^u − 1)/(e^h − 1)du."""
    if rate > 0:  # in units of e^{rate·h}, which may overflow
        start, whole = epsilons[1:], -np.expm1(-rate * h) / rate
        right = (-np.expm1(-(rate + 1) * h) / (rate + 1) - whole * np.exp(-h)) / -np.expm1(-h)
    else:
        start, whole = epsilons[:-1], np.expm1(rate * h) / rate
        right = (np.expm1((rate + 1) * h) / (rate + 1) - whole) / np.expm1(h)
    right = np.where(h * (abs(rate) + 1) < _SHORT, 0.0, np.clip(right * (1 - _ROUNDING - _CANCELLED / h), 0.0, whole))
    return rate * start + np.logaddexp(np.log(whole - right) + logs[:-1], np.log(right) + logs[1:])


@lru_cache(maxsize=8)
def _nodes(profile: Callable[..., Any], first: float, last: float, params: tuple[tuple[str, Any], ...]) -> tuple[Any,
                                                                                                                 Any]:
    """The ε of the cells, and log δ there."""
    even = int(min(_EVEN, last / (_STEP * first)))
    epsilons = np.unique(np.concatenate([[0.0], np.geomspace(_NEAREST * last, last, _CELLS),
                                         np.linspace(0, last, even)[1:]]))
    return epsilons, profile(epsilons, **dict(params))

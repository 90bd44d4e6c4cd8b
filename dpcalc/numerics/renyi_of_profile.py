"""An upper bound on the Rényi divergence of two distributions from their privacy profile, as an integral over it.

    e^{(α−1)D_α} <= 1 + α(α−1) ∫_0^∞ (e^{(α−1)ε} + e^{−αε}) δ(ε) dε

for both directions, where δ bounds the hockey-stick divergences of both. Proof. For a convex f with f(1) = 0 and γ =
e^ε, D_f(P‖Q) = ∫_1^∞ [f″(γ) E_γ(P‖Q) + γ^{−3} f″(1/γ) E_γ(Q‖P)] dγ (Sason & Verdú 2016, arXiv:1508.00335); take f(t) =
t^α − 1. ∎ E_γ is convex in γ, so between two ε it is at most its chord in e^ε, which is at most the chord of upper
bounds at the two; the integral of a chord is elementary. Beyond the last ε, δ is bounded by θ(ε, μ_0), the profile of a
single Gaussian mechanism: ∫_K^∞ e^{(α−1)ε} θ(ε, μ) dε <= e^{α(α−1)μ²/2} Φ(μ/2 + (α−1)μ − K/μ)/(α−1), as θ(ε, μ) <=
Φ(μ/2 − ε/μ), by parts. """

from collections.abc import Callable
from functools import lru_cache
from math import exp, frexp, log, log1p
from typing import Any

import numpy as np

from dpcalc.numerics.normal import log_tail
from dpcalc.numerics.rounding import up

_ROUNDING = 1e-11  # relative, of the integrals over cells and of their sum


def value(alpha: float, profile: Callable[..., Any], first: float, params: tuple[tuple[str, Any], ...]) -> float:
    """An upper bound on D_α. `profile` takes an array of ε and the parameters, and returns upper bounds on log δ;
    `first` is μ_0."""
    a1 = alpha - 1
    # The last ε is 14 standard deviations above the mean of the tilted loss. α is rounded up to a power of two, so that
    # the profile is evaluated once for many orders.
    last = first * (first * (2.0 ** frexp(alpha)[1]) + 14.0)
    tail = (alpha * a1 * first * first / 2 + log_tail(last / first - first / 2 - a1 * first) - log(a1)
            + log1p(exp(-(2 * alpha - 1) * last)))
    return _divergence(alpha, *_nodes(profile, first, last, params), tail)


def of_points(alpha: float, epsilons: Any, logs: Any, order: float, rdp: float) -> float:
    """An upper bound on D_α from upper bounds on log δ at rising ε from 0 on, and on D_β for a larger order β.

    Both bound both directions. Beyond the last ε = K, δ <= δ(K), and δ <= e^{(β−1)(D_β − ε)}, as E_γ falls in γ, and
    E_γ <= ∫_{p > γq} p <= γ^{−(β−1)} ∫p^β q^{1−β}. With x where the two are equal, or K if that is larger,
    ∫_K^∞ e^{(α−1)ε}δ(ε) dε <= δ(K)·e^{(α−1)x}·(1/(α−1) + 1/(β−α)). """
    last, log_last = float(epsilons[-1]), float(logs[-1])
    x = max(last, rdp - log_last / (order - 1))
    tail = log_last + (alpha - 1) * x + log(1 / (alpha - 1) + 1 / (order - alpha))
    return _divergence(alpha, epsilons, logs, tail + log1p(exp(-(2 * alpha - 1) * last)))


def _divergence(alpha: float, epsilons: Any, logs: Any, tail: float) -> float:
    """D_α from the chords of the profile, and the log of the integral beyond the last ε."""
    a1, h = alpha - 1, np.diff(epsilons)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        parts = np.concatenate([_log_integrals(epsilons, h, logs, a1), _log_integrals(epsilons, h, logs, -alpha),
                                [tail]])
        total = float(np.logaddexp.reduce(np.where(np.isnan(parts), np.inf, parts))) + log(alpha * a1) + 2 * _ROUNDING
    raised = log1p(exp(total)) if total < 40 else total + exp(-total)
    return up(raised / a1, 1e-14)


def _log_integrals(epsilons: Any, h: Any, logs: Any, rate: float) -> Any:
    """log of ∫ e^{rate·ε}·chord over every cell of width h: the ends of a cell have the weights I₀ − I₁ and I₁, where
    I₀ = ∫_0^h e^{rate·u}du and I₁ = ∫_0^h e^{rate·u}(e^u − 1)/(e^h − 1)du."""
    if rate > 0:  # in units of e^{rate·h}, which may overflow
        start, whole = epsilons[1:], -np.expm1(-rate * h) / rate
        right = (-np.expm1(-(rate + 1) * h) / (rate + 1) - whole * np.exp(-h)) / -np.expm1(-h)
    else:
        start, whole = epsilons[:-1], np.expm1(rate * h) / rate
        right = (np.expm1((rate + 1) * h) / (rate + 1) - whole) / np.expm1(h)
    right = np.clip(right * (1 - _ROUNDING - 4e-15 / h), 0.0, whole)  # as terms cancel in a narrow cell
    right = np.where(h * (abs(rate) + 1) < 1e-4, 0.0, right)  # a short cell, where I₁ cancels: its larger end counts
    return rate * start + np.logaddexp(np.log(whole - right) + logs[:-1], np.log(right) + logs[1:])


@lru_cache(maxsize=8)
def _nodes(profile: Callable[..., Any], first: float, last: float,
           params: tuple[tuple[str, Any], ...]) -> tuple[Any, Any]:
    """The ends of the cells, and log δ there. Any cells are valid; these are narrow relative to ε and to μ_0, over
    which the profile changes, but at most 760 in number."""
    even = int(min(600, 4 * last / first))
    epsilons = np.unique(np.concatenate([[0.0], np.geomspace(1e-5 * last, last, 160), np.linspace(0, last, even)[1:]]))
    return epsilons, profile(epsilons, **dict(params))

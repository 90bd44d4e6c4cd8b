"""Published sums over all records, or over all numbers of steps: added up in any length, in ball arithmetic
(sums.py)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any

from dpcalc.bounds.conversions import composition_optimal
from dpcalc.bounds.mechanisms import randomized_response_exact
from dpcalc.bounds.noisy_sgd import lower_bound
from dpcalc.bounds.pnsgd import (
    output_perturbation_shuffled,
    shuffled_iteration_rdp,
    smooth_nonconvex_high_noise,
    smooth_nonconvex_shuffled,
    without_replacement_sum,
)
from dpcalc.bounds.pnsgd._engine import without_replacement
from dpcalc.bounds.pnsgd._engine.output import ratios_exact
from dpcalc.bounds.sampling import weighted_rdp, wor_rdp
from dpcalc.verify import lower_bound as lower
from dpcalc.verify import streams, whole_orders
from dpcalc.verify.sums import falling

_SPREADS, _MORE = 13.0, 80  # how far above the mean of a binomial law terms are added
_LOOK, _NOTHING = 64, 1e-20  # now and then, whether what is left below matters
_SHORT = 1000  # steps


def _mean_exp(mp: Any, alpha: float, n: int, rdp: Callable[[Any], Any]) -> Any:
    """(1/(α−1)) log((1/n)Σ_{j=1}^n e^{(α−1)ε_j})."""
    a1 = mp.mpf(alpha) - 1
    return mp.log1p(falling(mp, lambda j: mp.expm1(a1 * rdp(j)), 1, n, above=True) / n) / a1


def _output(mp: Any, alpha: float, n: int, learning_rate: float, smoothness: float, strong_convexity: float,
            **p: float) -> Any:
    eta = mp.mpf(learning_rate)
    c = max(abs(1 - eta * mp.mpf(strong_convexity)), abs(1 - eta * mp.mpf(smoothness)))
    ratio = ratios_exact(mp, learning_rate=learning_rate, smoothness=smoothness, strong_convexity=strong_convexity,
                         **p)(0)
    peak = mp.mpf(alpha) * ratio**2 / 2
    if not c > 0:
        return mp.log1p(mp.expm1((mp.mpf(alpha) - 1) * peak) / n) / (mp.mpf(alpha) - 1)
    return _mean_exp(mp, alpha, n, lambda j: peak * mp.exp(2 * (j - 1) * mp.log(c)))


def _smooth(mp: Any, alpha: float, level: float, lipschitz: float, learning_rate: float,
            smoothness: float) -> Callable[[Any], Any]:
    """ε_j(α) of the j-th record from the end."""
    peak = 2 * mp.mpf(alpha) * (mp.mpf(lipschitz) / mp.mpf(level)) ** 2
    s = 2 * mp.log1p(mp.mpf(learning_rate) * mp.mpf(smoothness))
    return lambda j: peak * mp.expm1(-s) / mp.expm1(-s * j) if s > 0 else peak / j


def _smooth_shuffled(mp: Any, alpha: float, n: int, **p: float) -> Any:
    return _mean_exp(mp, alpha, n, _smooth(mp, alpha, **p))


def _iteration(mp: Any, alpha: float, n: int, **p: float) -> Any:
    return _mean_exp(mp, alpha, n, shuffled_iteration_rdp.rdp_exact(mp, alpha, **p))


def _smooth_mean(mp: Any, alpha: float, n: int, **p: float) -> Any:
    return 2 * falling(mp, _smooth(mp, alpha, **p), 1, n, above=True) / n


def _squares(mp: Any, alpha: float, level: float, lipschitz: float, n: int, tau: float, passes: float,
             constant: float) -> Any:
    sums = falling(mp, lambda x: 1 / (x * x), n - without_replacement.steps(n, tau) + 1, n, above=True)
    return mp.mpf(constant) * mp.mpf(passes) / mp.mpf(tau) * mp.mpf(alpha) * (mp.mpf(lipschitz)
                                                                              / mp.mpf(level)) ** 2 * sums


def _composition(mp: Any, epsilon: float, step_epsilon: Any, step_delta: float, steps: int) -> Any:
    """1 − (1−δ₀)^T(1 − h), h = Σ_l P(l)(1 − e^{ε−(T−2l)ε₀})₊, P binomial with p = 1/(1+e^ε₀): the terms around its mean
    added, the others bounded by geometric series."""
    if steps <= _SHORT:
        return composition_optimal.exact(mp, epsilon, step_epsilon, step_delta, steps)
    e, g = mp.mpf(step_epsilon), mp.mpf(epsilon)
    none = steps * mp.log1p(-mp.mpf(step_delta))
    return -mp.expm1(none) + mp.exp(none) * _excess(mp, g, e, steps)


def _excess(mp: Any, g: Any, e: Any, steps: int) -> Any:
    """h."""
    p = 1 / (1 + mp.exp(e))
    mean, reach = steps * float(p), _SPREADS * sqrt(steps * float(p)) + _MORE
    last = int(min(steps, mean + reach, (steps - float(g / e)) / 2 + 2)) if float(e) > 0 else -1
    while last >= 0 and not (steps - 2 * last) * e - g > 0:
        last -= 1
    if last < 0:
        return mp.mpf(0)
    grown, top = mp.exp(e), _binomial(mp, steps, last, e)
    rest = mp.mpf(0)
    if (steps - 2 * (last + 1)) * e - g > 0:  # the terms above are not all 0
        rest = _beyond(mp, top, mp.mpf(steps - last) / (last + 1) / grown)
    gap, shrink = mp.exp(g - (steps - 2 * last) * e), mp.exp(-2 * e)
    total, weight, first = _added(_bare(top), _bare(gap), _bare(grown), _bare(shrink), steps, last)
    if first:
        rest = rest + _beyond(mp, mp.mpf(weight), mp.mpf(first) / (steps - first + 1) * grown)
    return mp.mpf(total) + (mp.between(0, rest) if hasattr(mp, "between") else 0)


def _added(weight: Any, gap: Any, grown: Any, shrink: Any, steps: int, last: int) -> tuple[Any, Any, int]:
    """Σ weight·(1 − gap) from l = last down to where next to nothing is left; the next weight and l + 1."""
    total = weight * 0
    for l in range(last, -1, -1):
        total += weight * (1 - gap)
        weight, gap = weight * l / (steps - l + 1) * grown, gap * shrink
        if l % _LOOK == 0 and (left := l / (steps - l + 1)
                               * float(grown)) < 1 and float(weight) < _NOTHING * (1 - left) * float(total):
            break
    return total, weight, l


def _bare(x: Any) -> Any:
    return getattr(x, "x", x)


def _beyond(mp: Any, weight: Any, ratio: Any) -> Any:
    """Not less than the terms after (or at) this one: each is at most `ratio` times its neighbour."""
    if not ratio < 1:
        raise mp.undecided("a binomial law that does not fall")
    return weight / (1 - ratio)


def _binomial(mp: Any, steps: int, l: int, e: Any) -> Any:
    """C(T,l) p^l (1−p)^{T−l}."""
    ways = mp.loggamma(mp.mpf(steps + 1)) - mp.loggamma(mp.mpf(l + 1)) - mp.loggamma(mp.mpf(steps - l + 1))
    return mp.exp(ways - l * e - steps * mp.log1p(mp.exp(-e)))


def _response(mp: Any, epsilon: float, probability: float, steps: int) -> Any:
    p = mp.mpf(probability)
    return _composition(mp, epsilon, abs(mp.log(p / (1 - p))), 0.0, steps)


FORMULAS: Mapping[str, Callable[..., Any]] = {
    **streams.FORMULAS,
    lower_bound.BOUND.name: lower.delta,
    wor_rdp.BOUND.name: whole_orders.sampled,
    weighted_rdp.BOUND.name: whole_orders.weighted,
    output_perturbation_shuffled.BOUND.name: _output,
    shuffled_iteration_rdp.BOUND.name: _iteration,
    smooth_nonconvex_shuffled.BOUND.name: _smooth_shuffled,
    smooth_nonconvex_high_noise.BOUND.name: _smooth_mean,
    without_replacement_sum.BOUND.name: _squares,
    composition_optimal.BOUND.name: _composition,
    randomized_response_exact.BOUND.name: _response,
}

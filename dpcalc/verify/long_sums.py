"""Published formulas that are sums over all records or all steps, evaluated for any number of terms, and others that
are not evaluated as their bounds print them."""

from collections.abc import Callable, Mapping
from math import sqrt
from typing import Any

from dpcalc.bounds.conversions import composition_optimal
from dpcalc.bounds.mechanisms import above_threshold, randomized_response, shuffled_ldp
from dpcalc.bounds.noisy_sgd import burn_in_contraction, lower_bound
from dpcalc.bounds.pnsgd import iteration, output_perturbation, smooth_nonconvex, without_replacement
from dpcalc.bounds.pnsgd._engine.family import Family
from dpcalc.bounds.pnsgd._engine.iteration import CONVEX
from dpcalc.numerics.binomial import exact_log_choose
from dpcalc.verify import epochs, online_sums, shuffled_reports
from dpcalc.verify import lower_bound as lower
from dpcalc.verify.arb.context import NEGLIGIBLE, is_ball_context, raw
from dpcalc.verify.decreasing_sums import decreasing_sum

# --- means over the positions of a record ----------------------------------------------------------------------------


def _log_mean_exp(family: Family) -> Callable[..., Any]:
    """Return the formula (1/(α−1)) log((1/n)Σ_{j=1}^n e^{(α−1)ε_j}) of the runs of a family."""
    def formula(mp: Any, alpha: float, n: int, **p: float) -> Any:
        a1, rdp = mp.mpf(alpha) - 1, family.rdp_exact(mp, alpha, **p)
        last = n if family.start_exact(mp, **p)[1] > 0 else 1  # where a step maps all points to one, ε_j is 0 from 2 on
        return mp.log1p(decreasing_sum(mp, lambda j: mp.expm1(a1 * rdp(j)), 1, last, above=True) / n) / a1

    return formula


def _smooth_nonconvex_high_noise(mp: Any, alpha: float, n: int, **p: float) -> Any:
    smooth_nonconvex.refuse_little_noise(alpha, p["level"], p["lipschitz"])
    return 2 * decreasing_sum(mp, smooth_nonconvex.SMOOTH.rdp_exact(mp, alpha, **p), 1, n, above=True) / n


def _without_replacement_sum(mp: Any, alpha: float, level: float, lipschitz: float, n: int, tau: float, passes: float,
                             constant: float) -> Any:
    sums = decreasing_sum(mp, lambda x: 1 / (x * x), n - without_replacement.steps(n, tau) + 1, n, above=True)
    unit = (mp.mpf(lipschitz) / mp.mpf(level)) ** 2
    return mp.mpf(constant) * mp.mpf(passes) / mp.mpf(tau) * mp.mpf(alpha) * unit * sums


# --- the optimal composition -----------------------------------------------------------------------------------------


def _composition(mp: Any, epsilon: float, step_epsilon: Any, step_delta: float, steps: int) -> Any:
    """Return δ = 1 − (1−δ₀)^T(1 − h), h = Σ_l P(l)(1 − e^{ε−(T−2l)ε₀})₊ with P the binomial distribution of
    p = 1/(1+e^ε₀)."""
    if steps <= 1000:  # as printed, in a fraction of a second
        return composition_optimal.exact(mp, epsilon, step_epsilon, step_delta, steps)
    log_finite = steps * mp.log1p(-mp.mpf(step_delta))
    h = _binomial_hockey_stick(mp, mp.mpf(epsilon), mp.mpf(step_epsilon), steps)
    return -mp.expm1(log_finite) + mp.exp(log_finite) * h


def _binomial_hockey_stick(mp: Any, epsilon: Any, step_epsilon: Any, steps: int) -> Any:
    """Return h of `_composition`. The terms around the mean are added, and those on either side are bounded by
    geometric series."""
    e = step_epsilon

    def is_positive(l: int) -> bool:
        return bool((steps - 2 * l) * e - epsilon > 0)

    mean = steps * float(1 / (1 + mp.exp(e)))
    # 13 standard deviations, and 80 for a small mean: the terms beyond are negligible. Any start gives a valid bound.
    start = mean + 13 * sqrt(mean) + 80
    last = int(min(steps, start, (steps - float(epsilon / e)) / 2 + 2)) if float(e) > 0 else -1
    while last >= 0 and not is_positive(last):
        last -= 1
    if last < 0:
        return mp.mpf(0)
    odds = mp.exp(e)
    top = mp.exp(exact_log_choose(mp, steps, last) - last * e - steps * mp.log1p(1 / odds))  # C(T,l) p^l (1−p)^{T−l}
    rest = mp.mpf(0)
    if is_positive(last + 1):  # the terms beyond are not all 0
        rest = _geometric_bound(mp, top, mp.mpf(steps - last) / (last + 1) / odds)
    q_share, decay = mp.exp(epsilon - (steps - 2 * last) * e), mp.exp(-2 * e)
    total, mass, first = _add_downwards(steps, last, *(raw(mp, x) for x in (top, q_share, odds, decay)))
    if first:
        rest = rest + _geometric_bound(mp, mp.mpf(mass), mp.mpf(first) / (steps - first + 1) * odds)
    return mp.mpf(total) + (mp.between(0, rest) if is_ball_context(mp) else 0)


def _add_downwards(steps: int, last: int, mass: Any, q_share: Any, odds: Any, decay: Any) -> tuple[Any, Any, int]:
    """Return Σ P(l)(1 − e^ε Q(l)/P(l)) from l = last down to where the rest is negligible, the mass P of the next l,
    and the l of the last term added. `mass` and `q_share` are P(l) and e^ε Q(l)/P(l) at l = last."""
    total = mass * 0
    for l in range(last, -1, -1):
        total += mass * (1 - q_share)
        mass, q_share = mass * l / (steps - l + 1) * odds, q_share * decay
        if l % 64 == 0:  # only sometimes, as conversions to doubles take time
            ratio = l / (steps - l + 1) * float(odds)
            if ratio < 1 and float(mass) < NEGLIGIBLE * (1 - ratio) * float(total):
                break
    return total, mass, l


def _geometric_bound(mp: Any, mass: Any, ratio: Any) -> Any:
    """Return an upper bound of the sum of this term and all further ones, each of which is at most `ratio` times the
    one before it."""
    if not ratio < 1:
        raise mp.undecided("a binomial law that does not fall")
    return mass / (1 - ratio)


FORMULAS: Mapping[str, Callable[..., Any]] = {
    **online_sums.FORMULAS,
    burn_in_contraction.BOUND.name: epochs.delta_of_contraction,
    lower_bound.BOUND.name: lower.delta,
    iteration.SHUFFLED_RDP.name: _log_mean_exp(CONVEX),
    output_perturbation.SHUFFLED_RDP.name: _log_mean_exp(output_perturbation.OUTPUT),
    smooth_nonconvex.SHUFFLED_RDP.name: _log_mean_exp(smooth_nonconvex.SMOOTH),
    smooth_nonconvex.HIGH_NOISE.name: _smooth_nonconvex_high_noise,
    without_replacement.SUM.name: _without_replacement_sum,
    composition_optimal.BOUND.name: _composition,
    randomized_response.EXACT.name: lambda mp, epsilon, probability, steps: _composition(
        mp, epsilon, abs(mp.log(mp.mpf(probability) / (1 - mp.mpf(probability)))), 0.0, steps),
    above_threshold.EXACT.name: lambda mp, epsilon, steps, **own: _composition(
        mp, epsilon, above_threshold.exact_pure(mp, **own), 0.0, steps),
    shuffled_ldp.EXACT.name: shuffled_reports.delta,
    shuffled_ldp.PROFILE.name: shuffled_reports.delta,
}

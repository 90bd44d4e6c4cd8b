"""The true-positive rates that the counts of an attack show at every false-positive rate.

With the confidence of audit-counts some test has a true-positive rate of at least t at a false-positive rate of at most
f. Tests that say yes or no at random as well reach every point of the lines from (0, 0) and from (1, 1) to (f, t), so
the largest true-positive rate at a false-positive rate x is at least tx/f for x <= f, and 1 − (1 − t)(1 − x)/(1 − f)
beyond. If the trade-off curve is that of Gaussian noise, it is at least Φ(Φ⁻¹(x) + μ) with the μ of audit-gdp. """

from collections.abc import Callable, Sequence
from math import exp, log
from typing import Any

from dpcalc.bounds.audits import counts, gaussian_counts
from dpcalc.core.audits import hits_and_trials
from dpcalc.core.bound import Params
from dpcalc.core.results import Table
from dpcalc.numerics.normal import log_tail

RatesAt = Callable[[Sequence[float]], Sequence[float]]  # false-positive rates → largest true-positive rates
_LAST = log(9999.0)  # log odds of the last rate, 1 − 1e-4
_ROUNDING = 1e-12  # absolute: more than the rounding errors of a rate


def rate(share: str) -> float:
    """The rate that two counts give."""
    hits, trials = hits_and_trials(share)
    return hits / trials


def even_rates(count: int) -> list[float]:
    """So many false-positive rates from 1e-4 to 1 − 1e-4, evenly spaced in log odds."""
    return [float(f"{1 / (1 + exp(_LAST * (1 - 2 * k / (count - 1)))):.6g}") for k in range(count)]


def table(params: Params, rates: Sequence[float], claimed: RatesAt | None) -> Table:
    """The curves at these false-positive rates, and the largest true-positive rates that a claim allows, if there is
    one. The curves from below are rounded down."""
    own = counts.without_delta(params)
    found, mu = counts.limits(**own), gaussian_counts.mu_lower(**own)
    columns: dict[str, Sequence[float]] = {"fpr": rates, "tpr_lower": [_by_chords(found, x) for x in rates],
                                           "tpr_lower_gaussian": [_gaussian(mu, x) for x in rates]}
    if claimed:
        columns["tpr_claimed"] = claimed(rates)
    return Table(tuple(columns), tuple(zip(*columns.values(), strict=True)))


def _by_chords(found: counts.Limits, x: float) -> float:
    if found.tpr <= found.fpr:  # below the line of blind guesses, which every test reaches
        return x
    y = found.tpr * x / found.fpr if x <= found.fpr else 1 - found.missed * (1 - x) / found.spared
    return max(x, y - _ROUNDING)


def _gaussian(mu: float, x: float) -> Any:
    z = gaussian_counts.quantile(x, 1 - x) + mu
    return max(x, exp(log_tail(-z)) - _ROUNDING)

"""The privacy profile of one step with repeated draws (repeated_draws.py) in doubles, for arrays of ε, the pair
that is composed, and the pair that is attained. Rows belong to the ε, and columns to the numbers k of draws. """

from math import asinh, inf, log

import numpy as np

from dpcalc.bounds.sampling._engine.group_mixture import NEWTON_STEPS, ULPS
from dpcalc.bounds.sampling._engine.repeated_draws import LARGEST_RATIO, Draws, mu_of_draws
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.elementary import LARGEST_EXPONENT, log_add, log_sum
from dpcalc.numerics.elementary_array import log1mexp, log_sums
from dpcalc.numerics.hockey_stick_array import log_theta
from dpcalc.numerics.rounding import up
from dpcalc.pld import profile_pairs
from dpcalc.pld.atoms import SMALLEST_LOG_DELTA, Atoms
from dpcalc.pld.merged_cells import Mixture, cuts_with_mass, pair_of_cells
from dpcalc.pld.pair import gaussian_from_below

BLOCK = 1 << 16  # numbers computed at a time, so that intermediate arrays stay in the cache


def log_delta_at(epsilon: float, reach: int, noise_multiplier: float, draws: Draws) -> float:
    """log of the bound at ε >= 0 for a = `reach`, rounded up."""
    return float(log_delta(np.array([epsilon]), reach, mu_of_draws(noise_multiplier), draws)[0])


def log_delta(epsilon: Array, reach: int, mu: float, draws: Draws) -> Array:
    """log of the bound at each ε >= 0 for a = `reach`, rounded up. `mu` is from `mu_of_draws`."""
    log_p = np.array(draws.log_weights) + np.array(draws.errors)
    if mu > LARGEST_RATIO:
        return np.full(len(epsilon), min(0.0, up(log_add(log_sum(log_p.tolist()), draws.log_more), 4 * ULPS)))
    rows = max(1, BLOCK // len(log_p))
    parts = [epsilon[k : k + rows] for k in range(0, len(epsilon), rows)]
    return np.concatenate([_log_delta(part, reach, mu, log_p, draws) for part in parts])


def _log_delta(epsilon: Array, reach: int, mu: float, log_p: Array, draws: Draws) -> Array:
    r, budget = mu * np.array(draws.counts), _log_budget(epsilon, draws.log_none)
    t = half_line(epsilon, reach, r, log_p, budget)
    x, y = _within_budget(*_logs(t, epsilon, reach, r), log_p, budget)
    near = log_theta((epsilon[:, None] + x) * (1 - ULPS / 4), r)  # rounded down, as 1 − w_k is e^{−x} exactly
    far = log_theta(np.maximum(y, 0.0) * (1 - ULPS / 4), reach * r)
    terms = log_p + np.logaddexp(near - x, log1mexp(-x) + far)
    terms += 10 * ULPS * (1 + np.abs(log_p) + np.abs(terms) + x)
    total = np.logaddexp(log_sums(terms), draws.log_more)
    return np.minimum(0.0, total + 4 * ULPS * (1 + np.abs(total)))


def _log_budget(epsilon: Array, log_none: float) -> Array:
    """log((γ−1)π_0), rounded down."""
    budget = log_none + epsilon + log1mexp(-epsilon)
    with np.errstate(invalid="ignore"):
        rounded = budget - ULPS * (4 + abs(log_none) + epsilon + np.abs(budget))
    return np.where(budget > -inf, rounded, -inf)


def half_line(epsilon: Array, reach: int, r: Array, log_p: Array, budget: Array) -> Array:
    """About the largest t with Σ π_k c_k <= (γ−1)π_0, for each ε.

    The sum is convex in t, so that Newton's method falls to the root from the least t at which one of its terms is the
    whole budget. """
    t: Array = _single(epsilon, reach, r, budget[:, None] - log_p).min(axis=1)
    relative = log_p - np.where(budget > -inf, budget, 0.0)[:, None]
    for _ in range(NEWTON_STEPS):
        x, y = _logs(t, epsilon, reach, r)
        c = np.exp(np.minimum(relative + log1mexp(-np.maximum(x, 0.0)) + y, LARGEST_EXPONENT))
        spent = c.sum(axis=1)
        with np.errstate(divide="ignore", over="ignore"):
            slope = (c * r * (reach + 1 / np.expm1(np.clip(x, 1e-300, LARGEST_EXPONENT)))).sum(axis=1)
        # The budget is met but for rounding errors where it is exceeded by 1e-13 of it.
        step = np.where((spent > 1 + 1e-13) & (budget > -inf), (spent - 1) / np.maximum(slope, 1e-300), 0.0)
        t, before = t - step, t
        if (t == before).all():
            break
    return t


def _single(epsilon: Array, reach: int, r: Array, log_c: Array) -> Array:
    """The t at which c_k is e^log_c. c_k is e^{y_k} − γ for a = 1, and u² − bu for a = 2, with u = e^{r(t−r)} and
    b = γe^{r²/2}."""
    if reach == 1:
        return np.asarray(np.logaddexp(epsilon[:, None], log_c) / r + r / 2)
    log_b = epsilon[:, None] + r * r / 2
    root = np.logaddexp(0.0, log(4) + log_c - 2 * log_b) / 2
    return np.asarray((log_b + np.logaddexp(0.0, root) - log(2)) / r + r)


def _logs(t: Array, epsilon: Array, reach: int, r: Array) -> tuple[Array, Array]:
    """x_k − ε and y_k at t."""
    t = t[:, None]
    return r * (t - (reach - 0.5) * r) - epsilon[:, None], reach * r * (t - reach * r / 2)


def _within_budget(x: Array, y: Array, log_p: Array, budget: Array) -> tuple[Array, Array]:
    """x_k − ε and y_k, with 0 for a negative one of the former, such that Σ π_k c_k is surely within the budget. Where
    the c_k exceed it, or may do so by their rounding errors, each is made smaller: by w_k if that is small, else by
    y_k."""
    x = np.maximum(x, 0.0)
    terms = log_p + log1mexp(-x) + y
    with np.errstate(invalid="ignore", divide="ignore"):
        rounding = ULPS * (8 + np.abs(log_p) + np.abs(y) + np.abs(terms))
        spent = log_sums(np.where(x > 0, terms + rounding, -inf))
        excess = np.where(spent > budget, spent - budget, 0.0)[:, None]
        smaller = -np.log1p(np.expm1(-x) * np.exp(-excess))
    return np.where(x < log(2), smaller, np.where(y > excess, x, 0.0)), np.where(x < log(2), y, y - excess)


# --- the pair that is composed ---------------------------------------------------------------------------------------

POINTS = 128  # evaluated at a time, until δ is below all doubles


def minorant_pair(noise_multiplier: float, draws: Draws, reaches: tuple[int, int]) -> Atoms:
    """The pair of the convex minorant of the bounds at some points, with the a of each direction."""
    mu = mu_of_draws(noise_multiplier)
    epsilon, bounds = np.append(0.0, points(mu, draws, max(reaches))), []
    for k in range(0, len(epsilon), POINTS):
        each = {reach: log_delta(epsilon[k : k + POINTS], reach, mu, draws) for reach in reaches}
        bounds.append(np.array([each[reach] for reach in reaches]))
        if bounds[-1][:, -1].max() <= SMALLEST_LOG_DELTA:
            break
    both = np.concatenate(bounds, axis=1)
    return profile_pairs.pair(epsilon[: both.shape[1]].tolist(), both[0].tolist(), both[1].tolist())


def deviations(largest_mean: float, spacing: float = 0.02) -> Array:
    """Increasing distances from a centre, in standard deviations: evenly spaced up to 8, from where they grow in
    proportion. ε grows with the square of the spacing, by up to 1.5e-4 of it at 0.02. They end 38 beyond the largest
    mean, where the tail is below the smallest double; means above 1e5 are not distinguished."""
    last = int(8 * asinh((38 + min(largest_mean, 1e5)) / 8) / spacing)
    return np.asarray(8 * np.sinh(np.arange(1, last + 1) * (spacing / 8)))


def distinct(epsilon: Array) -> Array:
    """The positive ones of some ε in increasing order, without those that are so close that they only add rounding
    errors."""
    found = np.sort(epsilon[epsilon > 0])
    return found[np.diff(found, prepend=0.0) > 1e-6 * found]


def points(mu: float, draws: Draws, reach: int) -> Array:
    """The increasing ε > 0 at which the bounds are evaluated; any are valid. They belong to outcomes t that are evenly
    spaced near the middle of N(aμ) and N((a−1)μ)."""
    if mu > LARGEST_RATIO:
        return np.zeros(0)
    t = (reach - 0.5) * mu + deviations(draws.counts[-1] * mu)
    rows = max(1, BLOCK // len(draws.counts))
    return distinct(np.concatenate([_epsilons(t[k : k + rows], mu, draws, reach) for k in range(0, len(t), rows)]))


def _epsilons(t: Array, mu: float, draws: Draws, reach: int) -> Array:
    """About the ε at which the best half-line begins at t, and the losses of the attained pair at t where these are
    much smaller.

    The loss is log of the ratio of π_0 + Σ π_k e^{y_k} to π_0 + Σ π_k e^{y_k−x_k}, and ε is the same for sums over the
    k with x_k > ε, which rises as other k are left out. """
    r, t = mu * np.array(draws.counts), t[:, None]
    x, log_p = r * (t - (reach - 0.5) * r), np.array(draws.log_weights) + (reach - 1) * r * (t - (reach - 1) * r / 2)
    log_none = np.full((len(t), 1), draws.log_none)

    def log_ratio(is_used: Array) -> Array:
        used = np.where(is_used, log_p, -inf)
        total = log_sums(np.append(log_none, used, axis=1))
        excess = (np.exp(used - total[:, None]) * np.expm1(np.minimum(x, LARGEST_EXPONENT))).sum(axis=1)
        direct = log_sums(np.append(log_none, used + x, axis=1)) - total
        return np.where(np.abs(excess) < 0.5, np.log1p(np.clip(excess, -0.5, 1.0)), direct)

    is_used = np.ones(x.shape, bool)
    loss = epsilon = log_ratio(is_used)
    while (is_used & (x <= epsilon[:, None])).any():
        is_used &= x > epsilon[:, None]
        epsilon = log_ratio(is_used)
    return np.concatenate([epsilon, loss[loss < epsilon / 2]])


# --- the pair that repeated draws attain, in cells of outcomes --------------------------------------------------------

# It is Σ π_k N(akμ) against Σ π_k N((a−1)kμ) with k = 0, 1, …, where μ, one over the noise multiplier, is rounded down.


def attained_pair(noise_multiplier: float, draws: Draws, reach: int) -> Atoms:
    """The pair in the cells between these cuts, with its reverse, for a = `reach`."""
    own = noise_multiplier, draws, reach
    return pair_of_cells(attained_cuts(*own), _none(draws), *_drawn(*own))


def attained_cuts(noise_multiplier: float, draws: Draws, reach: int) -> Array:
    """Where the outcomes are cut, in units of the noise; any cuts are valid. They are evenly spaced near the middle of
    N(aμ) and N((a−1)μ)."""
    mu = gaussian_from_below(noise_multiplier).mu
    away = deviations(reach * draws.counts[-1] * mu)
    all_cuts = (reach - 0.5) * mu + np.concatenate([-away[::-1], [0.0], away])
    return cuts_with_mass(all_cuts, *((_none(draws), x) for x in _drawn(noise_multiplier, draws, reach)))


def _none(draws: Draws) -> Mixture:
    """What both mixtures have in common: the record is not drawn."""
    return Mixture(np.array([draws.log_none]), np.array([ULPS * (1 + abs(draws.log_none))]), np.zeros(1))


def _drawn(noise_multiplier: float, draws: Draws, reach: int) -> tuple[Mixture, Mixture]:
    """The rest of both mixtures. More draws than all k count as a whole where a mass is rounded up, and else not."""
    r = gaussian_from_below(noise_multiplier).mu * np.array(draws.counts)
    log_weights, errors = np.array(draws.log_weights), np.array(draws.errors)
    own = Mixture(log_weights, errors, reach * r, draws.log_more)
    if reach > 1:
        return own, Mixture(log_weights, errors, (reach - 1) * r, draws.log_more)
    log_any = log1mexp(np.array([draws.log_none]))
    return own, Mixture(log_any, 4 * ULPS * (1 + np.abs(log_any)), np.zeros(1))

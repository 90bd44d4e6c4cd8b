"""The published and proven guarantees of private selection, as printed, in the arithmetic of an mpmath context.

K, the number of runs, has the truncated negative binomial law of shape h > −1 and parameter g, or the Poisson law. One
run has the privacy profile δ_Q (δ′_Q in the other direction) and the Rényi divergence ε_Q(α). Sources: Papernot &
Steinke 2022 (arXiv:2110.03620), Theorems 2 and 6. All minima and roots are found by halving intervals.
"""

PLACES = 40  # points among which the lowest one is sought first: the functions have one or two valleys


def mean_of(mp, shape, g):
    """E K of the truncated negative binomial law."""
    if shape == 0:
        return (1 / g - 1) / mp.log(1 / g)
    return shape * (1 - g) / (g * (1 - g**shape))


def g_of_mean(mp, shape, mean):
    """The parameter g at which the truncated negative binomial law has this mean, which falls with g."""
    return mp.exp(root(mp, lambda x: mean_of(mp, shape, mp.exp(x)) - mean, -mp.mpf(200), -(mp.mpf(10) ** -15)))


def root(mp, falling, low, high):
    """Where a falling function changes its sign, by halving."""
    for _ in range(int(mp.prec) + 10):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return high


def least(mp, function, low, high):
    """The least value of a function on an interval: the best of a few points, and thirds of the interval around it.
    Rounding and the flat minimum make the place uncertain, not the value."""
    points = [low + (high - low) * k / PLACES for k in range(PLACES + 1)]
    best = min(range(PLACES + 1), key=lambda k: function(points[k]))
    low, high = points[max(best - 1, 0)], points[min(best + 1, PLACES)]
    for _ in range(int(mp.prec)):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, two) if function(one) < function(two) else (one, high)
    return function((low + high) / 2)


def gaussian_delta(mp, epsilon, mu):
    """The privacy profile of N(μ, 1) against N(0, 1), at any real ε."""
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


def least_log_ratio(mp, reverse, g):
    """log r: the least r ≥ 1 with δ′_Q(log r) ≤ (r − 1) g/(1 − g). At r = 1/g the inequality always holds."""
    return root(mp, lambda l: (1 - g) * reverse(l) - g * mp.expm1(l), mp.zero, -mp.log(g))


def profile_epsilon(mp, profile, mean, c, delta):
    """The least ε ≥ 0 with m δ_Q(ε − c) ≤ δ."""
    if mean * profile(-c) <= delta:
        return mp.zero
    high = mp.one
    while mean * profile(high - c) > delta:
        high *= 2
    return root(mp, lambda epsilon: mean * profile(epsilon - c) - delta, mp.zero, high)


def gaussian_profile_epsilon(mp, mu, shape, g, delta):
    """ε at δ of the profile form for a Gaussian run, and log r."""

    def profile(epsilon):
        return gaussian_delta(mp, epsilon, mu)

    log_r = least_log_ratio(mp, profile, g)
    return profile_epsilon(mp, profile, mean_of(mp, shape, g), (1 + shape) * log_r, delta), log_r


def gaussian_poisson_epsilon(mp, mu, mean, delta):
    """ε at δ of the profile form for a Gaussian run and a Poisson number of runs: c is m times the total variation."""

    def profile(epsilon):
        return gaussian_delta(mp, epsilon, mu)

    return profile_epsilon(mp, profile, mean, mean * profile(mp.zero), delta)


def pure_epsilon(mp, epsilon, shape, g):
    """The pure ε of the published outcome of ε-DP runs; attained in the limit of many outcomes."""
    return epsilon + (1 + shape) * mp.log((mp.exp(epsilon) + g) / (1 + g * mp.exp(epsilon)))


def papernot_steinke_c(mp, rdp, shape, g):
    """(1 + h) times the least (1 − 1/α̂) ε_Q(α̂) + log(1/g)/α̂ over orders α̂ > 1."""

    def at(x):
        order = 1 + mp.exp(x)
        return (1 - 1 / order) * rdp(order) + mp.log(1 / g) / order

    return (1 + shape) * min(least(mp, at, -mp.mpf(20), mp.mpf(20)), mp.log(1 / g))


def selection_rdp(mp, rdp, c, mean):
    """α ↦ ε_Q(α) + c + log(m)/(α − 1): Theorem 2 with its c, and a sharper curve with that of the profile."""
    return lambda alpha: rdp(alpha) + c + mp.log(mean) / (alpha - 1)


def negative_binomial_rdp(mp, rdp, shape, g):
    """Theorem 2 of Papernot & Steinke 2022, at its best second order."""
    return selection_rdp(mp, rdp, papernot_steinke_c(mp, rdp, shape, g), mean_of(mp, shape, g))


def poisson_rdp(mp, rdp, reverse, mean):
    """Theorem 6 of Papernot & Steinke 2022 with the term e^{−m} of no run, without which it is false for m < 1:
    log(e^{−m} + m exp((α − 1)(ε_Q(α) + m δ′_Q(log(α/(α − 1))))))/(α − 1)."""

    def at(alpha):
        power = (alpha - 1) * (rdp(alpha) + mean * reverse(mp.log(alpha / (alpha - 1))))
        return mp.log(mp.exp(-mean) + mean * mp.exp(power)) / (alpha - 1)

    return at


def epsilon_of_curve(mp, curve, delta):
    """ε at δ from a Rényi curve, at its best order: ε(α) + log(1 − 1/α) − log(αδ)/(α − 1) (Canonne, Kamath & Steinke
    2020)."""

    def at(x):
        alpha = 1 + mp.exp(x)
        return curve(alpha) + mp.log(1 - 1 / alpha) - mp.log(alpha * delta) / (alpha - 1)

    return max(mp.zero, least(mp, at, -mp.mpf(6), mp.mpf(12)))

"""Random numbers and sizes, of which domains.py makes parameters."""

from math import exp, log

LONG = 3000  # terms that no formula here sums one by one


def log_uniform(rng, low, high):
    return exp(rng.uniform(log(low), log(high)))


def spread(rng, low, high):
    """An end, a linear or a logarithmic draw."""
    pick = rng.random()
    if pick < 0.05:
        return rng.choice((low, high))
    return rng.uniform(low, high) if pick < 0.3 else log_uniform(rng, low, high)


def alpha(rng, high=1e4):
    return 1 + log_uniform(rng, 1e-10, high)


def whole_alpha(rng):
    return float(rng.choice((2, 3, 4, 8, 32, rng.randint(2, 60))))


def steps(rng, high=1e9):
    return max(1, round(log_uniform(rng, 1, high)))


def length(rng, most):
    """How many terms. Of a long sum 49 in 50 have at most 20, which are cheap, and one in 50 any number up to the
    most."""
    few = most if most > LONG or rng.random() < 0.02 else min(most, 20)
    return max(1, round(log_uniform(rng, 1 if few <= 20 or most > LONG else 20, few)))


def delta(rng):
    return rng.choice((0.0, 1e-300, log_uniform(rng, 1e-30, 0.5), rng.random() * 0.99))

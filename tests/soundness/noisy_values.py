"""Noisy values by key, of which those are published that are at least a threshold, and how large the noise is."""

from math import exp, log

import keyed_tables
import numpy as np
from scipy import stats

from dpcalc.pld.bracket import log_delta_at_epsilon
from soundness import ask

NOISES = ("gaussian", "laplace", "discrete-gaussian", "discrete-laplace")


def _laws(rng, noise, count):
    """A release, and the laws of what is published of its extreme tables and of random ones."""
    contributors = rng.choice((1, 1, 2))
    release = keyed_tables.random_release(rng, noise, contributors)
    tables = keyed_tables.random_tables(rng, release, count, contributors == 1 and rng.random() < 0.3)
    if len(tables) > count:
        tables = rng.sample(tables, count)
    return release, [keyed_tables.laws(noise, release["noise_level"], release["threshold"], table) for table in tables]


def above_threshold(rng):
    """One release of a small table."""
    for noise in NOISES:
        release, laws = _laws(rng, noise, 6)
        at = keyed_tables.random_epsilons(rng, release)
        for p, q in laws:
            for name in ("threshold-profile", "threshold-simple"):
                yield from ask.profile(name, p, q, at, release)


def above_threshold_composed(rng):
    """One release by its pair, or several of them, of the same table or of different ones."""
    release, laws = _laws(rng, rng.choice(NOISES), 4)
    (pair, _), = ask.BOUNDS["threshold-composed"].value(**release)
    steps = rng.choice((1, 1, 2, 3))
    for law in laws:
        others = [rng.choice((law, law, rng.choice(laws))) for _ in range(steps - 1)]
        p, q = keyed_tables.together(law, *others)
        for epsilon in keyed_tables.random_epsilons(rng, release, 2):
            reported = exp(log_delta_at_epsilon(((pair, steps),), epsilon).upper)
            yield ("threshold-composed", f"δ({epsilon:.6g}) of {steps} steps",
                   max(keyed_tables.deltas(p, q, epsilon)), reported)


def size_of_noise(rng):
    """The least half-width in which all answers lie at once with that probability: by scipy, or by adding up."""
    accuracy, answers = rng.choice((rng.uniform(0.01, 0.999), 1 - exp(rng.uniform(-15, -1)))), rng.choice((1, 2, 30))
    outside = -np.expm1(log(accuracy) / answers)
    for noise in NOISES:
        level = exp(rng.uniform(-1.5, 3))
        if noise.startswith("discrete"):
            reach, p = keyed_tables.pmf(noise, level)
            beyond = 2 * np.cumsum(p[::-1])[:reach + 1][::-1]  # Pr[|X| >= a] for a = 0, …
            true = float(np.argmax(np.append(beyond[1:], 0.0) <= outside * (1 + 1e-12)))
        else:
            true = float((stats.norm if noise == "gaussian" else stats.laplace).isf(outside / 2) * level)
        yield from ask.point("noise-accuracy", "noise_within", true, noise=noise, noise_level=level,
                             accuracy=accuracy, answers=answers)


FAMILIES = (above_threshold, above_threshold_composed, size_of_noise)

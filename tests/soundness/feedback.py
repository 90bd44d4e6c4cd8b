"""Noise feedback: runs step by step on a diagonal Hessian, and with gradients that a record moves in any direction."""

from math import exp, sqrt

import numpy as np

from soundness import ask
from soundness.mechanisms import gaussian_pair


def feedback(rng):
    """Changes of the gradients by 2L, in random directions or in one: the length of what they move, in units of the
    noise, is the μ of these two data sets."""
    curvatures = tuple(rng.choice((0.0, exp(rng.uniform(-3, 1)))) for _ in range(rng.choice((1, 1, 2, 3))))
    gamma, most = exp(rng.uniform(-3, 0)), max(curvatures)
    gamma = min(gamma, 1.9 / most) if most else gamma
    lam, steps = rng.choice((0.0, 1.0, rng.random())), rng.randint(1, 40)
    sigma, lipschitz = exp(rng.uniform(-2, 1)), exp(rng.uniform(-1, 1))
    uses = sorted(rng.sample(range(1, steps + 1), rng.choice((1, min(steps, 2), min(steps, 4)))))
    in_one, changes = rng.choice((True, False)), {}
    for i in uses:
        v = np.array([float(j == 0) if in_one else rng.gauss(0, 1) for j in range(len(curvatures))])
        changes[i] = 2 * lipschitz * v / sqrt(v @ v)
    run = {"learning_rate": gamma, "sigma": sigma, "iterations": steps, "lipschitz": lipschitz, "uses": tuple(uses)}
    for name, back in (("noise-feedback", {"feedback": lam}), ("without-feedback", {})):
        total = sum(_mean(gamma * a, gamma, steps, changes, j) ** 2 / _variance(gamma * a, back.get("feedback", 0), steps)
                    for j, a in enumerate(curvatures))
        yield from _questions(rng, name, sqrt(total) / sigma, {"curvatures": curvatures, **run, **back})
    # what the record has moved by every step, with the parts of it that go with the noise that is taken back
    moved = [sum(lam ** (t - i) * v for i, v in changes.items() if i <= t) for t in range(uses[0], steps + 1)]
    mu = gamma * sqrt(sum(float(v @ v) for v in moved)) / sigma
    yield from _questions(rng, "feedback-every-iterate", mu, {**run, "feedback": lam})


def _mean(g, gamma, steps, changes, mode):
    """What the changes move in a mode of the last iterate."""
    total = 0.0
    for t in range(1, steps + 1):
        total = (1 - g) * total + (gamma * float(changes[t][mode]) if t in changes else 0.0)
    return total


def _variance(g, lam, steps):
    """Of a mode of the last iterate, in units of σ²: from the weight of every noise in it."""
    weights = np.zeros(steps + 1)
    for t in range(1, steps + 1):
        weights = (1 - g) * weights
        weights[t] += 1
        weights[t - 1] -= lam if t > 1 else 0.0
    return float(weights @ weights)


def _questions(rng, name, mu, run):
    p, q = gaussian_pair(rng, mu)
    yield from ask.profile(name, p, q, ask.epsilons(rng, mu * (1 + mu), 4), run)
    yield from ask.rdp(name, p, q, ask.orders(rng, 4), run, function="rdp")


def best_feedback(rng):
    """The variance of a run with λ* at equal privacy, where it is said what the least one is."""
    gamma, steps = exp(rng.uniform(-1, 0)), rng.randint(1, 60)
    curvatures = tuple(rng.uniform(0.3, 1) for _ in range(rng.choice((1, 1, 3))))
    for name, run, length in (("feedback-optimum", {}, 60), ("feedback-optimum-finite", {"iterations": steps}, steps)):
        own = {"curvatures": curvatures, "learning_rate": gamma, **run}
        lam = ask.BOUNDS[name].value(**own)["feedback"]
        square = 1 / (1 - lam**2)  # of μ over s/σ, for all iterates of a long run
        yield from ask.point(name, "equal_privacy_variance",
                             sum(_variance(gamma * a, lam, length) for a in curvatures) * square, **own)


FAMILIES = (feedback, best_feedback)

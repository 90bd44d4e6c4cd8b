"""One sampled step of Gaussian or Laplace noise."""

from math import exp

import numpy as np
from scipy.special import ndtr

from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.bounds.curve import of_bound
from soundness import ask
from soundness.mechanisms import cells, laplace_cdf

CDF = {"gaussian": ndtr, "laplace": laplace_cdf}


def sampled(rng):
    noise, z = rng.choice(("gaussian", "gaussian", "laplace")), exp(rng.uniform(-1, 2))
    rate = rng.choice((rng.random(), exp(rng.uniform(-8, 0))))
    cuts = np.concatenate([np.linspace(-5, 5 + 1 / z, 160),
                           [0.0, 1 / z, *(rng.uniform(-7, 7 + 1 / z) for _ in range(20))]])
    far, near = cells(CDF[noise], cuts, 1 / z), cells(CDF[noise], cuts, 0.0)
    neither = cells(CDF[noise], cuts, rng.choice((0.0, 1.0, rng.random())) / z)
    added = (1 - rate) * near + rate * far, near
    replaced = (1 - rate) * neither + rate * far, (1 - rate) * neither + rate * near
    values = {"sigma": z, "scale": z, "sensitivity": 1.0}
    run = {"sampling_rate": rate, "max_weight": rate, "profile": MECHANISMS[noise].profile(values),
           "noise_multiplier": z,
           "base": of_bound(ask.BOUNDS[f"{noise}-rdp"], 1 / z if noise == "laplace" else float("inf"), sensitivity=1.0,
                      **({"sigma": z} if noise == "gaussian" else {"scale": z}))}
    at, whole = ask.epsilons(rng, rate / z), [float(rng.randint(2, 60)) for _ in range(4)]
    yield from ask.profile("poisson-profile", *added, at, run)
    yield from ask.profile("wor-profile", *replaced, at, run)
    if noise == "gaussian":
        yield from ask.rdp("poisson-rdp", *added, [a for a in (*ask.orders(rng, 3), *whole) if a > 1.001], run)
        yield from ask.rdp("wor-profile", *replaced, ask.orders(rng, 2), run, function="rdp")
    yield from ask.rdp("wor-rdp", *replaced, whole, run)
    yield from ask.rdp("weighted-rdp", *replaced, whole, run)


def shuffled(rng):
    """Epochs of one to three batches in a secret order: the batch of the record is shifted, by 1/z more on one data set
    than on the other, and the other records may shift it on both."""
    batches, z, others = rng.choice((1, 1, 2, 3)), exp(rng.uniform(-1, 2)), rng.choice((0.0, 1.0, rng.uniform(-2, 2)))
    cuts = np.linspace(-5 - 2 / z, 5 + 3 / z, {1: 90, 2: 90, 3: 30}[batches])
    law = {shift: cells(CDF["gaussian"], cuts, shift / z) for shift in (0.0, others, others + 1)}

    def epoch(own):
        total = 0.0
        for place in range(batches):
            one = np.ones(1)
            for k in range(batches):
                one = np.outer(one, law[own] if k == place else law[0.0]).ravel()
            total = total + one / batches
        return total

    p, q = epoch(others + 1), epoch(others)
    epochs = rng.choice((1, 2)) if batches == 1 else 1
    if epochs == 2:
        p, q = np.outer(p, p).ravel(), np.outer(q, q).ravel()
    run, mu = {"noise_multiplier": z, "epochs": epochs}, epochs**0.5 / z
    yield from ask.profile("shuffle-no-amplification", p, q, ask.epsilons(rng, mu * (1 + mu)), run)
    yield from ask.inverse("shuffle-no-amplification", p, q, [10 ** rng.uniform(-6, -1) for _ in range(3)], run)
    yield from ask.rdp("shuffle-no-amplification", p, q, ask.orders(rng, 3), run, function="rdp")


FAMILIES = (sampled, shuffled)

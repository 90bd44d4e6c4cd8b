"""Steps of Gaussian or Laplace noise on random batches."""

from functools import reduce
from itertools import combinations
from math import comb, exp

import chains
import numpy as np
from scipy.special import ndtr

from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.bounds.curve import of_bound
from dpcalc.pld.bracket import log_delta_at_epsilon
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


def batch_sums(gradients, rate, most):
    """The probability of every sum of a truncated Poisson batch: given its size, a batch is a uniform subset."""
    n = len(gradients)
    drawn = [comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)]
    sizes = [*drawn[:most], sum(drawn[most:])] if most < n else drawn
    sums = {}
    for size, share in enumerate(sizes):
        for batch in combinations(gradients, size):
            sums[sum(batch)] = sums.get(sum(batch), 0.0) + share / comb(n, size)
    return sums


def truncated(rng):
    """Small runs with gradients −1, 0 and 1, of which the first is 0 on the other data set."""
    n, z = rng.randint(2, 8), exp(rng.uniform(-1.2, 1))
    most, rate = rng.randint(1, min(3, n)), rng.choice((rng.random(), 1.0, exp(rng.uniform(-4, 0))))
    others = rng.choice(([-1] * (n - 1), [rng.choice((-1, -1, 0, 1)) for _ in range(n - 1)]))
    cuts = np.concatenate([np.linspace(-4 - 5 * z, 4 + 5 * z, 250), [rng.uniform(-6, 6) for _ in range(20)]])
    p, q = (sum(share * cells(ndtr, cuts / z, at / z) for at, share in batch_sums([own, *others], rate, most).items())
            for own in (rng.choice((1, 1, -1)), 0))
    run = {"n": n, "sampling_rate": rate, "max_batch_size": most, "noise_multiplier": z}
    yield from ask.profile("truncated-poisson-profile", p, q, ask.epsilons(rng, 2 * rate / z), run)



def allocated(rng):
    """An epoch of two or three steps of random allocation, with every noisy sum rounded to cells."""
    steps, z = rng.choice(((2, exp(rng.uniform(-1, 1.5))), (3, exp(rng.uniform(-0.7, 1)))))
    cuts = np.linspace(-5 * z, 5 * z + 1, 120 if steps == 2 else 30)
    far, near = (cells(lambda x: ndtr(x / z), cuts, place) for place in (1.0, 0.0))
    q = reduce(np.multiply.outer, [near] * steps).ravel()
    p = sum(reduce(np.multiply.outer, [far if i == j else near for i in range(steps)]).ravel()
            for j in range(steps)) / steps
    parts = ask.BOUNDS["allocation-profile"].value(z, steps, 1, 1e-14)
    for epsilon in ask.epsilons(rng, 1 / z):
        true = max(chains.delta(p, q, epsilon), chains.delta(q, p, epsilon))
        yield "allocation-profile", f"δ({epsilon:.6g})", true, exp(log_delta_at_epsilon(parts, epsilon).upper)


def allocated_several(rng):
    """Two of three or of four steps, at which the noisy sums are rounded to few cells."""
    steps, z = rng.choice((3, 4)), exp(rng.uniform(-0.7, 1))
    cuts = np.linspace(-2 * z, 2 * z + 1, 12 if steps == 3 else 7)
    far, near = (cells(lambda x: ndtr(x / z), cuts, place) for place in (1.0, 0.0))
    q = reduce(np.multiply.outer, [near] * steps).ravel()
    pairs = list(combinations(range(steps), 2))
    p = sum(reduce(np.multiply.outer, [far if i in pair else near for i in range(steps)]).ravel()
            for pair in pairs) / len(pairs)
    parts = ask.BOUNDS["allocation-profile"].value(z, steps, 2, 1e-14)
    for epsilon in ask.epsilons(rng, 1 / z):
        true = max(chains.delta(p, q, epsilon), chains.delta(q, p, epsilon))
        yield "allocation-profile", f"δ({epsilon:.6g})", true, exp(log_delta_at_epsilon(parts, epsilon).upper)


FAMILIES = (sampled, truncated, allocated, allocated_several)

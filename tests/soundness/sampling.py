"""Steps of Gaussian or Laplace noise on random batches, for one record and for groups."""

from functools import reduce
from itertools import combinations, product
from math import comb, cos, exp, pi, sin

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


def subsets(vectors, rate):
    """(probability, sum) of each set of the vectors that a Poisson batch may draw."""
    for drawn in product((False, True), repeat=len(vectors)):
        chance = np.prod([rate if d else 1 - rate for d in drawn])
        yield chance, sum((v for v, d in zip(vectors, drawn, strict=True) if d), np.zeros(2))


def in_squares(cuts, centre):
    """The masses under N(centre, I) of the rectangles between the cuts."""
    return np.multiply.outer(*(cells(ndtr, axis, x) for axis, x in zip(cuts, centre, strict=True))).ravel()


def grouped(rng):
    """A group of records whose contributions are vectors in the plane, in one step, or in two steps of which the second
    depends on the first output; and its loss by the guarantee of one record."""
    size, z, rate = rng.choice((1, 2, 3, 4)), exp(rng.uniform(-0.5, 1.5)), rng.choice((rng.random(), 0.05))
    spread = rng.choice((0.0, 0.0, 0.3, 2.0, 2 * pi))
    lengths = [rng.choice((1.0, 1.0, rng.random())) / z for _ in range(size)]

    def vectors():
        angles = [spread * (rng.random() - 0.5) for _ in range(size)]
        return [r * np.array((cos(a), sin(a))) for r, a in zip(lengths, angles, strict=True)]

    first, after_low, after_high = vectors(), vectors(), vectors()
    cuts = np.linspace(-5, 5 + size / z, 90), np.linspace(-5, 5 + size / z, 30 if spread else 2)
    at = ask.epsilons(rng, size * rate / z)
    run = {"sampling_rate": rate, "noise_multiplier": z, "group_size": size}
    p, q = sum(c * in_squares(cuts, v) for c, v in subsets(first, rate)), in_squares(cuts, (0.0, 0.0))
    yield from ask.profile("poisson-group-profile", p, q, at, run)

    coarse = np.linspace(-4, 4 + size / z, 24), np.array([0.0, 0.5])
    one, none = sum(c * in_squares(coarse, v) for c, v in subsets(first, rate)), in_squares(coarse, (0.0, 0.0))
    low = np.arange(len(none)) < len(none) / 2
    after = [sum(c * in_squares(coarse, v) for c, v in subsets(later, rate)) for later in (after_low, after_high)]
    both = np.concatenate([np.multiply.outer(one[here], later).ravel()
                           for here, later in zip((low, ~low), after, strict=True)])
    neither = np.concatenate([np.multiply.outer(none[here], none).ravel() for here in (low, ~low)])
    parts = ((ask.BOUNDS["poisson-group-profile"].pair(rate, z, size), 2),)
    for epsilon in at[:2]:
        true = max(float(np.maximum(a - exp(epsilon) * b, 0).sum()) for a, b in ((both, neither), (neither, both)))
        yield ("poisson-group-profile", f"δ({epsilon:.6g}) of two steps", true,
               exp(log_delta_at_epsilon(parts, epsilon).upper))

    known = [(e, exp(ask.BOUNDS["poisson-group-profile"].value(e, rate, z, 1))) for e in at]
    yield from ask.profile("group-privacy", p, q, [size * e * (1 + 1e-12) for e in at],
                           {"profile_points": tuple(known), "group_size": size})


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


FAMILIES = (sampled, grouped, shuffled, truncated, allocated, allocated_several)

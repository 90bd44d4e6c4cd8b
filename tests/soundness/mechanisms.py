"""Single mechanisms: Gaussian and Laplace noise, on real numbers and on integers; randomised responses; correlated
noise."""

from math import exp, log, sqrt

import correlated_designs
import numpy as np
from chains import delta, rdp
from scipy.special import gammaln, ndtr

from soundness import ask


def laplace_cdf(x):
    return np.where(x < 0, 0.5 * np.exp(np.minimum(x, 0)), 1 - 0.5 * np.exp(-np.maximum(x, 0)))


def cells(cdf, cuts, shift):
    """Masses between the cuts, from the side on which the tails are small."""
    z = np.concatenate([[-np.inf], np.sort(cuts) - shift, [np.inf]])
    return np.where(z[:-1] > 0, cdf(-z[:-1]) - cdf(-z[1:]), cdf(z[1:]) - cdf(z[:-1]))


def gaussian_pair(rng, mu, count=200):
    cuts = np.concatenate([np.linspace(-6, mu + 6, count), [rng.uniform(-8, mu + 8) for _ in range(20)]])
    return cells(ndtr, cuts, mu), cells(ndtr, cuts, 0.0)


def gaussian(rng):
    steps, s, mu = rng.choice((1, 1, 3, 50, 10**6)), exp(rng.uniform(-2, 2)), exp(rng.uniform(-4, 2))
    sigma = s * sqrt(steps) / mu
    p, q = gaussian_pair(rng, mu)
    at, alphas = ask.epsilons(rng, mu * (1 + mu)), ask.orders(rng)
    run = {"sigma": sigma, "sensitivity": s, "steps": steps, "mu": s / sigma}
    for name in ("gaussian-exact", "gdp-exact"):
        yield from ask.profile(name, p, q, at, run)
        yield from ask.inverse(name, p, q, [10 ** rng.uniform(-9, -1) for _ in range(3)], run)
    yield from ask.profile("gaussian-classic", p, q, [rng.random() for _ in range(4)], run)
    for name in ("gaussian-rdp", "gdp-rdp"):
        yield from ask.rdp(name, p, q, alphas, run, times=steps)
    yield from ask.rdp("zcdp-rdp", p, q, alphas, {"rho": mu * mu / 2})
    for alpha in alphas:
        yield from ask.point("gdp-zcdp", "rho", rdp(p, q, alpha) / alpha, mu=s / sigma, steps=steps)
        yield from ask.point("zcdp-composition", "rho", rdp(p, q, alpha) / alpha, rho=mu * mu / steps / 2 * (1 + 1e-15),
                             steps=steps)
    tv = delta(p, q, 0.0)
    yield from ask.point("tv-exact", "tv", tv, mechanism="gaussian", ratio=s / sigma, steps=steps)
    yield from ask.point("tv-pinsker", "tv", tv, ratio=s / sigma, steps=steps)
    yield from ask.point("tv-kl", "tv", tv, kl=(s / sigma) ** 2 / 2, steps=steps)


def laplace(rng):
    s, ratio = exp(rng.uniform(-2, 2)), exp(rng.uniform(-4, 2))
    v = s / ratio
    cuts = np.concatenate([[0.0, ratio], np.linspace(-3, ratio + 3, 150),
                           [rng.uniform(-5, ratio + 5) for _ in range(20)]])
    p, q = cells(laplace_cdf, cuts, ratio), cells(laplace_cdf, cuts, 0.0)
    run = {"scale": v, "sensitivity": s}
    for name in ("laplace-exact", "laplace-profile"):
        yield from ask.profile(name, p, q, [0.0, *(ratio * rng.uniform(0, 1.1) for _ in range(5))], run)
    yield from ask.rdp("laplace-rdp", p, q, ask.orders(rng), run)
    yield from ask.point("tv-exact", "tv", delta(p, q, 0.0), mechanism="laplace", ratio=ratio, steps=1)


def randomised_response(rng):
    truth, steps = rng.uniform(0.5, 0.99), rng.choice((1, 2, 5, 40))
    k = np.arange(steps + 1)
    choose = gammaln(steps + 1) - gammaln(k + 1) - gammaln(steps - k + 1)
    p = np.exp(choose + k * log(truth) + (steps - k) * log(1 - truth))
    run = {"probability": truth, "steps": steps}
    one = log(truth / (1 - truth))
    yield from ask.profile("randomized-response-exact", p, p[::-1],
                           [0.0, *(steps * one * rng.random() for _ in range(6))], run)
    yield from ask.rdp("randomized-response-rdp", p, p[::-1], ask.orders(rng), run, times=steps)
    if steps == 1:
        yield from ask.point("tv-exact", "tv", 2 * truth - 1, mechanism="randomized-response", ratio=one, steps=1)


def on_integers(rng):
    """Noise on the integers, with the probabilities of every outcome, or with some outcomes merged."""
    s = rng.choice((1, 1, 2, 3, 10))
    which, level = rng.choice((("gaussian", exp(rng.uniform(-1.5, 3))), ("laplace", exp(rng.uniform(-2, 2)))))
    reach = int(level * 40) + 20 * s + 5
    x = np.arange(-reach, reach + 1)
    weight = np.exp(-((x / level) ** 2) / 2 if which == "gaussian" else -abs(x) / level)
    weight /= weight.sum()
    p, q = np.append(np.zeros(s), weight), np.append(weight, np.zeros(s))
    cuts = sorted(rng.sample(range(1, len(p)), rng.randint(1, 20)))
    if rng.random() < 0.3:
        p, q = np.add.reduceat(p, [0, *cuts]), np.add.reduceat(q, [0, *cuts])
    both = (p > 1e-290) & (q > 1e-290)
    p, q = p[both], q[both]
    run = {"sigma" if which == "gaussian" else "scale": level, "sensitivity": float(s)}
    most = s * (s + 6 * level) / (2 * level**2) if which == "gaussian" else s / level
    yield from ask.profile(f"discrete-{which}-exact", p, q, [0.0, *(most * rng.random() for _ in range(5))], run)
    yield from ask.rdp(f"discrete-{which}-rdp", p, q, ask.orders(rng), run)


def respondents(rng):
    """Reports about two categories: of k-ary randomised response, and of unary encoding with all of its bits."""
    e, k = exp(rng.uniform(-3, 2)), rng.randint(2, 12)
    p, q = (np.where(np.arange(k) == true, exp(e), 1.0) / (exp(e) + k - 1) for true in (0, 1))
    at = [0.0, *(e * rng.random() for _ in range(5))]
    run = {"step_epsilon": e, "categories": k}
    yield from ask.profile("k-randomized-response-exact", p, q, at, run)
    yield from ask.rdp("k-randomized-response-rdp", p, q, ask.orders(rng), run)
    one = rng.uniform(0.3, 0.95)
    flip = one * rng.uniform(0.05, 0.99)
    size = rng.randint(2, 5)
    reports = np.array([[i >> bit & 1 for bit in range(size)] for i in range(2**size)])

    def law(true):
        chance = np.where(np.arange(size) == true, one, flip)
        return np.where(reports == 1, chance, 1 - chance).prod(axis=1)

    run = {"probability": one, "flip_probability": flip}
    most = log(one / (1 - one)) - log(flip / (1 - flip))
    yield from ask.profile("unary-exact", law(0), law(1), [0.0, *(most * rng.random() for _ in range(5))], run)
    yield from ask.rdp("unary-rdp", law(0), law(1), ask.orders(rng), run)


def correlated(rng):
    """A shift of one record, by a worst pattern of its steps with equal changes of one sign: a shift of a Gaussian."""
    for kind in ("once", "bands", "separated", "cyclic"):
        design, change, sigma = correlated_designs.design(rng, kind, 10), rng.choice((1.0, 2.0)), exp(rng.uniform(0, 3))
        matrix, patterns = correlated_designs.matrix(design), correlated_designs.patterns(design)
        mu = change / sigma * max(float(np.linalg.norm(matrix[:, p].sum(axis=1))) for p in patterns)
        p, q = gaussian_pair(rng, mu)
        run = {"design": design, "change": change, "sigma": sigma}
        yield from ask.profile(f"correlated-{kind}", p, q, ask.epsilons(rng, mu * (1 + mu), 4), run)
        yield from ask.rdp(f"correlated-{kind}", p, q, ask.orders(rng, 4), run, function="rdp")


FAMILIES = (gaussian, laplace, randomised_response, on_integers, respondents, correlated)

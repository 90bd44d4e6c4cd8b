"""Shuffled runs whose records hide among the others: many maps of records, orders drawn from all, one pass or several,
and batches.

Units: noise of a slot 1 (of the release, for output perturbation), η = 1; `size` = 2L/σ, what the records' maps lie
apart at most. """

from functools import wraps
from math import exp, inf, log, sqrt
from typing import NamedTuple

import hiding_definition as definition
import numpy as np
from scipy.special import ndtr
from shuffled_runs import (
    GaussianWalk,
    LaplaceWalk,
    Records,
    Shuffled,
    banded,
    both_ways,
    lipschitz_map,
    moved,
    released,
)

from soundness import ask

SHARP = 1 + 1e-12  # 2L, β and D are told so much larger that rounding of the instance cannot leave the theorem
INSTANCES, EPSILONS = 3, 6  # of one question


class Question(NamedTuple):
    """Of a run of `slots` of batches: passes, slots in the last one, D if it is told."""

    size: float
    c: float
    n: int
    epochs: int = 1
    slots: int = 0
    diameter: float | None = None

    def setting(self):
        lipschitz, c = self.size / 2 * SHARP, self.c
        curved = {"smoothness": (1 + c) * SHARP, "strong_convexity": 1 - c} if c <= 1 else {"smoothness": (c - 1)
                                                                                            * SHARP}
        return {"level": 1.0, "lipschitz": lipschitz, "learning_rate": 1 / SHARP, **curved, "n": self.n,
                "diameter": self.diameter,
                "iterations": (self.epochs - 1) * self.n + (self.slots or self.n)}

    def at(self, rng, count=EPSILONS):
        return [0.0,
                *(rng.choice((rng.uniform(0, 4.5), self.size * exp(rng.uniform(-3, 1)))) for _ in range(count - 1))]


def promised(name, epsilons, question):
    """δ at every ε by the bound, or None where it does not apply."""
    found = [ask.reported(name, e, question.setting()) for e in epsilons]
    return None if None in found else [exp(min(x, 0.0)) for x in found]


def records(rng, size, c, counts, diameter, batch=1):
    """Maps at most `size` apart from one another; the two of the differing record mostly at opposite ends."""
    base, half = lipschitz_map(rng, c, diameter), size / 2

    def other():
        way = rng.random()
        if way < 0.5:
            return moved(base, rng.choice((-half, half, 0.0, rng.uniform(-half, half))))
        return banded(lipschitz_map(rng, c, diameter), base, half)

    maps = [other() for _ in counts]
    side = rng.choice((-half, half))
    special = rng.choice(((moved(base, side), moved(base, -side)), (moved(base, side), moved(base, -side)),
                          (moved(base, side), rng.choice(maps)),
                          (other(), other())))
    return Records(maps, counts, special, diameter, batch)


def crowd(rng, most=200):
    """How many other records of every kind, and the batch: all alike, one odd, two kinds, all distinct, batches (some
    left over)."""
    shape = rng.choice(("alike", "alike", "odd", "two", "distinct", "distinct", "batches"))
    if shape == "batches":
        n, b = rng.choice(((4, 2), (6, 2), (6, 3), (8, 4), (8, 2), (5, 2), (7, 2), (5, 3), (7, 3)))
        return ([1] * (n - 1) if n < 7 or b == 4 else [n - 5, 3, 1]), b
    if shape == "distinct":
        return [1] * (rng.randint(2, 6) - 1), 1
    n = min(most, rng.choice((2, 3, 4, 6, 10, 20, 60, 200)))
    if shape == "alike" or n < 4:
        return [n - 1], 1
    if shape == "odd":
        return [min(n, 60) - 2, 1], 1
    n = min(n, 20)
    first = rng.randint(1, n - 2)
    return [first, n - 1 - first], 1


def contraction(rng, most=1.02):
    return min(most, rng.choice((0.5, 0.8, 0.9, 0.97, 0.99, 1.0, 1.0, 1.0, 1.005, 1.02)))


def told(rng, name, question, make, plain, epsilons=None):
    """Instances (by `make`) of one question: (name, question in words, true, reported, what the sum without hiding
    says)."""
    epsilons = epsilons or question.at(rng)
    reported = promised(name, epsilons, question)
    if reported is None:
        return
    apart = [plain(e) for e in epsilons]
    for _ in range(INSTANCES):
        p, q, what = make()
        for e, most, other in zip(epsilons, reported, apart, strict=True):
            for true in both_ways(p, q, e):
                yield name, f"δ({e:.6g}), {question}, {what}", true, most, other


def alone(question):
    """μ of the differing record with m later slots in the last pass, and the weights of the sum; without `slots` it is
    not in that one."""
    n, slots = question.n, question.slots or question.n
    earlier = definition.earliest(question.epochs, n, slots)
    mu = [definition.string([m, *earlier], question.size, question.c) for m in range(slots)]
    weights = [1 / n] * slots
    if slots < n:
        mu.append(definition.string(earlier, question.size, question.c) if earlier else 0.0)
        weights.append((n - slots) / n)
    mu, weights = np.array(mu), np.array(weights)
    return lambda e: definition.kept_apart(mu, e, weights)


def walk(rng, question, counts, batch, diameter):
    """One instance: the laws of its last iterate."""
    own = records(rng, question.size * batch, question.c, counts, diameter, batch)
    p, q = Shuffled(GaussianWalk(own, rng.choice((0.0, 0.5, 0.999)))).laws(question.epochs, question.slots or None)
    return p, q, f"others {counts}, batches of {batch}, D = {diameter:.4g}"


def width(rng):
    return exp(rng.uniform(-1.2, 3.0))


def one_pass(rng, name="shuffled-hiding", most=1.0):
    counts, batch = crowd(rng)
    n, diameter, known = (sum(counts) + 1) // batch, width(rng), rng.random() < 0.4
    question = Question(exp(rng.uniform(-1.8, 2.1)), contraction(rng, 1.0) if most == 1 else most, n,
                        diameter=diameter * SHARP if known else None)
    yield from told(rng, name, question, lambda: walk(rng, question, counts, batch, diameter if known else width(rng)),
                    alone(question))


def expanding(rng):
    """Losses that are not convex: a slot may move two runs apart."""
    yield from one_pass(rng, "smooth-nonconvex-shuffled-hiding", rng.choice((1.0005, 1.005, 1.02, 1.1)))


def several_passes(rng):
    """Only the last iterate is released; the last pass may stop in the middle."""
    counts, batch = crowd(rng, 60)
    n, diameter, known = (sum(counts) + 1) // batch, width(rng), rng.random() < 0.5
    stops = n > 1 and rng.random() < 0.5
    epochs = rng.choice((1, 2, 3)) if stops else rng.choice((2, 2, 3, 5, 10))
    slots = rng.choice((1, rng.randint(1, n - 1))) if stops else n
    question = Question(exp(rng.uniform(-1.8, 2.1)), contraction(rng, 1.0), n, epochs, slots,
                        diameter * SHARP if known else None)
    yield from told(rng, "shuffled-hiding-last", question,
                    lambda: walk(rng, question, counts, batch, diameter if known else width(rng)), alone(question))


def output(rng):
    """Noise on the last iterate only: positions of all orders, and a normal law about each."""
    counts = [rng.choice((1, 2, 5, 20, 100, 199))] if rng.random() < 0.5 else [1] * rng.randint(1, 5)
    question = Question(exp(rng.uniform(-1.8, 2.1)), contraction(rng, 0.999), sum(counts) + 1)  # that bound needs c < 1

    def make():
        diameter = width(rng) * max(1.0, question.size)
        own = records(rng, question.size, question.c, counts, diameter)
        return *released(own, rng.choice((0.0, 0.5, 1.0)) * diameter), f"others {counts}, D = {diameter:.4g}"

    mu = question.size * question.c ** np.arange(question.n)
    yield from told(rng, "output-perturbation-shuffled-hiding", question, make,
                    lambda e: definition.kept_apart(mu, e, np.full(len(mu), 1 / len(mu))))


def laplace(rng):
    """Laplace noise in every slot, on an interval."""
    counts = [rng.choice((1, 5, 20, 100, 400, 400, 800))] if rng.random() < 0.8 else [1] * rng.randint(1, 5)
    n = sum(counts) + 1
    diameter = max(0.2, 2 * log(n * exp(rng.uniform(-5.5, -1.5))))  # hiding begins where n is many times e^{D/2}
    question = Question(exp(rng.uniform(-1.5, 0.9)), contraction(rng, 1.0), n, diameter=diameter * SHARP)
    epsilons = [0.0, *(question.size * rng.random() for _ in range(EPSILONS - 1))]

    def make():
        own = records(rng, question.size, question.c, counts, diameter)
        return *Shuffled(LaplaceWalk(own, rng.choice((0.0, 0.5, 0.999)))).laws(), f"others {counts}"

    yield from told(rng, "shuffled-hiding-laplace", question, make, lambda e: laplace_alone(question, e), epsilons)


def laplace_alone(question, e):
    def theta(r):
        return -np.expm1(min(0.0, (e - r) / 2))

    m = np.arange(question.n)
    return float((theta(question.size) * theta(question.c * question.diameter) ** m).mean())


def straight(rng):
    """Linear losses without walls, of any length: a normal law against a mixture of its shifts, by thresholds.

    All other records pull alike, and so does one of the two differing ones; the other one moves the last iterate by
    size·c^m. """
    n = round(10 ** rng.uniform(0.4, 9))
    epochs, contracts = rng.choice((1, 1, 2, 10, 100)), rng.random() < 0.4
    slots = n if contracts or rng.random() < 0.6 else rng.randint(1, n - 1)
    question = Question(exp(rng.uniform(-2, 2.1)), 1 - 10 ** rng.uniform(-6, -0.3) if contracts else 1.0, n,
                        1 if contracts else epochs, slots)
    shifts, weights, deviation = straight_law(question)
    scale = float(shifts.max()) / deviation
    epsilons = [0.0, *(scale * exp(rng.uniform(-2, 2.5)) for _ in range(EPSILONS - 1))]
    for name in ("shuffled-hiding", "shuffled-hiding-last"):
        if name == "shuffled-hiding" and (question.epochs > 1 or slots < n):
            continue
        reported = promised(name, epsilons, question)
        for e, most in zip(epsilons, reported or (), strict=False):
            apart = exp(ask.reported("shuffled-iteration", e, question.setting())) if name == "shuffled-hiding" else inf
            for true in thresholds(shifts / deviation, weights, e):
                yield name, f"δ({e:.6g}), {question}, linear losses", true, most, apart


def straight_law(question):
    """Shifts of the last iterate, their weights, its deviation; late places one by one, others in blocks at their
    smallest shift."""
    n, c = question.n, question.c
    if c == 1:
        passes = np.array([question.epochs - 1.0, question.epochs])
        steps = (question.epochs - 1) * n + question.slots
        return question.size * passes, np.array([1 - question.slots / n, question.slots / n]), sqrt(steps)
    starts = np.unique(np.minimum(np.concatenate([np.arange(200),
                                                  np.geomspace(200, max(n, 201), 300).astype(np.int64)]), n))
    return question.size * c ** (starts[1:] - 1.0), np.diff(starts) / n, sqrt((1 - c ** (2.0 * n)) / (1 - c * c))


def thresholds(shifts, weights, epsilon):
    """sup over t of P(w > t) − e^ε Q(w > t), and of Q(w < t) − e^ε P(w < t), from below; P the mixture of the shifts of
    Q = N(0, 1)."""
    t = np.linspace(-9.0, 9.0 + shifts.max(), 200)
    beyond, below = ((weights[:, None] * ndtr(side * (shifts[:, None] - t))).sum(axis=0) for side in (1, -1))
    safe, g = 1 - 1e-9, exp(epsilon)
    return max(0.0, (beyond * safe - g * ndtr(-t)).max()), max(0.0, (ndtr(t) * safe - g * below).max())


def renyi(rng):
    """The Rényi divergence by the integral of the profile; not one of QUESTIONS, as it has no sum to be compared
    with."""
    counts, batch = crowd(rng, 60)
    diameter = width(rng)
    epochs = rng.choice((1, 1, 2, 5))
    question = Question(exp(rng.uniform(-1.8, 1.5)), contraction(rng, 1.0), (sum(counts) + 1) // batch, epochs,
                        diameter=diameter * SHARP)
    p, q, _ = walk(rng, question, counts, batch, diameter)
    for name in ("shuffled-hiding", "shuffled-hiding-last") if epochs == 1 else ("shuffled-hiding-last",):
        yield from ask.rdp(name, p, q, ask.orders(rng, 2, 2.0), question.setting(), function="rdp")


QUESTIONS = (one_pass, expanding, several_passes, output, laplace, straight)
GAUSSIAN = ("shuffled-hiding", "smooth-nonconvex-shuffled-hiding", "shuffled-hiding-last",
            "output-perturbation-shuffled-hiding")


def trials(family):
    """`family` as the search for broken bounds takes it."""
    @wraps(family)
    def drawn(rng):
        for *trial, _ in family(rng):
            yield tuple(trial)

    drawn.__name__ = f"hiding_{family.__name__}"
    return drawn


FAMILIES = (renyi, *map(trials, QUESTIONS))

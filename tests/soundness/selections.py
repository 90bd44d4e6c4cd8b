"""Selections by the exponential mechanism, by noisy scores and of keys, the sparse vector technique, and shuffled
reports, small enough to be enumerated."""

from collections import Counter
from itertools import permutations, product
from math import exp, log

import numpy as np
from selections_by_score import permute_and_flip

from dpcalc.accounting.mechanisms import MECHANISMS
from soundness import ask


def selection(rng):
    """The exponential mechanism: scores that change by at most Δ. Two candidates at the right odds are the worst."""
    eta, size = exp(rng.uniform(-3, 2)), rng.choice((2, 2, 3, 8))
    epsilon, alpha = eta * rng.random(), 1 + exp(rng.uniform(-3, 3))
    before = np.array([rng.uniform(-3, 3) * eta for _ in range(size)])
    change = np.array([rng.choice((-0.5, 0.5, rng.uniform(-0.5, 0.5))) * eta for _ in range(size)])
    if size == 2 and rng.random() < 0.7:  # the losses t and t − η, at the t that is worst for ε or for α
        ratio = np.expm1(-alpha * eta) / (np.expm1(-eta) - np.expm1(-alpha * eta))
        t = rng.choice(((eta + epsilon) / 2, log(-(1 - 1 / alpha) * ratio)))
        q = np.expm1(eta - t) / np.expm1(eta)
        before, change = np.array([log(q), log(1 - q)]), np.array([0.5, -0.5]) * eta
    p, q = (np.exp(u - u.max()) / np.exp(u - u.max()).sum() for u in (before + change, before))
    run = {"step_epsilon": eta}
    for name in ("exponential-exact", "exponential-profile"):
        yield from ask.profile(name, p, q, [0.0, epsilon, *(eta * rng.uniform(0, 1.1) for _ in range(4))], run)
    yield from ask.rdp("exponential-rdp", p, q, [alpha, *ask.orders(rng, 3)], run)


def noisy_max(rng):
    """The largest noisy score: permute-and-flip from its definition, and Laplace and Gumbel noise by quadrature."""
    b, size, noise = exp(rng.uniform(-1, 2)), rng.choice((2, 2, 3, 4, 5)), rng.choice((None, None, "laplace", "gumbel"))
    before, change, queries, each = _scores(rng, size)
    if size == 2 and rng.random() < 0.5:  # the scores that exponential noise is worst for at one ε
        t = each * rng.uniform(-1, 1) / 2
        before, change = np.array([each / 2 - t, 0.0]), np.array([-1.0, 1.0 if queries == "any" else 0.0])
    p, q = (permute_and_flip(u, b) if noise is None else _lists(u, b, 1, noise) for u in (before + change, before))
    run = {"step_epsilon": each / b}
    at = [0.0, *(each / b * rng.random() for _ in range(6))]
    yield from ask.profile("noisy-max-profile", p, q, at, run)
    yield from ask.rdp("noisy-max-rdp", p, q, ask.orders(rng), run)


def replaced_in_selections(rng):
    """Permute-and-flip on Poisson batches of which a record is replaced: its two values move the scores oppositely."""
    b, size, rate = exp(rng.uniform(-1, 2)), rng.choice((2, 2, 3, 4)), rng.choice((0.1, 0.5, 0.9, rng.uniform(0.01, 1)))
    scores, change, queries, each = _scores(rng, size)
    other = -change if queries == "any" else rng.random() * (1 - abs(change)) * np.sign(change.sum() + 0.1)
    alone, first, second = (permute_and_flip(u, b) for u in (scores, scores + change, scores + other))
    p, q = (1 - rate) * alone + rate * first, (1 - rate) * alone + rate * second
    step = MECHANISMS["permute-and-flip"].replaced({"step_epsilon": each / b}, rate)
    at = [0.0, *(2 * rate * each / b * rng.random() for _ in range(6))]
    yield from ask.profile("poisson-replace-one-comonotone", p, q, at, {"step_profile": step})


def top_k(rng):
    """The two largest noisy scores in their order, with each kind of noise."""
    b, size, k = exp(rng.uniform(-1, 2)), rng.choice((2, 3, 4)), rng.choice((1, 2, 2))
    before, change, queries, each = _scores(rng, size)
    if rng.random() < 0.5:  # winners that fall among candidates far below that rise
        before, change = 30 * b * (np.arange(size) < k), np.where(np.arange(size) < k, -1.0, float(queries == "any"))
    noise = rng.choice(("exponential", "laplace", "gumbel"))
    p, q = (_lists(u, b, k, noise) for u in (before + change, before))
    run = {"scale": b, "sensitivity": 1.0, "top_k": k, "queries": queries}
    at = [0.0, *(k * each / b * rng.random() for _ in range(4))]
    yield from ask.profile("one-shot-top-k-exact", p, q, at, {**run, "steps": 1})
    yield from ask.rdp("one-shot-top-k-rdp", p, q, ask.orders(rng), run)


def _scores(rng, size):
    """Scores, their changes, whether these are monotone, and how far two scores move apart at most."""
    queries, one = rng.choice(("any", "monotone")), rng.choice((-1.0, 1.0))
    moves = (0.0, one, one * rng.random()) if queries == "monotone" else (-1.0, 1.0, rng.uniform(-1, 1))
    return (np.array([rng.uniform(-3, 3) for _ in range(size)]), np.array([rng.choice(moves) for _ in range(size)]), queries,
            1.0 if queries == "monotone" else 2.0)


def _lists(scores, scale, k, noise):
    """The law of the first k <= 2 of the noisy scores, by quadrature over the last of these."""
    ends = np.unique(np.concatenate([scores, np.linspace(scores.min() - 45 * scale, scores.max() + 45 * scale, 400)]))
    t, w = np.polynomial.legendre.leggauss(12)
    half = np.diff(ends)[:, None] / 2
    z, weight = (ends[:-1, None] + half * (1 + t)).ravel(), (half * w).ravel()
    x = (z - scores[:, None]) / scale
    tail = np.exp(-abs(x))
    density, below = {"exponential": lambda: (np.where(x > 0, tail, 0.0), np.where(x > 0, 1 - tail, 0.0)),
                      "laplace": lambda: (tail / 2, np.where(x > 0, 1 - tail / 2, tail / 2)),
                      "gumbel": lambda: (np.exp(-x - np.exp(-x)), np.exp(-np.exp(-x)))}[noise]()
    found = []
    for chosen in permutations(range(len(scores)), k):
        others = [below[o] for o in range(len(scores)) if o not in chosen]
        first = 1 - below[chosen[0]] if k == 2 else 1.0
        found.append(float((weight * density[chosen[-1]] / scale * first * np.prod(others, axis=0)).sum()))
    return np.array(found)


def threshold(rng):
    """A few queries: the probabilities of all answers, by quadrature over the noise of the threshold."""
    b1, b2, hits = exp(rng.uniform(-1, 2)), exp(rng.uniform(-1, 2)), rng.choice((1, 2))
    count, queries = rng.choice((1, 3, 5)), rng.choice(("any", "monotone"))
    first = np.array([rng.choice((-20.0, 0.0, 20.0, rng.uniform(-4, 4))) for _ in range(count)])
    one = rng.choice((-1.0, 1.0))
    change = np.array([one if queries == "monotone" else rng.choice((-1.0, 1.0)) for _ in range(count)])
    p, q = _answers(first, b1, b2, hits), _answers(first + change, b1, b2, hits)
    run = {"threshold_scale": b1, "scale": b2, "sensitivity": 1.0, "hits": hits, "queries": queries}
    most = 1 / b1 + hits * (1 if queries == "monotone" else 2) / b2
    at = [0.0, *(most * rng.random() for _ in range(4))]
    yield from ask.profile("above-threshold-exact", p, q, at, {**run, "steps": 1})
    yield from ask.rdp("above-threshold-rdp", p, q, ask.orders(rng), run)


def _answers(queries, b1, b2, hits):
    """The probabilities of all sequences of answers, which end after the given number of answers above 0."""
    ends = np.unique(np.concatenate([[0.0], queries, np.linspace(-45 * b1, 45 * b1, 400)]))
    t, w = np.polynomial.legendre.leggauss(12)
    half = np.diff(ends)[:, None] / 2
    z, weight = (ends[:-1, None] + half * (1 + t)).ravel(), (half * w).ravel()
    weight = weight * np.exp(-abs(z) / b1) / (2 * b1)
    tails = np.exp(-abs(z - queries[:, None]) / b2) / 2
    below = np.where(z < queries[:, None], tails, 1 - tails)
    found = []
    for answers in product((0, 1), repeat=len(queries)):
        stop = next((k + 1 for k in range(len(answers)) if sum(answers[:k + 1]) == hits), len(answers))
        if any(answers[stop:]):
            continue
        parts = [1 - below[k] if answers[k] else below[k] for k in range(stop)]
        found.append(float((weight * np.prod(parts, axis=0)).sum()))
    return np.array(found)


def keys(rng):
    """Rules that keep a key of n people no more often than the inequalities allow, the one with the largest
    probabilities among them; and all sets of the keys of a person that this one publishes."""
    count, e, d = rng.choice((1, 2, 3)), exp(rng.uniform(-3, 1)), exp(rng.uniform(-9, -1))
    own = {"step_epsilon": e * count, "step_delta": d * count if d * count < 1 else 0.9, "max_keys": count}
    d, largest, one = own["step_delta"] / count, [0.0], 0.0
    for n in range(1, 30):
        one = rng.choice((1.0, 1.0, rng.random())) * min(exp(e) * one + d, 1 - exp(-e) * (1 - one - d), 1.0)
        largest.append(min(exp(e) * largest[-1] + d, 1 - exp(-e) * (1 - largest[-1] - d), 1.0))
        for kept in (one, largest[-1]):
            yield from ask.point("key-selection", "keep_probability", kept, **own, people=n)
    people = [rng.randint(0, 28) for _ in range(count)]
    p, q = ([float(np.prod(chances)) for chances in product(*((largest[n + more], 1 - largest[n + more]) for n in people))]
            for more in (1, 0))
    run = {"step_epsilon": e, "step_delta": d, "steps": count}
    yield from ask.profile("composition-optimal", p, q, [0.0, e / 2, e, *(e * count * rng.random() for _ in range(3))], run)


def shuffled(rng):
    """Histograms of a few reports of a random local randomiser; randomised response with equal others is a sharp
    case."""
    n, inputs, size = rng.choice((1, 2, 3, 5)), rng.choice((2, 3)), rng.choice((2, 3, 4))
    e0 = exp(rng.uniform(-2, 1.5))
    likely = np.array([[rng.choice((1.0, exp(e0), exp(e0 * rng.random()))) for _ in range(size)]
                       for _ in range(inputs)])
    if size == inputs == 2:
        likely = np.array([[exp(e0), 1.0], [1.0, exp(e0)]])
    rows = likely * np.array([rng.random() + 1e-3 for _ in range(size)]) if size > 2 else likely
    rows = rows / rows.sum(axis=1, keepdims=True)
    e0 = log(max((a / b).max() for a in rows for b in rows)) * (1 + 1e-14) + 1e-300
    others = [rows[rng.randrange(inputs)] for _ in range(n - 1)]
    first, second = (_histogram([rows[x], *others]) for x in (0, 1))
    p, q = (np.array([law[key] for key in first]) for law in (first, second))
    run = {"n": n, "step_epsilon": e0}
    for name in ("shuffled-ldp-exact", "shuffled-ldp-profile"):
        yield from ask.profile(name, p, q, [0.0, *(e0 * rng.random() for _ in range(4))], run)


def _histogram(rows):
    """The law of the counts of the reports."""
    law = {(0,) * len(rows[0]): 1.0}
    for row in rows:
        then = Counter()
        for counts, mass in law.items():
            for k, chance in enumerate(row):
                then[(*counts[:k], counts[k] + 1, *counts[k + 1:])] += mass * chance
        law = then
    return law


FAMILIES = (selection, noisy_max, replaced_in_selections, top_k, threshold, keys, shuffled)

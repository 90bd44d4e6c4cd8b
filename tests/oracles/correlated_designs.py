"""Random designs of correlated noise, and their sensitivity by trying every pattern of participation."""

from itertools import combinations, pairwise

import numpy as np
from draws import length, log_uniform

from dpcalc.bounds.correlated._engine.design import Design
from dpcalc.bounds.correlated._engine.strategies import NAMES, Strategy


def strategy(rng, n, signs=True, bands=None):
    """A strategy over n steps; of at most so many bands, where they are given."""
    most = bands or n
    name = rng.choice(("banded-sqrt", "listed", "independent") if bands else (*NAMES, "listed", "listed"))
    contraction = rng.choice((1.0, 1.0, rng.uniform(0.05, 1)))
    if name == "listed":
        low = -1.0 if signs and rng.random() < 0.7 else 0.0
        listed = [rng.choice((rng.uniform(low, 1), 0.0, 10 ** rng.uniform(-6, 0))) for _ in range(rng.randint(1, most))]
        if rng.random() < 0.3:
            listed = sorted(map(abs, listed), reverse=True)
        return Strategy("coefficients", listed=(rng.choice((1.0, 2.0, 0.3)), *listed[1:]), contraction=contraction)
    if name == "blt":
        count = rng.randint(1, 3)
        scales = tuple(rng.uniform(-0.5 if signs and rng.random() < 0.3 else 0, 0.6) for _ in range(count))
        return Strategy(name, scales=scales, decays=tuple(rng.uniform(0, 1) for _ in range(count)),
                        contraction=contraction)
    number = {"feedback": rng.choice((0.0, 1.0, rng.random())), "banded-sqrt": float(rng.randint(1, most)),
              "banded-inverse-sqrt": float(rng.randint(1, n + 2))}
    return Strategy(name, number.get(name, 0.0), contraction=contraction)


def design(rng, kind, most=60):
    """A design that the bound correlated-KIND covers."""
    n = length(rng, most)
    if kind == "once":
        return Design(strategy(rng, n), n)
    b = rng.randint(1, max(1, n // rng.choice((1, 2, 5))))
    k = rng.choice((None, rng.randint(1, n)))
    order = kind if kind == "cyclic" else rng.choice(("separated", "separated", "cyclic"))
    return Design(strategy(rng, n, bands=b if kind == "bands" else None), n, order, b, k)


def point(rng, kind):
    """The parameters of a bound, and an ε where δ is of ordinary size."""
    return {"design": design(rng, kind), "change": rng.choice((1.0, 2.0)), "sigma": log_uniform(rng, 0.3, 300),
            "epsilon": rng.choice((0.0, log_uniform(rng, 1e-3, 20)))}


def coefficients(strategy, n):
    """c_0, …, c_{n−1} by the definition of each strategy: recurrences, one number after the other."""
    c, name = [0.0] * n, strategy.name
    root = [1.0]
    for k in range(1, n):
        root.append(root[-1] * (2 * k - 1) / (2 * k))
    powers = strategy.contraction ** np.arange(n)
    if name == "coefficients":
        c[:len(strategy.listed)] = strategy.listed[:n]
    elif name == "blt":
        c = [1.0, *(sum(s * d ** (k - 1) for s, d in zip(strategy.scales, strategy.decays, strict=True))
                    for k in range(1, n))]
    elif name in ("independent", "feedback"):
        c = [(strategy.number if name == "feedback" else 0.0) ** k for k in range(n)]
    elif name == "banded-inverse-sqrt":
        w = [x / (1 - 2 * k) for k, x in enumerate(root)]
        c[0] = 1.0
        for k in range(1, n):
            c[k] = -sum(w[j] * c[k - j] for j in range(1, min(k, int(strategy.number) - 1) + 1))
        c = np.array(c) * powers
    else:
        c[:] = root if name == "square-root" else [x if k < strategy.number else 0.0 for k, x in enumerate(root)]
        c = np.array(c) * powers
    return np.array(c)


def matrix(design):
    """C itself."""
    n, c = design.steps, coefficients(design.strategy, design.steps)
    return np.array([[c[i - j] if i >= j else 0.0 for j in range(n)] for i in range(n)])


def patterns(design):
    """Every set of steps that one record may take part in."""
    n, b = design.steps, design.separation
    for size in range(1, design.participations + 1):
        for chosen in combinations(range(n), size):
            distances = [y - x for x, y in pairwise(chosen)]
            if all(d % b == 0 if design.order == "cyclic" else d >= b for d in distances):
                yield list(chosen)


def sensitivity(design, signs=True):
    """The largest norm of C x over all patterns; of changes x with any `signs`, by the sum of |X| over each pattern, or
    of equal changes."""
    gram = matrix(design).T @ matrix(design)
    gram = np.abs(gram) if signs else gram
    return max(gram[np.ix_(p, p)].sum() for p in patterns(design)) ** 0.5

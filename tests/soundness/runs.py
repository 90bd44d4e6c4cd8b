"""One pass of projected noisy SGD on a line: fixed, shuffled and stopped orders, streams, smooth losses, output
perturbation."""

from math import exp, sqrt

import chains
import numpy as np

from dpcalc.bounds.online._engine.levels import Listed
from dpcalc.bounds.pnsgd._engine.laws import LAWS
from soundness import ask
from soundness.mechanisms import cells, gaussian_pair, laplace_cdf, ndtr

FIXED = ("fixed-order", "fixed-order-iteration", "fixed-order-hybrid", "smooth-nonconvex-exact")
SHUFFLED = ("shuffled-contraction", "shuffled-iteration", "smooth-nonconvex-shuffled-exact")
STREAM = ("online-contraction", "online-iteration", "online-hybrid")
STOPPED = ("randomly-stopped", "randomly-stopped-loose")
CELLS = 300


class Losses:
    """On [0, D]: ρ/2·(w − D/2)² and a clipped parabola (β − ρ)/2·(w − a)² of slope at most what L leaves; a line for β
    = ρ = 0."""

    def __init__(self, rng, widest=20.0, most_step=1.0, curved=True):
        self.lipschitz = rng.choice((0.5, 1.0, 4.0))
        self.smoothness = rng.choice((0.0, exp(rng.uniform(-2, 1))))
        rho = rng.choice((0.0, self.smoothness * rng.random(), self.smoothness)) if curved else 0.0
        most = 2 / (self.smoothness + rho) if self.smoothness else 1.0
        self.learning_rate = most * min(most_step, rng.choice((1.0, rng.uniform(0.1, 1))))
        self.diameter = self.learning_rate * self.lipschitz * exp(rng.uniform(-1, 3))
        self.strong_convexity = min(rho, self.lipschitz / self.diameter)
        level = rng.choice((self.lipschitz, self.diameter / self.learning_rate)) * exp(rng.uniform(-1, 1.5))
        self.level = max(level, self.diameter / self.learning_rate / widest)
        self.slope = self.lipschitz - self.strong_convexity * self.diameter / 2
        self.start, self.others = rng.choice((0.0, 0.5, 1.0)) * self.diameter, rng.uniform(-0.5, 1.5) * self.diameter

    def gradient(self, y, centre):
        rest = self.smoothness - self.strong_convexity
        pull = np.clip(rest * (y - centre), -self.slope,
                       self.slope) if rest > 0 else np.full_like(y, np.sign(0.5 * self.diameter - centre) * self.slope)
        return self.strong_convexity * (y - self.diameter / 2) + pull

    def knots(self, *centres):
        rest = self.smoothness - self.strong_convexity
        return [c + side * self.slope / rest for c in centres for side in (-1, 1)] if rest > 0 else []

    def setting(self):
        return {k: getattr(self, k)
                for k in ("lipschitz", "diameter", "learning_rate", "smoothness", "strong_convexity")}


FAR = (1e7, -1e7)  # pulls right and left with all of L


def passes(losses, line, index, centre, levels):
    """The laws after every step of a pass, the differing record at `index`."""
    found, law = [], None
    for t, level in enumerate(levels, 1):
        at = np.array([losses.start]) if law is None else line.y
        mean = at - losses.learning_rate * losses.gradient(at, centre if t == index else losses.others)
        step = line.kernel(mean, losses.learning_rate * level)
        law = step[0] if law is None else law @ step
        found.append(law)
    return found


def gaussian_passes(rng):
    losses, n = Losses(rng), rng.randint(1, 6)
    constant = rng.random() < 0.5
    levels = [losses.level * (1.0 if constant else exp(rng.uniform(0, 1))) for _ in range(n)]
    line = chains.Line(0.0, losses.diameter, losses.learning_rate * min(levels), losses.knots(losses.others))
    laws = [[[line.cells(x) for x in passes(losses, line, i, centre, levels)] for centre in FAR]
            for i in range(1, n + 1)]
    setting = {**losses.setting(), "n": n, "law": LAWS["gaussian"], "level": losses.level,
               "levels": Listed(tuple(levels))}
    convex = {**setting, "strong_convexity": losses.strong_convexity}
    at = ask.epsilons(rng, losses.lipschitz / losses.level, 4)
    for i in range(1, n + 1):
        p, q = laws[i - 1][0][-1], laws[i - 1][1][-1]
        for name in (*(FIXED if constant else ()), *STREAM):
            yield from ask.profile(name, p, q, at, {**convex, "index": i})
        if constant:
            yield from ask.rdp("smooth-nonconvex", p, q, ask.orders(rng, 4), {**setting, "index": i})
            yield from ask.rdp("fixed-order-iteration-rdp", p, q, ask.orders(rng, 4), {**convex, "index": i})
            stopped = [sum(laws[i - 1][side]) / n for side in (0, 1)]
            yield from ask.profile("randomly-stopped", *stopped, at, {**convex, "index": i})
            yield from ask.profile("randomly-stopped-loose", *stopped, at, convex)
    if constant:
        mixed = [sum(laws[i][side][-1] for i in range(n)) / n for side in (0, 1)]
        for name in SHUFFLED:
            yield from ask.profile(name, *mixed, at, convex)
        yield from ask.rdp("shuffled-iteration-rdp", *mixed, ask.orders(rng, 4), convex)
        for name in ("smooth-nonconvex-shuffled", "smooth-nonconvex-high-noise"):
            yield from ask.rdp(name, *mixed, ask.orders(rng, 4, 1.0), setting)


def laplace_passes(rng):
    """Thresholds only. Both steps are monotone (ηβ <= 1): a walk that is moved down after each step lies below, one
    moved up above."""
    losses, n = Losses(rng, most_step=0.5), rng.randint(1, 6)
    edges = np.linspace(0.0, losses.diameter, CELLS + 1)
    above = {}
    for i in range(1, n + 1):
        for centre, moved in ((FAR[0], "down"), (FAR[1], "up")):
            law, found = None, []
            for t in range(1, n + 1):
                at = np.array([losses.start]) if law is None else np.concatenate([[0.0], edges[:-1] if moved == "down"
                                                                                  else edges[1:], [losses.diameter]])
                mean = at - losses.learning_rate * losses.gradient(at, centre if t == i else losses.others)
                tail = laplace_cdf((mean[:, None] - edges) / (losses.learning_rate * losses.level))  # P(w >= edge)
                row = -np.diff(np.concatenate([np.ones((len(mean), 1)), tail, np.zeros((len(mean), 1))], axis=1),
                               axis=1)
                law = row[0] if law is None else law @ row
                found.append(np.cumsum(law[::-1])[::-1][1:])
            above[i, moved] = found
    setting = {**losses.setting(), "n": n, "law": LAWS["laplace"], "level": losses.level,
               "levels": Listed((losses.level,) * n)}

    def trials(name, p, q, params):
        for epsilon in [0.0, *(2 * losses.lipschitz / losses.level * rng.random() for _ in range(3))]:
            x = ask.reported(name, epsilon, params)
            if x is not None:
                yield name, f"δ({epsilon:.6g})", float(max(0.0, (p - exp(epsilon) * q).max())), exp(x)

    for i in range(1, n + 1):
        for name in ("fixed-order", "online-contraction"):
            yield from trials(name, above[i, "down"][-1], above[i, "up"][-1], {**setting, "index": i})
        stopped = [sum(above[i, moved]) / n for moved in ("down", "up")]
        for name in STOPPED:
            yield from trials(name, *stopped, {**setting, "index": i})
    yield from trials("shuffled-contraction",
                      *(sum(above[i, moved][-1] for i in range(1, n + 1)) / n for moved in ("down", "up")), setting)


def smooth_passes(rng):
    """Losses that are not convex: the others' gradient is a wave of slope at most β, on a line without walls near."""
    n, beta, eta, lipschitz = rng.randint(1, 6), exp(rng.uniform(-3, 0.5)), exp(rng.uniform(-2, 0)), exp(rng.uniform(-1,
                                                                                                                     1))
    level = lipschitz * exp(rng.uniform(-0.5, 2))
    scale, phase = eta * level, rng.uniform(0, 6.3)
    reach = min(n * eta * lipschitz + 7 * scale * sqrt(n), 25 * scale)
    line = chains.Line(-reach, reach, min(scale, lipschitz / beta))
    laws = []
    for i in range(1, n + 1):
        both = []
        for side in (1, -1):
            law = None
            for t in range(1, n + 1):
                at = np.zeros(1) if law is None else line.y
                gradient = np.full_like(at, side * lipschitz) if t == i else lipschitz * np.sin(beta * at / lipschitz
                                                                                                + phase)
                step = line.kernel(at - eta * gradient, scale)
                law = step[0] if law is None else law @ step
            both.append(line.cells(law))
        laws.append(both)
    setting = {"level": level, "lipschitz": lipschitz, "learning_rate": eta, "smoothness": beta, "n": n}
    at = ask.epsilons(rng, lipschitz / level, 4)
    for i, (p, q) in enumerate(laws, 1):
        yield from ask.profile("smooth-nonconvex-exact", p, q, at, {**setting, "index": i})
        yield from ask.rdp("smooth-nonconvex", p, q, ask.orders(rng, 3), {**setting, "index": i})
    mixed = [sum(x[side] for x in laws) / n for side in (0, 1)]
    yield from ask.profile("smooth-nonconvex-shuffled-exact", *mixed, at, setting)
    for name in ("smooth-nonconvex-shuffled", "smooth-nonconvex-high-noise"):
        yield from ask.rdp(name, *mixed, ask.orders(rng, 3, 1.0), setting)


def output(rng):
    """Parabolas of curvature β about 0; the differing one has slope ∓L at 0, where the iterate is when it comes."""
    beta, n, lipschitz, level = exp(rng.uniform(-2, 1)), rng.randint(1, 8), exp(rng.uniform(-1, 1)), exp(rng.uniform(-2,
                                                                                                                     1))
    eta = rng.uniform(0.1, 1.9) / beta
    run = {"level": level, "lipschitz": lipschitz, "learning_rate": eta, "smoothness": beta, "strong_convexity": beta,
           "n": n}
    ends = [eta * lipschitz * (1 - eta * beta) ** (n - i) / level for i in range(1, n + 1)]
    for i, end in enumerate(ends, 1):
        p, q = gaussian_pair(rng, 2 * abs(end))
        yield from ask.profile("output-perturbation-exact", p, q, ask.epsilons(rng, abs(end), 3), {**run, "index": i})
        yield from ask.rdp("output-perturbation", p, q, ask.orders(rng, 3), {**run, "index": i})
    cuts = np.linspace(-6 - max(map(abs, ends)), 6 + max(map(abs, ends)), 200)
    p, q = (sum(cells(ndtr, cuts, side * e) for e in ends) / n for side in (1, -1))
    yield from ask.profile("output-perturbation-shuffled-exact", p, q, ask.epsilons(rng, 1.0, 4), run)
    yield from ask.rdp("output-perturbation-shuffled", p, q, ask.orders(rng, 4), run)


def unamplified(rng):
    """All iterates of E/τ passes of linear losses, each of which uses the record once."""
    count, tau, lipschitz = rng.randint(1, 20), rng.uniform(0.1, 0.95), exp(rng.uniform(-1, 1))
    level = lipschitz * 2 * exp(rng.uniform(0, 3))
    p, q = gaussian_pair(rng, sqrt(count) * 2 * lipschitz / level)
    run = {"level": level, "lipschitz": lipschitz, "n": 100, "tau": tau, "passes": count * tau}
    yield from ask.profile("without-replacement-unamplified", p, q, ask.epsilons(rng, 1.0), run)
    yield from ask.rdp("without-replacement-unamplified", p, q, ask.orders(rng), run, function="rdp")


FAMILIES = (gaussian_passes, laplace_passes, smooth_passes, output, unamplified)

"""Runs of noisy SGD on random batches, full batches, fixed orders and schedules."""

from math import exp

import chains
import numpy as np

from dpcalc.bounds.noisy_sgd import lower_bound
from soundness import ask
from soundness.runs import FAR, Losses

SMOOTH = "-nonconvex"  # the bounds of smooth losses


class Hills(Losses):
    """On [0, D]: −β/2·(w − a)², of slope at most L, or a wave of that slope and curvature; steps take iterates apart by
    1 + ηβ."""

    def __init__(self, rng, widest=12.0):
        super().__init__(rng, widest, curved=False)
        self.smoothness, self.wave = exp(rng.uniform(-2, 1)), rng.random() < 0.2
        self.learning_rate = exp(rng.uniform(-4, 0.7)) / self.smoothness
        self.diameter = self.learning_rate * self.lipschitz * exp(rng.uniform(-1, 3))
        level = rng.choice((self.lipschitz, self.diameter / self.learning_rate)) * exp(rng.uniform(-1, 1.5))
        self.level = max(level, self.diameter / self.learning_rate / widest)
        self.start = rng.choice((0.0, 0.5, 1.0)) * self.diameter
        self.others = rng.choice((self.start, rng.uniform(-0.5, 1.5) * self.diameter))

    def gradient(self, y, centre):
        if abs(centre) > 10 * self.diameter:
            return np.full_like(y, np.sign(centre) * self.lipschitz)
        angle = self.smoothness * (centre - y) / self.lipschitz
        return self.lipschitz * (np.sin(angle) if self.wave else np.clip(angle, -1, 1))

    def knots(self, *centres):
        return [c + side * self.lipschitz / self.smoothness for c in centres for side in (-1, 1)]

    def setting(self):
        return {k: v for k, v in super().setting().items() if k != "strong_convexity"}


def mean_after(losses, y, eta, batch_size, centre):
    """A batch of the others' losses, and of them with the differing record, whose pull is to `centre` (None: not in the
    batch)."""
    others = losses.gradient(y, losses.others)
    return y - eta * (others if centre is None else ((batch_size - 1) * others + losses.gradient(y, centre))
                      / batch_size)


def random_batches(rng, with_profile=False, losses=None, kind=""):
    n = rng.choice((1, 2, 5, 100))
    b = rng.choice((1, n, rng.randint(1, n)))
    losses, steps = losses or Losses(rng, widest=12.0), rng.choice((1, 2, 3, 8) if with_profile
                                                                   else (1, 2, 3, 8, 40, 1000))
    eta, rate = losses.learning_rate, b / n
    sigma = losses.level / rng.choice((1.0, b))
    sigma = max(sigma, losses.diameter / eta / 12)
    line = chains.Line(0.0, losses.diameter, eta * sigma, losses.knots(losses.others))
    laws = []
    for centre in FAR:
        def means(y, centre=centre):
            return [(share, mean_after(losses, y, eta, b, c)) for share,
                    c in ((1 - rate, None), (rate, centre)) if share > 0]

        laws.append(line.cells(chains.run(line, losses.start, means, eta * sigma, steps)))
    run = {**losses.setting(), "n": n, "batch_size": b, "iterations": steps, "sigma": sigma}
    at, alphas = ask.epsilons(rng, losses.lipschitz / b / sigma * min(steps, 10) ** 0.5, 5), ask.orders(rng, 6)
    for alpha in alphas:
        witness = ask.BOUNDS["burn-in-rdp" + kind].choices.search(alpha=alpha, **run)
        yield from ask.rdp("burn-in-rdp" + kind, *laws, [alpha], {**run, **witness})
    yield from ask.rdp("composition", *laws, alphas, run)
    if n == b:
        full = {**run, "period": 1, "last": 1}
        yield from iterated("iteration" + kind, laws, full, at, alphas)
    if not kind and (n == b or with_profile):
        yield from after_any_number(rng, laws, run, at[:3], alphas[:2])
    if with_profile:
        target = 10 ** rng.uniform(-6, -1)
        for name in ("composition-profile", "burn-in-profile" + kind):
            extra = {}
            if ask.BOUNDS[name].choices.search:
                try:
                    extra = ask.BOUNDS[name].choices.search(log_delta=float(np.log(target)), **run)
                except ask.OutOfScope:
                    continue
            yield from ask.inverse(name, *laws, [target], {**run, **extra})
            yield from ask.profile(name, *laws, at[1:2], {**run, **extra})


def after_any_number(rng, laws, run, at, alphas):
    """The bound that does not depend on the number of steps."""
    name, own = "burn-in-contraction", {k: run[k] for k in ask.BOUNDS["burn-in-contraction"].params}
    yield from ask.profile(name, *laws, at, own)
    yield from ask.inverse(name, *laws, [10 ** rng.uniform(-7, -0.3)], own)
    yield from ask.rdp(name, *laws, alphas, own, function="rdp")


def iterated(name, laws, run, at, alphas):
    own = {k: v for k, v in run.items() if k in ask.BOUNDS[name].params}
    own |= ask.BOUNDS[name].choices.search(**own)
    yield from ask.profile(name, *laws, at, own)
    yield from ask.rdp(name, *laws, alphas, own, function="rdp")


def composed(rng):
    yield from random_batches(rng, with_profile=True)


def changing_others(rng):
    """Others whose common slope changes during the run, up to three times, in units of the noise of a step: more is lost
    than with any single slope, and the proof of burn-in-contraction covers it."""
    width, b = exp(rng.uniform(0, 2.7)), rng.choice((100, 100, 10, 1))
    full = rng.random() < 0.8
    push = min(exp(rng.uniform(-3, 0.7)), 8 / width)  # of a record, from one end to the other
    line, rate = chains.Line(0.0, width, 1.0), 1.0 if full else b / 200
    phases = [(rng.uniform(-16, 16) / (2 * width), rng.choice((1, 3, 10, 30, 100, 1000)))
              for _ in range(rng.randint(1, 4))]
    start = rng.choice((0, -1, len(line.y) // 2))
    laws = []
    for kick in (push / 2, -push / 2):
        law = np.zeros(len(line.y))
        law[start] = 1.0
        for slope, steps in phases:
            drifted = line.y + slope
            law = chains.powered(law, rate * line.kernel(drifted + kick, 1.0)
                                 + ((1 - rate) * line.kernel(drifted, 1.0) if rate < 1 else 0.0), steps)
        laws.append(line.cells(law))
    run = {"n": b if full else 200, "batch_size": b, "iterations": sum(steps for _, steps in phases),
           "lipschitz": push * b / 2, "smoothness": 0.0, "strong_convexity": 0.0, "learning_rate": 1.0,
           "diameter": width, "sigma": 1.0}
    yield from after_any_number(rng, laws, run, ask.epsilons(rng, rate * push * width, 4), ask.orders(rng, 2, 2.0))


def known_order(rng, losses=None, kind=""):
    """The record is used at known steps; with a schedule, step sizes and noise differ too."""
    losses, steps, b = losses or Losses(rng, widest=12.0), rng.randint(1, 20), rng.randint(1, 4)
    scheduled = rng.random() < 0.5
    period = rng.randint(1, 5)
    last = rng.randint(1, period)
    etas = [losses.learning_rate * (rng.uniform(0.3, 1) if scheduled else 1.0) for _ in range(steps)]
    sigmas = [max(losses.level / b, losses.diameter / losses.learning_rate / 8)
              * (exp(rng.uniform(0, 1)) if scheduled else 1.0) for _ in range(steps)]
    uses = [rng.random() < 0.5 if scheduled else (steps - t) % period == last - 1 for t in range(1, steps + 1)]
    line = chains.Line(0.0, losses.diameter, min(e * s for e, s in zip(etas, sigmas, strict=True)),
                       losses.knots(losses.others))
    laws = []
    for centre in FAR:
        law = None
        for eta, sigma, used in zip(etas, sigmas, uses, strict=True):
            at = np.array([losses.start]) if law is None else line.y
            step = line.kernel(mean_after(losses, at, eta, b, centre if used else None), eta * sigma)
            law = step[0] if law is None else law @ step
        laws.append(line.cells(law))
    run = {**losses.setting(), "batch_size": b, "iterations": steps, "sigma": sigmas[0], "period": period, "last": last,
           "schedule": tuple(zip(etas, sigmas, uses, strict=True))}
    at = ask.epsilons(rng, losses.lipschitz / b / sigmas[0], 5)
    yield from iterated("iteration-schedule" + kind, laws, run, at, ask.orders(rng, 4))
    if not scheduled:
        yield from iterated("iteration" + kind, laws, run, at, ask.orders(rng, 4))


def hills_in_order(rng):
    yield from known_order(rng, Hills(rng), SMOOTH)


def hills_in_batches(rng):
    yield from random_batches(rng, losses=Hills(rng), kind=SMOOTH)


def hills_composed(rng):
    yield from random_batches(rng, True, Hills(rng), SMOOTH)


def large(rng):
    """Runs of any size, by the package's own lower bound, which is a proof
    (tests/bounds/noisy_sgd/test_lower_bound.py)."""
    n = round(10 ** rng.uniform(0, 6))
    b, beta, width = rng.randint(1, min(n, 1000)), exp(rng.uniform(-4, 1)), exp(rng.uniform(-1, 3.4))
    sigma, eta = exp(rng.uniform(-2, 2)) / b, rng.uniform(0.05, 1) * 2 / beta
    diameter = width * eta * sigma
    run = {"n": n, "batch_size": b, "iterations": rng.choice((1, 2, 5, 30, 300, 10**4, 10**7, 10**12)),
           "lipschitz": 1.0, "smoothness": beta,
           "strong_convexity": rng.choice((0.0, 0.0, min(beta, 2 / diameter) * rng.random())), "learning_rate": eta,
           "diameter": diameter, "sigma": sigma}
    for alpha in ask.orders(rng, 8):
        true = lower_bound.rdp(alpha, **run)
        for name in ("burn-in-rdp", "composition"):
            witness = ask.BOUNDS[name].choices.search(alpha, **run) if ask.BOUNDS[name].choices.search else {}
            yield name, f"D({alpha:.6g})", true, ask.reported(name, alpha, {**run, **witness})
        if n == b:
            own = {k: v for k, v in {**run, "period": 1, "last": 1}.items() if k in ask.BOUNDS["iteration"].params}
            yield "iteration", f"D({alpha:.6g})", true, ask.reported("iteration", alpha,
                                                                     own
                                                                     | ask.BOUNDS["iteration"].choices.search(**own),
                                                                     function="rdp")


FAMILIES = (random_batches, composed, changing_others, known_order, hills_in_order, hills_in_batches, hills_composed, large)

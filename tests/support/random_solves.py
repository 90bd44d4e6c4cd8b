"""Random runs as people describe them, of every command that solves, with one parameter to be solved for."""

from __future__ import annotations

import random
from collections.abc import Callable
from math import exp, log
from typing import Any, NamedTuple


class Run(NamedTuple):
    """A run: a command with all its options; `unknown` is one of them, and `safer` the direction in which it loses less
    privacy."""

    command: str
    said: dict[str, Any]
    unknown: str
    safer: int

    @property
    def rest(self) -> dict[str, Any]:
        return {name: x for name, x in self.said.items() if name != self.unknown}


SAFER = {"sigma": 1, "scale": 1, "noise_multiplier": 1, "n": 1, "c1": 1, "steps": -1, "epochs": -1, "batch_size": -1,
         "sampling_rate": -1,
         "max_weight": -1, "sensitivity": -1, "probability": -1, "mu": -1, "rho": -1}
COUNTS = frozenset({"steps", "epochs", "n", "batch_size"})


def drawn(rng: random.Random, low: float, high: float) -> float:
    """Log-uniform, with four digits."""
    return float(f"{exp(rng.uniform(log(low), log(high))):.4g}")


def count(rng: random.Random, low: float, high: float) -> int:
    return max(int(low), round(drawn(rng, low, high)))


def _rdp(r: random.Random) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    mechanism = r.choice(("gaussian", "laplace", "randomized-response"))
    steps = r.choice((1, count(r, 1, 1e4)))
    if mechanism == "gaussian":
        return "rdp", {"sigma": drawn(r, 0.3, 200), "sensitivity": drawn(r, 0.5, 2), "steps": steps}, ("sigma", "steps",
                                                                                                       "sensitivity")
    if mechanism == "laplace":
        return "rdp", {"mechanism": mechanism, "scale": drawn(r, 0.5, 100), "steps": steps}, ("scale", "steps")
    return "rdp", {"mechanism": mechanism, "probability": r.uniform(0.51, 0.95),
                   "steps": min(steps, 100)}, ("probability", "steps")


def _subsample(r: random.Random) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    scheme = r.choice(("poisson", "poisson", "without-replacement", "weighted"))
    sigma, steps = drawn(r, 0.5, 20), r.choice((1, count(r, 1, 1e5)))
    if scheme == "weighted":
        return "subsample", {"scheme": scheme, "max_weight": drawn(r, 1e-5, 0.1), "sigma": max(2.0, sigma),
                             "steps": steps}, (
            "sigma", "steps", "max_weight")
    if r.random() < 0.5:
        n = count(r, 500, 1e7)
        said = {"scheme": scheme, "n": n, "batch_size": count(r, 1, n / 10), "noise_multiplier": sigma,
                "epochs": count(r, 1, 100)}
        return "subsample", said, ("noise_multiplier", "epochs")
    said = {"scheme": scheme, "sampling_rate": drawn(r, 1e-5, 0.2), "sigma": sigma, "steps": steps}
    return "subsample", said, ("sigma", "steps", "sampling_rate")


def _convert(r: random.Random) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    if r.random() < 0.5:
        return "convert", {"from": "gdp", "mu": drawn(r, 0.01, 5), "steps": count(r, 1, 100)}, ("mu", "steps")
    return "convert", {"from": "zcdp", "rho": drawn(r, 1e-4, 5), "steps": count(r, 1, 100)}, ("rho", "steps")


def _passes(r: random.Random) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    said = {"lipschitz": drawn(r, 0.5, 30), "smoothness": drawn(r, 0.05, 2), "learning_rate": drawn(r, 1e-3, 0.5),
            "diameter": drawn(r, 0.1, 5),
            "n": count(r, 50, 1e7), "epochs": r.choice((1, 1, count(r, 2, 300)))}
    if r.random() < 0.3:
        said["strong_convexity"] = said["smoothness"] * drawn(r, 0.01, 0.9)
    if r.random() < 0.3:
        said["index"] = count(r, 1, said["n"])
    if r.random() < 0.25:
        return "shuffle-pnsgd", {**said, "noise": "laplace", "scale": said["lipschitz"] * drawn(r, 0.1, 3)}, ("scale",
                                                                                                              "epochs")
    return "shuffle-pnsgd", {**said, "sigma": said["lipschitz"] * drawn(r, 0.05, 3)}, ("sigma", "epochs", "n")


def _burn_in(r: random.Random) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    n = count(r, 100, 1e5)
    said = {"lipschitz": drawn(r, 0.5, 3), "smoothness": drawn(r, 0.1, 2), "learning_rate": drawn(r, 1e-3, 0.5),
            "diameter": drawn(r, 0.1, 3),
            "n": n, "batch_size": count(r, 1, n / 5), "steps": count(r, 1, 1e5), "sigma": drawn(r, 0.01, 10)}
    return "burn-in", said, ("sigma", "steps")


def _feedback(r: random.Random) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    said = {"lipschitz": 1.0, "curvature": drawn(r, 0.1, 2), "learning_rate": drawn(r, 1e-3, 0.5),
            "steps": count(r, 2, 1e4),
            "sigma": drawn(r, 0.05, 5)}
    if said["steps"] % 2:
        said |= {"feedback": r.random(), "release": r.choice(("last-iterate", "every-iterate"))}
    return "noise-feedback", said, ("sigma",)


def _correlated(r: random.Random) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    steps = count(r, 1, 1e4)
    said = {"steps": steps, "strategy": r.choice(("square-root", "feedback:0.7", "banded-sqrt:5", "independent")),
            "sigma": drawn(r, 0.5, 100)}
    if r.random() < 0.7:
        said |= {"separation": count(r, 1, steps), "order": r.choice(("separated", "cyclic"))}
    return "correlated", said, ("sigma",)


def _online(r: random.Random) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    n = count(r, 10, 1e6)
    said = {"lipschitz": drawn(r, 0.5, 5), "smoothness": drawn(r, 0.05, 1), "learning_rate": drawn(r, 1e-3, 0.5),
            "diameter": drawn(r, 0.5, 3),
            "n": n, "index": count(r, 1, n), "c1": drawn(r, 1e-3, 1), "c2": 2.0, "decay": drawn(r, 1.1, 3)}
    return "online-noise", said, ("c1",)


def _total_variation(r: random.Random) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    if r.random() < 0.5:
        return "tv", {"mechanism": "laplace", "scale": drawn(r, 0.5, 100), "steps": count(r, 1, 50)}, ("scale", "steps")
    return "tv", {"sigma": drawn(r, 0.5, 100), "steps": count(r, 1, 1000)}, ("sigma", "steps")


def _compare(r: random.Random) -> tuple[str, dict[str, Any], tuple[str, ...]]:
    n = count(r, 500, 1e6)
    said = {"batches": r.choice(("poisson", "without-replacement")), "n": n, "batch_size": count(r, 1, n / 10),
            "epochs": count(r, 1, 30),
            "noise_multiplier": drawn(r, 0.5, 10)}
    return "compare", said, ("noise_multiplier",)


KINDS: dict[str, Callable[[random.Random], tuple[str, dict[str, Any], tuple[str, ...]]]] = {
    "rdp": _rdp, "subsample": _subsample, "convert": _convert, "shuffle-pnsgd": _passes, "burn-in": _burn_in,
    "noise-feedback": _feedback, "correlated": _correlated,
    "online-noise": _online, "tv": _total_variation, "compare": _compare}


def run(kind: str, number: int) -> tuple[Run, float]:
    """A random run of a command, the same one for every number, and a δ."""
    rng = random.Random(f"{kind} {number}")
    command, said, unknowns = KINDS[kind](rng)
    unknown = rng.choice(unknowns)
    return Run(command, said, unknown, SAFER[unknown]), drawn(rng, 1e-10, 1e-4)

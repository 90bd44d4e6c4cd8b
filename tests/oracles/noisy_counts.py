"""Random releases of noisy values by key, for the accuracy of their bounds and the crossings of mechanisms."""

from draws import log_uniform

NOISES = ("gaussian", "laplace", "discrete-gaussian", "discrete-laplace")


def release(rng, is_short=False):
    """A thresholded release: a few keys most often; the threshold lies near c, or in the tail of the noise. A short one
    is composed in some milliseconds."""
    noise = rng.choice(NOISES)
    is_discrete = noise.startswith("discrete")
    level = log_uniform(rng, 0.2, 20 if noise == "discrete-gaussian" else 1e3)
    c = float(rng.randint(1, 5)) if is_discrete else log_uniform(rng, 1e-2, 1e2) * min(level, 10)
    k, people = rng.choice((1, 1, 2, 3, rng.randint(1, 20), 100)), rng.choice((1, 1, 2))
    if is_short and noise != "gaussian":
        k, people = min(k, 2 if noise == "discrete-laplace" else 1), 1
    tau = c + level * rng.choice((rng.uniform(-1, 3), rng.uniform(0, 15), log_uniform(rng, 1, 30)))
    tau = max(tau, 1e-9)
    return {"noise": noise, "noise_level": level, "per_key": c, "max_keys": k, "contributors": people,
            "threshold": float(max(round(tau), 1)) if is_discrete else tau}


def threshold(rng, is_short=False):
    """The same with an ε of its profile."""
    own = release(rng, is_short)
    ratio = own["per_key"] / own["noise_level"]
    moved = own["max_keys"] * own["contributors"]
    most = ratio * moved if own["noise"].endswith("laplace") else min(ratio * moved**0.5 * (ratio * moved**0.5 / 2 + 8), 50)
    return {**own, "epsilon": rng.choice((0.0, most * rng.random(), most * rng.random() ** 3, 1.1 * most))}


def size(rng):
    """The size of additive noise: a probability near 0, near 1, or between."""
    noise = rng.choice(NOISES)
    level = log_uniform(rng, 0.05, 50 if noise == "discrete-gaussian" else 1e6)
    p = rng.choice((rng.uniform(0.01, 0.99), 1 - log_uniform(rng, 1e-12, 0.5), log_uniform(rng, 1e-9, 0.5)))
    return {"noise": noise, "noise_level": level, "accuracy": min(max(p, 1e-12), 1 - 1e-15),
            "answers": rng.choice((1, 1, rng.randint(2, 100), 10**6))}

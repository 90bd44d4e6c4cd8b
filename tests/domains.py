"""For each bound, random parameters over its whole domain: half linear, half log, ends included."""

import random
from math import exp, log

from dpcalc.bounds import curve
from dpcalc.bounds.mechanisms import gaussian_rdp, laplace_rdp, randomized_response_rdp


def log_uniform(rng, low, high):
    return exp(rng.uniform(log(low), log(high)))


def spread(rng, low, high):
    """An end, a linear or a logarithmic draw."""
    pick = rng.random()
    if pick < 0.05:
        return rng.choice((low, high))
    return rng.uniform(low, high) if pick < 0.3 else log_uniform(rng, low, high)


def alpha(rng, high=1e4):
    return 1 + log_uniform(rng, 1e-10, high)


def whole_alpha(rng):
    return float(rng.choice((2, 3, 4, 8, 32, rng.randint(2, 60))))


def steps(rng, high=1e9):
    return max(1, round(log_uniform(rng, 1, high)))


def delta(rng):
    return rng.choice((0.0, 1e-300, log_uniform(rng, 1e-30, 0.5), rng.random() * 0.99))


def base(rng):
    kind = rng.randrange(3)
    if kind == 0:
        return curve.of(gaussian_rdp.BOUND, sigma=log_uniform(rng, 0.3, 100), sensitivity=1.0)
    if kind == 1:
        v = log_uniform(rng, 0.1, 100)
        return curve.of(laplace_rdp.BOUND, 1 / v, scale=v, sensitivity=1.0)
    p = rng.uniform(0.5, 0.99)
    return curve.of(randomized_response_rdp.BOUND, log(p / (1 - p)) * (1 + 1e-14), probability=p)


def outcomes(rng):
    n = rng.randint(2, 6)
    pair = []
    for _ in range(2):
        weights = [rng.random() ** 3 + 1e-6 for _ in range(n)]
        pair.append(tuple(w / sum(weights) for w in weights))
    return {"p": pair[0], "q": pair[1]}


def gaussian_profile(rng):
    r, s, t = log_uniform(rng, 1e-13, 100), log_uniform(rng, 1e-2, 1e2), steps(rng)
    near = rng.uniform(-6, 25) if r < 12 or rng.random() < 0.8 else rng.uniform(-30, 40)
    return {"sigma": s * t**0.5 / r, "sensitivity": s, "steps": t, "epsilon": max(0.0, r * (r / 2 + near), r * (r / 2 - 30))}


def gdp_profile(rng):
    p = gaussian_profile(rng)
    return {"mu": p["sensitivity"] / p["sigma"], "steps": p["steps"], "epsilon": p["epsilon"]}


def laplace_profile(rng):
    v, s = log_uniform(rng, 1e-3, 1e6), log_uniform(rng, 1e-2, 1e2)
    return {"scale": v, "sensitivity": s, "epsilon": rng.choice((0.0, s / v * rng.random(), s / v * 2))}


def composition(rng):
    e, k = log_uniform(rng, 1e-6, 20), steps(rng, 300)
    return {"step_epsilon": e, "step_delta": delta(rng), "steps": k, "epsilon": rng.random() * 1.1 * k * e}


def sgd(rng, iterations=None):
    """A run of noisy SGD with η <= 2/β, and a valid choice of R and σ1."""
    n = max(1, round(log_uniform(rng, 1, 1e6)))
    b = max(1, min(n, round(log_uniform(rng, 1, n))))
    t = iterations or steps(rng, 1e9)
    beta, sigma = log_uniform(rng, 1e-3, 1e2), log_uniform(rng, 0.05, 50) / b
    eta = rng.choice((2 / beta * rng.random(), 2 / beta * 0.001, min(1.0, 2 / beta)))
    rho = rng.choice((0.0, beta * rng.random(), beta * log_uniform(rng, 1e-9, 1)))
    r = max(1, min(t, round(log_uniform(rng, 1, t))))
    return {"n": n, "batch_size": b, "iterations": t, "lipschitz": log_uniform(rng, 0.1, 10), "smoothness": beta, "strong_convexity": rho,
            "learning_rate": eta, "diameter": log_uniform(rng, 1e-2, 1e2), "sigma": sigma, "r": r,
            "sigma1": 0.0 if r == t else sigma * rng.choice((0.7, rng.uniform(0.01, 0.999)))}


def sampled_steps(rng):
    p = sgd(rng)
    return {k: p[k] for k in ("n", "batch_size", "iterations", "lipschitz", "sigma")}


def one_sgd_step(rng, *without):
    """T = 1, at an ε where the profile is of ordinary size."""
    p = {**sgd(rng, 1), "epsilon": rng.choice((0.0, log_uniform(rng, 1e-3, 1.0)))}
    p["sigma"] = 2 * p["lipschitz"] / p["batch_size"] * log_uniform(rng, 0.3, 3)
    return {k: v for k, v in p.items() if k not in without}


def deterministic_order(rng):
    p = sgd(rng, rng.randint(1, 60))
    period = rng.choice((1, 1, 2, 5))
    last = rng.randint(1, period)
    p |= {"period": period, "last": last, "epsilon": 1.0}
    from dpcalc.bounds.noisy_sgd import iteration

    own = {k: p[k] for k in iteration.BOUND.params}
    mu = iteration.mu(**own, r=p["r"])
    return {**own, "r": p["r"], "epsilon": max(0.0, mu * (mu / 2 + rng.uniform(-3, 6)))}


def scheduled(rng):
    p = sgd(rng, 1)
    t = rng.randint(1, 30)
    steps_ = tuple((p["learning_rate"] * rng.uniform(0.1, 1), p["sigma"] * log_uniform(rng, 0.3, 3), rng.random() < 0.6 or k == t - 1) for k in range(t))
    return {**{k: p[k] for k in ("batch_size", "lipschitz", "smoothness", "strong_convexity", "diameter")}, "schedule": steps_,
            "r": rng.randint(1, t), "epsilon": log_uniform(rng, 1e-2, 3)}


def affine(rng):
    g = rng.choice((0.0, 1.0, 1 + log_uniform(rng, 1e-3, 0.999), log_uniform(rng, 1e-6, 1)))
    eta, t = log_uniform(rng, 1e-3, 1), steps(rng, 1e4)
    p = {"curvature": g / eta, "learning_rate": eta, "sigma": log_uniform(rng, 0.1, 10), "iterations": t, "lipschitz": log_uniform(rng, 0.1, 10),
         "index": max(1, t - rng.choice((0, 0, 1, 3)))}
    return {**p, "epsilon": log_uniform(rng, 1e-2, 3)}


DRAW = {
    "gaussian-rdp": lambda r: {"alpha": alpha(r), "sigma": spread(r, 1e-6, 1e6), "sensitivity": spread(r, 1e-6, 1e6)},
    "gaussian-exact": gaussian_profile,
    "gaussian-classic": lambda r: {**gaussian_profile(r), "epsilon": r.uniform(1e-6, 0.999)},
    "laplace-rdp": lambda r: {"alpha": alpha(r), "scale": spread(r, 1e-2, 1e6), "sensitivity": spread(r, 1e-2, 1e2)},
    "laplace-exact": laplace_profile,
    "randomized-response-rdp": lambda r: {"alpha": alpha(r), "probability": r.choice((0.5 + log_uniform(r, 1e-9, 0.4), r.random() * 0.999 + 1e-6,
                                                                                    1 - log_uniform(r, 1e-12, 0.1)))},
    "randomized-response-exact": lambda r: {"probability": r.uniform(0.51, 0.99), "steps": steps(r, 100), "epsilon": r.uniform(0, 3)},
    "rdp-mironov": lambda r: {"alpha": alpha(r), "rdp": spread(r, 1e-9, 1e4), "delta": log_uniform(r, 1e-300, 0.9)},
    "rdp-improved": lambda r: {"alpha": alpha(r), "rdp": spread(r, 1e-9, 1e4), "delta": log_uniform(r, 1e-300, 0.9)},
    "rdp-optimal": lambda r: {"alpha": 1 + log_uniform(r, 0.1, 100), "rdp": spread(r, 1e-2, 30), "delta": log_uniform(r, 1e-15, 0.9)},
    "gdp-exact": gdp_profile,
    "gdp-rdp": lambda r: {"alpha": alpha(r), "mu": spread(r, 1e-9, 1e6)},
    "zcdp-rdp": lambda r: {"alpha": alpha(r), "rho": spread(r, 1e-9, 1e6)},
    "pure-rdp": lambda r: {"alpha": alpha(r), "step_epsilon": spread(r, 1e-6, 50)},
    "pure-gdp": lambda r: {"step_epsilon": spread(r, 1e-9, 150), "steps": steps(r)},
    "dp-tv": lambda r: {"step_epsilon": spread(r, 1e-9, 500), "step_delta": delta(r)},
    "composition-basic": composition,
    "composition-advanced": composition,
    "composition-optimal": composition,
    "outcomes-exact": lambda r: {**outcomes(r), "epsilon": r.uniform(0, 3)},
    "outcomes-rdp": lambda r: {**outcomes(r), "alpha": 1 + log_uniform(r, 1e-2, 1e3)},
    "rdp-curve": lambda r: {"alpha": r.choice((2.0, 3.5, 1.5, 8.0)), "alphas": (2.0, 4.0, 8.0), "rdps": (0.1, 0.3, r.uniform(0.3, 9))},
    "rdp-composition": lambda r: {"alpha": alpha(r), "parts": ((base(r), steps(r)), (base(r), 3))},
    "poisson-rdp": lambda r: {"alpha": r.choice((whole_alpha(r), 1 + log_uniform(r, 1e-4, 30))), "noise_multiplier": log_uniform(r, 0.05, 1e3),
                              "sampling_rate": r.choice((1.0, 0.999, log_uniform(r, 1e-10, 1)))},
    "wor-rdp": lambda r: {"alpha": whole_alpha(r), "sampling_rate": log_uniform(r, 1e-9, 1), "base": base(r)},
    "weighted-rdp": lambda r: {"alpha": whole_alpha(r), "max_weight": log_uniform(r, 1e-9, 1), "base": base(r)},
    "composition": lambda r: {"alpha": 1 + log_uniform(r, 1e-2, 30), **sampled_steps(r)},
    "composition-profile": lambda r: one_sgd_step(r, "smoothness", "strong_convexity", "learning_rate", "diameter", "r", "sigma1"),
    "burn-in-rdp": lambda r: {"alpha": 1 + log_uniform(r, 1e-2, 30), **sgd(r)},
    "burn-in-profile": one_sgd_step,
    "iteration": deterministic_order,
    "iteration-schedule": scheduled,
    "burn-in-as-published": lambda r: {"alpha": 1 + log_uniform(r, 1e-2, 10), **sgd(r)},
    "lower-bound": lambda r: one_sgd_step(r, "r", "sigma1"),
    "noise-feedback": affine,
    "without-feedback": affine,
    "amplification": lambda r: {"step_epsilon": r.choice((0.0, log_uniform(r, 1e-10, 5000))), "step_delta": delta(r),
                                "sampling_rate": log_uniform(r, 1e-9, 1)},
}


def points(name, count, seed=0):
    rng = random.Random(f"{name}{seed}")
    return [DRAW[name](rng) for _ in range(count)]

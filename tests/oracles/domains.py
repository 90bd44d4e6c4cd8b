"""For each bound, random parameters over its whole domain: half linear, half log, ends included."""

import random
from fractions import Fraction
from math import expm1, inf, log, log10

import attacks
import correlated_designs
import noisy_counts
import selected_runs
from compositions import composed
from draws import alpha, delta, length, log_uniform, spread, steps, whole_alpha

from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.bounds import curve
from dpcalc.bounds.conversions import filters, zcdp
from dpcalc.bounds.hiding import output_perturbation_shuffled_hiding, smooth_nonconvex_shuffled_hiding
from dpcalc.bounds.mechanisms import key_selection
from dpcalc.bounds.noisy_sgd import burn_in_contraction
from dpcalc.bounds.online import online_hybrid
from dpcalc.bounds.online._engine.levels import Listed, schedule
from dpcalc.bounds.pnsgd import fixed_order_hybrid
from dpcalc.bounds.pnsgd._engine.laws import GAUSSIAN, LAPLACE, LAWS
from dpcalc.bounds.sampling import poisson_rdp_closed

PARAMETERS = {
    "gaussian": lambda rng: {"sigma": log_uniform(rng, 0.2, 100), "sensitivity": 1.0},
    "laplace": lambda rng: {"scale": log_uniform(rng, 0.1, 100), "sensitivity": 1.0},
    "randomized-response": lambda rng: {"probability": rng.uniform(0.5, 0.99)},
    "discrete-gaussian": lambda rng: {"sigma": log_uniform(rng, 0.2, 30), "sensitivity": float(rng.randint(1, 3))},
    "discrete-laplace": lambda rng: {"scale": log_uniform(rng, 0.1, 100), "sensitivity": float(rng.randint(1, 9))},
    "k-randomized-response": lambda rng: {"step_epsilon": log_uniform(rng, 1e-3, 10), "categories": rng.randint(2, 99)},
    "unary": lambda rng: bits(rng),
    "optimized-unary": lambda rng: {"step_epsilon": log_uniform(rng, 1e-3, 10)},
    "exponential": lambda rng: {"step_epsilon": log_uniform(rng, 1e-3, 10)},
    "permute-and-flip": lambda rng: {"step_epsilon": log_uniform(rng, 1e-3, 10)},
    "report-noisy-max": lambda rng: noisy_scores(rng),
    "noisy-max-gumbel": lambda rng: noisy_scores(rng),
    "one-shot-top-k": lambda rng: {**noisy_scores(rng), "top_k": rng.randint(1, 5)},
    "above-threshold": lambda rng: {"threshold_scale": log_uniform(rng, 0.5, 100), "scale": log_uniform(rng, 0.5, 100),
                                    "sensitivity": 1.0, "hits": rng.randint(1, 4),
                                    "queries": rng.choice(("any", "monotone"))},
}


def bits(rng):
    """Two probabilities q <= p, in places nearly equal."""
    p = rng.choice((0.5, rng.uniform(0.01, 0.99), 1 - log_uniform(rng, 1e-9, 0.1)))
    return {"probability": p, "flip_probability": p * rng.choice((rng.uniform(0.01, 1), 1 - log_uniform(rng, 1e-9, 0.9)))}


def discrete_noise(rng, name, low, high):
    """Noise on the integers, and an ε up to a little above the largest loss, or within 40 standard deviations."""
    level, s = log_uniform(rng, low, high), float(rng.choice((1, 1, 2, 3, rng.randint(1, 60))))
    most = s / level * (1.1 if name == "scale" else 40) + (0 if name == "scale" else (s / level) ** 2)
    return {name: level, "sensitivity": s, "epsilon": rng.choice((0.0, most * rng.random(), most * rng.random() ** 4))}


def report(rng, parameters, pure):
    """A report of a respondent, and an ε up to a little above its largest loss."""
    return {**parameters, "epsilon": rng.choice((0.0, pure * rng.random() * 1.1))}


def k_report(rng):
    e = log_uniform(rng, 1e-6, 50)
    return report(rng, {"step_epsilon": e, "categories": rng.choice((2, 3, rng.randint(2, 10**6)))}, e)


def bits_report(rng):
    own = bits(rng)
    p, q = own.values()
    return report(rng, own, log(p / (1 - p)) - log(q / (1 - q)))


def kept_keys(rng):
    """A selection, and a number of people of which a key is surely dropped, surely kept, or in between."""
    e, d, k = spread(rng, 1e-9, 900), rng.choice((delta(rng), rng.random())), steps(rng, 1e6)
    own = {"step_epsilon": e, "step_delta": d or 1e-9, "max_keys": k}
    m = min(key_selection.growing_steps(**own), 10**15)
    return {**own, "people": max(1, rng.choice((steps(rng, 50), m, m + 1, round(m * rng.uniform(0, 2.2)), 2 * m - 1)))}


def selection(rng):
    e = spread(rng, 1e-9, 600)
    return report(rng, {"step_epsilon": e}, e)


def selections(rng):
    e, k = log_uniform(rng, 1e-3, 10), steps(rng, 40)
    return {"step_epsilon": e, "steps": k, "epsilon": rng.random() * 0.8 * e}


def noisy_scores(rng):
    return {"scale": log_uniform(rng, 0.5, 100), "sensitivity": 1.0, "queries": rng.choice(("any", "monotone"))}


def top_k(rng):
    """The k largest noisy scores, and an ε up to a little above the largest loss."""
    s, b, k, steps_ = log_uniform(rng, 1e-2, 1e2), log_uniform(rng, 1e-1, 1e6), rng.randint(1, 50), steps(rng, 100)
    own = {"scale": s * b * k, "sensitivity": s, "top_k": k, "queries": rng.choice(("any", "monotone"))}
    return {**report(rng, own, steps_ * 2 / b), "steps": steps_}


def thresholds(rng):
    """A run of the sparse vector technique, and an ε up to a little above its largest loss."""
    s, b1, b2, c = log_uniform(rng, 1e-2, 1e2), *(log_uniform(rng, 1e-1, 1e6) for _ in range(2)), rng.randint(1, 50)
    own = {"threshold_scale": s * b1, "scale": s * b2 * c, "sensitivity": s, "hits": c,
           "queries": rng.choice(("any", "monotone"))}
    steps_ = steps(rng, 100)
    return {**report(rng, own, steps_ * (1 / b1 + 2 / b2)), "steps": steps_}


def shuffled_reports(rng, most):
    e = spread(rng, 1e-6, 30)
    return report(rng, {"n": length(rng, most), "step_epsilon": e}, e)


def without_epsilon(parameters, rng):
    return {**{k: v for k, v in parameters.items() if k not in ("epsilon", "steps")}, "alpha": alpha(rng)}


def mechanism(rng):
    """A mechanism and parameters of one use, each mechanism with random numbers of its own: one that is added to
    PARAMETERS changes no draw but those that it wins."""
    seed = rng.random()
    own = {name: random.Random(f"{name} {seed}") for name in PARAMETERS}
    name = min(PARAMETERS, key=lambda name: own[name].random())
    return MECHANISMS[name], PARAMETERS[name](own[name])


def base(rng):
    """The RDP curve of one use of a mechanism."""
    record, values = mechanism(rng)
    return record.curve(values)


def profile(rng):
    """The privacy profile of one use of a mechanism."""
    record, values = mechanism(rng)
    return record.profile(values)


def replaced_step(rng):
    """The privacy profile of one step on a Poisson batch with a record replaced, and an ε at which δ is 0, or a
    double."""
    while True:
        record, values = mechanism(rng)
        epsilon, rate = rng.choice((0.0, log_uniform(rng, 1e-6, 20))), rng.choice((0.999, log_uniform(rng, 1e-9, 0.999)))
        if record.replaced is not None:
            found = record.replaced(values, rate)
            if not -inf < found.log_delta(epsilon) < -700:
                return {"epsilon": epsilon, "step_profile": found}


def covered_by_the_closed_form(rng):
    """A sampling rate and noise of Lemma 2.12 of Altschuler & Talwar 2022, and an order up to a little below its α*."""
    q, z = rng.choice((0.1999, log_uniform(rng, 1e-9, 0.1999))), rng.choice((4.0, log_uniform(rng, 4, 1e4)))
    share = rng.choice((1 - 1e-9, rng.uniform(1e-9, 0.999), log_uniform(rng, 1e-9, 0.999)))
    return {"alpha": 1 + (poisson_rdp_closed.largest_order(z, q) - 1) * share, "noise_multiplier": z,
            "sampling_rate": q}


def mixture(rng):
    """RDP at one order of a few mechanisms, of which some may lose nothing, and weights that may be tiny."""
    n = rng.randint(1, 5)
    weights = [rng.choice((rng.random(), log_uniform(rng, 1e-300, 1))) for _ in range(n)]
    return {"rdps": tuple(rng.choice((0.0, log_uniform(rng, 1e-12, 1e3))) for _ in range(n)),
            "weights": tuple(w / sum(weights) for w in weights)}


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
    return {"sigma": s * t**0.5 / r, "sensitivity": s, "steps": t,
            "epsilon": max(0.0, r * (r / 2 + near), r * (r / 2 - 30))}


def shuffled_profile(rng):
    p = gaussian_profile(rng)
    return {"noise_multiplier": p["sigma"] / p["sensitivity"], "epochs": p["steps"], "epsilon": p["epsilon"]}


def shuffled_below(rng):
    """One epoch of one batch; a record is left out with a probability below 1/2."""
    z = log_uniform(rng, 0.05, 100)
    return {"sigma": z, "sensitivity": rng.choice((1.0, 2.0)), "steps_per_epoch": 1,
            "dropped": rng.choice((0.0, log_uniform(rng, 1e-9, 0.49))), "whole_epochs": 1,
            "epsilon": rng.choice((0.0, spread(rng, 1e-6, 3) / z))}


def two_batches_below(rng):
    """One epoch of two batches."""
    z = log_uniform(rng, 0.6, 50)
    return {"sigma": z, "sensitivity": 1.0, "steps_per_epoch": 2, "dropped": rng.choice((0.0, rng.random() / 3)),
            "whole_epochs": 1, "tail": 1e-14, "epsilon": rng.choice((0.0, rng.random())) * 2 / z}


def one_shuffled_epoch(rng, sigma):
    return {"noise_of_record": sigma, "replaced": False, "group_size": 1, "tail": 1e-16,
            "epsilon": rng.choice((0.0, rng.random(), rng.random())) * (2 / sigma + 0.5 / sigma**2)}


def one_or_two_batches(rng):
    """An epoch of one or two steps that leaves out records."""
    b, t = rng.choice((2, 3, 100)), rng.choice((1, 2))
    return {**one_shuffled_epoch(rng, log_uniform(rng, 0.5, 50)), "n": t * b + rng.randint(1, b - 1), "batch_size": b,
            "drop_last": True, "replaced": rng.choice((False, True)), "whole_epochs": 1, "unfinished": 0}


def two_equal_batches(rng):
    b = rng.choice((1, 3, 100))
    return {**one_shuffled_epoch(rng, log_uniform(rng, 0.5, 50)), "n": 2 * b, "batch_size": b, "drop_last": False,
            "replaced": rng.choice((False, True)), "clipped": True, "whole_epochs": 1, "unfinished": 0}


def one_batch_in_one_order(rng):
    b, sigma = rng.choice((2, 3, 100)), log_uniform(rng, 2, 50)
    return {**one_shuffled_epoch(rng, sigma), "epsilon": rng.uniform(0.1, 1) / sigma, "n": b + rng.randint(1, b - 1), "batch_size": b,
            "drop_last": True, "epochs": 1}


def total_variation(rng):
    name = rng.choice([name for name in PARAMETERS if MECHANISMS[name].tv.ratio])
    return {"mechanism": name, "ratio": spread(rng, 1e-13, 100), "steps": steps(rng) if name == "gaussian" else 1}


def gdp_profile(rng):
    p = gaussian_profile(rng)
    return {"mu": p["sensitivity"] / p["sigma"], "steps": p["steps"], "epsilon": p["epsilon"]}


def laplace_profile(rng):
    v, s = log_uniform(rng, 1e-3, 1e6), log_uniform(rng, 1e-2, 1e2)
    return {"scale": v, "sensitivity": s, "epsilon": rng.choice((0.0, s / v * rng.random(), s / v * 2))}


def truncated_batches(rng):
    """q from 1e-4 to 1, and a maximal batch size from one record to beyond n, most often near the mean."""
    n, rate = max(2, round(log_uniform(rng, 2, 1e5))), rng.choice((1.0, log_uniform(rng, 1e-4, 1), rng.uniform(1e-4, 1)))
    spread = (n * rate * (1 - rate) + 1) ** 0.5
    most = rng.choice((rng.randint(1, n), round(n * rate + spread * rng.uniform(-5, 35)), n))
    return {"n": n, "sampling_rate": rate, "max_batch_size": max(1, min(most, n + 1)),
            "noise_multiplier": log_uniform(rng, 0.1, 100), "epsilon": rng.choice((0.0, log_uniform(rng, 1e-6, 20))),
            "replaced": rng.random() < 0.5}


def drawn_with_replacement(rng):
    """b from 1 to 1e4 draws of a record, up to five of them on average, from up to 1e9 records."""
    b = round(log_uniform(rng, 1, 1e4))
    return {"n": max(1, -(-b // 5), round(rng.choice((b, 1)) * log_uniform(rng, 0.2, 1e5))), "batch_size": b,
            "noise_multiplier": log_uniform(rng, 0.05, 1e3), "replaced": rng.random() < 0.5,
            "epsilon": rng.choice((0.0, log_uniform(rng, 1e-6, 20)))}


def few_draws(rng):
    """Up to four draws, at an ε that is not beyond all losses."""
    z = log_uniform(rng, 0.2, 50)
    return {**drawn_with_replacement(rng), "n": round(log_uniform(rng, 1, 100)), "batch_size": rng.randint(1, 4),
            "noise_multiplier": z, "epsilon": rng.choice((0.0, rng.random())) / z}


def allocation(rng):
    """An epoch of two steps, at which δ is an integral, down to δ of about 1e-8."""
    sigma = log_uniform(rng, 0.2, 50)
    return {"noise_multiplier": sigma, "steps_per_epoch": 2, "participations": 1, "tail": 1e-16,
            "epsilon": rng.choice((0.0, rng.random(), rng.random())) * (4 / sigma + 0.5 / sigma**2)}


def replaced_allocation(rng):
    """An epoch of one or two steps, at which δ is that of Gaussian noise, down to δ of about 1e-8."""
    sigma, steps = log_uniform(rng, 0.2, 50), rng.choice((1, 2))
    return {"noise_multiplier": sigma, "steps_per_epoch": steps, "participations": 1, "tail": 1e-16,
            "epsilon": rng.choice((0.0, rng.random(), rng.random())) * (8 / sigma + 2 / sigma**2)}


def composition(rng):
    e, k = log_uniform(rng, 1e-6, 20), steps(rng, 300)
    return {"step_epsilon": e, "step_delta": delta(rng), "steps": k, "epsilon": rng.random() * 1.1 * k * e}


def releases(rng):
    """(ε, δ) of some releases, and an ε near their sum."""
    points = tuple((log_uniform(rng, 1e-6, 20), rng.choice((0.0, delta(rng))), steps(rng, 300))
                   for _ in range(rng.randint(1, 5)))
    return {"points": points, "epsilon": rng.choice((rng.random() * 1.1, 1.0)) * sum(e * k for e, _, k in points)}


def known_points(rng):
    """Some (ε, δ) of one record, and an ε near that of a group."""
    points = tuple((rng.choice((0.0, log_uniform(rng, 1e-9, 20))), rng.choice((0.0, delta(rng))))
                   for _ in range(rng.randint(1, 4)))
    size = rng.choice((1, 2, 3, round(log_uniform(rng, 1, 1000))))
    return {"profile_points": points, "group_size": size,
            "epsilon": rng.choice((rng.random() * 1.1, 1.0)) * size * max(e for e, _ in points)}


def pure_releases(rng):
    return {"points": tuple((e, 0.0, k) for e, _, k in releases(rng)["points"])}


def gaussian_releases(rng):
    return {"mus": tuple((spread(rng, 1e-6, 50), spread(rng, 1e-2, 1e3), steps(rng)) for _ in range(rng.randint(0, 3))),
            "pure": tuple((min(e, 100.0), 0.0, k) for e, _, k in releases(rng)["points"])}


def kept_filter(rng, squares):
    """A filter with the budget of a random (ε, δ), and releases of random divergences, decimals and pure ε."""
    epsilon, reserve, log_delta = log_uniform(rng, 1e-2, 20), rng.choice((0.0, 1e-7)), log(log_uniform(rng, 1e-30, 0.1))
    order = rng.choice((filters.best_order(epsilon, log_delta), 1 + log_uniform(rng, 1, 1e3)))
    curves = [filters.of_curve(curve.of_bound(zcdp.RDP, rho=log_uniform(rng, 1e-6, 10)), order),
              filters.of_number(Fraction(rng.randint(1, 99), 100))]
    of_squares = [filters.of_gaussian(round(rng.random(), 2), 1.0), filters.of_pure(log_uniform(rng, 1e-3, 5))]
    charges = tuple((rng.choice(of_squares if squares else curves), steps(rng)) for _ in range(rng.randint(1, 4)))
    found = {"most_epsilon": epsilon, "reserve": reserve, "charges": charges}
    if squares:
        return {**found, "most_mu": filters.largest_mu(epsilon, log_delta)}
    return {**found, "order": order, "rdp_budget": max(0.0, filters.budget(order, epsilon, log_delta))}


def concentrated_releases(rng):
    def term():
        a, b = spread(rng, 1e-9, 1e3), spread(rng, 1e-3, 1e6)
        return rng.choice((((a,), ()), ((a, a), (2.0,)), ((a, a), (8.0,)), ((a, a), (2.0, b, b))))

    return {"terms": tuple((*term(), steps(rng)) for _ in range(rng.randint(1, 4)))}


def contraction(rng):
    """L, D, η, β, ρ with η <= 2/(β+ρ), ends included, and a noise level near the larger of L and D/η, or far from
    both."""
    beta = rng.choice((0.0, log_uniform(rng, 1e-3, 1e2)))
    rho = rng.choice((0.0, beta, beta * rng.random(), beta * log_uniform(rng, 1e-9, 1)))
    most = 2 / (beta + rho) if beta else 100.0
    eta = min(most * rng.choice((1.0, rng.random(), log_uniform(rng, 1e-6, 1))), 100.0)
    lipschitz, diameter = log_uniform(rng, 1e-2, 1e2), log_uniform(rng, 1e-2, 1e2)
    level = max(rng.choice((lipschitz, diameter / eta)) * log_uniform(rng, 0.05, 50), diameter / eta / 90)
    return {"level": level, "lipschitz": lipschitz, "diameter": diameter, "learning_rate": eta, "smoothness": beta,
            "strong_convexity": rho}


def a_run(rng, most, *drop, laws=(), index=False):
    p = contraction(rng)
    n = length(rng, most)
    if not laws:  # c^n stays above e^{−50}, so that doubles hold it
        p["strong_convexity"] = min(p["strong_convexity"], -expm1(-50 / n) / p["learning_rate"])
    ratio = 2 * p["lipschitz"] / p["level"]
    if not laws and ratio > 6:  # and the profile is not flat in ε over the range of doubles
        p["level"], ratio = p["lipschitz"] / 3, 6.0
    p |= {"n": n, "epsilon": rng.choice((0.0, min(ratio * log_uniform(rng, 0.02, 8), 8 * ratio)))}
    if laws:
        p["law"] = rng.choice(laws)
        if p["law"] is LAPLACE:
            p["epsilon"] = rng.choice((0.0, ratio * rng.random(), ratio * 2))
    if index:
        p["index"] = rng.choice((1, n, rng.randint(1, n)))
    return {k: v for k, v in p.items() if k not in drop}


def with_or_without_set(rng, p):
    """A run on a set of some diameter, or on none."""
    return p if rng.random() < 0.5 else {**p, "diameter": None}


def without(p, *names):
    return {k: v for k, v in p.items() if k not in names}


def several_passes(rng, p):
    """Some passes, the last one whole or not."""
    return {**p, "iterations": p["n"] * rng.randint(1, 30) - rng.choice((0, rng.randrange(p["n"])))}


def a_stream(rng, most, *drop, law=None, listed=None):
    p = contraction(rng)
    level, n = p.pop("level"), length(rng, most)
    p["strong_convexity"] = min(p["strong_convexity"], -expm1(-50 / n) / p["learning_rate"])
    law = law or rng.choice((GAUSSIAN, LAPLACE))
    p |= {"law": law, "n": n, "index": rng.randint(1, n), "epsilon": rng.choice((0.0, log_uniform(rng, 1e-2, 2)))}
    if listed or (listed is None and rng.random() < 0.5) or p["learning_rate"] * p["strong_convexity"] > 0.9:
        p["levels"] = Listed(tuple(level * log_uniform(rng, 0.3, 3) for _ in range(n)))
    else:
        p["levels"] = schedule(law.name,
                               *(p[k] for k in ("diameter", "learning_rate", "smoothness", "strong_convexity")),
                               log_uniform(rng, 1, 1e4), log_uniform(rng, 3, 300), 1 + log_uniform(rng, 1e-2, 2))
    return {k: v for k, v in p.items() if k not in drop}


def within(draw, bound, least=-1e9):
    """A draw at which log δ is not astronomically small: there the oracle needs as many digits."""
    p = draw()
    while not bound.value(**p) > least:
        p = draw()
    return p


def a_limit(rng):
    p = a_stream(rng, 300, "n", listed=False)
    while isinstance(p["levels"], Listed):
        p = a_stream(rng, 300, "n", listed=False)
    p["levels"] = p["levels"]._replace(decay=1.2 + rng.random())
    return {**p, "epsilon": 0.0}


def smooth(rng, most, index=False):
    p = {"level": log_uniform(rng, 0.3, 100), "lipschitz": log_uniform(rng, 0.1, 10),
         "learning_rate": log_uniform(rng, 1e-6, 1),
         "smoothness": rng.choice((0.0, log_uniform(rng, 1e-4, 10))), "n": length(rng, most)}
    return p | ({"index": rng.randint(1, p["n"])} if index else {})


def high_noise(rng):
    p = smooth(rng, 2000)
    a = 1 + log_uniform(rng, 1e-3, 20)
    return {**p, "alpha": a, "level": p["lipschitz"] * (2 * a * (a - 1)) ** 0.5 * (1 + log_uniform(rng, 1e-9, 10))}


def output(rng, most, index=False):
    beta = log_uniform(rng, 1e-2, 10)
    rho = beta * rng.choice((rng.uniform(0.01, 1), log_uniform(rng, 1e-12, 1), 1.0))
    # c = 1 − ρ/β, or what rounding leaves of 0
    rate = rng.choice((rng.uniform(0.05, 0.95) * 2 / (beta + rho), 1 / beta, 1 / beta))
    p = {"level": log_uniform(rng, 0.01, 10), "lipschitz": log_uniform(rng, 0.1, 10), "learning_rate": rate,
         "smoothness": beta,
         "strong_convexity": rho, "n": length(rng, most)}
    far = 1 + round(log_uniform(rng, 1, 40 / (rate * rho)))
    # ratios from 1e-100 on
    later = min(rng.choice((rng.randint(0, 30), far)), int(100 / max(-log10(max(1 - rate * rho, 1e-17)), 1e-300)))
    return p | ({"index": max(1, p["n"] - later)} if index else {})


def partial(rng, constant=True):
    lipschitz = log_uniform(rng, 0.1, 10)
    p = {"lipschitz": lipschitz, "level": lipschitz * 2 * (1 + log_uniform(rng, 1e-9, 10)),
         "n": max(2, length(rng, 3000)),
         "tau": rng.uniform(0.01, 0.99), "passes": steps(rng, 1e3)}
    return p | ({"constant": rng.uniform(16, 100)} if constant else {})


BOTH = tuple(LAWS.values())


def sgd(rng, iterations=None):
    """A run of noisy SGD with η <= 2/β, and a valid choice of R and σ1."""
    n = max(1, round(log_uniform(rng, 1, 1e6)))
    b = max(1, min(n, round(log_uniform(rng, 1, n))))
    t = iterations or steps(rng, 1e9)
    beta, sigma = log_uniform(rng, 1e-3, 1e2), log_uniform(rng, 0.05, 50) / b
    eta = rng.choice((2 / beta * rng.random(), 2 / beta * 0.001, min(1.0, 2 / beta)))
    rho = rng.choice((0.0, beta * rng.random(), beta * log_uniform(rng, 1e-9, 1)))
    r = max(1, min(t, round(log_uniform(rng, 1, t))))
    return {"n": n, "batch_size": b, "iterations": t, "lipschitz": log_uniform(rng, 0.1, 10), "smoothness": beta,
            "strong_convexity": rho,
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


def bounded_sgd(rng):
    """A run in a set of diameter D on full batches, or in so small a set that every window is one step."""
    p = {k: v for k, v in sgd(rng).items() if k in burn_in_contraction.BOUND.params}
    if rng.random() < 0.6:
        p["batch_size"], width = p["n"], log_uniform(rng, 1e-3, 1e3)
        push = log_uniform(rng, 1e-6, 1) * min(4, 60 / width)
    else:  # Δ² < 1.5 rounds to one step; a push below 1 leaves out delayed hiding, which has no closed form
        width, push = log_uniform(rng, 1e-3, 1.2), log_uniform(rng, 1e-4, 0.999)
        p["strong_convexity"] = 0.0  # for which windows are longer
    p["sigma"] = 2 * p["lipschitz"] / p["batch_size"] / push
    p["diameter"] = width * p["learning_rate"] * p["sigma"]
    scale = push * p["batch_size"] / p["n"] * max(1, width)
    return {**p, "epsilon": rng.choice((0.0, scale * log_uniform(rng, 0.02, 5), scale * rng.random()))}


def smooth_sgd(rng, p):
    """The same without convexity: steps of any size, and linear losses."""
    p["learning_rate"] *= rng.choice((1.0, log_uniform(rng, 1e-2, 30)))
    p["smoothness"] *= rng.choice((0.0, 1.0, 1.0, log_uniform(rng, 1e-9, 1)))
    noise = 1 + p["learning_rate"] * p["smoothness"]  # as a step expands the distance at the start
    return {k: v * noise if k in ("sigma", "sigma1") else v for k, v in p.items() if k != "strong_convexity"}


def deterministic_order(rng, convex=True):
    from dpcalc.bounds.noisy_sgd import iteration, nonconvex

    p = sgd(rng, rng.randint(1, 60))
    bound = iteration.BOUND if convex else nonconvex.ITERATION
    p = p if convex else smooth_sgd(rng, p)
    period = rng.choice((1, 1, 2, 5))
    own = {k: v for k, v in {**p, "period": period, "last": rng.randint(1, period)}.items() if k in bound.params}
    mu = bound.mu.mu(**own, r=p["r"])
    if mu > 2e4:  # steps that expand leave nothing hidden
        return deterministic_order(rng, convex)
    return {**own, "r": p["r"], "epsilon": max(0.0, mu * (mu / 2 + rng.uniform(-3, 6)))}


def scheduled(rng, convex=True):
    p = sgd(rng, 1)
    p = p if convex else smooth_sgd(rng, p)
    t = rng.randint(1, 30)
    steps_ = tuple((p["learning_rate"] * rng.uniform(0.1, 1), p["sigma"] * log_uniform(rng, 0.3, 3),
                    rng.random() < 0.6 or k == t - 1) for k in range(t))
    return {**{k: p[k] for k in ("batch_size", "lipschitz", "smoothness", "strong_convexity", "diameter") if k in p},
            "schedule": steps_,
            "r": rng.randint(1, t), "epsilon": log_uniform(rng, 1e-2, 3)}


def curvatures(rng, eta, largest=2.0):
    """One or a few, so that γa is 0, 1, or below `largest`."""
    return tuple(rng.choice((0.0, 1.0, log_uniform(rng, 1e-3, 0.999 * largest), log_uniform(rng, 1e-6, 1))) / eta
                 for _ in range(rng.choice((1, 1, 2, 4))))


def uses(rng, t):
    """The steps that use the record: one of the last ones, whose μ mpmath can hold, and often some others."""
    last = max(1, t - rng.choice((0, 0, 1, 3)))
    return tuple(sorted({last, *(rng.randint(1, t) for _ in range(rng.choice((0, 0, 4, 11))))}))


def fed_back(rng):
    """A run with noise feedback, whatever the loss."""
    t = steps(rng, 1e4)
    return {"feedback": rng.choice((0.0, 1.0, rng.random(), 1 - log_uniform(rng, 1e-15, 1))),
            "learning_rate": log_uniform(rng, 1e-3, 1), "sigma": log_uniform(rng, 0.1, 10), "iterations": t,
            "lipschitz": log_uniform(rng, 0.1, 10), "uses": uses(rng, t), "epsilon": log_uniform(rng, 1e-2, 3)}


def affine(rng):
    p = fed_back(rng)
    return {"curvatures": curvatures(rng, p["learning_rate"]), **p}


DRAW = {
    "gaussian-rdp": lambda r: {"alpha": alpha(r), "sigma": spread(r, 1e-6, 1e6), "sensitivity": spread(r, 1e-6, 1e6)},
    "gaussian-exact": gaussian_profile,
    "gaussian-classic": lambda r: {**gaussian_profile(r), "epsilon": r.uniform(1e-6, 0.999)},
    "laplace-rdp": lambda r: {"alpha": alpha(r), "scale": spread(r, 1e-2, 1e6), "sensitivity": spread(r, 1e-2, 1e2)},
    "laplace-exact": laplace_profile,
    "laplace-profile": laplace_profile,
    "randomized-response-rdp": lambda r: {"alpha": alpha(r), "probability": r.choice((0.5 + log_uniform(r, 1e-9, 0.4),
                                                                                      r.random() * 0.999 + 1e-6,
                                                                                      1 - log_uniform(r, 1e-12, 0.1)))},
    "discrete-gaussian-exact": lambda r: discrete_noise(r, "sigma", 0.02, 30),
    "discrete-gaussian-rdp": lambda r: without_epsilon(discrete_noise(r, "sigma", 0.02, 300), r),
    "discrete-laplace-exact": lambda r: discrete_noise(r, "scale", 0.02, 1e6),
    "discrete-laplace-rdp": lambda r: without_epsilon(discrete_noise(r, "scale", 0.02, 1e6), r),
    "k-randomized-response-exact": k_report,
    "k-randomized-response-rdp": lambda r: without_epsilon(k_report(r), r),
    "exponential-exact": selection,
    "exponential-profile": selection,
    "exponential-rdp": lambda r: without_epsilon(selection(r), r),
    "exponential-lower": selections,
    "noisy-max-profile": selection, "noisy-max-rdp": lambda r: without_epsilon(selection(r), r),
    "one-shot-top-k-exact": top_k, "one-shot-top-k-rdp": lambda r: without_epsilon(top_k(r), r),
    "above-threshold-exact": thresholds,
    "above-threshold-rdp": lambda r: without_epsilon(thresholds(r), r),
    "noise-accuracy": noisy_counts.size,
    "threshold-profile": noisy_counts.threshold, "threshold-simple": noisy_counts.threshold,
    "threshold-composed": lambda r: noisy_counts.threshold(r, is_short=True),
    "key-selection": kept_keys,
    "shuffled-ldp-exact": lambda r: shuffled_reports(r, 500),
    "shuffled-ldp-profile": lambda r: shuffled_reports(r, 20),
    "shuffled-ldp-lower": lambda r: shuffled_reports(r, 500),
    "unary-exact": bits_report,
    "unary-rdp": lambda r: without_epsilon(bits_report(r), r),
    "randomized-response-exact": lambda r: {"probability": r.uniform(0.51, 0.99), "steps": steps(r, 100),
                                            "epsilon": r.uniform(0, 3)},
    "rdp-mironov": lambda r: {"alpha": alpha(r), "rdp": spread(r, 1e-9, 1e4), "delta": log_uniform(r, 1e-300, 0.9)},
    "rdp-improved": lambda r: {"alpha": alpha(r), "rdp": spread(r, 1e-9, 1e4), "delta": log_uniform(r, 1e-300, 0.9)},
    "rdp-optimal": lambda r: {"alpha": 1 + log_uniform(r, *r.choice(((1e-9, 100), (0.1, 100)))),
                              "rdp": r.choice((spread(r, 1e-22, 30), spread(r, 1e-2, 30))),
                              "delta": r.choice((log_uniform(r, 1e-15, 0.9), r.uniform(1e-9, 0.99)))},
    "gdp-exact": gdp_profile,
    "gdp-rdp": lambda r: {"alpha": alpha(r), "mu": spread(r, 1e-9, 1e6)},
    "zcdp-rdp": lambda r: {"alpha": alpha(r), "rho": spread(r, 1e-9, 1e6)},
    "pure-rdp": lambda r: {"alpha": alpha(r), "step_epsilon": spread(r, 1e-6, 50)},
    "pure-gdp": lambda r: {"step_epsilon": spread(r, 1e-9, 150), "steps": steps(r)},
    "tv-exact": total_variation,
    "tv-pinsker": lambda r: {"ratio": spread(r, 1e-13, 1e3), "steps": steps(r)},
    "tv-laplace-as-published": lambda r: {"scale": spread(r, 1e-9, 1e12), "sensitivity": spread(r, 1e-6, 1e6)},
    "tv-product": lambda r: {"step_tv": r.choice((0.0, 1.0, log_uniform(r, 1e-30, 1.0), r.random())),
                             "steps": steps(r)},
    "audit-counts": attacks.of_counts, "audit-gdp": attacks.of_gaussian_counts, "audit-one-run": attacks.of_one_run,
    "tv-kl": lambda r: {"kl": r.choice((0.0, log_uniform(r, 1e-30, 1e3))), "steps": steps(r)},
    "tv-rdp": lambda r: {"alpha": 1 + log_uniform(r, 1e-9, 1e5), "rdp": r.choice((0.0, log_uniform(r, 1e-30, 1e3)))},
    "dp-tv": lambda r: {"step_epsilon": spread(r, 1e-9, 500), "step_delta": delta(r)},
    "composition-basic": releases,
    "pure-zcdp": pure_releases,
    "bounded-range-zcdp": pure_releases,
    "gdp-composition": gaussian_releases,
    "zcdp-sum": concentrated_releases,
    "adaptive-rdp-filter": lambda r: kept_filter(r, False),
    "adaptive-gdp-filter": lambda r: kept_filter(r, True),
    "gdp-zcdp": lambda r: {"mu": spread(r, 1e-9, 150), "steps": steps(r)},
    "zcdp-composition": lambda r: {"rho": spread(r, 1e-9, 1e6), "steps": steps(r)},
    "composition-advanced": composition,
    "composition-optimal": composition,
    "outcomes-exact": lambda r: {**outcomes(r), "epsilon": r.uniform(0, 3)},
    "outcomes-rdp": lambda r: {**outcomes(r), "alpha": 1 + log_uniform(r, 1e-2, 1e3)},
    "rdp-curve": lambda r: {"alpha": r.choice((2.0, 3.5, 1.5, 8.0)), "alphas": (2.0, 4.0, 8.0),
                            "rdps": (0.1, 0.3, r.uniform(0.3, 9))},
    "rdp-composition": lambda r: {"alpha": alpha(r), "parts": ((base(r), steps(r)), (base(r), 3))},
    "rdp-mixture": lambda r: {"alpha": alpha(r), **mixture(r)},
    "poisson-rdp": lambda r: {"alpha": r.choice((whole_alpha(r), 1 + log_uniform(r, 1e-4, 30))),
                              "noise_multiplier": log_uniform(r, 0.05, 1e3),
                              "sampling_rate": r.choice((1.0, 0.999, log_uniform(r, 1e-10, 1)))},
    "poisson-rdp-closed": covered_by_the_closed_form,
    "wor-rdp": lambda r: {"alpha": whole_alpha(r), "sampling_rate": log_uniform(r, 1e-9, 1), "base": base(r)},
    "weighted-rdp": lambda r: {"alpha": whole_alpha(r), "max_weight": log_uniform(r, 1e-9, 1), "base": base(r)},
    "wor-profile": lambda r: {"epsilon": r.choice((0.0, log_uniform(r, 1e-6, 20))),
                              "sampling_rate": log_uniform(r, 1e-9, 1), "profile": profile(r)},
    "poisson-profile": lambda r: {"epsilon": r.choice((0.0, log_uniform(r, 1e-6, 20))),
                                  "sampling_rate": r.choice((1.0, 0.999, log_uniform(r, 1e-9, 1))),
                                  "profile": profile(r)},
    "poisson-group-profile": lambda r: {"epsilon": r.choice((0.0, log_uniform(r, 1e-6, 20))),
                                        "sampling_rate": r.choice((1.0, 0.999, log_uniform(r, 1e-9, 1))),
                                        "noise_multiplier": log_uniform(r, 0.05, 1e3),
                                        "group_size": r.choice((1, 2, 3, r.randint(4, 40)))},
    "poisson-replace-one-rdp": lambda r: {"alpha": r.choice((whole_alpha(r), 1 + log_uniform(r, 1e-4, 30))),
                                          "noise_multiplier": log_uniform(r, 0.05, 1e3),
                                          "sampling_rate": r.choice((1.0, 0.999, log_uniform(r, 1e-10, 1)))},
    "poisson-replace-one-profile": lambda r: {"epsilon": r.choice((0.0, log_uniform(r, 1e-6, 20))),
                                              "sampling_rate": r.choice((1.0, 0.999, log_uniform(r, 1e-9, 1))),
                                              "noise_multiplier": log_uniform(r, 0.05, 1e3),
                                              "group_size": r.choice((1, 2, 3, r.randint(4, 40)))},
    "poisson-replace-one-comonotone": replaced_step,
    "to-replace-one": lambda r: {"step_epsilon": r.choice((0.0, log_uniform(r, 1e-9, 50))),
                                 "step_delta": r.choice((0.0, delta(r)))},
    "group-privacy": known_points,
    "shuffle-no-amplification": shuffled_profile,
    "shuffle-lower": two_batches_below,
    "shuffle-profile": one_or_two_batches, "shuffle-profile-used": two_equal_batches,
    "shuffle-profile-one-order": one_batch_in_one_order,
    "shuffle-lower-allocation": shuffled_below,
    "truncated-poisson-profile": truncated_batches,
    "truncated-poisson-lower": truncated_batches,
    "wor-zero-out-profile": lambda r: {"epsilon": r.choice((0.0, log_uniform(r, 1e-6, 20))),
                                       "sampling_rate": r.choice((1.0, 0.999, log_uniform(r, 1e-9, 1))),
                                       "noise_multiplier": log_uniform(r, 0.05, 1e3)},
    "wor-zero-out-lower": lambda r: {"epsilon": r.choice((0.0, r.random())),
                                     "sampling_rate": r.choice((1.0, 0.999, log_uniform(r, 1e-4, 1))),
                                     "noise_multiplier": log_uniform(r, 0.2, 50)},
    "with-replacement-profile": drawn_with_replacement, "with-replacement-lower": few_draws,
    "profile-composition": composed, "selection-profile": selected_runs.of_profile,
    "selection-rdp": selected_runs.of_curve, "selection-pure": selected_runs.of_pure_run,
    "selection-tv": selected_runs.of_variation,
    "allocation-profile": allocation, "allocation-lower": allocation,
    "allocation-replace-one-profile": replaced_allocation, "allocation-replace-one-lower": replaced_allocation,
    "composition": lambda r: {"alpha": 1 + log_uniform(r, 1e-2, 30), **sampled_steps(r)},
    "composition-profile": lambda r: one_sgd_step(r, "smoothness", "strong_convexity", "learning_rate", "diameter", "r",
                                                  "sigma1"),
    "burn-in-rdp": lambda r: {"alpha": 1 + log_uniform(r, 1e-2, 30), **sgd(r)},
    "burn-in-profile": one_sgd_step,
    "burn-in-contraction": lambda r: within(lambda: bounded_sgd(r), burn_in_contraction.BOUND, -600),
    "burn-in-rdp-nonconvex": lambda r: {"alpha": 1 + log_uniform(r, 1e-2, 30), **smooth_sgd(r, sgd(r))},
    "burn-in-profile-nonconvex": lambda r: one_sgd_step(r, "strong_convexity"),
    "iteration-nonconvex": lambda r: deterministic_order(r, convex=False),
    "iteration-schedule-nonconvex": lambda r: scheduled(r, convex=False),
    "iteration": deterministic_order,
    "iteration-schedule": scheduled,
    "burn-in-as-published": lambda r: {"alpha": 1 + log_uniform(r, 1e-2, 100), **sgd(r)},
    "lower-bound": lambda r: one_sgd_step(r, "r", "sigma1"),
    "noise-feedback": affine,
    "without-feedback": lambda r: without(affine(r), "feedback"),
    "feedback-every-iterate": fed_back,
    "feedback-optimum": lambda r: {"curvatures": tuple(log_uniform(r, 1e-9, 1.999) for _ in range(r.randint(1, 4))),
                                   "learning_rate": log_uniform(r, 1e-3, 1)},
    "feedback-optimum-finite": lambda r: {"curvatures": curvatures(r, 1.0, 1.0),
                                          "learning_rate": log_uniform(r, 1e-3, 1), "iterations": steps(r, 1e12)},
    "correlated-once": lambda r: correlated_designs.point(r, "once"),
    "correlated-bands": lambda r: correlated_designs.point(r, "bands"),
    "correlated-separated": lambda r: correlated_designs.point(r, "separated"),
    "correlated-cyclic": lambda r: correlated_designs.point(r, "cyclic"),
    "amplification": lambda r: {"step_epsilon": r.choice((0.0, log_uniform(r, 1e-10, 5000))), "step_delta": delta(r),
                                "sampling_rate": log_uniform(r, 1e-9, 1)},
    "fixed-order": lambda r: a_run(r, 1e12, laws=BOTH, index=True),
    "randomly-stopped": lambda r: a_run(r, 1e6, laws=BOTH, index=True),
    "randomly-stopped-loose": lambda r: a_run(r, 1e12, laws=BOTH),
    "shuffled-contraction": lambda r: a_run(r, r.choice((1e3, 1e12)), laws=BOTH),
    "shuffled-limit": lambda r: {"law": r.choice(BOTH), "c1": log_uniform(r, 1e-6, 1e12),
                                 "epsilon": log_uniform(r, 1e-6, 50)},
    "fixed-order-iteration": lambda r: a_run(r, 300, "diameter", index=True),
    "shuffled-iteration": lambda r: a_run(r, 300, "diameter"),
    "fixed-order-iteration-rdp": lambda r: {"alpha": alpha(r), **a_run(r, 1e9, "diameter", "epsilon", index=True)},
    "shuffled-iteration-rdp": lambda r: {"alpha": alpha(r, 50), **a_run(r, 2000, "diameter", "epsilon")},
    "fixed-order-hybrid": lambda r: within(lambda: a_run(r, 1000, index=True), fixed_order_hybrid.BOUND),
    "shuffled-hiding": lambda r: with_or_without_set(r, a_run(r, 300)),
    "shuffled-hiding-laplace": lambda r: without(a_run(r, r.choice((1e3, 1e12)), laws=(LAPLACE,)), "law"),
    "shuffled-hiding-last": lambda r: several_passes(r, with_or_without_set(r, a_run(r, 300))),
    "smooth-nonconvex": lambda r: {"alpha": alpha(r), **smooth(r, 1e9, index=True)},
    "smooth-nonconvex-exact": lambda r: {"epsilon": r.choice((0.0, log_uniform(r, 1e-3, 2))),
                                         **smooth(r, 1e9, index=True)},
    "smooth-nonconvex-shuffled": lambda r: {"alpha": alpha(r, 50), **smooth(r, 2000)},
    "smooth-nonconvex-shuffled-exact": lambda r: {"epsilon": r.choice((0.0, log_uniform(r, 1e-3, 2))),
                                                  **smooth(r, 300)},
    "smooth-nonconvex-shuffled-hiding": lambda r: within(lambda: {"epsilon": r.choice((0.0, log_uniform(r, 1e-3, 2))),
                                                                  **smooth(r, 300)},
                                                         smooth_nonconvex_shuffled_hiding.BOUND, -1000),
    "smooth-nonconvex-high-noise": high_noise,
    "output-perturbation": lambda r: {"alpha": alpha(r), **output(r, 1e12, index=True)},
    "output-perturbation-exact": lambda r: {"epsilon": r.choice((0.0, log_uniform(r, 1e-3, 2))),
                                            **output(r, 1e12, index=True)},
    "output-perturbation-shuffled": lambda r: {"alpha": alpha(r, 50), **output(r, 2000)},
    "output-perturbation-shuffled-exact": lambda r: {"epsilon": r.choice((0.0, log_uniform(r, 1e-3, 2))),
                                                     **output(r, 300)},
    "output-perturbation-shuffled-hiding": lambda r: within(lambda: {"epsilon": r.choice((0.0,
                                                                                          log_uniform(r, 1e-3, 2))),
                                                                     **output(r, 300)},
                                                            output_perturbation_shuffled_hiding.BOUND, -1000),
    "without-replacement-conjecture": lambda r: {"alpha": alpha(r), **partial(r)},
    "without-replacement-conjecture-sum": lambda r: {"alpha": alpha(r), **partial(r)},
    "without-replacement-unamplified": lambda r: {"epsilon": spread(r, 1e-3, 30), **partial(r, constant=False)},
    "without-replacement-lower": lambda r: {"alpha": whole_alpha(r), **partial(r, constant=False)},
    "online-contraction": lambda r: a_stream(r, 600),
    "online-iteration": lambda r: a_stream(r, 400, "law", "diameter", law=GAUSSIAN),
    "online-hybrid": lambda r: within(lambda: a_stream(r, 60, "law", law=GAUSSIAN), online_hybrid.BOUND),
    "online-limit": a_limit,
}


class Corners(random.Random):
    """Draws of which one in four is an end of its range."""

    def uniform(self, a, b):
        pick = self.random()
        return a if pick < 0.125 else b if pick > 0.875 else super().uniform(a, b)


# The parameters that make a bound lose more privacy as they grow: a test of every bound checks that it does.
INCREASING = {
    "gaussian-rdp": ("alpha", "sensitivity"), "gaussian-exact": ("sensitivity", "steps"),
    "gaussian-classic": ("sensitivity", "steps"), "laplace-rdp": ("alpha", "sensitivity"),
    "laplace-exact": ("sensitivity",), "laplace-profile": ("sensitivity",), "randomized-response-exact": ("steps",),
    "exponential-exact": ("step_epsilon",), "exponential-profile": ("step_epsilon",),
    "exponential-rdp": ("alpha", "step_epsilon"), "exponential-lower": (),
    "noisy-max-profile": ("step_epsilon",), "noisy-max-rdp": ("alpha", "step_epsilon"),
    "one-shot-top-k-exact": ("sensitivity", "top_k", "steps"), "one-shot-top-k-rdp": ("alpha", "sensitivity", "top_k"),
    "above-threshold-exact": ("sensitivity", "steps"), "key-selection": (),
    "above-threshold-rdp": ("alpha", "sensitivity"), "shuffled-ldp-exact": ("step_epsilon",),
    "shuffled-ldp-profile": ("step_epsilon",), "shuffled-ldp-lower": (), "noise-accuracy": (), "threshold-profile": (),
    "threshold-simple": (), "threshold-composed": (),
    "discrete-gaussian-exact": (), "discrete-gaussian-rdp": ("alpha",), "discrete-laplace-exact": (),
    "discrete-laplace-rdp": ("alpha",), "k-randomized-response-exact": ("step_epsilon",),
    "k-randomized-response-rdp": ("alpha", "step_epsilon"), "unary-exact": (), "unary-rdp": ("alpha",),
    "randomized-response-rdp": ("alpha",), "rdp-mironov": ("rdp",), "rdp-improved": ("rdp",), "rdp-optimal": ("rdp",),
    "gdp-exact": ("mu", "steps"), "gdp-rdp": ("alpha", "mu"), "zcdp-rdp": ("alpha", "rho"),
    "pure-rdp": ("alpha", "step_epsilon"), "pure-gdp": ("step_epsilon",), "dp-tv": ("step_epsilon", "step_delta"),
    "composition-basic": (), "pure-zcdp": (), "bounded-range-zcdp": (), "gdp-composition": (), "zcdp-sum": (), "adaptive-rdp-filter": (), "adaptive-gdp-filter": (), "gdp-zcdp": ("mu", "steps"),
    "zcdp-composition": ("rho", "steps"), "composition-advanced": ("step_epsilon", "step_delta", "steps"),
    "composition-optimal": ("step_epsilon", "step_delta", "steps"), "outcomes-exact": (), "outcomes-rdp": ("alpha",),
    "rdp-curve": (), "rdp-mixture": ("alpha",), "rdp-composition": ("alpha",), "wor-profile": ("sampling_rate",),
    "poisson-replace-one-rdp": ("sampling_rate",), "poisson-replace-one-profile": ("sampling_rate", "group_size"),
    "poisson-replace-one-comonotone": (), "to-replace-one": ("step_epsilon", "step_delta"),
    "poisson-group-profile": ("sampling_rate", "group_size"), "group-privacy": ("group_size",),
    "shuffle-no-amplification": ("epochs",), "shuffle-lower": (), "shuffle-lower-allocation": (),
    "shuffle-profile": (), "shuffle-profile-used": (), "shuffle-profile-one-order": (),
    "poisson-profile": ("sampling_rate",), "truncated-poisson-profile": (),
    "wor-zero-out-profile": ("sampling_rate",), "wor-zero-out-lower": (), "with-replacement-profile": (),
    "with-replacement-lower": (),
    "truncated-poisson-lower": ("sampling_rate",), "profile-composition": (), "allocation-profile": (),
    "selection-profile": (), "selection-rdp": (), "selection-pure": (), "selection-tv": (),
    "allocation-lower": (), "allocation-replace-one-profile": (), "allocation-replace-one-lower": (),
    "poisson-rdp": ("sampling_rate",), "poisson-rdp-closed": (),
    "wor-rdp": ("sampling_rate",), "weighted-rdp": ("max_weight",), "amplification": ("step_epsilon", "sampling_rate"),
    "fixed-order": ("lipschitz", "diameter"), "randomly-stopped": ("lipschitz", "diameter"),
    "randomly-stopped-loose": ("lipschitz", "diameter"), "shuffled-contraction": ("lipschitz", "diameter"),
    "shuffled-limit": (), "fixed-order-iteration": ("lipschitz",), "shuffled-iteration": ("lipschitz",),
    "fixed-order-hybrid": ("lipschitz",), "fixed-order-iteration-rdp": ("alpha", "lipschitz"),
    "shuffled-iteration-rdp": ("alpha", "lipschitz"), "shuffled-hiding": ("lipschitz",),
    "shuffled-hiding-laplace": ("lipschitz", "diameter"),
    "smooth-nonconvex-shuffled-hiding": ("lipschitz", "smoothness", "learning_rate"),
    "output-perturbation-shuffled-hiding": ("lipschitz",), "shuffled-hiding-last": ("lipschitz",),
    "smooth-nonconvex": ("alpha", "lipschitz", "smoothness", "learning_rate"),
    "smooth-nonconvex-exact": ("lipschitz", "smoothness", "learning_rate"),
    "smooth-nonconvex-shuffled": ("alpha", "lipschitz", "smoothness", "learning_rate"),
    "smooth-nonconvex-shuffled-exact": ("lipschitz", "smoothness", "learning_rate"),
    "smooth-nonconvex-high-noise": ("smoothness", "learning_rate"), "output-perturbation": ("alpha", "lipschitz"),
    "output-perturbation-exact": ("lipschitz",), "output-perturbation-shuffled": ("alpha", "lipschitz"),
    "output-perturbation-shuffled-exact": ("lipschitz",),
    "without-replacement-conjecture": ("alpha", "passes", "constant"),
    "without-replacement-conjecture-sum": ("alpha", "passes", "constant"),
    "without-replacement-unamplified": ("lipschitz", "passes"), "without-replacement-lower": ("passes",),
    "online-contraction": ("lipschitz",), "online-iteration": ("lipschitz",), "online-hybrid": ("lipschitz",),
    "online-limit": ("lipschitz",), "composition": ("alpha", "iterations", "lipschitz"),
    "composition-profile": ("lipschitz",), "burn-in-rdp": ("alpha", "lipschitz", "diameter"),
    "burn-in-profile": ("lipschitz",), "burn-in-contraction": ("lipschitz",),
    "iteration": ("lipschitz", "diameter"), "burn-in-as-published": ("alpha", "lipschitz", "diameter"),
    "lower-bound": (), "iteration-schedule": ("lipschitz", "diameter"),
    "burn-in-rdp-nonconvex": ("alpha", "lipschitz", "diameter", "smoothness"),
    "burn-in-profile-nonconvex": ("lipschitz",), "iteration-nonconvex": ("lipschitz", "diameter", "smoothness"),
    "iteration-schedule-nonconvex": ("lipschitz", "diameter", "smoothness"), "noise-feedback": ("lipschitz",),
    "without-feedback": ("lipschitz",), "feedback-every-iterate": ("lipschitz", "iterations"),
    "feedback-optimum": (), "feedback-optimum-finite": (),
    **{f"correlated-{kind}": ("change",) for kind in ("once", "bands", "separated", "cyclic")},
    "audit-counts": (), "audit-gdp": (), "audit-one-run": (),
    "tv-exact": ("ratio",), "tv-pinsker": ("ratio", "steps"),
    "tv-laplace-as-published": ("sensitivity",), "tv-product": ("step_tv", "steps"), "tv-kl": ("kl", "steps"), "tv-rdp": ("rdp",),
}


def points(name, count, seed=0, source=random.Random):
    assert name in DRAW, f"tests/oracles/domains.py: DRAW lacks {name}"
    rng = source(f"{name}{seed}")
    return [DRAW[name](rng) for _ in range(count)]

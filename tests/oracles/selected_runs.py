"""Random runs and laws of their number, on which the bounds on the best of several runs are measured."""

from math import exp

from draws import alpha, log_uniform
from one_run import OneRun

from dpcalc.bounds.conversions import gdp, selection
from dpcalc.bounds.conversions.selection_laws import added_loss, poisson, truncated_with_mean


def gaussian_run(mu):
    """A run that is μ-GDP."""
    return OneRun(lambda epsilon: exp(gdp.value(epsilon, mu, 1)), lambda order: gdp.rdp(order, mu),
                  exact=lambda mp, epsilon: gdp.exact(mp, epsilon, mu, 1),
                  exact_curve=lambda mp, order: mp.mpf(order) * mp.mpf(mu) ** 2 / 2)


def _law(rng):
    if rng.random() < 0.3:
        return poisson(log_uniform(rng, 0.1, 1e4))
    shape = rng.choice((-0.9, -0.5, 0.0, 0.5, 1.0, 4.0, log_uniform(rng, 1e-6, 20)))
    return truncated_with_mean(rng.choice((1.0, 1 + log_uniform(rng, 1e-6, 1), log_uniform(rng, 1, 1e4))), shape)


def of_profile(rng):
    mu, law = log_uniform(rng, 1e-3, 5), _law(rng)
    c_from = selection.search(run := gaussian_run(mu), law)
    epsilon = added_loss(law, **c_from) + rng.choice((0.0, 1.0)) * mu * log_uniform(rng, 1e-3, 10)
    return {"epsilon": epsilon, "candidate": run, "runs": law, "log_r": 0.0, "total_variation": 0.0, **c_from}


def of_curve(rng):
    law, order = _law(rng), alpha(rng, 1e3)
    run = gaussian_run(log_uniform(rng, 1e-3, 5))
    return {"alpha": order, "candidate": run, "runs": law, "log_r": 0.0, "delta_at_order": 0.0, **selection.search_at_order(order, run, law)}


def of_pure_run(rng):
    return {"candidate": OneRun(None, most=rng.choice((0.0, log_uniform(rng, 1e-9, 100)))), "runs": _law(rng)}


def of_variation(rng):
    return {"candidate": gaussian_run(log_uniform(rng, 1e-3, 5)), "runs": _law(rng)}

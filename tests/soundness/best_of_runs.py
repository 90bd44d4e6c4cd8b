"""The best of a random number of runs with finitely many outcomes, and the worst strategies against filters."""

from math import exp, log

import numpy as np
from adversaries import randomised_response, worst_delta
from chains import delta, rdp
from one_run import in_both_directions, law_of
from privacy_filters import gaussian_filter, renyi_filter
from selection_laws import Candidate, NegativeBinomial, Poisson, selected_pair

from dpcalc.bounds.conversions import filters, selection
from soundness import ask
from soundness.conversions import laws, pure


def _number(rng):
    if rng.random() < 0.3:
        return Poisson(exp(rng.uniform(-1, 3)))
    return NegativeBinomial(rng.choice((-0.9, -0.5, 0.0, 0.5, 1.0, 3.0)), exp(rng.uniform(-6, -0.1)))


def _profile(p, q):
    return lambda epsilon: float(delta(p, q, epsilon))


def best_of_runs(rng):
    p, q = laws(rng)
    if rng.random() < 0.3:  # a small reveal with the largest score, by which the profile is attained
        p, q = np.array([1e-4, 0.6, 0.4 - 1e-4]), np.array([0.0, 0.6, 0.4])
        score = np.array([1.0, 0.0, 0.0])
    else:
        score = np.array([float(rng.randint(0, 3)) for _ in p])
    number = _number(rng)
    runs, best = law_of(number), selected_pair(number, Candidate("", p, q, score))
    one = in_both_directions(_profile(p, q), _profile(q, p), lambda a: rdp(p, q, a), lambda a: rdp(q, p, a))
    c_from = selection.search(one, runs)
    for epsilon in ask.epsilons(rng, 1.0):
        yield ("selection-profile", f"δ({epsilon:.6g})", delta(*best, epsilon),
               exp(selection.value(epsilon, one, runs, **c_from)))
    yield "selection-tv", "tv", delta(*best, 0.0), selection.of_tv(one, runs)["tv"]
    if q.min() > 0:
        one.most = pure(p, q)
        yield "selection-pure", "ε", float(np.abs(np.log(best[0][:len(p)] / best[1][:len(p)])).max()), selection.of_pure(
            one, runs)["epsilon"]
        for alpha in ask.orders(rng):
            yield ("selection-rdp", f"D({alpha:.6g})", rdp(*best, alpha),
                   selection.rdp(alpha, one, runs, **selection.search_at_order(alpha, one, runs)))


def filtered(rng):
    epsilon, target = exp(rng.uniform(-0.5, 1.5)), exp(rng.uniform(log(1e-5), log(1e-3)))
    steps = [epsilon * rng.uniform(0.1, 0.3)]
    releases, log_delta = [randomised_response(x) for x in steps], log(target)
    order = filters.best_order(epsilon, log_delta)
    most = filters.budget(order, epsilon, log_delta)
    allowed = renyi_filter(releases, order, most)
    yield ("adaptive-rdp-filter", f"δ({epsilon:.6g})", worst_delta(epsilon, releases, allowed.fits, allowed.endings),
           filters.RDP.value(epsilon, order, most, 0.0, ())["delta"])
    mu = filters.largest_mu(epsilon, log_delta)
    allowed = gaussian_filter(steps, mu)
    yield ("adaptive-gdp-filter", f"δ({epsilon:.6g})", worst_delta(epsilon, releases, allowed.fits, allowed.endings),
           filters.GDP.value(epsilon, mu, 0.0, ())["delta"])


FAMILIES = (best_of_runs, filtered)

"""Random outcomes of attacks, and enclosures of the lower bounds that they show: limits and roots by their signs in ball
arithmetic."""

import flint
import mpmath
from draws import log_uniform, steps

from dpcalc.bounds.audits import counts, gaussian_counts, one_run
from dpcalc.bounds.mechanisms import gaussian
from dpcalc.numerics.binomial import exact_tails
from dpcalc.verify.arb.ball import Ball, Undecided
from dpcalc.verify.arb.context import enclosure

DIGITS = 45  # of the roots that the signs of balls confirm
NEAR = "1e-30"  # relative: on both sides of a root
NOTHING = flint.arb("1e-25")  # what balls do not tell from 0 where two numbers are equal


def _surely(rng):
    confidence = rng.choice((0.95, 0.99, rng.uniform(0.5, 0.999), 1 - log_uniform(rng, 1e-9, 0.5)))
    return {"confidence": confidence, "tests": rng.choice((1, 1, 1, rng.randint(2, 1000)))}


def _seen(rng, trials):
    few = min(trials, rng.randint(0, 20))
    return rng.choice((0, trials, few, trials - few, rng.randint(0, trials), rng.randint(0, trials)))


def of_counts(rng):
    members, others = steps(rng, 3e4), steps(rng, 3e4)
    hits, alarms = _seen(rng, members), _seen(rng, others)
    if rng.random() < 0.7:
        hits, alarms = max(hits, members - hits), min(alarms, others - alarms)
    return {"true_positives": hits, "members": members, "false_positives": alarms, "non_members": others,
            "delta": rng.choice((0.0, 1e-5, log_uniform(rng, 1e-12, 0.5), hits / members * rng.random())), **_surely(rng)}


def of_gaussian_counts(rng):
    own = of_counts(rng)
    return {**own, "delta": own["delta"] or 1e-6}


def of_one_run(rng):
    guesses = steps(rng, 3e3)
    canaries = guesses + rng.choice((0, steps(rng, 1e5)))
    right = max(_seen(rng, guesses), rng.choice((0, round(guesses * rng.uniform(0.5, 1)))))
    return {"canaries": canaries, "guesses": guesses, "right": right, **_surely(rng),
            "delta": rng.choice((0.0, 1e-5, log_uniform(rng, 1e-12, 0.5), rng.uniform(0.1, 3) / canaries % 0.5))}


# --- enclosures ------------------------------------------------------------------------------------------------------


def _mp():
    mp = mpmath.mp.clone()
    mp.dps = DIGITS
    return mp


def _around(c, root, rises_through_zero):
    """A ball around a root that mpmath found, where the signs on both sides of it are those of a root."""
    middle = flint.arb(mpmath.nstr(root, DIGITS))
    width = abs(middle) * flint.arb(NEAR)
    low, high = (middle - width).mid(), (middle + width).mid()
    below, above = (enclosure(c, lambda x=x: rises_through_zero(Ball(c, x))).x for x in (low, high))
    if not (below < 0 and above > 0):
        raise Undecided("no enclosure of a root")
    return low.union(high)


def _rates(c, own):
    """Balls of t and f."""
    mp, p = _mp(), {name: own[name] for name in counts.PARAMS}
    level = counts.error_probability(own["confidence"], own["tests"]) / 2
    t, f = counts.exact_rates(mp, **p, level=counts.as_mpf(mp, level))
    goal, (hits, members, alarms, others) = counts.as_mpf(c, level), p.values()
    known = flint.arb(0) if t == 0 else _around(c, t, lambda x: exact_tails(c, hits, members, x)[1] - goal)
    return known, flint.arb(1) if f == 1 else _around(c, f, lambda x: goal - exact_tails(c, alarms + 1, others, x)[0])


def counts_enclosed(c, **own):
    t, f = _rates(c, own)
    found = flint.arb(0)
    for share, rate in ((t - own["delta"], f), (1 - f - own["delta"], 1 - t)):
        if share > 0:
            found = found.max((share / rate).log())
        elif not share < NOTHING:
            raise Undecided("a rate next to δ")
    return {"epsilon_lower": found}


def gaussian_counts_enclosed(c, delta, **own):
    """μ by quantiles in balls; ε by the signs of δ(ε) − δ on both sides."""
    t, f = _rates(c, own)
    nothing = {"epsilon_lower": flint.arb(0), "mu_lower": flint.arb(0)}
    if t == 0 or f == 1:
        return nothing
    mu = flint.arb(2).sqrt() * ((2 * t - 1).erfinv() - (2 * f - 1).erfinv())
    if not mu > NOTHING:
        return {**nothing, "mu_lower": mu.max(flint.arb(0))}

    def shortfall(epsilon):
        return delta - gaussian.theta(c, epsilon, Ball(c, mu))

    if shortfall(c.mpf(0)).x > 0:
        return {**nothing, "mu_lower": mu}
    mp = _mp()
    near = gaussian_counts.exact(mp, delta, **own)["epsilon_lower"]
    middle = flint.arb(mpmath.nstr(near, DIGITS))
    low, high = (middle * (1 - flint.arb("1e-16"))).mid(), (middle * (1 + flint.arb("1e-16")) + flint.arb("1e-25")).mid()
    if not (shortfall(Ball(c, low)).x < 0 and shortfall(Ball(c, high)).x > 0):
        raise Undecided("no enclosure of ε")
    return {"epsilon_lower": low.union(high), "mu_lower": mu}


def one_run_enclosed(c, confidence, tests, **own):
    level = counts.error_probability(confidence, tests)
    goal = counts.as_mpf(c, level)

    def excess(epsilon):
        return one_run.exact_p_value(c, epsilon, **own) - goal

    if enclosure(c, lambda: excess(c.mpf(0))).x > -NOTHING:
        return {"epsilon_lower": flint.arb(0)}
    return {"epsilon_lower": _around(c, one_run.exact(_mp(), **own, confidence=confidence,
                                                      tests=tests)["epsilon_lower"], excess)}



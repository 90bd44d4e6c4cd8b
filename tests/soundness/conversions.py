"""Random finite mechanisms: conversions between guarantees, compositions, amplification by sampling."""

from functools import reduce
from math import exp, log

import numpy as np
from chains import delta, rdp

from dpcalc.bounds.curve import Curve, of_bound
from dpcalc.pld import atoms
from dpcalc.pld.bracket import log_delta_at_epsilon
from soundness import ask


def laws(rng, count=2, outcomes=None):
    n = outcomes or rng.randint(2, 6)
    sharp = rng.choice((0.3, 1.0, 3.0))
    found = [np.array([rng.random() ** sharp + 1e-6 for _ in range(n)]) for _ in range(count)]
    if rng.random() < 0.5:  # near one another
        found = [found[0] * np.exp([rng.uniform(-0.3, 0.3) for _ in range(n)]) for _ in range(count)]
    return [x / x.sum() for x in found]


def product(p, k):
    return reduce(np.multiply.outer, [p] * k).ravel()


def least_epsilon(p, q, target):
    """The ε at which δ(ε) = target, from below."""
    low, high = 0.0, 60.0
    if delta(p, q, 0.0) <= target:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if delta(p, q, middle) > target else (low, middle)
    return low


def pure(p, q):
    return float(np.abs(np.log(p / q)).max()) * (1 + 1e-13)


def renyi_to_dp(rng):
    p, q = laws(rng)
    for target in [10 ** rng.uniform(-6, -0.5) for _ in range(3)]:
        true = least_epsilon(p, q, target)
        for alpha in ask.orders(rng, 5, 4.0):
            at = rdp(p, q, alpha)
            for name in ("rdp-optimal", "rdp-improved", "rdp-mironov"):
                yield name, f"ε(δ={target:.4g}, α={alpha:.4g})", true, ask.BOUNDS[name].value(alpha, at, log(target))
                back = ask.BOUNDS[name].log_delta(alpha, at, true * 0.9)
                yield name, f"δ(ε={true * 0.9:.4g}, α={alpha:.4g})", delta(p, q, true * 0.9), exp(back)


def curves(rng):
    p, q = laws(rng)
    known = sorted(ask.orders(rng, 4))
    run = {"alphas": tuple(known), "rdps": tuple(rdp(p, q, a) for a in known)}
    yield from ask.rdp("rdp-curve", p, q, [known[0] * 0.5 + 0.5, *(rng.uniform(known[0], known[-1]) for _ in range(5))],
                       run)
    k = rng.randint(1, 3)
    curve = of_bound(ask.BOUNDS["outcomes-rdp"], p=tuple(p), q=tuple(q))
    yield from ask.rdp("rdp-composition", product(p, k), product(q, k), ask.orders(rng), {"parts": ((curve, k),)})


def outcomes(rng):
    """Two outcomes that cannot be told apart lose less."""
    p, q = laws(rng, outcomes=rng.randint(3, 6))
    run = {"p": tuple(p.tolist()), "q": tuple(q.tolist())}
    for _ in range(2):
        keep = rng.sample(range(len(p)), rng.randint(1, len(p) - 1))
        rest = [i for i in range(len(p)) if i not in keep]
        merged = [np.append(x[keep], x[rest].sum()) for x in (p, q)]
        for pair in ((p, q), merged):
            yield from ask.profile("outcomes-exact", *pair, ask.epsilons(rng, 0.5), run)
            yield from ask.rdp("outcomes-rdp", *pair, ask.orders(rng), run)


def mixtures(rng):
    """One of several mechanisms is drawn; the output shows which one, or does not."""
    pairs = [laws(rng, outcomes=3) for _ in range(rng.randint(1, 3))]
    weights = laws(rng, count=1, outcomes=len(pairs))[0].tolist() if len(pairs) > 1 else [1.0]
    shown = [np.concatenate([w * pair[side] for w, pair in zip(weights, pairs, strict=True)]) for side in (0, 1)]
    hidden = [sum(w * pair[side] for w, pair in zip(weights, pairs, strict=True)) for side in (0, 1)]
    for alpha in ask.orders(rng):
        run = {"rdps": [rdp(*pair, alpha) for pair in pairs], "weights": weights}
        for released in (shown, hidden):
            yield from ask.rdp("rdp-mixture", *released, [alpha], run)


def pure_dp(rng):
    p, q = laws(rng)
    e, k = pure(p, q), rng.randint(1, 4)
    yield from ask.rdp("pure-rdp", p, q, ask.orders(rng), {"step_epsilon": e})
    mu = ask.BOUNDS["pure-gdp"].value(step_epsilon=e, steps=k)["mu"]
    many = product(p, k), product(q, k)
    for epsilon in ask.epsilons(rng, k * e / 2):
        yield "pure-gdp", f"δ({epsilon:.6g})", delta(*many, epsilon), exp(ask.BOUNDS["gdp-exact"].value(epsilon, mu, 1))
    other = laws(rng)
    both = [np.outer(one, two).ravel() for one, two in zip(many, other, strict=True)]
    mu = ask.BOUNDS["gdp-composition"].value(mus=(), pure=((e, 0.0, k), (pure(*other), 0.0, 1)))["mu"]
    for epsilon in ask.epsilons(rng, k * e / 2):
        yield ("gdp-composition", f"δ({epsilon:.6g})", delta(*both, epsilon),
               exp(ask.BOUNDS["gdp-exact"].value(epsilon, mu, 1)))
    losses = np.log(p / q)
    reach = float(losses.max() - losses.min()) * (1 + 1e-13)
    for alpha in ask.orders(rng):
        concentrated = rdp(*many, alpha) / alpha
        yield from ask.point("pure-zcdp", "rho", concentrated, points=((e, 0.0, k),))
        yield from ask.point("bounded-range-zcdp", "rho", concentrated, points=((reach, 0.0, k),))
        yield from ask.point("zcdp-sum", "rho", rdp(*both, alpha) / alpha,
                             terms=(((reach, reach), (8.0,), k), ((pure(*other),) * 2, (2.0,), 1)))


def composition(rng):
    p, q = laws(rng)
    e = rng.random() * pure(p, q)
    run = {"step_epsilon": e, "step_delta": delta(p, q, e) * (1 + 1e-13), "steps": rng.randint(1, 4)}
    many = product(p, run["steps"]), product(q, run["steps"])
    at = [0.0, *(run["steps"] * e * rng.random() * 1.2 for _ in range(5))]
    run["points"] = ((e, run["step_delta"], run["steps"]),)
    for name in ("composition-basic", "composition-advanced", "composition-optimal"):
        yield from ask.profile(name, *many, at, run)
    yield from ask.point("dp-tv", "tv", delta(p, q, 0.0), step_epsilon=e, step_delta=run["step_delta"])
    tv, kl = delta(p, q, 0.0), max(float((x * np.log(x / y)).sum()) for x, y in ((p, q), (q, p)))
    yield from ask.point("tv-product", "tv", delta(*many, 0.0), step_tv=tv * (1 + 1e-13), steps=run["steps"])
    yield from ask.point("tv-kl", "tv", delta(*many, 0.0), kl=kl * (1 + 1e-12), steps=run["steps"])
    for alpha in ask.orders(rng):
        most = max(rdp(p, q, alpha), rdp(q, p, alpha)) * run["steps"]
        yield from ask.point("tv-rdp", "tv", delta(*many, 0.0), alpha=alpha, rdp=most * (1 + 1e-12))


def composed_pairs(rng):
    parts, both = [], (np.ones(1), np.ones(1))
    for _ in range(rng.randint(1, 2)):
        p, q = laws(rng, outcomes=rng.randint(2, 3))
        k = rng.randint(1, 3)
        parts.append((atoms.outcomes(p.tolist(), q.tolist()), k))
        both = tuple(np.multiply.outer(x, product(y, k)).ravel() for x, y in zip(both, (p, q), strict=True))
    for epsilon in ask.epsilons(rng, 1.0, 3):
        try:
            upper = log_delta_at_epsilon(tuple(parts), epsilon).upper
        except ask.OutOfScope:  # refused: losses too unlike one another for one grid
            continue
        yield "profile-composition", f"δ({epsilon:.6g})", delta(*both, epsilon), exp(upper)


def amplification(rng):
    """A record in the batch with probability q: r without it, p or s with it (replace-one), or r and p (add-remove)."""
    r, p, s = laws(rng, 3)
    rate = rng.choice((rng.random(), exp(rng.uniform(-6, 0))))
    near = ((r, p), (r, s), (p, s))
    e = rng.random() * max(pure(*x) for x in near)
    replaced = ((1 - rate) * r + rate * p, (1 - rate) * r + rate * s)
    for pair, worst in ((((1 - rate) * r + rate * p, r), delta(r, p, e)), (replaced, max(delta(*x, e) for x in near))):
        got = ask.BOUNDS["amplification"].value(step_epsilon=e, step_delta=worst * (1 + 1e-13), sampling_rate=rate)
        yield "amplification", f"δ({got['epsilon']:.6g})", delta(*pair, got["epsilon"]), got["delta"]
    curve = Curve(lambda alpha: max(rdp(*x, alpha) for x in near) * (1 + 1e-12), lambda mp, alpha: None,
                  max(pure(*x) for x in near))
    whole = [float(rng.randint(2, 40)) for _ in range(4)]
    yield from ask.rdp("wor-rdp", *replaced, whole, {"sampling_rate": rate, "base": curve})
    yield from ask.rdp("weighted-rdp", *replaced, whole, {"max_weight": rate, "base": curve})


def exchanged(rng):
    """A record is removed, and another one added: what each of both loses at ε, in both orders, and what both lose."""
    p, q, r = laws(rng, 3)
    for epsilon in ask.epsilons(rng, 1.0):
        step = max(delta(a, b, epsilon) for a, b in ((p, q), (q, p), (q, r), (r, q)))
        found = ask.BOUNDS["to-replace-one"].value(epsilon, step)
        for a, b in ((p, r), (r, p)):
            yield ("to-replace-one", f"δ({found['epsilon']:.6g})", delta(a, b, found["epsilon"]), found["delta"])


FAMILIES = (exchanged, renyi_to_dp, curves, outcomes, mixtures, pure_dp, composition, composed_pairs, amplification)

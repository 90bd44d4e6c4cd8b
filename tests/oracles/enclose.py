"""Enclosures of what the bounds' formulas say as printed, in ball arithmetic (dpcalc.verify.arb.ball): the reference of
all measuring.

Most formulas run in balls as they stand. Those that search for a root are enclosed here by what defines them, and the
integrals in them by the sums of integrals.py. """

from functools import cache, lru_cache
from math import atanh, comb, exp, inf, log, log1p, nextafter
from unittest.mock import patch

import attacks
import flint
import integrals
import limits

from dpcalc.bounds.conversions import rdp_optimal, two_outcomes
from dpcalc.bounds.mechanisms import gaussian, noise_accuracy, thresholded_composed
from dpcalc.bounds.noisy_sgd import lower_bound
from dpcalc.bounds.noisy_sgd._engine import sampled_step
from dpcalc.bounds.pnsgd._engine.laws import LAPLACE
from dpcalc.bounds.sampling import poisson_rdp, poisson_replace_one_rdp
from dpcalc.bounds.total_variation import rdp as tv_rdp
from dpcalc.core.errors import OutOfScope
from dpcalc.verify.arb.ball import Ball, Undecided
from dpcalc.verify.arb.context import Context, enclosure

_NEAR = 2.0**-20
BITS = (128, 256, 512, 1024, 2048, 4096)
INTEGRALS = {  # where a formula has its integral, and the enclosure that takes its place
    "composition": (sampled_step, "exact", integrals.one_step),
    "burn-in-rdp": (sampled_step, "exact", integrals.one_step),
    "burn-in-rdp-nonconvex": (sampled_step, "exact", integrals.one_step),
    "burn-in-as-published": (poisson_rdp, "exact_reverse", lambda a, z, q, bits: integrals.reverse(a, q, z, bits)),
}
FIRST = {"rdp": "alpha", "profile": "epsilon", "composition": "epsilon"}  # what `exact` takes before the parameters


class Balls(Context):
    """Names that only references need."""

    def erfinv(self, x):
        return Ball(self, self.raw(x).erfinv())

    def erfc(self, x):
        """Far out, where Arb gives up on a ball that is no point, the hull of its ends: erfc falls."""
        raw = self.raw(x)
        found = raw.erfc()
        if type(raw) is self.arb and not found > 0:
            found = raw.lower().erfc().union(raw.upper().erfc())
        return Ball(self, found)


@cache
def _context():
    return Balls()


def context(bits):
    found = _context()
    found.prec = bits
    return found


def numbers(bound, p, bits):
    """{key: ball} of what the bound gives at p (the key is None but for a point); a profile's δ. Raises Undecided."""
    c = context(bits)
    if bound.name in REFERENCES:
        try:
            found = REFERENCES[bound.name](c, **p)
            return found if bound.kind == "point" else {None: found}
        finally:
            c.prec = bits
    return _with_integral(c, bound, p) if bound.name in INTEGRALS else by_the_formula(c, bound, p)


def by_the_formula(c, bound, p):
    """The published formula as it stands, its integrals by Arb's."""
    bits = c.prec
    first = FIRST.get(bound.kind)

    def formula():
        return bound.exact(c, p[first], **{k: v for k, v in p.items() if k != first}) if first else bound.exact(c, **p)

    try:
        if bound.kind == "point":
            return {key: enclosure(c, lambda key=key: formula()[key]).x for key in bound.gives}
        return {None: enclosure(c, formula).x}
    finally:
        c.prec = bits


def _with_integral(c, bound, p):
    """The published formula, with its integral from integrals.py: the same one however the formula's comparisons turn
    out."""
    module, name, integral = INTEGRALS[bound.name]
    known, printed, bits = [], getattr(module, name), c.prec

    def enclosed(mp, *args):
        if p["batch_size"] == p["n"]:  # q = 1: no integral
            return printed(mp, *args)
        if not known:
            known.append(integral(*map(mp.raw, args), bits))
            mp.prec = bits
        return Ball(mp, known[0])

    with patch.object(module, name, enclosed):
        return by_the_formula(c, bound, p)


def poisson(c, alpha, noise_multiplier, sampling_rate):
    """The printed sum at whole orders, as it stands; else the integral."""
    if sampling_rate == 1 or alpha == int(alpha):
        return poisson_rdp.exact(c, alpha, noise_multiplier, sampling_rate).x
    return integrals.forward(flint.arb(alpha), flint.arb(sampling_rate), flint.arb(noise_multiplier), c.prec)


def replaced(c, alpha, noise_multiplier, sampling_rate):
    """The integral, which is a closed form where every record is in the batch."""
    if sampling_rate == 1:
        return poisson_replace_one_rdp.exact(c, alpha, noise_multiplier, sampling_rate).x
    return integrals.replaced(flint.arb(alpha), flint.arb(sampling_rate), flint.arb(noise_multiplier), c.prec)


@lru_cache(maxsize=2)
def conversion(bound, alpha, rdp, delta):
    """By doubles, at a δ that is rounded down."""
    return bound.value(alpha, rdp, nextafter(log(delta), -inf))


def optimal(c, alpha, rdp, delta):
    """The ε at which the condition of rdp-optimal just holds: its sign at two ends, from the convexity of h
    (dpcalc.verify.claim).

    Newton's method for both the minimum over x and ε starts at the doubles; how they were found does not matter.
    """
    arb = flint.arb
    a, d, r = arb(alpha), arb(delta), arb(rdp)
    if alpha * delta >= 1:  # the product of doubles may round to 1: both forms agree there
        return (r + (-d).log1p()).max(arb(0))
    if _slack(a, d, r, arb(0), _least(a, d, arb(0), alpha, delta, 0.0))[0] >= 0:
        return arb(0)
    epsilon = arb(conversion(rdp_optimal.BOUND, alpha, rdp, delta))
    x = _least(a, d, epsilon, alpha, delta, float(epsilon))
    for _ in range(3):
        below, _, growth = _slack(a, d, r, epsilon, x)
        epsilon = (epsilon - below / growth).mid()
        x = _newton(a, d, epsilon.exp(), x, 2)
    for bits in (c.prec * 2 // 3, c.prec // 2, c.prec // 3):
        width = abs(epsilon) * arb(2) ** -bits
        low, high = (epsilon - width).mid(), (epsilon + width).mid()
        if _slack(a, d, r, high, _newton(a, d, high.exp(), x, 3))[0] >= 0 and _slack(a, d, r, low, x)[1] < 0:
            return low.union(high)
    raise Undecided("no enclosure of the least ε")


def _parts(a, d, grown, x):
    """h, h′ and h″ at p = δ + x, and the second term with y = e^ε − x."""
    p, rest, y = d + x, 1 - d - x, grown - x
    first, second = (a * p.log() - (a - 1) * x.log()).exp(), (a * rest.log() - (a - 1) * y.log()).exp()
    left, right = a / p - (a - 1) / x, a / rest - (a - 1) / y
    bend = first * (left * left - a / p / p + (a - 1) / x / x) + second * (right * right - a / rest / rest + (a - 1) / y
                                                                           / y)
    return first + second, first * left - second * right, bend, second, y


def _slack(a, d, r, epsilon, x):
    """(α−1)(ε − ε(α)) + log min h from below and from above, and about its derivative in ε. h lies above its tangent at
    x, on (0, 1 − δ)."""
    grown = epsilon.exp()
    h, slope, _, second, y = _parts(a, d, grown, x)
    own = (a - 1) * (epsilon - r)
    return (h - (x * slope).max((d + x - 1) * slope)).log() + own, h.log() + own, ((a - 1)
                                                                                   * (1 - second / h * grown / y)).mid()


def _newton(a, d, grown, x, times):
    for _ in range(times):
        _, slope, bend, _, _ = _parts(a, d, grown, x)
        near = (x - slope / bend).mid()
        if not (near > 0 and near < 1 - d):
            break
        x = near
    return x


def _least(a, d, epsilon, alpha, delta, near):
    """An x next to the minimum of h: by Newton's method from the doubles, or halving first where that leads nowhere."""
    grown, low, high = epsilon.exp(), (a - 1) * d, 1 - d
    x = flint.arb(exp(two_outcomes.log_minimizer(alpha, near, delta, log(alpha - 1) + log(delta))))
    last = ((1 - d) * (1 - flint.arb(2) ** (-flint.ctx.prec // 2))).mid()
    if _parts(a, d, grown, last)[1] < 0:  # α near 1: the minimum is nearer to 1 − δ than that
        return last
    for halvings in (0, 20, 60):
        for _ in range(halvings):
            middle = ((low * high).sqrt() if high > 2 * low else (low + high) / 2).mid()
            low, high = (middle, high) if _parts(a, d, grown, middle)[1] < 0 else (low, middle)
            x = middle
        x = _newton(a, d, grown, x if x < last else last, 5)
        left, right = x * (1 - _NEAR), x * (1 + _NEAR)
        if right < 1 - d and _parts(a, d, grown, left)[1] < 0 and _parts(a, d, grown, right)[1] > 0:
            break
    return x


def one_step_below(c, epsilon, **params):
    """δ(ε) of the best instance of lower-bound: at a wall, or at the threshold where the ratio of the densities, which
    rises, meets e^ε."""
    if params["iterations"] != 1:
        raise OutOfScope("out-of-range", "one step only", "--iterations")
    found = flint.arb(0)
    for (pair,) in lower_bound.instances(**params):
        found = found.max(_best_threshold(pair, epsilon))
    return found


def _best_threshold(pair, epsilon):
    """Doubles find the threshold, the signs of balls on both sides of it prove that it is there; δ(t) is an integral of
    the difference of the densities, so that it is nowhere between them more than their distance times that difference
    above the one in the middle."""
    arb, grown = flint.arb, flint.arb(epsilon).exp()
    base, rate = arb(pair.pull) * arb(pair.start), arb(pair.rate)
    drift, up, down = (base + arb(m) for m in (pair.drift, pair.up, pair.down))
    root2 = arb(2).sqrt()

    def density(x, kick):  # times √(2π)
        return (1 - rate) * (-(x - drift) ** 2 / 2).exp() + rate * (-(x - kick) ** 2 / 2).exp()

    def rises(x):
        return density(x, up) - grown * density(x, down)

    def delta(x):
        return ((1 - rate) * ((x - drift) / root2).erfc() * (1 - grown)
                + rate * (((x - up) / root2).erfc() - grown * ((x - down) / root2).erfc())) / 2

    walls = (arb(-pair.half), arb(pair.half))
    found = arb(0).max(delta(walls[0])).max(delta(walls[1]))
    if rises(walls[0]) > 0 or rises(walls[1]) < 0:
        return found
    t = _meeting(pair, epsilon)
    for apart in (1e-13, 1e-11, 1e-9, 1e-7):
        width = apart * (1 + abs(t))
        if rises(arb(t) - width) < 0 and rises(arb(t) + width) > 0:
            here = delta(arb(t))
            return found.max(here.union(here + width * abs(rises(arb(t, width))).upper()))
    raise Undecided("densities that balls do not tell apart")


def _meeting(pair, epsilon):
    """By halving, where the log of the ratio of the densities is about ε."""
    base, low, high = pair.pull * pair.start, -pair.half, pair.half
    still, own = log1p(-pair.rate) if pair.rate < 1 else -inf, log(pair.rate)

    def density(x, kick):
        first, second = still - (x - base - pair.drift) ** 2 / 2, own - (x - base - kick) ** 2 / 2
        return max(first, second) + log1p(exp(-abs(first - second)))

    for _ in range(60):
        t = (low + high) / 2
        low, high = (low, t) if density(t, pair.up) - density(t, pair.down) > epsilon else (t, high)
    return t


def composed(c, epsilon, pairs):
    """δ by the definition for a few pairs of atoms; of Gaussian steps, and of one Laplace step, by their closed
    forms."""
    if pairs.gaussian:
        return gaussian.theta(c, epsilon,
                              c.mpf(sum(count * flint.arb(mu) ** 2 for mu,
                                              (_, count) in zip(pairs.gaussian, pairs, strict=True)).sqrt())).x
    if pairs.laplace:
        return LAPLACE.exact(c, c.mpf(epsilon), c.mpf(pairs.laplace)).x
    finite, laws = flint.arb(0), [(flint.arb(-epsilon), flint.arb(1))]
    for pair, count in pairs:
        finite += count * (-flint.arb(pair.log_infinite).exp()).log1p() if pair.log_infinite > -inf else 0
        (one, p), (two, q) = ((flint.arb(loss), flint.arb(mass).exp()) for loss,
                              mass in zip(pair.losses, pair.log_p, strict=True))
        uses = [(k * one + (count - k) * two, comb(count, k) * p**k * q ** (count - k)) for k in range(count + 1)]
        laws = [(s + more, m * mass) for s, m in laws for more, mass in uses]
    return sum((m * (-(-s).expm1()) for s, m in laws if not s <= 0), -finite.expm1())


def threshold_pair(c, epsilon, **own):
    """δ of the pair of one release above a threshold, which is symmetric."""
    [(pair, _)] = thresholded_composed.value(**own)
    gains = ((flint.arb(loss), flint.arb(mass).exp()) for loss, mass in zip(pair.losses, pair.log_p, strict=True) if loss > epsilon)
    infinite = flint.arb(pair.log_infinite).exp() if pair.log_infinite > -inf else flint.arb(0)
    return sum((mass * -(flint.arb(epsilon) - loss).expm1() for loss, mass in gains), infinite)


def limit(c, epsilon, law, levels, lipschitz, index, **_):
    """A_i exp(∫_X^∞ log B_x dx), X = i + 1, at ε = 0, where reach and level share M, D and η."""
    if epsilon != 0:
        raise OutOfScope("out-of-range", "its enclosure is for ε = 0", "--epsilon")
    first = law.exact(c, 0.0, 2 * c.mpf(lipschitz) / levels.exact(c, index)).x
    c.prec += 64
    rest = limits.laplace if law.name == "laplace" else limits.gaussian
    return first * rest(*map(flint.arb, (levels.decay, levels.c1, levels.c2, index + 1))).exp()


def total_variation(c, alpha, rdp):
    """tanh(x/2) where the divergence of randomised response, which rises with x, is ε(α): it is a root."""
    if rdp == 0:
        return {"tv": flint.arb(0)}
    x = c.mpf(2 * atanh(min(tv_rdp.value(alpha, rdp)["tv"], 1 - 2**-53)) if rdp < 30 else rdp)

    def excess(x):
        return tv_rdp.divergence(c, alpha, x) - c.mpf(rdp)

    low, high = _around_root(c, excess, x)
    return {"tv": (low.x.union(high.x) / 2).tanh()}


def _around_root(c, excess, x):
    """Two numbers near x with a root of the rising function between them: Newton's method finds it, the signs of balls
    on both sides of it prove that it is there."""
    for _ in range(8):
        slope = (excess(x * (1 + _NEAR)) - excess(x * (1 - _NEAR))) / (2 * _NEAR * x)
        x = c.midpoint(x - excess(x) / slope)
    for bits in (c.prec * 2 // 3, c.prec // 2, c.prec // 3):
        low, high = (x * (1 + sign * c.mpf(2) ** -bits) for sign in (-1, 1))
        if (excess(low).x < 0) and (excess(high).x > 0):
            return low, high
    raise Undecided("no enclosure of a root")


def noise_within(c, noise, noise_level, accuracy, answers):
    """The half-width of noise, a root. Of noise on the integers the condition holds there, and not one below."""
    own = noise, noise_level, accuracy, answers
    near = noise_accuracy.half_width(*own)
    if noise_accuracy.NOISES[noise].is_discrete:
        if noise_accuracy.condition(c, near, *own).x >= 0 and (near == 0 or noise_accuracy.condition(c, near - 1, *own).x < 0):
            return {"noise_within": flint.arb(near)}
        raise Undecided("no whole number")
    low, high = _around_root(c, lambda a: noise_accuracy.condition(c, a, *own), c.mpf(near))
    return {"noise_within": low.x.union(high.x)}


REFERENCES = {"audit-counts": attacks.counts_enclosed, "audit-gdp": attacks.gaussian_counts_enclosed,
              "audit-one-run": attacks.one_run_enclosed, "noise-accuracy": noise_within, "threshold-composed": threshold_pair, "rdp-optimal": optimal, "tv-rdp": total_variation, "poisson-rdp": poisson, "poisson-replace-one-rdp": replaced, "lower-bound": one_step_below,
              "profile-composition": composed, "online-limit": limit}


def is_zero(ball):
    """No more than 0."""
    return ball.is_zero() or ball.upper() <= 0

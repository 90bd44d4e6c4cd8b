"""Enclosures of the divergences of a mixture v = 1 − q + q e^w against 1, w = t/z − 1/(2z²), t ~ N(0,1), by trapezoidal
sums with proofs.

F(t) analytic for |Im t| <= a and decaying: |hΣF(t0 + kh) − ∫F| <= 2M/(e^{2πa/h} − 1), M the larger of ∫|F(x ± ia)|dx
(Trefethen & Weideman 2014, Theorem 5.1, doi:10.1137/130932132). On the shifted line |φ(x + ia)| = e^{a²/2}φ(x), and
with θ = a/z < π

    cos(θ/2)·v(x) <= |v(x + ia)| <= v(x),
    (1)

as |A + Be^{iθ}|² = (A + B)² − 4AB sin²(θ/2). So M is a known multiple of ∫F itself where F is φ times a power of v, and
the error is relative. """

from math import ceil, expm1, log, log1p, pi, sqrt

import flint
import numpy as np

arb = flint.arb
FIRST, ENOUGH = 128, 34.0  # at so many bits, −log of the relative error wanted; in proportion at more
LARGE, APART = 45.0, 15.0


def _normal_tail(x):
    return (x / arb(2).sqrt()).erfc() / 2


def _large(alpha, q, z):
    """log E[v^α] where q‖e^w‖_α = q e^g, g = (α−1)/(2z²), is e^45: by Minkowski ‖v‖_α lies between it and 1 − q + q
    e^g."""
    grown = (alpha - 1) / (2 * z * z) + q.log()
    return alpha * (grown + arb(0).union(((1 - q) * (-grown).exp()).log1p()))


def _is_large(alpha, q, z):
    return (float(alpha) - 1) / (2 * float(z) ** 2) + log(float(q)) > LARGE


def forward(alpha, q, z, bits):
    """D_α(mix‖N) = log E[v^α]/(α−1), α > 1."""
    if _is_large(alpha, q, z):
        return _large(alpha, q, z) / (alpha - 1)
    noise, needed = float(z), _needed(alpha, q, z, bits)
    flint.ctx.prec = ceil(needed / log(2)) + 60
    right, beyond = _right(alpha, q, z, needed)
    left = sqrt(2 * needed)
    strip = min(0.8 * pi * noise, sqrt(2 * needed))
    step = arb(2 * pi * strip / (needed + strip**2 / 2 + 1))
    total = _trapezoid(alpha, q, z, -left, right, step)
    total += arb(0).union(_normal_tail(arb(left)) + beyond)
    error = 2 * (arb(strip) ** 2 / 2).exp() / ((2 * arb.pi() * strip / step).exp() - 1)  # by (1), relative to E[v^α]
    return (total / (1 + arb(0, error))).log() / (alpha - 1)


def reverse(alpha, q, z, bits):
    """D_α(N‖mix) = log E[v^{1−α}]/(α−1), α > 1, q < 1."""
    s, rate, noise = alpha - 1, float(q), float(z)
    needed = _needed(alpha, q, z, bits)
    flint.ctx.prec = ceil(needed / log(2)) + 60
    most = (1 - q) ** -s
    apart = 60 + log(rate) - log1p(-rate)
    if 1 / (2 * noise) - max(0.0, apart) * noise > APART:  # v is 1 − q but for e^{−60} and e^{−112}
        edge = 1 / (2 * z) - arb(apart) * z
        low = (1 - q + q * (-arb(apart)).exp()) ** -s * (1 - _normal_tail(edge))
        return low.union(most).log() / s
    strip = min(0.8 * pi * noise, sqrt(2 * needed / (1 + float(s) / noise**2 / 4)))
    lost = (arb(strip) / (2 * z)).cos() ** -s
    step = arb(2 * pi * strip / (needed + strip**2 / 2 + float(lost.log()) + 1))
    reach = sqrt(2 * (needed + float(most.log())))
    total = _trapezoid(-s, q, z, -reach, reach, step)
    total += arb(0).union(2 * most * _normal_tail(arb(reach)))
    error = 2 * lost * (arb(strip) ** 2 / 2).exp() / ((2 * arb.pi() * strip / step).exp() - 1)  # by (1)
    return (total / (1 + arb(0, error))).log() / s


def replaced(alpha, q, z, bits):
    """D_α of 1 − q + q e^w, w = t/z − 1/(2z²), against its mirror image 1 − q + q e^{w(−t)}: log E[v(t)^α v(−t)^{1−α}]/
    (α−1), α > 1, q < 1. Below −1/(2z), v(t) <= 1 <= v(−t); above 0, v(t) <= e^{t/z} and v(−t) >= e^{w(−t)}."""
    s, noise, needed = alpha - 1, float(z), _needed(alpha, q, z, bits)
    most = 2 * alpha - 1
    grown = most * most / (2 * z * z) + s / (2 * z * z)
    flint.ctx.prec = ceil(needed / log(2)) + 60
    left = max(sqrt(2 * needed), 1 / (2 * noise))
    right = float(most / z) + sqrt(2 * (needed + float(grown)))
    strip = min(0.8 * pi * noise, sqrt(2 * needed / (1 + float(s) / noise**2 / 4)))
    lost = (arb(strip) / (2 * z)).cos() ** -s
    step = arb(2 * pi * strip / (needed + strip**2 / 2 + float(lost.log()) + 1))
    total = _trapezoid(alpha, q, z, -left, right, step, -s)
    total += arb(0).union(_normal_tail(arb(left)) + grown.exp() * _normal_tail(arb(right) - most / z))
    error = 2 * lost * (arb(strip) ** 2 / 2).exp() / ((2 * arb.pi() * strip / step).exp() - 1)  # by (1)
    return (total / (1 + arb(0, error))).log() / s


def _needed(alpha, q, z, bits):
    """−log of the error wanted, relative to 1: more where E[v^α] − 1 is small, about α(α−1)q²(e^{1/z²} − 1)/2 or αq(e^g
    − 1). A guess."""
    a, rate, noise = float(alpha), float(q), float(z)
    square, growth = noise**-2, (a - 1) / (2 * noise * noise)
    quadratic = log(a * (a - 1) / 2) + 2 * log(rate) + (log(expm1(square)) if square < 100 else square)
    linear = log(a) + log(rate) + (log(expm1(growth)) if growth < 100 else growth)
    return (ENOUGH - min(0.0, quadratic, linear)) * bits / FIRST


def _right(alpha, q, z, needed):
    """A point Y and a bound on hΣ and ∫ of v^α φ beyond it, about e^{−needed}: v^α <= 2^{α−1}(1 + q^α e^{αw}), and
    e^{αw}φ is e^{α(α−1)/2z²} times a normal density around α/z."""
    a, noise = float(alpha), float(z)
    bump = alpha * (alpha - 1) / (2 * z * z) + alpha * q.log() + (alpha - 1) * arb(2).log()
    first = sqrt(2 * (needed + a * log(2)))
    if float(bump) < -needed:  # all of the bump: its sum is at most (1 + h) times its integral
        return first, arb(2) ** (alpha - 1) * _normal_tail(arb(first)) + 2 * bump.exp()
    # E[v^α] is at least 1, and 2^{1−α} of the bump
    own = max(first, a / noise + sqrt(2 * (needed + 1 + min(float(bump), (a - 1) * log(2)))))
    return own, arb(2) ** (alpha - 1) * _normal_tail(arb(own)) + bump.exp() * _normal_tail(arb(own) - alpha / z)


def one_step(alpha, q, z, bits):
    """S_r(α, q, z) = log(1 + J)/(α−1), J = ∫_0^∞ G(v)φ(s + c)ds, v = 1 + q(e^{s/z} − 1), c = 1/(2z), G = (v^{α−1} −
    1)(v^α − 1)/v^{α−1}, which is the integrand of sampled_step.py, as a product. With s = κ·log(1 + e^ξ), κ = min(z,
    2), in steps of ξ.

    On ξ + iπ/2, with s0 and v0 those of ξ alone and C = cos(π/4) = 2^{−1/2}: ζ = 1 + e^{ξ+iπ/2} has 1 <= |ζ| <= 1 +
    e^ξ, |ζ| >= C(1 + e^ξ) and arg ζ <= π/2, so that 0 <= Im s <= a = κπ/2 <= zπ/2, s0 >= Re s >= max(0, s0 −
    κ·log(2)/2) and |ds/dξ| <= s0′/C. By (1) |v| <= v0 and |1 + t(v − 1)| >= C for 0 <= t <= 1, so that |log v| <= |v −
    1|/C. |(1 + w)^m − 1| <= C^{m−1}((1 + |w|)^m − 1) for m = κ/z <= 1 and w = ζ − 1, as (1 + w)^m − 1 = m∫_0^1 w(1 +
    tw)^{m−1}dt: |v − 1| <= C^{m−1}(v0 − 1). Then |v^b − 1| <= b·|log v|·max(1, |v|^b) gives |G| <=
    α(α−1)·C^{2m−4}·C^{1−α}·(v0 − 1)²·v0^α, and G = v^α − 1 − v + v^{1−α} gives |G| <= 4C^{1−α}·v0^α. """
    # T − 3 <= J <= T = E[v^α]: G = v^α − 1 − v + v^{1−α} for w > 0, and E[v] = 1; log(1 − 2/T) >= −3/T
    if _is_large(alpha, q, z):
        low = _large(alpha, q, z)
        return (low + arb(0).union(1 / low.exp()) - arb(0).union(3 / low.exp())) / (alpha - 1)
    flint.ctx.prec = bits + 64
    noise, needed, half = float(z), _needed(alpha, q, z, bits), 1 / (2 * z)
    kappa = z if noise <= 2 else arb(2)
    sizes = Sizes(float(alpha), float(q), noise, float(kappa))
    lost = (kappa * arb.pi() / 2) ** 2 / 2 + arb(2).log() / 2 * alpha
    wanted = ENOUGH * bits / FIRST
    step = arb(pi**2 / (wanted + sizes.log_all + float(lost) - sizes.log_guess + 1))
    error = 2 * (lost + sizes.log_all).exp() / ((arb.pi() ** 2 / step).exp() - 1)
    right, beyond = _right(alpha, q, z, needed)
    high = max(1.0, (right - float(half)) / float(kappa) + 1e-9)  # s >= κξ
    start, log_before = sizes.start(sizes.log_guess - wanted)
    if start > 0:
        low = arb(float((arb(start) / kappa).expm1().log()))
        before = arb(log_before).exp() * (1 + kappa * step / sizes.width)
    else:
        low = arb(-(needed + 5) / 3)
        before = 2 * alpha * (alpha - 1) * (q / z * kappa) ** 2 * kappa * step * (3 * low - half * half
                                                                                  / 2).exp() / (1 - (-3 * step).exp())
        edge = kappa * low.exp() / z
        # v^α e^{2s/z}, s <= κe^ξ: the rest is α(α−1)q²(s/z)²
        if not ((1 + q * edge.expm1()).log() * alpha + 2 * edge).exp() < 2:
            return arb(0, "inf")
    total = _half_line(alpha, q, z, kappa, low, high, step)
    total += arb(0).union(before + 4 * beyond) + arb(0, error)  # beyond, h·s′ is at most twice the step back in s
    return total.log1p() / (alpha - 1)


def _half_line(alpha, q, z, kappa, low, high, step):
    """The sum of steps of ξ from `low` to the first at or above `high`."""
    grown, grow, half = low.exp(), step.exp(), 1 / (2 * z)
    total, same = arb(0), kappa is z
    for _ in range(ceil((high - float(low)) / float(step)) + 1):
        whole = 1 + grown
        s = kappa * whole.log()
        v = 1 + q * (grown if same else (s / z).expm1())
        most = (v.log() * alpha).exp()
        t = s + half
        total += (most + v / most - v - 1) * (t * t / -2).exp() * grown / whole
        grown *= grow
    return total * step * kappa / (2 * arb.pi()).sqrt()


class Sizes:
    """`log_guess`: log J, roughly; `log_all`: of a number above ∫_0^∞ g(v)·φ(max(0, s − κ·log(2)/2) + c)ds, g(v) =
    v^α·min(α(α−1)C^{2m−4}(v − 1)², 4), by doubles, whose rounding is far below the factor of 2 that it is given:
    rectangles of `width` from the rising g at the right and the falling density at the left. Beyond the last g <= 4v^α
    <= 2^{α+1}(1 + q^α e^{αs/z})."""

    def __init__(self, alpha, q, z, kappa):
        half, slack = 1 / (2 * z), kappa * log(2) / 2
        end = max(12.0, alpha / z - half + slack + 12.0)
        self.width = width = min(0.25, z / 2)
        s = np.arange(1, ceil(end / width) + 1) * width
        v1 = log(q) + s / z + np.log(-np.expm1(-s / z))  # log(v − 1)
        y = np.logaddexp(0.0, v1)
        back = np.maximum(0.0, s - width - slack) + half
        scale = log(width) - log(2 * pi) / 2
        sizes = np.minimum(log(alpha * (alpha - 1)) + log(2) * (2 - kappa / z) + 2 * v1,
                           log(4)) + alpha * y - back * back / 2
        self.logs = np.logaddexp.accumulate(sizes) + scale + log(2)  # of the first rectangles
        x = np.maximum((alpha - 1) * y, 1e-300)
        guesses = x + np.log(-np.expm1(-x)) + np.log(-np.expm1(-np.maximum(alpha * y, 1e-300))) + y - (s
                                                                                                       + half) ** 2 / 2
        self.log_guess = float(np.logaddexp.reduce(guesses)) + scale
        last = s[-1] - slack + half
        flat = (alpha + 1) * log(2) - last * last / 2
        bump = (alpha + 1) * log(2) + alpha * log(q) + alpha / z * (slack - half) + alpha * alpha / (2 * z * z) - (last
                                                                                                                   - alpha / z) ** 2 / 2
        self.log_all = max(float(self.logs[-1]), flat, bump) + 2 * log(2)

    def start(self, log_negligible):
        """An s before which the rectangles make up less, and the log of what they make up."""
        few = int((self.logs < log_negligible).sum()) - 1
        return (few * self.width, float(self.logs[few - 1])) if few > 0 else (0.0, 0.0)


def _trapezoid(power, q, z, low, high, step, mirrored=0):
    """hΣ v(t)^power v(−t)^mirrored φ over low, low + h, …, the last of them at or above `high`."""
    count = ceil((high - low) / float(step)) + 1
    t, rest = arb(low), 1 - q
    u = q * (t / z - 1 / (2 * z * z)).exp()
    grow = (step / z).exp()
    weight, ratio, fall = (-t * t / 2).exp(), (-t * step - step * step / 2).exp(), (-step * step).exp()
    total, square = arb(0), (q * (-1 / (2 * z * z)).exp()) ** 2  # q e^{w(t)} times q e^{w(−t)}
    for _ in range(count):
        logs = (rest + u).log() * power
        if mirrored:
            logs += (rest + square / u).log() * mirrored
        total += weight * logs.exp()
        u *= grow
        weight *= ratio
        ratio *= fall
    return total * step / (2 * arb.pi()).sqrt()

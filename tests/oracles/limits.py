"""Enclosures of ∫_X^∞ log B_x dx at ε = 0 (online-limit): in closed form for Laplace noise, by a trapezoidal sum with a
proof for Gaussian noise.

a, C1, C2 are the schedule's: with z = x^{a}/C1 + C2, B = 1 − 1/z for Laplace noise; B = erf(√(W/2)) with W e^W =
x^{2a}/K + C2, K = 2πC1², for Gaussian noise. """

from math import atan, ceil, cos, log, pi, sqrt

import flint
import numpy as np

arb = flint.arb
ENOUGH = 40.0  # −log of the relative error of the sum
_ANGLE = 1.2


def laplace(a, c1, c2, start):
    """B = (x^a + c)/(x^a + d), c = C1(C2 − 1), d = C1·C2; by parts, with H(c) = ∫_X^∞ c/(x^a + c) dx."""
    def h(c):
        return c * start ** (1 - a) / (a - 1) * arb.hypgeom_2f1(-c / start**a, 1, 1 - 1 / a, 2 - 1 / a)

    c, d = c1 * (c2 - 1), c1 * c2
    return -start * ((start**a + c) / (start**a + d)).log() - a * (h(d) - h(c))


def gaussian(a, c1, c2, start):
    """By parts −X·log B_X − ∫_{W_0}^∞ g dW, g = x(W)·e^{−W/2}/(√(2πW)·erf(√(W/2))), x(W) = (K(W e^W − C2))^{1/2a}; with
    W = W_0 + e^s in steps of s, on the whole line.

    On s + iθ, |θ| <= 1.2, Re W = W_0 + e^s·cos θ > 0 and |W e^W| > W_0 e^{W_0} > C2: x(W) is analytic, |x| <=
    (K(|W|e^{Re W} + C2))^{1/2a}. There |erfc(√(W/2))| <= e^{−Re W/2} (DLMF 7.8; |w(iz)| <= 1 for Re z >= 0), so that
    |erf| >= 1 − e^{−W_0/2}. The sum's error is at most 2M/(e^{2π·1.2/h} − 1), M the integral of |g·e^s| at θ = 1.2
    (integrals.py). Left of the first node g is at most its factors' largest values; from W = w >= 1 on at most
    K^{1/2a}·e^{−w(a−1)/2a}, as x <= (KW e^W)^{1/2a}, a > 1 and √(2π)·erf(√½) > 1. """
    k, power = 2 * arb.pi() * c1**2, 1 / (2 * a)
    begin = (start ** (2 * a) / k + c2).lambertw()
    end = ENOUGH * 2 * float(a) / (float(a) - 1) + 4 * log(float(k))
    low, high = -ENOUGH - log(float(start)), log(end)
    step = arb(2 * pi * _ANGLE / (ENOUGH + 4))
    most = arb(_most(float(a), float(k), float(c2), float(begin)))
    base, two_pi = begin.exp(), 2 * arb.pi()
    more, grow, total = arb(low).exp(), step.exp(), arb(0)
    near = start ** (2 * a)  # K(W_0 e^{W_0} − C2)
    for _ in range(ceil((high - low) / float(step)) + 1):
        w = begin + more
        lifted = near + k * base * (begin * more.expm1() + more * more.exp())  # K(W e^W − C2), and nothing cancels
        total += (lifted.log() * power - w / 2).exp() * more / (w.sqrt() * (w / 2).sqrt().erf())
        more *= grow
    total *= step / two_pi.sqrt()
    first = arb(low).exp()
    before = 2 * start * first  # x <= 2X there, and the other factors make less than 1
    last = k**power * (-(begin + arb(end)) * (a - 1) * power).exp() / ((a - 1) * power)
    error = 2 * most / ((2 * arb.pi() * _ANGLE / step).exp() - 1)
    if not (begin > 1 and begin + first < begin * 2
            and (k * base * (begin * first.expm1() + first * first.exp()) < near)):
        return arb(0, "inf")
    return -start * (begin / 2).sqrt().erf().log() - (total + arb(0).union(before + 2 * last) + arb(0, error))


def _most(a, k, c2, begin):
    """Above M: rectangles of s, rising factors at the right and falling ones at the left; twice that, for the rounding
    of doubles and for what lies beyond the ends, where less than e^{−60} is left."""
    width, fall = 0.125, (1 - 1 / a) / 2
    top = log(70 / (fall * cos(_ANGLE)))
    right = np.arange(-70.0, top + width, width)
    left = right - width
    real = begin + np.exp(left) * cos(_ANGLE)
    logs = (log(k) + np.log(begin + np.exp(right) + c2 * np.exp(-real))) / (2 * a) - real * fall + right
    values = np.exp(logs) / np.sqrt(2 * pi * real)
    return 2 * float(values.sum()) * width / (1 - sqrt(np.exp(-begin)))


def quadrature_error(a, doubled):
    """The relative error of Gauss-Legendre panels with 12 nodes in the limit's sum, as in the proof in online_contraction.py:

    (64/30)·ρ^{−22}/(1 − ρ^{−2})·(g/v)^a/cos(k·aφ)^{1/k} at the best ρ; k = 2 where the panels are `doubled`, else 1."""
    g, k = min(2.0, 1 + 4 / (4 * a + 2)), 2 if doubled else 1
    centre, half, least = (1 + g) / 2, (g - 1) / 2, 1.0
    for i in range(1, 1000):
        reach = half + (centre - half) * i / 1000
        rho = reach / half + sqrt((reach / half) ** 2 - 1)
        across = half * (rho - 1 / rho) / 2
        angle = k * a * atan(across / sqrt(centre**2 - reach**2))
        if angle < 0.999 * pi / 2:
            least = min(least, 64 / 30 * rho**-22 / (1 - rho**-2) * (g / (centre - reach)) ** a / cos(angle) ** (1 / k))
    return least

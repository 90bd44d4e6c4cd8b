"""How much of a difference two runs of noisy SGD on the same data keep, after R steps in a bounded convex set.

Units: the noise ησ of a step is 1, so the set has the diameter Δ = D/(ησ). E_γ is the hockey-stick divergence, γ =
e^ε >= 1, and K the step that both runs take; a step without its noise takes two points apart by at most a factor c <=
1.

Lemma (mirrored noise). From any two starts x, y in the set E_γ(K^R(x) ‖ K^R(y)) <= κ_R(γ), the least over R₁ < R of

    s(R₁)·θ(log γ, Δ√w(R − R₁)),   w as in contraction.py, 1/R for c = 1,

where s(R₁) is any bound on the chance S that a walk survives: it starts at H = Δ/2; a step follows a Brownian motion
for a time of 1, killed at 0, and then lowers the walk to H if it is above. Both data sets have such a K. For c > 1
the lemma is false.

Proof. Condition on the batches, which both runs share; E_γ is jointly convex. Let the two points, after their
gradients, be z apart. Move them by the same noise orthogonal to their difference, and along it by noise that is
mirrored at the hyperplane half-way between them until a path reaches that hyperplane, and equal from then on. Each
point's noise is N(0, I), and half the distance is |z/2 + B| for a Brownian motion B until it is 0. The projection and
the gradients do not increase distances, the set has the diameter Δ, and the killed motion is monotone in its start,
so half the distance stays below the walk. So with probability 1 − S at least the two copies are equal after R₁ steps:
their laws are (1 − S′)ν + S′ν₁ and (1 − S′)ν + S′ν₂ with S′ <= S and laws ν₁, ν₂ on the set, and the later noise is
independent of them. As E_γ(μ‖μ) = 0, by joint convexity the divergence after R steps is at most S′ times that of R −
R₁ steps from ν₁ and ν₂. The latter is at most θ(log γ, Δ√w(R − R₁)): shifts a_k of the noise undo the distance
(burn_in_rdp.py). ∎

Survival. s(R) is the smaller one of erf(H/√2)^R, as each step starts at H or below, and, for whole numbers R >= R₀ >=
1 and any ℓ >= H + κ with .13 <= R₀/ℓ² <= .2, κ = 3/4, ω = π/(2ℓ), of

    g_R(ℓ − κ),   g_t(u) = 1.0275·(4/π)·(e^{−ω²t/2} sin ωu + e^{−9ω²t/2} sin(3ωu)/3).

Proof. It is enough to take H = ℓ − κ, as S grows with H. Let S_t(u) be the survival from u <= H; S_0 = 1 and
S_{t+1}(u) = ∫_0^∞ k_u(v) S_t(min(v, H)) dv with k_u(v) = φ(v − u) − φ(v + u) >= 0.
(1) S_{R₀} <= g_{R₀} on [0, H]: without the lowering the survival is erf(u/√(2R₀)), and erf(y/√(2x)) <= 1.0275·(4/π)·
(e^{−π²x/8} sin(πy/2) + e^{−9π²x/8} sin(3πy/2)/3) for 0 <= y <= 1, .13 <= x <= .2 (checked in the tests by interval
arithmetic); y = u/ℓ, x = R₀/ℓ².
(2) ∫_0^∞ k_u(v) g_t(v) dv = g_{t+1}(u), because E sin(ω(u + N)) = e^{−ω²/2} sin ωu and sin is odd. So S_t <= g_t
gives S_{t+1} <= g_{t+1} if ∫_H^∞ k_u(v)(g_t(v) − g_t(H)) dv >= 0. Put v = H + w. Up to a positive factor g_t(v) −
g_t(H) is G(w) = F(w − κ) − F(κ), F(x) = cos ωx − b cos 3ωx, 0 <= b = e^{−4ω²t}/3 <= b₀ = e^{−.13π²}/3 < 1/9. As |sin
3θ| <= 3|sin θ|, F falls in |x| up to 2ℓ, where it is least; so G >= 0 for w <= 2κ, and G may be replaced by a smaller
function Ĝ with Ĝ <= 0 for w >= 2κ: F(x) is replaced by F(2ℓ) for |x| > 2ℓ. Up to a constant, k_u is φ(w)m(w), m(w) =
e^{−aw}·(1 − e^{−2u(H+w)}), a = H − u. For u <= H/2 m falls: −a + 2u/(e^{2u(H+w)} − 1) <= 0 holds at w = 0, as
2u/(e^{2uH} − 1) + u is convex in u and at most H at u = 0 and u = H/2 for H >= 1.05. For u >= H/2, m >= e^{−2aκ}(1 −
e^{−H²}) below w = 2κ and m <= e^{−2aκ} above. In both cases the integral is >= 0 if (1 − e^{−H²})·∫_0^{2κ} φĜ >=
∫_{2κ}^∞ φ|Ĝ|. This is linear in b, and holds for b = 0 and b₀ and all ω <= π/(2·2.2) (checked in the tests by
interval arithmetic); ℓ >= 1/√.2 > 2.2, so H > 1.45. ∎ """

from functools import lru_cache
from math import ceil, cos, erfc, exp, log, log1p, pi, sqrt
from typing import Any

import numpy as np

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.noisy_sgd._engine import contraction
from dpcalc.numerics.arrays import Array
from dpcalc.numerics.hockey_stick_array import log_theta

OVERSHOOT = 0.75  # κ, in units of the noise: by how much ℓ exceeds H, because the walk is lowered only after a step
EARLIEST, LATEST = 0.1301, 0.1999  # R₀/ℓ², inside the range of the proof in spite of rounding
AMPLITUDE = 1.0275  # factor by which g exceeds the survival of a walk that is not lowered, at most
_MARGIN = 1e-12  # relative, for the rounding of a survival and of a ratio Δ√w


def kernel(width: float, g: float, steps: int) -> tuple[tuple[float, float], ...]:
    """(log s(R₁), Δ√w(R − R₁)) for every R₁ that is tried, rounded up; `width` is Δ, g is 1 − c."""
    return tuple((_log_survival(width, first), width * sqrt(contraction.weight(g, steps - first)) * (1 + _MARGIN))
                 for first in _first_parts(steps))


def log_kept(log_inner: Array, kernels: tuple[tuple[tuple[float, float], ...], ...]) -> Array:
    """Upper bounds on log κ_R(γ) at log γ >= 0, with a row for each kernel."""
    survival, ratio = np.array(kernels).transpose(2, 0, 1)[:, :, :, None]
    found: Array = (survival + log_theta(log_inner, ratio)).min(axis=1)
    return found


def exact_kept(mp: Any, log_inner: Any, width: Any, g: Any, steps: int) -> Any:
    """κ_R at log γ >= 0, at high precision."""
    return min((_exact_survival(mp, width, first)
                * theta(mp, log_inner, width * mp.sqrt(contraction.exact_weight(mp, g, steps - first)))
                for first in _first_parts(steps)), key=float)


def _first_parts(steps: int) -> list[int]:
    """The numbers R₁ of mirrored steps that are tried; any of them proves a bound."""
    return [steps * k // 10 for k in range(10)]


@lru_cache(maxsize=1024)
def _log_survival(width: float, steps: int) -> float:
    """log s(R), rounded up."""
    if steps == 0:
        return 0.0
    half = width / 2
    least = steps * log1p(-erfc(half / sqrt(2) * (1 + _MARGIN)))
    first, length = _start(half)
    if steps >= first:
        omega = pi / 2 / length
        decay = omega**2 * steps
        sines = cos(OVERSHOOT * omega) - exp(-4 * decay) * cos(3 * OVERSHOOT * omega) / 3
        least = min(least, log(AMPLITUDE * 4 / pi * sines) - decay / 2 + _MARGIN * decay)
    return min(0.0, least + _MARGIN * abs(least))


def _start(half: float) -> tuple[int, float]:
    """R₀ and ℓ."""
    length = half + OVERSHOOT
    first = max(1, ceil(EARLIEST * length**2))
    return first, max(length, sqrt(first / LATEST))


def _exact_survival(mp: Any, width: Any, steps: int) -> Any:
    """s(R) at high precision."""
    if steps == 0:
        return mp.mpf(1)
    least = mp.erf(width / 2 / mp.sqrt(mp.mpf(2))) ** steps
    first, _ = _start(float(width) / 2)
    if steps < first:
        return least
    length = max(width / 2 + OVERSHOOT, mp.sqrt(mp.mpf(first) / LATEST), key=float)
    omega = mp.pi / 2 / length
    series = (mp.exp(-(omega**2) * steps / 2) * mp.cos(OVERSHOOT * omega)
              - mp.exp(-9 * omega**2 * steps / 2) * mp.cos(3 * OVERSHOOT * omega) / 3)
    return min(least, mp.mpf(AMPLITUDE) * 4 / mp.pi * series, mp.mpf(1), key=float)

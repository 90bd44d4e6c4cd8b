"""The privacy profile of one epoch of shuffled noisy SGD without convexity, where the secret order hides a record among
the others.

Proof. It is that of shuffled_hiding.py, whose Lemma and Theorem hold for every c >= 0: a step w ↦ w − ηg(w) with a
β-Lipschitz g is c-Lipschitz with c = 1 + ηβ, as |w − v − η(g(w) − g(v))| <= |w − v| + ηβ|w − v|. A projection onto a
closed convex set K, or none (K is then the whole space), is 1-Lipschitz, and post-processing of the noise. What differs
is the worst place of a block: for c > 1 the cost of two exchanged places may rise in the one with fewer later slots, so
pushes.places takes the larger of both ends there (proof in it). ∎

Clipping of the gradient of each record, or of the mean over a batch, to a fixed norm is a projection on a ball, so
1-Lipschitz, and keeps c = 1 + ηβ. Where the mean is clipped to norm C, two batches that differ in one record are 2L/b
apart only if the gradient of each record is itself bounded by L; else 2C. """

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcalc.bounds.hiding._engine.profile import FINE, PlanOrAlone, cached_places
from dpcalc.bounds.hiding.shuffled_hiding import EQUAL, FIXED, OTHERS, PLAIN, SECRET
from dpcalc.bounds.pnsgd import smooth_nonconvex_shuffled, smooth_nonconvex_shuffled_exact
from dpcalc.bounds.pnsgd._engine.nonconvex import ASSUMPTIONS, SMOOTH, ratios
from dpcalc.bounds.pnsgd._engine.positions import inverse_of
from dpcalc.core.bound import Blocks, Choices, ProfileBound, Theorem

if TYPE_CHECKING:
    from dpcalc.bounds.hiding._engine.plan import Places, PlacesExact


def _places(fine: int, n: int, **p: float) -> Places:
    from dpcalc.bounds.hiding._engine import pushes

    mu = ratios(**p)
    return pushes.places(mu.first, mu.log_c, n, fine)


def _places_exact(mp: Any, fine: int, n: int, **p: float) -> PlacesExact:
    return _places_of(mp, fine, n, p["level"], p["lipschitz"], p["learning_rate"], p["smoothness"])


@cached_places
def _places_of(mp: Any, fine: int, n: int, level: float, lipschitz: float, learning_rate: float,
               smoothness: float) -> PlacesExact:
    from dpcalc.bounds.hiding._engine import pushes

    return pushes.places_exact(mp, 2 * mp.mpf(lipschitz) / mp.mpf(level),
                               1 + mp.mpf(learning_rate) * mp.mpf(smoothness), n, fine)


PLAN = PlanOrAlone(_places, _places_exact, smooth_nonconvex_shuffled_exact.BOUND)
PROFILE = PLAN.profile


def rdp(alpha: float, n: int, **p: float) -> float:
    """ε(α) by the integral of the profile, or that of smooth-nonconvex-shuffled if it is less."""
    from dpcalc.numerics import renyi_of_profile

    plain = smooth_nonconvex_shuffled.value(alpha, n=n, **p)
    return min(plain, renyi_of_profile.value(alpha, PROFILE.many, ratios(**p)(0), (("n", n), *p.items())))


BOUND = ProfileBound(
    Theorem(
        name="smooth-nonconvex-shuffled-hiding",
        example="shuffle-pnsgd --sigma 0.5 --lipschitz 1 --diameter 2 --learning-rate 0.01 --smoothness 0.5 --n 1000 "
                "--delta 1e-3",
        statement="δ(ε) ≤ (1/n)Σ p_mm′ θ(ε + log(c_mm′/p_mm′), μ(m, m′)) for all p, c ≥ 0 with Σ_m′ p_mm′ = 1 and "
                  "Σ_m c_mm′ ≤ 1; μ(m, m′) as in shuffled-hiding, with C = 1 + ηβ; p and c by its plan with one "
                  "number Z, in blocks of places from above",
        in_words="What shuffled-hiding says, without convexity: for losses that are only smooth, at any learning "
                 "rate, and with clipping of the gradient of each record.",
        source="dpcalc, bounds/hiding/smooth_nonconvex_shuffled_hiding.py (proof there), from Feldman, Mironov, "
               "Talwar & Thakurta 2018, Theorem 23, arXiv:1808.06651; Dong, Roth & Su 2022, arXiv:1905.02383v3",
        assumptions=(*ASSUMPTIONS, SECRET, OTHERS, FIXED, PLAIN, EQUAL),
        riskier=("learning_rate",),
    ),
    params=(*SMOOTH, "n"),
    value=PROFILE.value,
    exact=PLAN.exact,
    rtol=2e-9,
    inverse=inverse_of(PROFILE.value, PROFILE.coarse),
    blocks=Blocks(FINE, PROFILE.blocks),
    choices=Choices(witness=PROFILE.choices),
    rdp=rdp,
)

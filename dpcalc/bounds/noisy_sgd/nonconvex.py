"""Bounds for noisy SGD on smooth losses that need not be convex: the theorems for convex losses at c = 1 + ηβ.

A step may take two runs apart by a factor c = 1 + ηβ. Proof. The proofs of this family use convexity in one place only:
it makes a step w ↦ w − ηg(w) contract. Where every record's gradient, clipped or not, changes by at most β|w − w′|, so
does the mean g of a batch of them, and |w − ηg(w) − w′ + ηg(w′)| <= (1 + ηβ)|w − w′|. (Clipping to a fixed norm is a
projection on a ball, which brings no two gradients further apart.) What else the proofs use holds for every c: two
records' gradients differ by 2L at most at one point, a projection on a convex set brings no two points further apart,
and a Gaussian that hides a shift of a has the ratio a/(ησ), wherever it starts from. ηβ may be any number. ∎

In the formulas this is the curvature ρ = −β, which is the least that a β-smooth loss can have.

Random batches. The proofs of burn_in_rdp.py and of burn_in_profile.py hold word by word at every c. In (2) of
burn_in_rdp.py the copies use the same batch, j and coin, so that the coupling takes a shift s to cs where c > 1 too; d
= min(D, (2ηL/b)(c^{T−R} − 1)/(c − 1)) grows with T − R until it is D; and w(R) = 1/Σ_{k<=R} c^{−2k}, which falls in R
towards c² − 1 and not to 0: expanding steps hide a start at a distance D no better than by the Gaussian of ratio D√(c²
− 1)/(ησ1). ∎

Full batches or a fixed order: amplification by iteration over steps that may expand, with the best shifts. (A schedule
has a c of its own for every step.)

Statement. The last iterate is μ-GDP with the μ of iteration.py at c = 1 + ηβ: μ² = min over τ, a of Σ_{k>τ} a_k²/(ησ)²
with z_k = cz_{k−1} + s_k − a_k >= 0, z_T = 0, z_τ = min(D, distance reached by τ); s_k = 2ηL/b at the steps that use
the record, one in N = n/b, else 0. It is never above composition, which is a = s; with one use it is the theorem of one
pass.

Proof. Let X be P's run, φ its steps before the noise and ψ those of Q. X̃ is Q's iterate at τ, within z_τ of X as both
runs have the same batches and noise until then, and X̃ ← Π(ψ(X̃) + v + the noise of X) after it, v = λ(φ(X) − ψ(X̃)).
As above, |φ(X) − ψ(X̃)| <= |φ(X) − φ(X̃)| + |φ(X̃) − ψ(X̃)| <= cz + s, whatever c is. λ = min(1, a/|φ(X)
− ψ(X̃)|), so that v is at most a long, and what is left, and the next distance, is at most (|φ(X) − ψ(X̃)| − a)₊ <= cz
+ s − a. At the end it is 0: X̃ = X. Given both at τ, v_k is a function of the noises before step k, and so of X̃'s own
increments v + noise before it; the increments of X̃ against the noises of Q are thus an adaptive composition of
Gaussian mechanisms of ratios a/(ησ), with μ² = Σ a_k²/(ησ)², and both runs are the same function of them
(post-processing; joint convexity over the iterates at τ). (The shift lemma of Bok, Su & Altschuler 2024, Lemma 3.2,
holds for any Lipschitz step too.) ∎

Closed form. In units of a distance at τ, a push j steps later counts as c^{−j}s and the noise there as c^{−2j}. The
ratio of a push to the noise from there to the next use is c^N times that ratio of the use before, and for the last use,
which at most N steps follow, it is no smaller. So no push is left to be undone after the next use. Each push is undone
in the steps up to the next use, at the cost s²/Σ_{j<N} c^{−2j}, except for the first p, which are undone together with
the distance at τ: those whose own ratio is less than that of all before them, pooled. Own ratios rise with p, and a
pooled ratio is a mediant of those before: if push p is pooled, so is push p − 1. This is the lower convex hull
(taut.py). The distance is capped by D at τ only, which gives the same, as c >= 1. For a record of unknown place the
last use is the worst one: later steps are post-processing, and more steps before a window do not bring two runs
nearer. """

from dataclasses import replace
from typing import Any, TypeVar

from dpcalc.bounds.noisy_sgd import burn_in_profile, burn_in_rdp, iteration, iteration_schedule
from dpcalc.bounds.noisy_sgd.composition import FRESH, HELD, PLAIN
from dpcalc.bounds.start import START
from dpcalc.core.bound import Bound, Choices, GaussianDp, ProfileBound

Kind = TypeVar("Kind", bound=Bound)

SETTING = (
    "each record's gradient, as it is used (clipped to a fixed norm, perhaps), is at most L and β-Lipschitz in w, as "
    "that of a β-smooth loss is, clipped or not; the loss need not be convex",
    "neighbours differ by replacing one record",
    START,
    PLAIN,
)


def without_convexity(bound: Kind, name: str, example: str, statement: str, in_words: str,
                      assumptions: tuple[str, ...], source: str) -> Kind:
    """The bound for smooth losses made from one for convex losses, where both formulas are the same function of c."""
    theorem = bound.theorem._replace(name=name, example=example, statement=statement, in_words=in_words,
                                     assumptions=assumptions, source=source, errata=())
    smooth = replace(bound, theorem=theorem, params=tuple(p for p in bound.params if p != "strong_convexity"),
                     value=_smooth(bound.value), exact=_smooth(bound.exact),
                     choices=Choices(*map(_smooth, bound.choices)))
    if not isinstance(smooth, ProfileBound):
        return smooth
    return replace(smooth, inverse=_smooth(smooth.inverse), rdp=_smooth(smooth.rdp),
                   mu=smooth.mu and GaussianDp(_smooth(smooth.mu.mu), _smooth(smooth.mu.exact)))


def _smooth(function: Any) -> Any:
    """The function of the parameters without ρ that is `function`, if there is one, at ρ = −β."""
    return function and (lambda *args, **params: function(*args, **with_curvature(params)))


def with_curvature(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a formula in ρ, with ρ = −β."""
    return {**params, "strong_convexity": -params["smoothness"]}


_PROOF = "proof in dpcalc/bounds/noisy_sgd/nonconvex.py"
_RANDOM = (*SETTING, *FRESH, HELD, "only the last iterate is released")

BURN_IN_RDP = without_convexity(
    burn_in_rdp.BOUND,
    "burn-in-rdp-nonconvex",
    "burn-in --n 60000 --batch-size 128 --steps 1e7 --lipschitz 1 --smoothness 1e-5 --loss any "
    "--learning-rate 0.05 --diameter 2 --sigma 0.1 --alpha 8",
    "min over R ≤ T, σ1² + σ2² = σ² of R·S_r(α, b/n, bσ2/(2L)) + α d² w(R)/(2η²σ1²), w(R) = (c²−1)/(1−c^(−2R)), c = 1 "
    f"+ ηβ, d = min(D, (2ηL/b)(c^(T−R)−1)/(c−1)); {_PROOF}",
    "The bound of burn-in-rdp for losses that are smooth but need not be convex, also with clipped gradients. A record "
    "is replaced. Steps may take two runs further from each other by a factor of 1 + ηβ, so it gains over composition "
    "only where ηβ is very small. It is false where an earlier iterate or an average of iterates is released, or for "
    "shuffled batches.",
    _RANDOM,
    "after Altschuler & Talwar 2022, Theorem 3.1, and Berthier 2019, Theorem 3.5",
)
BURN_IN_PROFILE = without_convexity(
    burn_in_profile.BOUND,
    "burn-in-profile-nonconvex",
    "burn-in --n 60000 --batch-size 128 --steps 1e7 --lipschitz 1 --smoothness 1e-5 --loss any "
    "--learning-rate 0.05 --diameter 2 --sigma 0.1 --delta 1e-5",
    "R steps of the pair δ(ε) = q·θ(log(1 + (e^ε − 1)/q), 2L/(bσ2)) composed with a Gaussian of μ = d√w(R)/(ησ1), d "
    f"and w(R) at c = 1 + ηβ, for the best R and σ1² + σ2² = σ²; {_PROOF}",
    "The bound of burn-in-profile for losses that are smooth but need not be convex, also with clipped gradients. A "
    "record is replaced. Steps may take two runs further from each other by a factor of 1 + ηβ, so it gains over "
    "composition only where ηβ is very small. It is false where an earlier iterate or an average of iterates is "
    "released, or for shuffled batches.",
    _RANDOM,
    "after Altschuler & Talwar 2022, Theorem 3.1, Berthier 2019, Theorem 3.5, and Bok, Su & Altschuler 2024, "
    "Theorem 3.1",
)
ITERATION = without_convexity(
    iteration.BOUND,
    "iteration-nonconvex",
    "burn-in --n 60 --batch-size 6 --steps 1e6 --order fixed --lipschitz 1 --smoothness 1 --learning-rate "
    "0.05 --diameter 2 --sigma 0.1 --loss any --delta 1e-5",
    "the last iterate is μ-GDP, μ² = min Σ a_k²/(ησ)² over shifts z_k = cz_{k−1} + s_k − a_k ≥ 0 that "
    f"end at 0 (lower convex hull), c = 1 + ηβ; {_PROOF}",
    "The bound of iteration for losses that are smooth but need not be convex, also with clipped gradients: the last "
    "iterate of noisy SGD with all records in every step, or with batches in the same order in every pass. A record is "
    "replaced. It is never above composition, and gains little where ηβ is not small. It is false where an earlier "
    "iterate is released.",
    (*SETTING, "every step uses all records (b = n), or the batches come in the same fixed order in every pass", HELD,
     "only the last iterate is released"),
    "after Feldman, Mironov, Talwar & Thakurta 2018, Theorem 22, and Berthier 2019, Theorem 3.5",
)
SCHEDULE = without_convexity(
    iteration_schedule.BOUND,
    "iteration-schedule-nonconvex",
    "burn-in --n 1 --batch-size 1 --schedule steps.json --lipschitz 1 --smoothness 1 --loss any "
    "--diameter 2 --delta 1e-5",
    f"the bound of iteration-nonconvex with η_k, σ_k and use of the record given for every step, c_k = 1 + η_kβ; "
    f"{_PROOF}",
    "The bound of iteration-schedule for losses that are smooth but need not be convex, also with clipped gradients: "
    "every step has its learning rate and noise, and the steps that use the record are given. A record is replaced. It "
    "is never above the composition of these steps, and gains little where ηβ is not small. It is false where an "
    "earlier iterate is released.",
    (*SETTING, "the steps that use the record do not depend on chance or on the data", HELD,
     "only the last iterate is released"),
    "after Feldman, Mironov, Talwar & Thakurta 2018, Theorem 22, and Berthier 2019, Theorem 3.5",
)

BOUNDS = (BURN_IN_RDP, BURN_IN_PROFILE, SCHEDULE, ITERATION)

"""The last iterate of noisy SGD on convex losses in a bounded set: a privacy profile that holds after any number of
steps.

Setting. Units: the noise ησ of a step is 1. K′ is a step on one data set and K on its neighbour: the gradient of a
fresh random batch of b of the n records (or of all), noise, and projection on the convex set of diameter Δ = D/(ησ).
Losses are convex, so that a step without its noise takes two points apart by a factor c <= 1 at most. P_t and Q_t are
the laws after t steps with K′ and with K, from the same w₀ in the set, which does not depend on the data. E_γ is the
hockey-stick divergence, γ = e^ε >= 1. A profile is a function δ with E_γ(P_t‖Q_t) <= δ(γ) and E_γ(Q_t‖P_t) <= δ(γ)
for every t. All that follows is symmetric in P and Q, and is written for one order.

Lemma 1. E_γ(K^R(x)‖K^R(y)) <= κ_R(γ) for all x, y in the set, also for K′ (proof in
bounds/noisy_sgd/_engine/meeting.py).

Lemma 2. If E_γ(μ‖ν) <= d for laws μ, ν on the set, d > 0, then E_γ(μK^R‖νK^R) <= d·κ_R(1 + (γ−1)/d).
Proof. If E_γ(μ‖ν) = 0, so is the left side. First let d = E_γ(μ‖ν) > 0. By the Jordan decomposition μ − γν = d·p −
(d+γ−1)·p′ with laws p and p′, so that E_γ(μK^R‖νK^R) <= d·E_{(d+γ−1)/d}(pK^R‖p′K^R), which joint convexity and Lemma
1 bound. The bound rises in d: κ_R is a minimum of multiples of profiles θ, and for two laws a, a′ with the profile θ,
d·θ(log(1 + (γ−1)/d)) = sup over tests 0 <= f <= 1 of d·(∫f da − ∫f da′) − (γ−1)·∫f da′, where only tests with ∫f da
>= ∫f da′ matter, as f = 0 gives 0. ∎

Lemma 2′. With a = min(Δ, push/(1−c)), or Δ for c = 1, E_γ(P_tK^R‖Q_tK^R) <= θ(log γ, a√w(R)) for every t.
Proof. With the same noise, batches and coins the two runs are never more than a apart, as a step adds at most push
(2L/(bσ)) to their distance and takes the rest to c times itself; shifts of the noise undo a in R steps
(burn_in_rdp.py). ∎

Lemma 3. E_γ(νK′^R‖νK^R) <= W_R(γ) for every law ν: R steps from the same start (proof in
bounds/noisy_sgd/_engine/windows.py). The steps may differ from each other, as long as each takes two points apart by
a factor of 1 at most and uses the record as before or not at all.

Theorem A. Let δ be a profile, γ = γ₁γ₂ with γ₁, γ₂ >= 1, and d = δ(γ₂). Then E_γ(P_t‖Q_t) <= W_R(γ₁) + γ₁·min(d·κ_R(1
+ (γ₂−1)/d), θ(log γ₂, a√w(R))) for every t.
Proof. t >= R: for every test f, ∫f dP_t − γ∫f dQ_t = (∫f dP_{t−R}K′^R − γ₁∫f dP_{t−R}K^R) + γ₁·(∫f dP_{t−R}K^R − γ₂∫f
dQ_{t−R}K^R), and Lemma 3 and Lemmas 2 and 2′ bound the two parts. t < R: put R − t steps before the run that do not
use the record and end in w₀ whatever came before (a projection on the set {w₀}); by Lemma 3 E_γ(P_t‖Q_t) <= W_R(γ) <=
W_R(γ₁). ∎

Corollary. Let 0 = ε_0 < ε_1 < …, δ_0 = W_R(1)/(1 − κ_R(1)) or W_R(1) + θ(0, a√w(R)) for some R, and δ_j for j >= 1 be
the bound of Theorem A for γ = e^{ε_j}, any R, and γ₂ = e^{ε_i} with d = δ_i for some i < j. Then E_γ(P_t‖Q_t) <= δ_j
at γ = e^{ε_j} for all j and t.
Proof. j = 0, by induction over t: E_1(P_t‖Q_t) <= W_R(1) for t < R, and otherwise at most W_R(1) +
κ_R(1)·E_1(P_{t−R}‖ Q_{t−R}) <= W_R(1) + κ_R(1)·δ_0 = δ_0; the other δ_0 is Theorem A. j >= 1, by induction over j:
Theorem A uses the profile at γ₂ only. ∎

Theorem B (pooling), for full batches. Let ψ_R(γ) = θ(log γ, Δ√w(R) + push·√R). Let (p, q) be a pair of laws on losses
ℓ whose profile is at least δ at every γ > 0 (δ(γ) = 1 − γ + γδ(1/γ) for γ < 1), and whose positive finite losses are
among ε_1 < ε_2 < …; let γ₂ = e^{ε_k} or 1 (ε_0 = 0), d = E_{γ₂}(p‖q) and d₁ = E_1(p‖q). Then for every γ = e^ε >= γ₂
and every t

    E_γ(P_t‖Q_t) <= p(ℓ <= 0)·W_R(ε) + Σ_{1<=j<=k} p(ε_j)·W_R(ε − ε_j) + γ₂·q(ℓ > ε_k)·W_R(ε − ε_k)
                    + d·ψ_R(ε + log(d₁/d)),

where W_R and ψ_R are written as functions of ε.
Proof. ψ_R bounds E_γ(νK′^R‖ν′K^R) for all laws ν, ν′ on the set: at each step a shift of the noise undoes the push,
and another one its part of the distance at the start, as in burn_in_rdp.py; the root of the sum of their squares is
at most push·√R + Δ√w(R) by Minkowski's inequality. t >= R: (P_{t−R}, Q_{t−R}) is the image (∫Π_o dp(o), ∫Π_o dq(o))
of (p, q) under a kernel Π, whose laws are on the set (Blackwell; Zhu, Dong & Wang 2022). Write p = A + e with A =
min(p, γ₂q) and |e| = d, and q = B + e′ with B = min(p, q) and |e′| = d₁. A test of P_t − γQ_t is a sum of tests of
A_o·Π_oK′^R − γB_o·Π_oK^R over o, which start from the same law Π_o and are at most A_o·W_R(ε + log(B_o/A_o)), and of
eΠK′^R − γe′ΠK^R, which is at most d·ψ_R(ε + log(d₁/d)), or 0 if d = 0. For ℓ_o <= 0, A_o = B_o = p_o; for 0 < ℓ_o <=
ε_k, A_o = p_o and B_o = e^{−ℓ_o}p_o; for larger losses A_o = γ₂q_o and B_o = q_o. t < R: let V(γ) be the supremum of
E_γ over all runs of Lemma 3. As a supremum of sums, (a, b) → a·V(b/a) is subadditive. Since |A| + d = |B| + d₁ = 1,
V(γ) is at most the right side with V for W_R and ψ_R, and V <= W_R, V <= ψ_R; E_γ(P_t‖Q_t) <= V(γ) as in Theorem A. ∎
The pair is taken from points (ε_j, δ_j): its profile is the lower convex hull in γ of the points and of their mirror
images for γ < 1, which say the same about the other order of P and Q. Profiles are convex and fall in γ, and taking
mirror images keeps lines, so this hull, constant beyond the last point, is not below the true one. The points with
ε_j >= 0 alone give it if q(ℓ > 0) <= (1 − δ_0)/2, so that it is convex at γ = 1; otherwise nothing is pooled. The
Corollary holds with Theorem B in place of Theorem A where all ε_i are below ε_j. (Theorem B is true for random
batches too, as ψ_R bounds every pattern of uses, but gains nothing there.) """

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import ceil, exp, log, log2, sqrt
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.noisy_sgd import burn_in_rdp, composition
from dpcalc.bounds.noisy_sgd._engine import contraction
from dpcalc.bounds.noisy_sgd.burn_in_rdp import SHARED
from dpcalc.bounds.noisy_sgd.composition import FRESH, SETTING
from dpcalc.core.bound import NO_CHOICES, Choices, ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.root import Unreachable, boundary, bracket
from dpcalc.numerics.rounding import ratio_up, up

if TYPE_CHECKING:
    from dpcalc.bounds.noisy_sgd._engine.any_length import Profile, Run
    from dpcalc.bounds.noisy_sgd._engine.any_length_exact import WindowDelta

# Unlike other bounds, this one lets two runs have different noise, so that it does not suffice that two runs with the
# same noise stay near each other.
_PROJECTED = ("after the noise the iterates are projected on a closed convex set of diameter D that does not depend on "
              "the data")
_LEAST_EPSILON = 1e-12  # of a profile; a smaller ε is a point of it
_END = 1.35  # profiles end at this number times a power of two
_LARGEST_EPSILON = 512.0  # beyond, e^ε may leave the range of doubles, and no such ε means anything
_LEAST_LOG_DELTA = -660.0  # a little above log of any_length.TINY, to which a smaller δ is raised


def run_of(n: int, batch_size: int, iterations: int, lipschitz: float, smoothness: float, strong_convexity: float,
           learning_rate: float, diameter: float, sigma: float) -> Run:
    """The run in units of the noise of a step, rounded to the side of more loss; the number of steps does not
    matter."""
    from dpcalc.bounds.noisy_sgd._engine.any_length import Run

    push, width = ratio_up((2.0, lipschitz), (batch_size, sigma)), ratio_up((diameter,), (learning_rate, sigma))
    g = contraction.gap(learning_rate, smoothness, strong_convexity)
    return Run(ratio_up((batch_size,), (n,)), push, width, g, min(width, up(push / g)) if g else width)


def _profile(run: Run, epsilon: float, proven: bool = True) -> Profile:
    """The profile up to the next number 1.35·2^k, so that questions about similar ε share one. No usual ε is near such
    a number, so that a search for one hardly needs two profiles."""
    from dpcalc.bounds.noisy_sgd._engine import any_length

    # ε is more than the mean loss of the shortest window, about half of the square of its deviation.
    if epsilon > _LARGEST_EPSILON or any_length.deviations(run)[0] ** 2 / 2 > _LARGEST_EPSILON:
        raise _no_epsilon()
    return any_length.profile(run, _END * 2.0 ** ceil(log2(max(epsilon, _LEAST_EPSILON) / _END)), proven)


def _no_epsilon() -> OutOfScope:
    return OutOfScope("no-solution", f"burn-in-contraction gives no ε up to {_LARGEST_EPSILON:g} here; use another "
                                     "bound", "--bound")


def value(epsilon: float, proven: bool = True, **params: Any) -> float:
    """log δ; if not `proven`, about that."""
    return min(0.0, log(_profile(run_of(**params), epsilon, proven).point(epsilon)[0]))


def inverse(log_delta: float, **params: Any) -> float:
    run = run_of(**params)
    near = _near(log_delta, run)
    if _profile(run, near).deltas[0] <= exp(log_delta):
        return 0.0

    def residual(epsilon: float) -> float:
        return value(epsilon, **params) - log_delta

    try:
        return boundary(residual, *bracket(residual, near, +1, _LEAST_EPSILON, _LARGEST_EPSILON, step=0.005))
    except Unreachable:
        raise _no_epsilon() from None


def estimate(log_delta: float, **params: Any) -> float:
    """About the inverse, without proof."""
    return _near(log_delta, run_of(**params))


def _near(log_delta: float, run: Run) -> float:
    """About the least ε with a small enough δ, between two points of an estimated profile up to ever larger ε."""
    if log_delta < _LEAST_LOG_DELTA:
        raise OutOfScope("out-of-range", "a δ below 1e-286 is too small for burn-in-contraction; use an RDP bound",
                         "--bound")
    import numpy as np

    from dpcalc.bounds.noisy_sgd._engine import any_length

    epsilon = max(1.5 * any_length.deviations(run)[1] * sqrt(-log_delta), run.push**2 / 2 if run.push > 1 else 0.0)
    while True:
        x = _profile(run, epsilon, proven=False)
        small = (x.deltas <= exp(log_delta)).nonzero()[0]
        if len(small):
            return float(np.interp(-log_delta, -np.log(x.deltas), x.epsilons)) if small[0] else 0.0
        epsilon = 2 * float(x.epsilons[-1])


def rdp(alpha: float, proven: bool = True, **params: Any) -> float:
    """An upper bound on D_α, by its integral over the profile; beyond the last point δ is bounded by burn-in-rdp at the
    order 2α. If not `proven`, about that."""
    from dpcalc.numerics import renyi_of_profile

    order = 2 * alpha
    rough = burn_in_rdp.value(order, **params, **burn_in_rdp.search(order, **params))
    # The part beyond is about e^{(α−1)D_2α + log δ/2}: less than e^{−20}.
    log_delta = -2 * (20 + (alpha - 1) * rough)
    if log_delta < _LEAST_LOG_DELTA:
        raise OutOfScope("no-solution", "this Rényi divergence is too large for burn-in-contraction; use burn-in-rdp",
                         "--bound")
    run, last = run_of(**params), (inverse if proven else estimate)(log_delta, **params)
    import numpy as np

    epsilons = np.append(0.0, np.geomspace(last * 1e-3, last, 200))
    # Profiles up to a much larger ε are less sharp.
    logs = np.log([_profile(run, max(e, last / 16), proven).point(e)[0] for e in epsilons.tolist()])
    return renyi_of_profile.of_points(alpha, epsilons, np.minimum.accumulate(logs), order, rough)


def trace(epsilon: float | None = None, log_delta: float | None = None, **params: Any) -> dict[str, Any]:
    """{r}: the number of last steps of which the loss is counted; that of all steps before them is bounded at once."""
    at = epsilon if epsilon is not None else inverse(log_delta or 0.0, **params)
    return {"r": _profile(run_of(**params), at).point(at)[1].steps}


def choices(epsilon: float, log_delta: float, **params: Any) -> dict[str, Any]:
    """The points by which δ is proven at ε."""
    return {"way": _profile(run_of(**params), epsilon).way(epsilon)}


def exact(mp: Any, epsilon: Any, way: list[float] | None = None, window: WindowDelta | None = None,
          **params: Any) -> Any:
    """δ at ε at high precision, by the points of `way`, or of the value. `window` computes δ of a window; without it,
    windows have to be of full batches, or of one step."""
    from dpcalc.bounds.noisy_sgd._engine import any_length_exact, windows
    from dpcalc.bounds.noisy_sgd._engine.any_length import Run

    n, batch_size, learning_rate = params["n"], params["batch_size"], params["learning_rate"]
    way = way or choices(float(epsilon), 0.0, **params)["way"]
    push = 2 * mp.mpf(params["lipschitz"]) / (batch_size * mp.mpf(params["sigma"]))
    width = mp.mpf(params["diameter"]) / (mp.mpf(learning_rate) * mp.mpf(params["sigma"]))
    g = contraction.exact_gap(mp, learning_rate, params["smoothness"], params["strong_convexity"])
    run = Run(mp.mpf(batch_size) / n, push, width, g, min(width, push / g, key=float) if g > 0 else width)

    def closed_form(mp: Any, steps: int, hidden: bool, u: Any) -> Any:
        if batch_size == n:
            return theta(mp, u, run.push * mp.sqrt(mp.mpf(steps)))
        if hidden:
            return windows.exact_hidden(mp, u, ratio_up((batch_size,), (n,)), run.push, steps)
        if steps > 1:
            raise OutOfScope("out-of-range", "not used by a composed profile, which has no closed form; drop it",
                             "--digits")
        return run.q * theta(mp, mp.log1p(mp.expm1(u) / run.q), run.push)

    return any_length_exact.exact(mp, epsilon, run, way, window or closed_form)


_BOUND = ProfileBound(
    Theorem(
        name="burn-in-contraction",
        example="burn-in --n 60000 --batch-size 128 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate 0.05 "
                "--diameter 2 --sigma 0.1 --delta 1e-5",
        statement="δ(ε) ≤ W_R(ε − ε₂) + e^(ε−ε₂)·d·κ_R(log(1 + (e^ε₂ − 1)/d)), d = δ(ε₂), for every T, R and 0 ≤ ε₂ < "
                  "ε, and δ(0) ≤ W_R(0)/(1 − κ_R(0)); W_R: R steps from the same start; κ_R(ε) = min over R₁ < R of "
                  "s(R₁)·θ(ε, D√w(R−R₁)/(ησ)), s(R₁): survival of a mirrored walk; strongly convex: d·κ_R or θ(ε₂, "
                  "a√w(R)), a: largest distance of two runs with the same noise; full batches: pooled",
        in_words="Noisy SGD on a bounded set, of which only the last iterate is released: the noise makes two runs on "
                 "neighbouring data sets forget early differences, so that after a burn-in the privacy loss stops "
                 "growing, and from then on training longer costs nothing more. A record is replaced. It is for convex "
                 "smooth losses without clipping, and false where an earlier iterate or an average of iterates is "
                 "released, or for shuffled batches.",
        source="dpcalc, bounds/noisy_sgd/burn_in_contraction.py (proof there), after Asoodeh, Diaz & Calmon 2020 and "
               "Balle, Barthe, Gaboardi & Geumlek 2019",
        assumptions=(*SETTING, *FRESH, _PROJECTED, "only the last iterate is released"),
    ),
    params=SHARED, value=value, exact=exact, rtol=2 * composition.PRECISION, inverse=inverse, rdp=rdp,
    choices=Choices(trace=trace, witness=choices))
# For a search, as it takes a fifth of the time.
_ESTIMATE = replace(_BOUND, value=partial(value, proven=False), inverse=estimate, rdp=partial(rdp, proven=False),
                    choices=NO_CHOICES)
BOUND = replace(_BOUND, estimate=_ESTIMATE)

"""The privacy profile of a mechanism on a Poisson-sampled batch for data sets in which one record is replaced, from
what is known of the mechanism where a record is added to or removed from a batch.

Theorem. Let each record be in the batch with probability q > 0, independently of all others and afresh in every step.
For every batch and all past outputs, let the mechanism M have the profile θ_a between a batch and the same batch
without one record, in both orders, and θ_r between two batches in which one record is replaced. Let the pair (P_a, Q_a)
satisfy E_γ(P_a‖Q_a) >= E_γ(M(S∪x)‖M(S)) for every γ > 0, and (P_r, Q_r) the same for M(S∪x) and M(S∪x′). Let A* be the
density dQ_a/dP_a under P_a and B* be dQ_r/dP_r under P_r, of the absolutely continuous parts, and A*(u), B*(u) their
rising quantile functions. For γ >= 1, with γ′ = 1 + (γ−1)/q and β = γ/γ′, one step has

    δ(log γ) <= h(γ) = q·∫₀¹ (1 − γ′[(1−β)A*(u) + βB*(u)])₊ du.

Proof. Fix the past outputs. Given them, the batch S of the other records has the same law on both data sets and is
independent of whether the record is drawn; by joint convexity of hockey-stick divergences it is enough to bound E_γ for
each S. The step is (1−q)M(S) + qM(S∪x) on one data set, and (1−q)M(S) + qM(S∪x′) on the other. They have (1−q)M(S) in
common, so by advanced joint convexity (Balle, Barthe & Gaboardi 2018, Theorem 2)

    E_γ = q·E_γ′(M(S∪x) ‖ (1−β)M(S) + βM(S∪x′)) = q·E(1 − γ′[(1−β)A + βB])₊

for the densities A of M(S) and B of M(S∪x′) with respect to M(S∪x), under M(S∪x); where that has no mass nothing is
added. For c > 0, E(c − A)₊ = c·E_{1/c}(M(S∪x)‖M(S)) <= E(c − A*)₊, and the same for B; for c <= 0 both are 0. For any
c = c₁ + c₂, (c − X − Y)₊ <= (c₁ − X)₊ + (c₂ − Y)₊. For X*(u) and Y*(u), which rise together, let u₀ be the least upper
bound of the u with X*(u) + Y*(u) < c, c₁ between the one-sided limits of X* at u₀, and c₂ = c − c₁ between those of Y*:
then both sides are equal for every u. So E(c − (1−β)A − βB)₊ is at most that of A*(u) and B*(u) for one uniform u. ∎

The data sets may be exchanged, so h(γ) also bounds the other order, and δ at γ < 1 by E_γ(P‖Q) = 1 − γ + γE_{1/γ}(Q‖P).
Steps are composed by pairs (Zhu, Dong & Wang 2022, Theorem 10), and h need not be the profile of one. Here it is taken
from these pairs alone:

*Noise on a line.* Let the noise be additive with an even and log-concave density f, or probabilities on the integers
with f(k)² >= f(k−1)f(k+1) and a whole s, and let a record that is added or removed move the query by at most s; one
that is replaced moves it by at most 2s. F(a) is the law of the noise around a. Half-lines are optimal tests for such
noise, and those of a smaller shift are weaker, so (F(s), F(0)) and (F(s), F(−s)) serve as (P_a, Q_a) and (P_r, Q_r). A*
= f(z)/f(z−s) and B* = f(z+s)/f(z−s) both fall in the outcome z. So h is the profile of the pair

    ((1−q)F(0) + qF(s), (1−q)F(0) + qF(−s)),

which is symmetric, so that it dominates the step at every γ > 0. Contributions ±s attain it where all others are 0.
Independent Laplace noise of one scale on the coordinates of a vector is dominated by that on a number of the same ℓ1
length: let G_t(a) be the power at a shift t of the best test of level a. Coordinate by coordinate a test of level a has
at most the power G_{t_1}(…G_{t_d}(a)), as G_t is concave, and G_s(G_t(a)) = G_{s+t}(a).

*Selections by noisy scores.* A mechanism whose trade-off function is at least that of Laplace noise moved by s where a
record is added or removed, as report noisy max, has at least that of Laplace noise moved by 2s where one is replaced,
which is both, one after the other. So the two pairs of Laplace noise serve, as upper bounds that nothing attains.

*Gaussian differential privacy.* A mechanism that is μ-GDP where a record is added or removed is 2μ-GDP where one is
replaced (Dong, Roth & Su 2022, group privacy): the pairs are those of normal noise, and the pair of
poisson_replace_one_profile.py for one record and Z = 1/μ is the one above.

*Pure differential privacy.* Where a record that is added or removed changes probabilities by at most e^{±ε}, those of a
step are changed by at most (1 − q + qe^ε)/(1 − q + qe^−ε) = e^ε′, after mixing over S as well. E_γ is convex in γ, 1 −
γ for γ <= e^−ε′ and 0 for γ >= e^ε′, so that it is at most the chord between, which is the profile of randomised
response of ε′ (the worst case of Kairouz, Oh & Viswanath 2015). """

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import exp, expm1, inf, log, log1p, sinh
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.mechanisms.discrete_gaussian import exact_outcomes, log_total, sensitivity_and_sigma, tails
from dpcalc.bounds.mechanisms.whole_sensitivity import whole
from dpcalc.bounds.profile import Profile
from dpcalc.bounds.sampling._engine.assumptions import ONLY_SUMS, POISSON
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.numerics.elementary import log1mexp, log_add
from dpcalc.numerics.rounding import ratio_up, up

if TYPE_CHECKING:
    from dpcalc.pld.atoms import Atoms
    from dpcalc.pld.pair import Pair

_ROUNDING = 4e-15  # relative: more than the rounding errors of the few operations of a closed form
_LARGEST = 300.0  # exponents above it are handled by logs


# --- Laplace noise ---------------------------------------------------------------------------------------------------


def of_laplace(scale: float, sensitivity: float, rate: float) -> Profile:
    """The profile of a step with Laplace noise, r = s/v. Above its threshold x the outcomes have
    δ(ε) = q(1 − e^{x−r}), e^{2(x−r)} = e^{−2r} + (e^ε − 1)De^{−r}/q, D = 1 − q + qe^{−r}."""
    def make_pair() -> Pair:
        from dpcalc.pld.pair import Laplace
        from dpcalc.pld.replaced import LaplaceReplaced

        r = ratio_up((sensitivity,), (scale,))
        return Laplace(ratio_up((2.0, sensitivity), (scale,))) if rate == 1 else LaplaceReplaced(r, rate)

    def log_delta(epsilon: float) -> float:
        r = ratio_up((sensitivity,), (scale,))
        log_ratio = log1p(rate * expm1(-r)) - r - log(rate)  # log(De^{−r}/q)
        log_excess = epsilon + log1mexp(-epsilon) if epsilon > 0 else -inf
        y = log_add(-2 * r, log_ratio + log_excess)
        y -= _ROUNDING * (1 + 2 * r + abs(log(rate)) + epsilon)
        return -inf if y >= 0 else min(0.0, up(log(rate) + log1mexp(y / 2), _ROUNDING))

    def exactly(mp: Any, epsilon: Any) -> Any:
        r, q = mp.mpf(sensitivity) / mp.mpf(scale), mp.mpf(rate)
        y = mp.exp(-2 * r) + mp.expm1(mp.mpf(epsilon)) * (1 - q + q * mp.exp(-r)) * mp.exp(-r) / q
        return q * (1 - mp.sqrt(y)) if y < 1 else mp.mpf(0)

    return Profile(log_delta, exactly, make_pair)


# --- noise on the integers -------------------------------------------------------------------------------------------


def of_discrete_laplace(scale: float, sensitivity: float, rate: float) -> Profile:
    """The profile of a step with discrete Laplace noise: all outcomes from s on have one loss, and all up to −s."""
    s = whole(sensitivity, "discrete Laplace")

    def make_pair() -> Atoms:
        import numpy as np

        from dpcalc.pld.replaced import integers_replaced

        a, x = 1 / scale, np.arange(-s, s + 1).astype(float)
        log_centre, log_side = log(-expm1(-a)) - log1p(exp(-a)), -a * s - log1p(exp(-a))
        log_f = np.where(np.abs(x) < s, log_centre - a * np.abs(x), log_side)
        return integers_replaced(log_f, a * (np.abs(x) - np.abs(x - s)), a * (np.abs(x) - np.abs(x + s)), rate)

    def outcomes(mp: Any) -> tuple[list[tuple[Any, Any]], Any]:
        fall = mp.exp(-1 / mp.mpf(scale))
        centre, side = (1 - fall) / (1 + fall), fall**s / (1 + fall)
        cells = [(centre * fall ** abs(x), centre * fall ** abs(x - s), centre * fall ** abs(x + s))
                 for x in range(1 - s, s)]
        near = fall**s * side
        cells += [(side, 1 / (1 + fall), near), (side, near, 1 / (1 + fall))]
        return _mixed(mp, cells, rate), mp.mpf(0)

    return _of_outcomes(outcomes, make_pair)


def of_discrete_gaussian(sigma: float, sensitivity: float, rate: float) -> Profile:
    """The profile of a step with discrete Gaussian noise. Outcomes that are as rare as e^−800 count as revealing."""
    s, v = sensitivity_and_sigma(sigma, sensitivity)
    reach, log_infinite = tails(v)

    def make_pair() -> Atoms:
        import numpy as np

        from dpcalc.pld.replaced import integers_replaced

        x = np.arange(-reach - s, reach + s + 1).astype(float)
        log_f = -((x / v) ** 2) / 2 - log_total(v)
        return integers_replaced(log_f, s * (2 * x - s) / (2 * v * v), -s * (2 * x + s) / (2 * v * v), rate,
                                 min(0.0, log_infinite))

    def outcomes(mp: Any) -> tuple[list[tuple[Any, Any]], Any]:
        cells, rest = exact_outcomes(mp, v, (0, -s, s))
        return _mixed(mp, cells, rate), rest

    return _of_outcomes(outcomes, make_pair)


def _mixed(mp: Any, cells: Sequence[tuple[Any, ...]], rate: float) -> list[tuple[Any, Any]]:
    """(p, p′) of outcomes with the probabilities (f(x), f(x−s), f(x+s))."""
    q = mp.mpf(rate)
    return [((1 - q) * here + q * above, (1 - q) * here + q * below) for here, above, below in cells]


def _of_outcomes(outcomes: Callable[[Any], tuple[list[tuple[Any, Any]], Any]],
                 make_pair: Callable[[], Atoms]) -> Profile:
    """The profile of a step with these outcomes: Σ (p − e^ε p′)₊."""
    def exactly(mp: Any, epsilon: Any) -> Any:
        (masses, rest), factor = outcomes(mp), mp.exp(mp.mpf(epsilon))
        gains = (p - factor * q for p, q in masses)
        return mp.fsum((y + abs(y)) / 2 for y in gains) + (mp.between(0, rest) if hasattr(mp, "between") else 0)

    def log_delta(epsilon: float) -> float:
        from dpcalc.pld.atoms import upper_log_delta

        return upper_log_delta(make_pair(), epsilon)

    return Profile(log_delta, exactly, make_pair, outcomes)


# --- pure differential privacy ---------------------------------------------------------------------------------------


def pure_epsilon(epsilon: float, rate: float) -> float:
    """ε′ = log((1 − q + qe^ε)/(1 − q + qe^−ε)), rounded up, and at most 2ε."""
    unsampled = log1p(-rate) if rate < 1 else -inf
    log_low = log_add(unsampled, log(rate) - epsilon)
    if epsilon < 300:  # far from the overflow of doubles
        found = log1p(2 * rate * sinh(epsilon) / exp(log_low)) if log_low > -300 else 2 * epsilon
    else:
        found = log_add(unsampled, log(rate) + epsilon) - log_low
    return max(min(up(found, _ROUNDING * (4 + epsilon)), up(2 * epsilon)), 5e-324)


def of_pure(epsilon: float, rate: float) -> Profile:
    """The profile of randomised response of ε′: δ(e) = (e^ε′ − e^e)/(e^ε′ + 1) for e < ε′."""
    largest = pure_epsilon(epsilon, rate)

    def make_pair() -> Pair:
        from dpcalc.pld.atoms import approximate_dp

        return replace(approximate_dp(largest), attained=False)  # no run has these two laws

    def log_delta(e: float) -> float:
        if e >= largest:
            return -inf
        return min(0.0, up(log1mexp((e - largest) - _ROUNDING * largest) - log1p(exp(-largest)), _ROUNDING))

    def exactly(mp: Any, e: Any) -> Any:
        q, x = mp.mpf(rate), mp.mpf(epsilon)
        growth = (1 - q + q * mp.exp(x)) / (1 - q + q * mp.exp(-x))
        gain = growth - mp.exp(mp.mpf(e))
        return gain / (growth + 1) if gain > 0 else mp.mpf(0)

    def outcomes(mp: Any) -> tuple[list[tuple[Any, Any]], Any]:
        q, x = mp.mpf(rate), mp.mpf(epsilon)
        growth = (1 - q + q * mp.exp(x)) / (1 - q + q * mp.exp(-x))
        return [(growth / (growth + 1), 1 / (growth + 1)), (1 / (growth + 1), growth / (growth + 1))], mp.mpf(0)

    return Profile(log_delta, exactly, make_pair, outcomes)


BOUND = ProfileBound(
    Theorem(
        name="poisson-replace-one-comonotone",
        example="rdp --mechanism laplace --scale 1 --adjacency add-remove --json | dpcalc subsample - --sampling-rate "
                "0.01 --steps 1000 --adjacency replace-one --delta 1e-5",
        statement="δ(ε) ≤ q·∫₀¹ (1 − γ′[(1−β)A(u) + βB(u)])₊ du for ε ≥ 0, γ′ = 1 + (e^ε − 1)/q, β = e^ε/γ′, A and B "
                  "the rising quantile functions of the likelihood ratios without the record and with another one; for "
                  "noise on a line it is δ of ((1−q)F(0) + qF(s), (1−q)F(0) + qF(−s)), and for ε₀-DP it is taken from "
                  "randomised response of log[(1−q+qe^ε₀)/(1−q+qe^−ε₀)]; steps are composed numerically",
        source="Balle, Barthe & Gaboardi 2018, Theorem 2, arXiv:1807.01647v2 (advanced joint convexity); Zhu, Dong & "
               "Wang 2022, Theorem 10, arXiv:2106.08567v4 (composition); proof in "
               "dpcalc/bounds/sampling/poisson_replace_one_comonotone.py",
        assumptions=(POISSON,
                     "neighbours have equally many records, and differ in the value of one",
                     "the base guarantee holds between a batch and the same batch with one record more, in both orders",
                     ONLY_SUMS),
        released="every step's output",
        in_words="A mechanism on Poisson batches where a record is replaced, though its guarantee is known only for a "
                 "record that is added or removed. It is tight for one number with Laplace or Gaussian noise, discrete "
                 "or not, where a record can contribute +s and its substitute −s; for noisy selections and for pure DP "
                 "it may be too large. It is false for shuffled batches, and where batches are shown.",
    ),
    params=("step_profile",), value=lambda epsilon, step_profile: step_profile.log_delta(epsilon),
    exact=lambda mp, epsilon, step_profile: step_profile.exact(mp, epsilon), rtol=5e-10,
    pair=lambda step_profile: step_profile.pair())

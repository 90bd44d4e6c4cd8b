"""The privacy profile of shuffled projected noisy SGD, where the secret order hides a late record among the early ones.

A record that is used late in a pass is followed by little noise. As the order is secret, such a run is compared with
runs in which the record was used at another place.

Setting. One pass over n slots in a secret uniform order of the records; a slot is w ← Π_K(w − η(g(w) + N(0, σ²I))) with
g the gradient of its record (or the mean over its batch: then n is the number of batches, and L stands for L/b). The
noises are independent of each other and of the order, K is closed and convex, and g depends on w and the records alone.
At every w the gradients of any two records that can occur differ by at most 2L; w ↦ w − ηg(w) is c-Lipschitz in every
slot. P and Q are the laws of the last iterate on two data sets that differ in record i (x_i and x_i′), P_m and Q_m
those given that record i has m later slots; so P = (1/n)ΣP_m. E_γ(P‖Q) = sup_A P(A) − γQ(A), and θ(log γ, μ) = E_γ(N(μ,
1)‖N(0, 1)) for every γ >= 0; for γ < 1 that is 1 − γ + γ·E_{1/γ}, as E_γ(P‖Q) = 1 − γ + γE_{1/γ}(Q‖P).

Lemma. For all γ >= 0 and places m ≠ m′: E_γ(P_m‖Q_m′) and E_γ(Q_m‖P_m′) are at most θ(log γ, μ(m, m′)), and
E_γ(P_m‖Q_m) and E_γ(Q_m‖P_m) at most θ(log γ, μ_m), with the μ of one and of two pushes in pushes.py; μ(m′, m) = μ(m,
m′), as the same two slots are exchanged.
Proof. To an order with record i at slot m and record j at slot m′ belongs the order in which the two are exchanged.
That is a bijection between the orders with i at slot m and those with i at slot m′, so it takes the uniform law on the
first to the uniform law on the second. (With batches, an order with i at place s of slot m, and a place r of slot m′
where j is, go to the order in which the two are exchanged, and s; again a bijection, with r and s uniform, and the
place within a slot does not matter.)
Fix an order τ and its image τ′. The runs on them start from the same w₀ and use maps of the same records in every slot
but two: at slot m′ one uses j and the other x_i′, at slot m one uses x_i and the other j. Let φ_k and ψ_k be the maps
of the P-run X and of the Q-run X′ at slot k. Everywhere |φ_k(x) − ψ_k(y)| <= |φ_k(x) − φ_k(y)| + |φ_k(y) − ψ_k(y)| <=
c|x − y| + s_k, where s_k = 2ηL at these two slots and else 0.
Shift lemma: let a_k >= 0 be such that z_k = cz_{k−1} + s_k − a_k >= 0, z_0 = 0, and z = 0 at the end. Let N_k be the
noise of X at slot k, and run X̃ from w₀ by X̃ ← Π_K(ψ_k(X̃) + v_k + N_k), where v_k, of norm at most a_k, shortens
φ_k(X) − ψ_k(X̃) to length at most z_k: then |X − X̃| <= z_k after slot k, as Π_K is 1-Lipschitz, and X̃ = X at the end.
Let Y_k = v_k + N_k. As N_k = Y_k − v_k, each v_k is a function of w₀ and Y_1, …, Y_{k−1}, so (Y_k) against (N_k) is an
adaptive composition of Gaussians shifted by at most a_k, and X̃ is the same function of w₀ and (Y_k) that X′ is of w₀
and its own noises (post-processing, the last Π_K included). By Dong, Roth & Su 2022, Theorem 3.2 and Corollary 3.3, X
and X′ are μ-GDP at the end, μ² = Σa_k²/(ησ)². That holds for every test, so for every γ >= 0 and in both directions.
Only the norms of pushes count (the maps in a pushed slot need not have anything in common, and no direction matters),
and the least Σa_k² is that of pushes.py. E_γ is jointly convex: the mean over τ, paired with τ′, keeps the bound. The
claims on one push are the case τ′ = τ, and the other claims follow by exchanging the names of the data sets. It nowhere
matters whether the other records differ, or which one j is. ∎

Theorem. Let p_mm′, c_mm′ >= 0 with Σ_m′ p_mm′ >= 1 for every m and Σ_m c_mm′ <= 1 for every m′, and μ(m, m) = μ_m. Then
    δ(ε) <= (1/n) Σ p_mm′ θ(ε + log(c_mm′/p_mm′), μ(m, m′)),
where terms with p = 0 are 0 and those with c = 0 < p are p. The same holds for the other direction.
Proof. Q >= 0 and P >= 0, so P − e^εQ <= (1/n)Σ(p_mm′ P_m − e^ε c_mm′ Q_m′); on any event a bracket is at most p·E_{e^ε
c/p}(P_m‖Q_m′). ∎

Records that are left out of a pass, as n is no multiple of b, change nothing: given that record i is one of them the
two runs are the same, and given that it is not, the order of those that are used is uniform; so n may stand for the
number of slots. The theorem holds for every fixed w₀, so for a pass that starts from a released iterate given that one:
passes compose adaptively. With p = c = 1 on the diagonal the bound is shuffled-iteration. Any p and c are valid;
plan.py has the p and c that are used, which depend on one number Z, and contracted.py has a bound that is smaller near
ε = 0 where the set is bounded.

Tightness: the best p and c give max_z (1/n)[Σ_m Φ(−u_m) − e^ε Σ_m′ Φ(−z_m′)], u_m = max_m′(z_m′ − μ(m, m′)) (linear
programming duality); without blocks the bound is within 6 % of that δ in 15 cases from n = 3 to 1000. Against a whole
run, the bound is attained where r = 1 slot of another pass follows (shuffled_hiding_last.py), and within a factor 1.3
of linear losses that contract (c = .9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcalc.bounds.hiding._engine.profile import HidingProfile, Witness, witnesses
from dpcalc.bounds.pnsgd._engine.iteration import CONVEX, FELDMAN, reach_exact, reaches
from dpcalc.bounds.pnsgd._engine.step import RUN, SETTING, STEP_SIZE
from dpcalc.bounds.pnsgd.iteration import SHUFFLED_RDP
from dpcalc.core.bound import Theorem

if TYPE_CHECKING:
    from dpcalc.bounds.hiding._engine.plan import Places
    from dpcalc.numerics.arrays import Array

SECRET = ("the order is uniform over all n records, secret, independent of the data, w₀ and all noises, and fresh in "
          "every pass: no buffer, bucket or stratified shuffle")
PLAIN = "a step depends on the iterate and its records alone: no momentum, adaptive step or normalisation; K is closed"
OTHERS = ("at equal iterates the gradients of any two records that can occur differ by at most 2L, as they do where "
          "each is at most L")
FIXED = ("L, η, σ, the batch size and the number of passes do not depend on the data; η, σ and the contraction are "
         "the same in every step")
EQUAL = "n ≥ 2; all batches have b records, and what is left over in a pass is not used in it"
_AT_ONCE = 8  # ε for which the bound by contraction is computed before it is given up
ASSUMPTIONS = (*SETTING, SECRET, OTHERS, FIXED, PLAIN, EQUAL, STEP_SIZE, "Gaussian noise")


def evaluate(epsilons: Array, fine: int, n: int, diameter: float | None = None,
             **p: float) -> tuple[Array, list[Witness]]:
    """Upper bounds on log δ at many ε, in blocks of at most 1/fine of the places before them, and their witnesses."""
    from dpcalc.bounds.hiding._engine import plan, pushes

    places = pushes.places(CONVEX.ratios(**p), n, fine)
    bound, z = plan.profile(places, epsilons)
    found = witnesses(fine, z)
    if diameter is None or n < 2:
        return bound, found
    return _with_contraction(places, epsilons, bound, found, diameter, p)


def _with_contraction(places: Places, epsilons: Array, bound: Array, found: list[Witness], diameter: float,
                      p: dict[str, float]) -> tuple[Array, list[Witness]]:
    """The smaller of `bound` and the bound by contraction within a bounded set (contracted.py), and the witnesses.

    The latter is smaller next to ε = 0 only, so it is computed from the first ε on up to where it is not. It is at
    least the term of the last place alone: it is not needed where `bound` is at most that. """
    from numpy import log, minimum, nonzero

    from dpcalc.bounds.hiding._engine import contracted
    from dpcalc.numerics.hockey_stick_array import log_theta

    improvable = nonzero(bound > log_theta(epsilons, places.own[:1]) - log(places.total))[0]
    reach, bound = reaches(p["level"], diameter, p["learning_rate"], p["strong_convexity"]), bound.copy()
    for k in range(0, len(improvable), _AT_ONCE):
        here = improvable[k : k + _AT_ONCE]
        other, first, end = contracted.profile(places, epsilons[here], reach)
        smaller = other < bound[here]
        if not smaller.any():
            break
        for j, a, s in zip(here[smaller].tolist(), first[smaller].tolist(), end[smaller].tolist(), strict=True):
            found[j] = [found[j][0], int(a), int(s)]
        bound[here] = minimum(bound[here], other)
    return bound, found


def _exact_at(mp: Any, epsilon: Any, fine: int, chosen: list[float], n: int, diameter: float | None = None,
              **p: float) -> Any:
    from dpcalc.bounds.hiding._engine import contracted, plan, pushes

    places = pushes.places_exact(mp, CONVEX, n, fine, **p)
    if len(chosen) == 2 and diameter is not None:
        reach = reach_exact(mp, p["level"], diameter, p["learning_rate"], p["strong_convexity"])
        return contracted.exact(mp, places, epsilon, int(chosen[0]), int(chosen[1]), reach)
    return plan.exact(mp, places, epsilon, chosen[0] if chosen else None)


def _first(**p: Any) -> float:
    return CONVEX.ratios(**{k: p[k] for k in CONVEX.params})(0)


BOUND = HidingProfile(evaluate, _exact_at, _first, SHUFFLED_RDP).bound(Theorem(
    name="shuffled-hiding", example=f"{RUN} --delta 1e-3",
    statement="δ(ε) ≤ (1/n)Σ p_mm′ θ(ε + log(c_mm′/p_mm′), μ(m, m′)) for all p, c ≥ 0 with Σ_m′ p_mm′ = 1 and "
              "Σ_m c_mm′ ≤ 1; μ(m, m) = μ_m = (2L/σ)·c^m/√(Σ_{k≤m} c^(2k)), c = 1 − ηρ, and for m < m′, d = m′ "
              "− m, μ(m, m′)² = μ_{d−1}² + μ_m², or, only where c^d·Σ_{k≤m} c^(2k) ≥ c^(2m+2)·Σ_{k<d} c^(2k), "
              "(2L/σ)²(c^m + c^m′)²/Σ_{k≤m′} c^(2k); p and c by a plan with one number Z, in blocks of places "
              "from above; next to ε = 0, with a set of diameter D, by contraction if that is less",
    in_words="Noisy SGD with a fresh secret order of all records in every pass, where the model at the end of a pass "
             "is released. A record is replaced. Nobody can tell whether a record was used late, when little noise "
             "follows it, or early: so it hides among all the others. It is for convex smooth losses without clipping, "
             "and false where the order is known, or shuffled within a buffer or shard only.",
    source=f"dpcalc, bounds/hiding/shuffled_hiding.py (proof there), from {FELDMAN}; Dong, Roth & Su 2022, "
           f"arXiv:1905.02383v3",
    assumptions=ASSUMPTIONS,
), params=(*CONVEX.params, "diameter", "n"))

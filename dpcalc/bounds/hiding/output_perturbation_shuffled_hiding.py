"""The privacy profile of output perturbation of shuffled SGD, where the secret order hides a record among the others.

Setting. SGD without noise in its steps, one pass in a secret uniform order; every step is c-Lipschitz with c <= 1, at
every w the gradients of any two records that can occur differ by at most 2L, and N(0, σ²I) is added once, to the last
iterate. With r = 2ηL/σ, and P_m and Q_m as in shuffled_hiding.py, which has the Theorem that is used:

Lemma. For all γ >= 0: E_γ(P_m‖Q_m), E_γ(Q_m‖P_m) <= θ(log γ, r c^m), and for m ≠ m′ E_γ(P_m‖Q_m′), E_γ(Q_m′‖P_m) <=
θ(log γ, r(c^m + c^m′)).
Proof. Pair the orders by the exchange of record i with another, as there. The runs on an order and on its image start
from the same w₀ and have the same maps in every slot but two (one where m = m′), where the maps differ by at most 2ηL.
So their distance z after a slot is at most cz + s, s = 2ηL in these slots and else 0: at the end it is at most 2ηL(c^m
+ c^m′), or 2ηLc^m. Given the order both outputs are Gaussian with covariance σ²I around points at most so far apart,
and E_γ is at most θ(log γ, distance/σ), which rises in it. E_γ is jointly convex: the mean over the pairs of orders,
and over w₀ where that is random, keeps the bound. ∎

Both parameters fall in m and in m′, as c <= 1: in a block of places the last slots of the pass have the largest ones.
"""

from dpcalc.bounds.hiding._engine.profile import plan_or_alone
from dpcalc.bounds.hiding.shuffled_hiding import EQUAL, FIXED, OTHERS, PLAIN, SECRET
from dpcalc.bounds.pnsgd._engine.step import RUN
from dpcalc.bounds.pnsgd.output_perturbation import ASSUMPTIONS, ONCE, OUTPUT, RELEASED, SHUFFLED, SHUFFLED_RDP, SOURCE
from dpcalc.core.bound import Theorem

BOUND = plan_or_alone(Theorem(
    name="output-perturbation-shuffled-hiding",
    example=f"{RUN} --strong-convexity 0.1 --epsilon 1 --bound output-perturbation",
    statement="δ(ε) ≤ (1/n)Σ p_mm′ θ(ε + log(c_mm′/p_mm′), μ(m, m′)) for all p, c ≥ 0 with Σ_m′ p_mm′ = 1 and "
              "Σ_m c_mm′ ≤ 1; μ(m, m) = 2ηLc^m/σ and for m ≠ m′ μ(m, m′) = 2ηL(c^m + c^m′)/σ, c = max(|1−ηρ|, "
              "|1−ηβ|); p and c by the plan of shuffled-hiding with one number Z, in blocks of places from above",
    in_words="What shuffled-hiding says for SGD without noise in its steps, with Gaussian noise added once to the "
             "model that is released: in a secret order a record that is used late hides among all the others. A "
             "record is replaced. It needs strongly convex smooth losses without clipping. It is false where an "
             "iterate without noise is released, or where the order is known.",
    source=f"dpcalc, bounds/hiding/output_perturbation_shuffled_hiding.py (proof there), from {SOURCE}",
    assumptions=(*ASSUMPTIONS, SECRET, OTHERS, FIXED, PLAIN, EQUAL), released=RELEASED, noise_on=ONCE,
    riskier=("learning_rate",),
), OUTPUT, SHUFFLED, SHUFFLED_RDP)

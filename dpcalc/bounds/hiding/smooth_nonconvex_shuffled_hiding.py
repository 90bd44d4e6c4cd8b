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

from dpcalc.bounds.hiding._engine.profile import plan_or_alone
from dpcalc.bounds.hiding.shuffled_hiding import EQUAL, FIXED, OTHERS, PLAIN, SECRET
from dpcalc.bounds.pnsgd._engine.step import RUN
from dpcalc.bounds.pnsgd.smooth_nonconvex import ASSUMPTIONS, SHUFFLED, SHUFFLED_RDP, SMOOTH
from dpcalc.core.bound import Theorem

BOUND = plan_or_alone(Theorem(
    name="smooth-nonconvex-shuffled-hiding", example=f"{RUN} --delta 1e-3",
    statement="δ(ε) ≤ (1/n)Σ p_mm′ θ(ε + log(c_mm′/p_mm′), μ(m, m′)) for all p, c ≥ 0 with Σ_m′ p_mm′ = 1 and "
              "Σ_m c_mm′ ≤ 1; μ(m, m′) as in shuffled-hiding, with C = 1 + ηβ; p and c by its plan with one "
              "number Z, in blocks of places from above",
    in_words="What shuffled-hiding says for losses that are smooth but need not be convex, at any learning rate, and "
             "with the gradient of each record clipped: in a fresh secret order a record that is used late hides among "
             "all the others. A record is replaced. Only the last iterate of a pass is released. It is false where the "
             "order is known, or shuffled within a buffer or shard only.",
    source="dpcalc, bounds/hiding/smooth_nonconvex_shuffled_hiding.py (proof there), from Feldman, Mironov, "
           "Talwar & Thakurta 2018, Theorem 23, arXiv:1808.06651; Dong, Roth & Su 2022, arXiv:1905.02383v3",
    assumptions=(*ASSUMPTIONS, SECRET, OTHERS, FIXED, PLAIN, EQUAL), riskier=("learning_rate",),
), SMOOTH, SHUFFLED, SHUFFLED_RDP)

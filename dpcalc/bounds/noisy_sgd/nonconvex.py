"""Bounds for noisy SGD on smooth losses that need not be convex, with random batches or a schedule: the theorems for
convex losses at c = 1 + ηβ.

Proof. That of burn_in_rdp.py, of burn_in_profile.py and of iteration_schedule.py holds word by word at every c: see
without_convexity.py and iteration_nonconvex.py. In (2) of burn_in_rdp.py the copies use the same batch, j and coin, so
that the coupling takes a shift s to cs where c > 1 too; d = min(D, (2ηL/b)(c^{T−R} − 1)/(c − 1)) grows with T − R until
it is D; and w(R) = 1/Σ_{k<=R} c^{−2k}, which falls in R towards c² − 1 and not to 0: expanding steps hide a start at a
distance D no better than by the Gaussian of ratio D√(c² − 1)/(ησ1). ∎ """

from dpcalc.bounds.noisy_sgd import burn_in_profile, burn_in_rdp, iteration_schedule
from dpcalc.bounds.noisy_sgd._engine.without_convexity import SETTING, without_convexity
from dpcalc.bounds.noisy_sgd.composition import FRESH, HELD

_PROOF = "proof in dpcalc/bounds/noisy_sgd/nonconvex.py"
_RANDOM = (*SETTING, *FRESH, HELD, "only the last iterate is released")

BURN_IN_RDP = without_convexity(
    burn_in_rdp.BOUND,
    "burn-in-rdp-nonconvex",
    "burn-in --n 60000 --batch-size 128 --steps 1e7 --lipschitz 1 --smoothness 1e-5 --loss any "
    "--learning-rate 0.05 --diameter 2 --sigma 0.1 --alpha 8",
    "min over R ≤ T, σ1² + σ2² = σ² of R·S_r(α, b/n, bσ2/(2L)) + α d² w(R)/(2η²σ1²), w(R) = (c²−1)/(1−c^(−2R)), c = 1 "
    f"+ ηβ, d = min(D, (2ηL/b)(c^(T−R)−1)/(c−1)); {_PROOF}",
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
    _RANDOM,
    "after Altschuler & Talwar 2022, Theorem 3.1, Berthier 2019, Theorem 3.5, and Bok, Su & Altschuler 2024, "
    "Theorem 3.1",
)
SCHEDULE = without_convexity(
    iteration_schedule.BOUND,
    "iteration-schedule-nonconvex",
    "burn-in --n 1 --batch-size 1 --schedule steps.json --lipschitz 1 --smoothness 1 --loss any "
    "--diameter 2 --delta 1e-5",
    f"the bound of iteration-nonconvex with η_k, σ_k and use of the record given for every step, c_k = 1 + η_kβ; "
    f"{_PROOF}",
    (*SETTING, "the steps that use the record do not depend on chance or on the data", HELD,
     "only the last iterate is released"),
    "after Feldman, Mironov, Talwar & Thakurta 2018, Theorem 22, and Berthier 2019, Theorem 3.5",
)

BOUNDS = (BURN_IN_RDP, BURN_IN_PROFILE, SCHEDULE)

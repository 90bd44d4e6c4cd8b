"""Noise feedback where every iterate is released, for any loss.

Statement. θ_t = θ_{t−1} − ηg_t + ζ_t − λζ_{t−1} with λ in [0, 1], where g_t may be any function of the data and of
θ_0, …, θ_{t−1}, and one record moves g_t by at most 2L in norm at the steps t of a set π that does not depend on the
data, and not at all at other steps. Then (θ_0, …, θ_T) is μ-GDP, μ² = (2Lη/σ)²·Σ_{t≤T} c_t² with
c_t = Σ_{i∈π, i≤t} λ^{t−i}. For one use at step i, c_t = λ^{t−i}: μ = (2Lη/σ)·√((1−λ^{2(T−i+1)})/(1−λ²)), and
(2Lη/σ)·√(T−i+1) for λ = 1; i = 1 is the worst step. Some loss attains μ.

Proof. With y_t = θ_t − θ_{t−1} = −ηg_t + ζ_t − λζ_{t−1} let u_t = Σ_{k≤t} λ^{t−k}y_k. As ζ_0 = 0, the noises cancel in
pairs: u_t = ζ_t − ηΣ_{k≤t} λ^{t−k}g_k. The iterates and (θ_0, u_1, …, u_T) are functions of each other, which do not
depend on the data, so both have the same privacy; and θ_0 does not depend on the data. Given u_1, …, u_{t−1}, which fix
θ_0, …, θ_{t−1} and so every g_k with k ≤ t, u_t is Gaussian with variance σ², and its mean differs between neighbouring
data sets by at most ηΣ_{k∈π, k≤t} λ^{t−k}·2L = 2Lηc_t, whatever the earlier outputs are. So step t is
(2Lηc_t/σ)-GDP, and the adaptive composition of these steps is μ-GDP with the root of the sum of their squares (Dong,
Roth & Su 2022, Corollary 3.3). Gradients that the record moves by 2L in one fixed direction, whatever θ is, give T
Gaussians with exactly these shifts. ∎

Everything that is computed from the iterates, such as averages, momentum or checkpoints, is covered too; and so are
iterates that are projected, θ_t = Π(θ_{t−1} + y_t), as y_1, …, y_t fix them. The sum goes
from use to use: after a use, c decays by λ a step until the next one. Decimals of 60 digits, with exponents that do not
underflow, leave no rounding error to count. """

from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from itertools import pairwise
from math import log
from typing import Any

from dpcalc.bounds.gaussian_dp import gaussian_bound
from dpcalc.bounds.noise_feedback.affine import mu_of_logs
from dpcalc.bounds.start import START
from dpcalc.core.bound import Theorem


def _square_sum(number: Any, feedback: Any, iterations: int, uses: Sequence[int]) -> Any:
    """Σ_t c_t². `number` makes a number of the arithmetic that `feedback` has, from a whole number."""
    current, total = number(0), number(0)
    for now, after in pairwise((*sorted(uses), iterations + 1)):
        current += 1
        steps, one = after - now, number(1)
        decayed = feedback**steps if feedback != 0 else number(0)
        total += current**2 * (steps if feedback == 1 else (one - decayed**2) / (one - feedback**2))
        current *= decayed
    return total


def square_sum(feedback: float, iterations: int, uses: Sequence[int]) -> float:
    """Σ_t c_t², to an ulp."""
    # Of 60 digits, 1 − λ² cancels 16 at most, and 1 − λ^{2k} no more; 15 are used.
    with localcontext(Context(prec=60, Emin=MIN_EMIN, Emax=MAX_EMAX)):
        return float(_square_sum(Decimal, Decimal(feedback), iterations, uses))


def mu(feedback: float, learning_rate: float, sigma: float, iterations: int, lipschitz: float,
       uses: tuple[int, ...]) -> float:
    """μ, rounded up. Raises OverflowError beyond the doubles."""
    return mu_of_logs(learning_rate, sigma, lipschitz, log(square_sum(feedback, iterations, uses)) / 2)


def exact_mu(mp: Any, feedback: float, learning_rate: float, sigma: float, iterations: int, lipschitz: float,
             uses: tuple[int, ...]) -> Any:
    """μ as stated, at high precision."""
    total = _square_sum(mp.mpf, mp.mpf(feedback), iterations, uses)
    return 2 * mp.mpf(lipschitz) * mp.mpf(learning_rate) * mp.sqrt(total) / mp.mpf(sigma)


BOUND = gaussian_bound(
    Theorem(
        name="feedback-every-iterate",
        example="noise-feedback --learning-rate 0.1 --sigma 2 --steps 1000 --lipschitz 1 --delta 1e-5 --release "
                "every-iterate",
        statement="all iterates together are μ-GDP, μ = (2Lη/σ)√(Σ_t c_t²), c_t = Σ_{i≤t} λ^(t−i) over the steps i "
                  "that use the record; for one use (2Lη/σ)√((1−λ^(2(T−i+1)))/(1−λ²)), and (2Lη/σ)√(T−i+1) for λ = 1; "
                  "some loss attains it; proof in dpcalc/bounds/noise_feedback/every_iterate.py",
        source="after Denisov, McMahan, Rush, Smith & Thakurta 2022, arXiv:2202.08312; Dong, Roth & Su 2022, Corollary "
               "3.3, arXiv:1905.02383v3",
        assumptions=("any loss; step size η; every record's gradient, which may depend on all earlier iterates, is "
                     "clipped to norm L, so that one record moves the gradient of a step by at most 2L",
                     "the steps that use the record do not depend on the data", START,
                     "noise N(0, σ²) is added to the iterate, not to the gradient"),
        in_words="Noisy gradient descent on any loss with clipped gradients, where each step takes back a part λ of "
                 "the previous noise and every iterate may be released. It is tight: some loss attains it. The larger "
                 "λ is, the more it loses: with λ = 1, only the noise of the last step hides the sum of all "
                 "gradients.",
        released="every step's output",
    ),
    params=("feedback", "learning_rate", "sigma", "iterations", "lipschitz", "uses"), mu=mu, exact_mu=exact_mu,
    rtol=1e-11)

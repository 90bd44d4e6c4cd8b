"""The burn-in theorem for whole privacy profiles.

Statement. For every R <= T and σ1² + σ2² = σ², the last iterate is dominated by R steps of the pair of
sampled_step.py at noise σ2 composed with a Gaussian of μ = d√w(R)/(ησ1), d and w(R) as in burn_in_rdp.py.

Proof. The one of burn_in_rdp.py with trade-off functions in place of D_α: the shifted f-divergence of a step composes
its two parts, a step from a common point and a Gaussian hiding a_k, and after R steps Gaussians of ratios a_k/(ησ1)
compose to √(Σ a_k²)/(ησ1) (Bok, Su & Altschuler 2024, Lemma 3.2 and Theorem 3.1). The two parts of a step compose
because the noise of σ2 is drawn first: given it, the batch, the coin and the point, the law of the step is a Gaussian
whose shift is a measurable function of them, so that the second part is dominated by the same Gaussian whatever the
first part was. Composition of dominating pairs: Zhu, Dong & Wang 2022, Theorem 10. ∎ """

from functools import lru_cache
from math import exp, inf, log
from typing import Any

from dpcalc.bounds.conversions import rdp_improved
from dpcalc.bounds.noisy_sgd import burn_in_rdp, composition
from dpcalc.bounds.noisy_sgd.burn_in_rdp import SHARED
from dpcalc.bounds.noisy_sgd.composition import PRECISION, Steps
from dpcalc.core.bound import Choices, ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.minimize import minimise


def steps_of(n: int, batch_size: int, iterations: int, lipschitz: float, smoothness: float, strong_convexity: float,
             learning_rate: float, diameter: float, sigma: float, r: int, sigma1: float) -> Steps:
    """What dominates the last iterate, at the given R and σ1."""
    mu = burn_in_rdp.start_ratio(batch_size, iterations, lipschitz, smoothness, strong_convexity, learning_rate,
                                 diameter, r, sigma1)
    return Steps(n, batch_size, lipschitz, burn_in_rdp.remaining_noise(sigma, sigma1), r, mu)


def value(epsilon: float, **params: Any) -> float:
    return steps_of(**params).log_delta(epsilon)


def inverse(log_delta: float, **params: Any) -> float:
    return steps_of(**params).epsilon(log_delta)


def trace(epsilon: float | None = None, log_delta: float | None = None, **params: Any) -> dict[str, Any]:
    """The grids of the composition."""
    return steps_of(**params).witness(epsilon, log_delta)


def search(epsilon: float | None = None, log_delta: float | None = None, **params: Any) -> dict[str, Any]:
    """{r, sigma1}: the best of a few that are optimal for the RDP bound; any choice proves a bound. Where the window
    seldom uses the record others may be 3 % better."""
    whole = {"r": params["iterations"], "sigma1": 0.0}
    if params["iterations"] == 1:
        return whole
    composition.require_worth_composing(epsilon, _rdp_at(1.01, params), _rdp_at(2.0, params))
    order, by_rdp, by_composition = _best_order(epsilon, log_delta, tuple(params.items()))
    # Orders around the best one of the RDP bound: each has its own best R and σ1.
    choices = {tuple(burn_in_rdp.search(1 + (order - 1) * factor, **params).values()) for factor in (0.4, 1.0, 2.2)}
    # Plain composition may be better as a composed profile where ε, or log δ, is within a factor of 1.3 by the RDP
    # bounds.
    if by_composition < inf and (by_composition * 1.3 <= by_rdp if epsilon is not None
                                 else by_composition <= by_rdp * 1.3):
        choices.add((params["iterations"], 0.0))

    def rough_answer(choice: tuple[int, float]) -> float:
        """log δ at ε, or ε at log δ, to 3 %, by the first grid of a composition; inf where there is no answer."""
        from dpcalc.pld.bracket import epsilon_at_delta, log_delta_at_epsilon

        pairs = steps_of(**params, r=choice[0], sigma1=choice[1]).pairs()
        try:
            if epsilon is not None:
                return log_delta_at_epsilon(pairs, epsilon, 0.03, bracket=False).upper
            return epsilon_at_delta(pairs, log_delta or 0.0, 0.03, bracket=False).upper
        except OutOfScope:
            return inf

    r, sigma1 = min(sorted(choices), key=rough_answer) if len(choices) > 1 else choices.pop()
    return {"r": r, "sigma1": sigma1}


def _rdp_at(alpha: float, params: dict[str, Any]) -> float:
    """ε(α) of the RDP bound, at its own best R and σ1."""
    return burn_in_rdp.value(alpha, **params, **burn_in_rdp.search(alpha, **params))


@lru_cache(maxsize=64)
def _best_order(epsilon: float | None, log_delta: float | None,
                items: tuple[tuple[str, Any], ...]) -> tuple[float, float, float]:
    """The order at which the RDP bound answers the question best, its answer there, and that of plain composition."""
    params = dict(items)

    def convert(alpha: float, rdp: float) -> float:
        if rdp == inf:
            return inf
        if epsilon is None:
            return rdp_improved.value(alpha, rdp, log_delta or 0.0)
        found = rdp_improved.log_delta(alpha, rdp, epsilon)
        return found if found < 0 else alpha  # where δ <= 1 is all that follows, smaller orders are the way down

    def answer(u: float) -> float:
        return convert(1 + exp(u), _rdp_at(1 + exp(u), params))

    slope = _rdp_at(2.0, params) / 2
    u = 0.0
    if 0 < slope < inf:
        guess = 0.5 * log(-log_delta / slope) if log_delta else log(max(((epsilon or 0.0) / slope - 1) / 2, 1e-3))
        u = minimise(answer, min(max(guess, -6.0), 20.0), -9.0, 22.0, 0.7, 0.02)
    alpha = 1 + exp(u)
    whole = composition.value(alpha, **{name: params[name] for name in composition.BOUND.params})
    return alpha, answer(u), convert(alpha, whole)


BOUND = ProfileBound(
    Theorem(
        name="burn-in-profile",
        example="burn-in --n 60000 --batch-size 128 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate 0.05 "
                "--diameter 2 --sigma 0.1 --delta 1e-5",
        statement="R steps of the pair δ(ε) = q·θ(log(1 + (e^ε − 1)/q), 2L/(bσ2)) composed with a Gaussian of μ = "
                  "d√w(R)/(ησ1), for the best R and σ1² + σ2² = σ²; proof in "
                  "dpcalc/bounds/noisy_sgd/burn_in_profile.py",
        in_words="The privacy profile of the last iterate of noisy SGD on a bounded set: after a burn-in, the noise "
                 "has hidden what the early steps used, and more steps cost nothing. A record is replaced. It is for "
                 "convex smooth losses without clipping, and false where an earlier iterate or an average of iterates "
                 "is released, or for shuffled batches; burn-in-contraction is usually smaller.",
        source="after Altschuler & Talwar 2022, Theorem 3.1, and Bok, Su & Altschuler 2024, Theorem 3.1",
        assumptions=burn_in_rdp.BOUND.theorem.assumptions,
    ),
    params=SHARED, value=value, rtol=2 * PRECISION, inverse=inverse, choices=Choices(search=search, trace=trace),
    exact=composition.exact_delta)  # of one step

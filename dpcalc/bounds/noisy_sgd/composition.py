"""All T iterates of noisy SGD on random batches, by composition: the privacy loss grows with T without limit.

One step is dominated by the pair with the profile δ(ε) = q·θ(log(1 + (e^ε − 1)/q), 2L/(bσ)), q = b/n
(sampled_step.py), and T steps by T copies of that pair, composed (Zhu, Dong & Wang 2022, Theorem 10). Their Rényi
divergences add up. The profile of one step has closed forms; more are composed numerically, from above. """

from __future__ import annotations

from functools import lru_cache
from math import expm1, inf, log, log1p, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.bounds.mechanisms import gaussian
from dpcalc.bounds.noisy_sgd._engine import sampled_step
from dpcalc.bounds.start import GRADIENTS, START
from dpcalc.core.bound import Choices, ProfileBound, RdpBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.hockey_stick import epsilon_for, log_theta
from dpcalc.numerics.rounding import ratio_down, ratio_up, up

if TYPE_CHECKING:
    from dpcalc.pld.bracket import Bracket
    from dpcalc.pld.pilot import Parts

PRECISION = 1e-3  # accuracy of a composed ε, relative, and of a composed log δ, absolute: what the bounds claim


class Steps(NamedTuple):
    """Steps on random batches, and a Gaussian mechanism of ratio μ (none where μ = 0)."""

    n: int
    batch_size: int
    lipschitz: float
    sigma: float
    steps: int
    mu: float = 0.0

    @property
    def rate(self) -> float:
        """q = b/n, rounded up."""
        return ratio_up((self.batch_size,), (self.n,))

    @property
    def ratio(self) -> float:
        """2L/(bσ), rounded up: replacing one record moves the mean gradient of b records by at most 2L/b."""
        return ratio_up((2.0, self.lipschitz), (self.batch_size, self.sigma))

    @property
    def noise_multiplier(self) -> float:
        """bσ/(2L), rounded down."""
        return ratio_down((1.0,), (self.ratio,))

    @property
    def is_closed_form(self) -> bool:
        return self.steps == 1 and not self.mu

    def rdp(self, alpha: float) -> float:
        """steps·S_r(α, b/n, bσ/(2L)), without the Gaussian mechanism."""
        return up(self.steps * sampled_step.value(alpha, self.rate, self.noise_multiplier))

    def pairs(self) -> Parts:
        """The dominating pair."""
        from dpcalc.pld.pair import Gaussian
        from dpcalc.pld.sampled import without_replacement

        step = without_replacement(Gaussian(self.ratio), self.rate)
        return ((step, self.steps), (Gaussian(self.mu), 1)) if self.mu else ((step, self.steps),)

    def log_delta(self, epsilon: float) -> float:
        """log δ(ε), from above; that of one step is log of q·θ(log(1 + (e^ε − 1)/q), 2L/(bσ))."""
        if not self.is_closed_form:
            return _at_epsilon(self, epsilon).upper
        q = self.rate
        inner = log1p(expm1(epsilon) / q) if epsilon < 600 else epsilon - log(q)
        return min(0.0, up(log(q) + log_theta(inner * (1 - 1e-15), self.ratio), 1e-12))

    def epsilon(self, log_delta: float) -> float:
        """ε at log δ, from above."""
        if not self.is_closed_form:
            return _at_delta(self, log_delta).upper
        q = self.rate
        if log_delta >= log(q):
            return 0.0
        inner = epsilon_for((log_delta - log(q)) * (1 + 1e-12), self.ratio)
        return up(log1p(q * expm1(inner)) if inner < 600 else inner + log(q), 1e-14)

    def witness(self, epsilon: float | None, log_delta: float | None) -> dict[str, Any]:
        """The grids that prove the answer at ε, or else at log δ."""
        if self.is_closed_form:
            return {}
        return (_at_epsilon(self, epsilon or 0.0) if log_delta is None else _at_delta(self, log_delta)).witness


@lru_cache(maxsize=8)
def _at_epsilon(steps: Steps, epsilon: float) -> Bracket:
    from dpcalc.pld.bracket import log_delta_at_epsilon

    return log_delta_at_epsilon(steps.pairs(), epsilon, PRECISION, bracket=False)


@lru_cache(maxsize=8)
def _at_delta(steps: Steps, log_delta: float) -> Bracket:
    """Raises OutOfScope where no finite ε has that δ."""
    from dpcalc.pld.bracket import epsilon_at_delta

    found = epsilon_at_delta(steps.pairs(), log_delta, PRECISION, bracket=False)
    if found.upper == inf:
        raise OutOfScope("no-solution", "no ε is enough for this δ by the composed profile; give a larger δ", "--delta")
    return found


def require_worth_composing(epsilon: float | None, mean: float, rdp_at_two: float) -> None:
    """Raises OutOfScope where a composed profile would take long and not improve on the RDP bounds.

    The mean loss is about `mean` = ε(1.01): it may be in the thousands, or so far above the ε of the question that δ is
    1. Or δ, which is about e^{−ε²/(2μ²)} with μ² about ε(2), is far below every double."""
    hopeless = mean > 3000 or (epsilon is not None and mean > epsilon + 12 * sqrt(2 * mean))
    tiny = epsilon is not None and rdp_at_two > 0 and epsilon * epsilon / (2 * rdp_at_two) > 3000
    if hopeless or tiny:
        raise OutOfScope("no-solution", "the privacy loss is out of the range of a composed profile; use an RDP bound",
                         "--bound")


# --- the bounds ------------------------------------------------------------------------------------------------------


def value(alpha: float, n: int, batch_size: int, iterations: int, lipschitz: float, sigma: float) -> float:
    return Steps(n, batch_size, lipschitz, sigma, iterations).rdp(alpha)


def exact(mp: Any, alpha: float, n: int, batch_size: int, iterations: int, lipschitz: float, sigma: Any) -> Any:
    z = batch_size * mp.mpf(sigma) / (2 * mp.mpf(lipschitz))
    return iterations * sampled_step.exact(mp, alpha, mp.mpf(batch_size) / n, z)


def _worth_composing(epsilon: float | None, n: int, batch_size: int, iterations: int, lipschitz: float,
                     sigma: float) -> Steps:
    """All T steps. Raises OutOfScope where composing them is of no use."""
    steps = Steps(n, batch_size, lipschitz, sigma, iterations)
    if not steps.is_closed_form:
        require_worth_composing(epsilon, steps.rdp(1.01), steps.rdp(2.0))
    return steps


def _trace(n: int, batch_size: int, iterations: int, lipschitz: float, sigma: float, epsilon: float | None = None,
           log_delta: float | None = None) -> dict[str, Any]:
    return Steps(n, batch_size, lipschitz, sigma, iterations).witness(epsilon, log_delta)


def exact_delta(mp: Any, epsilon: float, n: int, batch_size: int, iterations: int, lipschitz: float, sigma: float,
                **set_and_choices: Any) -> Any:
    """δ(ε) of one step at high precision."""
    if iterations != 1:
        raise OutOfScope("out-of-range", "not used by a composed profile, which has no closed form; drop it",
                         "--digits")
    q = mp.mpf(batch_size) / n
    return q * gaussian.theta(mp, mp.log1p(mp.expm1(mp.mpf(epsilon)) / q),
                              2 * mp.mpf(lipschitz) / (batch_size * mp.mpf(sigma)))


PLAIN = ("w ← Π[w − η(g + N(0, σ²I))] with fresh noise, g the mean of the batch's gradients at w: no momentum, "
         "adaptive step, normalisation or clipping to a norm that depends on the data; η, σ, the batch size and T do "
         "not depend on the data")
SETTING = (
    "each record's loss is convex, L-Lipschitz and β-smooth, the step size at most 2/β",
    GRADIENTS,
    "neighbours differ by replacing one record",
    START,
    PLAIN,
)
HELD = ("the iterates are projected on a closed convex set of diameter D that does not depend on the data, or two runs "
        "that differ in one record and share batches and noise are within D of each other at every step, whatever the "
        "batches and the noise are")
FRESH = ("batches of b records out of n, uniformly without replacement, drawn afresh at every step "
         "(consecutive batches of a shuffled epoch are not covered)",)

BOUND = RdpBound(
    Theorem(
        name="composition",
        example="burn-in --n 60000 --batch-size 128 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate 0.05 "
                "--diameter 2 --sigma 0.1 --alpha 8",
        statement="T·S_r(α, b/n, bσ/(2L)), S_r the Rényi divergence of one step",
        in_words="The Rényi divergence of noisy SGD with every iterate released: that of one step on a batch drawn "
                 "afresh without replacement, times the number of steps, so it grows without limit. A record is "
                 "replaced. It is for any losses whose gradients are at most L, also clipped ones. It is false for "
                 "batches taken from a shuffled epoch. Converted, it is usually above composition-profile.",
        source="Mironov 2017, Proposition 1; Balle, Barthe & Gaboardi 2018, Theorem 2; as in Altschuler & Talwar "
               "2022, eq. 1.1",
        assumptions=("each record's gradient is at most L in ℓ2 (clipped, say)", *SETTING[1:], *FRESH,
                     "all T iterates may be released"),
    ),
    params=("n", "batch_size", "iterations", "lipschitz", "sigma"), value=value, exact=exact, rtol=2e-10)
PROFILE = ProfileBound(
    Theorem(
        name="composition-profile",
        example="burn-in --n 60000 --batch-size 128 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate 0.05 "
                "--diameter 2 --sigma 0.1 --delta 1e-5",
        statement="T steps of the pair δ(ε) = q·θ(log(1 + (e^ε − 1)/q), 2L/(bσ)), q = b/n, composed",
        in_words="The privacy profile of noisy SGD with every iterate released: one step on a batch drawn afresh "
                 "without replacement, composed numerically, so it grows with the number of steps. A record is "
                 "replaced. It is for any losses whose gradients are at most L, also clipped ones. It is false for "
                 "batches taken from a shuffled epoch, and loose where only the last iterate is released.",
        source="Balle, Barthe & Gaboardi 2018, Theorem 9; Zhu, Dong & Wang 2022, Theorem 10",
        assumptions=BOUND.theorem.assumptions,
    ),
    params=BOUND.params, value=lambda epsilon, **own: _worth_composing(epsilon, **own).log_delta(epsilon),
    exact=exact_delta, rtol=2 * PRECISION,
    inverse=lambda log_delta, **own: _worth_composing(None, **own).epsilon(log_delta), choices=Choices(trace=_trace))
BOUNDS = (BOUND, PROFILE)

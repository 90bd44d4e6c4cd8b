"""Each mechanism as `verify` describes it, independently of the bounds that it verifies: the privacy loss distribution
of one use, and the RDP of a sampled use, from its profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log
from typing import Any, NamedTuple

from dpcalc.verify import composition_atoms, loss_distributions, shuffled_reports
from dpcalc.verify.loss_distributions import LossPair

Part = Mapping[str, Any]  # a mechanism as in the JSON of a guarantee


class Verified(NamedTuple):
    """A mechanism: `losses` returns the pair of one use; `sampled_rdp` takes (mp, α, sampling rate, part) and returns
    the RDP of one use on a batch drawn without replacement, where one can be drawn."""

    losses: Callable[[Part], LossPair]
    sampled_rdp: Callable[[Any, float, float, Part], Any] | None = None


def _laplace_losses(part: Part) -> LossPair:
    return loss_distributions.laplace(lambda mp: 1 / mp.mpf(part["scale"]), 1 / part["scale"])


def _randomized_response_losses(part: Part) -> LossPair:
    p = part["probability"]
    return composition_atoms.approximate_dp_pair(lambda mp: abs(mp.log(mp.mpf(p) / (1 - mp.mpf(p)))), 0.0,
                                                 abs(log(p / (1 - p))))


def _exponential_losses(part: Part) -> LossPair:
    eta = part["step_epsilon"]
    return loss_distributions.bounded_range(lambda mp: mp.mpf(eta), eta)


def _above_threshold_epsilon(mp: Any, part: Part) -> Any:
    """Return the pure ε of a run whose queries change by at most 1."""
    return 1 / mp.mpf(part["threshold_scale"]) + 2 * part["hits"] / mp.mpf(part["scale"])


def _above_threshold_losses(part: Part) -> LossPair:
    about = 1 / part["threshold_scale"] + 2 * part["hits"] / part["scale"]
    return composition_atoms.approximate_dp_pair(lambda mp: _above_threshold_epsilon(mp, part), 0.0, about)


def _sampled_gaussian_rdp(mp: Any, alpha: float, rate: float, part: Part) -> Any:
    from dpcalc.bounds.noisy_sgd._engine import sampled_step

    return sampled_step.exact(mp, alpha, rate, part["noise_multiplier"])


def _sampled_laplace_rdp(mp: Any, alpha: float, rate: float, part: Part) -> Any:
    r = 1 / mp.mpf(part["scale"])
    return _rdp_of_profile(mp, alpha, rate, r, lambda w: -mp.expm1((w - r) / 2))


def _sampled_randomized_response_rdp(mp: Any, alpha: float, rate: float, part: Part) -> Any:
    p = mp.mpf(part["probability"])
    return _sampled_pure_rdp(mp, alpha, rate, abs(mp.log(p / (1 - p))))


def _sampled_above_threshold_rdp(mp: Any, alpha: float, rate: float, part: Part) -> Any:
    return _sampled_pure_rdp(mp, alpha, rate, _above_threshold_epsilon(mp, part))


def _sampled_pure_rdp(mp: Any, alpha: float, rate: float, r: Any) -> Any:
    """Return the RDP of a sampled use of randomised response with log odds r."""
    return _rdp_of_profile(mp, alpha, rate, r, lambda w: -mp.expm1(w - r) / (1 + mp.exp(-r)))


def _sampled_exponential_rdp(mp: Any, alpha: float, rate: float, part: Part) -> Any:
    eta = mp.mpf(part["step_epsilon"])
    return _rdp_of_profile(mp, alpha, rate, eta, lambda w: (mp.exp(eta / 2) - mp.exp(w / 2)) ** 2 / mp.expm1(eta))


def _rdp_of_profile(mp: Any, alpha: float, rate: float, largest_loss: Any, delta: Callable[[Any], Any]) -> Any:
    """Return the Rényi divergence D of a sampled use, e^{(α−1)D} = 1 + α(α−1)∫_1^∞ (γ^{α−2} + γ^{−α−1}) qδ(log(1 +
    (γ−1)/q)) dγ, where δ is the profile of the unsampled use. The variable of integration is ε = log γ, up to the
    largest loss of the sampled use."""
    a, q = mp.mpf(alpha), mp.mpf(rate)
    end = mp.log1p(q * mp.expm1(largest_loss))

    def integrand(e: Any) -> Any:
        return (mp.exp((a - 1) * e) + mp.exp(-a * e)) * q * delta(mp.log1p(mp.expm1(e) / q))

    return mp.log1p(a * (a - 1) * mp.quad(integrand, [end * k / 8 for k in range(9)])) / (a - 1)


MECHANISMS: Mapping[str, Verified] = {
    "gaussian": Verified(lambda part: loss_distributions.gaussian(lambda mp: 1 / mp.mpf(part["noise_multiplier"])),
                         _sampled_gaussian_rdp),
    "laplace": Verified(_laplace_losses, _sampled_laplace_rdp),
    "exponential": Verified(_exponential_losses, _sampled_exponential_rdp),
    "shuffled-ldp": Verified(shuffled_reports.losses),
    "above-threshold": Verified(_above_threshold_losses, _sampled_above_threshold_rdp),
    "randomized-response": Verified(_randomized_response_losses, _sampled_randomized_response_rdp),
}

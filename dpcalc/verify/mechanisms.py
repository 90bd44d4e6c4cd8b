"""Each mechanism as `verify` describes it, independently of the bounds that it verifies: the privacy loss distribution
of one use, and the RDP of a sampled use, from its profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log
from typing import Any, NamedTuple

from dpcalc.verify import composition_atoms, loss_distributions
from dpcalc.verify.arb.context import Formula
from dpcalc.verify.loss_distributions import LossPair
from dpcalc.verify.unchecked import Unchecked

# A mechanism as in the JSON of a guarantee; with `group_size`, for data sets that differ in so many records.
Part = Mapping[str, Any]


class Verified(NamedTuple):
    """A mechanism: `losses` returns the pair of one use; `sampled_rdp` takes (mp, α, sampling rate, part) and returns
    the RDP of one use on a batch drawn without replacement."""

    losses: Callable[[Part], LossPair]
    sampled_rdp: Callable[[Any, float, float, Part], Any]


def _group_size(part: Part) -> int:
    return int(part.get("group_size") or 1)


def gaussian_mu(part: Part) -> Formula:
    """Return the formula of K/σ, in units of what one record changes."""
    return lambda mp: _group_size(part) / mp.mpf(part["noise_multiplier"])


def _laplace_losses(part: Part) -> LossPair:
    size = _group_size(part)
    return loss_distributions.laplace(lambda mp: size / mp.mpf(part["scale"]), size / part["scale"])


def _randomized_response_losses(part: Part) -> LossPair:
    p = part["probability"]
    if _group_size(part) > 1:
        raise Unchecked("groups of respondents have no pair of one use")
    return composition_atoms.approximate_dp_pair(lambda mp: abs(mp.log(mp.mpf(p) / (1 - mp.mpf(p)))), 0.0,
                                                 abs(log(p / (1 - p))))


def _sampled_gaussian_rdp(mp: Any, alpha: float, rate: float, part: Part) -> Any:
    from dpcalc.bounds.noisy_sgd._engine import sampled_step

    return sampled_step.exact(mp, alpha, rate, part["noise_multiplier"])


def _sampled_laplace_rdp(mp: Any, alpha: float, rate: float, part: Part) -> Any:
    r = 1 / mp.mpf(part["scale"])
    return _rdp_of_profile(mp, alpha, rate, r, lambda w: -mp.expm1((w - r) / 2))


def _sampled_randomized_response_rdp(mp: Any, alpha: float, rate: float, part: Part) -> Any:
    p = mp.mpf(part["probability"])
    r = abs(mp.log(p / (1 - p)))
    return _rdp_of_profile(mp, alpha, rate, r, lambda w: -mp.expm1(w - r) / (1 + mp.exp(-r)))


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
    "gaussian": Verified(lambda part: loss_distributions.gaussian(gaussian_mu(part)), _sampled_gaussian_rdp),
    "laplace": Verified(_laplace_losses, _sampled_laplace_rdp),
    "randomized-response": Verified(_randomized_response_losses, _sampled_randomized_response_rdp),
}

"""What `verify` knows of each mechanism, written apart from the bounds that it rechecks: the losses of one use, and the
RDP of a sampled one from its profile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log
from typing import Any, NamedTuple

from dpcalc.verify import composition_atoms, loss_laws
from dpcalc.verify.loss_laws import Base

Part = Mapping[str, Any]  # as in the JSON of a guarantee


class Verified(NamedTuple):
    """`losses` are those of one use; `sampled_rdp` takes (mp, α, sampling rate, part) for a batch drawn without
    replacement."""

    losses: Callable[[Part], Base]
    sampled_rdp: Callable[[Any, float, float, Part], Any]


def _laplace_losses(part: Mapping[str, Any]) -> Base:
    return loss_laws.laplace(lambda mp: 1 / mp.mpf(part["scale"]), 1 / part["scale"])


def _response_losses(part: Mapping[str, Any]) -> Base:
    p = part["probability"]
    return composition_atoms.binary(lambda mp: abs(mp.log(mp.mpf(p) / (1 - mp.mpf(p)))), 0.0, abs(log(p / (1 - p))))


def _sampled_gaussian(mp: Any, alpha: float, rate: float, part: Mapping[str, Any]) -> Any:
    from dpcalc.bounds.noisy_sgd._engine import sampled_step

    return sampled_step.exact(mp, alpha, rate, part["noise_multiplier"])


def _sampled_laplace(mp: Any, alpha: float, rate: float, part: Mapping[str, Any]) -> Any:
    r = 1 / mp.mpf(part["scale"])
    return _by_profile(mp, alpha, rate, r, lambda w: -mp.expm1((w - r) / 2))


def _sampled_response(mp: Any, alpha: float, rate: float, part: Mapping[str, Any]) -> Any:
    p = mp.mpf(part["probability"])
    r = abs(mp.log(p / (1 - p)))
    return _by_profile(mp, alpha, rate, r, lambda w: -mp.expm1(w - r) / (1 + mp.exp(-r)))


def _by_profile(mp: Any, alpha: float, rate: float, most: Any, delta: Callable[[Any], Any]) -> Any:
    """e^{(α−1)D} = 1 + α(α−1)∫_1^∞ (γ^{α−2} + γ^{−α−1}) qδ(log(1 + (γ−1)/q)) dγ, over ε = log γ up to the largest loss;
    δ as it is below the base's largest loss."""
    a, q = mp.mpf(alpha), mp.mpf(rate)
    end = mp.log1p(q * mp.expm1(most))

    def integrand(e: Any) -> Any:
        return (mp.exp((a - 1) * e) + mp.exp(-a * e)) * q * delta(mp.log1p(mp.expm1(e) / q))

    return mp.log1p(a * (a - 1) * mp.quad(integrand, [end * k / 8 for k in range(9)])) / (a - 1)


MECHANISMS: Mapping[str, Verified] = {
    "gaussian": Verified(lambda part: loss_laws.gaussian(lambda mp: 1 / mp.mpf(part["noise_multiplier"])),
                         _sampled_gaussian),
    "laplace": Verified(_laplace_losses, _sampled_laplace),
    "randomized-response": Verified(_response_losses, _sampled_response),
}

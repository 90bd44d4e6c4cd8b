"""Each mechanism as `verify` describes it: the privacy loss distribution of one use, and the RDP of a sampled use, from
its profile. Those with continuous losses are described here independently of the bounds that are verified; where there
are finitely many, the bounds list them, and tests compare the list with the definition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import log, sqrt
from typing import Any, NamedTuple

from dpcalc.accounting.mechanisms import MECHANISMS as RECORDS
from dpcalc.accounting.mechanisms import Mechanism
from dpcalc.bounds.mechanisms import finite, unary
from dpcalc.core.bound import ProfileBound
from dpcalc.verify import composition_atoms, composition_finite, loss_distributions, shuffled_reports
from dpcalc.verify.arb.context import Formula, compute_once, is_ball_context
from dpcalc.verify.composition_atoms import Atoms
from dpcalc.verify.loss_distributions import LossPair, Use
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


def _refuse_groups(part: Part) -> None:
    """Raises Unchecked for several respondents."""
    if _group_size(part) > 1:
        raise Unchecked("groups of respondents have no pair of one use")


def _randomized_response_losses(part: Part) -> LossPair:
    p = part["probability"]
    _refuse_groups(part)
    return composition_atoms.approximate_dp_pair(lambda mp: abs(mp.log(mp.mpf(p) / (1 - mp.mpf(p)))), 0.0,
                                                 abs(log(p / (1 - p))))


def _exponential_losses(part: Part) -> LossPair:
    eta, size = part["step_epsilon"], _group_size(part)
    return loss_distributions.bounded_range(lambda mp: size * mp.mpf(eta), size * eta)


def above_threshold_epsilon(mp: Any, part: Part) -> Any:
    """Return the pure ε of a run whose queries change by at most 1 for one record."""
    return _group_size(part) * (1 / mp.mpf(part["threshold_scale"]) + 2 * part["hits"] / mp.mpf(part["scale"]))


def _above_threshold_losses(part: Part) -> LossPair:
    about = _group_size(part) * (1 / part["threshold_scale"] + 2 * part["hits"] / part["scale"])
    return composition_atoms.approximate_dp_pair(lambda mp: above_threshold_epsilon(mp, part), 0.0, about)


def _listed_losses(record: Mechanism, part: Part) -> LossPair:
    """Return the pair of a mechanism with finitely many losses, whose bound lists them."""
    if (size := _group_size(part)) > 1 and record.group is None:
        raise Unchecked("groups of respondents have no pair of one use")
    params = record.of_group(record.of_part(part), size)
    bound = next(route.bound for route in record.once if isinstance(route.bound, ProfileBound))
    assert record.pure is not None and bound.outcomes is not None
    return _finite_pair(partial(bound.outcomes, **{name: params[name] for name in bound.params}), record.pure(params))


def _optimized_unary_losses(part: Part) -> LossPair:
    """Return the pair with the exact probabilities, which the parameters of its bound are rounded from."""
    e = part["step_epsilon"]
    _refuse_groups(part)
    return _finite_pair(lambda mp: finite.exact_outcomes(
        mp, unary.atoms(mp, 0.5, 1 / (mp.exp(mp.mpf(e)) + 1))), e)


def _finite_pair(outcomes: Callable[[Any], tuple[list[tuple[Any, Any]], Any]], largest: float) -> LossPair:
    def atoms(mp: Any) -> Atoms:
        return [(float(mp.log(p / q)), p, q) for p, q in outcomes(mp)[0]]

    return composition_atoms.atomic_pair(atoms, lambda mp: mp.mpf(0), above_rounding(largest))


def _discrete_gaussian_losses(part: Part) -> LossPair:
    """Return the pair of noise centred at 0 and at −s. The losses of outcomes that both give with less than e^−760 are
    only known to be between those of the others and infinity."""
    s, sigma = _group_size(part) * part["sensitivity"], part["sigma"]
    reach = int(39 * sigma) + 2  # 39²/2 = 760.5
    inner = sorted({*range(-reach - s, min(reach - s, -reach) + 1), *range(-reach, reach + 1)})
    scale = 2 * sigma * sigma

    def atoms(mp: Any) -> Atoms:
        v = mp.mpf(sigma)
        weights = {x: mp.exp(-(mp.mpf(x) / v) ** 2 / 2) for x in {abs(y) for x in inner for y in (x, x + s)}}
        total = discrete_gaussian_total(mp, v)
        return [(s * (s + 2 * x) / scale, weights[abs(x)] / total, weights[abs(x + s)] / total) for x in inner]

    def tails(mp: Any) -> Any:
        v, x = mp.mpf(sigma), reach + 1
        most = 2 * mp.exp(-(mp.mpf(x) / v) ** 2 / 2) * (1 + v * v / x) / discrete_gaussian_total(mp, v)
        return mp.between(0, most) if is_ball_context(mp) else most

    return composition_atoms.atomic_pair(atoms, compute_once(tails), above_rounding(s * (s + 2 * reach) / scale))


def discrete_gaussian_total(mp: Any, v: Any) -> Any:
    """Return Σ_x e^(−x²/(2σ²)), the terms beyond 2^−bits being bounded by an integral."""
    last = int(float(v) * sqrt(1.4 * (mp.prec + 20))) + 2
    half = mp.fsum(mp.exp(-(mp.mpf(x) / v) ** 2 / 2) for x in range(1, last + 1))
    rest = mp.exp(-(mp.mpf(last) / v) ** 2 / 2) * v * v / last
    return 1 + 2 * half + (mp.between(0, 2 * rest) if is_ball_context(mp) else 0)


def above_rounding(loss: float) -> float:
    """Return a number that is above a loss however it is rounded."""
    return loss + 1e-14 * (1 + abs(loss))


def _sampled_gaussian_rdp(mp: Any, alpha: float, rate: float, part: Part) -> Any:
    from dpcalc.bounds.noisy_sgd._engine import sampled_step

    return sampled_step.exact(mp, alpha, rate, part["noise_multiplier"])


def _sampled_laplace_rdp(mp: Any, alpha: float, rate: float, part: Part) -> Any:
    r = 1 / mp.mpf(part["scale"])
    return _rdp_of_profile(mp, alpha, rate, r, lambda w: -mp.expm1((w - r) / 2))


def _sampled_above_threshold_rdp(mp: Any, alpha: float, rate: float, part: Part) -> Any:
    return _sampled_pure_rdp(mp, alpha, rate, above_threshold_epsilon(mp, part))


def _sampled_pure_rdp(mp: Any, alpha: float, rate: float, r: Any) -> Any:
    """Return the RDP of a sampled use of randomised response with log odds r."""
    return _rdp_of_profile(mp, alpha, rate, r, lambda w: -mp.expm1(w - r) / (1 + mp.exp(-r)))


def _sampled_exponential_rdp(mp: Any, alpha: float, rate: float, part: Part) -> Any:
    eta = mp.mpf(part["step_epsilon"])
    return _rdp_of_profile(mp, alpha, rate, eta, lambda w: (mp.exp(eta / 2) - mp.exp(w / 2)) ** 2 / mp.expm1(eta))


def _sampled_finite_rdp(losses: Callable[[Part], LossPair]) -> Callable[[Any, float, float, Part], Any]:
    """Return the sampled RDP of a mechanism with finitely many losses, Σ p^α q^(1−α) over those of a sampled use."""
    def rdp(mp: Any, alpha: float, rate: float, part: Part) -> Any:
        a = mp.mpf(alpha)
        outcomes = composition_finite.outcomes(mp, Use(losses(part), "without-replacement", rate))
        return mp.log(mp.fsum(p**a * q ** (1 - a) for p, q in outcomes if float(p))) / (a - 1)

    return rdp


def _no_sampled_rdp(mp: Any, alpha: float, rate: float, part: Part) -> Any:
    raise Unchecked("no closed form is known")


def _rdp_of_profile(mp: Any, alpha: float, rate: float, largest_loss: Any, delta: Callable[[Any], Any]) -> Any:
    """Return the Rényi divergence D of a sampled use, e^{(α−1)D} = 1 + α(α−1)∫_1^∞ (γ^{α−2} + γ^{−α−1}) qδ(log(1 +
    (γ−1)/q)) dγ, where δ is the profile of the unsampled use. The variable of integration is ε = log γ, up to the
    largest loss of the sampled use."""
    a, q = mp.mpf(alpha), mp.mpf(rate)
    end = mp.log1p(q * mp.expm1(largest_loss))

    def integrand(e: Any) -> Any:
        return (mp.exp((a - 1) * e) + mp.exp(-a * e)) * q * delta(mp.log1p(mp.expm1(e) / q))

    return mp.log1p(a * (a - 1) * mp.quad(integrand, [end * k / 8 for k in range(9)])) / (a - 1)


class _Mechanisms(dict[str, Verified]):
    """Name → mechanism, for those below, and for all of which a bound lists finitely many losses."""

    def __missing__(self, name: str) -> Verified:
        losses = partial(_listed_losses, RECORDS[name])
        return Verified(losses, _sampled_finite_rdp(losses))


MECHANISMS = _Mechanisms({
    "gaussian": Verified(lambda part: loss_distributions.gaussian(gaussian_mu(part)), _sampled_gaussian_rdp),
    "laplace": Verified(_laplace_losses, _sampled_laplace_rdp),
    "exponential": Verified(_exponential_losses, _sampled_exponential_rdp),
    "shuffled-ldp": Verified(shuffled_reports.losses, _no_sampled_rdp),
    "above-threshold": Verified(_above_threshold_losses, _sampled_above_threshold_rdp),
    "randomized-response": Verified(_randomized_response_losses, _sampled_finite_rdp(_randomized_response_losses)),
    "optimized-unary": Verified(_optimized_unary_losses, _sampled_finite_rdp(_optimized_unary_losses)),
    "discrete-gaussian": Verified(_discrete_gaussian_losses, _no_sampled_rdp),
})

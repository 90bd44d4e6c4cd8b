"""The privacy loss distribution of one use of a mechanism, and the RDP of a use on a batch drawn without replacement.

Gaussian and Laplace noise, selections by the bounded range of their loss or by the trade-off function of Laplace noise,
and pure differential privacy are described here for a second time, against errors of transcription in the bounds.
Mechanisms with few outcomes are read from the `outcomes` of their bounds, in balls: an error in these is not found
here, but by tests/soundness/mechanisms.py, which compares with the probabilities of a run, and by the tests of the
bounds against the definition of δ.
"""

from collections.abc import Callable, Mapping
from functools import partial
from math import expm1, log1p
from typing import Any

from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.bounds.mechanisms import (
    above_threshold,
    exponential,
    finite,
    noise_accuracy,
    one_shot_top_k,
    shuffled_ldp_lower,
    thresholded,
    thresholded_composed,
    unary,
)
from dpcalc.bounds.noisy_sgd._engine import sampled_step
from dpcalc.core.bound import Params, ProfileBound
from dpcalc.numerics.elementary import LARGEST_EXPONENT
from dpcalc.verify import composition_atoms, loss_distributions, shuffled_reports
from dpcalc.verify.arb.context import Formula, compute_once
from dpcalc.verify.composition_atoms import Atoms, approximate_dp_pair, atoms_of, pair_of_outcomes
from dpcalc.verify.loss_distributions import LossPair, Masses, Use
from dpcalc.verify.unchecked import Unchecked

# A mechanism as in the JSON of a guarantee; with `group_size`, for data sets that differ in so many records.
Part = Mapping[str, Any]
LIKE_LAPLACE = ("laplace", "permute-and-flip", "report-noisy-max")  # by the trade-off function of Laplace noise
OF_BOUNDED_RANGE = ("exponential", "noisy-max-gumbel")


def losses(part: Part) -> LossPair:
    """Return the pair of one use. Raises Unchecked where no description of it is known."""
    if describe := _LOSSES.get(part["name"]):
        return describe(part)
    mechanism = MECHANISMS[part["name"]]
    params = mechanism.bound_params(mechanism.of_group(mechanism.of_part(part), _group_size(part)))
    for route in mechanism.often:
        if isinstance(route.bound, ProfileBound) and (outcomes := route.bound.outcomes):
            return pair_of_outcomes(partial(outcomes, **{name: params[name] for name in route.bound.params}))
    raise Unchecked(f"no privacy loss distribution of {mechanism.name} is known here")


def _group_size(part: Part) -> int:
    return int(part.get("group_size") or 1)


def gaussian_mu(part: Part) -> Formula:
    """Return the formula of K/σ, in units of what one record changes."""
    return lambda mp: _group_size(part) / mp.mpf(part["noise_multiplier"])


def _randomized_response(part: Part) -> LossPair:
    p = part["probability"]
    return approximate_dp_pair(lambda mp: abs(mp.log(mp.mpf(p) / (1 - mp.mpf(p)))), 0.0)


def _above_threshold(part: Part) -> LossPair:
    own = part["threshold_scale"], part["scale"], _group_size(part), part["hits"], "any"
    return approximate_dp_pair(lambda mp: above_threshold.exact_pure(mp, *own), 0.0)


def _one_shot_top_k(part: Part) -> LossPair:
    own = part["scale"], _group_size(part), part["top_k"], "any"
    return approximate_dp_pair(lambda mp: one_shot_top_k.exact_pure(mp, *own), 0.0)


def _ratio(part: Part) -> Formula:
    """Return the formula of r = sensitivity/scale of Laplace noise, and of the same number of a selection, which is
    2Δ/b by the scale b of the noise on scores that change by at most Δ."""
    size, moves = _group_size(part), 1 if part["name"] == "laplace" else 2
    if "step_epsilon" in part:
        return lambda mp: size * mp.mpf(part["step_epsilon"])
    return lambda mp: moves * size / mp.mpf(part["scale"])


def _by_ratio(describe: Callable[[Formula, float], LossPair]) -> Callable[[Part], LossPair]:
    """Return the function of a part whose losses follow from that number and lie between its negative and it."""
    return lambda part: describe(_ratio(part), float(_ratio(part)(finite.DOUBLES)))


def _key_selection(part: Part) -> LossPair:
    if _group_size(part) > 1:
        raise Unchecked("groups of people have no pair of one key")
    return approximate_dp_pair(lambda mp: mp.mpf(part["step_epsilon"]), part["step_delta"])


def _optimized_unary(part: Part) -> LossPair:
    """Return the pair with the exact probabilities, which the parameters of its bound are rounded from."""
    return pair_of_outcomes(lambda mp: finite.exact_outcomes(mp, unary.atoms(
        mp, mp.mpf(1) / 2, 1 / (mp.exp(mp.mpf(part["step_epsilon"])) + 1))))


def _of_respondents(describe: Callable[[Part], LossPair]) -> Callable[[Part], LossPair]:
    """Return the function of a part that raises Unchecked for several respondents."""
    def losses(part: Part) -> LossPair:
        if _group_size(part) > 1:
            raise Unchecked("groups of respondents have no pair of one use")
        return describe(part)

    return losses


def thresholded_losses(params: Params) -> LossPair:
    """Return the pair of noisy values above a threshold, by its profile at the ε that the calculator chooses; any
    choice is valid. Raises Unchecked where the profile of a case is composed numerically."""
    own = {name: params[name] for name in thresholded.PARAMS}
    if not thresholded_composed.has_closed_form(thresholded.Release(**own)):
        raise Unchecked("of several values of a person above a threshold no closed form is known for this noise")
    corners = sorted(set(map(abs, thresholded_composed.pair(**own).losses)))
    return composition_atoms.profile_pair(corners, lambda mp, e: thresholded.exact(mp, e, **own))


def _thresholded_part(part: Part) -> LossPair:
    return thresholded_losses(MECHANISMS[part["name"]].bound_params(part))


_LOSSES: Mapping[str, Callable[[Part], LossPair]] = {
    "gaussian": lambda part: loss_distributions.gaussian(gaussian_mu(part)),
    **dict.fromkeys(LIKE_LAPLACE, _by_ratio(loss_distributions.laplace)),
    **dict.fromkeys(OF_BOUNDED_RANGE, _by_ratio(loss_distributions.bounded_range)),
    "shuffled-ldp": shuffled_reports.losses,
    "above-threshold": _above_threshold,
    **{f"thresholded-{noise}": _thresholded_part for noise in noise_accuracy.NOISES},
    "one-shot-top-k": _one_shot_top_k,
    "key-selection": _key_selection,
    "randomized-response": _of_respondents(_randomized_response),
    "optimized-unary": _of_respondents(_optimized_unary),
}


# --- pairs whose losses are bounds from below for a whole class of mechanisms ----------------------------------------


def two_outcomes(part: Part) -> LossPair:
    """Return the pair of a selection with the losses t and t − η (see bounds/mechanisms/exponential.py)."""
    eta = float(part["step_epsilon"])
    t = exponential.largest_loss(eta, int(part["steps"]))

    def atoms(mp: Any) -> Atoms:
        p = mp.expm1(mp.mpf(t) - mp.mpf(eta)) / mp.expm1(-mp.mpf(eta))
        q = p * mp.exp(-mp.mpf(t))
        return [(t, p, q), (t - eta, 1 - p, 1 - q)]

    return composition_atoms.two_way_pair(atoms)


def shuffled_responses(part: Part) -> LossPair:
    """Return the pair of a round of randomised response (see bounds/mechanisms/shuffled_ldp_lower.py)."""
    n, e0 = int(part["n"]), float(part["step_epsilon"])
    return composition_atoms.two_way_pair(lambda mp: atoms_of(mp, shuffled_ldp_lower.exact_groups(mp, n, e0)))


# --- a Poisson-sampled batch in which a record is replaced ------------------------------------------------------------


def replaced_use(part: Part, rate: float, size: int = 1) -> Use:
    """Return one use on a Poisson-sampled batch where `size` records are replaced: the mixture of a mechanism without
    and with the records, against that with them on the other side. The numbers of the mechanism are about batches to
    which one record is added."""
    if size > 1 and part["name"] != "gaussian":
        raise Unchecked("groups of records in random batches are covered for Gaussian noise only")
    if rate == 1:
        return Use(losses({**part, "group_size": 2 * size}))
    if part["name"] == "gaussian":
        return Use(loss_distributions.poisson_replaced(gaussian_mu(part), rate, size))
    if part["name"] in LIKE_LAPLACE:
        return Use(_replaced_laplace(part, rate))
    mechanism = MECHANISMS[part["name"]]
    profile = mechanism.replaced and mechanism.replaced(mechanism.of_part(part), rate)
    if not profile or not profile.outcomes:
        raise Unchecked(f"no pair of {mechanism.name} with a replaced record is known here")
    return Use(pair_of_outcomes(profile.outcomes))


def _replaced_laplace(part: Part, rate: float) -> LossPair:
    """Return the pair of noise of scale 1, (1−q)L(0) + qL(r) against (1−q)L(0) + qL(−r), whose loss is constant beyond
    ±r."""
    ratio = compute_once(_ratio(part))
    rest = compute_once(lambda mp: 1 + mp.mpf(rate) * mp.expm1(-ratio(mp)))
    end = compute_once(lambda mp: mp.log((1 + mp.mpf(rate) * mp.expm1(ratio(mp))) / rest(mp)))

    def tail(mp: Any, x: Any) -> Any:
        return mp.exp(-x) / 2 if float(x) > 0 else 1 - mp.exp(x) / 2

    def masses_above(mp: Any, w: Any) -> Masses:
        r, q = ratio(mp), mp.mpf(rate)
        x = mp.log1p(mp.expm1(abs(w)) * rest(mp) * mp.exp(r) / q) / 2  # the outcome with the loss |w|
        x = x if float(w) > 0 else -x
        return tuple((1 - q) * tail(mp, x) + q * tail(mp, x - shift) for shift in (r, -r))

    r = float(_ratio(part)(finite.DOUBLES))
    ahead = log1p(rate * expm1(r)) if r < LARGEST_EXPONENT else r
    return loss_distributions.symmetric_pair(masses_above, ahead - log1p(rate * expm1(-r)), end)


# --- Rényi divergences of uses on batches drawn without replacement ---------------------------------------------------


def sampled_rdp(mp: Any, alpha: float, rate: float, part: Part) -> Any:
    """Return the RDP of one use: from its profile, or as Σ p^α q^(1−α) where its losses are finitely many. Raises
    Unchecked where neither has a closed form."""
    if part["name"] == "gaussian":
        return sampled_step.exact(mp, alpha, rate, part["noise_multiplier"])
    if part["name"] in LIKE_LAPLACE:
        r = _ratio(part)(mp)
        return _rdp_of_profile(mp, alpha, rate, r, lambda w: -mp.expm1((w - r) / 2))
    if part["name"] in OF_BOUNDED_RANGE:
        eta = _ratio(part)(mp)
        return _rdp_of_profile(mp, alpha, rate, eta, lambda w: (mp.exp(eta / 2) - mp.exp(w / 2)) ** 2 / mp.expm1(eta))
    use, a = Use(losses(part), "without-replacement", rate), mp.mpf(alpha)
    if float(loss_distributions.infinite_mass(use, mp)):
        raise Unchecked("no closed form is known")
    outcomes = composition_atoms.outcomes(mp, use)
    return mp.log(mp.fsum(p**a * q ** (1 - a) for p, q in outcomes if float(p))) / (a - 1)


def _rdp_of_profile(mp: Any, alpha: float, rate: float, largest_loss: Any, delta: Callable[[Any], Any]) -> Any:
    """Return the Rényi divergence D of a sampled use, e^{(α−1)D} = 1 + α(α−1)∫_1^∞ (γ^{α−2} + γ^{−α−1}) qδ(log(1 +
    (γ−1)/q)) dγ, where δ is the profile of the unsampled use. The variable of integration is ε = log γ, up to the
    largest loss of the sampled use."""
    a, q = mp.mpf(alpha), mp.mpf(rate)
    end = mp.log1p(q * mp.expm1(largest_loss))

    def integrand(e: Any) -> Any:
        return (mp.exp((a - 1) * e) + mp.exp(-a * e)) * q * delta(mp.log1p(mp.expm1(e) / q))

    return mp.log1p(a * (a - 1) * mp.quad(integrand, [end * k / 8 for k in range(9)])) / (a - 1)

"""The published formulas of a row at its witness, from which the claims about the row are made."""

from collections.abc import Callable, Mapping
from typing import Any

from dpcalc.accounting import breakpoints
from dpcalc.accounting.orders import own_params
from dpcalc.bounds.mechanisms import above_threshold, unary
from dpcalc.bounds.noisy_sgd.lower_bound import BOUND as LOWER_BOUND
from dpcalc.bounds.online._engine.levels import Schedule
from dpcalc.bounds.sampling.shuffle_no_amplification import BOUND as SHUFFLED
from dpcalc.bounds.sampling.wor_profile import BOUND as WOR_PROFILE
from dpcalc.core.bound import ProfileBound
from dpcalc.core.results import Row
from dpcalc.verify import long_sums, lower_bound, online_sums
from dpcalc.verify.arb.context import Formula, compute_once
from dpcalc.verify.mechanisms import sampled_rdp
from dpcalc.verify.unchecked import OtherQuestion, Unchecked


def exact_arguments(row: Row) -> dict[str, Any]:
    """Return the arguments of `exact`: the parameters of the bound, and the free choices of its theorem in the
    witness."""
    bound = row.route.bound
    free = {k: v for k, v in row.witness.items()
            if k not in ("alpha", "rdp", "epsilon")} if bound.choices.search else {}
    own = {**own_params(bound, row.params), **free}
    if "r" in own:
        own["r"] = int(own["r"])
    return own


def _published_formula(row: Row) -> Callable[..., Any]:
    """Return the bound's `exact`; or its equivalent in long_sums.py, where that is a sum with possibly very many terms.
    Raises Unchecked where the sum is too long for both."""
    bound, p = row.route.bound, row.params
    if bound.name in long_sums.FORMULAS:
        return long_sums.FORMULAS[bound.name]
    if isinstance(bound, ProfileBound) and p.get("steps", 0) > bound.exact_steps:
        raise Unchecked(f"its published sum has {p['steps']:g} terms")
    return bound.exact


def rdp_of_all_steps(row: Row, alpha: float) -> Formula:
    """Return the formula of the RDP ε(α) of all steps together."""
    formula, own, steps = _published_formula(row), exact_arguments(row), row.params.get("steps", 1)
    return compute_once(lambda mp: steps * formula(mp, alpha, **own))


def delta_of_row(row: Row) -> Callable[[Any, Any], Any]:
    """Return (context, ε) → δ as published; for a bound that composes epochs (epochs.py), δ of a single epoch."""
    own, way, bound = exact_arguments(row), breakpoints.choices_of_row(row), row.route.bound
    if isinstance(bound, ProfileBound) and bound.one is not None:
        one = bound.one
        own.pop("steps")
        return lambda mp, epsilon: one.exact(mp, epsilon, **own, **way)
    formula = _published_formula(row)
    return lambda mp, epsilon: formula(mp, epsilon, **own, **way)


# --- Rényi divergences of profiles -----------------------------------------------------------------------------------


def rdp_of_profile(row: Row, alpha: float) -> Formula:
    """Return the formula of the RDP of all steps for a bound that is a profile: αμ²/2 of μ-GDP, or as it follows from
    the pair of a step. Raises Unchecked where it has no formula."""
    bound, own, steps = row.route.bound, exact_arguments(row), row.params.get("steps", 1)
    if bound.name == SHUFFLED.name:  # αE/(2z²) without the root in μ, as its value may be that number itself
        return lambda mp: mp.mpf(alpha) * own["epochs"] / (2 * mp.mpf(own["noise_multiplier"]) ** 2)
    if isinstance(bound, ProfileBound) and bound.mu is not None and (mu := bound.mu.exact) is not None:
        return lambda mp: steps * mp.mpf(alpha) * mu(mp, **own) ** 2 / 2
    if bound.name == LOWER_BOUND.name:
        return lambda mp: lower_bound.rdp(mp, alpha, own)
    if bound.name == WOR_PROFILE.name:
        return lambda mp: steps * sampled_rdp(mp, alpha, own["sampling_rate"], row.params["part"])
    raise Unchecked(f"the Rényi divergence of {bound.name} has no published formula")


# --- pure differential privacy ---------------------------------------------------------------------------------------


_STEP_PARAMETERS = ("learning_rate", "smoothness", "strong_convexity")
_STREAM_PARAMETERS = ("levels", "lipschitz", "diameter", *_STEP_PARAMETERS, "n", "index")


def _pure_epsilon_of_step(mp: Any, name: str, p: Mapping[str, Any]) -> Any:
    """Return the pure ε of the record with noise of scale v: 2L/v, or the smaller MD/(ηv) of the next step where steps
    follow the record in a fixed order."""
    shift = 2 * mp.mpf(p["lipschitz"])
    if name.removesuffix("-basic") == "fixed-order" and p["index"] < p["n"]:
        shift = min(shift, online_sums.shift_of_diameter(mp, p["diameter"], *(p[k] for k in _STEP_PARAMETERS)))
    return shift / mp.mpf(p["level"])


def _pure_epsilon_of_stream(mp: Any, levels: Any, lipschitz: float, diameter: float, learning_rate: float,
                            smoothness: float, strong_convexity: float, n: float, index: int) -> Any:
    """Return the smaller one of 2L/v_i and MD/(ηv_t), where t is the later step with the most noise."""
    own = 2 * mp.mpf(lipschitz) / levels.exact(mp, index)
    if n == index:
        return own
    noisiest = index + 1 if isinstance(levels, Schedule) else max(range(index + 1, int(n) + 1), key=levels.at)
    shift = online_sums.shift_of_diameter(mp, diameter, learning_rate, smoothness, strong_convexity)
    return min(own, shift / levels.exact(mp, noisiest))


def refuse_positive_delta(row: Row) -> None:
    """Raise OtherQuestion where a release that is composed has a positive δ."""
    p = row.params
    if any(delta > 0 for _, delta, _ in p.get("points", ())) or p.get("step_delta", 0.0) > 0:
        raise OtherQuestion("a release that is composed has a positive δ: no ε holds at δ = 0")


def pure_epsilon(row: Row) -> Formula:
    """Return the formula of the least ε at which δ is 0."""
    p, steps = row.params, row.params.get("steps", 1)
    if "levels" in p:
        return lambda mp: _pure_epsilon_of_stream(mp, **{k: p[k] for k in _STREAM_PARAMETERS})
    if "level" in p:
        return lambda mp: steps * _pure_epsilon_of_step(mp, row.route.bound.name, p)
    refuse_positive_delta(row)
    if "step_epsilon" in row.route.bound.params:
        return lambda mp: steps * mp.mpf(p["step_epsilon"])
    if "threshold_scale" in p:
        own = {name: p[name] for name in above_threshold.RDP.params}
        return lambda mp: steps * above_threshold.exact_pure(mp, **own)
    if "flip_probability" in row.route.bound.params:
        return lambda mp: unary.atoms(mp, p["probability"], p["flip_probability"])[0][0]
    if "probability" in p:
        return lambda mp: steps * abs(mp.log(mp.mpf(p["probability"]) / (1 - mp.mpf(p["probability"]))))
    if "scale" in p:
        return lambda mp: mp.mpf(p["sensitivity"]) / mp.mpf(p["scale"])
    if "p" in p:
        return lambda mp: max(abs(mp.log(mp.mpf(a) / mp.mpf(b))) for a, b in zip(p["p"], p["q"], strict=True) if a or b)
    raise Unchecked("no published formula for pure differential privacy")

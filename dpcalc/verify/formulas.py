"""The formulas of a row, as published, at its witness: what the claims about it are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dpcalc.accounting import breakpoints
from dpcalc.accounting.orders import own_params
from dpcalc.bounds.online._engine.levels import Schedule
from dpcalc.bounds.pnsgd._engine.step import contraction_exact
from dpcalc.core.results import Row
from dpcalc.verify import long_sums, lower_bound
from dpcalc.verify.arb.context import Formula, once
from dpcalc.verify.mechanisms import MECHANISMS
from dpcalc.verify.unchecked import OtherQuestion, Unchecked


def own_of(row: Row) -> dict[str, Any]:
    """The arguments of `exact`: the parameters, and the theorem's free choices as the row made them."""
    bound = row.route.bound
    free = {k: v for k, v in row.witness.items() if k not in ("alpha", "rdp", "epsilon")} if bound.search else {}
    own = {**own_params(bound, row.params), **free}
    if "r" in own:
        own["r"] = int(own["r"])
    return own


def _formula(row: Row) -> Callable[..., Any]:
    """The published formula; sums that are too long to be added term by term have their own way (long_sums.py)."""
    bound, p = row.route.bound, row.params
    if bound.name in long_sums.FORMULAS:
        return long_sums.FORMULAS[bound.name]
    if p.get("steps", 0) > bound.exact_steps:
        raise Unchecked(f"its published sum has {p['steps']:g} terms")
    return bound.exact


def rdp_total(row: Row, alpha: float) -> Formula:
    """ε(α) of all steps."""
    formula, own, steps = _formula(row), own_of(row), row.params.get("steps", 1)
    return once(lambda mp: steps * formula(mp, alpha, **own))


def delta_at(row: Row) -> Callable[[Any, Any], Any]:
    """(context, ε) → δ as published."""
    own = own_of(row)
    if (one := row.route.bound.one) is not None:  # a single epoch: others are composed (epochs.py)
        own.pop("steps")
        way = breakpoints.of_row(row)
        return lambda mp, epsilon: one.exact(mp, epsilon, **own, **way)
    formula, way = _formula(row), breakpoints.of_row(row)
    return lambda mp, epsilon: formula(mp, epsilon, **own, **way)


def _by_mu(mu: Callable[..., Any]) -> Callable[..., Any]:
    return lambda mp, alpha, own, params: mp.mpf(alpha) * mu(mp, **own) ** 2 / 2


def _iteration(mp: Any, **own: Any) -> Any:
    from dpcalc.bounds.noisy_sgd import iteration

    return iteration.exact_mu(mp, **own)


def _iteration_nonconvex(mp: Any, **own: Any) -> Any:
    from dpcalc.bounds.noisy_sgd import iteration_nonconvex

    return iteration_nonconvex.exact_mu(mp, **own)


def _iteration_schedule(mp: Any, **own: Any) -> Any:
    from dpcalc.bounds.noisy_sgd import iteration_schedule
    from dpcalc.bounds.noisy_sgd._engine import expanding

    return iteration_schedule.exact_mu(mp, **(own if "strong_convexity" in own else expanding.with_curvature(own)))


def _affine(fed: bool) -> Callable[..., Any]:
    def mu(mp: Any, curvature: float, learning_rate: float, sigma: float, iterations: int, lipschitz: float,
           index: int) -> Any:
        from dpcalc.bounds.noise_feedback import affine, with_feedback, without_feedback

        variance = (with_feedback if fed else without_feedback).exact_variance(mp, curvature, learning_rate, sigma,
                                                                               iterations)
        return affine.exact_ratio(mp, curvature, learning_rate, lipschitz, iterations - index, variance)

    return mu


def _sampled(mp: Any, alpha: float, own: Mapping[str, Any], params: Mapping[str, Any]) -> Any:
    """Of the profile of a batch drawn without replacement."""
    part = params["part"]
    return MECHANISMS[part["name"]].sampled_rdp(mp, alpha, own["sampling_rate"], part)


RDP: dict[str, Callable[..., Any]] = {
    "iteration": _by_mu(_iteration),
    "iteration-nonconvex": _by_mu(_iteration_nonconvex),
    "iteration-schedule": _by_mu(_iteration_schedule),
    "iteration-schedule-nonconvex": _by_mu(_iteration_schedule),
    "noise-feedback": _by_mu(_affine(True)),
    "without-feedback": _by_mu(_affine(False)),
    "wor-profile": _sampled,
    "lower-bound": lambda mp, alpha, own, params: lower_bound.rdp(mp, alpha, own),
}


_REACH = ("learning_rate", "smoothness", "strong_convexity")
_STREAM = ("levels", "lipschitz", "diameter", *_REACH, "n", "index")


def _reach(mp: Any, diameter: float, *step: float) -> Any:
    """MD/η."""
    return contraction_exact(mp, *step) * mp.mpf(diameter) / mp.mpf(step[0])


def _pure_step(mp: Any, name: str, p: Mapping[str, Any]) -> Any:
    """2L/v, or MD/(ηv) where steps follow a position of a fixed order."""
    moved = 2 * mp.mpf(p["lipschitz"])
    if name.removesuffix("-basic") == "fixed-order" and p["index"] < p["n"]:
        moved = min(moved, _reach(mp, p["diameter"], *(p[k] for k in _REACH)))
    return moved / mp.mpf(p["level"])


def _pure_stream(mp: Any, levels: Any, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
                 strong_convexity: float,
                 n: float, index: int) -> Any:
    """2L/v_i, or MD/(ηv_t) at the loudest step after it."""
    own = 2 * mp.mpf(lipschitz) / levels.exact(mp, index)
    if n == index:
        return own
    loudest = index + 1 if isinstance(levels, Schedule) else max(range(index + 1, int(n) + 1), key=levels.at)
    return min(own, _reach(mp, diameter, learning_rate, smoothness, strong_convexity) / levels.exact(mp, loudest))


def pure(row: Row) -> Formula:
    """The least ε with δ = 0."""
    p, steps = row.params, row.params.get("steps", 1)
    if "levels" in p:
        return lambda mp: _pure_stream(mp, **{k: p[k] for k in _STREAM})
    if "level" in p:
        return lambda mp: steps * _pure_step(mp, row.route.bound.name, p)
    if any(delta > 0 for _, delta, _ in p.get("points", ())) or p.get("step_delta", 0.0) > 0:
        raise OtherQuestion("a release that is composed has a positive δ: no ε holds at δ = 0")
    if "points" in row.route.bound.params:
        return lambda mp: mp.fsum(count * mp.mpf(epsilon) for epsilon, _, count in p["points"])
    if "step_epsilon" in row.route.bound.params:
        return lambda mp: steps * mp.mpf(p["step_epsilon"])
    if "probability" in p:
        return lambda mp: steps * abs(mp.log(mp.mpf(p["probability"]) / (1 - mp.mpf(p["probability"]))))
    if "scale" in p:
        return lambda mp: mp.mpf(p["sensitivity"]) / mp.mpf(p["scale"])
    if "p" in p:
        return lambda mp: max(abs(mp.log(mp.mpf(a) / mp.mpf(b))) for a, b in zip(p["p"], p["q"], strict=True) if a or b)
    raise Unchecked("no published formula for pure differential privacy")

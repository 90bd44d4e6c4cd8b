"""What a row composes, for composition.py: the uses of mechanisms and guarantees, in closed form, and the witness's grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, log
from typing import Any

from dpcalc.errors import DpcalcError
from dpcalc.question import Question
from dpcalc.rows import Answer, Row
from dpcalc.verify import composition, laws
from dpcalc.verify.laws import Base, Use

Parts = tuple[tuple[Use, int], ...]
_ROUGH = 8  # points of the grid in one of a Chernoff bound's


class Unchecked(Exception):
    """Why a claim cannot be checked here."""


def of(row: Row, answer: Answer) -> Parts:
    """The parts of a composed row. Raises Unchecked for those without a closed form here."""
    name = row.route.bound.name
    if name in ("burn-in-profile", "composition-profile"):
        return _noisy_sgd(row)
    if name == "profile-composition":
        steps = int(row.params.get("steps", 1))
        if not answer.inputs:
            raise Unchecked(f"the pairs that {name} composes have no closed form here")
        return tuple((use, count * steps) for g in answer.inputs for use, count in _guarantee(g))
    if name not in ("poisson-profile", "wor-profile", "laplace-profile"):
        raise Unchecked(f"the profile that {name} composes has no closed form here")
    return _guarantee(answer.guarantee)


def _noisy_sgd(row: Row) -> Parts:
    """R sampled steps at σ2, and the Gaussian that hides the start (burn_in_profile.py)."""
    from dpcalc.bounds.noisy_sgd import contraction

    p, r, sigma1 = row.params, int(row.witness.get("r", row.params["iterations"])), float(row.witness.get("sigma1", 0.0))
    n, b = p["n"], p["batch_size"]

    def ratio(mp: Any) -> Any:
        return 2 * mp.mpf(p["lipschitz"]) / (b * mp.sqrt(mp.mpf(p["sigma"]) ** 2 - mp.mpf(sigma1) ** 2))

    def mu(mp: Any) -> Any:
        eta = mp.mpf(p["learning_rate"])
        g = contraction.exact_gap(mp, p["learning_rate"], p["smoothness"], p["strong_convexity"])
        d = min(mp.mpf(p["diameter"]), contraction.exact_reached(mp, g, p["iterations"] - r, 2 * eta * mp.mpf(p["lipschitz"]) / b))
        return d * mp.sqrt(contraction.exact_weight(mp, g, r)) / (eta * mp.mpf(sigma1))

    step = Use(laws.gaussian(ratio), "without-replacement", _rate(b, n)) if b < n else Use(laws.gaussian(ratio))
    return ((step, r), (Use(laws.gaussian(mu)), 1)) if sigma1 and r < p["iterations"] else ((step, r),)


def _rate(b: int, n: int) -> float:
    from dpcalc.numerics.rounding import ratio_up

    return ratio_up((b,), (n,))


def _guarantee(g: Mapping[str, Any]) -> Parts:
    if g["kind"] == "mechanisms":
        return tuple((_mechanism(part), int(part.get("count", 1))) for part in g["mechanisms"])
    if g["kind"] not in _PARTS:
        raise Unchecked(f"the profile of a guarantee of kind {g['kind']} has no closed form here")
    return ((Use(_PARTS[g["kind"]](g)), 1),)


def _mechanism(part: Mapping[str, Any]) -> Use:
    base = _BASES[part["name"]](part)
    sampling = part.get("sampling")
    if sampling is None:
        return Use(base)
    if sampling["scheme"] not in ("poisson", "without-replacement"):
        raise Unchecked("weighted sampling has no profile")
    return Use(base, sampling["scheme"], float(sampling["rate"]))


def _laplace(part: Mapping[str, Any]) -> Base:
    return laws.laplace(lambda mp: 1 / mp.mpf(part["scale"]), 1 / part["scale"])


def _response(part: Mapping[str, Any]) -> Base:
    p = part["probability"]
    return laws.binary(lambda mp: abs(mp.log(mp.mpf(p) / (1 - mp.mpf(p)))), 0.0, abs(log(p / (1 - p))))


_BASES: dict[str, Callable[[Mapping[str, Any]], Base]] = {
    "gaussian": lambda part: laws.gaussian(lambda mp: 1 / mp.mpf(part["noise_multiplier"])),
    "laplace": _laplace,
    "randomized-response": _response,
}
_PARTS: dict[str, Callable[[Mapping[str, Any]], Base]] = {
    "gdp": lambda g: laws.gaussian(lambda mp: mp.mpf(g["mu"])),
    "dp": lambda g: laws.binary(lambda mp: mp.mpf(g["epsilon"]), g["delta"], g["epsilon"]),
    "tv": lambda g: laws.binary(lambda mp: mp.mpf(0), g["tv"], 0.0),
}


def witness(row: Row, question: Question, epsilon: float | None = None) -> Mapping[str, Any]:
    """The grid of the row; where the record has none (a profile inside another search), one that the fast path finds anew."""
    if "grids" in row.witness and epsilon is None:
        return row.witness
    from dpcalc.composed import parts
    from dpcalc.profiles import compose

    if row.route.bound.name in ("burn-in-profile", "composition-profile"):
        found, precision = _fast_parts(row), 1e-3
    else:
        found, precision = parts(row.route, row.params), float(row.params.get("precision") or compose.PRECISION)
    try:
        if epsilon is None and question.delta:
            return compose.epsilon_at(found, question.log_delta, precision, bracket=False).witness
        return compose.log_delta_at(found, epsilon if epsilon is not None else question.epsilon or 0.0, precision, bracket=False).witness
    except DpcalcError as reason:
        raise Unchecked(reason.message) from None


def _fast_parts(row: Row) -> Any:
    from dpcalc.bounds.noisy_sgd import burn_in_profile
    from dpcalc.orders import own_params

    p, r = row.params, int(row.witness.get("r", row.params["iterations"]))
    if row.route.bound.name == "composition-profile":
        return burn_in_profile.parts_of(p["n"], p["batch_size"], p["lipschitz"], p["sigma"], p["iterations"], 0.0)
    return burn_in_profile._parts(**own_params(row.route.bound, p), r=r, sigma1=float(row.witness["sigma1"]))


def delta(mp: Any, parts: Parts, given: Mapping[str, Any], epsilon: float, log_delta: float) -> Any:
    """The upper value of δ at ε, over both directions."""
    plan = composition.plan(given)
    added = bool(given.get("reversed"))
    own = tuple((use._replace(added=added and not use.symmetric), count) for use, count in parts)
    found = composition.delta(mp, own, plan, epsilon)
    if all(use.symmetric for use, _ in parts):
        return found
    other = tuple((use._replace(added=not added and not use.symmetric), count) for use, count in parts)
    claimed = mp.mpf(log_delta) if log_delta > -inf else mp.log(found)
    rough = composition.mirrored(mp, other, plan, mp.exp(claimed), _ROUGH)
    if composition.settled(mp, other, rough, epsilon, claimed):
        return found
    return max(found, composition.delta(mp, other, composition.mirrored(mp, other, plan, mp.exp(claimed)), epsilon))

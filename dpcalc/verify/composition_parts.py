"""What a row composes, for composition.py: the uses of mechanisms and guarantees, in closed form, and the witness's
grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import inf, log
from typing import Any

from dpcalc.accounting.orders import own_params
from dpcalc.core.question import Question
from dpcalc.core.results import Answer, Row
from dpcalc.verify import composition_atoms, composition_grids, epochs, loss_laws
from dpcalc.verify.composition_grids import Parts
from dpcalc.verify.formulas import delta_at
from dpcalc.verify.loss_laws import Base, Use
from dpcalc.verify.mechanisms import MECHANISMS
from dpcalc.verify.unchecked import Unchecked


def composed(row: Row, answer: Answer, side: int = 0) -> Callable[[Any, float, float], Any]:
    """(context, ε, log δ as claimed) → δ of a composed row, from above; of one direction with a side."""
    if row.route.bound.one is not None:
        return epochs.composed(row)
    if "variation" in row.witness and row.params.get("described"):  # one total variation, which is δ at every ε
        (described,) = row.params["described"]
        if described["kind"] != "tv" or int(row.params.get("steps", 1)) != 1:
            raise Unchecked("more than one total variation has no closed form")
        return lambda mp, epsilon, log_delta: mp.mpf(described["tv"])
    if "variation" in row.witness:
        one, steps = delta_at(row), int(row.params.get("steps", 1))
        return lambda mp, epsilon, log_delta: 1 - (1 - one(mp, 0.0)) ** steps
    if "all_losses" in row.witness:  # δ is what is infinite, as no finite loss is above ε
        return _all_losses(row, answer)
    if side:
        return lambda mp, epsilon, log_delta: _one_side(mp, row, answer, epsilon, side)
    uses, grid = grounds(row, answer)
    return lambda mp, epsilon, log_delta: composition_grids.delta(mp, uses, grid, epsilon, log_delta)


def _all_losses(row: Row, answer: Answer) -> Callable[[Any, float, float], Any]:
    """1 − Π(1 − P_i(∞)) from the sum of the largest losses on, which are numbers of (ε, δ) guarantees."""
    uses = _OF[row.route.bound.name](row, answer)
    if any(g["kind"] not in ("dp", "tv", "profile") for g in row.params["described"]):
        raise Unchecked("the largest loss of all is checked where each guarantee says its own")
    least = sum(Fraction(use.base.most) * count for use, count in uses)

    def delta(mp: Any, epsilon: float, log_delta: float) -> Any:
        if Fraction(epsilon) >= least:
            return composition_grids.infinite(mp, uses)
        return composition_grids.delta(mp, uses, {"sums": 1}, epsilon, log_delta)

    return delta


def _one_side(mp: Any, row: Row, answer: Answer, epsilon: float, side: int) -> Any:
    """On the grid that the witness has for this ε, or the fast path finds for this direction."""
    from dpcalc.accounting.composition import parts
    from dpcalc.pld.bracket import PRECISION

    witness: Mapping[str, Any] = row.witness
    grid = witness if abs(float(witness["epsilon"])) == epsilon else witness.get("reversed_grid") or {}
    if not {"grids", "sums"} & grid.keys():
        precision = float(row.params.get("precision") or PRECISION)
        grid = composition_grids.found(parts(row.route, row.params, side), answer.question, epsilon, precision,
                                       one_sided=True)
    return composition_grids.delta(mp, _OF[row.route.bound.name](row, answer), grid, epsilon, -inf, side)


def grounds(row: Row, answer: Answer) -> tuple[Parts, Mapping[str, Any]]:
    """What is composed, and the grid."""
    at = abs(float(row.witness["epsilon"])) if answer.question.asks == "tpr" else None
    grid = row.witness if "grids" in row.witness else _found(row, answer.question, at)
    return _OF[row.route.bound.name](row, answer), grid


def is_composed(row: Row) -> bool:
    """Whether the row's number is one of a numerical composition."""
    bound, p = row.route.bound, row.params
    if bound.name in _FAST:
        return bool(p["iterations"] > 1)
    if bound.one is not None:
        return bool(p["steps"] > 1)
    return bound.kind == "composition" or (bound.pair is not None and p.get("steps", 1) > 1)


def _described(row: Row, answer: Answer) -> Parts:
    """Guarantees as the row's parameters describe them."""
    steps = int(row.params.get("steps", 1))
    return tuple((use, count * steps) for g in row.params["described"] for use, count in _guarantee(g))


def _repeated(row: Row) -> Parts:
    p = row.params
    base = loss_laws.laplace(lambda mp: mp.mpf(p["sensitivity"]) / mp.mpf(p["scale"]), p["sensitivity"] / p["scale"])
    return ((Use(base), int(p["steps"])),)


def _sampled(row: Row, answer: Answer, scheme: str) -> Parts:
    """What this row composes: in a comparison that is not what the answer hands on."""
    part = row.params["part"]
    return ((Use(MECHANISMS[part["name"]].losses(part), scheme, float(row.params["sampling_rate"])),
             int(row.params["steps"])),)


def _noisy_sgd(row: Row, answer: Answer) -> Parts:
    """R sampled steps at σ2, and the Gaussian that hides the start (burn_in_profile.py)."""
    from dpcalc.bounds.noisy_sgd._engine import contraction

    p, r, sigma1 = row.params, int(row.witness.get("r", row.params["iterations"])), float(row.witness.get("sigma1",
                                                                                                          0.0))
    n, b = p["n"], p["batch_size"]
    curvature = p["strong_convexity"] if "strong_convexity" in row.route.bound.params else -p["smoothness"]

    def ratio(mp: Any) -> Any:
        return 2 * mp.mpf(p["lipschitz"]) / (b * mp.sqrt(mp.mpf(p["sigma"]) ** 2 - mp.mpf(sigma1) ** 2))

    def mu(mp: Any) -> Any:
        eta = mp.mpf(p["learning_rate"])
        g = contraction.exact_gap(mp, p["learning_rate"], p["smoothness"], curvature)
        d = min(mp.mpf(p["diameter"]),
                contraction.exact_reached(mp, g, p["iterations"] - r, 2 * eta * mp.mpf(p["lipschitz"]) / b))
        return d * mp.sqrt(contraction.exact_weight(mp, g, r)) / (eta * mp.mpf(sigma1))

    step = Use(loss_laws.gaussian(ratio), "without-replacement",
               _rate(b, n)) if b < n else Use(loss_laws.gaussian(ratio))
    return ((step, r), (Use(loss_laws.gaussian(mu)), 1)) if sigma1 and r < p["iterations"] else ((step, r),)


def _rate(b: int, n: int) -> float:
    from dpcalc.numerics.rounding import ratio_up

    return ratio_up((b,), (n,))


def _guarantee(g: Mapping[str, Any]) -> Parts:
    if g["kind"] == "mechanisms":
        return tuple((_mechanism(part), int(part.get("count", 1))) for part in g["mechanisms"])
    return ((Use(_PARTS[g["kind"]](g)), int(g.get("count", 1))),)


def _mechanism(part: Mapping[str, Any]) -> Use:
    base = MECHANISMS[part["name"]].losses(part)
    sampling = part.get("sampling")
    if sampling is None:
        return Use(base)
    if sampling["scheme"] not in ("poisson", "without-replacement"):
        raise Unchecked("weighted sampling has no profile")
    return Use(base, sampling["scheme"], float(sampling["rate"]))


def _profile(g: Mapping[str, Any]) -> Base:
    from dpcalc.pld.atoms import hull

    given = dict(zip(g["epsilon"], g["delta"], strict=True))
    corners = hull(g["epsilon"], [log(d) if d > 0 else -inf for d in g["delta"]])
    return composition_atoms.points([e for e, _ in corners], lambda mp, e: mp.mpf(given[e]))


def _curve(g: Mapping[str, Any]) -> Base:
    """The profile that an RDP curve implies, at the points of the fast path, by the order that is best at each."""
    from dpcalc.accounting.guarantee_pld import best_orders, followed
    from dpcalc.pld.atoms import hull

    orders = tuple(zip(g["alpha"], g["rdp"], strict=True))
    corners = [e for e, _ in hull(*followed(orders))]
    best = dict(zip(corners, best_orders(orders, corners), strict=True))
    return composition_atoms.points(corners, lambda mp, e: _implied(mp, *best[e], e))


def _zcdp(g: Mapping[str, Any]) -> Base:
    from dpcalc.accounting.guarantee_pld import zcdp_orders

    alphas, rdps = zip(*zcdp_orders(g["rho"]), strict=True)
    return _curve({"alpha": alphas, "rdp": rdps})


def _implied(mp: Any, alpha: float, rdp: float, epsilon: float) -> Any:
    """δ at ε by the improved conversion of one order."""
    a = mp.mpf(alpha)
    found = mp.exp((a - 1) * (mp.mpf(rdp) - mp.mpf(epsilon))) * (1 - 1 / a) ** a / (a - 1)
    return found if float(found) < 1 else mp.mpf(1)


_PARTS: dict[str, Callable[[Mapping[str, Any]], Base]] = {
    "gdp": lambda g: loss_laws.gaussian(lambda mp: mp.mpf(g["mu"])),
    "dp": lambda g: composition_atoms.binary(lambda mp: mp.mpf(g["epsilon"]), g["delta"], g["epsilon"]),
    "tv": lambda g: composition_atoms.binary(lambda mp: mp.mpf(0), g["tv"], 0.0),
    "profile": _profile,
    "rdp": _curve,
    "zcdp": _zcdp,
    "outcomes": lambda g: composition_atoms.outcomes(g["p"], g["q"]),
}
_OF: dict[str, Callable[[Row, Answer], Parts]] = {
    "burn-in-profile": _noisy_sgd,
    "burn-in-profile-nonconvex": _noisy_sgd,
    "composition-profile": _noisy_sgd,
    "profile-composition": _described,
    "poisson-profile": lambda row, answer: _sampled(row, answer, "poisson"),
    "wor-profile": lambda row, answer: _sampled(row, answer, "without-replacement"),
    "laplace-profile": lambda row, answer: _repeated(row),
}


def _found(row: Row, question: Question, epsilon: float | None) -> Mapping[str, Any]:
    """A grid for a row that tells of none: its profile is part of another search."""
    from dpcalc.accounting.composition import parts
    from dpcalc.pld.bracket import PRECISION

    fast = _FAST.get(row.route.bound.name)
    if fast is not None:
        return composition_grids.found(fast(row), question, epsilon, 1e-3)
    return composition_grids.found(parts(row.route, row.params), question, epsilon,
                                   float(row.params.get("precision") or PRECISION))


def _fast_composition(row: Row) -> Any:
    from dpcalc.bounds.noisy_sgd import burn_in_profile

    p = row.params
    return burn_in_profile.parts_of(p["n"], p["batch_size"], p["lipschitz"], p["sigma"], p["iterations"], 0.0)


def _fast_burn_in(row: Row) -> Any:
    from dpcalc.bounds.noisy_sgd import burn_in_profile
    from dpcalc.bounds.noisy_sgd._engine import expanding

    own, r = own_params(row.route.bound, row.params), int(row.witness.get("r", row.params["iterations"]))
    own = own if "strong_convexity" in own else expanding.with_curvature(own)
    return burn_in_profile.parts_at(**own, r=r, sigma1=float(row.witness["sigma1"]))


_FAST: dict[str, Callable[[Row], Any]] = {"composition-profile": _fast_composition, "burn-in-profile": _fast_burn_in,
                                          "burn-in-profile-nonconvex": _fast_burn_in}

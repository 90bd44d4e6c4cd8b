"""From a route to what an attacker can do: true-positive rates and the best guess. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from dpcalc.errors import OutOfScope
from dpcalc.evaluate import evaluate, is_composed
from dpcalc.numbers import human, plain
from dpcalc.numerics.rounding import difference_down, up
from dpcalc.numerics.tradeoff import best_guess, true_positive
from dpcalc.orders import Params
from dpcalc.question import Question
from dpcalc.rows import Route, Row, Table

Delta = Callable[[float], float]
_FINE, _ROUGH = 1e-8, 3e-3  # tolerances of ε, over TV; the value's error is about the square


def profile(route: Route, params: Params, orders: dict[float, float] | None = None) -> Delta:
    """ε >= 0 → δ, rounded up; each ε computed once. A bound on TV alone gives the same δ at every ε. `orders` takes in the order
    that an RDP curve was read at for each ε."""
    known: dict[float, float] = {}
    orders = {} if orders is None else orders
    how = _constant if route.bound.kind == "point" else _composed if composed(route, params) else _closed(orders)

    def delta(epsilon: float) -> float:
        if epsilon not in known:
            try:
                known[epsilon] = how(route, params, epsilon)
            except OutOfScope:  # too fine a grid, far out: δ never rises
                known[epsilon] = min((d for e, d in known.items() if e <= epsilon), default=1.0)
        return known[epsilon]

    return delta


def composed(route: Route, params: Params) -> bool:
    """Whether δ is found by numerical composition."""
    return route.bound.kind == "composition" or is_composed(route.bound, params)


def _constant(route: Route, params: Params, epsilon: float) -> float:
    return evaluate(route, params, Question("tv")).result["tv"]


def _closed(orders: dict[float, float]) -> Callable[[Route, Params, float], float]:
    def delta(route: Route, params: Params, epsilon: float) -> float:
        start = next(reversed(orders.values()), None)  # the best order of the last ε is near this one's
        row = evaluate(route, params, Question("delta", epsilon=epsilon), start)
        if route.bound.kind == "rdp":
            orders[epsilon] = row.witness["alpha"]
        return row.result["delta"]

    return delta


def _composed(route: Route, params: Params, epsilon: float) -> float:
    from dpcalc.composed import to_delta

    if params.get("step_delta") == 0 and epsilon >= params["steps"] * params["step_epsilon"] * (1 + 1e-15):
        return 0.0  # pure differential privacy adds up
    return to_delta(route, params, Question("delta", epsilon=epsilon), bracket=False).result["delta"]


def rate(route: Route, params: Params, delta: Delta, fpr: float, start: float = 0.0) -> tuple[float, float]:
    """(TPR at this FPR, the ε that proves it)."""
    corners = (params["step_epsilon"],) if "step_epsilon" in params and params.get("steps", 1) == 1 else ()
    return true_positive(delta, fpr, _ROUGH if composed(route, params) or route.bound.kind == "rdp" else _FINE, start, corners)


class Meaning(NamedTuple):
    """A total variation in the terms of an attacker: numbers of the result, sentences, and the ROC curve where asked for."""

    numbers: dict[str, float]
    notes: tuple[str, ...]
    roc: Table | None


def meaning(tv: float, routes: Sequence[Route], params: Params, rates: Sequence[float], prior: float | None) -> Meaning:
    """What the proven routes say together: at each false-positive rate the least of their true-positive rates."""
    success, errors = up((1 + tv) / 2), difference_down(1.0, tv)
    numbers = {"success": min(1.0, success), "error_sum": errors}
    notes = [f"a guess between two equally likely neighbouring data sets is right with probability at most {human(numbers['success'])} "
             f"((1 + TV)/2), and the two error rates of any test add up to at least {human(errors, upward=False)} (1 − TV)"]
    profiles = [(route, profile(route, params)) for route in sharpest(routes)] if rates or prior else []
    if prior is not None:
        best = min(best_guess(delta, prior) for _, delta in profiles)
        numbers |= {"prior": prior, "posterior": best}
        notes.append(f"with prior probability {plain(prior)} for one of the two, the best guess after seeing the output is right with "
                     f"probability at most {human(best)}: its posterior probability, averaged over the outputs")
    if not rates:
        return Meaning(numbers, tuple(notes), None)
    found = _curve(profiles, params, rates, tv)
    numbers |= {"fpr": rates[0], "tpr": found[0]}
    header: tuple[str, ...] = ("fpr", "tpr")
    table = list(zip(rates, found, strict=True))
    if prior is None:
        return Meaning(numbers, tuple(notes), Table(header, tuple(table)))
    confident = tuple((f, t, min(1.0, up(prior * t / (prior * t + (1 - prior) * f), 2e-15))) for f, t in table)
    return Meaning({**numbers, "confidence": confident[0][2]}, tuple(notes), Table((*header, "confidence"), confident))


def sharpest(routes: Sequence[Route]) -> Sequence[Route]:
    """Without RDP curves where there is a profile: they have a search of their own at every ε, and are never sharper."""
    profiled = any(r.bound.kind in ("profile", "composition") for r in routes)
    return [r for r in routes if not profiled or r.bound.kind != "rdp"]


def _curve(profiles: Sequence[tuple[Route, Delta]], params: Params, rates: Sequence[float], tv: float) -> list[float]:
    """The least true-positive rate of all, at each rate; each search starts where the last one ended."""
    found = [min(1.0, up(f + tv)) for f in rates]
    for route, delta in profiles:
        start = 0.0
        for i, f in enumerate(rates):
            tpr, start = rate(route, params, delta, f, start)
            found[i] = min(found[i], tpr)
    return found


def to_tpr(route: Route, params: Params, question: Question, start: float | None = None) -> Row:
    """The true-positive rate at the false-positive rate of the question."""
    fpr = question.fpr or 0.0
    orders: dict[float, float] = {}
    tpr, epsilon = rate(route, params, profile(route, params, orders), fpr, start or 0.0)
    order = {"alpha": orders[abs(epsilon)]} if abs(epsilon) in orders else {}
    return Row(route, {"tpr": tpr, "fpr": fpr}, {"epsilon": epsilon, **order}, params=params)

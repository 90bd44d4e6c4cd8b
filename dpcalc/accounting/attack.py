"""From a route to what an attacker can do: true-positive rates and the best guess. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from dpcalc.accounting.by_bound import by_bound
from dpcalc.accounting.guarantee_words import delta_result, is_composed
from dpcalc.accounting.orders import own_params
from dpcalc.core.bound import Params
from dpcalc.core.errors import OutOfScope
from dpcalc.core.numbers import human, plain
from dpcalc.core.question import Question
from dpcalc.core.results import Route, Row, Table
from dpcalc.numerics.rounding import difference_down, up
from dpcalc.numerics.tradeoff import among, at_level, best_guess, true_positive

Delta = Callable[[float], float]
_TURNS, _GAIN = 6, 1e-5  # of ε and the order in turn; less is no gain
_FINE, _ROUGH = 1e-8, 3e-3  # tolerances of ε, over TV; the value's error is about the square
_AMONG = 0.3  # of the precision of a composed δ: an ε of another rate is good enough
# ε, up to 610: by RDP δ may be 1 up to a large ε, and fall in several steps
_SCAN = tuple(0.01 * 1.3**k for k in range(43))


class Profile:
    """ε >= 0 → δ of a route, rounded up, of one direction with a side (Sides); each ε computed once. A bound on TV
    alone gives the same δ at every ε. `orders` holds the order that an RDP curve was read at for each ε; `cheaper` is
    the same by a rougher conversion, where there is one."""

    def __init__(self, route: Route, params: Params, side: int = 0) -> None:
        self.route, self.params, self.side = route, params, side
        self.known: dict[float, float] = {}
        self.orders: dict[float, float] = {}
        rough = route.conversion and route.conversion.rough
        self.cheaper: Profile | None = Profile(route._replace(conversion=rough), params) if rough else None

    def __call__(self, epsilon: float) -> float:
        if epsilon not in self.known:
            try:
                self.known[epsilon] = self._delta(epsilon)
            except OutOfScope:  # too fine a grid, far out: δ never rises
                self.known[epsilon] = min((d for e, d in self.known.items() if e <= epsilon), default=1.0)
        return self.known[epsilon]

    def _delta(self, epsilon: float) -> float:
        if self.route.bound.kind == "point":
            return by_bound(self.route, self.params, Question("tv")).result["tv"]
        if composed(self.route, self.params):
            return _composed(self.route, self.params, epsilon, self.side)
        if self.side:
            return _of_side(self.route, self.params, epsilon, self.side)
        start = next(reversed(self.orders.values()), None)  # the best order of the last ε is near this one's
        row = by_bound(self.route, self.params, Question("delta", epsilon=epsilon), start)
        if self.route.bound.kind == "rdp":
            self.orders[epsilon] = row.witness["alpha"]
        return row.result["delta"]

    def at_order(self, epsilon: float, alpha: float) -> float:
        """δ at one order, at no search."""
        return by_bound(self.route, self.params, Question("delta", epsilon=epsilon, orders=(alpha,))).result["delta"]


class Sides:
    """The two directions of a route, +1 of P against Q and −1 of Q against P: tests for either have rates of their own,
    which the larger δ of both at every ε would exceed. Or one profile, 0, where the directions are alike or not told
    apart."""

    def __init__(self, route: Route, params: Params) -> None:
        self.of = {side: Profile(route, params, side) for side in _sides(route, params)}

    def known(self, side: int) -> list[tuple[float, float]]:
        """The u that were asked for, and δ there."""
        return [*self.of[side].known.items(), *((-e, delta) for e, delta in self.of[-side].known.items() if e > 0)]


def _sides(route: Route, params: Params) -> tuple[int, ...]:
    if not composed(route, params):
        return (+1, -1) if route.bound.sided else (0,)
    from dpcalc.accounting.composition import parts

    return (+1, -1) if any(pair.twin for pair, _ in parts(route, params)) else (0,)


def _of_side(route: Route, params: Params, epsilon: float, side: int) -> float:
    assert route.bound.sided is not None
    return delta_result(route.bound.sided(epsilon, side, **own_params(route.bound, params)), epsilon)["delta"]


def composed(route: Route, params: Params) -> bool:
    """Whether δ is found by numerical composition."""
    return route.bound.kind == "composition" or is_composed(route.bound, params)


def _composed(route: Route, params: Params, epsilon: float, side: int = 0) -> float:
    from dpcalc.accounting.composition import to_delta

    if params.get("step_delta") == 0 and epsilon >= params["steps"] * params["step_epsilon"] * (1 + 1e-15):
        return 0.0  # pure differential privacy adds up
    return to_delta(route, params, Question("delta", epsilon=epsilon), bracket=False, side=side).result["delta"]


def rated(sides: Sides, fpr: float, start: dict[int, float]) -> dict[int, tuple[float, float]]:
    """(TPR at this FPR, the ε that proves it) of tests for each direction; of the one that decides less only as closely
    as matters."""
    found = dict[int, tuple[float, float]]()
    for side in sides.of:
        found[side] = rate(sides, side, fpr, start.get(side, 0.0), max((tpr for tpr, _ in found.values()), default=0.0))
    return found


def rate(sides: Sides, side: int, fpr: float, start: float = 0.0, enough: float = 0.0) -> tuple[float, float]:
    """The same of one direction. Where a conversion is costly ε is sought by a cheaper one, and then at the order that
    is best there."""
    delta = sides.of[side]
    if delta.cheaper is None:
        return _among(sides, side, fpr) or _search(delta, delta.route, delta.params, fpr, start, (), sides.of[-side],
                                                   enough)
    u = _search(delta.cheaper, delta.route, delta.params, fpr, start, _SCAN)[1]
    best = at_level(delta(abs(u)), u, fpr), u
    for _ in range(_TURNS):
        alpha = delta.orders.get(abs(u))
        if alpha is None:
            break
        u = _search(partial(delta.at_order, alpha=alpha), delta.route, delta.params, fpr, u)[1]
        last, best = best, min(best, (at_level(delta(abs(u)), u, fpr), u))
        if best[0] > last[0] * (1 - _GAIN):
            break
    return min(1.0, best[0]), best[1]


def _among(sides: Sides, side: int, fpr: float) -> tuple[float, float] | None:
    """By an ε that was composed for another rate, where that is good enough."""
    delta = sides.of[side]
    if not composed(delta.route, delta.params):
        return None
    from dpcalc.pld.bracket import PRECISION

    return among(sides.known(side), fpr, _AMONG * float(delta.params.get("precision") or PRECISION))


def _search(delta: Delta, route: Route, params: Params, fpr: float, start: float, points: tuple[float, ...] = (),
            other: Delta | None = None, enough: float = 0.0) -> tuple[float, float]:
    corners = (params["step_epsilon"],) if "step_epsilon" in params and params.get("steps", 1) == 1 else ()
    rough = composed(route, params) or route.bound.kind == "rdp"
    return true_positive(delta, fpr, _ROUGH if rough else _FINE, start, (*corners, *points), other, enough)


class Meaning(NamedTuple):
    """A total variation in the terms of an attacker: numbers of the result, sentences, and the ROC curve where asked
    for."""

    numbers: dict[str, float]
    notes: tuple[str, ...]
    roc: Table | None


def meaning(tv: float, routes: Sequence[Route], params: Params, rates: Sequence[float], prior: float | None) -> Meaning:
    """What the proven routes say together: at each false-positive rate the least of their true-positive rates."""
    success, errors = up((1 + tv) / 2), difference_down(1.0, tv)
    numbers = {"success": min(1.0, success), "error_sum": errors}
    notes = [f"a guess between two equally likely neighbouring data sets is right with probability at most "
             f"{human(numbers['success'])} "
             f"((1 + TV)/2), and the two error rates of any test add up to at least {human(errors, upward=False)} (1 − "
             f"TV)"]
    if prior is not None:
        best = min(best_guess(Profile(route, params), prior) for route in sharpest(routes))
        numbers |= {"prior": prior, "posterior": best}
        notes.append(f"with prior probability {plain(prior)} for one of the two, the best guess after seeing the "
                     f"output is right with "
                     f"probability at most {human(best)}: its posterior probability, averaged over the outputs")
    if not rates:
        return Meaning(numbers, tuple(notes), None)
    found = _curve([Sides(route, params) for route in sharpest(routes)], rates, tv)
    numbers |= {"fpr": rates[0], "tpr": found[0]}
    header: tuple[str, ...] = ("fpr", "tpr")
    table = list(zip(rates, found, strict=True))
    if prior is None:
        return Meaning(numbers, tuple(notes), Table(header, tuple(table)))
    confident = tuple((f, t, min(1.0, up(prior * t / (prior * t + (1 - prior) * f), 2e-15))) for f, t in table)
    return Meaning({**numbers, "confidence": confident[0][2]}, tuple(notes), Table((*header, "confidence"), confident))


def sharpest(routes: Sequence[Route]) -> Sequence[Route]:
    """Without RDP curves where there is a profile: they have a search of their own at every ε, and are never
    sharper."""
    profiled = any(r.bound.kind in ("profile", "composition") for r in routes)
    return [r for r in routes if not profiled or r.bound.kind != "rdp"]


def _curve(routes: Sequence[Sides], rates: Sequence[float], tv: float) -> list[float]:
    """The least true-positive rate of all, at each rate, of the direction that it is larger for; each search starts
    where the last one ended."""
    found = [min(1.0, up(f + tv)) for f in rates]
    for sides in routes:
        start = dict.fromkeys(sides.of, 0.0)
        for i, f in enumerate(rates):
            both = rated(sides, f, start)
            start = {side: u for side, (_, u) in both.items()}
            found[i] = min(found[i], max(tpr for tpr, _ in both.values()))
    return found


def to_tpr(route: Route, params: Params, question: Question, start: float | None = None) -> Row:
    """The true-positive rate at the false-positive rate of the question."""
    fpr = question.fpr or 0.0
    sides = Sides(route, params)
    both = list(rated(sides, fpr, dict.fromkeys(sides.of, start or 0.0)).values())
    epsilon, orders = both[0][1], next(iter(sides.of.values())).orders
    order = {"alpha": orders[abs(epsilon)]} if abs(epsilon) in orders else {}
    other = {"epsilon_reversed": both[1][1]} if len(both) > 1 else {}
    return Row(route, {"tpr": max(tpr for tpr, _ in both), "fpr": fpr}, {"epsilon": epsilon, **other, **order},
               params=params)

"""What a guarantee means for an attacker: true-positive rates of membership tests, and the best guess."""

from collections.abc import Callable, Sequence
from functools import cached_property
from math import exp, log
from typing import NamedTuple

from dpcalc.accounting.by_bound import by_bound
from dpcalc.accounting.guarantee_words import delta_result
from dpcalc.accounting.orders import own_params
from dpcalc.bounds.conversions import selection
from dpcalc.core.bound import Directions, Params, ProfileBound
from dpcalc.core.errors import OutOfScope
from dpcalc.core.numbers import human, plain
from dpcalc.core.results import Question, Route, Row, Table
from dpcalc.numerics.rounding import difference_down, up
from dpcalc.numerics.tradeoff import at_level, best_guess, true_positive

Delta = Callable[[float], float]
# values of ε, up to 610, that a search tries first: by RDP δ may be 1 up to a large ε, and fall in several steps
_SCAN = tuple(0.01 * 1.3**k for k in range(43))


class Profile:
    """The privacy profile of a route, a function from ε >= 0 to δ, rounded up; each ε is computed once.

    With a side it is the profile of one direction (see `sides_of`). A bound on the total variation alone gives the same
    δ at every ε. `orders` holds the Rényi order used at each ε. `least` is the smallest rate of errors, of either kind,
    that is asked about.
    """

    def __init__(self, route: Route, params: Params, side: int = 0, least: float = 0.5) -> None:
        self.route, self.params, self.side, self.least = route, params, side, least
        self.known: dict[float, float] = {}
        self.orders: dict[float, float] = {}

    def __call__(self, epsilon: float) -> float:
        if epsilon not in self.known:
            try:
                self.known[epsilon] = self._delta(epsilon)
            except OutOfScope:  # the grid would be too fine; δ is non-increasing, so δ at a smaller ε is valid
                self.known[epsilon] = min((d for e, d in self.known.items() if e <= epsilon), default=1.0)
        return self.known[epsilon]

    def _delta(self, epsilon: float) -> float:
        """δ at ε by the kind of bound."""
        if self.route.bound.kind == "point":
            return by_bound(self.route, self.params, Question("tv")).result["tv"]
        if self.route.bound is selection.PROFILE:
            own = own_params(selection.PROFILE, self.params)
            return delta_result(selection.rough_value(epsilon, **own), epsilon)["delta"]
        if self.route.bound.is_composed(self.params):
            return _composed(self.route, self.params, epsilon, self.side)
        if self.side and (directions := _directions(self.route)):
            log_delta = directions.value(epsilon, self.side, **own_params(self.route.bound, self.params))
            return delta_result(log_delta, epsilon)["delta"]
        start = next(reversed(self.orders.values()), None)  # the best order of the last ε is near this one's
        row = by_bound(self.route, self.params, Question("delta", epsilon=epsilon), start)
        if self.route.bound.kind == "rdp":
            self.orders[epsilon] = row.witness["alpha"]
        return row.result["delta"]

    @cached_property
    def by_one_composition(self) -> Delta:
        """An upper bound on a composed profile by a single composition for all ε, which is cheap and shows where the
        best ε is. It is made for ε up to a largest one, here about the largest of the best ε of the rates that are
        asked about, where δ is seldom below 0.03 of f·δ(0). Any largest ε gives a valid bound; with this one the bound
        is usually tight at the best ε."""
        from dpcalc.accounting.composition import parts
        from dpcalc.pld.bracket import epsilon_at_delta, upper_profile

        composed = parts(self.route, self.params, self.side)
        log_delta = log(max(0.03 * self.least * self(0.0), 1e-300))
        try:
            rough = epsilon_at_delta(composed, log_delta, 0.1, bracket=False, one_sided=True).upper
            log_delta_at = upper_profile(composed, min(rough, -log(self.least)))
        except OutOfScope:  # the losses are too large for grids
            return self
        return lambda epsilon: exp(log_delta_at(epsilon))


Sides = dict[int, Profile]


def sides_of(route: Route, params: Params, rates: Sequence[float]) -> Sides:
    """The profiles of both directions of a route: side +1 is P against Q, side −1 is Q against P.

    Tests for either direction have rates of their own, and the larger δ of both at every ε would overstate them. Where
    the directions are alike, or the bound does not distinguish them, there is one profile, of side 0.
    """
    if route.bound.is_composed(params):
        from dpcalc.accounting.composition import parts

        differ = any(pair.reverse for pair, _ in parts(route, params))
    else:
        differ = _directions(route) is not None
    least = min(min(f, 1 - f) for f in rates)
    return {side: Profile(route, params, side, least) for side in ((+1, -1) if differ else (0,))}


def _directions(route: Route) -> Directions | None:
    return route.bound.directions if isinstance(route.bound, ProfileBound) else None


def _composed(route: Route, params: Params, epsilon: float, side: int = 0) -> float:
    from dpcalc.accounting.composition import to_delta

    if params.get("step_delta") == 0 and epsilon >= params["steps"] * params["step_epsilon"] * (1 + 1e-15):
        return 0.0  # pure differential privacy adds up
    return to_delta(route, params, Question("delta", epsilon=epsilon, upper_only=True), side).result["delta"]


def rated(sides: Sides, fpr: float, start: dict[int, float]) -> dict[int, tuple[float, float]]:
    """For each side, the largest true-positive rate at a false-positive rate, and the ε that proves it.

    The side with the smaller rate is searched only until it is known to be the smaller one.
    """
    found = dict[int, tuple[float, float]]()
    for side in sides:
        found[side] = rate(sides, side, fpr, start.get(side, 0.0), max((tpr for tpr, _ in found.values()), default=0.0))
    return found


def rate(sides: Sides, side: int, fpr: float, start: float = 0.0, enough: float = 0.0) -> tuple[float, float]:
    """The true-positive rate of one side, and the ε that proves it. `enough` is the rate of the other side, below which
    no search is needed."""
    delta, other = sides[side], sides[-side]
    if delta.route.bound.is_composed(delta.params):
        cheap, u = _search(delta.by_one_composition, delta.route, delta.params, fpr, start, (),
                           other.by_one_composition, enough)
        found = at_level(delta(u) if u >= 0 else other(-u), u, fpr)
        if found > cheap * (1 - 5e-4):  # else ε is searched again
            return min(1.0, found), u
        start = u
    points = _SCAN if delta.route.bound.kind == "rdp" else ()
    return _search(delta, delta.route, delta.params, fpr, start, points, other, enough)


def _search(delta: Delta, route: Route, params: Params, fpr: float, start: float, points: tuple[float, ...] = (),
            other: Delta | None = None, enough: float = 0.0) -> tuple[float, float]:
    """The rate and its ε, by a search over ε from `start`, which also tries `points`. `other` is the profile of the
    other direction, and no search is needed for a rate below `enough`."""
    corners = (params["step_epsilon"],) if "step_epsilon" in params and params.get("steps", 1) == 1 else ()
    rough = route.bound.is_numerical(params) or route.bound.kind == "rdp"
    # The tolerance of ε is divided by TV; the error of the rate is about its square.
    return true_positive(delta, fpr, 3e-3 if rough else 1e-8, start, (*corners, *points), other, enough)


class Meaning(NamedTuple):
    """What a total variation means for an attacker: numbers for the result, notes, and the ROC curve if asked for."""

    numbers: dict[str, float]
    notes: tuple[str, ...]
    roc: Table | None


def meaning(tv: float, routes: Sequence[Route], params: Params, rates: Sequence[float], prior: float | None) -> Meaning:
    """The meaning by all proven routes: at each false-positive rate the least of their true-positive rates counts."""
    success, errors = up((1 + tv) / 2), difference_down(1.0, tv)
    numbers = {"success": min(1.0, success), "error_sum": errors}
    notes = [f"the two error rates of any attack add up to at least {human(errors, upward=False)}; a guess between two "
             f"equally likely neighbouring data sets is right with probability at most {human(numbers['success'])}"]
    if prior is not None:
        best = min(best_guess(Profile(route, params), prior) for route in sharpest(routes))
        numbers |= {"prior": prior, "posterior": best}
        notes.append(f"with prior probability {plain(prior)} for one of two data sets, the best guess after seeing the "
                     f"output is right with probability at most {human(best)}, on average over the outputs")
    if not rates:
        return Meaning(numbers, tuple(notes), None)
    found = _curve([sides_of(route, params, rates) for route in sharpest(routes)], rates, tv)
    numbers |= {"fpr": rates[0], "tpr": found[0]}
    header: tuple[str, ...] = ("fpr", "tpr")
    table = list(zip(rates, found, strict=True))
    if prior is None:
        return Meaning(numbers, tuple(notes), Table(header, tuple(table)))
    confident = tuple((f, t, min(1.0, up(prior * t / (prior * t + (1 - prior) * f), 2e-15))) for f, t in table)
    return Meaning({**numbers, "confidence": confident[0][2]}, tuple(notes), Table((*header, "confidence"), confident))


def sharpest(routes: Sequence[Route]) -> Sequence[Route]:
    """The routes without RDP curves where there is a profile, as those are slower and never better."""
    profiled = any(r.bound.kind in ("profile", "composition") for r in routes)
    return [r for r in routes if not profiled or r.bound.kind != "rdp"]


def _curve(routes: Sequence[Sides], rates: Sequence[float], tv: float) -> list[float]:
    """The true-positive rate at each false-positive rate: the least of all routes, each by its worse direction. Every
    search starts where the last one ended."""
    found = [min(1.0, up(f + tv)) for f in rates]
    for sides in routes:
        start = dict.fromkeys(sides, 0.0)
        for i, f in enumerate(rates):
            both = rated(sides, f, start)
            start = {side: u for side, (_, u) in both.items()}
            found[i] = min(found[i], max(tpr for tpr, _ in both.values()))
    return found


def to_tpr(route: Route, params: Params, question: Question) -> Row:
    """The row that answers the true-positive rate at the false-positive rate of the question."""
    fpr = question.fpr or 0.0
    sides = sides_of(route, params, (fpr,))
    both = list(rated(sides, fpr, dict.fromkeys(sides, 0.0)).values())
    epsilon, orders = both[0][1], next(iter(sides.values())).orders
    order = {"alpha": orders[abs(epsilon)]} if abs(epsilon) in orders else {}
    other = {"epsilon_reversed": both[1][1]} if len(both) > 1 else {}
    return Row(route, {"tpr": max(tpr for tpr, _ in both), "fpr": fpr}, {"epsilon": epsilon, **other, **order},
               params=params)

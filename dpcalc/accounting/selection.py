"""The best of a random number of runs: the question about one run, asked about the run that is published."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from math import exp
from typing import Any

from dpcalc.accounting.answer import select, without_conversions
from dpcalc.accounting.by_bound import NoDigits, how_to_answer
from dpcalc.accounting.evaluate import evaluate
from dpcalc.accounting.routes import converted
from dpcalc.bounds.conversions import selection
from dpcalc.bounds.conversions.selection_laws import GEOMETRIC, LOGARITHMIC, Law, poisson, truncated_with_mean
from dpcalc.core.bound import Params
from dpcalc.core.errors import DpcalcError, NoSolution, OutOfScope
from dpcalc.core.results import Question, Route, Row
from dpcalc.core.run import Run
from dpcalc.core.tries import TRIES
from dpcalc.numerics.root import Unreachable
from dpcalc.numerics.rounding import down

Routes = tuple[Route, ...]
_PRECISION = 1e-3  # the default of --precision, relative
_ORDERS_OF = ("parts", "base", "alphas")  # parameters of one run that limit the orders of its Rényi curve
_ROUGH = (1.0, 4.0)  # the ε up to which one composition serves all: larger ones make the profile at small ε worse
_SHAPES = {"geometric": GEOMETRIC, "logarithmic": LOGARITHMIC}


class OneRun:
    """What is proven about one run, from its bounds: at each question the least of their values."""

    def __init__(self, routes: Callable[[Question], Routes], params: Params) -> None:
        self.routes, self.params = routes, params
        self._rows: dict[Question, Row] = {}
        self._rough: dict[float, Callable[[float], float]] = {}

    def row(self, question: Question) -> Row:
        """The row with the least value. Raises the reason of the first bound where none gives one."""
        if question not in self._rows:
            self._rows[question] = self._best(question)
        return self._rows[question]

    def _proven(self, question: Question) -> Routes:
        """The routes by proven bounds that may answer."""
        try:
            routes = without_conversions(select(self.routes(question), ()), question)
        except DpcalcError as reason:  # no theorem leads there, which others may
            raise OutOfScope(reason.code, reason.message, reason.option) from None
        return tuple(r for r in routes if r.bound.status == "proven" and how_to_answer(r, question) is not None
                     and (r.bound.kind != "rdp" or question.asks == "rdp" or r.conversion is not None))

    def _best(self, question: Question) -> Row:
        found, why_not = list[Row](), [OutOfScope("unsupported", "no bound on one run answers this")]
        for route in self._proven(question):
            try:
                found.append(evaluate(route, self.params, question))
            except (OutOfScope, NoSolution) as reason:
                why_not.append(OutOfScope(reason.code, reason.message, reason.option))
            except (OverflowError, ZeroDivisionError, Unreachable):
                why_not.append(OutOfScope("no-solution", f"{route.label} gives a number outside the range of double "
                                                         "precision here"))
        if not found:
            raise why_not[min(1, len(why_not) - 1)]
        by = "log_delta" if question.asks == "delta" else question.asks
        return min(found, key=lambda row: row.result[by])

    @cached_property
    def is_numerical(self) -> bool:
        """Whether a bound composes numerically, so that values are known to its `precision` only."""
        return any(route.bound.is_numerical(self.params) for route in self._proven(Question("delta", epsilon=1.0)))

    @property
    def precision(self) -> float:
        return float(self.params.get("precision") or _PRECISION)

    def at(self, epsilon: float) -> Row:
        """The row with δ at ε."""
        return self.row(Question("delta", epsilon=epsilon, upper_only=True))

    def log_delta(self, epsilon: float) -> float:
        return self.at(epsilon).result["log_delta"]

    def rough_log_delta(self, epsilon: float) -> float:
        """An upper bound of log δ that is cheap at many ε."""
        for largest in _ROUGH if self.is_numerical else ():
            if epsilon <= largest:
                if largest not in self._rough:
                    self._rough[largest] = self.profile_up_to(largest)
                return self._rough[largest](epsilon)
        return self.log_delta(epsilon)

    def epsilon(self, log_delta: float) -> float:
        if log_delta >= 0:
            return 0.0
        delta = down(exp(log_delta), 1e-15 * (1 - log_delta))
        if delta <= 0:
            raise OutOfScope("no-solution", "the δ of one run is below the least double", "--delta")
        return self.row(Question("epsilon", delta=delta, upper_only=True)).result["epsilon"]

    def profile_up_to(self, largest: float) -> Callable[[float], float]:
        """A function from ε to an upper bound of log δ, for many ε up to a largest one: where the profile is composed
        numerically, by one composition for each direction."""
        for route in self._proven(Question("delta", epsilon=1.0)):
            if route.bound.is_composed(self.params):
                from dpcalc.accounting.composition import parts
                from dpcalc.pld.bracket import upper_profile

                try:
                    both = [parts(route, self.params), parts(route, self.params, -1)]
                    sides = both if any(pair.reverse for pair, _ in both[0]) else both[:1]
                    profiles = [upper_profile(side, largest) for side in sides]
                except OutOfScope:  # another bound answers
                    continue
                return lambda epsilon: max(profile(epsilon) for profile in profiles)
        return self.log_delta

    def pure(self) -> float:
        return self.row(Question("epsilon", delta=0.0)).result["epsilon"]

    def rdp(self, alpha: float) -> float:
        return self.row(Question("rdp", alpha=alpha)).result["rdp"]

    def tv(self) -> float:
        return self.row(Question("tv", upper_only=True)).result["tv"]

    def exact_delta(self, mp: Any, epsilon: Any) -> Any:
        return self._exact(mp, self.at(float(epsilon)), Question("delta", epsilon=epsilon))

    def exact_rdp(self, mp: Any, alpha: float) -> Any:
        question = Question("rdp", alpha=alpha)
        return self._exact(mp, self.row(question), question)

    def _exact(self, mp: Any, row: Row, question: Question) -> Any:
        how = how_to_answer(row.route, question)
        if how is None or how.exact is None:
            raise NoDigits("there is no closed form")
        return how.exact(mp, row, question)


BOUNDS = (Route(selection.PROFILE), *converted(selection.RDP), Route(selection.PURE), Route(selection.TV))


# --- the question about the run that is published --------------------------------------------------------------------


def law_of(options: Mapping[str, Any]) -> Law:
    """The law of the number of runs that the options name. Raises DpcalcError for options that name none."""
    if options.get("law") is not None:  # of an input
        law: Law = options["law"]
        return law
    mean, name, shape = (options.get(key) for key in ("tries", "tries_law", "tries_shape"))
    if name is not None and shape is not None:
        raise DpcalcError("contradictory", "give one of --tries-law and --tries-shape", "--tries-shape")
    if mean is None:
        raise DpcalcError("missing", "needed beside --tries-law or --tries-shape: the expected number of runs",
                          TRIES.option)
    if name == "poisson":
        return poisson(mean)
    if mean < 1:
        raise DpcalcError("out-of-range", f"{mean:g} is not allowed; give the expected number of runs, at least 1 "
                          "(with --tries-law poisson above 0)", TRIES.option)
    return truncated_with_mean(mean, _SHAPES[name or "geometric"] if shape is None else shape)


def is_asked(run: Run) -> bool:
    """Whether the question is about the best of several runs."""
    return run["law"] is not None or run.sets("tries")


def of_best(run: Run, routes: Callable[[Run], Routes]) -> tuple[Run, Routes]:
    """The question about the run that is published, and its routes; the same question and its own `routes` where
    nothing is selected. Raises DpcalcError where no theorem answers it."""
    if not is_asked(run):
        if run.sets("tries_law", "tries_shape"):
            law_of(run)  # raises: the number of runs is missing
        return run, routes(run)
    asks, law = run.question.asks, law_of(run.at(1.0) if run.unknown == TRIES.name else run)
    if asks == "guarantee":
        return run, ()
    if asks not in ("epsilon", "delta", "rdp", "tv", "tpr"):
        name = {"mu": "GDP", "rho": "zCDP"}[asks]
        raise DpcalcError("refused", f"no theorem in dpcalc turns the best of several runs into {name}; ask with "
                          "--delta, --epsilon or --alpha", "--to" if run.given.has("to") else TRIES.option)

    def one_of(asked: Run) -> OneRun:
        """One run with the options of a run, of which a number may have been solved for."""
        own = replace(asked, to_bounds=run.to_bounds)
        return OneRun(lambda question: routes(own.asking(question)), own.params)

    fixed = one_of(run) if run.unknown == TRIES.name else None  # which does not depend on the unknown

    def params(asked: Run) -> dict[str, Any]:
        one = fixed or one_of(asked)
        return {"candidate": one, "runs": law_of(asked), "steps": 1, "precision": asked["precision"],
                **{name: one.params[name] for name in _ORDERS_OF if name in one.params}}

    steps = {"steps": 2 if run.unknown == "steps" else run["steps"] or 2}
    numerical = any(route.bound.is_numerical(steps) for route in routes(run.asking(Question("delta", epsilon=1.0))))
    return replace(run.having(numerical=numerical), to_bounds=params), _routes(run.question, law.shape is None)


def _routes(question: Question, is_poisson: bool) -> Routes:
    """The bounds that answer a question about the best of several runs. A parameter is solved for by the profile alone,
    which gives the smallest ε, but for a Poisson law."""
    if question.asks == "rdp":
        return (Route(selection.RDP),)
    if question.asks == "tv":
        return (Route(selection.TV),)
    pure = (Route(selection.PURE),) if question.asks == "epsilon" and question.delta == 0 else ()
    curve = () if question.unknown and not is_poisson else converted(selection.RDP)
    return (Route(selection.PROFILE), *curve, *pure)

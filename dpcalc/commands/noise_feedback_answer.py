"""The answer of noise-feedback: ε, δ or RDP of the iterates that are released, with that of the other release, the
variances, and what the same run without feedback would lose; or of --solve feedback: the coefficient with the least
variance at equal privacy of every iterate."""

from math import fsum, inf, sqrt

from dpcalc.accounting.answer import answer_rows
from dpcalc.accounting.evaluate import evaluate
from dpcalc.accounting.orders import own_params
from dpcalc.bounds.noise_feedback import affine, every_iterate, optimum, optimum_finite
from dpcalc.commands.asking import level_hints, read_question
from dpcalc.commands.last_iterate_companions import worst_companions
from dpcalc.commands.noise_feedback import CHECKS, COMMAND, EVERY, LAST, NEEDS, USES
from dpcalc.core.bound import Params, ProfileBound
from dpcalc.core.checks import Mode, check, require
from dpcalc.core.command import OUTPUT, Given
from dpcalc.core.errors import DpcalcError, OutOfScope, flag
from dpcalc.core.numbers import human
from dpcalc.core.quantities import symbol
from dpcalc.core.results import Answer, OneRecord, Question, Route, Row
from dpcalc.core.run import Run
from dpcalc.core.text import MOST_NAMED, listed
from dpcalc.numerics.rounding import up

_ROUTES = {LAST: (Route(affine.WITH_FEEDBACK), Route(affine.WITHOUT_FEEDBACK, on_request=True)),
           EVERY: (Route(every_iterate.BOUND),)}
_AT_EQUAL = "equal_privacy_variance"  # begins the names of the companion numbers about variances at equal privacy
_UNITS = "in units of (s/μ)², s = 2Lη"
_MUCH_LARGER = 2.0  # ratio of the μ of all iterates to that of the last one from which on a warning says so


def answer(given: Given) -> Answer:
    if str(given["solve"]).removeprefix("--") == "feedback":
        return _optimum(given)
    plain = given["bound"] == ("without-feedback",)
    run = Run(COMMAND, given, read_question(COMMAND, given), _params, USES - {"feedback"} if plain else USES)
    every, here, by = run["release"] == EVERY, "for this question", "by noise-feedback"
    if not every and not given.has("curvature"):
        by += " for the last iterate (--release every-iterate holds for any loss)"
    check(run, Mode(run.uses, NEEDS if every else ("curvature", *NEEDS),
                    "with --bound without-feedback" if plain else here, by, here,
                    hints=level_hints(given, run.question)), *CHECKS)
    rows = answer_rows(run, _ROUTES[run["release"]], run.bounds)
    run, asks, index = run.solved(rows), run.question.asks, run["index"]
    by_default = index is None and run["used_at"] is None
    params = {**run.params, "feedback": 0.0} if rows[0].route.bound is affine.WITHOUT_FEEDBACK else run.params
    numbers, only = _numbers(run, rows[0], params, by_default), None
    worst = {**params, "uses": (1 if every else params["iterations"],)}
    if index is not None:
        of_worst, only = worst_companions(run, rows[0], worst, worst["uses"][0])
        numbers |= of_worst
    if by_default or index is not None:
        numbers[f"{asks}_worst"] = _loss(run, rows[0].route, worst)
    else:
        only = OneRecord(f"for records that are used {_steps_in_words(params['uses'])} only")
    warnings: tuple[str, ...] = ()
    if not every and numbers["mu_every_iterate"] >= _MUCH_LARGER * numbers["mu"] and numbers[f"{asks}_every_iterate"]:
        warnings = (f"only the last iterate is covered: an observer of all iterates gets {symbol(asks)} = "
                    f"{human(numbers[f'{asks}_every_iterate'])} (--release every-iterate)",)
    guarantee = {"kind": "gdp", "mu": numbers["mu"], **({} if by_default else {"index": list(params["uses"])})}
    return run.answer(rows, guarantee, "replace-one", "every step's output" if every else "last iterate",
                      _notes(run, params, numbers, by_default), numbers, warnings=warnings, only=only)


def _params(run: Run) -> Params:
    """The parameters of the bounds. Without --index or --used-at the record is the worst one: of the last iterate the
    one of the last step, of all iterates that of the first."""
    uses = run["used_at"] or (run["index"] or (run["steps"] if run["release"] == LAST else 1),)
    return {**{k: run[k] for k in ("feedback", "learning_rate", "sigma", "lipschitz")},
            "curvatures": run["curvature"] or (), "iterations": run["steps"], "uses": tuple(map(int, sorted(uses)))}


def _steps_in_words(uses: tuple[int, ...]) -> str:
    """The steps in words, or their number where they are many."""
    if len(uses) > MOST_NAMED:
        return f"at the {len(uses)} given steps"
    return f"at step{'s' if len(uses) > 1 else ''} {listed([*map(str, uses)])}"


def _loss(run: Run, route: Route, params: Params) -> float:
    """The quantity that the question asks for, with other parameters."""
    question = run.question._replace(orders=(), unknown=None, target=None)
    return evaluate(route, params, question).result[question.asks]


def _numbers(run: Run, head: Row, params: Params, by_default: bool) -> dict[str, float]:
    """The companion numbers: the variances; λ; μ and the loss of either release, of the record that is given, or else
    of the worst one of each; and the loss without feedback."""
    asks, bound, (variances, at_equal) = run.question.asks, head.route.bound, _variances(run, params)
    assert isinstance(bound, ProfileBound) and bound.mu is not None
    numbers = {**variances, "feedback": params["feedback"], "mu": bound.mu.mu(**own_params(bound, params))}
    for name, of, step in (("last_iterate", affine.WITH_FEEDBACK, run["steps"]),
                           ("every_iterate", every_iterate.BOUND, 1)):
        if not params["curvatures"] and of is affine.WITH_FEEDBACK:
            continue
        there = {**params, "uses": (step,)} if by_default else params
        # where double precision does not suffice
        numbers |= {f"mu_{name}": inf, f"{asks}_{name}": 1.0 if asks == "delta" else inf}
        try:
            assert of.mu is not None
            numbers[f"mu_{name}"] = of.mu.mu(**own_params(of, there))
            numbers[f"{asks}_{name}"] = _loss(run, Route(of), there)
        except (DpcalcError, OverflowError):
            continue
    without = Route(bound if bound is every_iterate.BOUND else affine.WITHOUT_FEEDBACK)
    numbers[f"{asks}_without_feedback"] = _loss(run, without, {**params, "feedback": 0.0})
    return numbers | at_equal


def _variances(run: Run, params: Params) -> tuple[dict[str, float], dict[str, float]]:
    """The variances of the last iterate, and the factor by which σ must be larger with feedback for the same privacy of
    it; and the variances that noise leaves at equal privacy, in units of (s/μ)²."""
    curvatures, rate, feedback = params["curvatures"], run["learning_rate"], params["feedback"]
    numbers, equal = dict[str, float](), dict[str, float]()
    own = [(a, rate, 1.0, run["steps"]) for a in curvatures]  # in units of σ²
    fed = [affine.WITH.variance(*one, feedback) for one in own]
    plain = [affine.WITHOUT.variance(*one) for one in own]
    if curvatures:
        square, sums = run["sigma"] * run["sigma"], (fsum(fed), fsum(plain))
        if 0 < square * min(sums) <= square * max(sums) < inf:
            numbers = {"variance": square * sums[0], "variance_without_feedback": square * sums[1]}
        numbers["sigma_factor"] = up(sqrt(min(plain) / min(fed)), 1e-14) if feedback else 1.0
    if curvatures and min(curvatures) > 0:  # of all iterates, after a long run
        equal = {_AT_EQUAL: optimum.variance_at_equal_privacy(curvatures, rate, feedback),
                 f"{_AT_EQUAL}_independent": optimum.variance_at_equal_privacy(curvatures, rate, 0.0)}
        try:
            best = optimum.value(curvatures, rate)
            equal |= {f"{_AT_EQUAL}_optimal": best[_AT_EQUAL], "optimal_feedback": best["feedback"]}
        except (OutOfScope, OverflowError):  # λ* is 1 in double precision
            pass
        if len(curvatures) == 1:
            equal[f"{_AT_EQUAL}_filter"] = optimum.least_of_all_filters(curvatures[0], rate)
    if len(curvatures) > 1:  # of the last iterate; noise added once to the output leaves 1 for each curvature
        equal |= {f"{_AT_EQUAL}_last_iterate": fsum(fed) / min(fed),
                  f"{_AT_EQUAL}_last_iterate_independent": fsum(plain) / min(plain)}
    return numbers, equal


def _notes(run: Run, params: Params, numbers: dict[str, float], by_default: bool) -> tuple[str, ...]:
    """What the noise is, what the bound assumes and no output of a run shows, and what other noise would leave."""
    every, units = run["release"] == EVERY, _UNITS
    noise = "σ is the noise on the iterate, not on the gradient"
    if by_default:
        noise += f"; the record is the worst one, that of the {'first' if every else 'last'} step"
    once = "" if run["used_at"] else "that a record is used at one step only (--used-at lists more)"
    shown = {key.removeprefix(_AT_EQUAL): human(x) for key, x in numbers.items() if key.startswith(_AT_EQUAL)}
    if every:
        assumed = ("the bound assumes that neither the first iterate nor a constraint set depends on the data"
                   f"{once and f' and {once}'}")
        if "_optimal" not in shown:
            averaged = ("with λ = 1 each iterate is a sum of exact gradients with one fresh noise, which an observer "
                        "of all of them can average out; --solve feedback finds the λ with the least variance at "
                        "equal privacy")
            return (noise, assumed, averaged) if numbers["feedback"] == 1 else (noise, assumed)
        this = f"{shown['']} with this feedback" if numbers[_AT_EQUAL] < inf else "without bound for λ = 1"
        best = f"{shown['_optimal']} with λ = {human(numbers['optimal_feedback'])}"
        best += f", and {shown['_filter']} with the best linear filter" if "_filter" in shown else ""
        return noise, assumed, ("at equal privacy of records that are used at one step, the variance of a long run is "
                                f"{this}, {shown['_independent']} with independent noise, {best}, {units}")
    assumed = (f"the bound assumes that the first iterate does not depend on the data, {once and f'{once}, '}that no "
               "iterate is projected on a constraint set and that no gradient is clipped")
    same, modes = "this holds where both data sets have the same known Hessian", len(params["curvatures"])
    if modes > 1:
        return (noise, assumed,
                "at equal privacy of the last iterate, for records that are used at one step, the sum of its "
                f"variances over the curvatures is {shown['_last_iterate']} with this feedback, "
                f"{shown['_last_iterate_independent']} without it, and {modes} with noise that is added once to the "
                f"output, which is optimal, {units}; {same}",
                "λ = 1 leaves at most twice the least variance where ηa ≤ 1")
    needs = f"with it, σ must be {human(numbers['sigma_factor'])} times that of the run without feedback; "
    return (noise, assumed,
            "with one curvature, the last iterate has the same variance for every λ at the same privacy, so that "
            f"feedback is neither gain nor loss: {needs if params['feedback'] else ''}{same}",
            "with several curvatures (--curvature as a list), noise that is added once to the output is optimal, and "
            "λ = 1 leaves at most twice its variance where ηa ≤ 1")


# --- the best feedback -----------------------------------------------------------------------------------------------

# Options on which the best λ does not depend, or for which it is not known, with the reason.
_ONE_STEP = "the best λ is that for records which are used at one step, the worst one; drop it"
_REFUSED = {"index": _ONE_STEP, "used_at": _ONE_STEP,
            "learning_rate": "not used without --curvature; add it, or drop this"}


def _optimum(given: Given) -> Answer:
    """λ* for a long run with these curvatures, or without curvature for prefix sums over the steps, and the variances
    that are left at equal privacy. Raises DpcalcError for options on which λ* does not depend."""
    by_curvature = given.has("curvature")
    uses = {"curvature", "learning_rate", "steps"} if by_curvature else {"steps"}
    if given.has("feedback"):
        raise DpcalcError("contradictory", "--feedback is given, so it cannot be solved for; drop one of them",
                          "--solve")
    if given.has("release") and given["release"] == "last-iterate":
        raise DpcalcError("unneeded", "the best λ is that of --release every-iterate; of the last iterate alone, every "
                          "λ leaves the same variance at equal privacy where there is one curvature, and noise that "
                          "is added once to the output is optimal where there are several", "--release")
    left = given.provided - uses - {"solve", "bound", "release"} - {o.name for o in COMMAND.all_options()
                                                                    if o.group == OUTPUT}
    for name in _REFUSED:
        if name in left:
            raise DpcalcError("unneeded", _REFUSED[name], flag(name))
    if left:
        first, *others = map(flag, sorted(left))
        also = f", nor {', '.join(others)}" if others else ""
        raise DpcalcError("unneeded", f"not used with --solve feedback{also}; first find λ, then give it as --feedback "
                          "with --delta, or with a budget and --solve sigma", first)
    require(given, ("learning_rate",) if by_curvature else ("steps",), "to solve for feedback"
            if by_curvature else "to solve for feedback; or give --curvature and --learning-rate")
    run = Run(COMMAND, given, Question("feedback"), lambda run: {
        "curvatures": run["curvature"] or (0.0,), "learning_rate": run["learning_rate"] or 1.0,
        "iterations": run["steps"]}, frozenset(uses))  # prefix sums are the run without curvature
    steady = by_curvature and min(run.params["curvatures"]) > 0
    if not steady:
        require(given, ("steps",), "to solve for feedback without curvature")
    finite = (Route(optimum_finite.BOUND, on_request=steady),) if given.has("steps") else ()
    rows = answer_rows(run, (*((Route(optimum.BOUND),) if steady else ()), *finite), run.bounds)
    numbers, notes = _beside_optimum(rows[0], run.params)
    solution = {"feedback": rows[0].result["feedback"]}
    found = run.answer(rows, {"kind": "feedback", **solution}, "replace-one", "every step's output", notes, numbers,
                       options={"solve": "feedback"})
    return found._replace(parameters=found.parameters | solution)


def _beside_optimum(head: Row, params: Params) -> tuple[dict[str, float], tuple[str, ...]]:
    """The variances of other noise at equal privacy, and coefficients that are the best ones in another sense."""
    curvatures, rate, steps = params["curvatures"], params["learning_rate"], params["iterations"]
    steady, notes = head.route.bound is optimum.BOUND, list[str]()
    independent = (optimum.variance_at_equal_privacy(curvatures, rate, 0.0) if steady else
                   fsum(affine.geometric(affine.decay(a, rate), steps) for a in curvatures))
    numbers, filtered = {"equal_privacy_variance_independent": independent}, ""
    if steady and len(curvatures) == 1:
        numbers["equal_privacy_variance_filter"] = optimum.least_of_all_filters(curvatures[0], rate)
        filtered = f", {human(numbers['equal_privacy_variance_filter'])} with the best linear filter"
    if steady and steps is not None:
        try:
            numbers["feedback_after_steps"] = optimum_finite.value(**params)["feedback"]
            notes = [f"after {steps} steps, λ = {human(numbers['feedback_after_steps'])} is best (--bound "
                     f"{optimum_finite.BOUND.name})"]
        except OutOfScope:
            pass
    if not steady and max(curvatures) == 0:
        numbers["feedback_mean"] = optimum_finite.mean_coefficient(steps)
        notes = [f"for the mean variance of all iterates, λ = {human(numbers['feedback_mean'])} is best (used by "
                 "dpcalc correlated --compare)"]
    return numbers, (f"at equal privacy the variance of {'a long run' if steady else 'the last iterate'} is "
                     f"{human(head.result['equal_privacy_variance'])} with this λ, {human(independent)} with "
                     f"independent noise{filtered}, {_UNITS}", *notes)


def theorems() -> tuple[Route, ...]:
    return (*_ROUTES[LAST], *_ROUTES[EVERY], Route(optimum.BOUND), Route(optimum_finite.BOUND))

"""dpcalc burn-in: the last iterate of projected noisy SGD, whose privacy loss stops growing with the number of
steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, Any

from dpcalc.commands.burn_in_notes import ANY, CONVEX, apart, burn_in, curvature, horizon, notes
from dpcalc.core import quantities as q
from dpcalc.core.command import MECHANISM, QUESTION, RUN, Command, Given, Option, check_unknown, refuse_unneeded, require

if TYPE_CHECKING:
    from dpcalc.core.one_record import OneRecord
    from dpcalc.core.question import Question
    from dpcalc.core.results import Answer, Route, Row

_SCHEDULED = ("n", "batch_size", "lipschitz", "smoothness")
_RUN = ("n", "batch_size", "steps", "lipschitz", "smoothness", "learning_rate")


def answer(given: Given) -> Answer:
    """ε, δ or RDP of the last iterate by every method, the burn-in length, and a lower bound beside them."""
    from dpcalc.accounting.answer import rows
    from dpcalc.commands.asking import asked
    from dpcalc.core.errors import EveryValueMeets, NoSolution
    from dpcalc.core.results import Answer

    if given["schedule"] is not None:
        given = _scheduled(given)
    question = _ranged(asked(COMMAND, given), given)
    unknown = question.unknown.name if question.unknown else None
    used = {*_RUN, "diameter", "strong_convexity", "loss", "sigma", "order", "orders", "schedule"}
    used |= {"index"} if given["order"] == "fixed" else set()
    refuse_unneeded(given, used, f"with --order {given['order']}")
    check_unknown(question, used, "of burn-in")
    require(given, (*_RUN, "sigma") if given["schedule"] is None else _SCHEDULED, "by burn-in", unknown)
    _check(given.values)
    try:
        found = rows(_routes(given, question), given, _derive, question, given["bound"] or ())
    except EveryValueMeets:
        raise
    except NoSolution:
        found = _by_full_batch(given, question)  # whose reason is the better one
        if not found:
            raise
    values = {**given.values, **({unknown: found[0].result[unknown]} if unknown else {})}
    head = found[0]
    always = {"strong_convexity", "loss", "order", "epsilon", "delta", "alpha", "rdp"}
    shown = {k: v for k, v in {**given.values, **_said(given)}.items() if k in (used & given.provided) | always}
    of, worst, only = _one_record(values, question, head)
    return Answer("burn-in", question, shown, found, {**_guarantee(question, head), **of}, "replace-one",
                  "last iterate",
                  notes(given, values, found), {**_companions(values, question, found), **worst}, only=only,
                  options=_said(given))


def _by_full_batch(given: Given, question: Question) -> tuple[Row, ...]:
    """The batch of all records, which has a theorem of its own, where no smaller one meets the budget."""
    from dpcalc.accounting.answer import rows

    unknown, n, named, known = question.unknown, given["n"], given["bound"], _known(given)
    if unknown is None or unknown.name != "batch_size" or n is None or (named and known.bound.name not in named):
        return ()
    only = unknown._replace(search=(float(n), float(n)))
    return rows((known,), given, _derive, question._replace(unknown=only), ())


def _said(given: Given) -> dict[str, str]:
    """The schedule itself, for a record that needs no file."""
    if given["schedule"] is None:
        return {}
    from dpcalc.commands.schedule import text

    return {"schedule": text(given["steps_as_said"], given)}


def _scheduled(given: Given) -> Given:
    """The run described step by step: T, and where the schedule says them η and σ, are its own."""
    from dpcalc.commands.schedule import read
    from dpcalc.core.errors import DpcalcError, flag

    for name in sorted(given.provided & {"steps", "index", "solve"}):
        raise DpcalcError("contradictory", "with --schedule, every step is said there", flag(name))
    steps = read(given)
    if given["order"] == "random" and given["n"] != given["batch_size"]:
        raise DpcalcError("refused",
                          "a schedule is analysed for full batches (n = b), or with --order fixed for batches that do "
                          "not "
                          "depend on chance, \"uses\" saying when the record is used", "--schedule")
    return given.having({**given.values, "steps": len(steps), "steps_as_said": steps,
                         "learning_rate": min(eta for eta, _, _ in steps)})


def _ranged(question: Question, given: Given) -> Question:
    """Where the unknown can lie. Longer steps lose less, up to η = 2/(β+ρ), where the contraction is best."""
    from dpcalc.core.errors import DpcalcError

    unknown = question.unknown
    if unknown is None:
        return question
    if given["loss"] == ANY and unknown.name == "learning_rate":
        raise DpcalcError("unknown-value",
                          "learning-rate: with --loss any a longer step may lose more or less; solve for another",
                          "--solve")
    if given["order"] == "fixed" and unknown.name in ("n", "batch_size"):
        raise DpcalcError("unknown-value", f"{unknown.option[2:]}: with --order fixed the batch size must divide n; "
                          "solve for another", "--solve")
    curved = (given["smoothness"] or 0.0) + given["strong_convexity"]
    best = 2 / curved * (1 - 1e-15) if curved else 1e15
    ranges = {
        "learning_rate": (1e-15 * min(best, 1.0), best),
        "batch_size": (1.0, float(given["n"] or 1)),
        "n": (float(given["batch_size"] or 1), q.LARGEST_COUNT),
    }
    return question._replace(unknown=unknown._replace(search=ranges.get(unknown.name, unknown.search)))


def _check(values: Mapping[str, Any]) -> None:
    """What the theorems need, as far as it is given."""
    from dpcalc.bounds.noisy_sgd._engine import contraction
    from dpcalc.core.errors import DpcalcError

    n, b = values.get("n"), values.get("batch_size")
    if n is not None and b is not None and b > n:
        raise DpcalcError("out-of-range", f"{b} > n = {n}: a batch cannot exceed the data", "--batch-size")
    if values["order"] == "fixed" and n is not None and b is not None and n % b:
        raise DpcalcError("out-of-range", f"{b} does not divide n = {n}: a fixed order needs batches of equal size",
                          "--batch-size")
    if values["loss"] == ANY and values["strong_convexity"]:
        raise DpcalcError("contradictory",
                          f"{values['strong_convexity']:g} says that the losses are convex, --loss any that they need "
                          "not be", "--strong-convexity")
    if values.get("learning_rate") is not None:
        contraction.gap(values["learning_rate"], values["smoothness"], curvature(values))


def _derive(values: Mapping[str, Any]) -> dict[str, Any]:
    """What the bounds read."""
    from dpcalc.core.errors import OutOfScope

    n, b = int(values["n"]), int(values["batch_size"])
    if b > n:
        raise OutOfScope("no-solution", f"a batch of {b} exceeds n = {n}", "--batch-size")
    held = {"diameter": values.get("diameter") or apart(values)}
    if values.get("steps_as_said"):
        own = {k: values[k] for k in ("lipschitz", "smoothness", "strong_convexity")}
        return {**own, **held, "batch_size": b, "schedule": values["steps_as_said"]}
    same = {**held, **{k: values[k] for k in ("lipschitz", "smoothness", "strong_convexity", "learning_rate", "sigma")}}
    period, steps = -(-n // b), int(values["steps"])
    index = values.get("index")
    if index is not None and index > period:
        raise OutOfScope("out-of-range", f"{index} > n/b = {period}: the batch's position in a pass", "--index")
    return {**same, "n": n, "batch_size": b, "iterations": steps, "period": period,
            "last": 1 if index is None else (steps - index) % period + 1}


def _routes(given: Given, question: Question) -> tuple[Route, ...]:
    from dpcalc.accounting.routes import converted
    from dpcalc.bounds.noisy_sgd import as_published, burn_in_profile, burn_in_rdp, composition, iteration_schedule, lower_bound, nonconvex
    from dpcalc.core.results import Route

    convex, known = given["loss"] != ANY, _known(given)
    if given["schedule"] is not None:
        return (Route(iteration_schedule.BOUND if convex else nonconvex.SCHEDULE),)
    if given["order"] == "fixed":
        return (known,)
    rdp, profile = (burn_in_rdp.BOUND, burn_in_profile.BOUND) if convex else (nonconvex.BURN_IN_RDP,
                                                                              nonconvex.BURN_IN_PROFILE)
    printed = tuple(r._replace(on_request=True) for r in converted(as_published.BOUND)) if convex else ()
    full = (known,) if given["n"] is not None and given["n"] == given["batch_size"] else ()
    by_rdp = (*full, *converted(rdp), *converted(composition.BOUND))
    profiles = (Route(profile),
                Route(burn_in_profile.COMPOSITION))
    lower = () if question.unknown or given["diameter"] is None else (Route(lower_bound.BOUND),)
    return (*by_rdp, *profiles, *lower, *printed)


def _known(given: Given) -> Route:
    """By the steps that use the record, where these do not depend on chance."""
    from dpcalc.bounds.noisy_sgd import iteration, iteration_nonconvex
    from dpcalc.core.results import Route

    return Route(iteration_nonconvex.BOUND if given["loss"] == ANY else iteration.BOUND)


def _companions(values: Mapping[str, Any], question: Question, found: tuple[Row, ...]) -> dict[str, float]:
    asks = question.asks
    lower = [row.result[asks] for row in found if row.route.bound.status == "lower"]
    held: dict[str, float] = {"distance": apart(values)}
    if values.get("diameter"):
        held = {} if values["loss"] == ANY else {"horizon": horizon(values)}
    return {"burn_in_steps": burn_in(values, found[0]), **held, **({f"{asks}_lower": lower[0]} if lower else {})}


def _guarantee(question: Question, head: Row) -> dict[str, Any]:
    result, bound = head.result, head.route.bound
    if bound.mu is not None and question.unknown is None:
        from dpcalc.accounting.orders import own_params

        return {"kind": "gdp", "mu": bound.mu(**own_params(bound, head.params), r=int(head.witness["r"]))}
    if question.asks == "rdp":
        return {"kind": "rdp", "alpha": [result["alpha"]], "rdp": [result["rdp"]]}
    delta = result["delta"] if question.asks == "delta" else question.delta or 0.0
    from dpcalc.core.results import guarantee_of

    return guarantee_of(result["epsilon"], delta)


def _one_record(values: Mapping[str, Any], question: Question,
                head: Row) -> tuple[dict[str, Any], dict[str, float], OneRecord | None]:
    """For the guarantee, the companions and the headline, where it is about the records of one batch of a fixed order,
    or of some steps."""
    from dpcalc.commands.last_iterate import value_of_worst
    from dpcalc.core.one_record import OneRecord

    steps, index = values.get("steps_as_said"), values.get("index")
    if steps and not all(uses for _, _, uses in steps):
        return {}, {}, OneRecord("for records used only at the steps that the schedule says")
    if index is None:
        return {}, {}, None
    params = _derive(values)
    worst = (params["iterations"] - 1) % params["period"] + 1
    numbers, only = value_of_worst(head, {**params, "last": 1}, question, index, worst, "batch")
    return {"index": [index]}, numbers, only


def theorems() -> Iterator[Route]:
    from dpcalc.core.question import Question

    for schedule, order, n, loss in product((None, "steps.json"), q.ORDER.choices, (1, 2), q.LOSS.choices[::-1]):
        given = {"schedule": schedule, "order": order, "n": n, "batch_size": 1, "loss": loss, "diameter": 1.0}
        yield from _routes(Given(given, frozenset()), Question("epsilon"))


COMMAND = Command(
    "burn-in",
    "The last iterate of noisy SGD: on convex losses, privacy that stops growing with the number of steps; on any "
    "smooth ones "
    "(--loss any), what later steps hide. "
    "The first iterate and the constraint set must not depend on the data",
    (
        Option(q.N, RUN),
        Option(q.BATCH_SIZE._replace(safer=+1, help="records in a batch, whose mean gradient is used"), RUN),
        Option(q.STEPS._replace(help="number of iterations"), RUN),
        Option(q.LIPSCHITZ, RUN),
        Option(q.SMOOTHNESS, RUN),
        Option(q.STRONG_CONVEXITY, RUN, default=0.0),
        Option(q.LOSS._replace(help="what is known of every record's loss, beside its smoothness"), RUN,
               default=CONVEX),
        Option(q.LEARNING_RATE, RUN),
        Option(q.DIAMETER._replace(safer=-1,
                                   help="diameter of the convex set that the iterates are projected on, if there is one"), RUN),
        Option(q.ORDER, RUN, default="random"),
        Option(q.INDEX._replace(help="position in a pass of the record's batch (--order fixed)"), RUN),
        Option(q.SIGMA._replace(help="standard deviation of the Gaussian noise on the mean gradient of a batch"),
               MECHANISM),
        Option(q.NOISE_SCHEDULE, RUN),
        Option(q.ORDERS, QUESTION),
    ),
    answer,
    (
        ("burn-in --n 60000 --batch-size 128 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate 0.05 --diameter "
         "2 --sigma 0.1 "
         "--delta 1e-5", "ε = 1.36505"),
        ("burn-in --n 60000 --batch-size 128 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate 0.05 --diameter "
         "2 --epsilon 1 "
         "--delta 1e-5 --solve sigma", "σ = 0.130601"),
    ),
    theorems=theorems,
)

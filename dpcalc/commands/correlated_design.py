"""The design of a call of dpcalc correlated: its strategy, the rounds in which a record takes part, and the theorems
that cover it."""

from typing import Any

from dpcalc.bounds.correlated import participation
from dpcalc.bounds.correlated._engine import strategies as s
from dpcalc.bounds.correlated._engine.design import Design
from dpcalc.bounds.correlated._engine.strategies import Strategy
from dpcalc.commands.correlated import COMMAND
from dpcalc.core.bound import ProfileBound
from dpcalc.core.checks import refuse, require
from dpcalc.core.command import Given
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.numbers import NotANumber, number
from dpcalc.core.relations import RELATIONS
from dpcalc.core.results import Question, Route
from dpcalc.core.run import Run
from dpcalc.core.validate import not_one_of

_LEAST_FIRST = 1e-100  # of |c_0| of a list: with smaller ones, squares are lost below all doubles
_OF_SAMPLING = ("Poisson batches draw each record at random at every step, so that no separation, order or number of "
                "participations is ensured; drop it, or drop --sampling-rate and take batches in a fixed order")


def design(given: Given) -> Design:
    """The design. Raises DpcalcError for options that are missing, not used or contradictory."""
    if given.has("min_separation"):
        b = given["min_separation"]
        raise DpcalcError("refused", f"has two meanings; where {b} is the number of steps between two steps with the "
                                     f"same record (TensorFlow Federated), write --separation {b + 1}; where it is "
                                     f"their difference (JAX-privacy), write --separation {b}", "--min-separation")
    require(given, ("steps",), "by correlated")
    strategy, steps = _strategy(given), given["steps"]
    if len(strategy.listed) > steps:
        raise DpcalcError("contradictory", f"lists {len(strategy.listed)} coefficients, more than the {steps} steps",
                          "--coefficients")
    if given["sampling_rate"] is not None:
        refuse(given, ("separation", "participations", "order"), _OF_SAMPLING, "refused")
        return Design(strategy, steps)
    separated = given.has("separation") or given.has("participations")
    order = given["order"] or ("separated" if separated else "once")
    if order == "once":
        refuse(given, ("separation", "participations"), "not used with --order once; use --order separated or cyclic")
        return Design(strategy, steps)
    require(given, ("separation",), {
        "cyclic": "with --order cyclic: the number of steps in a pass",
        "separated": f"with --{'order separated' if given.has('order') else 'participations'}: the least j − i of two "
                     "steps i and j with the same record; 1 where every pass is shuffled anew"}[order])
    return Design(strategy, steps, order, given["separation"], given["participations"])


def routes(design: Design) -> tuple[Route, ...]:
    """The theorems that cover a design whose batches have a fixed order."""
    if design.participations == 1:
        return (Route(participation.ONCE),)
    if design.is_banded:
        return (Route(participation.BANDS),)
    cyclic = (Route(participation.CYCLIC),) if design.order == "cyclic" else ()
    return (Route(participation.SEPARATED), *cyclic)


def run_of(given: Given, design: Design, question: Question, uses: frozenset[str] = frozenset()) -> Run:
    """The run of a design whose batches have a fixed order."""
    change = RELATIONS[given["adjacency"]].sensitivity
    return Run(COMMAND, given, question, lambda run: {"design": design, "change": change, "sigma": run["sigma"]}, uses)


def mu_of(route: Route, design: Design, change: float, sigma: float) -> float:
    """The μ of all steps by one of these theorems; for σ = 1 it is the sensitivity."""
    assert isinstance(route.bound, ProfileBound) and route.bound.mu is not None
    return route.bound.mu.mu(design, change, sigma)


def _strategy(given: Given) -> Strategy:
    """The strategy of --strategy or of --coefficients."""
    contraction = given["contraction"] or 1.0
    if given.has("coefficients"):
        for name in ("strategy", "blt_scale", "blt_decay"):
            if given.has(name):
                raise DpcalcError("contradictory", f"give {flag(name)} or --coefficients, not both", "--coefficients")
        listed = given["coefficients"]
        if abs(listed[0]) < _LEAST_FIRST:
            raise DpcalcError("out-of-range", f"its first coefficient is {listed[0]:g}; C has an inverse only where "
                                              "that is not 0", "--coefficients")
        return Strategy(s.LISTED, listed=listed, contraction=contraction)
    if not given.has("strategy"):
        known = ", ".join(map(_with_symbol, s.NAMES))
        raise DpcalcError("missing", f"needed: {known}, or --coefficients in its place; --compare with "
                          "--epsilon and --delta shows which one has the least error", "--strategy")
    if "," in given["strategy"]:
        raise DpcalcError("unknown-value", "takes one strategy; --compare takes a list of them", "--strategy")
    name, colon, value = given["strategy"].partition(":")
    if name not in s.NAMES:
        raise DpcalcError("unknown-value", not_one_of(name, s.NAMES), "--strategy")
    symbol = s.NUMBERED.get(name, "")
    if bool(symbol) != bool(colon):
        wanted = f"needs a number: {_with_symbol(name)}" if symbol else f"takes no number: write {name}"
        raise DpcalcError("not-a-number", f"{name} {wanted}", "--strategy")
    return Strategy(name, _number(name, value) if symbol else 0.0, *_buffers(given, name), contraction=contraction)


def _with_symbol(name: str) -> str:
    """A strategy as --strategy takes it, with the symbol of its number."""
    return f"{name}:{s.NUMBERED[name]}" if name in s.NUMBERED else name


def _number(name: str, text: str) -> float:
    """The λ of feedback, or the number of bands or of terms."""
    try:
        value = number(text)
    except NotANumber as reason:
        raise DpcalcError("not-a-number", f"{reason}", "--strategy") from None
    if name == s.FEEDBACK and not 0 <= value <= 1:
        raise DpcalcError("out-of-range", f"{value:g} is not ≥ 0 and ≤ 1 (λ: the share of the last noise that is taken "
                                          "back)", "--strategy")
    if name != s.FEEDBACK and not (value >= 1 and value == int(value)):
        raise DpcalcError("out-of-range", f"{text} is not a whole number ≥ 1 ({s.NUMBERED[name]} of {name})",
                          "--strategy")
    return value


def _buffers(given: Given, name: str) -> tuple[Any, Any]:
    """The scales and the decays of a buffered linear Toeplitz strategy."""
    if name != s.BLT:
        refuse(given, ("blt_scale", "blt_decay"), f"not used with --strategy {name}; drop it")
        return (), ()
    require(given, ("blt_scale", "blt_decay"), "with --strategy blt")
    scales, decays = given["blt_scale"], given["blt_decay"]
    if len(scales) != len(decays):
        raise DpcalcError("contradictory", f"has {len(decays)} value{'s' if len(decays) > 1 else ''}, and --blt-scale "
                          f"{len(scales)}; a buffer has one of each", "--blt-decay")
    return scales, decays

"""A training run as options of the other commands: for each family of theorems, its conditions on a run, and the run in
the options of its command. σ is equal in all of them; where a command has σ in other units, its sensitivity is scaled.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import nextafter
from typing import Any, NamedTuple

from dpcalc.commands.training_run import (
    ADD_REMOVE,
    ALLOCATION,
    ANY,
    EPOCHS,
    FIXED,
    FULL,
    LAST,
    ORDERED,
    POISSON,
    REPLACE_ONE,
    SHUFFLED,
    STREAM,
    WITHOUT,
    ZERO_OUT,
    Run,
)
from dpcalc.core.numbers import human, human_claimed, plain

_ROUNDED = 1 + Fraction(1, 2**51)  # relative: an η that is 2/β rounded to a double still counts as 2/β


class Condition(NamedTuple):
    """A condition of a theorem on a run, and the reason that is given where it does not hold."""

    holds: Callable[[Run], bool]
    otherwise: Callable[[Run], str]


class Interpretation(NamedTuple):
    """A training run as a question to one command."""

    bounds: tuple[str, ...]  # that can answer it
    conditions: tuple[Condition, ...]
    command: str
    parameters: Callable[[Run], dict[str, Any]]
    assumes: Callable[[Run], str]  # in a few words
    adjacency: str = REPLACE_ONE
    of_groups: tuple[str, ...] = ()  # the bounds that can answer it for groups of records

    def bounds_for(self, run: Run) -> tuple[str, ...]:
        """The bounds that can answer it for the neighbouring data sets of the run."""
        return self.of_groups if run.group_size > 1 and self.of_groups else self.bounds

    def unmet(self, run: Run) -> str | None:
        """The reason why the interpretation does not apply to the run, or None where it applies."""
        if run.group_size > 1 and not self.of_groups:
            return "has no theorem for groups of records"
        return next((c.otherwise(run) for c in self.conditions if not c.holds(run)), None)


# --- conditions of theorems ------------------------------------------------------------------------------------------


def _batches(*kinds: str) -> Condition:
    return Condition(lambda r: r.batches in kinds, lambda r: f"needs --batches {_either(kinds)}")


def _releases(*kinds: str) -> Condition:
    return Condition(lambda r: r.release in kinds, lambda r: f"needs --release {_either(kinds)}")


def _either(names: tuple[str, ...]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _not_expanding(run: Run) -> bool:
    assert run.learning_rate is not None and run.smoothness is not None
    return Fraction(run.learning_rate) * Fraction(run.smoothness) <= 2 * _ROUNDED


_LIPSCHITZ = Condition(lambda r: not r.clipped,
                       lambda r: "needs --lipschitz, as a clipped gradient of a convex loss is in general not the "
                                 "gradient of one")
_CONVEX = Condition(lambda r: r.strong_convexity is not None, lambda r: "needs --loss convex")
_SMOOTH = Condition(lambda r: r.smoothness is not None, lambda r: "needs --smoothness")
_STEP = Condition(lambda r: r.learning_rate is not None, lambda r: "needs --learning-rate")
_DIAMETER = Condition(lambda r: r.diameter is not None, lambda r: "needs --diameter")
_NO_SET = Condition(lambda r: r.diameter is None, lambda r: "needs a run without --diameter")
_STABLE = Condition(_not_expanding,
                    lambda r: f"needs --learning-rate at most 2/β = {human(2 / (r.smoothness or 1.0), upward=False)}, "
                              f"which is {plain(r.learning_rate or 0.0)} here")
_WHOLE = Condition(lambda r: r.steps % r.in_pass == 0,
                   lambda r: f"needs whole passes, and {r.steps} steps are no multiple of {r.in_pass} batches")
_SEVERAL = Condition(lambda r: r.steps != r.in_pass, lambda r: "equal to shuffled-hiding for a single pass")
_PLACE = Condition(lambda r: r.record is not None,
                   lambda r: "needs --index, as otherwise the record may be in the last batch, which no later noise "
                             "hides")
_ZERO_OUT = Condition(lambda r: r.adjacency == ZERO_OUT, lambda r: "needs --adjacency zero-out")
_NOT_ZERO_OUT = Condition(lambda r: r.adjacency != ZERO_OUT, lambda r: "needs another --adjacency than zero-out")
_CONVEX_SETTING = (_LIPSCHITZ, _CONVEX, _SMOOTH, _STEP, _STABLE)
_NOT_CONVEX = Condition(lambda r: _outside_convex_setting(r),
                        lambda r: "never better than the bound for convex losses, which applies")
_ALONE = Condition(lambda r: r.steps == r.in_pass or not all(c.holds(r) for c in _CONVEX_SETTING),
                   lambda r: "never better than shuffled-iteration, which applies")


def _outside_convex_setting(run: Run) -> bool:
    """Whether the run violates a condition of the theorems about convex losses."""
    return not all(c.holds(run) for c in _CONVEX_SETTING)


# --- a run in the options of a command -------------------------------------------------------------------------------


def _group(run: Run) -> dict[str, Any]:
    return {"group_size": run.group_size} if run.group_size > 1 else {}


def _gaussian(run: Run, count: int, sensitivity: float) -> dict[str, Any]:
    """The noise of so many steps. The records of a group are at worst in the same batches: c_t of them in step t move
    the outputs like one step of distance √Σc_t² times that of one record."""
    return {"sensitivity": sensitivity, "steps": count, **_group(run)}


def _sampled(run: Run, scheme: str, sensitivity: float) -> dict[str, Any]:
    return {"scheme": scheme, "n": run.n, "batch_size": run.batch_size, "steps": run.steps, "sensitivity": sensitivity,
            **_group(run)}


def _allocated(run: Run) -> dict[str, Any]:
    return {"scheme": ALLOCATION, "steps_per_epoch": run.in_pass, "epochs": run.steps // run.in_pass,
            "sensitivity": run.removal}


def _convexity(run: Run) -> dict[str, Any]:
    """The strong convexity ρ, made smaller where the step condition η <= 2/(β+ρ) needs it: a loss is strongly convex
    with every smaller constant, too."""
    eta, beta, rho = (Fraction(x or 0) for x in (run.learning_rate, run.smoothness, run.strong_convexity))
    largest = max(Fraction(0), 2 / eta - beta)
    if rho <= largest:
        return {"strong_convexity": float(rho)}
    nearest = float(largest)
    return {"strong_convexity": nearest if Fraction(nearest) <= largest else nextafter(nearest, 0.0)}


def _burn_in(run: Run, n: int, **extra: Any) -> dict[str, Any]:
    losses = {"loss": ANY} if _outside_convex_setting(run) else {"strong_convexity": run.strong_convexity}
    constrained = {} if run.diameter is None else {"diameter": run.diameter}
    return {"n": n, "batch_size": run.batch_size, "steps": run.steps, "lipschitz": run.lipschitz,
            "smoothness": run.smoothness, **losses,
            "learning_rate": run.learning_rate, **constrained, **extra}


def _largest_distance(run: Run) -> float:
    """A bound on the distance between the iterates of two runs on neighbouring data sets with equal noise, for runs
    without a constraint set."""
    from dpcalc.bounds.noisy_sgd._engine import apart

    assert run.learning_rate is not None and run.smoothness is not None
    curvature = -run.smoothness if _outside_convex_setting(run) else run.strong_convexity or 0.0
    uses = run.uses if run.batches in ORDERED else run.steps
    return apart.reached(run.batch_size, run.lipschitz, run.smoothness, curvature, run.learning_rate, run.steps, uses)


def _fixed(run: Run) -> dict[str, Any]:
    place = {} if run.position is None else {"index": run.position}
    return _burn_in(run, run.in_pass * run.batch_size, order="fixed", **place)


def _one_record(run: Run) -> dict[str, Any]:
    """The run with every batch as one record: replacing a record moves the mean gradient of its batch by at most 2L/b,
    as replacing a record with gradients of at most L/b does. An incomplete pass loses no more privacy than a whole
    one."""
    return {"lipschitz": run.removal, "smoothness": run.smoothness, "learning_rate": run.learning_rate,
            "n": run.in_pass, "epochs": -(-run.steps // run.in_pass)}


def _shuffled(run: Run) -> dict[str, Any]:
    return {**_one_record(run), **_convexity(run), **({} if run.diameter is None else {"diameter": run.diameter})}


def _last_iterate(run: Run) -> dict[str, Any]:
    """A shuffled run that releases only its last iterate; the last pass may be incomplete."""
    options = _shuffled(run)
    if run.steps % run.in_pass:
        del options["epochs"]
        options["steps"] = run.steps
    return {**options, "release": LAST}


# --- assumptions in a few words --------------------------------------------------------------------------------------


def _bounded(run: Run) -> str:
    return "gradients clipped to C" if run.clipped else "gradients of at most L"


def _set(run: Run) -> str:
    if run.diameter is not None:
        return "a convex set of diameter D"
    return f"no constraint set (two runs stay within {human_claimed(_largest_distance(run), 1e-12)})"


def _start(run: Run) -> str:
    """The assumption of `bounds/start.py` in short."""
    return f"w₀ {'does' if run.diameter is None else 'and the set do'} not depend on the data"


def _loss(run: Run) -> str:
    strength = "ρ-strongly convex" if run.strong_convexity else "convex"
    return f"{strength}, β-smooth, L-Lipschitz losses"


def _composed(how: str) -> Callable[[Run], str]:
    return lambda run: f"{_bounded(run)}; {how}; all iterates may be released"


def _last(how: str) -> Callable[[Run], str]:
    return lambda run: f"{_loss(run)}; {_set(run)}; {_start(run)}; {how}; only the last iterate is released"


def _of_pass(run: Run) -> str:
    released = "only the last iterate" if run.steps == run.in_pass else "at most the last iterate of every pass"
    return f"{_start(run)}; {released} is released"


def _inside(run: Run) -> str:
    return f"; {_set(run)}" if run.diameter is not None else ""


def _last_smooth(how: str) -> Callable[[Run], str]:
    return lambda run: (f"β-smooth losses, {_bounded(run)}; {_set(run)}; {_start(run)}; {how}; only the last iterate "
                        "is released")


def _shuffled_set(run: Run) -> str:
    return f"{_loss(run)}{_inside(run)}; a secret uniform order, fresh in every pass; {_of_pass(run)}"


def _smooth(run: Run) -> str:
    return f"β-smooth losses, {_bounded(run)}; a secret uniform order, fresh in every pass; {_of_pass(run)}"


_EVERY_STEP_POISSON = _composed("a Poisson batch, divided by the fixed b, at every step")
_SHUFFLE = ("shuffle-no-amplification", "shuffle-lower-allocation")
_ALLOCATION = ("allocation-profile", "allocation-lower")
_EVERY_STEP_ALLOCATED = _composed("in every pass each record takes part in one step, drawn independently; the sum "
                                  "divided by the fixed b")
_EVERY_STEP_SHUFFLED = _composed("every record at most once a pass")
_EVERY_STEP_FRESH = "a fresh batch of b at every step"
_OF_BATCHES = {WITHOUT: _EVERY_STEP_FRESH, FULL: "every record at every step"}
_LAST_CONVEX = (_releases(LAST), *_CONVEX_SETTING)
_LAST_SMOOTH = (_releases(LAST), _SMOOTH, _STEP, _NOT_CONVEX)
_OF_PASSES = _releases(EPOCHS, LAST)

INTERPRETATIONS: tuple[Interpretation, ...] = (
    Interpretation(("poisson-profile", "poisson-rdp"), (_batches(POISSON), _NOT_ZERO_OUT), "subsample",
                   lambda r: _sampled(r, POISSON, r.removal), _EVERY_STEP_POISSON, ADD_REMOVE,
                   ("poisson-group-profile",)),
    Interpretation(("poisson-profile", "poisson-rdp"), (_batches(POISSON), _ZERO_OUT), "subsample",
                   lambda r: {**_sampled(r, POISSON, r.removal), "adjacency": ZERO_OUT}, _EVERY_STEP_POISSON, ZERO_OUT,
                   ("poisson-group-profile",)),
    Interpretation(("wor-profile",), (_batches(POISSON),), "subsample",
                   lambda r: {**_sampled(r, POISSON, r.push), "adjacency": REPLACE_ONE}, _EVERY_STEP_POISSON),
    Interpretation(("wor-profile", "wor-rdp"), (_batches(WITHOUT),), "subsample",
                   lambda r: _sampled(r, WITHOUT, r.push), _composed(_EVERY_STEP_FRESH)),
    Interpretation(("burn-in-profile", "burn-in-rdp"), (_batches(WITHOUT), *_LAST_CONVEX), "burn-in",
                   lambda r: _burn_in(r, r.n), _last(_EVERY_STEP_FRESH)),
    Interpretation(("burn-in-contraction",), (_batches(WITHOUT, FULL), *_LAST_CONVEX, _DIAMETER), "burn-in",
                   lambda r: _burn_in(r, r.n), lambda r: _last(_OF_BATCHES[r.batches])(r) + "; any number of steps"),
    Interpretation(("burn-in-profile-nonconvex", "burn-in-rdp-nonconvex"), (_batches(WITHOUT), *_LAST_SMOOTH),
                   "burn-in", lambda r: _burn_in(r, r.n), _last_smooth(_EVERY_STEP_FRESH)),
    Interpretation(("gaussian-exact",), (_batches(FULL),), "rdp",
                   lambda r: _gaussian(r, r.steps, r.push), _composed("every record at every step"),
                   of_groups=("gaussian-exact",)),
    Interpretation(("gaussian-exact",), (_batches(FULL), _NOT_ZERO_OUT), "rdp",
                   lambda r: _gaussian(r, r.steps, r.removal),
                   _composed("every record at every step, the sum divided by a fixed n"), ADD_REMOVE,
                   ("gaussian-exact",)),
    Interpretation(_ALLOCATION, (_batches(ALLOCATION), _WHOLE, _NOT_ZERO_OUT), "subsample", _allocated,
                   _EVERY_STEP_ALLOCATED, ADD_REMOVE),
    Interpretation(_ALLOCATION, (_batches(ALLOCATION), _WHOLE, _ZERO_OUT), "subsample",
                   lambda r: {**_allocated(r), "adjacency": ZERO_OUT}, _EVERY_STEP_ALLOCATED, ZERO_OUT),
    Interpretation(_SHUFFLE, (_batches(SHUFFLED), _NOT_ZERO_OUT), "subsample",
                   lambda r: _sampled(r, "shuffle", r.push), _EVERY_STEP_SHUFFLED),
    Interpretation((*_SHUFFLE, "shuffle-lower"), (_batches(SHUFFLED), _ZERO_OUT), "subsample",
                   lambda r: {**_sampled(r, "shuffle", r.removal), "adjacency": ZERO_OUT}, _EVERY_STEP_SHUFFLED,
                   ZERO_OUT),
    Interpretation((), (_batches(SHUFFLED),), "rdp", lambda r: _gaussian(r, r.uses, r.push),
                   _composed("every record at most once a pass"), of_groups=("gaussian-exact",)),
    Interpretation(("gaussian-exact",), (_batches(FIXED, STREAM),), "rdp",
                   lambda r: _gaussian(r, r.uses, r.push), _composed("every record at most once a pass"),
                   of_groups=("gaussian-exact",)),
    Interpretation(("gaussian-exact",), (_batches(FULL, FIXED, STREAM), _ZERO_OUT), "rdp",
                   lambda r: _gaussian(r, r.steps if r.batches == FULL else r.uses, r.removal),
                   _composed("every record at most once a pass"), ZERO_OUT, ("gaussian-exact",)),
    Interpretation(("iteration",), (_batches(FULL), *_LAST_CONVEX), "burn-in",
                   lambda r: _burn_in(r, r.n), _last("every record at every step")),
    Interpretation(("iteration",), (_batches(FIXED, STREAM), *_LAST_CONVEX), "burn-in",
                   _fixed, _last("the same order in every pass")),
    Interpretation(("iteration-nonconvex",), (_batches(FULL), *_LAST_SMOOTH), "burn-in",
                   lambda r: _burn_in(r, r.n), _last_smooth("every record at every step")),
    Interpretation(("iteration-nonconvex",), (_batches(FIXED, STREAM), *_LAST_SMOOTH), "burn-in",
                   _fixed, _last_smooth("the same order in every pass")),
    Interpretation(("shuffled-hiding-last",), (_batches(SHUFFLED), *_LAST_CONVEX, _SEVERAL), "shuffle-pnsgd",
                   _last_iterate,
                   lambda r: f"{_loss(r)}{_inside(r)}; a secret uniform order, fresh in every pass; {_start(r)}; only "
                             "the last iterate is released"),
    Interpretation(("shuffled-hiding", "shuffled-contraction", "shuffled-iteration"),
                   (_batches(SHUFFLED), _OF_PASSES, *_CONVEX_SETTING, _DIAMETER), "shuffle-pnsgd", _shuffled,
                   _shuffled_set),
    Interpretation(("shuffled-hiding", "shuffled-iteration"),
                   (_batches(SHUFFLED), _OF_PASSES, *_CONVEX_SETTING, _NO_SET), "shuffle-pnsgd", _shuffled,
                   _shuffled_set),
    Interpretation(("smooth-nonconvex-shuffled-hiding", "smooth-nonconvex-shuffled-exact"),
                   (_batches(SHUFFLED), _OF_PASSES, _SMOOTH, _STEP, _ALONE), "shuffle-pnsgd", _one_record, _smooth),
    Interpretation(("fixed-order-hybrid", "fixed-order", "fixed-order-iteration"),
                   (_batches(FIXED, STREAM), _OF_PASSES, *_CONVEX_SETTING, _WHOLE, _PLACE, _DIAMETER), "shuffle-pnsgd",
                   lambda r: {**_shuffled(r), "index": r.position},
                   lambda r: f"{_loss(r)}; {_set(r)}; the record's place is known; {_of_pass(r)}"),
    Interpretation(("smooth-nonconvex-exact",),
                   (_batches(FIXED, STREAM), _OF_PASSES, _SMOOTH, _STEP, _WHOLE, _PLACE), "shuffle-pnsgd",
                   lambda r: {**_one_record(r), "index": r.position},
                   lambda r: f"β-smooth losses, {_bounded(r)}; the record's place is known; {_of_pass(r)}"),
)

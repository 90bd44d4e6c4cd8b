"""A training run as options of the other commands: for each family of theorems, its conditions on a run, and the run in
the options of its command. σ is equal in all of them; where a command has σ in other units, its sensitivity is scaled.
"""

from collections.abc import Callable
from fractions import Fraction
from math import nextafter
from typing import Any, NamedTuple

from dpcalc.commands import conditions as c
from dpcalc.commands.burn_in import ANY, STRONGLY_CONVEX
from dpcalc.commands.conditions import Condition, needs_adjacency, needs_batches, needs_release
from dpcalc.commands.training_run import (
    ALLOCATION,
    EPOCHS,
    FIXED,
    FULL,
    LAST,
    ORDERED,
    POISSON,
    SHUFFLED,
    STREAM,
    WITHOUT,
    TrainingRun,
)
from dpcalc.core.numbers import human_claimed
from dpcalc.core.relations import ADD_REMOVE, RELATIONS, REPLACE_ONE, ZERO_OUT


class Interpretation(NamedTuple):
    """A training run as a question to one command."""

    bounds: tuple[str, ...]  # that can answer it
    conditions: tuple[Condition, ...]
    command: str
    parameters: Callable[[TrainingRun], dict[str, Any]]
    assumes: Callable[[TrainingRun], str]  # in a few words
    adjacency: str = REPLACE_ONE
    of_groups: tuple[str, ...] = ()  # the bounds that can answer it for groups of records
    by_multiplier: bool = False  # whether its command takes the noise relative to the norm of a record's gradient

    def bounds_for(self, run: TrainingRun) -> tuple[str, ...]:
        """The bounds that can answer it for the neighbouring data sets of the run."""
        return self.of_groups if run.group_size > 1 and self.of_groups else self.bounds

    def conditions_met(self, run: TrainingRun) -> int:
        """The number of conditions that hold before the first one that does not. Of several reasons why a bound does
        not apply, that of the interpretation with the most conditions met is shown."""
        return next((k for k, x in enumerate(self.conditions) if not x.holds(run)), len(self.conditions))

    def unmet(self, run: TrainingRun) -> str | None:
        """The reason why the interpretation does not apply to the run, or None where it applies."""
        if run.group_size > 1 and not self.of_groups:
            return "has no theorem for groups of records"
        return next((x.otherwise(run) for x in self.conditions[self.conditions_met(run):]), None)


# --- a run in the options of a command -------------------------------------------------------------------------------


def _group(run: TrainingRun) -> dict[str, Any]:
    return {"group_size": run.group_size} if run.group_size > 1 else {}


def _gaussian(run: TrainingRun, count: int, adjacency: str) -> dict[str, Any]:
    """The noise of so many steps. The records of a group are at worst in the same batches: c_t of them in step t move
    the outputs like one step of distance √Σc_t² times that of one record."""
    return {"adjacency": adjacency, "steps": count, **_group(run)}


def _on_batches(run: TrainingRun, scheme: str, **others: Any) -> dict[str, Any]:
    """A run on random batches."""
    return {"scheme": scheme, "n": run.n, "batch_size": run.batch_size, "steps": run.steps, **others, **_group(run)}


def _passes(run: TrainingRun, **others: Any) -> dict[str, Any]:
    return {"scheme": ALLOCATION, "steps_per_epoch": run.in_pass, "epochs": run.steps // run.in_pass, **others}


def _burn_in(run: TrainingRun, n: int | None = None, **extra: Any) -> dict[str, Any]:
    losses = {"loss": ANY} if c.outside_convex_setting(run) else {"strong_convexity": run.strong_convexity}
    constrained = {} if run.diameter is None else {"diameter": run.diameter}
    return {"n": n or run.n, "batch_size": run.batch_size, "steps": run.steps, "lipschitz": run.lipschitz,
            "smoothness": run.smoothness, **losses, "learning_rate": run.learning_rate, **constrained, **extra}


def _fixed(run: TrainingRun) -> dict[str, Any]:
    place = {} if run.position is None else {"index": run.position}
    return _burn_in(run, run.in_pass * run.batch_size, order="fixed", **place)


def _one_record(run: TrainingRun) -> dict[str, Any]:
    """The run with every batch as one record: replacing a record moves the mean gradient of its batch by at most 2L/b,
    as replacing a record with gradients of at most L/b does. An incomplete pass loses no more privacy than a whole
    one."""
    return {"lipschitz": run.removal, "smoothness": run.smoothness, "learning_rate": run.learning_rate,
            "n": run.in_pass, "epochs": -(-run.steps // run.in_pass)}


def _shuffled(run: TrainingRun) -> dict[str, Any]:
    """The run over shuffled records. Its strong convexity ρ is made smaller where the step condition η <= 2/(β+ρ) needs
    it: a loss is strongly convex with every smaller constant, too."""
    eta, beta, rho = (Fraction(x or 0) for x in (run.learning_rate, run.smoothness, run.strong_convexity))
    largest = min(rho, max(Fraction(0), 2 / eta - beta))
    nearest = float(largest)
    return {**_one_record(run), "strong_convexity": nearest if nearest <= largest else nextafter(nearest, 0.0),
            **({} if run.diameter is None else {"diameter": run.diameter})}


def _last_iterate(run: TrainingRun) -> dict[str, Any]:
    """A shuffled run that releases only its last iterate; the last pass may be incomplete."""
    options = _shuffled(run)
    if run.steps % run.in_pass:
        del options["epochs"]
        options["steps"] = run.steps
    return {**options, "release": LAST}


# --- assumptions in a few words --------------------------------------------------------------------------------------


def _bounded(run: TrainingRun) -> str:
    return "gradients clipped to C" if run.clipped else "gradients of at most L"


def _set(run: TrainingRun) -> str:
    if run.diameter is not None:
        return "a convex set of diameter D"
    from dpcalc.commands.burn_in_answer import largest_distance  # imports bounds of one kind of run

    distance = largest_distance(_fixed(run) if run.batches in ORDERED else _burn_in(run))
    return f"no constraint set (two runs stay within {human_claimed(distance, 1e-12)})"


def _start(run: TrainingRun) -> str:
    """The assumption of `bounds/start.py` in short."""
    return f"w₀ {'does' if run.diameter is None else 'lies in the set, and both do'} not depend on the data"


def _loss(run: TrainingRun) -> str:
    if run.strong_convexity and run.diameter is None:
        return STRONGLY_CONVEX
    strength = "ρ-strongly convex" if run.strong_convexity else "convex"
    return f"{strength}, β-smooth, L-Lipschitz losses"


def _composed(how: str) -> Callable[[TrainingRun], str]:
    return lambda run: f"{_bounded(run)}; {how}; all iterates may be released"


def _last(how: str) -> Callable[[TrainingRun], str]:
    return lambda run: f"{_loss(run)}; {_set(run)}; {_start(run)}; {how}; only the last iterate is released"


def _of_pass(run: TrainingRun) -> str:
    released = "only the last iterate" if run.steps == run.in_pass else "at most the last iterate of every pass"
    return f"{_start(run)}; {released} is released"


def _last_smooth(how: str) -> Callable[[TrainingRun], str]:
    return lambda run: (f"β-smooth losses, {_bounded(run)}; {_set(run)}; {_start(run)}; {how}; only the last iterate "
                        "is released")


def _shuffled_set(run: TrainingRun, released: str = "") -> str:
    inside = f"; {_set(run)}" if run.diameter is not None else ""
    return f"{_loss(run)}{inside}; a secret uniform order, fresh in every pass; {released or _of_pass(run)}"


_ZEROED_OUT, _NOT_ZEROED_OUT = needs_adjacency(ZERO_OUT), needs_adjacency(ADD_REMOVE, REPLACE_ONE)
_EVERY_STEP_POISSON = _composed("a Poisson batch, divided by the fixed b, at every step")
_ALLOCATION = ("allocation-profile", "allocation-lower")
_ALLOCATION_REPLACED = ("allocation-replace-one-profile", "allocation-replace-one-lower")
_EVERY_STEP_ALLOCATED = _composed("in every pass each record takes part in one step, drawn independently; the sum "
                                  "divided by the fixed b")
_EVERY_STEP_FRESH = "a fresh batch of b at every step"
_OF_BATCHES = {WITHOUT: _EVERY_STEP_FRESH, FULL: "every record at every step"}
_LAST_CONVEX = (needs_release(LAST), *c.CONVEX_SETTING)
_LAST_SMOOTH = (needs_release(LAST), c.SMOOTH, c.LEARNING_RATE, c.NOT_CONVEX)
_OF_PASSES = needs_release(EPOCHS, LAST)
_SHUFFLED_AFRESH = (needs_batches(SHUFFLED), c.FRESH_ORDER)


def _every_step_shuffled(adjacency: str, neighbours: Condition, lower: tuple[str, ...]) -> tuple[Interpretation, ...]:
    """Shuffled batches, every step released: what is proven of orders that are drawn afresh and leave out records, or
    use all of them, and of any order; with bounds from below."""
    def parameters(run: TrainingRun) -> dict[str, Any]:
        order = {"reshuffle": "once"} if run.one_order else {}
        left_out = {"drop_last": True} if run.drop_last else {}
        return {**_on_batches(run, "shuffle", adjacency=adjacency), **left_out, **order}

    afresh = "a secret uniform order of all records, fresh in every pass"
    last = "; a last, smaller batch with the same noise on its sum"
    kinds = (
        ("shuffle-profile", (), (c.FRESH_ORDER, c.LEAVES_OUT), f"{afresh}, of which the end is left out"),
        ("shuffle-profile-used", (), (c.FRESH_ORDER, c.ALL_USED), f"{afresh}, every record used{last}"),
        ("shuffle-profile-one-order", (), (c.ONE_ORDER, c.LEAVES_OUT),
         "one secret uniform order of all records for all passes, of which the end is left out"),
        ("shuffle-no-amplification", lower, (), "every record at most once a pass"),
    )
    return tuple(Interpretation((bound, *more), (needs_batches(SHUFFLED), neighbours, *conditions), "subsample",
                                parameters, _composed(assumed), adjacency, (bound,), by_multiplier=True)
                 for bound, more, conditions, assumed in kinds)


INTERPRETATIONS: tuple[Interpretation, ...] = (
    Interpretation(("poisson-profile", "poisson-rdp"), (needs_batches(POISSON), _NOT_ZEROED_OUT), "subsample",
                   lambda r: _on_batches(r, POISSON, adjacency=ADD_REMOVE), _EVERY_STEP_POISSON, ADD_REMOVE,
                   ("poisson-group-profile",), by_multiplier=True),
    Interpretation(("poisson-profile", "poisson-rdp"), (needs_batches(POISSON), _ZEROED_OUT), "subsample",
                   lambda r: _on_batches(r, POISSON, adjacency=ZERO_OUT), _EVERY_STEP_POISSON, ZERO_OUT,
                   ("poisson-group-profile",), by_multiplier=True),
    Interpretation(("poisson-replace-one-profile", "poisson-replace-one-rdp"), (needs_batches(POISSON),), "subsample",
                   lambda r: _on_batches(r, POISSON, adjacency=REPLACE_ONE), _EVERY_STEP_POISSON,
                   of_groups=("poisson-replace-one-profile",), by_multiplier=True),
    Interpretation(("wor-profile", "wor-rdp"), (needs_batches(WITHOUT),), "subsample",
                   lambda r: _on_batches(r, WITHOUT, adjacency=REPLACE_ONE), _composed(_EVERY_STEP_FRESH),
                   by_multiplier=True),
    Interpretation(("wor-zero-out-profile", "wor-zero-out-lower"), (needs_batches(WITHOUT), _ZEROED_OUT), "subsample",
                   lambda r: _on_batches(r, WITHOUT, adjacency=ZERO_OUT), _composed(_EVERY_STEP_FRESH), ZERO_OUT,
                   by_multiplier=True),
    Interpretation(("burn-in-profile", "burn-in-rdp"), (needs_batches(WITHOUT), *_LAST_CONVEX), "burn-in", _burn_in,
                   _last(_EVERY_STEP_FRESH)),
    Interpretation(("burn-in-contraction",), (needs_batches(WITHOUT, FULL), *_LAST_CONVEX, c.DIAMETER), "burn-in",
                   _burn_in, lambda r: _last(_OF_BATCHES[r.batches])(r) + "; any number of steps"),
    Interpretation(("burn-in-profile-nonconvex", "burn-in-rdp-nonconvex"), (needs_batches(WITHOUT), *_LAST_SMOOTH),
                   "burn-in", _burn_in, _last_smooth(_EVERY_STEP_FRESH)),
    Interpretation(("gaussian-exact",), (needs_batches(FULL),), "rdp",
                   lambda r: _gaussian(r, r.steps, REPLACE_ONE), _composed("every record at every step"),
                   of_groups=("gaussian-exact",), by_multiplier=True),
    Interpretation(("gaussian-exact",), (needs_batches(FULL), _NOT_ZEROED_OUT), "rdp",
                   lambda r: _gaussian(r, r.steps, ADD_REMOVE),
                   _composed("every record at every step, the sum divided by a fixed n"), ADD_REMOVE,
                   ("gaussian-exact",), by_multiplier=True),
    Interpretation(_ALLOCATION, (needs_batches(ALLOCATION), c.WHOLE_PASSES, _NOT_ZEROED_OUT), "subsample",
                   lambda r: _passes(r, adjacency=ADD_REMOVE), _EVERY_STEP_ALLOCATED, ADD_REMOVE, by_multiplier=True),
    Interpretation(_ALLOCATION, (needs_batches(ALLOCATION), c.WHOLE_PASSES, _ZEROED_OUT), "subsample",
                   lambda r: _passes(r, adjacency=ZERO_OUT), _EVERY_STEP_ALLOCATED, ZERO_OUT, by_multiplier=True),
    Interpretation(_ALLOCATION_REPLACED, (needs_batches(ALLOCATION), c.WHOLE_PASSES), "subsample",
                   lambda r: _passes(r, adjacency=REPLACE_ONE), _EVERY_STEP_ALLOCATED, by_multiplier=True),
    *_every_step_shuffled(REPLACE_ONE, _NOT_ZEROED_OUT, ("shuffle-lower-allocation",)),
    *_every_step_shuffled(ZERO_OUT, _ZEROED_OUT, ("shuffle-lower", "shuffle-lower-allocation")),
    Interpretation(("gaussian-exact",), (needs_batches(FIXED, STREAM),), "rdp",
                   lambda r: _gaussian(r, r.uses, REPLACE_ONE), _composed("every record at most once a pass"),
                   of_groups=("gaussian-exact",), by_multiplier=True),
    Interpretation(("gaussian-exact",), (needs_batches(FULL, FIXED, STREAM), _ZEROED_OUT), "rdp",
                   lambda r: _gaussian(r, r.steps if r.batches == FULL else r.uses, ZERO_OUT),
                   _composed("every record at most once a pass"), ZERO_OUT, ("gaussian-exact",), by_multiplier=True),
    Interpretation(("iteration",), (needs_batches(FULL), *_LAST_CONVEX), "burn-in", _burn_in,
                   _last("every record at every step")),
    Interpretation(("iteration",), (needs_batches(FIXED, STREAM), *_LAST_CONVEX), "burn-in",
                   _fixed, _last("the same order in every pass")),
    Interpretation(("iteration-nonconvex",), (needs_batches(FULL), *_LAST_SMOOTH), "burn-in", _burn_in,
                   _last_smooth("every record at every step")),
    Interpretation(("iteration-nonconvex",), (needs_batches(FIXED, STREAM), *_LAST_SMOOTH), "burn-in",
                   _fixed, _last_smooth("the same order in every pass")),
    Interpretation(("shuffled-hiding-last",), (*_SHUFFLED_AFRESH, *_LAST_CONVEX, c.SEVERAL_PASSES), "shuffle-pnsgd",
                   _last_iterate, lambda r: _shuffled_set(r, f"{_start(r)}; only the last iterate is released")),
    Interpretation(("shuffled-hiding", "shuffled-contraction", "shuffled-iteration"),
                   (*_SHUFFLED_AFRESH, _OF_PASSES, *c.CONVEX_SETTING, c.DIAMETER), "shuffle-pnsgd", _shuffled,
                   _shuffled_set),
    Interpretation(("shuffled-hiding", "shuffled-iteration"),
                   (*_SHUFFLED_AFRESH, _OF_PASSES, *c.CONVEX_SETTING, c.NO_SET), "shuffle-pnsgd", _shuffled,
                   _shuffled_set),
    Interpretation(("smooth-nonconvex-shuffled-hiding", "smooth-nonconvex-shuffled-exact"),
                   (*_SHUFFLED_AFRESH, _OF_PASSES, c.SMOOTH, c.LEARNING_RATE, c.ALONE), "shuffle-pnsgd", _one_record,
                   lambda r: f"β-smooth losses, {_bounded(r)}; a secret uniform order, fresh in every pass; "
                             f"{_of_pass(r)}"),
    Interpretation(("fixed-order-hybrid", "fixed-order", "fixed-order-iteration"),
                   (needs_batches(FIXED, STREAM), _OF_PASSES, *c.CONVEX_SETTING, c.WHOLE_PASSES, c.PLACE_KNOWN,
                    c.DIAMETER), "shuffle-pnsgd",
                   lambda r: {**_shuffled(r), "index": r.position},
                   lambda r: f"{_loss(r)}; {_set(r)}; the record's place is known; {_of_pass(r)}"),
    Interpretation(("smooth-nonconvex-exact",),
                   (needs_batches(FIXED, STREAM), _OF_PASSES, c.SMOOTH, c.LEARNING_RATE, c.WHOLE_PASSES, c.PLACE_KNOWN),
                   "shuffle-pnsgd",
                   lambda r: {**_one_record(r), "index": r.position},
                   lambda r: f"β-smooth losses, {_bounded(r)}; the record's place is known; {_of_pass(r)}"),
)


def relations_for(run: TrainingRun) -> tuple[str, ...]:
    """The neighbours for which a theorem covers such a run."""
    return tuple(relation for relation in RELATIONS
                 if any(i.adjacency == relation and i.unmet(run._replace(adjacency=relation)) is None
                        for i in INTERPRETATIONS))

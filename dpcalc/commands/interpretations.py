"""How a training run can be read by the calculators: for each family of theorems the runs it covers, and the same run
as parameters of its command. σ is the same number in all of them; what the units of a command differ by is in its
sensitivity. """

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import nextafter
from typing import Any, NamedTuple

from dpcalc.commands.training_run import (
    ADD_REMOVE,
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
    Run,
)
from dpcalc.core.numbers import human, human_claimed, plain

_SAID = 1 + Fraction(1, 2**51)  # --learning-rate 2/β, rounded to a double, is still 2/β


class Condition(NamedTuple):
    """What a theorem needs of a run, and what to say where it is not so."""

    holds: Callable[[Run], bool]
    otherwise: Callable[[Run], str]


class Reading(NamedTuple):
    """A run as parameters of a command. `bounds` are the theorems asked there."""

    bounds: tuple[str, ...]
    adjacency: str
    conditions: tuple[Condition, ...]
    command: str
    parameters: Callable[[Run], dict[str, Any]]
    assumes: Callable[[Run], str]

    def fails(self, run: Run) -> str | None:
        """Why it does not apply, or None."""
        return next((c.otherwise(run) for c in self.conditions if not c.holds(run)), None)


# --- what theorems need ----------------------------------------------------------------------------------------------


def _batches(*kinds: str) -> Condition:
    names = " or ".join(kinds)
    return Condition(lambda r: r.batches in kinds, lambda r: f"for --batches {names}")


def _releases(*kinds: str) -> Condition:
    what = "the last iterate" if kinds == (LAST,) else "one iterate of every pass"
    return Condition(lambda r: r.release in kinds,
                     lambda r: f"is about {what} alone, and this run releases {r.release}")


def _not_expanding(run: Run) -> bool:
    assert run.learning_rate is not None and run.smoothness is not None
    return Fraction(run.learning_rate) * Fraction(run.smoothness) <= 2 * _SAID


_LIPSCHITZ = Condition(lambda r: not r.clipped,
                       lambda r: "needs gradients that need no clipping (--lipschitz): a clipped gradient of a "
                       "convex loss is in general not the gradient of one")
_CONVEX = Condition(lambda r: r.strong_convexity is not None, lambda r: "needs convex losses (--loss convex)")
_SMOOTH = Condition(lambda r: r.smoothness is not None, lambda r: "needs smooth losses (--smoothness)")
_STEP = Condition(lambda r: r.learning_rate is not None, lambda r: "needs --learning-rate")
_DIAMETER = Condition(lambda r: r.diameter is not None, lambda r: "needs a constraint set (--diameter)")
_NO_SET = Condition(lambda r: r.diameter is None, lambda r: "asked with the others about the set of diameter D")
_STABLE = Condition(_not_expanding,
                    lambda r: f"needs η <= 2/β = {human(2 / (r.smoothness or 1.0), upward=False)}; here η = "
                    f"{plain(r.learning_rate or 0.0)}")
_WHOLE = Condition(lambda r: r.steps % r.in_pass == 0,
                   lambda r: f"needs whole passes: T = {r.steps} is no multiple of n/b = {r.in_pass}")
_SEVERAL = Condition(lambda r: r.steps != r.in_pass, lambda r: "of one pass it is shuffled-hiding, which applies")
_PLACE = Condition(lambda r: r.record is not None,
                   lambda r: "needs --index: without it the record is one of the last batch, which no later noise hides")
_SETTING = (_LIPSCHITZ, _CONVEX, _SMOOTH, _STEP, _STABLE)
_NOT_CONVEX = Condition(lambda r: _falls_short(r),
                        lambda r: "never better than the bound of convex losses, which applies")
_ALONE = Condition(lambda r: r.steps == r.in_pass or not all(c.holds(r) for c in _SETTING),
                   lambda r: "never better than shuffled-iteration, which applies")


def _falls_short(run: Run) -> bool:
    """Whether it is not one of the runs that the theorems about convex losses cover."""
    return not all(c.holds(run) for c in _SETTING)


# --- a run in the words of a command ---------------------------------------------------------------------------------


def _gaussian(run: Run, count: int, sensitivity: float) -> dict[str, Any]:
    return {"sensitivity": sensitivity, "steps": count}


def _sampled(run: Run, scheme: str, sensitivity: float) -> dict[str, Any]:
    return {"scheme": scheme, "n": run.n, "batch_size": run.batch_size, "steps": run.steps, "sensitivity": sensitivity}


def _convexity(run: Run) -> dict[str, Any]:
    """ρ, for the step condition η <= 2/(β+ρ) as small as that needs: a loss is strongly convex with every smaller
    constant too."""
    eta, beta, rho = Fraction(run.learning_rate or 0), Fraction(run.smoothness or 0), Fraction(run.strong_convexity
                                                                                               or 0)
    most = max(Fraction(0), 2 / eta - beta)
    if rho <= most:
        return {"strong_convexity": float(rho)}
    near = float(most)
    return {"strong_convexity": near if Fraction(near) <= most else nextafter(near, 0.0)}


def _burn_in(run: Run, n: int, **extra: Any) -> dict[str, Any]:
    losses = {"loss": ANY} if _falls_short(run) else {"strong_convexity": run.strong_convexity}
    held = {} if run.diameter is None else {"diameter": run.diameter}
    return {"n": n, "batch_size": run.batch_size, "steps": run.steps, "lipschitz": run.lipschitz,
            "smoothness": run.smoothness, **losses,
            "learning_rate": run.learning_rate, **held, **extra}


def _apart(run: Run) -> float:
    """Without a constraint set, how far apart two neighbouring runs can be."""
    from dpcalc.bounds.noisy_sgd._engine import apart

    assert run.learning_rate is not None and run.smoothness is not None
    curvature = -run.smoothness if _falls_short(run) else run.strong_convexity or 0.0
    uses = run.uses if run.batches in ORDERED else run.steps
    return apart.reached(run.batch_size, run.lipschitz, run.smoothness, curvature, run.learning_rate, run.steps, uses)


def _fixed(run: Run) -> dict[str, Any]:
    place = {} if run.position is None else {"index": run.position}
    return _burn_in(run, run.in_pass * run.batch_size, order="fixed", **place)


def _one_record(run: Run) -> dict[str, Any]:
    """A batch as one record: of the batch that holds the record, the mean gradient moves by at most 2L/b. A pass that
    stops in the middle loses no more than a whole one."""
    return {"lipschitz": run.removal, "smoothness": run.smoothness, "learning_rate": run.learning_rate,
            "n": run.in_pass,
            "epochs": -(-run.steps // run.in_pass)}


def _shuffled(run: Run) -> dict[str, Any]:
    return {**_one_record(run), **_convexity(run), **({} if run.diameter is None else {"diameter": run.diameter})}


def _last_iterate(run: Run) -> dict[str, Any]:
    """Only the last iterate of several passes, the last one perhaps cut short."""
    said = {k: v for k, v in _shuffled(run).items() if k != "epochs" or run.steps % run.in_pass == 0}
    cut = {} if "epochs" in said else {"steps": run.steps}
    return {**said, **cut, "release": LAST}


# --- what a reading assumes, in a few words --------------------------------------------------------------------------


def _bounded(run: Run) -> str:
    return "gradients clipped to C" if run.clipped else "gradients of at most L"


def _set(run: Run) -> str:
    if run.diameter is not None:
        return "a convex set of diameter D"
    return f"no constraint set (two runs stay within {human_claimed(_apart(run), 1e-12)})"


def _start(run: Run) -> str:
    """In short, what `bounds/start.py` states."""
    return f"w₀ {'does' if run.diameter is None else 'and the set do'} not depend on the data"


def _loss(run: Run) -> str:
    strength = "ρ-strongly convex" if run.strong_convexity else "convex"
    return f"{strength}, β-smooth, L-Lipschitz losses"


def _composed(how: str) -> Callable[[Run], str]:
    return lambda run: f"{_bounded(run)}; {how}; all iterates may be released"


def _last(how: str) -> Callable[[Run], str]:
    return lambda run: f"{_loss(run)}; {_set(run)}; {_start(run)}; {how}; only the last iterate is released"


def _of_pass(run: Run) -> str:
    released = "only the last iterate is released" if run.steps == run.in_pass else "at most the last iterate of every pass is released"
    return f"{_start(run)}; {released}"


def _inside(run: Run) -> str:
    return f"; {_set(run)}" if run.diameter is not None else ""


def _last_smooth(how: str) -> Callable[[Run], str]:
    return lambda run: f"β-smooth losses, {_bounded(run)}; {_set(run)}; {_start(run)}; {how}; only the last iterate is released"


def _shuffled_set(run: Run) -> str:
    return f"{_loss(run)}{_inside(run)}; a secret uniform order, fresh in every pass; {_of_pass(run)}"


def _smooth(run: Run) -> str:
    return f"β-smooth losses, {_bounded(run)}; a secret uniform order, fresh in every pass; {_of_pass(run)}"


READINGS: tuple[Reading, ...] = (
    Reading(("poisson-profile", "poisson-rdp"), ADD_REMOVE, (_batches(POISSON),), "subsample",
            lambda r: _sampled(r, POISSON, r.removal),
            _composed("a Poisson batch, divided by the fixed b, at every step")),
    Reading(("wor-profile",), REPLACE_ONE, (_batches(POISSON),), "subsample",
            lambda r: {**_sampled(r, POISSON, r.push), "adjacency": REPLACE_ONE},
            _composed("a Poisson batch, divided by the fixed b, at every step")),
    Reading(("wor-profile", "wor-rdp"), REPLACE_ONE, (_batches(WITHOUT),), "subsample",
            lambda r: _sampled(r, WITHOUT, r.push), _composed("a fresh batch of b at every step")),
    Reading(("burn-in-profile", "burn-in-rdp"), REPLACE_ONE, (_batches(WITHOUT), _releases(LAST), *_SETTING), "burn-in",
            lambda r: _burn_in(r, r.n), _last("a fresh batch of b at every step")),
    Reading(("burn-in-profile-nonconvex", "burn-in-rdp-nonconvex"), REPLACE_ONE,
            (_batches(WITHOUT), _releases(LAST), _SMOOTH, _STEP, _NOT_CONVEX), "burn-in",
            lambda r: _burn_in(r, r.n), _last_smooth("a fresh batch of b at every step")),
    Reading(("gaussian-exact",), REPLACE_ONE, (_batches(FULL),), "rdp",
            lambda r: _gaussian(r, r.steps, r.push), _composed("every record at every step")),
    Reading(("gaussian-exact",), ADD_REMOVE, (_batches(FULL),), "rdp",
            lambda r: _gaussian(r, r.steps, r.removal),
            _composed("every record at every step, the sum divided by a fixed n")),
    Reading(("gaussian-exact",), REPLACE_ONE, (_batches(*ORDERED),), "rdp",
            lambda r: _gaussian(r, r.uses, r.push), _composed("every record at most once a pass")),
    Reading(("iteration",), REPLACE_ONE, (_batches(FULL), _releases(LAST), *_SETTING), "burn-in",
            lambda r: _burn_in(r, r.n), _last("every record at every step")),
    Reading(("iteration",), REPLACE_ONE, (_batches(FIXED, STREAM), _releases(LAST), *_SETTING), "burn-in",
            _fixed, _last("the same order in every pass")),
    Reading(("iteration-nonconvex",), REPLACE_ONE, (_batches(FULL), _releases(LAST), _SMOOTH, _STEP, _NOT_CONVEX),
            "burn-in",
            lambda r: _burn_in(r, r.n), _last_smooth("every record at every step")),
    Reading(("iteration-nonconvex",), REPLACE_ONE,
            (_batches(FIXED, STREAM), _releases(LAST), _SMOOTH, _STEP, _NOT_CONVEX), "burn-in",
            _fixed, _last_smooth("the same order in every pass")),
    Reading(("shuffled-hiding-last",), REPLACE_ONE, (_batches(SHUFFLED), _releases(LAST), *_SETTING, _SEVERAL),
            "shuffle-pnsgd",
            _last_iterate,
            lambda r: f"{_loss(r)}{_inside(r)}; a secret uniform order, fresh in every pass; {_start(r)}; only the "
                      f"last "
            "iterate is released"),
    Reading(("shuffled-hiding", "shuffled-contraction", "shuffled-iteration"), REPLACE_ONE,
            (_batches(SHUFFLED), _releases(EPOCHS, LAST), *_SETTING, _DIAMETER), "shuffle-pnsgd", _shuffled,
            _shuffled_set),
    Reading(("shuffled-hiding", "shuffled-iteration"), REPLACE_ONE,
            (_batches(SHUFFLED), _releases(EPOCHS, LAST), *_SETTING, _NO_SET), "shuffle-pnsgd", _shuffled,
            _shuffled_set),
    Reading(("smooth-nonconvex-shuffled-hiding", "smooth-nonconvex-shuffled-exact"), REPLACE_ONE,
            (_batches(SHUFFLED), _releases(EPOCHS, LAST), _SMOOTH, _STEP, _ALONE), "shuffle-pnsgd", _one_record,
            _smooth),
    Reading(("fixed-order-hybrid", "fixed-order", "fixed-order-iteration"), REPLACE_ONE,
            (_batches(FIXED, STREAM), _releases(EPOCHS, LAST), *_SETTING, _WHOLE, _PLACE, _DIAMETER), "shuffle-pnsgd",
            lambda r: {**_shuffled(r), "index": r.position},
            lambda r: f"{_loss(r)}; {_set(r)}; the record's place is known; {_of_pass(r)}"),
    Reading(("smooth-nonconvex-exact",), REPLACE_ONE,
            (_batches(FIXED, STREAM), _releases(EPOCHS, LAST), _SMOOTH, _STEP, _WHOLE, _PLACE), "shuffle-pnsgd",
            lambda r: {**_one_record(r), "index": r.position},
            lambda r: f"β-smooth losses, {_bounded(r)}; the record's place is known; {_of_pass(r)}"),
)

"""The conditions of theorems on a training run, each with the reason that is given where it does not hold."""

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from dpcalc.bounds.sampling.shuffle_profile import leaves_out
from dpcalc.commands.training_run import TrainingRun
from dpcalc.core.numbers import human, plain
from dpcalc.core.text import listed

_ROUNDED = 1 + Fraction(1, 2**51)  # relative: an η that is 2/β rounded to a double still counts as 2/β


class Condition(NamedTuple):
    """A condition of a theorem on a run, and the reason that is given where it does not hold."""

    holds: Callable[[TrainingRun], bool]
    otherwise: Callable[[TrainingRun], str]


def needs_batches(*kinds: str) -> Condition:
    return Condition(lambda r: r.batches in kinds, lambda r: f"needs --batches {listed(kinds, 'or')}")


def needs_release(*kinds: str) -> Condition:
    return Condition(lambda r: r.release in kinds, lambda r: f"needs --release {listed(kinds, 'or')}")


def needs_adjacency(*relations: str) -> Condition:
    return Condition(lambda r: r.adjacency in relations, lambda r: f"needs --adjacency {listed(relations, 'or')}")


def _not_expanding(run: TrainingRun) -> bool:
    assert run.learning_rate is not None and run.smoothness is not None
    return Fraction(run.learning_rate) * Fraction(run.smoothness) <= 2 * _ROUNDED


LIPSCHITZ = Condition(lambda r: not r.clipped,
                      lambda r: "needs --lipschitz, as a clipped gradient of a convex loss is in general not the "
                                "gradient of one")
CONVEX = Condition(lambda r: r.strong_convexity is not None, lambda r: "needs --loss convex")
SMOOTH = Condition(lambda r: r.smoothness is not None, lambda r: "needs --smoothness")
LEARNING_RATE = Condition(lambda r: r.learning_rate is not None, lambda r: "needs --learning-rate")
DIAMETER = Condition(lambda r: r.diameter is not None, lambda r: "needs --diameter")
NO_SET = Condition(lambda r: r.diameter is None, lambda r: "needs a run without --diameter")
STABLE = Condition(_not_expanding,
                   lambda r: f"needs --learning-rate at most 2/β = {human(2 / (r.smoothness or 1.0), upward=False)}, "
                             f"which is {plain(r.learning_rate or 0.0)} here")
WHOLE_PASSES = Condition(lambda r: r.steps % r.in_pass == 0,
                         lambda r: f"needs whole passes, and {r.steps} steps are no multiple of {r.in_pass} batches")
SEVERAL_PASSES = Condition(lambda r: r.steps != r.in_pass, lambda r: "equal to shuffled-hiding for a single pass")
PLACE_KNOWN = Condition(lambda r: r.record is not None,
                        lambda r: "needs --index, as otherwise the record may be in the last batch, which no later "
                                  "noise hides")
FRESH_ORDER = Condition(lambda r: not r.one_order, lambda r: "needs --reshuffle every-epoch")
ONE_ORDER = Condition(lambda r: r.one_order, lambda r: "is about the same order in all passes (--reshuffle once)")
LEAVES_OUT = Condition(lambda r: r.steps < r.in_pass or leaves_out(r.n, r.batch_size, r.drop_last),
                       lambda r: "needs --drop-last" if r.n % r.batch_size else
                       f"needs a batch size that does not divide n = {r.n}")
ALL_USED = Condition(lambda r: r.steps >= r.in_pass and not leaves_out(r.n, r.batch_size, r.drop_last),
                     lambda r: "is about passes that use all records")
CONVEX_SETTING = (LIPSCHITZ, CONVEX, SMOOTH, LEARNING_RATE, STABLE)


def outside_convex_setting(run: TrainingRun) -> bool:
    """Whether the run violates a condition of the theorems about convex losses."""
    return not all(c.holds(run) for c in CONVEX_SETTING)


NOT_CONVEX = Condition(outside_convex_setting, lambda r: "never better than the bound for convex losses, which applies")
ALONE = Condition(lambda r: r.steps == r.in_pass or outside_convex_setting(r),
                  lambda r: "never better than shuffled-iteration, which applies")

"""What dpcalc rdp says of noisy values beside their privacy: what one person may contribute to them, and how large the
noise is."""

from collections.abc import Mapping
from typing import Any

from dpcalc.accounting import contributions
from dpcalc.accounting.mechanisms import Mechanism
from dpcalc.accounting.mechanisms.record import NUMBER
from dpcalc.accounting.solve import Search, solve
from dpcalc.bounds.mechanisms import noise_accuracy
from dpcalc.commands import thresholded_values
from dpcalc.commands.asking import read_unknown
from dpcalc.core import noise_multiplier
from dpcalc.core.budgets import noun
from dpcalc.core.checks import Check, Rule
from dpcalc.core.command import Command, Given
from dpcalc.core.counts import NOISE_LINE
from dpcalc.core.errors import DpcalcError, flag
from dpcalc.core.numbers import human, plain
from dpcalc.core.results import Question, Route
from dpcalc.core.run import Run

SIZE = Route(noise_accuracy.BOUND)
WITHIN, WITHIN_ALL, DEVIATION = "noise_within", "noise_within_all", "standard_deviation"
_LEVELS = ("sigma", "noise_multiplier", "scale")  # what --error finds
_BUDGETS = ("alpha", "rdp", "rho", "mu", "orders")  # options of questions that do not go with --error

# --- what one person contributes -------------------------------------------------------------------------------------


def contribution_options(mechanism: Mechanism, by_multiplier: bool) -> tuple[str, ...]:
    """The options on contributions that a mechanism takes in place of a sensitivity."""
    takes = mechanism.query is NUMBER and "sensitivity" in mechanism.optional and not by_multiplier
    return contributions.NAMES if takes else ()


def contribution_ways_out(mechanism: Mechanism, by_multiplier: bool, is_used: bool) -> Mapping[str, str]:
    """What to write instead of a sensitivity beside contributions, or of contributions that a mechanism has not."""
    if is_used:
        return {}
    if by_multiplier:
        way = "clipping bounds the contribution there; with --sigma they give the sensitivity"
    else:
        way = ("they give the sensitivity of values with noise: --mechanism gaussian, laplace, discrete-gaussian or "
               "discrete-laplace")
    threshold = ("a threshold on noisy values is for --mechanism gaussian, laplace, discrete-gaussian or "
                 "discrete-laplace; for queries above a threshold use --mechanism above-threshold")
    return {**dict.fromkeys(contributions.NAMES, way), "threshold": threshold}


def refuse_sensitivity(given: Given) -> None:
    """Raises DpcalcError for a sensitivity beside contributions."""
    if given.has("sensitivity"):
        raise DpcalcError("contradictory", "--max-keys, --per-key and --signed give the sensitivity; drop it, or drop "
                          "them", "--sensitivity")


def contribution_checks(mechanism: Mechanism) -> tuple[Check | Rule, ...]:
    """What may not stand beside contributions."""
    return (
        Rule(lambda run: run.sets("signed") and mechanism.contributors and contributions.people_who_differ(run) > 1,
             "no theorem covers signed values above a threshold where a person is replaced; use --adjacency "
             "add-remove, or shift the values to start from 0", "refused", "--signed"),
        Rule(lambda run: run.sets("signed") and not run.sets("per_key", "max_keys"),
             "needed beside --signed: how much one person adds to a value", "missing", "--per-key"),
        Check(("per_key",), lambda part: mechanism.whole_sensitivity and part != int(part),
              f"{{per_key:g}} is not a whole number, and {mechanism.words} is for whole numbers: scale the values to "
              "integers, and the noise with them"),
    )


# --- how large the noise is ------------------------------------------------------------------------------------------


def question_of(command: Command, given: Given) -> Question | None:
    """The question of a call about the size of the noise alone, or about the noise that stays within an error; None
    where it is about privacy. Raises DpcalcError where options do not go together."""
    if given.has("error"):
        return _question_of_error(command, given)
    of_privacy = ("epsilon", "delta", "solve", *_BUDGETS)
    if given.has("accuracy") and not any(given.has(name) for name in of_privacy):
        return Question(WITHIN)
    return None


def _question_of_error(command: Command, given: Given) -> Question:
    unknown = read_unknown(command, given)
    if not given.has("accuracy"):
        raise DpcalcError("missing", "needed beside --error: the probability that the noise stays within it, as in "
                          "--accuracy 0.95", "--accuracy")
    if unknown is None or unknown.name not in _LEVELS:
        raise DpcalcError("missing", "--error needs --solve sigma, noise-multiplier or scale: it finds the most noise "
                          "that stays within it; to print the error of a given noise, give --accuracy alone", "--solve")
    if beside := [name for name in _BUDGETS if given.has(name)]:
        raise DpcalcError("contradictory", f"not used with --error, which fixes the {noun(unknown)}; drop one of them",
                          flag(beside[0]))
    if given.has("epsilon") and given.has("delta"):
        raise DpcalcError("contradictory", f"--error fixes the {noun(unknown)}, so that a budget on ε at δ cannot be "
                          "met as well; drop one of --epsilon (prints ε at this δ), --delta (prints δ at this ε) and "
                          "--error", "--error")
    return Question(WITHIN, unknown=unknown._replace(safe_direction=-1), target=given["error"])


def size_params(mechanism: Mechanism, run: Mapping[str, Any], answers: int = 1) -> dict[str, Any]:
    """The parameters of the theorem on the size of the noise. Raises DpcalcError for a mechanism without additive
    noise."""
    if not mechanism.noise:
        raise DpcalcError("unsupported", f"{mechanism.name} adds no noise to a number, whose size could be given; it "
                          f"is for {', '.join(noise_accuracy.NOISES)} noise", "--accuracy")
    given = run.get(noise_multiplier.NAME)
    return {"noise": mechanism.noise, "noise_level": float(run[mechanism.options[0]] if given is None else given),
            "accuracy": run["accuracy"], "answers": answers}


def question_at_solution(run: Run, mechanism: Mechanism) -> Run:
    """The run with the most noise that stays within --error, asked for its δ at --epsilon or its ε at --delta."""
    row = solve(Search(SIZE, run))
    beside = Question("epsilon", delta=run["delta"]) if run.given.has("delta") else Question(
        "delta", epsilon=run["epsilon"])
    return run.at(row.result[str(run.unknown)]).asking(beside)


def numbers(mechanism: Mechanism, run: Run) -> dict[str, float]:
    """The standard deviation of the noise, and with --accuracy the half-widths, for the answer."""
    if not mechanism.noise:
        if run["accuracy"] is not None:
            size_params(mechanism, run)
        return {}
    level = float(run.get(noise_multiplier.NAME) or run[mechanism.options[0]])
    found = {DEVIATION: noise_accuracy.NOISES[mechanism.noise].deviation(level)}
    if run["accuracy"] is not None:
        for name, answers in ((WITHIN, 1), (WITHIN_ALL, number_of_answers(run))):
            found |= {name: noise_accuracy.half_width(**size_params(mechanism, run, answers))}
    return found


def number_of_answers(run: Run) -> int:
    """The number of values of all releases."""
    return int(run["steps"]) * int(run["answers"] or 1)


def notes(mechanism: Mechanism, run: Run, found: Mapping[str, float]) -> tuple[str, ...]:
    """The sentences about the size of the noise, and of what moves between neighbours."""
    lines = list(contributions.line(run, mechanism.noise.endswith("gaussian"))) if mechanism.noise else []
    unit = " clipping norms" if run.get(noise_multiplier.NAME) is not None else ""
    if WITHIN in found:
        number = number_of_answers(run)
        several = f", and that of all {number} within ±{human(found[WITHIN_ALL])}{unit}" if number > 1 else ""
        deviation = "" if mechanism.noise == "gaussian" else (
            f"; its standard deviation is {found[DEVIATION]:.6g}{unit}")
        one = "one value, published or not," if thresholded_values.has_threshold(mechanism) else "one answer"
        lines.append(f"{NOISE_LINE} {plain(run['accuracy'])} the noise of {one} is within "
                     f"±{human(found[WITHIN])}{unit}{several}{deviation}")
    elif DEVIATION in found and mechanism.noise != "gaussian":
        lines.append(f"the standard deviation of the noise is {found[DEVIATION]:.6g}")
    return tuple(lines)

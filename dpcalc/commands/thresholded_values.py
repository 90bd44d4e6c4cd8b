"""Values that are published above a threshold, in dpcalc rdp: what options imply, where noise is searched for, and why
no threshold or no noise meets a budget."""

from collections.abc import Mapping
from contextlib import suppress
from math import log

from dpcalc.accounting.evaluate import evaluate
from dpcalc.accounting.mechanisms import Mechanism
from dpcalc.bounds.mechanisms import thresholded
from dpcalc.core.budgets import budget, noun
from dpcalc.core.counts import NOT_ABOUT_PRIVACY
from dpcalc.core.errors import DpcalcError, NoSolution
from dpcalc.core.numbers import human, plain
from dpcalc.core.results import Question, Route
from dpcalc.core.run import Run

_NEARLY = 0.99  # of the budget on ε; a solution that uses less of it is worth a note
_SHARES_OF_KEYS = (0.99, 0.9, 0.6, 0.3, 0.1)  # of δ, that keys of one person may take in a search; any are valid


def has_threshold(mechanism: Mechanism) -> bool:
    """Whether noisy values are published above a threshold only."""
    return mechanism.contributors is not None


def with_usual_contributions(run: Run, mechanism: Mechanism) -> Run:
    """The run in which contributions have values, where the mechanism needs them: one key, and at most 1."""
    if not has_threshold(mechanism):
        return run
    return run.completed(**{name: x for name, x in (("max_keys", 1), ("per_key", 1.0)) if not run.sets(name)})


def warnings(run: Run) -> tuple[str, ...]:
    """A warning where a key of one person is more likely published than not."""
    if run["threshold"] is None or run["threshold"] > run["per_key"]:
        return ()
    return (f"--threshold: {plain(float(run['threshold']))} is at most --per-key: a key with one person is published "
            "with probability 1/2 or more, so that δ is at least 1/2",)


def notes(run: Run, mechanism: Mechanism, found: Mapping[str, float]) -> tuple[str, ...]:
    """What a threshold reaches that was solved for a budget, where δ alone decides about it."""
    question, epsilon = run.question, found.get("epsilon")
    if run.unknown != "threshold" or epsilon is None or epsilon > _NEARLY * (question.target or 0.0):
        return ()
    return (f"this threshold has ε = {human(epsilon)}: it follows from δ, and less noise would meet the budget, too",)


def with_range_of_noise(run: Run, mechanism: Mechanism) -> Run:
    """The run in which a noise level is searched for up to one that meets the budget, where some of δ is left for keys
    of one person: with more noise they are published more often. So the loss falls up to some level, and rises then."""
    unknown, delta = run.question.unknown, run.question.delta or run.question.target
    if not has_threshold(mechanism) or unknown is None or unknown.name != mechanism.options[0] or not delta:
        return run
    if run.question.asks in NOT_ABOUT_PRIVACY:
        return run
    own, threshold = run.at(1.0).params, float(run["threshold"])
    steps = int(run["steps"] or 1) * max(1, int(run["tries"] or 1))
    if threshold <= own["per_key"]:
        return run
    at_budget = Question("delta", epsilon=run["epsilon"], upper_only=True)
    for share in _SHARES_OF_KEYS:
        most = thresholded.level_with_few_published(log(share * min(delta, 1.0)), own["noise"], own["per_key"],
                                                    own["max_keys"] * steps, threshold)
        with suppress(DpcalcError):
            if evaluate(mechanism.often[0], run.at(most).params, at_budget).result["delta"] <= delta:
                break
    narrower = unknown._replace(search=(min(unknown.search[0], most), most), non_monotone=True)
    return run.asking(run.question._replace(unknown=narrower))


def no_threshold(run: Run, mechanism: Mechanism) -> NoSolution:
    """The error that no threshold meets the budget, with what the noise alone loses and the way out."""
    assert run.question.unknown is not None
    without = run.at(run.question.unknown.search[1]).params
    alone = evaluate(Route(thresholded.PROFILE), without, Question("delta", epsilon=run["epsilon"])).result["delta"]
    given = f"δ ≤ {plain(run['delta'])} at ε = {plain(run['epsilon'])}"
    return NoSolution("no-solution", f"no threshold gives {given}: the noise alone has δ = {human(alone)}; "
                      f"take more noise than --solve {mechanism.options[0]} finds without a threshold", "--solve")


def no_noise(run: Run) -> NoSolution:
    """The error that no noise meets the budget beside a threshold."""
    assert run.question.unknown is not None
    return NoSolution("no-solution", f"no {noun(run.question.unknown)} was found that gives {budget(run.question)} at "
                      f"--threshold {plain(float(run['threshold']))}: with more noise, keys of one person are "
                      "published more often; take a larger threshold", "--solve")

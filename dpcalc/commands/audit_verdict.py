"""Whether the counts of an attack refute what is claimed, and what that means in words."""

from typing import NamedTuple

from dpcalc.bounds.audits import counts
from dpcalc.commands.audit_claim import Claim
from dpcalc.core import audits
from dpcalc.core.numbers import human, in_percent
from dpcalc.core.relations import RELATIONS
from dpcalc.core.results import Answer
from dpcalc.core.run import Run

_ABOUT = ("the bound is about the program that was run and the data sets or canaries of the attack; an attack that "
          "shows little proves nothing about privacy")
_OF_MODEL = ("audit-gdp holds only if the trade-off curve of the program is that of Gaussian noise, as of noise on a "
             "sum of all records; for DP-SGD on random batches it is no bound")
_BY_COUNTS = " by the counts alone"  # of a verdict below a headline that holds under a model
_WHOLE_CURVE = ("the whole trade-off curve of a program is a sharper claim than its ε alone: pipe its result, as in "
            "dpcalc … --json | dpcalc audit -")
_BEFOREHAND = "and attack, threshold, δ and numbers were fixed beforehand (report the best of several with --tests)"
_HOLDS_IF = {  # kind of audit → what it rests on
    "counts": f"{counts.INDEPENDENT} (canaries of one training are not independent: --canaries)",
    "one run": "each canary was put in by its own fair coin",
}


class Trials(NamedTuple):
    """What limits what an audit can show: its kind, what is counted, and whether the headline is a bound under a
    model."""

    kind: str
    noun: str
    is_by_model: bool = False


class Verdict(NamedTuple):
    """What the attack shows without a model, `shown`, and what one that is always right would show, `most`; the claim,
    whether it is refuted, by ε or by a true-positive rate, and whether any result of so many trials refutes it.
    `largest` is the true-positive rate that the claim allows at the false-positive rate that is shown."""

    shown: float
    most: float
    claim: Claim | None = None
    by_epsilon: bool = False
    by_rate: bool = False
    is_refutable: bool = False
    largest: float | None = None

    @property
    def refuted(self) -> bool | None:
        return None if self.claim is None else self.by_epsilon or self.by_rate

    @property
    def numbers(self) -> dict[str, float]:
        """The numbers of the claim, and the largest bound on ε that so many trials can show."""
        known = {"claimed_epsilon": self.claim.epsilon if self.claim else None, "claimed_tpr": self.largest,
                 "largest_epsilon_lower": self.most}
        return {name: x for name, x in known.items() if x is not None}


def verdict_of(shown: float, most: float, claim: Claim | None, here: counts.Limits | None,
               best: counts.Limits | None) -> Verdict:
    """The verdict by ε at δ; and with the limits of the rates, of this attack and of one that is always right, also by
    the trade-off curve of what is promised: a true-positive rate that no attack has at this false-positive rate."""
    if claim is None:
        return Verdict(shown, most)
    by_epsilon, is_refutable = (claim.epsilon is not None and x > claim.epsilon for x in (shown, most))
    if here is None or best is None:
        return Verdict(shown, most, claim, by_epsilon, is_refutable=is_refutable)
    largest, largest_of_best = claim.largest_rates((here.fpr, best.fpr))
    is_refutable = is_refutable or best.tpr > largest_of_best
    return Verdict(shown, most, claim, by_epsilon, here.tpr > largest, is_refutable, largest)


# --- in words --------------------------------------------------------------------------------------------------------


def lines(verdict: Verdict, trials: Trials, run: Run, here: counts.Limits | None) -> tuple[str, ...]:
    """What stands below the headline: the verdict, whether anything is shown, the rates, and the best attack."""
    found = [*_verdict_in_words(verdict, trials)]
    if verdict.shown == 0:
        found.append(f"{audits.NOTHING}; that does not mean that the program is private")
    if here is not None:
        own = run.params
        at = "" if run["score_threshold"] is None else f" with scores of {run['score_threshold']:.6g} or more"
        found.append(f"{audits.RATES} the attack has a TPR of at least {human(here.tpr, upward=False)} and an FPR of "
                     f"at most {human(here.fpr)}; seen were {own['true_positives']} of {own['members']} and "
                     f"{own['false_positives']} of {own['non_members']}{at}")
        if verdict.largest is not None:
            found.append(f"{audits.BEST} that the claim allows has a TPR of {human(verdict.largest)} at an FPR of "
                         f"{human(here.fpr)}")
    return tuple(found)


def _verdict_in_words(verdict: Verdict, trials: Trials) -> list[str]:
    claim, alone = verdict.claim, _BY_COUNTS if trials.is_by_model else ""
    if claim is None:
        return []
    if verdict.by_epsilon:
        return [f"{audits.REFUTED} the claim is {claim.in_words}, and the attack shows more"]
    if verdict.by_rate:
        also = "" if claim.epsilon is None else " (the claim is a whole trade-off curve, of which this ε is one point)"
        return [f"{audits.REFUTED} no attack on a program that keeps the claim, {claim.in_words}, has so large a TPR "
                f"at such an FPR{also}"]
    ends = "and refutes it" if verdict.is_refutable else "and does not refute it either"
    return [f"{audits.CONSISTENT} the claim, {claim.in_words}{alone and f',{alone}'}, which does not confirm "
            f"it: {_most(verdict, trials)}, {ends}"]


def _most(verdict: Verdict, trials: Trials) -> str:
    return f"with so many {trials.noun} an attack that is always right shows ε ≥ {human(verdict.most, upward=False)}"


def notes(verdict: Verdict, trials: Trials, run: Run, has_model: bool) -> tuple[str, ...]:
    """What a reader must know: what is odd about the counts, which neighbours the claim is for, what the bound rests
    on, and what the confidence means. `has_model` says that some row is a bound under a model."""
    tests, percent = int(run["tests"]), in_percent(run["confidence"])
    rest = in_percent(float(counts.error_probability(run["confidence"], 1)))
    program = "if the program is of that kind" if trials.is_by_model else "whatever the program is"
    shared = (f"the {rest} of error are shared among {tests} tests",) if tests > 1 else ()
    fixed = _BEFOREHAND if run["score_threshold"] is None else f"and {audits.FIXED_WITH_SCORES}"
    meaning = (f"confidence {percent}: {program}, the number exceeds its true ε in at most {rest} of such audits; that "
               f"does not mean that ε is above it with probability {percent}")
    of_epsilon = (_WHOLE_CURVE,) if trials.kind == "counts" and run["epsilon"] is not None else ()
    can_show = () if verdict.claim else (_most(verdict, trials) + (_BY_COUNTS if trials.is_by_model else ""),)
    of_claim = _played(verdict.claim.about) if verdict.claim and run["epsilon"] is None else ()
    return (*_oddities(run), *of_epsilon, *of_claim, *((_OF_MODEL,) if has_model else ()), *shared,
            f"the bound holds if {_HOLDS_IF[trials.kind]}, {fixed}", meaning, _ABOUT, *can_show)


def _oddities(run: Run) -> tuple[str, ...]:
    """A note where the attack is worse than a blind guess."""
    own = run.params
    if "guesses" in own:
        return () if 2 * own["right"] >= own["guesses"] else ("fewer than half of the guesses are right",)
    if own["true_positives"] * own["non_members"] >= own["false_positives"] * own["members"]:
        return ()
    return ("the attack says yes less often with the record than without; if it was fixed beforehand that a no means "
            "the record, count its noes, else use new runs",)


def _played(promised: Answer) -> tuple[str, ...]:
    """What the attack must be, so that it is about the claim."""
    differ = "" if promised.adjacency not in RELATIONS and promised.group_size == 1 else (
        f"must tell apart data sets that differ as the claim says (neighbours: {promised.neighbours}), and ")
    return (f"the attack {differ}may see nothing besides what the claim says is released, for example only "
            "the last iterate",)

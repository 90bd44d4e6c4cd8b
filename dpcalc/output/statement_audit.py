"""The sentences of a statement on an audit: what the attack showed, and what that means for the claim."""

from dpcalc.bounds.audits import counts
from dpcalc.core import audits
from dpcalc.core.audits import PLAYED, hits_and_trials
from dpcalc.core.numbers import human, in_percent, plain
from dpcalc.core.results import Answer


def sentences(answer: Answer) -> list[str]:
    """What was counted and what it refutes; the claim, if there is one; and what must hold."""
    own, theorem = answer.parameters, answer.headline.route.bound.theorem
    lower, delta = human(answer.value, upward=False), plain(own["delta"])
    sure = f"with confidence {in_percent(own['confidence'])}"
    model = [f"This holds only if {theorem.assumptions[0]}."] if answer.headline.status == "model" else []
    shows = (f"{_counted(answer)} refutes, {sure}, that the program is (ε, {delta})-differentially private with any ε "
             f"below {lower}." if answer.value > 0 else
             f"{_counted(answer)} refutes no ε at δ = {delta}, {sure}; that does not show that the program is private.")
    assumed = [audits.FIXED_WITH_SCORES if text == counts.FIXED and own.get("score_threshold") is not None else text
               for text in theorem.assumptions[len(model):]]
    tests = f" The probability of an error is shared among {own['tests']} tests." if own["tests"] > 1 else ""
    return [shows + tests, *model, *_claim(answer), *_conditions(answer),
            f"It is assumed that {'; that '.join(assumed)}.",
            "The bound is about the program that was attacked, and is no privacy guarantee."]


def _counted(answer: Answer) -> str:
    own = answer.parameters
    if own.get("canaries"):
        return (f"An attack on one run that guessed {own['guesses']} of {own['canaries']} canaries, {own['right']} of "
                "them right,")
    (hits, members), (alarms, others) = (hits_and_trials(own[name]) for name in ("true_positives", "false_positives"))
    return (f"An attack with {hits} true positives in {members} runs and {alarms} false positives in {others} runs")


def _claim(answer: Answer) -> list[str]:
    if answer.refuted is None:
        return []
    claimed, rate = answer.extra.get("claimed_epsilon"), answer.extra.get("claimed_tpr")
    at = f"ε = {human(claimed)}" if claimed is not None else "what is claimed"
    it = "By the counts alone it" if answer.headline.status == "model" else "It"
    if not answer.refuted:
        return [f"{it} does not refute the claim of {at}."]
    if claimed is not None and answer.value > claimed:
        return [f"{it} refutes the claim of {at}."]
    return [f"{it} refutes the claim of {at}, by which no attack has a true-positive rate above {human(rate or 1.0)} "
            f"at a false-positive rate of {human(answer.extra['fpr_high'])}; this one has at least "
            f"{human(answer.extra['tpr_low'], upward=False)}."]


def _conditions(answer: Answer) -> list[str]:
    """What must hold, so that the attack is about the claim, and what the claim itself depends on."""
    played = [f"{note[0].upper()}{note[1:]}." for note in answer.notes if note.startswith(PLAYED)]
    return [*played, *([f"The claim has conditions: {'; '.join(answer.promises)}."] if answer.promises else [])]

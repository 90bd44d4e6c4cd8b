"""The options of audits: what an attack achieved, and with which confidence."""

from typing import Any

from dpcalc.core.quantities import Quantity

LARGEST = 1e9  # trials and guesses: a binomial law of so many takes up to 4 s, and to verify 16 s
_COUNT: dict[str, Any] = {"kind": "count", "le": LARGEST}

TRUE_POSITIVES = Quantity("true_positives", "hits of the attack in runs with the record, as 500/1000 (hits/runs)", "TP",
                          kind="share", metavar="H/N", aliases=("tp",))
FALSE_POSITIVES = Quantity("false_positives", "false alarms of the attack in runs without the record, as 10/1000 "
                           "(alarms/runs)", "FP", kind="share", metavar="H/N", aliases=("fp",))
CANARIES = Quantity("canaries", "canaries of one run, each put in by its own fair coin; all count, also those that are "
                    "not guessed", "m", **_COUNT, ge=1, aliases=("num_canaries",))
GUESSES = Quantity("guesses", "canaries that the auditor guesses, a number fixed beforehand", "r", **_COUNT, ge=1)
RIGHT = Quantity("right", "guesses that are right", "v", **_COUNT, ge=0, aliases=("correct",))
SCORES = Quantity("scores", "CSV of member,score for independent runs in random order (member 1 or 0; members score "
                  "higher); odd lines choose the threshold, even ones test", kind="text", metavar="FILE", reads=True)
SCORE_THRESHOLD = Quantity("score_threshold", "least score that counts as a yes; fixed before the scores were seen, so "
                           "that all lines of --scores test it", "")
CONFIDENCE = Quantity("confidence", "probability, as 0.95, that an audit gives no number above the true ε, whatever "
                      "the program is", "", gt=0, lt=1, aliases=("confidence_level",))
TESTS = Quantity("tests", "tests that were tried (attacks, thresholds, δ), of which this is the best one", "",
                 kind="count", ge=1, le=LARGEST)

COUNTS = (TRUE_POSITIVES, FALSE_POSITIVES)
ONE_RUN = (CANARIES, GUESSES, RIGHT)
OPTIONS = (*COUNTS, *ONE_RUN, SCORES, SCORE_THRESHOLD, CONFIDENCE, TESTS)

ASKS = "epsilon_lower"  # what the question of an audit asks for
# What stands in place of the neighbours and of what is released, and the sentence on both
NEIGHBOURS, RELEASED = "the data sets of the attack", "what the attack was given"
SENTENCE = "A lower bound for the program that was attacked, and no guarantee."
OF_SEVERAL = "To report the best of several rows, count them in --tests."
# How the notes begin that stand below the headline
VERDICTS = RATES, REFUTED, CONSISTENT, BEST, NOTHING = (
    "with this confidence", "refuted:", "consistent with", "the best attack", "this audit shows nothing")
# What was fixed beforehand, where the counts are those of a file of scores
FIXED_WITH_SCORES = ("attack and δ were fixed beforehand, and the threshold too, or chosen on lines that do not test "
                     "it, as --scores does")
# How the note begins on what the attack must be, so that it is about the claim
PLAYED = "the attack must", "the attack may"


def hits_and_trials(text: str) -> tuple[int, int]:
    """The two counts of a validated share."""
    hits, trials = text.split("/")
    return int(hits), int(trials)

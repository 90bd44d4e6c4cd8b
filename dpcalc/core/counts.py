"""The options about counts, sums and means by key: how much a person contributes, which keys are published, and how
noisy an answer is."""

from dpcalc.core.quantities import WHOLE, Quantity

MAX_KEYS = Quantity("max_keys", "most keys of one person, as groups or partitions; enforced before "
                    "counting, in place of --sensitivity (default with --per-key: 1)", "k", **WHOLE,
                    safe_direction=-1, aliases=("l0", "max_partitions_contributed"))
PER_KEY = Quantity("per_key", "most that one person adds to the value of a key; enforced by clamping, in place of "
                   "--sensitivity (default with --max-keys: 1)", "c", gt=0, safe_direction=-1,
                   aliases=("linf", "max_contributions_per_partition"))
SIGNED = Quantity("signed", "a person's part of a value lies between −c and c (default: between 0 and c, as in counts)",
                  kind="switch")
THRESHOLD = Quantity("threshold", "least noisy value of a key that is published; keys are those in the data",
                     "τ", gt=0, le=1e300, safe_direction=+1)
ACCURACY = Quantity("accuracy", "probability of an interval, as 0.95; prints its half-width (margin of error): how far "
                    "the noise moves an answer at most", "P", gt=0, lt=1)
ANSWERS = Quantity("answers", "values of one release, as the cells of a table; for --accuracy, and no question of "
                   "privacy (default: 1)", "", **WHOLE, aliases=("cells",))
ERROR = Quantity("error", "error that the noise stays within; finds the most noise, with --accuracy and --solve sigma "
                 "or scale", "a", gt=0)
STEP_DELTA = Quantity("step_delta", "δ of one selection of keys (key-selection)", "δ₀", gt=0, lt=1)
TOP_K = Quantity("top_k", "number of candidates that are published (one-shot-top-k)", "k",
                 **WHOLE, safe_direction=-1)
PEOPLE = Quantity("people", "people who have a key; prints the probability that it is kept (key-selection)", "",
                  **WHOLE, safe_direction=+1)
KEEP_PROBABILITY = Quantity("keep_probability", "probability that a key is kept; the least one, for "
                            "--solve people (key-selection)", gt=0, lt=1)
CONTRIBUTION = (MAX_KEYS, PER_KEY, SIGNED)
MECHANISM_OPTIONS = (*CONTRIBUTION, THRESHOLD, STEP_DELTA, TOP_K)
QUESTIONS = (PEOPLE, KEEP_PROBABILITY, ACCURACY, ANSWERS, ERROR)
OPTIONS = (*MECHANISM_OPTIONS, *QUESTIONS)


def elsewhere(words: str) -> dict[str, str]:
    """What to write instead of these options, by their spellings, for a command that does not have them."""
    return {name.replace("_", "-"): words for quantity in OPTIONS if quantity is not TOP_K
            for name in quantity.names}


# How notes begin that stand below the headline: on the sensitivity, and on the size of the noise
SENSITIVITY_LINE, NOISE_LINE = "sensitivity:", "with probability"
PERSON = "one person contributes"  # begins the promise on contributions
# What a question may ask that is no loss of privacy
NOT_ABOUT_PRIVACY = frozenset({"noise_within", "keep_probability", "drop_probability"})

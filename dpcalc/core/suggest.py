"""The name that a mistyped word probably means: a similar one, or our name for a word of other tools and papers; and
what to write instead of a value that has no single name here."""

from collections.abc import Sequence

# Our name, and the words that stand for it elsewhere. Options, values and commands share one table; of a word that is
# there several times, the first name among the choices is meant.
_WORDS = {
    "epsilon": "eps privacy-budget target-eps",
    "target-epsilon": "target-eps",
    "alpha": "order",
    "mechanism": "noise",
    "noise-multiplier": "z noise",
    "sigma": "std stddev noise-std variance noise noise-scale",
    "batch-size": "b batch minibatch lot-size",
    "scale": "b noise-scale lambda",
    "clipping-norm": "clip clipping clip-norm max-norm",
    "sampling-rate": "q sampling-probability rate",
    "scheme": "sampling",
    "release": "all-epochs every-epoch all-iterates last-iterate final-model",
    "tries": "trials num-trials runs num-runs",
    "steps": "iters numsteps num-iterations t compositions times rounds",
    "epochs": "passes num-epochs",
    "n": "records samples examples num-samples sample-size",
    "learning-rate": "lr eta gamma step-size rate",
    "lipschitz": "l",
    "smoothness": "beta",
    "strong-convexity": "convexity",
    "diameter": "radius d",
    "adjacency": "neighbours neighbors neighboring relation",
    "bound": "theorem",
    "accuracy": "confidence confidence-level margin margin-of-error moe ci confidence-interval",
    "error": "half-width max-error",
    "answers": "counts num-counts cells-of-table",
    "max-keys": "keys groups max-groups max-partitions",
    "per-key": "max-contribution max-contributions clamp",
    "top-k": "k",
    "format": "output-format",
    "output": "o out outfile output-file",
    "explain": "verbose",
    "input": "file",
    "gaussian": "normal",
    "exponential": "em exponential-mechanism exp-mech",
    "permute-and-flip": "permuteandflip permute flip",
    "report-noisy-max": "argmax noisy-argmax noisymax reportnoisymax report-max max",
    "noisy-max-gumbel": "gumbel",
    "one-shot-top-k": "oneshot one-shot top top-n k-best top-k-selection",
    "randomized-response": "warner",
    "k-randomized-response": "grr krr generalized-randomized-response",
    "above-threshold": "sparse svt threshold abovethreshold",
    "shuffled-ldp": "shuffle shuffler shuffled",
    "without-replacement": "wor uniform fixed-size",
    "poisson": "bernoulli",
    "shuffle": "shuffling reshuffling random-reshuffling",
    "replace-one": "replace substitution substitute bounded swap change-one",
    "add-remove": "add add-or-remove unbounded symmetric",
    "zero-out": "zero-one zeroing zeroed-out add-remove",
    "random-allocation": "balls-and-bins balls-in-bins allocation balanced-iteration",
    "dp": "pure approx approximate approx-dp eps-delta epsilon",
    "zcdp": "cdp",
    "rdp": "renyi gaussian laplace mechanism",
    "gdp": "f-dp",
    "json": "yaml",
    "markdown": "md",
    "latex": "tex",
    "table": "text",
    "subsample": "dpsgd dp-sgd sgd poisson",
    "shuffle-pnsgd": "shuffle",
    "convert": "compose composition",
    "tv": "attack",
    "correlated": "dp-ftrl dpftrl ftrl mf dp-mf bandmf matrix-factorization matrix-factorisation",
    "independent": "dp-sgd dpsgd identity",
    "square-root": "sqrt toeplitz",
    "banded-sqrt": "bsr banded bandmf",
    "banded-inverse-sqrt": "bisr",
    "blt-scale": "output-scale",
    "blt-decay": "buf-decay",
    "online-noise": "online stream",
    "bounds": "list catalogue theorems",
    "--help": "help",
    "--version": "version v",
}

NO_THEOREM = ("dpcalc has no theorem about it; the (ε, δ) that you know of it composes, as in dpcalc convert --from "
              "dp --epsilon 1 --delta 0 --steps 10 --target-delta 1e-6")
_KNOWN = ("; in a file for dpcalc convert or ledger that is {\"kind\": \"dp\", \"epsilon\": 1, \"delta\": 0, "
          "\"adjacency\": \"add-remove\"}, and alone it composes as in dpcalc convert --from dp --epsilon 1 --delta 0 "
          "--steps 10 --target-delta 1e-6")
# (options, values of other tools and papers that these options do not have, what to write instead). A value that may
# stand for several values of dpcalc, or that needs another option beside it, is refused with this text, not replaced.
WAYS_OUT = (
    ("tries-law", "fixed constant deterministic none all", "a fixed number of runs is composition: pipe the "
     "JSON of one run into dpcalc convert - and use --steps 10 for 10 runs, in place of --tries 10"),
    ("alpha", "inf +inf infinity ∞", "the RDP of order ∞ is the ε of pure differential privacy: ask with --delta 0 in "
     "place of --alpha where the mechanism has one (Gaussian noise has none)"),
    ("mechanism", "staircase staircase-noise", "staircase noise with parameter ε is (ε, 0)-differentially private"
     + _KNOWN),
    ("mechanism", "snapping", "the snapping mechanism is (ε, 0)-differentially private with the ε of its paper, which "
     "is larger than that of its noise" + _KNOWN),
    ("mechanism", "gaussian-threshold laplace-threshold thresholded stability-histogram noisy-threshold",
     "noisy values above a threshold are --mechanism gaussian or laplace with --threshold T: see dpcalc help "
     "threshold"),
    ("mechanism", "median quantile quantiles percentile mode", "a quantile is a selection of one of several "
     "candidates: --mechanism exponential or permute-and-flip, with as score minus the number of values between a "
     "candidate and the quantile (it changes by at most 1)"),
    ("mechanism", "truncated-laplace truncated-gaussian truncated-noise tulap bounded-laplace bounded-gaussian "
     "bounded-noise", "noise on a bounded range is (ε, δ)-differentially private, where its theorem says both numbers"
     + _KNOWN),
    ("mechanism", "vector-max vectormax", "for which entry of a vector is largest with noise use report-noisy-max; for "
     "noise on all its entries, laplace or gaussian"),
    ("mechanism", "numeric-sparse numericsparse numeric-svt sparse-vector-numeric sparse-gap adaptive-sparse-vector "
     "svt-gap", "above-threshold covers the answers above or below alone; a value with fresh Laplace noise is "
     "another release (--mechanism laplace), and dpcalc convert a.json b.json composes both; of other variants "
     + NO_THEOREM),
    ("format", "model-card modelcard report text-statement", "the text for a paper or a model card is --format "
     "statement"),
    ("mechanism", "skellam binomial cauchy student-t", NO_THEOREM),
    ("scheme batches", "wor swor fixed-size uniform uniform-sampling sampling-without-replacement",
     "batches of a fixed size that are drawn afresh at every step are without-replacement; for batches that are cut "
     "from a shuffled order write shuffle"),
    ("scheme batches", "balls-and-bins balls-in-bins allocation balanced-iteration",
     "where each record draws one step of every epoch by itself, write random-allocation"),
    ("scheme", "truncated-poisson poisson-truncated", "write --max-batch-size B with --scheme poisson"),
    ("batches", "truncated-poisson poisson-truncated", "use dpcalc subsample --max-batch-size B"),
    ("scheme batches", "shuffling reshuffling random-reshuffling shuffled-batches",
     "where every epoch cuts the records in a new random order into batches, write shuffle"),
)


def way_out(option: str, value: object) -> str | None:
    """What to write instead of a value that is none of the option, or None."""
    word, option = str(value).lower().replace("_", "-"), option.replace("_", "-")
    return next((text for options, words, text in WAYS_OUT if option in options.split() and word in words.split()),
                None)


def meant(word: str, choices: Sequence[str]) -> str | None:
    """The choice that a word probably stands for, or None. A long option never stands for a short one."""
    if found := synonym(word, choices):
        return found
    written, known = _compared(word, choices)
    longer = [name for name in known if name.startswith(written)]
    if len(written) >= 3 and len(longer) == 1:
        return known[longer[0]]
    if 3 * (len(written) - max(map(len, known), default=0)) > len(written):
        return None  # too long to be any of them; to compare a megabyte letter by letter would take seconds
    nearest = min(known, key=lambda name: _slips(written, name), default=None)
    # A third of the letters: more of them make another word, as version is another word than epsilon.
    return known[nearest] if nearest and 3 * _slips(written, nearest) <= max(len(written), len(nearest)) else None


def synonym(word: str, choices: Sequence[str]) -> str | None:
    """The choice that a word stands for in another spelling or elsewhere, or None."""
    written, known = _compared(word, choices)
    if written in known:
        return known[written]
    return next((known[name.lstrip("-")] for name, words in _WORDS.items()
                 if written in words.split() and name.lstrip("-") in known), None)


def _compared(word: str, choices: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The word and the choices without dashes and in one spelling."""
    known = {c.lstrip("-"): c for c in choices if c.startswith("--")
             or not (c.startswith("-") or word.startswith("--"))}
    return word.lstrip("-").lower().replace("_", "-"), known


def _slips(a: str, b: str) -> int:
    """The least number of letters to add, to drop or to change, and of neighbours to swap, that makes b of a."""
    before, last = list[int](), list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            swapped = [before[j - 2] + 1] if i > 1 and j > 1 and x == b[j - 2] and y == a[i - 2] else []
            row.append(min(last[j] + 1, row[-1] + 1, last[j - 1] + (x != y), *swapped))
        before, last = last, row
    return last[-1]

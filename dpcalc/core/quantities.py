"""The quantities that commands take and answer, each with its symbol, range, unit and help. One definition serves the
option, its help, validation, the JSON Schema, completion and the documentation. """

import re
from functools import cache
from typing import Any, NamedTuple

from dpcalc.core import mechanism_names
from dpcalc.core.relations import ADD_REMOVE, REPLACE_ONE, SPELLINGS, ZERO_OUT
from dpcalc.core.symbols import IN_ANSWERS


class Quantity(NamedTuple):
    """A parameter. `kind` is number | count (a whole number, 1e6 is one) | horizon (a count or inf) |
    numbers (a list) | series (a list, or @FILE) | ranges (a series of whole numbers, with FIRST:LAST) | choice |
    share (hits/trials, two counts) | names (a list) | text | file | switch. `unit` is for the axes of a plot."""

    name: str
    help: str
    symbol: str = ""
    kind: str = "number"
    gt: float | None = None
    ge: float | None = None
    lt: float | None = None
    le: float | None = None
    unit: str = ""
    choices: tuple[str, ...] = ()
    # +1: larger values lose less privacy; −1: smaller ones do; 0: neither, or not to be solved for
    safe_direction: int = 0
    search: tuple[float, float] = (1e-15, 1e15)  # where a solution is looked for
    origin: float = 0.0  # where no privacy is lost, if not at 0 or infinity: searches are for its distance from it
    metavar: str = ""  # what the help writes for a value, where the kind does not say it
    # both ends of the range may meet a budget: then --solve says so
    both: bool = False
    # the privacy loss is not monotone in it: that a value meets a budget says nothing about other values
    non_monotone: bool = False
    reads: bool = False  # its text names a file, or with - standard input
    aliases: tuple[str, ...] = ()  # its names in other tools, which mean the same
    spellings: tuple[tuple[str, str], ...] = ()  # (another spelling, the choice that it stands for)
    hints: bool = True  # an unknown choice is answered with the one that is spelled like it, if that is surely meant

    @property
    def option(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def names(self) -> tuple[str, ...]:
        """Its own name, and those that it has in other tools."""
        return (self.name, *self.aliases)

    @property
    def brief(self) -> str:
        """The help up to its first semicolon, colon or bracket: for one line of help, or for the axis of a plot."""
        return re.split(r" ?[;:(]", self.help)[0]

    def source(self, value: Any) -> str | None:
        """The file (or -) that a value names; None for one that holds its data itself. Of several values, the first
        file, or - where one of them is standard input."""
        if isinstance(value, list | tuple) and self.reads and self.kind == "text":
            named = [source for x in value if (source := self.source(x)) is not None]
            return "-" if "-" in named else next(iter(named), None)
        if not self.reads or not isinstance(value, str) or value.lstrip().startswith("{"):
            return None
        return value if self.kind not in ("series", "ranges") else value[1:] if value.startswith("@") else None

    def range(self) -> str:
        """The range in a sentence, '> 0 and ≤ 1', without the limit that all whole numbers have."""
        limits = ((">", self.gt), ("≥", self.ge), ("<", self.lt), ("≤", self.le))
        return " and ".join(f"{sign} {limit:g}" for sign, limit in limits if limit not in (None, LARGEST_COUNT))

    def limits(self) -> str:
        """The range for help, '>0, <=1'."""
        short = self.range().replace(" and ", ", ").replace("≥", ">=").replace("≤", "<=")
        return short.replace("= ", "=").replace("> ", ">").replace("< ", "<")


LEAST_RATE = 1e-300  # a probability; nearer to 0 doubles lose digits, and its products may be rounded to 0
LARGEST_COUNT = 2.0**53 - 1  # larger whole numbers may round to another whole number as doubles
WHOLE: dict[str, Any] = {"kind": "count", "ge": 1, "le": LARGEST_COUNT, "search": (1.0, LARGEST_COUNT)}

EPSILON = Quantity("epsilon", "privacy loss; outcome probabilities change by a factor of at most e^ε, up to δ", "ε",
                   ge=0, aliases=("target_epsilon",))
DELTA = Quantity("delta", "failure probability; choose it well below 1/n; 0 asks for pure differential privacy", "δ",
                 ge=0, lt=1, aliases=("target_delta",))
ALPHA = Quantity("alpha", "Rényi order", "α", gt=1, le=1e10)
RDP = Quantity("rdp", "budget on the Rényi divergence at --alpha, for --solve", "ε(α)", ge=0)
ALPHAS = Quantity("alpha", "Rényi order; a list of orders describes an RDP curve", "α", kind="numbers", gt=1, le=1e10)
RDPS = Quantity("rdp", "Rényi divergence at the order; a list has one value for each order", "ε(α)", kind="numbers",
                ge=0)
WEIGHTS = Quantity("weights", "probabilities of mechanisms of which one is drawn; --rdp has one value for each",
                   "q_1,…", kind="numbers", ge=0, le=1)
ORDERS = Quantity("orders", "Rényi orders to try; without them the best order is searched for", "α", kind="numbers",
                  gt=1, le=1e10)
SIGMA = Quantity("sigma", "standard deviation of the Gaussian noise; the σ of e^(−x²/(2σ²)) where it is discrete", "σ",
                 aliases=("std", "stddev", "noise_std"), gt=0, safe_direction=+1, unit="units of the sensitivity")
NOISE_MULTIPLIER = Quantity("noise_multiplier", "noise multiplier, as in Opacus (standard deviation of the noise on "
                            "the sum of a batch's clipped gradients, divided by the clipping norm)", "Z", gt=0,
                            safe_direction=+1)
SCALE = Quantity("scale", "scale of the Laplace noise (above-threshold, noisy max: on every query or score); its "
                 "standard deviation is v√2, and slightly less for discrete noise", "v", gt=0, safe_direction=+1,
                 unit="units of the sensitivity")
THRESHOLD_SCALE = Quantity("threshold_scale", "scale of noise on the threshold (above-threshold; Laplace noise that is "
                           "drawn once a run)", "b₁", gt=0, safe_direction=+1, unit="units of the sensitivity")
HITS = Quantity("hits", "answers above the threshold, after which a run ends (above-threshold; default: 1)", "c",
                **WHOLE, safe_direction=-1)
QUERIES = Quantity("queries", "monotone: between neighbours all queries or scores change in the same direction, as "
                   "counts do when a record is added (default: any)", kind="choice", choices=("any", "monotone"))
SENSITIVITY = Quantity("sensitivity", "largest change of the query between neighbours (in ℓ2 for Gaussian, in ℓ1 for "
                       "Laplace noise; a whole number for discrete noise)", "s", gt=0, safe_direction=-1)
PROBABILITY = Quantity("probability", "probability of the true answer (randomised response); or that a 1 is reported "
                       "as 1 (unary encoding)", "p", gt=0, lt=1, safe_direction=-1, search=(0.5, 0.9999999999999999),
                       origin=0.5)
FLIP_PROBABILITY = Quantity("flip_probability", "probability that a 0 is reported as 1 (unary encoding; default: 1 − "
                            "--probability)", "q", gt=0, lt=1)
CATEGORIES = Quantity("categories", "number of categories of k-ary randomised response, with --step-epsilon", "",
                      kind="count", ge=2, le=2.0**53 - 1)
STEPS = Quantity("steps", "number of steps; each is one release, and all of them are composed", "T", **WHOLE,
                 safe_direction=-1, aliases=("iterations", "num_steps", "compositions", "num_compositions"))
EPOCHS = Quantity("epochs", "passes over the data; in place of --steps", "E", gt=0, le=LARGEST_COUNT, safe_direction=-1,
                  aliases=("num_epochs",))
N = Quantity("n", "number of records", "n", **WHOLE, safe_direction=+1,
             aliases=("dataset_size", "num_examples", "num_records", "num_samples"))
BATCH_SIZE = Quantity("batch_size", "records in a batch; the expected number under Poisson sampling", "b", **WHOLE,
                      safe_direction=-1, aliases=("expected_batch_size", "lot_size"))
MAX_BATCH_SIZE = Quantity("max_batch_size", "most records in a Poisson batch; if more are drawn, a uniform subset of "
                          "that size stays (needs --n)", "B", **WHOLE, aliases=("truncated_batch_size",))
BANDS = Quantity("bands", "number of groups that batches are drawn from in turn (--scheme cyclic-poisson)", "m",
                 **WHOLE, aliases=("num_bands",))
SAMPLING_RATE = Quantity("sampling_rate", "probability that a record is in a batch; in place of --n and --batch-size",
                         "q", ge=LEAST_RATE, le=1, safe_direction=-1, search=(1e-15, 1.0), aliases=("sample_rate",))
MAX_WEIGHT = Quantity("max_weight", "largest probability with which a step draws a record; every step draws ONE record "
                      "(--scheme weighted)", "c", ge=LEAST_RATE, le=1, safe_direction=-1, search=(1e-15, 1.0))
STEPS_PER_EPOCH = Quantity("steps_per_epoch", "steps of an epoch, over which records are spread (--scheme "
                           "random-allocation or shuffle)", "t", kind="count", ge=1, le=10**7)
PARTICIPATIONS = Quantity("participations", "steps of an epoch in which each record takes part (--scheme "
                          "random-allocation; default 1)", "", kind="count", ge=1, le=10**7)
MU = Quantity("mu", "parameter of Gaussian differential privacy (GDP)", "μ", gt=0, safe_direction=-1)
RHO = Quantity("rho", "parameter of zero-concentrated differential privacy (zCDP); the RDP is at most ρα", "ρ", gt=0,
               safe_direction=-1)
TV = Quantity("tv", "total variation distance", "TV", ge=0, le=1)
KL = Quantity("kl", "Kullback–Leibler divergence of each release", "KL", ge=0, safe_direction=-1)
FPR = Quantity("fpr", "false-positive rate of an attack, or a list; prints the largest true-positive rate", "FPR",
               kind="numbers", gt=0, lt=1)
TPR = Quantity("tpr", "budget on the true-positive rate (at --fpr, for --solve)", "TPR", gt=0, le=1)
PRIOR = Quantity("prior", "probability of one of the two data sets, before the output is seen", "π", gt=0, lt=1)
LOSS_RANGE = Quantity("loss_range", "length of an interval that holds a loss; prints how much the mean of a loss, or "
                      "another function of the output, can change", "R", gt=0)
ROC = Quantity("roc", "print the ROC curve at this many false-positive rates", kind="count", ge=2, le=10_000)
P = Quantity("p", "outcome probabilities on one data set", "p", kind="numbers", ge=0, le=1)
Q = Quantity("q", "outcome probabilities on the neighbouring data set", "q", kind="numbers", ge=0, le=1)
SLACK = Quantity("slack", "what advanced composition adds to the sum of the δ (Dwork, Rothblum & Vadhan 2010)", "δ′",
                 gt=0, lt=1)
TARGET_EPSILON = Quantity("target_epsilon", "total ε after composition; prints the total δ", "ε", ge=0)
TARGET_DELTA = Quantity("target_delta", "total δ after composition; prints the total ε", "δ", ge=0, lt=1)
PRECISION = Quantity("precision", "largest gap allowed between the lower and upper ε, relative (default 1e-3)",
                     kind="number", ge=1e-5, le=0.1)
STEP_EPSILON = Quantity("step_epsilon", "ε of one step; of one selection "
                        f"({mechanism_names.of_step_epsilon('selection')}), or of one report "
                        f"({mechanism_names.of_step_epsilon('report')})", "ε₀", gt=0, safe_direction=-1)
STEP_DELTA = Quantity("step_delta", "δ of one step", "δ", ge=0, lt=1)  # a parameter of bounds, no option
RELEASE_EPSILON, RELEASE_RHO, RELEASE_MU = (Quantity(
    f"release_{name}", f"{of} of one release of a ledger", f"{of} of the release", ge=0, safe_direction=-1)
    for name, of in (("epsilon", "ε"), ("rho", "ρ"), ("mu", "μ")))

C1 = Quantity("c1", "C₁ of Sordello et al. 2021, Thm 3/4 (scale of the noise; larger means more noise)", "C1", gt=0,
              safe_direction=+1)
C2 = Quantity("c2", "C₂ of Sordello et al. 2021, Thm 3/4 (limits the noise at small n)", "C2", ge=0)
DECAY = Quantity("decay", "exponent of the decay of the noise; a of Sordello et al. 2021, Thm 6/7", "a", gt=1, le=1000)
LIPSCHITZ = Quantity("lipschitz", "Lipschitz constant of every record's loss; its gradient is never longer", "L", gt=0)
SMOOTHNESS = Quantity("smoothness", "smoothness of every record's loss; 0 for linear losses", "β", ge=0)
STRONG_CONVEXITY = Quantity("strong_convexity", "strong convexity of every record's loss; 0 for convex ones", "ρ", ge=0)
LEARNING_RATE = Quantity("learning_rate", "step size", "η", gt=0, safe_direction=+1, both=True,
                         aliases=("lr", "eta", "step_size"))
DIAMETER = Quantity("diameter", "diameter of the constraint set K, in which w₀ lies (b − a for Laplace noise on "
                    "[a, b])", "D", gt=0)
DIMENSION = Quantity("dimension", "dimension of the model; Laplace noise needs 1", "d", **WHOLE)
INDEX = Quantity("index", "position of the record in a fixed order; from 1 to n", "i", **WHOLE)
PASSES = Quantity("epochs", "passes over the data", "E", **WHOLE, safe_direction=-1, aliases=EPOCHS.aliases)
TAU = Quantity("tau", "τ of Berthier 2019, Conj 1/2 (fraction of the records in each pass); --epochs E makes E/τ "
               "passes", "τ", gt=0, lt=1)
CONSTANT = Quantity("constant", "constant of Berthier 2019, Conj 2 (without-replacement-conjecture)", "C", ge=16)
HORIZON = Quantity("n", "number of records; inf asks for the limit", "n", kind="horizon", ge=1,
                   search=(1.0, LARGEST_COUNT), safe_direction=+1, aliases=N.aliases)
SIGMAS = Quantity("sigmas", "standard deviation of the noise on each step's gradient; a list, or @FILE that holds it",
                  "σ_1,…", kind="series", gt=0, reads=True)
SCALES = Quantity("scales", "scale of the Laplace noise on each step's gradient; a list, or @FILE that holds it",
                  "v_1,…", kind="series", gt=0, reads=True)
SCHEDULE = Quantity("schedule", "print the noise level of steps FIRST to LAST, or of COUNT of them", kind="text",
                    metavar="FIRST:LAST[:COUNT]")

CURVATURE = Quantity("curvature", "curvature of the gradient aθ + β, or all eigenvalues of H in Hθ + β; a list, or "
                     "@FILE that holds it", "a", kind="series", ge=0, reads=True, aliases=("curvatures",))
FEEDBACK = Quantity("feedback", "part of the previous noise that each step takes back (default: 1, all of it)", "λ",
                    ge=0, le=1)
USED_AT = Quantity("used_at", "steps that use the record, in place of --index; a list, ranges (1:100), or @FILE",
                   "i_1,…", kind="ranges", ge=1, le=LARGEST_COUNT, reads=True)
ORDER = Quantity("order", "order of the batches; random draws them afresh at every step, fixed repeats one order in "
                 "every pass", kind="choice", choices=("random", "fixed"))
NOISE_SCHEDULE = Quantity("schedule", "JSON file with lists sigma, learning_rate and uses; an entry is a step, or "
                          "[COUNT, VALUE]", kind="text", metavar="FILE|-", reads=True)

STRATEGY = Quantity("strategy", "independent, feedback, square-root, banded-sqrt, banded-inverse-sqrt or blt; as "
                    "feedback:λ, banded-sqrt:B, banded-inverse-sqrt:P", kind="text", metavar="NAME[:NUMBER]")
STRATEGIES = Quantity("compare", "compare strategies at the budget of --epsilon and --delta; a list "
                      "(square-root,banded-sqrt:8), or usual ones where it is left out", kind="names", metavar="[LIST]")
COEFFICIENTS = Quantity("coefficients", "first column of a strategy C of your own, in place of --strategy; a list, or "
                        "@FILE that holds it", "c_0,…", kind="series", ge=-1e100, le=1e100, reads=True)
BLT_SCALE = Quantity("blt_scale", "output scales of a buffered linear Toeplitz strategy: c_k = Σ scale·decay^(k−1)",
                     kind="numbers", ge=-1e100, le=1e100)
BLT_DECAY = Quantity("blt_decay", "decays of the buffers of a buffered linear Toeplitz strategy", kind="numbers", ge=0,
                     le=1)
CONTRACTION = Quantity("contraction", "factor of earlier gradients at every step; below 1 with weight decay (default: "
                       "1)", "r", gt=0, le=1)
TAKES_PART = Quantity("order", "steps of one record: one step, steps at least --separation apart, or every "
                      "--separation-th step (default: separated with --separation, else once)", kind="choice",
                      choices=("once", "separated", "cyclic"))
SEPARATION = Quantity("separation", "least difference j − i of two steps with the same record; TensorFlow Federated's "
                      "min_separation counts the steps between: one less", "b", **WHOLE)
MIN_SEPARATION = Quantity("min_separation", "refused, with what to write instead: some tools count the steps between "
                          "two steps with the same record", **WHOLE)
CYCLE = Quantity("cycle", "number of groups that Poisson batches are drawn from in turn (default: the bands of the "
                 "strategy)", "m", **WHOLE)

NOISE = Quantity("noise", "noise that is added to every gradient", kind="choice", choices=("gaussian", "laplace"))
MECHANISM = Quantity("mechanism", "mechanism of the release", kind="choice",
                     choices=tuple(known.name for known in mechanism_names.NAMES),
                     spellings=tuple((other, known.name) for known in mechanism_names.NAMES
                                     for other in known.spellings))
# The amount of noise, by mechanism; NOISE_MULTIPLIER gives the same as SIGMA in other units.
MECHANISM_OPTIONS = (SIGMA, SCALE, PROBABILITY, FLIP_PROBABILITY, STEP_EPSILON, CATEGORIES, THRESHOLD_SCALE, HITS,
                     QUERIES)
SCHEME = Quantity("scheme", "how batches are drawn at every step", kind="choice",
                  choices=("poisson", "cyclic-poisson", "without-replacement", "weighted", "random-allocation",
                           "shuffle", "with-replacement"), spellings=(("shuffled", "shuffle"),), hints=False,
                  aliases=("batches", "sampling"))
DROP_LAST = Quantity("drop_last", "an epoch leaves out the records that do not fill a batch, those at the end of its "
                     "order (shuffled batches; PyTorch's drop_last=True)", kind="switch")
RESHUFFLE = Quantity("reshuffle", "when the records are shuffled (shuffled batches; default: every-epoch)",
                     kind="choice", choices=("every-epoch", "once"))
ADJACENCY = Quantity("adjacency", "which data sets are neighbours (default: add-remove for Poisson batches and random "
                     "allocation, zero-out for shuffled, truncated and cyclic ones, else replace-one)", kind="choice",
                     choices=(ADD_REMOVE, REPLACE_ONE, ZERO_OUT), spellings=SPELLINGS)
GROUP_SIZE = Quantity("group_size", "records in a group, as those of one user; neighbouring data sets differ in such a "
                      "group (default: 1)", "", **WHOLE, aliases=("group", "records_per_user"))
_LETTERS = (("rho", "zcdp"), ("mu", "gdp"), ("cdp", "zcdp"), ("eps-delta", "dp"))  # and the guarantees they stand for
FROM = Quantity("from", "guarantee that you have", kind="choice",
                choices=("rdp", "gdp", "zcdp", "dp", "tv", "outcomes", "profile"), spellings=_LETTERS)
TO = Quantity("to", "guarantee that you want", kind="choice", choices=("dp", "rdp", "gdp", "zcdp", "tv"),
              spellings=_LETTERS)
RUN = Quantity("run", "read the run from a TOML or JSON file; - is standard input, and options override the file",
               kind="text", metavar="FILE|-", reads=True)
FILE = Quantity("file", "a ledger of releases, an earlier result, or the state of Opacus' accountant (TOML or JSON; - "
                "is standard input)", kind="text", metavar="FILE|-", reads=True)
ALLOW_FILES_ANYWHERE = Quantity("allow_files_anywhere", "let a ledger name files that are not in its folder or below",
                                kind="switch")
ADAPTIVE = Quantity("adaptive", "keep a filter: later releases may be chosen in view of earlier outputs", kind="switch")
FILTER = Quantity("filter", "what it adds up: Rényi divergence (default), or μ²", kind="choice", choices=("rdp", "gdp"))
FILTER_ORDER = Quantity("order", "Rényi order of the filter (default: by the budget)", "α", gt=1, le=1e10)
DELTA_RESERVE = Quantity("delta_reserve", "part of δ for (ε, δ) releases in a filter (default 0)", "δ_r", ge=0, lt=1)
BATCHES = Quantity("batches", "how batches are formed (DataLoader(shuffle=True) forms shuffled ones)", kind="choice",
                   choices=("poisson", "without-replacement", "shuffled", "fixed-order", "full", "stream",
                            "random-allocation"), spellings=(("shuffle", "shuffled"),), hints=False,
                   aliases=("scheme", "sampling"))
RELEASE = Quantity("release", "what is released (default: every-iterate)", kind="choice",
                   choices=("every-iterate", "every-epoch", "last-iterate"),
                   spellings=(("all-iterates", "every-iterate"), ("all", "every-iterate")))
RELEASE_OF_PASSES = RELEASE._replace(help="what is released (default: the last iterate of every epoch)",
                                     choices=("every-epoch", "last-iterate"), spellings=())
STEPS_OF_PASSES = STEPS._replace(help="number of steps; in place of --epochs, and the last pass may be incomplete",
                                 safe_direction=0)
LOSS = Quantity("loss", "what is known of every record's loss (default: any)", kind="choice", choices=("any", "convex"))
CLIPPING_NORM = Quantity("clipping_norm", "norm that every record's gradient is clipped to", "C", gt=0,
                         aliases=("max_grad_norm", "l2_norm_clip"))

BOUND = Quantity("bound", "use only this bound (repeatable); dpcalc bounds lists the names", kind="text")
BATCH = Quantity("batch", "read one set of options per line (JSON, or CSV with a header) and print one result per "
                 "line; options given here are defaults", kind="text", metavar="[FILE|-]")
OUTPUT_FILE = Quantity("output", "write the answer to this file, too, in the format of its suffix (repeatable); with "
                       "-q or --batch to the file alone", kind="file", aliases=("out", "outfile", "output_file"))
SOLVE = Quantity("solve", "option to find, with the value that just meets the budget", kind="text")
FORMAT = Quantity("format", "output format", kind="choice",
                  choices=("table", "json", "jsonl", "csv", "tsv", "markdown", "latex", "statement", "bibtex"))
DIGITS = Quantity("digits", "significant digits; evaluates the published formula with so many too", kind="count", ge=15,
                  le=1000)
STATUS = Quantity("status", "only bounds of this status", kind="choice",
                  choices=("proven", "as-published", "conjecture", "limit", "lower", "model"))
USED_BY = Quantity("command", "only bounds that this command uses", kind="text")
ASSUMES = Quantity("assumes", "only bounds with this text among their assumptions (case ignored)", kind="text",
                   metavar="TEXT")
INPUT = Quantity("input", "read a guarantee (JSON) from a file (repeatable); - is standard input", kind="text",
                 metavar="FILE|-", reads=True)

@cache
def _symbols() -> dict[str, str]:
    return {x.name: x.symbol for x in globals().values() if isinstance(x, Quantity) and x.symbol} | IN_ANSWERS


def symbol(name: str) -> str:
    """The symbol of a quantity in answers, or its name in words."""
    return _symbols().get(name, name.replace("_", " "))

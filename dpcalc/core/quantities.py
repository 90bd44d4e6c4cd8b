"""The quantities that commands take and answer, each with its symbol, range, unit and help.

One definition serves the option, its help, validation, the JSON Schema, completion and the documentation.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple


class Quantity(NamedTuple):
    """A parameter. `kind` is number | count (a whole number, 1e6 is one) | horizon (a count or inf) |
    numbers (a list) | series (a list, or @FILE) | choice | text | file. `unit` is for the axes of a plot."""

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

    @property
    def option(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def names(self) -> tuple[str, ...]:
        """Its own name, and those that it has in other tools."""
        return (self.name, *self.aliases)

    def source(self, value: Any) -> str | None:
        """The file (or -) that a value names; None for one that holds its data itself. Of several values, the first
        file, or - where one of them is standard input."""
        if isinstance(value, list | tuple) and self.reads and self.kind == "text":
            named = [source for x in value if (source := self.source(x)) is not None]
            return "-" if "-" in named else next(iter(named), None)
        if not self.reads or not isinstance(value, str) or value.lstrip().startswith("{"):
            return None
        return value if self.kind != "series" else value[1:] if value.startswith("@") else None

    def range(self) -> str:
        """'> 0 and <= 1'."""
        limits = ((">", self.gt), (">=", self.ge), ("<", self.lt), ("<=", self.le))
        return " and ".join(f"{sign} {limit:g}" for sign, limit in limits if limit is not None)

    def limits(self) -> str:
        """'>0, <=1': the range for help, without the limit that all whole numbers have."""
        words = self.range().replace(f" and <= {LARGEST_COUNT:g}", "").replace(" and ", ", ")
        return words.replace("= ", "=").replace("> ", ">").replace("< ", "<")

    def admits(self, x: float) -> bool:
        return ((self.gt is None or x > self.gt) and (self.ge is None or x >= self.ge)
                and (self.lt is None or x < self.lt) and (self.le is None or x <= self.le))


LARGEST_COUNT = 2.0**53 - 1  # larger whole numbers may round to another whole number as doubles
_WHOLE: dict[str, Any] = {"kind": "count", "ge": 1, "le": LARGEST_COUNT, "search": (1.0, LARGEST_COUNT)}

EPSILON = Quantity("epsilon", "privacy loss", "ε", ge=0)
DELTA = Quantity("delta", "failure probability; 0 asks for pure differential privacy", "δ", ge=0, lt=1)
ALPHA = Quantity("alpha", "Rényi order", "α", gt=1, le=1e10)
RDP = Quantity("rdp", "Rényi divergence at the order", "ε(α)", ge=0)
ALPHAS = Quantity("alpha", "Rényi order, or a list of orders", "α", kind="numbers", gt=1, le=1e10)
RDPS = Quantity("rdp", "Rényi divergence at each order", "ε(α)", kind="numbers", ge=0)
ORDERS = Quantity("orders", "restrict the search over orders to this list", "α", kind="numbers", gt=1, le=1e10)
SIGMA = Quantity("sigma", "standard deviation of the Gaussian noise", "σ", gt=0, safe_direction=+1,
                 unit="units of the sensitivity")
NOISE_MULTIPLIER = Quantity("noise_multiplier",
                            "standard deviation of the noise on the sum of a batch's clipped gradients, over the "
                            "clipping norm", "Z", gt=0, safe_direction=+1)
SCALE = Quantity("scale", "scale of the Laplace noise", "v", gt=0, safe_direction=+1, unit="units of the sensitivity")
SENSITIVITY = Quantity("sensitivity", "change of the query between neighbouring data sets: ℓ2 for Gaussian, "
                       "ℓ1 for Laplace", "s", gt=0, safe_direction=-1)
PROBABILITY = Quantity("probability", "probability of the true answer", "p", gt=0, lt=1, safe_direction=-1,
                       search=(0.5, 0.9999999999999999),
                       origin=0.5)
STEPS = Quantity("steps", "number of compositions (iterations)", "T", **_WHOLE, safe_direction=-1)
EPOCHS = Quantity("epochs", "passes over the data", "E", gt=0, le=LARGEST_COUNT, safe_direction=-1)
N = Quantity("n", "number of records", "n", **_WHOLE, safe_direction=+1)
BATCH_SIZE = Quantity("batch_size", "(expected) records in a batch", "b", **_WHOLE, safe_direction=-1)
SAMPLING_RATE = Quantity("sampling_rate", "probability that a record is in a batch", "q", gt=0, le=1, safe_direction=-1,
                         search=(1e-15, 1.0))
MAX_WEIGHT = Quantity("max_weight", "largest sampling weight of a record", "c", gt=0, le=1, safe_direction=-1,
                      search=(1e-15, 1.0))
MU = Quantity("mu", "parameter of Gaussian differential privacy", "μ", gt=0, safe_direction=-1)
RHO = Quantity("rho", "parameter of zero-concentrated differential privacy (RDP ρα)", "ρ", gt=0, safe_direction=-1)
TV = Quantity("tv", "total variation distance", "TV", ge=0, le=1)
KL = Quantity("kl", "Kullback–Leibler divergence of each release", "KL", ge=0, safe_direction=-1)
FPR = Quantity("fpr", "false-positive rate of a test, or a list: prints the largest true-positive rate", "f",
               kind="numbers", gt=0, lt=1)
TPR = Quantity("tpr", "budget on the true-positive rate at --fpr", "TPR", gt=0, le=1)
PRIOR = Quantity("prior", "probability of one of the two data sets before the output is seen", "π", gt=0, lt=1)
ROC = Quantity("roc", "print the ROC curve at this many false-positive rates", kind="count", ge=2, le=10_000)
P = Quantity("p", "outcome probabilities on one data set", "p", kind="numbers", ge=0, le=1)
Q = Quantity("q", "outcome probabilities on the neighbouring data set", "q", kind="numbers", ge=0, le=1)
SLACK = Quantity("slack", "what advanced composition adds to the sum of the δ", "δ′", gt=0, lt=1)
TARGET_EPSILON = Quantity("target_epsilon", "total ε after composition", "ε", ge=0)
TARGET_DELTA = Quantity("target_delta", "total δ after composition", "δ", ge=0, lt=1)
PRECISION = Quantity("precision", "relative width wanted of the bracket of a composed profile", kind="number", ge=1e-5,
                     le=0.1)
STEP_EPSILON = Quantity("step_epsilon", "ε of one step", "ε", ge=0)
RELEASE_EPSILON = Quantity("release_epsilon", "ε of one release of a ledger", "ε of the release", ge=0,
                           safe_direction=-1)
STEP_DELTA = Quantity("step_delta", "δ of one step", "δ", ge=0, lt=1)

C1 = Quantity("c1", "scale of the noise schedule: larger means more noise", "C1", gt=0, safe_direction=+1)
C2 = Quantity("c2", "offset of the noise schedule, which limits the noise at small n", "C2", ge=0)
DECAY = Quantity("decay", "exponent of the decay of the noise over the steps", "a", gt=1, le=1000)
LIPSCHITZ = Quantity("lipschitz", "Lipschitz constant of every record's loss", "L", gt=0)
SMOOTHNESS = Quantity("smoothness", "smoothness of every record's loss; 0 for linear losses", "β", ge=0)
STRONG_CONVEXITY = Quantity("strong_convexity", "strong convexity of every record's loss", "ρ", ge=0)
LEARNING_RATE = Quantity("learning_rate", "step size", "η", gt=0, safe_direction=+1, both=True)
DIAMETER = Quantity("diameter", "diameter of the constraint set (b − a for Laplace noise on [a, b])", "D", gt=0)
DIMENSION = Quantity("dimension", "dimension of the model; Laplace noise needs 1", "d", **_WHOLE)
INDEX = Quantity("index", "position of the record in a fixed order, 1 to n", "i", **_WHOLE)
PASSES = Quantity("epochs", "passes over the data", "E", **_WHOLE, safe_direction=-1)
TAU = Quantity("tau", "fraction of the records in each pass, reshuffled for each: --epochs E makes E/τ passes of τn",
               "τ", gt=0, lt=1)
CONSTANT = Quantity("constant", "constant of the conjecture", "C", ge=16)
HORIZON = Quantity("n", "number of records; inf for the limit", "n", kind="horizon", ge=1, search=(1.0, LARGEST_COUNT),
                   safe_direction=+1)
SIGMAS = Quantity("sigmas", "standard deviation of the Gaussian noise on the gradient of each step; @FILE reads them",
                  "σ_1,…",
                  kind="series", gt=0, reads=True)
SCALES = Quantity("scales", "scale of the Laplace noise of each step; @FILE reads them", "v_1,…", kind="series", gt=0,
                  reads=True)
SCHEDULE = Quantity("schedule", "print the noise level of steps FIRST to LAST, or COUNT of them", kind="text",
                    metavar="FIRST:LAST[:COUNT]")

CURVATURE = Quantity("curvature", "curvature of the affine gradient aθ + β", "a", ge=0)
ORDER = Quantity("order", "how batches are drawn: afresh at every step, or in the same order in every pass",
                 kind="choice",
                 choices=("random", "fixed"))
NOISE_SCHEDULE = Quantity("schedule",
                          "JSON file (or -) with lists sigma, learning_rate, uses: an entry a step, or [COUNT, VALUE]",
                          kind="text", metavar="FILE|-", reads=True)

NOISE = Quantity("noise", "law of the noise added to every gradient", kind="choice", choices=("gaussian", "laplace"))
MECHANISM = Quantity("mechanism", "what adds the noise", kind="choice",
                     choices=("gaussian", "laplace", "randomized-response"))
# The amount of noise, by mechanism; NOISE_MULTIPLIER gives the same as SIGMA in other units.
MECHANISM_OPTIONS = (SIGMA, SCALE, PROBABILITY)
SCHEME = Quantity("scheme", "how batches are drawn", kind="choice",
                  choices=("poisson", "without-replacement", "weighted"))
ADJACENCY = Quantity("adjacency", "which data sets are neighbours", kind="choice",
                     choices=("add-remove", "replace-one"))
FROM = Quantity("from", "the guarantee you have", kind="choice",
                choices=("rdp", "gdp", "zcdp", "dp", "tv", "outcomes", "profile"))
TO = Quantity("to", "the guarantee you want", kind="choice", choices=("dp", "rdp", "gdp", "zcdp", "tv"))

RUN = Quantity("run",
               "read the description of a run from a TOML or JSON file, - for standard input; options override it",
               kind="text",
               metavar="FILE|-", reads=True)
FILE = Quantity("file", "a ledger of releases (TOML or JSON), an earlier result (JSON), or the state of Opacus' "
                "accountant (JSON); - for standard input", kind="text", metavar="FILE|-", reads=True)
BATCHES = Quantity("batches", "how batches are formed", kind="choice",
                   choices=("poisson", "without-replacement", "shuffled", "fixed-order", "full", "stream"))
RELEASE = Quantity("release", "what is released: every-iterate where nothing is said", kind="choice",
                   choices=("every-iterate", "every-epoch", "last-iterate"))
RELEASE_OF_PASSES = RELEASE._replace(help="what is released: the last iterate of every epoch where nothing is said",
                                     choices=("every-epoch", "last-iterate"))
STEPS_OF_PASSES = Quantity("steps", "steps in all, in place of --epochs, where the last pass stops in the middle", "T",
                           **_WHOLE)
LOSS = Quantity("loss", "what is known of every record's loss: any where nothing is said", kind="choice",
                choices=("any", "convex"))
CLIPPING_NORM = Quantity("clipping_norm", "norm that every record's gradient is clipped to", "C", gt=0,
                         aliases=("max_grad_norm",))

BOUND = Quantity("bound", "use only this bound (repeatable)", kind="text")
PLOT = Quantity("plot", "draw a sweep into FILE.svg, FILE.png or FILE.pdf, or in the terminal (-)", kind="file")
BATCH = Quantity("batch", "read one set of options per line, as JSON or as CSV with a header, from a file or standard "
                 "input, and print one result per line; options given here are defaults", kind="text",
                 metavar="[FILE|-]")
OUTPUT_FILE = Quantity("output", "write the complete answer to this file, in the format of its suffix; an error leaves "
                       "the file as it was", kind="file")
SOLVE = Quantity("solve", "find this parameter so that the budget is just met", kind="text")
FORMAT = Quantity("format", "output format", kind="choice",
                  choices=("table", "json", "jsonl", "csv", "tsv", "markdown", "latex", "statement", "bibtex"))
DIGITS = Quantity("digits", "also evaluate the published formula with this many digits", kind="count", ge=15, le=1000)
STATUS = Quantity("status", "only bounds of this status", kind="choice",
                  choices=("proven", "as-published", "conjecture", "limit", "lower"))
USED_BY = Quantity("command", "only bounds that this command can answer by", kind="text")
ASSUMES = Quantity("assumes", "only bounds with this text among their assumptions, capitals or not", kind="text",
                   metavar="TEXT")
INPUT = Quantity("input", "read a guarantee (JSON) from a file, - for standard input", kind="text", metavar="FILE|-",
                 reads=True)

# In answers, where a letter alone would not be understood.
_OTHER_SYMBOLS = {"log_delta": "log δ", "noise_multiplier": "noise multiplier", "fpr": "FPR"}


@cache
def _symbols() -> dict[str, str]:
    return {x.name: x.symbol for x in globals().values() if isinstance(x, Quantity) and x.symbol} | _OTHER_SYMBOLS


def symbol(name: str) -> str:
    """The symbol of a quantity in answers, or its name."""
    return _symbols().get(name, name)

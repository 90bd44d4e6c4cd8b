"""dpcalc ledger: the total ε of several releases of one data set, and what is left of a budget."""

from dpcalc.core import quantities as q
from dpcalc.core.command import QUESTION, RUN, Command, Option, options

# What releases.toml holds in the first example of the help.
_SAMPLE = """\
where releases.toml is
    delta = 1e-5
    epsilon = 3             # the budget, if there is one
    [[release]]
    name = "model"          # optional
    command = "subsample"   # a command and its options
    n = 50_000
    batch-size = 1024
    epochs = 10
    noise-multiplier = 2    # or "?", to find it
    [[release]]
    command = "rdp"         # or file = "earlier.json"
    mechanism = "laplace"
    scale = 20
"""

COMMAND = Command(
    "ledger",
    "Total privacy loss of several releases of one data set, and what is left of a budget. In a file of "
    'releases one number may be "?", which is solved for.',
    (
        Option(q.FILE, RUN, multiple=True),
        Option(q.ALLOW_FILES_ANYWHERE, RUN),
        Option(q.EPSILON._replace(help="the budget on the total ε"), QUESTION),
        Option(q.DELTA._replace(help="δ of the total"), QUESTION),
        Option(q.RHO._replace(help="the budget on the total ρ of zCDP; beside that on ε, or alone", safe_direction=0),
               QUESTION),
        Option(q.MU._replace(help="the budget on the total μ of Gaussian DP; beside that on ε, or alone",
                             safe_direction=0), QUESTION),
        Option(q.SOLVE._replace(help='not for a ledger: write "?" in the file for the number to find'), QUESTION),
        Option(q.ADJACENCY._replace(help="which data sets are neighbours: releases that do not say it are bound to it, "
                                         "and replace-one converts those for other ones"), RUN),
        *options(QUESTION, q.ORDERS, q.PRECISION),
        *options(RUN, q.ADAPTIVE, q.FILTER, q.FILTER_ORDER, q.DELTA_RESERVE),
    ),
    examples=(
        ("ledger releases.toml", "ε = 0.951809"),
        ("rdp --sigma 2 --json | dpcalc ledger - --delta 1e-5 --epsilon 3", "ε = 1.9931"),
        ("subsample --n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --json | dpcalc ledger - --delta "
         "1e-5", "ε = 1.13403"),
        ("rdp --sigma 2 --json | dpcalc ledger - --adaptive --delta 1e-5 --epsilon 3", "ε = 3"),
    ),
    elsewhere=dict.fromkeys(("epochs", "steps", "n", "batch-size", "noise-multiplier", "sigma"),
                            "it belongs into a release of the file, or to the command whose JSON the ledger reads"),
    inputs=True,
    files="file",
    theorems_in="ledger_theorems",
    usual=("epsilon", "delta"),
    asks='Give --delta, or delta = 1e-5 in the file; --epsilon is the budget. Write "?" in the file for the number to '
         "find.",
    sample=_SAMPLE,
)

"""dpcalc tv: the total variation, and the largest success of any attacker."""

from dpcalc.core import counts, mechanism_names, noise_multiplier
from dpcalc.core import quantities as q
from dpcalc.core.command import ATTACK, GUARANTEE, MECHANISM, QUESTION, RUN, Command, Option, mechanism_options, options

SCHEMES = tuple(name for name in q.SCHEME.choices if name != "weighted")

COMMAND = Command(
    "tv",
    "What any attacker can do: total variation and true-positive rates of a mechanism, a training run or a guarantee.",
    (
        *mechanism_options("standard deviation of the noise on the query (in a run, on the sum of a batch)",
                           mechanism_names.ON_BATCHES),
        Option(counts.TOP_K, MECHANISM),
        Option(q.STEPS, RUN, default=1),
        Option(q.SCHEME, RUN, default="poisson", choices=SCHEMES),
        *options(RUN, q.SAMPLING_RATE, q.N, q.BATCH_SIZE, q.MAX_BATCH_SIZE, q.BANDS, q.EPOCHS, q.STEPS_PER_EPOCH,
                 q.DROP_LAST, q.RESHUFFLE, q.PARTICIPATIONS, q.ADJACENCY, q.GROUP_SIZE),
        *options(GUARANTEE, q.EPSILON, q.DELTA,
                 q.TV._replace(help="total variation of each release; with --solve, the budget"),
                 q.MU, q.RHO, q.ALPHAS, q.RDPS, q.KL, q.P, q.Q),
        *options(ATTACK, q.FPR, q.ROC, q.TPR, q.PRIOR, q.LOSS_RANGE),
        Option(q.PRECISION, QUESTION),
    ),
    examples=(
        ("tv --mechanism gaussian --sigma 50", "TV = 0.00797872"),
        ("tv --mechanism laplace --tv 0.01 --solve scale", "v = 49.7496"),
        ("tv --fpr 0.1 --tpr 0.2 --solve sigma", "σ = 2.27309"),
        ("tv --sampling-rate 0.01 --sigma 1 --steps 1000 --fpr 0.001,0.01,0.1", "TV = 0.16102"),
        ("tv --epsilon 0.5 --delta 0 --tv 0.05 --steps 50", "TV = 0.565636"),
        ("tv --epsilon 0.5 --delta 0 --tv 0.05 --json | dpcalc convert - --steps 50 --delta 1e-6", "ε = 8.61952"),
    ),
    inputs=True,
    elsewhere={**noise_multiplier.PARTS_OF_BATCHES,
               **counts.elsewhere("describe the release with dpcalc rdp … --json, and pipe it into dpcalc tv -"),
               "tries": "describe the run with rdp or subsample --tries --json, and pipe it into dpcalc tv -"},
    asks="Prints the total variation; --fpr or --roc adds true-positive rates. With --solve, give a budget: --tv, or "
         "--tpr at --fpr.",
    usual=("solve", "fpr", "tpr", "epsilon", "delta", "tv", "mechanism", "sigma", "noise_multiplier", "n",
           "batch_size", "epochs", "steps"),
)

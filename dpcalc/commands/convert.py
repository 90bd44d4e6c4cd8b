"""dpcalc convert: one kind of guarantee from another one, or from several composed."""

from dpcalc.core import quantities as q
from dpcalc.core import tries
from dpcalc.core.command import GUARANTEE, QUESTION, RUN, Command, Option, options

COMMAND = Command(
    "convert",
    "Convert one kind of guarantee to another, or compose several guarantees about the same data.",
    (
        Option(q.FROM, GUARANTEE),
        Option(q.TO, QUESTION),
        *options(GUARANTEE, q.ALPHAS, q.RDPS, q.WEIGHTS, q.MU, q.RHO, q.TV, q.P, q.Q),
        Option(q.STEPS._replace(help="how often the guarantee is composed with itself"), RUN, default=1),
        Option(q.GROUP_SIZE._replace(help="records in a group, as those of one user; the answer is about such groups, "
                                          "and what is given about one record"), RUN),
        Option(q.ADJACENCY._replace(help="which data sets are neighbours: inputs that do not say it are bound to it, "
                                         "and replace-one converts those for other ones"), RUN),
        *options(RUN, *tries.OPTIONS),
        *options(QUESTION, q.SLACK, q.TARGET_EPSILON, q.TARGET_DELTA, q.ORDERS, q.PRECISION),
        # --target-epsilon and --target-delta, which are ε and δ elsewhere, have a meaning of their own here.
        *options(QUESTION, q.EPSILON._replace(aliases=()), q.DELTA._replace(aliases=())),
    ),
    examples=(
        ("convert --from rdp --alpha 8 --rdp 0.5 --delta 1e-5", "ε = 1.70974"),
        ("convert --from gdp --mu 1 --delta 1e-5", "ε = 4.37718"),
        ("rdp --sigma 2 --json | dpcalc subsample - --sampling-rate 0.01 --steps 1000 --json | dpcalc convert - "
         "--delta 1e-5",
         "ε = 0.622123"),
    ),
    inputs=True,
    asks="Say what you have (--from, or JSON results), and ask with --delta (prints ε), --epsilon (prints δ), --alpha "
         "(prints the RDP) or --to. With --from dp, --epsilon and --delta are those of each step: ask with "
         "--target-delta or --target-epsilon.",
    elsewhere={"epochs": "give --steps T, which composes the guarantee T times"},
    usual=("from", "to", "epsilon", "delta", "alpha", "rdp", "mu", "rho", "steps", "target_epsilon",
           "target_delta"),
)

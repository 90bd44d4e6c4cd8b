"""dpcalc correlated: noise that is correlated between steps (DP-FTRL, matrix factorisation)."""

from dpcalc.core import quantities as q
from dpcalc.core.command import MECHANISM, QUESTION, RUN, Command, Option, options

# Steps: so many coefficients take a second and 200 MB, or 20 s and a gigabyte where a series is inverted.
LONGEST = 10**7

COMMAND = Command(
    "correlated",
    "Privacy of noise that is correlated between steps (DP-FTRL, matrix factorisation): each step takes back earlier "
    "noise by fixed coefficients. Every step is released.",
    (
        *options(MECHANISM, q.STRATEGY, q.COEFFICIENTS, q.BLT_SCALE, q.BLT_DECAY),
        Option(q.SIGMA._replace(help="standard deviation of each independent noise, in clipping norms; "
                                     "step t adds (C⁻¹z)_t to its sum of clipped gradients",
                                unit="clipping norms"), MECHANISM),
        Option(q.NOISE_MULTIPLIER._replace(help="refused, with what to write instead: other tools divide σ by the "
                                                "clipping norm, or by the sensitivity", safe_direction=0), MECHANISM),
        Option(q.SCHEDULE._replace(help="print the coefficients of C⁻¹ of steps FIRST to LAST, or of COUNT of them"),
               MECHANISM),
        Option(q.STRATEGIES, MECHANISM),
        Option(q.STEPS._replace(help="number of steps", safe_direction=0, le=float(LONGEST)), RUN),
        *options(RUN, q.TAKES_PART, q.SEPARATION, q.MIN_SEPARATION),
        Option(q.PARTICIPATIONS._replace(help="most steps that a record takes part in (default: as many as the "
                                              "separation leaves room for)"), RUN),
        Option(q.SAMPLING_RATE._replace(help="probability that a record is in a batch, of all data; for strategies "
                                             "with few bands, and cyclic Poisson batches", safe_direction=0), RUN),
        *options(RUN, q.CYCLE, q.CONTRACTION),
        Option(q.CLIPPING_NORM._replace(help="norm that every record's gradient is clipped to; with --solve sigma "
                                             "or --compare, for a note on the noise in absolute units"), RUN),
        Option(q.ADJACENCY._replace(help="which data sets are neighbours: zero-out removes the gradients of a record, "
                                         "replace-one counts twice", choices=("zero-out", "replace-one")), RUN,
               default="zero-out"),
        *options(QUESTION, q.ORDERS, q.PRECISION),
    ),
    examples=(
        ("correlated --steps 2052 --separation 342 --participations 6 --strategy banded-sqrt:342 --epsilon 8 "
         "--delta 1e-5 --solve sigma", "σ = 2.51381"),
        ("correlated --steps 1000 --order once --strategy square-root --sigma 5 --delta 1e-5", "ε = 1.38972"),
        ("correlated --steps 2000 --order once --epsilon 8 --delta 1e-5 --compare", "Strategies for ε ≤ 8"),
        ("correlated --steps 1000 --strategy square-root --schedule 1:3 --format csv | tail -n 1", "3,-0.125"),
    ),
    asks="Ask with --delta (prints ε), --epsilon (prints δ) or --alpha (prints the RDP), or give a budget and --solve "
         "sigma. --schedule prints the coefficients of the noise, and --compare a table of strategies.",
    elsewhere={
        "epochs": "passes are steps: with e passes of T/e steps in a fixed order, --separation T/e (1 where the passes "
                  "are shuffled) and --participations e",
        "n": "ε depends on which steps use a record, not on n; for Poisson batches give --sampling-rate, batch size/n",
        "batch-size": "ε depends on which steps use a record; for Poisson batches give --sampling-rate, batch size/n",
        "bands": "write --strategy banded-sqrt:B",
        "scheme": "for Poisson batches give --sampling-rate, for batches in a fixed order --separation",
        "rho": "ask with --delta and --json: ρ is among the results",
        "mu": "ask with --delta and --json: μ is among the results",
        "momentum": "momentum is computed from the released steps, and changes no ε",
        "weight-decay": "it changes the errors, and no ε by itself: --contraction is 1 − learning rate · weight decay",
    },
    usual=("epsilon", "delta", "solve", "strategy", "compare", "sigma", "steps", "order", "separation",
           "participations", "sampling_rate"),
)

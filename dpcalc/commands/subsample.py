"""dpcalc subsample: a mechanism on a random batch, over many steps (DP-SGD)."""

from dpcalc.core import counts, mechanism_names, noise_multiplier, tries
from dpcalc.core import quantities as q
from dpcalc.core.command import MECHANISM, QUESTION, RUN, Command, Option, mechanism_options, options

COMMAND = Command(
    "subsample",
    "Privacy of training on random batches that are drawn afresh at every step (DP-SGD). Every step is released.",
    (
        Option(q.SCHEME, RUN, default="poisson"),
        *options(RUN, q.SAMPLING_RATE, q.N, q.BATCH_SIZE, q.MAX_BATCH_SIZE, q.BANDS, q.STEPS, q.EPOCHS,
                 q.STEPS_PER_EPOCH, q.DROP_LAST, q.RESHUFFLE, q.PARTICIPATIONS, q.MAX_WEIGHT, q.ADJACENCY,
                 q.GROUP_SIZE),
        *mechanism_options("standard deviation of the noise on the sum of a batch (in the units of --sensitivity)",
                           mechanism_names.ON_BATCHES),
        Option(counts.TOP_K, MECHANISM),
        *options(RUN, *tries.OPTIONS),
        *options(QUESTION, q.ORDERS, q.PRECISION),
    ),
    examples=(
        ("subsample --n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5", "ε = 1.13403"),
        ("subsample --n 60000 --batch-size 256 --epochs 15 --epsilon 2 --delta 1e-5 --solve noise-multiplier",
         "Noise multiplier = 0.838801"),
        ("subsample --scheme without-replacement --n 60000 --batch-size 256 --steps 3516 --noise-multiplier 2 "
         "--delta 1e-5", "ε = 1.69796"),
    ),
    inputs=True,
    describes=True,
    elsewhere={**noise_multiplier.OF_TRAINING,
               **counts.elsewhere("clipping bounds what a record contributes to a batch; counts and sums by key are "
                                  "for dpcalc rdp"),
               **{name: f"sampling does not lower {of} of Gaussian noise: what meets such a budget is the noise for as "
                        f"many steps on all records, by dpcalc rdp --{name} X --steps T --solve noise-multiplier"
                  for name, of in (("rho", "ρ"), ("mu", "μ"))}},
    usual=("epsilon", "delta", "solve", "noise_multiplier", "mechanism", "scale", "scheme", "n", "batch_size", "epochs",
           "steps"),
)

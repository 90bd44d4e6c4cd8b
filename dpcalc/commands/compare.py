"""dpcalc compare: every guarantee that applies to a training run, and how much one more assumption would improve it."""

from typing import Any

from dpcalc.core import noise_multiplier
from dpcalc.core import quantities as q
from dpcalc.core.command import MECHANISM, RUN, Command, options
from dpcalc.core.quantities import Quantity


def _plain(quantity: Quantity, **changes: Any) -> Quantity:
    """The quantity as one that --solve does not take."""
    return quantity._replace(safe_direction=0, **changes)


COMMAND = Command(
    "compare",
    "Every guarantee that applies to a training run, the smallest first, and what would lower it. Options or a file "
    "(--run) describe the run.",
    (
        *options(RUN, q.RUN, _plain(q.N), q.BATCHES, _plain(q.BATCH_SIZE), q.DROP_LAST, q.RESHUFFLE,
                 _plain(q.STEPS, help="number of steps"), _plain(q.EPOCHS), q.RELEASE,
                 q.INDEX._replace(help="position of the record in a pass; for --batches fixed-order or stream"),
                 q.ADJACENCY, q.GROUP_SIZE, q.LOSS, q.LIPSCHITZ, q.SMOOTHNESS, q.STRONG_CONVEXITY,
                 _plain(q.LEARNING_RATE),
                 q.DIAMETER._replace(help="diameter of the constraint set K, in which w₀ lies")),
        *options(MECHANISM, q.SIGMA._replace(help="standard deviation of the noise on the mean gradient of a batch"),
                 q.NOISE_MULTIPLIER, q.CLIPPING_NORM),
    ),
    examples=(
        ("compare --n 60000 --batches without-replacement --batch-size 128 --steps 1e7 --sigma 0.1 --lipschitz 1 "
         "--loss convex --smoothness 1 --learning-rate 0.05 --diameter 2 --release last-iterate --delta 1e-5",
         "ε = 0.622607"),
        ("compare --n 60000 --batches poisson --batch-size 256 --epochs 15 --noise-multiplier 1.1 --clipping-norm 1 "
         "--delta 1e-5",
         "ε = 1.13403"),
        ("compare --n 60000 --batches shuffled --batch-size 256 --drop-last --epochs 15 --epsilon 8 --delta 1e-5 "
         "--solve noise-multiplier", "Noise multiplier = 1.02548"),
    ),
    elsewhere=noise_multiplier.OF_TRAINING,
    asks="Ask with --delta (prints ε) or --epsilon (prints δ), or give both and --solve.",
    usual=("epsilon", "delta", "solve", "noise_multiplier", "sigma", "clipping_norm", "run", "n", "batches",
           "batch_size", "epochs", "release", "loss"),
)

"""What the tests of compare share: runs of every kind of batches, and their answers."""

from functools import cache

from dpcalc.commands.compare import COMMAND
from dpcalc.core.validate import validate
from dpcalc.output.answer import record

LAST = {"lipschitz": "1", "loss": "convex", "smoothness": "1", "learning_rate": ".05", "diameter": "2",
        "release": "last-iterate"}
RUNS = {
    "poisson": {"n": "60000", "batches": "poisson", "batch_size": "256", "epochs": "3", "noise_multiplier": "1.1",
                "clipping_norm": "1"},
    "without-replacement": {"n": "60000", "batches": "without-replacement", "batch_size": "128", "steps": "1e7",
                            "sigma": ".1", **LAST},
    "shuffled": {"n": "1000", "batches": "shuffled", "batch_size": "3", "drop_last": True, "epochs": "1",
                 "sigma": ".5", **LAST},
    "shuffled passes": {"n": "305", "batches": "shuffled", "batch_size": "10", "drop_last": True, "epochs": "2",
                        "sigma": ".2", **LAST, "diameter": None},
    "fixed order": {"n": "1000", "batches": "fixed-order", "batch_size": "10", "epochs": "5", "sigma": ".2",
                    "index": "500", **LAST},
    "stream": {"n": "1000", "batches": "stream", "batch_size": "10", "sigma": ".2", "index": "500", **LAST},
    "full": {"n": "1000", "batches": "full", "steps": "500", "sigma": ".02", **LAST},
    "not convex": {"n": "1000", "batches": "shuffled", "batch_size": "1", "epochs": "1", "sigma": "2",
                   "clipping_norm": "1", "smoothness": "1",
                   "learning_rate": ".05", "release": "last-iterate"},
}


def compare(**said):
    said = {"delta": "1e-5", **said} if "epsilon" not in said else said
    return COMMAND.answer(validate(COMMAND, {k: v for k, v in said.items() if v is not None}))


@cache
def _record(items):
    return record(compare(**dict(items)))


def full(**said):
    """The JSON answer, what-ifs and all."""
    return _record(tuple(sorted((k, v) for k, v in said.items() if v is not None)))

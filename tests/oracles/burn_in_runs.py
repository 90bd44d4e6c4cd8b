"""What the tests of burn-in share: a run, and its answer and bounds."""

from dpcalc.bounds.noisy_sgd import burn_in_rdp, iteration
from dpcalc.commands.burn_in import COMMAND
from dpcalc.core.validate import validate

RUN = {"n": 60000, "batch_size": 128, "iterations": 10**7, "lipschitz": 1.0, "smoothness": 1.0, "strong_convexity": 0.0,
       "learning_rate": 0.05,
       "diameter": 2.0, "sigma": 0.1}
LINE = {"n": "60000", "batch_size": "128", "steps": "1e7", "lipschitz": "1", "smoothness": "1", "learning_rate": "0.05",
        "diameter": "2", "sigma": "0.1"}


def answer(**said):
    return COMMAND.answer(validate(COMMAND, {k: v for k, v in said.items() if v is not None}))


def upper(alpha, run):
    return burn_in_rdp.value(alpha, **run, **burn_in_rdp.search(alpha, **run))


def own(bound, run):
    return {k: run[k] for k in bound.params}


def iteration_params(run, **more):
    return {**{k: run[k] for k in iteration.BOUND.params if k not in ("period", "last")}, "period": 1, "last": 1,
            **more}

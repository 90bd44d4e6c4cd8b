"""δ of burn-in-contraction on random batches: its windows are compositions, which are bounded on grids of their own."""

from __future__ import annotations

from functools import cache
from math import inf
from typing import Any

from dpcalc.bounds.noisy_sgd import burn_in_contraction, burn_in_rdp
from dpcalc.bounds.noisy_sgd._engine import windows
from dpcalc.core.question import Question
from dpcalc.numerics.rounding import ratio_up
from dpcalc.verify import composition_grids, loss_distributions
from dpcalc.verify.loss_distributions import Use


def delta(mp: Any, epsilon: float, **own: Any) -> Any:
    """δ at ε by the points of the witness; with full batches all is in closed form."""
    if own["batch_size"] == own["n"]:
        return burn_in_contraction.exact(mp, epsilon, **own)
    run = burn_in_contraction.run_of(**{k: own[k] for k in burn_in_rdp.SHARED})

    def push(mp: Any) -> Any:
        return 2 * mp.mpf(own["lipschitz"]) / (own["batch_size"] * mp.mpf(own["sigma"]))

    @cache
    def window(mp: Any, steps: int, hidden: bool, u: Any) -> Any:
        at = max(0.0, float(u) * (1 - 1e-14))  # δ falls in ε
        if hidden:
            return windows.exact_hidden(mp, mp.mpf(at), run.q, push(mp), steps)
        rate = ratio_up((float(own["batch_size"]),), (float(own["n"]),))
        uses = ((Use(loss_distributions.gaussian(push), "without-replacement", rate), steps),)
        pairs = windows.composition(run.q, run.push, steps)
        grids = composition_grids.compute_grids(pairs, Question("delta", epsilon=at), at)
        return composition_grids.delta_from_above(mp, uses, grids, at, -inf)

    return burn_in_contraction.exact(mp, epsilon, **own, window=window)

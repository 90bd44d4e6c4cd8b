"""Compositions within published formulas: of epochs, whose profile is interpolated between given ε, and of the windows
of burn-in-contraction on random batches."""

from collections.abc import Callable, Mapping
from functools import cache
from math import inf
from typing import Any

from dpcalc.accounting import breakpoints
from dpcalc.accounting.orders import own_params
from dpcalc.bounds.noisy_sgd import burn_in_contraction, burn_in_rdp
from dpcalc.bounds.noisy_sgd._engine import windows
from dpcalc.core.bound import ProfileBound
from dpcalc.core.results import Question, Row
from dpcalc.numerics.mp.memo import cached_by_precision
from dpcalc.numerics.rounding import ratio_up
from dpcalc.verify import composition_atoms, composition_grids, loss_distributions
from dpcalc.verify.arb.context import enclose
from dpcalc.verify.loss_distributions import Use
from dpcalc.verify.unchecked import Unchecked

Delta = Callable[[Any, float, float], Any]  # (context, ε, log δ as claimed) → δ


def composed_delta(row: Row) -> Delta:
    """Return δ of all E epochs by the witness: by basic composition, E·δ₁(ε/E), or by a numerical composition."""
    bound, own = row.route.bound, own_params(row.route.bound, row.params)
    assert isinstance(bound, ProfileBound) and bound.one is not None
    one = bound.one
    steps = int(own.pop("steps"))
    if "each" in row.witness:
        choices = row.witness["each"]
        if not isinstance(choices, Mapping):
            raise ValueError("its way of each epoch is none")
        way = breakpoints.read_way(one.name, row.params, choices)
        own |= {} if way is None else {"way": way}
        return lambda mp, epsilon, log_delta: steps * enclose(
            mp, lambda: one.exact(mp, mp.mpf(epsilon) / steps, **own))
    if "epoch" in row.witness:
        epoch = breakpoints.read_epoch(row.witness["epoch"])

        @cached_by_precision(inf)
        def delta_of_one(mp: Any, epsilon: float) -> Any:
            way = {"way": epoch.ways[epsilon]} if epoch.ways else {}
            return enclose(mp, lambda: one.exact(mp, epsilon, **own, **way))

        pair = composition_atoms.profile_pair(epoch.epsilons, delta_of_one)
        uses, witness = ((Use(pair), steps),), row.witness
        return lambda mp, epsilon, log_delta: composition_grids.delta_from_above(mp, uses, witness, epsilon, log_delta)
    if not row.witness:  # nothing was composed, as δ is 1
        return lambda mp, epsilon, log_delta: mp.mpf(1)
    raise Unchecked("its witness does not tell at which ε one epoch is taken: it is of an earlier version, or "
                    "incomplete")


def delta_of_contraction(mp: Any, epsilon: float, **own: Any) -> Any:
    """Return δ of burn-in-contraction by the points of the witness; with full batches all is in closed form."""
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
        pairs = ((windows.step(run.q, run.push), steps),)
        grids = composition_grids.compute_grids(pairs, Question("delta", epsilon=at), at)
        return composition_grids.delta_from_above(mp, uses, grids, at, -inf)

    return burn_in_contraction.exact(mp, epsilon, **own, window=window)

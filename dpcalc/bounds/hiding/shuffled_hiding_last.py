"""The privacy profile of the last iterate of several shuffled passes, where a record hides in the last pass.

Theorem. In the setting of shuffled_hiding.py with c <= 1, q whole passes, each in a fresh secret uniform order, are
followed by r <= n slots of another one (q whole passes and r = n are q + 1 passes); only the last iterate is released.
Then the theorem there holds with the μ of last_pass.py and with the places of the last pass: a record has m = 0, …, r −
1 later slots, each with probability 1/n, and, where r < n, is absent with probability (n − r)/n.
Proof. The orders of all passes are independent. Condition on the place of record i in the last pass: P = Σ_m P_m/n over
n places, n − r of which are absence, and so for Q. For P_m against Q_m′ take the same orders of the earlier passes on
both sides, and the exchange of shuffled_hiding.py in the order of the last one: its bijection keeps the uniform law. If
m′ is absent, the exchange is with a record j that is not used in the last pass: then the P-run uses i where the Q-run
uses j, and the Q-run uses x_i′ nowhere in that pass; so they differ in slot m alone, and the μ is that of one place.
(Both absent: in no slot of it.)
In each earlier pass both runs use record i and its neighbour in the same slot and differ nowhere else: a push of at
most 2ηL there, at most c times the distance elsewhere. For c <= 1 that push is worst in the last slot t of its pass:
let it come at t′ < t instead, and take the same shifts a_k, each reduced where less is left. Then z′_k <= z_k +
c^{k−t′} pushes for t′ <= k < t, and at t, z′_t <= max(0, cz_{t−1} + c^{t−t′} − a_t) <= z_t, as c^{t−t′} <= 1; from then
on z′ <= z. A pass in which the record is not used at all has no push, and the same shifts, reduced, are valid. The
shift lemma and joint convexity over all orders give θ(log γ, μ) with the least Σa_k² of these pushes, which
last_pass.py has in closed form. Two iterates in a set of diameter D are at most D apart: take any coupling of both runs
after a whole pass, which is independent of later noises and orders, condition on it, and begin the shifts there with a
distance of D; that gives further valid μ. The rest is the proof of the theorem there for n equally likely places. ∎

Records that are left out of a pass, as n is no multiple of b, change nothing. Condition on whether i is left out of the
last pass, with the same probability on both data sets (joint convexity). If it is not, shuffled_hiding.py. If it is,
the divergence is at most θ(ε, μ_0) with the μ_0 of the earlier pushes alone. Every μ of the theorem is at least that,
start by start, and so is the theorem's sum at least θ(ε, μ_0): with P = N(μ_0, 1) and Q = N(0, 1) it is on any event at
least (1/n)Σ(p_mm′ P(A) − e^ε c_mm′ Q(A)) >= P(A) − e^ε Q(A).

With r = 1 and q = 0 the best p and c give what is attained, amplification by sampling one of n records, (1/n)θ(log(1 +
n(e^ε − 1)), 2L/σ). """

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.hiding import shuffled_hiding
from dpcalc.bounds.hiding._engine.profile import MANY, HidingProfile, Witness, witnesses
from dpcalc.bounds.hiding.shuffled_hiding import ASSUMPTIONS
from dpcalc.bounds.pnsgd._engine.iteration import CONVEX
from dpcalc.bounds.pnsgd._engine.step import RUN
from dpcalc.core.bound import Theorem
from dpcalc.numerics.rounding import ratio_up

if TYPE_CHECKING:
    from dpcalc.bounds.hiding._engine.last_pass import Run
    from dpcalc.numerics.arrays import Array


def _run(n: int, iterations: int, relative_diameter: Any) -> Run:
    """q whole passes and r more slots, T = qn + r with 0 < r <= n."""
    from dpcalc.bounds.hiding._engine.last_pass import Run

    whole, rest = divmod(iterations - 1, n)
    return Run(n, whole, rest + 1, relative_diameter)


def _relative_diameter(diameter: float | None, learning_rate: float, lipschitz: float) -> float:
    """D̂ = D/(2ηL), rounded up; inf without a set, or where its square could exceed the doubles."""
    if diameter is None or diameter > 1e100 * learning_rate * lipschitz:
        return inf
    return ratio_up((diameter,), (2.0, learning_rate, lipschitz))


def evaluate(epsilons: Array, fine: int, n: int, iterations: int, diameter: float | None = None,
             **p: float) -> tuple[Array, list[Witness]]:
    """Upper bounds on log δ at many ε, in blocks of at most 1/fine of the places before them, and their witnesses."""
    from dpcalc.bounds.hiding._engine import last_pass, plan

    run = _run(n, iterations, _relative_diameter(diameter, p["learning_rate"], p["lipschitz"]))
    bound, z = plan.profile(last_pass.places(*CONVEX.ratios(**p), run, fine), epsilons)
    return bound, witnesses(fine, z)


def _first(n: int, iterations: int, diameter: float | None = None, **p: float) -> float:
    """The largest μ of one place, without a set."""
    from dpcalc.bounds.hiding._engine import last_pass

    mu = CONVEX.ratios(**p)
    return float(last_pass.places(*mu, _run(n, iterations, inf), MANY).own[0])


def _exact_at(mp: Any, epsilon: Any, fine: int, chosen: list[float], n: int, iterations: int,
              diameter: float | None = None, **p: float) -> Any:
    from dpcalc.bounds.hiding._engine import last_pass, plan

    eta, lipschitz = p["learning_rate"], p["lipschitz"]
    rounded: Any = _relative_diameter(diameter, eta, lipschitz)
    exactly = rounded if rounded == inf else mp.mpf(diameter) / (2 * mp.mpf(eta) * mp.mpf(lipschitz))
    places = last_pass.places_exact(mp, *CONVEX.start_exact(mp, **p), _run(n, iterations, exactly), fine,
                                    CONVEX.start(**p)[1], _run(n, iterations, rounded))
    return plan.exact(mp, places, epsilon, chosen[0] if chosen else None)


BOUND = HidingProfile(evaluate, _exact_at, _first).bound(Theorem(
    name="shuffled-hiding-last", example=f"{RUN} --epochs 10 --release last-iterate --delta 1e-5",
    statement="shuffled-hiding for the last iterate of several passes, of which nothing else is released: its "
              "theorem, with the places of the record in the last pass (or its absence, where that pass stops in "
              "the middle), and with the μ of pushes in the last slot of every earlier pass too, undone at the "
              "least cost; with a set of diameter D from any pass on at whose beginning both runs are D apart",
    in_words="Several passes of noisy SGD in fresh secret orders, of which only the final model is released: earlier "
             "passes cost less, as later noise partly covers them (little less, if a pass has few steps), and in the "
             "last pass the record hides among all the others. A record is replaced. It is for convex smooth losses "
             "without clipping, and false where the order, an earlier model, its metrics or the stopping time are "
             "known.",
    source=shuffled_hiding.BOUND.source.replace("shuffled_hiding.py", "shuffled_hiding_last.py"),
    assumptions=(*ASSUMPTIONS, "no checkpoint, metric or early stopping from an earlier iterate is released"),
), params=(*CONVEX.params, "diameter", "n", "iterations"), composed=False)

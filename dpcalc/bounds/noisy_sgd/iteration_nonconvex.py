"""Gaussian DP of the last iterate for full batches or a fixed order of batches, without convexity: amplification by
iteration over steps that may expand, with the best shifts.

Statement. The last iterate is μ-GDP with the μ of iteration.py at c = 1 + ηβ: μ² = min over τ, a of Σ_{k>τ} a_k²/(ησ)²
with z_k = cz_{k−1} + s_k − a_k >= 0, z_T = 0, z_τ = min(D, distance reached by τ); s_k = 2ηL/b at the steps that use
the record, one in N = n/b, else 0. It is never above composition, which is a = s; with one use it is the theorem of one
pass.

Proof. Let X be P's run, φ its steps before the noise and ψ those of Q. X̃ is Q's iterate at τ, within z_τ of X as both
runs have the same batches and noise until then, and X̃ ← Π(ψ(X̃) + v + the noise of X) after it, v = λ(φ(X) − ψ(X̃)).
By without_convexity.py, |φ(X) − ψ(X̃)| <= |φ(X) − φ(X̃)| + |φ(X̃) − ψ(X̃)| <= cz + s, whatever c is. λ = min(1, a/|φ(X)
− ψ(X̃)|), so that v is at most a long, and what is left, and the next distance, is at most (|φ(X) − ψ(X̃)| − a)₊ <= cz
+ s − a. At the end it is 0: X̃ = X. Given both at τ, v_k is a function of the noises before step k, and so of X̃'s own
increments v + noise before it; the increments of X̃ against the noises of Q are thus an adaptive composition of
Gaussian mechanisms of ratios a/(ησ), with μ² = Σ a_k²/(ησ)², and both runs are the same function of them
(post-processing; joint convexity over the iterates at τ). (The shift lemma of Bok, Su & Altschuler 2024, Lemma 3.2,
holds for any Lipschitz step too.) ∎

Closed form. In units of a distance at τ, a push j steps later counts as c^{−j}s and the noise there as c^{−2j}. The
ratio of a push to the noise from there to the next use is c^N times that ratio of the use before, and for the last use,
which at most N steps follow, it is no smaller. So no push is left to be undone after the next use. Each push is undone
in the steps up to the next use, at the cost s²/Σ_{j<N} c^{−2j}, except for the first p, which are undone together with
the distance at τ: those whose own ratio is less than that of all before them, pooled. Own ratios rise with p, and a
pooled ratio is a mediant of those before: if push p is pooled, so is push p − 1. This is the lower convex hull
(taut.py). The distance is capped by D at τ only, which gives the same, as c >= 1. For a record of unknown place the
last use is the worst one: later steps are post-processing, and more steps before a window do not bring two runs
nearer. """

from __future__ import annotations

from math import exp, expm1, inf, log, log1p, sqrt
from typing import Any

from dpcalc.bounds.gaussian_dp import gaussian_bound
from dpcalc.bounds.noisy_sgd import iteration
from dpcalc.bounds.noisy_sgd._engine import taut
from dpcalc.bounds.noisy_sgd._engine.without_convexity import SETTING, with_curvature
from dpcalc.bounds.noisy_sgd.composition import HELD
from dpcalc.bounds.noisy_sgd.iteration import Run, uses_in_last
from dpcalc.core.bound import Choices, Theorem
from dpcalc.numerics.minimize import minimise_over
from dpcalc.numerics.rounding import up


def _make_run(**params: Any) -> Run:
    return iteration.make_run(**with_curvature(params))


def _geometric_sum(log_c: float, k: int, every: int = 1) -> float:
    """Σ_{j<k} c^{−j·every}."""
    x = every * log_c
    return expm1(-k * x) / expm1(-x) if x else float(k)


def _start_distance(r: Run, m: int) -> float:
    """z_τ, m steps before the end."""
    inside = uses_in_last(r, m)
    if inside == r.uses:
        return 0.0
    since = r.last + inside * r.period - 1 - m  # steps from the last of the earlier uses
    growth = ((r.uses - inside - 1) * r.period + since) * r.log_c
    reached = r.push * exp(growth) * _geometric_sum(r.log_c, r.uses - inside, r.period) if growth < 700 else inf
    return min(r.diameter, reached)


def mu_from(r: Run, m: int) -> float:
    """μ with shifts in the last m steps only, from the distance that the steps before them have reached."""
    start, inside = _start_distance(r, m), uses_in_last(r, m)
    first = m - (r.last - 1 + (inside - 1) * r.period) if inside else m  # steps to the first use
    own_cost = r.push**2 / _geometric_sum(2 * r.log_c, r.period)
    own_cost_of_last = r.push**2 / _geometric_sum(2 * r.log_c, r.last)

    def pooled(p: int) -> tuple[float, float]:
        """The start distance plus the first p pushes, and the noise until the next use."""
        steps = m if p == inside else first - 1 + p * r.period
        pushes = r.push * exp(-first * r.log_c) * _geometric_sum(r.log_c, p, r.period) if p else 0.0
        return start + pushes, exp(-2 * r.log_c) * _geometric_sum(2 * r.log_c, steps)

    def is_pooled(p: int) -> bool:
        """Whether push p >= 1 is undone together with all before it: its own ratio is no larger than theirs."""
        pushes, noise = pooled(p - 1)
        steps = r.last if p == inside else r.period
        own = log(r.push) + (first + (p - 1) * r.period) * r.log_c - log(_geometric_sum(2 * r.log_c, steps))
        return pushes > 0 and (noise == 0 or log(pushes / noise) >= own)

    low, high = 0, inside
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if is_pooled(middle) else (low, middle - 1)
    pushes, noise = pooled(low)
    together = pushes * pushes / noise if noise > 0 else inf if pushes else 0.0
    rest = (inside - low - 1) * own_cost + own_cost_of_last if low < inside else 0.0
    return up(sqrt(together + rest), 3e-13)


def search(**params: Any) -> dict[str, Any]:
    """{r}: the number of last steps with shifts; any proves a bound. Tried are all steps, and those after a use, whose
    best number depends on the diameter."""
    r = _make_run(**{name: params[name] for name in BOUND.params})
    starts = [r.steps]
    low, high = (0 if r.last > 1 else 1), r.uses - 1
    if high >= low:
        # A guess: the number of uses after which the distance is D.
        grown = r.diameter * expm1(r.period * r.log_c) / r.push if r.period * r.log_c < 700 else inf
        guess = r.diameter / r.push if r.log_c == 0 else log1p(grown) / (r.period * r.log_c) if grown < inf else 0.0
        count = minimise_over(lambda i: mu_from(r, r.last - 1 + i * r.period), int(min(guess, high)), low, high)
        starts += [r.last - 1 + count * r.period]
    return {"r": min(starts, key=lambda m: mu_from(r, m))}


def mu(r: int, **params: Any) -> float:
    """μ with shifts in the last r steps, rounded up."""
    run = _make_run(**params)
    return mu_from(run, r) if run.uses else 0.0


def exact_mu(mp: Any, batch_size: int, iterations: int, lipschitz: float, smoothness: float, learning_rate: float,
             diameter: float, sigma: float, period: int, last: int, r: int) -> Any:
    """μ at high precision, by the hull over each of the last r steps."""
    iteration.refuse_longer(iterations)
    c, noise = 1 + mp.mpf(learning_rate) * mp.mpf(smoothness), (mp.mpf(learning_rate) * mp.mpf(sigma)) ** 2
    push = 2 * mp.mpf(learning_rate) * mp.mpf(lipschitz) / batch_size
    # From the last step backwards.
    pushes = [push if k % period == (last - 1) % period and k >= last - 1 else mp.mpf(0) for k in range(iterations)]
    z = mp.mpf(0)
    for s in reversed(pushes[r:]):
        z = min(mp.mpf(diameter), c * z + s)
    steps = [(noise * c ** (2 * j), c**j * pushes[j], z * c ** (j + 1), j == r - 1) for j in range(r)]
    return mp.sqrt(taut.least(steps)[0])


BOUND = gaussian_bound(
    Theorem(
        name="iteration-nonconvex",
        example="burn-in --n 60 --batch-size 6 --steps 1e6 --order fixed --lipschitz 1 --smoothness 1 --learning-rate "
                "0.05 --diameter 2 --sigma 0.1 --loss any --delta 1e-5",
        statement="the last iterate is μ-GDP, μ² = min Σ a_k²/(ησ)² over shifts z_k = cz_{k−1} + s_k − a_k ≥ 0 that "
                  "end at 0 (lower convex hull), c = 1 + ηβ; proof in dpcalc/bounds/noisy_sgd/iteration_nonconvex.py",
        source="after Feldman, Mironov, Talwar & Thakurta 2018, Theorem 22, and Berthier 2019, Theorem 3.5",
        assumptions=(*SETTING,
                     "every step uses all records (b = n), or the batches come in the same fixed order in every pass",
                     HELD,
                     "only the last iterate is released"),
    ),
    params=tuple(name for name in iteration.BOUND.params if name != "strong_convexity"),
    mu=mu,
    exact_mu=exact_mu,
    rtol=1e-11,
    choices=Choices(search=search),
)

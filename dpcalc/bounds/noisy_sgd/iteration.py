"""Gaussian DP of the last iterate for full batches or a fixed order of batches: amplification by iteration, with the
best shifts.

Statement. The last iterate is μ-GDP, μ² = min over τ, a of Σ_{k>τ} a_k²/(ησ)² with z_k = cz_{k−1} + s_k − a_k >= 0, z_T
= 0, z_τ = min(D, distance reached by τ); s_k = 2ηL/b (a push) at the steps that use the record, one in N = n/b, else 0.

Proof. As in burn_in_rdp.py, with μ for the divergence: all randomness is the noise, a step multiplies the distance of
two runs by c and adds s_k at most, and the noise lets the distance fall by a_k at the cost of a Gaussian mechanism of
ratio a_k/(ησ) (Bok, Su & Altschuler 2024). ∎

Closed form. With constant steps the pushes to come lie on a convex chain over the noise to come (taut.py), so that the
hull has at most four points: the end, the last use, the first use after τ, and τ. Full batch, strongly convex, τ = 0: μ
= (2L/(nσ))√((1−c^T)/(1+c^T)·(1+c)/(1−c)). """

from math import exp, expm1, inf, log, sqrt
from typing import Any, NamedTuple

from dpcalc.bounds.gaussian_dp import gaussian_bound
from dpcalc.bounds.noisy_sgd._engine import contraction, taut
from dpcalc.bounds.noisy_sgd.composition import HELD, SETTING
from dpcalc.core.bound import Choices, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.minimize import minimise_over
from dpcalc.numerics.rounding import up

_LONGEST_EXACT = 200_000  # steps of the printed formula at high precision: about six seconds


class Run(NamedTuple):
    """A run with constant steps, with lengths in units of the noise ησ of a step."""

    g: float  # 1 − c
    log_c: float
    push: float  # s, at every use of the record
    period: int  # steps from one use to the next
    last: int  # the last use is in the `last`-th step from the end (1: in the last step)
    uses: int
    diameter: float
    steps: int


def make_run(batch_size: int, iterations: int, lipschitz: float, smoothness: float, strong_convexity: float,
             learning_rate: float, diameter: float, sigma: float, period: int, last: int) -> Run:
    """The run of these parameters."""
    g = contraction.gap(learning_rate, smoothness, strong_convexity)
    uses = (iterations - last) // period + 1 if iterations >= last else 0
    push, width = 2 * lipschitz / batch_size / sigma, diameter / learning_rate / sigma
    return Run(g, contraction.log_c(g), push, period, last, uses, width, iterations)


def _power(r: Run, k: int) -> float:
    """c^k."""
    return exp(k * r.log_c) if k else 1.0


def _noise(r: Run, k: int) -> float:
    """Σ_{j<k} c^{2j}, the noise of k steps."""
    if r.g == 0:
        return float(k)
    return expm1(2 * k * r.log_c) / (-r.g * (2 - r.g)) if r.g < 1 else 1.0


def _pushes(r: Run, count: int) -> float:
    """Σ_{i<count} c^{Ni}·s, the distance right after the last of `count` uses."""
    if r.g == 0 or count == 0:
        return count * r.push
    return r.push * (expm1(r.period * count * r.log_c) / expm1(r.period * r.log_c) if r.g < 1 else 1.0)


def mu_from(r: Run, m: int) -> float:
    """μ with shifts in the last m steps only, from the distance that the steps before them have reached."""
    inside = uses_in_last(r, m)
    before = r.uses - inside
    since = r.last + inside * r.period - 1 - m  # steps from the last of the earlier uses to the start
    start = min(r.diameter, _pushes(r, before)) * _power(r, since) if before else 0.0
    corners = sorted({r.last, r.last + (inside - 1) * r.period} - {m}) if inside else []
    hull = taut.Hull()
    previous, counted = 0, 0
    for corner in [*(c for c in corners if c < m), m]:
        now = inside if corner == m else (corner - r.last) // r.period + 1
        push = _power(r, r.last - 1 + counted * r.period) * _pushes(r, now - counted)
        push += start * _power(r, m) if corner == m else 0.0
        top = hull.put(_power(r, 2 * previous) * _noise(r, corner - previous), push)
        previous, counted = corner, now
    return up(sqrt(top[2]), 3e-13)


def uses_in_last(r: Run, m: int) -> int:
    """The number of uses of the record in the last m steps."""
    return min(r.uses, (m - r.last) // r.period + 1) if m >= r.last else 0


def search(batch_size: int, iterations: int, lipschitz: float, smoothness: float, strong_convexity: float,
           learning_rate: float, diameter: float, sigma: float, period: int, last: int,
           **question: float) -> dict[str, Any]:
    """{r}: the number of last steps with shifts; any proves a bound. A start just after a use is best, so the number of
    uses is searched for."""
    r = make_run(batch_size, iterations, lipschitz, smoothness, strong_convexity, learning_rate, diameter, sigma,
                 period, last)
    if not r.uses:
        return {"r": iterations}
    visible = _visible(r)
    most = min(r.uses - 1, (visible - last) // period) if visible >= last else 0
    low = 0 if last > 1 else 1
    trials = [visible]
    if most >= low:
        i = minimise_over(lambda i: mu_from(r, last - 1 + i * period), _guess(r, most), low, most)
        trials += [last - 1 + i * period, min(visible, last + i * period)]
    return {"r": min(trials, key=lambda m: mu_from(r, m))}


def _visible(r: Run) -> int:
    """The number of last steps M up to c^M = e^{−300}: what was pushed earlier has no effect."""
    if r.g == 0:
        return r.steps
    return max(1, min(r.steps, int(-300 / r.log_c))) if r.g < 1 else 1


def _guess(r: Run, most: int) -> int:
    """The best number of uses if every step used the record: D/s, or M with c^M = 1 − D/(largest distance)."""
    if r.g == 0:
        return int(min(r.diameter / r.push, most))
    left = 1 - r.diameter / _pushes(r, 10**18)
    return int(min(log(left) / r.log_c / r.period, most)) if left > 0 and r.log_c > -inf else most


def mu(batch_size: int, iterations: int, lipschitz: float, smoothness: float, strong_convexity: float,
       learning_rate: float, diameter: float, sigma: float, period: int, last: int, r: int) -> float:
    """μ with shifts in the last r steps, rounded up."""
    run = make_run(batch_size, iterations, lipschitz, smoothness, strong_convexity, learning_rate, diameter, sigma,
                   period, last)
    return mu_from(run, r) if run.uses else 0.0


def exact_mu(mp: Any, batch_size: int, iterations: int, lipschitz: float, smoothness: float, strong_convexity: float,
             learning_rate: float, diameter: float, sigma: float, period: int, last: int, r: int) -> Any:
    """μ at high precision, by the hull over each of the last r steps."""
    refuse_longer(iterations)
    c = 1 - contraction.exact_gap(mp, learning_rate, smoothness, strong_convexity)
    noise, d = (mp.mpf(learning_rate) * mp.mpf(sigma)) ** 2, mp.mpf(diameter)
    push = 2 * mp.mpf(learning_rate) * mp.mpf(lipschitz) / batch_size
    used = [(iterations - k - (last - 1)) % period == 0 and iterations - k >= last - 1
            for k in range(1, iterations + 1)]
    z = mp.mpf(0)
    for use in used[:iterations - r]:
        z = c * z + (push if use else 0)
    z = min(z, d * c ** _steps_since_use(used[:iterations - r]))
    steps = [(noise * c ** (2 * j), push * c**j if used[iterations - 1 - j] else mp.mpf(0), z * c ** (j + 1),
              j == r - 1) for j in range(r)]
    return mp.sqrt(taut.least(steps)[0])


def refuse_longer(iterations: int) -> None:
    """Raises OutOfScope where the printed formula, which is evaluated step by step, would take long."""
    if iterations > _LONGEST_EXACT:
        raise OutOfScope("out-of-range",
                         f"the formula has {iterations} steps; at most {_LONGEST_EXACT} are allowed with --digits",
                         "--digits")


def _steps_since_use(used: list[bool]) -> int:
    return next((i for i, use in enumerate(reversed(used)) if use), 0)


BOUND = gaussian_bound(
    Theorem(
        name="iteration",
        example="burn-in --n 60 --batch-size 6 --steps 1e6 --order fixed --lipschitz 1 --smoothness 1 --learning-rate "
                "0.05 --diameter 2 --sigma 0.1 --delta 1e-5",
        statement="the last iterate is μ-GDP, μ² = min Σ a_k²/(ησ)² over shifts z_k = cz_{k−1} + s_k − a_k ≥ 0 that "
                  "end at 0 (lower convex hull); proof in dpcalc/bounds/noisy_sgd/iteration.py",
        source="Feldman, Mironov, Talwar & Thakurta 2018, Theorem 22; Bok, Su & Altschuler 2024, Theorems 4.1 and "
               "4.3, arXiv:2403.00278",
        assumptions=(*SETTING,
                     "every step uses all records (b = n), or the batches come in the same fixed order in every pass",
                     HELD, "only the last iterate is released"),
    ),
    params=("batch_size", "iterations", "lipschitz", "smoothness", "strong_convexity", "learning_rate", "diameter",
            "sigma", "period", "last"),
    mu=mu,
    exact_mu=exact_mu,
    rtol=1e-11,
    choices=Choices(search=search),
)

"""The burn-in theorem for whole privacy profiles.

Statement. For every R <= T and σ1² + σ2² = σ², the last iterate is dominated by R steps of the pair of
`sampled_step.py` at noise σ2 composed with a Gaussian of μ = d√w(R)/(ησ1), d and w(R) as in burn_in_rdp.py.

Proof. The one of burn_in_rdp.py with trade-off functions in place of D_α: the shifted f-divergence of a step composes
its two parts, a step from a common point and a Gaussian hiding a_k, and after R steps Gaussians of ratios a_k/(ησ1)
compose to √(Σ a_k²)/(ησ1) (Bok, Su & Altschuler 2024, Lemma 3.2 and Theorem 3.1). Composition of dominating pairs: Zhu,
Dong & Wang 2022, Theorem 10. """

from __future__ import annotations

from functools import cache, lru_cache
from math import exp, expm1, inf, log, log1p, sqrt
from typing import TYPE_CHECKING, Any

from dpcalc.bounds.conversions import rdp_improved
from dpcalc.bounds.mechanisms import gaussian_exact
from dpcalc.bounds.noisy_sgd import burn_in_rdp, composition
from dpcalc.bounds.noisy_sgd.burn_in_rdp import SHARED
from dpcalc.core.bound import Bound
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.hockey_stick import epsilon_for, log_theta
from dpcalc.numerics.minimize import minimise
from dpcalc.numerics.rounding import ratio_up, up

if TYPE_CHECKING:
    from dpcalc.pld.bracket import Bracket
    from dpcalc.pld.pilot import Parts

Spec = tuple[int, int, float, float, int, float]
PRECISION = 1e-3  # of ε, and of log δ
_ROUGH = 0.03  # while R and the split are compared
_LARGEST_MEAN, _DEEPEST = 3000.0, 5000.0  # of a loss; −log δ
_CLOSE = 1.3  # plain composition is tried where the RDP bound says it is that near
_ORDERS = (0.4, 1.0, 2.2)  # of α − 1, about the best order of the RDP bound: each has its own best R and split


def parts_of(n: int, batch_size: int, lipschitz: float, sigma2: float, r: int, mu: float) -> Parts:
    """R sampled steps, each at most q = b/n and 1/z = 2L/(bσ2) rounded up, and the Gaussian that hides the start."""
    from dpcalc.pld.pair import Gaussian
    from dpcalc.pld.sampled import without_replacement

    q, ratio = _step(n, batch_size, lipschitz, sigma2)
    step = without_replacement(Gaussian(ratio), q)
    return ((step, r), (Gaussian(mu), 1)) if mu else ((step, r),)


def parts_at(**params: Any) -> Parts:
    """At a split and an R."""
    return parts_of(*_spec(**params))


def _spec(n: int, batch_size: int, iterations: int, lipschitz: float, smoothness: float, strong_convexity: float,
          learning_rate: float,
          diameter: float, sigma: float, r: int, sigma1: float) -> Spec:
    """What parts_of takes."""
    mu = burn_in_rdp.shift(batch_size, iterations, lipschitz, smoothness, strong_convexity, learning_rate, diameter, r,
                           sigma1)
    return n, batch_size, lipschitz, burn_in_rdp.rest(sigma, sigma1), r, mu


def value(epsilon: float, **params: Any) -> float:
    """log δ(ε), at the given R and σ1."""
    if params["iterations"] == 1:
        return composition_value(epsilon, **{name: params[name] for name in composition.BOUND.params})
    return _at_epsilon(epsilon, _spec(**params)).upper


def inverse(log_delta: float, **params: Any) -> float:
    """ε at log δ."""
    if params["iterations"] == 1:
        return composition_inverse(log_delta, **{name: params[name] for name in composition.BOUND.params})
    return _finite(_at_delta(log_delta, _spec(**params)).upper)


def trace(epsilon: float | None = None, log_delta: float | None = None, **params: Any) -> dict[str, Any]:
    """The grid of the composition."""
    return _grid(_spec(**params), params["iterations"], epsilon, log_delta)


def _grid(spec: Spec, iterations: int, epsilon: float | None, log_delta: float | None) -> dict[str, Any]:
    if iterations == 1:
        return {}
    return (_at_epsilon(epsilon or 0.0, spec) if log_delta is None else _at_delta(log_delta, spec)).witness


@lru_cache(maxsize=8)
def _at_epsilon(epsilon: float, spec: Spec) -> Bracket:
    from dpcalc.pld.bracket import log_delta_at_epsilon

    return log_delta_at_epsilon(parts_of(*spec), epsilon, PRECISION, bracket=False)


@lru_cache(maxsize=8)
def _at_delta(log_delta: float, spec: Spec) -> Bracket:
    from dpcalc.pld.bracket import epsilon_at_delta

    return epsilon_at_delta(parts_of(*spec), log_delta, PRECISION, bracket=False)


def one_step(epsilon: float, n: int, batch_size: int, lipschitz: float, sigma: float) -> float:
    """log of q·θ(log(1 + (e^ε − 1)/q), 2L/(bσ))."""
    q, ratio = _step(n, batch_size, lipschitz, sigma)
    inner = log1p(expm1(epsilon) / q) if epsilon < 600 else epsilon - log(q)
    return min(0.0, up(log(q) + log_theta(inner * (1 - 1e-15), ratio), 1e-12))


def one_step_inverse(log_delta: float, n: int, batch_size: int, lipschitz: float, sigma: float) -> float:
    q, ratio = _step(n, batch_size, lipschitz, sigma)
    if log_delta >= log(q):
        return 0.0
    inner = epsilon_for((log_delta - log(q)) * (1 + 1e-12), ratio)
    return up(log1p(q * expm1(inner)) if inner < 600 else inner + log(q), 1e-14)


def _step(n: int, batch_size: int, lipschitz: float, sigma: float) -> tuple[float, float]:
    """q = b/n and 1/z = 2L/(bσ), rounded up."""
    return ratio_up((float(batch_size),), (float(n),)), ratio_up((2.0, lipschitz), (float(batch_size), sigma))


def _worth_composing(epsilon: float | None, mean: float, rdp_at_two: float) -> None:
    """Raises OutOfScope where a composed profile would say nothing that the RDP bounds do not, and take long: a mean
    loss (about ε(1.01)) in the thousands, or far above the ε asked for, where δ is 1; or δ near e^{−ε²/(2μ²)} far below
    every double, μ² about ε(2)."""
    hopeless = mean > _LARGEST_MEAN or (epsilon is not None and mean > epsilon + 12 * sqrt(2 * mean))
    deep = epsilon is not None and rdp_at_two > 0 and epsilon * epsilon / (2 * rdp_at_two) > _DEEPEST
    if hopeless or deep:
        raise OutOfScope("no-solution",
                         "the loss is too far from the question for a composed profile; the RDP bounds answer",
                         "--bound")


def _finite(epsilon: float) -> float:
    if epsilon == inf:
        raise OutOfScope("no-solution", "the profile reaches that δ at no ε", "--delta")
    return epsilon


def search(epsilon: float | None = None, log_delta: float | None = None, **params: Any) -> dict[str, Any]:
    """{r, sigma1}: the best of a few that are optimal for the RDP bound at orders near its best one; where the window
    seldom sees the record, of some near that, too."""
    from dpcalc.pld.bracket import epsilon_at_delta, log_delta_at_epsilon

    whole = {"r": params["iterations"], "sigma1": 0.0}
    if params["iterations"] == 1:
        return whole
    _worth_composing(epsilon, *(burn_in_rdp.value(alpha, **params, **burn_in_rdp.search(alpha, **params))
                                for alpha in (1.01, 2.0)))
    best, value_there, composed = _best_order(epsilon, log_delta, tuple(params.items()))
    found = [burn_in_rdp.search(1 + (best - 1) * k, **params) for k in _ORDERS]
    if composed < inf and (composed * _CLOSE <= value_there if epsilon is not None
                           else composed <= value_there * _CLOSE):
        found.append(whole)
    trials = _different(found)
    rare = any(trial["sigma1"] and trial["r"] * params["batch_size"] < params["n"] for trial in trials)
    if len(trials) == 1 and not rare:
        return trials[0]

    @cache
    def at(r: int, sigma1: float) -> float:
        return loss({"r": r, "sigma1": sigma1})

    def loss(trial: dict[str, Any]) -> float:
        parts = parts_at(**params, **trial)
        try:
            if epsilon is not None:
                return log_delta_at_epsilon(parts, epsilon, _ROUGH, bracket=False).upper
            return epsilon_at_delta(parts, log_delta or 0.0, _ROUGH, bracket=False).upper
        except OutOfScope:
            return inf

    first = min(trials, key=lambda trial: at(trial["r"], trial["sigma1"]))
    if not rare:
        return first
    from dpcalc.bounds.noisy_sgd._engine.windows import nearby

    start = min((trial for trial in trials if trial["sigma1"]), key=lambda trial: at(trial["r"], trial["sigma1"]))
    r, sigma1 = nearby(at, (start["r"], start["sigma1"]), params["iterations"], params["sigma"],
                       1.0 if epsilon is not None else 0.0)
    return {"r": r, "sigma1": sigma1} if at(r, sigma1) <= at(first["r"], first["sigma1"]) else first


def _different(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One of each group of choices within 3 % of each other: their losses differ by the square of that."""
    kept: list[dict[str, Any]] = []
    for x in found:
        if not any(abs(x["r"] - y["r"]) <= 0.03 * y["r"] and abs(x["sigma1"] - y["sigma1"]) <= 0.03 * y["sigma1"]
                   for y in kept):
            kept.append(x)
    return kept


@lru_cache(maxsize=64)
def _best_order(epsilon: float | None, log_delta: float | None,
                items: tuple[tuple[str, Any], ...]) -> tuple[float, float, float]:
    """The order at which the RDP bound answers the same question best, its answer there, and that of plain
    composition."""
    params = dict(items)
    own = {name: params[name] for name in composition.BOUND.params}

    def convert(alpha: float, rdp: float) -> float:
        if rdp == inf:
            return inf
        if epsilon is not None:
            x = rdp_improved.log_delta(alpha, rdp, epsilon)
            return x if x < 0 else alpha  # where it says nothing, smaller orders are the way down
        return rdp_improved.value(alpha, rdp, log_delta or 0.0)

    def at(u: float) -> float:
        alpha = 1 + exp(u)
        return convert(alpha, burn_in_rdp.value(alpha, **params, **burn_in_rdp.search(alpha, **params)))

    slope = burn_in_rdp.value(2.0, **params, **burn_in_rdp.search(2.0, **params)) / 2
    if not 0 < slope < inf:
        return 2.0, at(0.0), convert(2.0, composition.value(2.0, **own))
    guess = 0.5 * log(-log_delta / slope) if log_delta else log(max(((epsilon or 0.0) / slope - 1) / 2, 1e-3))
    u = minimise(at, min(max(guess, -6.0), 20.0), -9.0, 22.0, 0.7, 0.02)
    return 1 + exp(u), at(u), convert(1 + exp(u), composition.value(1 + exp(u), **own))


def exact(mp: Any, epsilon: float, **params: Any) -> Any:
    """One step only (R = T = 1): q·θ(log(1 + (e^ε − 1)/q), 2L/(bσ))."""
    return composition_exact(mp, epsilon, params["n"], params["batch_size"], params["iterations"], params["lipschitz"],
                             params["sigma"])


def composition_value(epsilon: float, n: int, batch_size: int, iterations: int, lipschitz: float,
                      sigma: float) -> float:
    """log δ(ε) of T sampled steps."""
    if iterations == 1:
        return one_step(epsilon, n, batch_size, lipschitz, sigma)
    _worth_composing(epsilon,
                     *(composition.value(alpha, n, batch_size, iterations, lipschitz, sigma) for alpha in (1.01, 2.0)))
    return _at_epsilon(epsilon, (n, batch_size, lipschitz, sigma, iterations, 0.0)).upper


def composition_inverse(log_delta: float, n: int, batch_size: int, iterations: int, lipschitz: float,
                        sigma: float) -> float:
    if iterations == 1:
        return one_step_inverse(log_delta, n, batch_size, lipschitz, sigma)
    _worth_composing(None,
                     *(composition.value(alpha, n, batch_size, iterations, lipschitz, sigma) for alpha in (1.01, 2.0)))
    return _finite(_at_delta(log_delta, (n, batch_size, lipschitz, sigma, iterations, 0.0)).upper)


def composition_trace(n: int, batch_size: int, iterations: int, lipschitz: float, sigma: float,
                      epsilon: float | None = None,
                      log_delta: float | None = None) -> dict[str, Any]:
    return _grid((n, batch_size, lipschitz, sigma, iterations, 0.0), iterations, epsilon, log_delta)


def composition_exact(mp: Any, epsilon: float, n: int, batch_size: int, iterations: int, lipschitz: float,
                      sigma: float) -> Any:
    if iterations != 1:
        raise OutOfScope("out-of-range",
                         "a composed profile has no closed form; its value is an upper bound within 0.1 %", "--digits")
    q = mp.mpf(batch_size) / n
    return q * gaussian_exact.theta(mp, mp.log1p(mp.expm1(mp.mpf(epsilon)) / q),
                                    2 * mp.mpf(lipschitz) / (batch_size * mp.mpf(sigma)))


BOUND = Bound(
    name="burn-in-profile",
    example="burn-in --n 60000 --batch-size 128 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate 0.05 "
    "--diameter 2 --sigma 0.1 --delta 1e-5",
    kind="profile",
    statement="R steps of the pair δ(ε) = q·θ(log(1 + (e^ε − 1)/q), 2L/(bσ2)) composed with a Gaussian of μ = "
              "d√w(R)/(ησ1), for the "
    "best R and σ1² + σ2² = σ²; proof in dpcalc/bounds/noisy_sgd/burn_in_profile.py",
    source="after Altschuler & Talwar 2022, Theorem 3.1, and Bok, Su & Altschuler 2024, Theorem 3.1",
    assumptions=burn_in_rdp.BOUND.assumptions,
    params=SHARED,
    value=value,
    exact=exact,
    rtol=2 * PRECISION,
    inverse=inverse,
    search=search,
    trace=trace,
)

COMPOSITION = Bound(
    name="composition-profile",
    example="burn-in --n 60000 --batch-size 128 --steps 1e6 --lipschitz 1 --smoothness 1 --learning-rate 0.05 "
    "--diameter 2 --sigma 0.1 --delta 1e-5",
    kind="profile",
    statement="T steps of the pair δ(ε) = q·θ(log(1 + (e^ε − 1)/q), 2L/(bσ)), q = b/n, composed",
    source="Balle, Barthe & Gaboardi 2018, Theorem 9; Zhu, Dong & Wang 2022, Theorem 10",
    assumptions=composition.BOUND.assumptions,
    params=composition.BOUND.params,
    value=composition_value,
    exact=composition_exact,
    rtol=2 * PRECISION,
    inverse=composition_inverse,
    trace=composition_trace,
)

"""Noisy SGD over a stream, a Gaussian noise level for each step: the guarantee of one index, by iteration, and by
iteration and contraction together."""

from functools import lru_cache
from typing import Any

from dpcalc.bounds.mechanisms.gaussian import theta
from dpcalc.bounds.online import online_contraction
from dpcalc.bounds.online._engine.levels import ASSUMPTIONS, EXAMPLE, STREAM, Levels
from dpcalc.bounds.online._engine.shift import finite, path, path_exact, record_ratio, sums_exact
from dpcalc.bounds.pnsgd._engine.hybrid import Link, Way, coded, follow, follow_exact, needed
from dpcalc.bounds.pnsgd._engine.laws import GAUSSIAN, gaussian_inverse, log_gaussian
from dpcalc.bounds.pnsgd._engine.positions import FINE
from dpcalc.bounds.pnsgd._engine.step import factor_exact
from dpcalc.core.bound import Blocks, Choices, GaussianDp, ProfileBound, Theorem

Run = tuple[float, float, float, float, float]  # L, D, η, β, ρ


def mu(levels: Levels, lipschitz: float, learning_rate: float, smoothness: float, strong_convexity: float, n: float,
       index: int) -> float:
    """μ_i of the record by iteration, rounded up."""
    return record_ratio(levels, lipschitz, learning_rate, smoothness, strong_convexity, finite(n), index)


def _iteration_exact(mp: Any, epsilon: float, levels: Levels, lipschitz: float, learning_rate: float, smoothness: float,
                     strong_convexity: float, n: int, index: int) -> Any:
    c = factor_exact(mp, learning_rate, strong_convexity)
    total = sums_exact(mp, levels, c, index, n)
    return theta(mp, epsilon, 2 * mp.mpf(lipschitz) * c ** (n - index) / mp.sqrt(total))


ITERATION = ProfileBound(Theorem(
    name="online-iteration", example=EXAMPLE,
    statement="the record at index i is μ-GDP, μ = 2L c^(n−i)/√(Σ_{t=i..n} c^(2(n−t)) σ_t²), c = 1 − ηρ; for c < "
              "1 beyond 512 steps the sum is taken from below in blocks of at most 1/512 of the steps before them",
    in_words="Noisy projected SGD on a stream of records in a fixed order, whose Gaussian noise may decay, where only "
             "the last iterate is released: the noise of all later steps helps to hide the record at index i. A record "
             "is replaced. It is for convex smooth losses without clipping. The latest record gains nothing. It is "
             "false where earlier iterates are released.",
    source="Feldman, Mironov, Talwar & Thakurta 2018, Theorem 22, arXiv:1808.06651; Bok, Su & Altschuler 2024, "
           "arXiv:2403.00278",
    assumptions=(*ASSUMPTIONS, "Gaussian noise"),
), params=tuple(p for p in STREAM if p != "diameter"), value=lambda epsilon, **p: log_gaussian(epsilon, mu(**p)),
   exact=_iteration_exact, rtol=5e-9, inverse=lambda log_delta, **p: gaussian_inverse(log_delta, mu(**p)),
   mu=GaussianDp(mu))


def value(epsilon: float, levels: Levels, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
          strong_convexity: float, n: float, index: int) -> float:
    return _evaluate(epsilon, levels, (lipschitz, diameter, learning_rate, smoothness, strong_convexity), n, index)[0]


@lru_cache(maxsize=4)  # the value and its witness are two calls with the same arguments
def _evaluate(epsilon: float, levels: Levels, run: Run, n: float, index: int) -> tuple[float, list[Link]]:
    """The value and how d was bounded at each node; no links where the value is that of online-contraction."""
    logs, links = follow(epsilon, path(levels, *run, finite(n), index))
    other = online_contraction.value(epsilon, GAUSSIAN, levels, *run, n, index)
    return (other, []) if other < logs[-1] else (logs[-1], links)


def choices(epsilon: float, log_delta: float, levels: Levels, lipschitz: float, diameter: float, learning_rate: float,
            smoothness: float, strong_convexity: float, n: float, index: int) -> dict[str, Any]:
    """The free choices that prove δ at ε: those of the value. At ε = 0, where the value may be much smaller than δ,
    only the choices up to the first node at which the bound is at most δ."""
    run = (lipschitz, diameter, learning_rate, smoothness, strong_convexity)
    logs: list[float] = [0.0]
    links: list[Link] = []
    if epsilon == 0:
        logs, links = follow(epsilon, path(levels, *run, finite(n), index), lambda j, log_d: log_d <= log_delta)
    if logs[-1] > log_delta:
        links = _evaluate(epsilon, levels, run, n, index)[1]
    return {"fine": FINE, "links": needed(coded(links))} if links else {"by": online_contraction.BOUND.name}


def own_way(epsilon: float, levels: Levels, run: Run, n: int, index: int) -> Way:
    """The nodes and links of the value; none where it is that of online-contraction."""
    links = _evaluate(epsilon, levels, run, n, index)[1]
    return (path(levels, *run, n, index).nodes, links) if links else ([], [])


def exact(mp: Any, epsilon: float, levels: Levels, lipschitz: float, diameter: float, learning_rate: float,
          smoothness: float, strong_convexity: float, n: int, index: int, way: Way | None = None) -> Any:
    run = (lipschitz, diameter, learning_rate, smoothness, strong_convexity)
    nodes, links = way or own_way(epsilon, levels, run, n, index)
    if not nodes:
        return online_contraction.exact(mp, epsilon, GAUSSIAN, levels, *run, n, index)
    mu, kappa = path_exact(mp, levels, lipschitz, diameter, learning_rate, strong_convexity, index, nodes)
    return follow_exact(mp, epsilon, links, theta, mu, kappa)[-1]


BOUND = ProfileBound(Theorem(
    name="online-hybrid", example=EXAMPLE,
    statement="δ_i(n) ≤ d_n; d_i = θ(ε, 2L/σ_i), d_t = min{θ(ε, μ_t), F_{t−k,t}(d_{t−k})} over k, F_{p,q}(d) = "
              "d·θ(log(1 + (e^ε−1)/d), κ_{p,q}), κ_{p,q} = (D/η)c^(q−p)/√(Σ_{t=p+1..q} c^(2(q−t)) σ_t²), c = 1 − "
              "ηρ; at most the value of online-contraction",
    in_words="Noisy projected SGD on a stream of records in a fixed order, whose Gaussian noise may decay, where only "
             "the last iterate is released: later noise and the bounded set are used together, so that, but for δ too "
             "small to matter, it is never above online-contraction or online-iteration with this noise. A record is "
             "replaced. It is for convex smooth losses without clipping. It is false where earlier iterates are "
             "released.",
    source="dpcalc, bounds/pnsgd/_engine/hybrid.py (proof there), from Feldman et al. 2018, Theorem 22, and "
           "Asoodeh, Diaz & Calmon 2020, Theorem 3",
    assumptions=(*ASSUMPTIONS, "Gaussian noise"),
), params=STREAM, value=value, exact=exact, rtol=5e-9, blocks=Blocks(FINE), choices=Choices(witness=choices))

BOUNDS = (ITERATION, BOUND)

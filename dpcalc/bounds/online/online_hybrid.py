"""Noisy SGD over a stream, a Gaussian noise level for each step: iteration and contraction together, the sharpest here."""

from typing import Any

from dpcalc.bound import Bound
from dpcalc.bounds.mechanisms.gaussian_exact import theta
from dpcalc.bounds.online import online_contraction
from dpcalc.bounds.online.levels import Levels
from dpcalc.bounds.online.setting import ASSUMPTIONS, STREAM
from dpcalc.bounds.online.shift import finite, kappa_exact, path, sums_exact
from dpcalc.bounds.pnsgd.chain import follow, follow_exact
from dpcalc.bounds.pnsgd.laws import GAUSSIAN
from dpcalc.bounds.pnsgd.links import coded, needed
from dpcalc.bounds.pnsgd.positions import COARSE, FINE, invert
from dpcalc.bounds.pnsgd.step import factor_exact


def value(epsilon: float, levels: Levels, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
          strong_convexity: float, n: float, index: int) -> float:
    """log d_n, and never above online-contraction."""
    return _value(epsilon, FINE, levels, lipschitz, diameter, learning_rate, smoothness, strong_convexity, n, index)


def _value(epsilon: float, fine: int, levels: Levels, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
           strong_convexity: float, n: float, index: int) -> float:
    run = (lipschitz, diameter, learning_rate, smoothness, strong_convexity)
    along = follow(epsilon, path(levels, *run, finite(n), index, fine))[0][-1]
    return along if fine < FINE else min(along, online_contraction.value(epsilon, GAUSSIAN, levels, *run, n, index))


def coarse(epsilon: float, **p: Any) -> float:
    """`value` with larger steps, near it."""
    return _value(epsilon, COARSE, **p)


def inverse(log_delta: float, **p: Any) -> float:
    return invert(lambda epsilon, fine: _value(epsilon, fine, **p), log_delta)


def choices(epsilon: float, levels: Levels, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
            strong_convexity: float, n: float, index: int) -> dict[str, Any]:
    """The free choices of the value."""
    run = (lipschitz, diameter, learning_rate, smoothness, strong_convexity)
    logs, links = follow(epsilon, path(levels, *run, finite(n), index))
    if online_contraction.value(epsilon, GAUSSIAN, levels, *run, n, index) < logs[-1]:
        return {"by": online_contraction.BOUND.name}
    return {"fine": FINE, "links": needed(coded(links))}


def exact(mp: Any, epsilon: float, levels: Levels, lipschitz: float, diameter: float, learning_rate: float, smoothness: float,
          strong_convexity: float, n: int, index: int) -> Any:
    run = (lipschitz, diameter, learning_rate, smoothness, strong_convexity)
    along = path(levels, *run, n, index)
    logs, links = follow(epsilon, along)
    if online_contraction.value(epsilon, GAUSSIAN, levels, *run, n, index) < logs[-1]:
        return online_contraction.exact(mp, epsilon, GAUSSIAN, levels, *run, n, index)
    c, steps = factor_exact(mp, learning_rate, strong_convexity), [index + m for m in along.nodes]

    def mu(j: int) -> Any:
        return 2 * mp.mpf(lipschitz) * c ** along.nodes[j] / mp.sqrt(sums_exact(mp, levels, c, index, steps[j]))

    kappa = kappa_exact(mp, levels, c, mp.mpf(diameter) / mp.mpf(learning_rate), steps)
    return follow_exact(mp, epsilon, links, theta, mu, kappa)[-1]


BOUND = Bound(
    name="online-hybrid",
    kind="profile",
    statement="δ_i(n) <= d_n; d_i = θ(ε, 2L/σ_i), d_t = min{θ(ε, μ_t), F_{t−k,t}(d_{t−k})} over k, "
    "F_{p,q}(d) = d·θ(log(1 + (e^ε−1)/d), κ_{p,q}), "
    "κ_{p,q} = (D/η)c^(q−p)/√(Σ_{t=p+1..q} c^(2(q−t)) σ_t²), c = 1 − ηρ; at most the value of online-contraction",
    source="dpcalc, bounds/pnsgd/chain.py (proof there), from Feldman et al. 2018, Theorem 22, and Asoodeh, Diaz & Calmon 2020, Theorem 3",
    assumptions=(*ASSUMPTIONS, "Gaussian noise"),
    params=STREAM,
    value=value,
    exact=exact,
    rtol=5e-9,
    in_blocks_beyond=FINE,
    exact_n=100_000,
    inverse=inverse,
    choices=choices,
    coarse=coarse,
    margin=3e-10,
)

"""The privacy loss distribution of one use on a Poisson-sampled batch for data sets in which a record is replaced, or
each record of a group: the mixture of a mechanism without and with the records, against that with them on the other
side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import expm1, inf, log1p
from typing import Any

from dpcalc.numerics.mp.context import context
from dpcalc.verify import composition_atoms
from dpcalc.verify.arb.context import Formula, compute_once, is_ball_context, midpoint
from dpcalc.verify.composition_atoms import Atoms
from dpcalc.verify.loss_distributions import LossPair, Masses, Use, normal_tail
from dpcalc.verify.mechanisms import (
    MECHANISMS,
    Part,
    above_rounding,
    above_threshold_epsilon,
    discrete_gaussian_total,
    gaussian_mu,
)
from dpcalc.verify.unchecked import Unchecked

NEWTON_STEPS = 200  # at most: from a neighbouring outcome the method needs two or three
SPARE_BITS = 24  # of the working precision, for the rounding of a few sums


def use(part: Part, rate: float, size: int = 1) -> Use:
    """Return one use on a Poisson-sampled batch where `size` records are replaced. The numbers of the mechanism are
    about batches to which one record is added."""
    if size > 1 and part["name"] != "gaussian":
        raise Unchecked("groups of records in random batches are covered for Gaussian noise only")
    if rate == 1:
        return Use(MECHANISMS[part["name"]].losses({**part, "group_size": 2 * size}))
    if part["name"] == "gaussian":
        return Use(_of_outcome(_Mixture(gaussian_mu(part), rate, size)))
    return Use(_PAIRS[part["name"]](part, rate))


def _of_outcome(law: _Mixture | _Laplace) -> LossPair:
    """Return the pair of a law whose loss is odd and rises in the outcome."""
    def above(mp: Any, w: Any, closed: bool) -> Masses:
        z = law.outcome(mp, w, closed)
        return law.masses(mp, z)

    def below(mp: Any, w: Any, closed: bool) -> Masses:
        p, q = above(mp, -w, closed)  # by symmetry
        return q, p

    return LossPair(above, below, largest_loss=law.largest_loss)


class _Mixture:
    """Gaussian noise: Σ_j p_j N(jμ, 1) against Σ_j p_j N(−jμ, 1) with binomial weights p_j."""

    largest_loss = inf

    def __init__(self, mu: Formula, rate: float, size: int) -> None:
        self.size, self.start = size, 1.0

        def weights(mp: Any) -> list[Any]:
            q = mp.mpf(rate)
            return [mp.binomial(size, j) * q**j * (1 - q) ** (size - j) for j in range(size + 1)]

        self.weights, self.mu = compute_once(weights), compute_once(mu)

    def masses(self, mp: Any, z: Any) -> Masses:
        """Return the masses under P and Q of the outcomes above z."""
        mu, weights = self.mu(mp), list(enumerate(self.weights(mp)))
        return (mp.fsum(p * normal_tail(mp, z - j * mu) for j, p in weights),
                mp.fsum(p * normal_tail(mp, z + j * mu) for j, p in weights))

    def outcome(self, mp: Any, w: Any, closed: bool) -> Any:
        """Return the outcome z whose loss is w (in balls, an interval that contains it), by Newton's method inside of a
        bracket."""
        target = abs(w)
        if not float(target):
            return mp.mpf(0)
        low, high, z = 0.0, inf, self.start
        for _ in range(NEWTON_STEPS):
            loss, slope = self._loss(mp, mp.mpf(z))
            residual = float(loss - target)
            low, high = (z, high) if residual < 0 else (low, z)
            step = midpoint(mp, mp.mpf(z) - (loss - target) / slope)
            if abs(residual) < 1e-10 * float(target):
                break
            inside = low < float(step) < high
            z = float(step) if inside else (low + high) / 2 if high < inf else 2 * low
        self.start = float(step)
        for _ in range(2):  # each step squares the residual, from the accuracy of a double on
            loss, slope = self._loss(mp, step)
            step = midpoint(mp, step - (loss - target) / slope)
        return self._enclosed(mp, step, target) * (1 if float(w) > 0 else -1)

    def _enclosed(self, mp: Any, z: Any, target: Any) -> Any:
        """Return the outcome z itself, or in balls an interval around it at whose ends the losses are surely below and
        above the target."""
        if not is_ball_context(mp):
            return z
        loss, slope = self._loss(mp, z)
        width = midpoint(mp, 4 * abs(loss - target) / slope + mp.mpf(2.0 ** (SPARE_BITS - mp.prec)) * (1 + abs(z)))
        for _ in range(60):
            below, above = self._loss(mp, z - width)[0], self._loss(mp, z + width)[0]
            if (target - below).surely_positive() and (above - target).surely_positive():
                return mp.between(z - width, z + width)
            width = 4 * width
        raise Unchecked("an outcome with the loss of a grid was not found")

    def _loss(self, mp: Any, z: Any) -> tuple[Any, Any]:
        """Return log A(z) − log A(−z) for A(z) = Σ_j p_j e^{jμz − (jμ)²/2}, and its slope. Its numerator A(z) − A(−z)
        is a sum of terms of one sign."""
        mu, above, below, apart = self.mu(mp), [], [], []
        for j, p in enumerate(self.weights(mp)):
            weight = p * mp.exp(-((j * mu) ** 2) / 2)
            above.append(weight * mp.exp(j * mu * z))
            below.append(weight * mp.exp(-j * mu * z))
            apart.append(below[-1] * mp.expm1(2 * j * mu * z))
        up, down = mp.fsum(above), mp.fsum(below)
        slope = mu * mp.fsum(j * (x / up + y / down) for j, (x, y) in enumerate(zip(above, below, strict=True)))
        return mp.log1p(mp.fsum(apart) / down), slope


class _Laplace:
    """Laplace noise of scale 1: (1−q)L(0) + qL(r) against (1−q)L(0) + qL(−r), whose loss is constant beyond ±r."""

    def __init__(self, part: Part, rate: float) -> None:
        self.rate, self.ratio = rate, compute_once(lambda mp: 1 / mp.mpf(part["scale"]))
        self.largest_loss = _largest(1 / part["scale"], rate)

    def masses(self, mp: Any, x: Any) -> Masses:
        """Return the masses under P and Q of the outcomes above x, or nothing where x is None."""
        if x is None:
            return mp.mpf(0), mp.mpf(0)
        r, q = self.ratio(mp), mp.mpf(self.rate)
        if x is _EVERYTHING:
            return mp.mpf(1), mp.mpf(1)
        return tuple((1 - q) * _laplace_tail(mp, x) + q * _laplace_tail(mp, x - shift) for shift in (r, -r))

    def outcome(self, mp: Any, w: Any, closed: bool) -> Any:
        """Return the outcome x above which the losses are above w, or at least w."""
        r, q = self.ratio(mp), mp.mpf(self.rate)
        rest = 1 + q * mp.expm1(-r)
        end = mp.log((1 + q * mp.expm1(r)) / rest)
        if w > end or (w >= end and not closed):
            return None
        if w < -end or (w <= -end and closed):
            return _EVERYTHING
        x = mp.log1p(mp.expm1(abs(w)) * rest * mp.exp(r) / q) / 2
        return x if float(w) > 0 else -x


_EVERYTHING = object()  # below all outcomes


def _laplace_tail(mp: Any, x: Any) -> Any:
    """Return the mass above x of the Laplace distribution of scale 1."""
    return mp.exp(-x) / 2 if float(x) > 0 else 1 - mp.exp(x) / 2


def _laplace(part: Part, rate: float) -> LossPair:
    return _of_outcome(_Laplace(part, rate))


def _discrete_laplace(part: Part, rate: float) -> LossPair:
    """Return the pair of the outcomes −s+1, …, s−1, and of all below and all above them, which have one loss each."""
    s, scale = part["sensitivity"], part["scale"]

    def atoms(mp: Any) -> Atoms:
        fall = mp.exp(-1 / mp.mpf(scale))
        centre, side = (1 - fall) / (1 + fall), fall**s / (1 + fall)
        inner = [(centre * fall ** abs(x), centre * fall ** abs(x - s), centre * fall ** abs(x + s))
                 for x in range(1 - s, s)]
        high, low = 1 / (1 + fall), fall**s * side
        return _mixed(mp, [(side, high, low), *inner, (side, low, high)], rate)

    return composition_atoms.atomic_pair(atoms, lambda mp: mp.mpf(0), _largest(s / scale, rate))


def _discrete_gaussian(part: Part, rate: float) -> LossPair:
    """Return the pair of the outcomes up to 39σ, beyond which losses are only known to be between those of the others
    and infinity."""
    s, sigma = part["sensitivity"], part["sigma"]
    reach = int(39 * sigma) + 2  # 39²/2 = 760.5

    def atoms(mp: Any) -> Atoms:
        v = mp.mpf(sigma)
        total = discrete_gaussian_total(mp, v)
        f = [mp.exp(-(mp.mpf(x) / v) ** 2 / 2) / total for x in range(reach + 2 * s + 1)]
        return _mixed(mp, [(f[abs(x)], f[abs(x - s)], f[abs(x + s)]) for x in range(-reach - s, reach + s + 1)], rate)

    def tails(mp: Any) -> Any:
        v, x = mp.mpf(sigma), reach + 1
        most = 2 * mp.exp(-(mp.mpf(x) / v) ** 2 / 2) * (1 + v * v / x) / discrete_gaussian_total(mp, v)
        return mp.between(0, most) if is_ball_context(mp) else most

    largest = _largest(s * (s + 2 * reach) / (2 * sigma**2), rate)
    return composition_atoms.atomic_pair(atoms, compute_once(tails), largest)


def _mixed(mp: Any, outcomes: Sequence[tuple[Any, Any, Any]], rate: float) -> Atoms:
    """Return the atoms of outcomes with these probabilities without the record, with it, and with the other one."""
    q, found = mp.mpf(rate), []
    for without, before, after in outcomes:
        p, other = (1 - q) * without + q * before, (1 - q) * without + q * after
        found.append((float(mp.log(p / other)), p, other))
    return sorted(found, key=lambda atom: atom[0])


def _largest(unsampled: float, rate: float) -> float:
    """Return a number above log((1 − q + qe^r)/(1 − q + qe^−r)), which no loss exceeds."""
    ahead = log1p(rate * expm1(unsampled)) if unsampled < 700 else unsampled
    return above_rounding(ahead - log1p(rate * expm1(-unsampled)))


def _pure(part: Part, rate: float) -> LossPair:
    """Return the pair of randomised response of log((1 − q + qe^ε)/(1 − q + qe^−ε)), ε that of the mechanism."""
    def epsilon(mp: Any) -> Any:
        q, e = mp.mpf(rate), above_threshold_epsilon(mp, part) if "hits" in part else mp.mpf(part["step_epsilon"])
        return mp.log((1 + q * mp.expm1(e)) / (1 + q * mp.expm1(-e)))

    return composition_atoms.approximate_dp_pair(epsilon, 0.0, above_rounding(float(epsilon(context()))))


_PAIRS: Mapping[str, Callable[[Part, float], LossPair]] = {
    "laplace": _laplace, "discrete-laplace": _discrete_laplace, "discrete-gaussian": _discrete_gaussian,
    "exponential": _pure, "above-threshold": _pure}

"""The exact privacy loss distribution of one use, as the masses under P and under Q of the losses above a number.

The closed forms work in any arithmetic (a context of arb/, or mpmath's). They describe the dominating pairs that
dpcalc.pld describes by arrays of masses, and share no code with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any, NamedTuple

from dpcalc.bounds.sampling._engine import group_mixture, replaced_mixture
from dpcalc.verify.arb.context import Formula, compute_once, is_ball_context

Masses = tuple[Any, Any]  # under P, under Q


class LossPair(NamedTuple):
    """A pair (P, Q) of distributions, described by the privacy loss log(P/Q).

    masses_above(mp, w, closed) are the masses under P and Q of the finite losses > w, or >= w where `closed`;
    masses_below likewise.
    """

    masses_above: Callable[[Any, Any, bool], Masses]
    masses_below: Callable[[Any, Any, bool], Masses]
    infinite_mass: Callable[[Any], Any] = lambda mp: mp.mpf(0)  # P(loss = ∞)
    limit: float | None = inf  # no finite loss is larger; None of a pair whose `atoms` are at their exact losses
    # (loss, mass under P, mass under Q) of all finite losses, where these are finitely many
    atoms: Callable[[Any], list[tuple[float, Any, Any]]] | None = None
    reverse: LossPair | None = None  # the pair (Q, P), where its loss distribution is another one
    mu: Formula | None = None  # of a Gaussian pair

    def largest_loss(self, mp: Any) -> float:
        """Return an upper bound of all finite losses, to the rounding of a double."""
        if self.limit is not None:
            return self.limit
        assert self.atoms is not None
        return max((loss for loss, _, _ in self.atoms(mp)), default=-inf)


class Use(NamedTuple):
    """One use of a pair, on the whole data set or on a sample. `added` chooses the direction of the adjacency, where
    its two directions differ: a record is added, or else removed."""

    pair: LossPair
    scheme: str | None = None
    rate: float = 1.0
    added: bool = False

    @property
    def symmetric(self) -> bool:
        """Whether both directions of the adjacency have equal loss distributions."""
        return self.pair.reverse is None and (self.scheme != "poisson" or self.rate == 1)

    @property
    def unsampled(self) -> LossPair | None:
        """The pair in the direction of this use, where nothing is sampled; else None."""
        if self.scheme is not None and self.rate != 1:
            return None
        return self.pair.reverse if self.added and self.pair.reverse else self.pair


def gaussian(mu: Callable[[Any], Any]) -> LossPair:
    """Return the pair N(μ,1) and N(0,1). Its loss is μt + μ²/2 with t ~ N(0,1) under P."""

    inverse_and_half = compute_once(lambda mp: (1 / mu(mp), mu(mp) / 2))

    def masses_above(mp: Any, w: Any) -> Masses:
        inverse, half = inverse_and_half(mp)
        x = w * inverse
        return normal_tail(mp, x - half), normal_tail(mp, x + half)

    return symmetric_pair(masses_above)._replace(mu=mu)


def normal_tail(mp: Any, x: Any) -> Any:
    """Return P(N(0,1) > x)."""
    return mp.normal_tail(x) if is_ball_context(mp) else mp.erfc(x / mp.sqrt(mp.mpf(2))) / 2


def symmetric_pair(masses_above: Callable[[Any, Any], Masses], limit: float = inf,
                   end: Formula | None = None) -> LossPair:
    """Return the pair whose reverse is itself, so that the masses below −w are those above w, exchanged. With an `end`
    all losses lie between −end and end, where there may be atoms; `masses_above` is for the losses in between."""
    def above(mp: Any, w: Any, closed: bool) -> Masses:
        if end is not None:
            last = end(mp)
            if w > last or (w >= last and not closed):
                return mp.mpf(0), mp.mpf(0)
            if w < -last or (w <= -last and closed):
                return mp.mpf(1), mp.mpf(1)
        return masses_above(mp, w)

    return LossPair(above, lambda mp, w, closed: above(mp, -w, closed)[::-1], limit=limit)


def laplace(ratio: Callable[[Any], Any], limit: float) -> LossPair:
    """Return the pair of the Laplace mechanism with r = sensitivity/scale: atoms at ±r, and between them a density
    e^{(w−r)/2}/4 of the losses under P."""

    def masses_above(mp: Any, w: Any) -> Masses:
        r = ratio(mp)
        return 1 - mp.exp((w - r) / 2) / 2, mp.exp(-(w + r) / 2) / 2

    return symmetric_pair(masses_above, limit, ratio)


def bounded_range(eta: Callable[[Any], Any], limit: float) -> LossPair:
    """Return the pair that dominates every mechanism whose loss has a range of length η: a density e^{w/2}·c/2 of the
    losses under P on [−η, η], c = e^{η/2}/(e^η − 1)."""

    def masses_above(mp: Any, w: Any) -> Masses:
        end = eta(mp)
        c = mp.exp(end / 2) / mp.expm1(end)
        return c * (mp.exp(end / 2) - mp.exp(w / 2)), c * (mp.exp(-w / 2) - mp.exp(-end / 2))

    return symmetric_pair(masses_above, limit, eta)


def masses_above(use: Use, mp: Any, loss: Any, closed: bool = False) -> Masses:
    """Return the masses under P and Q of the finite losses > `loss`, or >= it where `closed`."""
    if (pair := use.unsampled) is not None:
        return pair.masses_above(mp, loss, closed)
    assert use.scheme is not None
    return _SCHEMES[use.scheme](use, mp, loss, closed)


def p_mass_up_to(use: Use, mp: Any, loss: Any) -> Any:
    """Return the mass under P of the losses <= `loss`."""
    if (pair := use.unsampled) is not None:
        return pair.masses_below(mp, loss, True)[0]
    if use.scheme == "poisson" and not use.added:
        return _removed(use, mp, loss, True, below=True)[0]
    if use.scheme == "poisson" or loss < 0:
        return _removed(use, mp, -loss, True)[1]  # P(L <= −x) = Q(L >= x)
    return 1 - infinite_mass(use, mp) - masses_above(use, mp, loss)[0]


def infinite_mass(use: Use, mp: Any) -> Any:
    """Return P(loss = ∞), the probability that the record is in the sample and its loss is infinite."""
    if (pair := use.unsampled) is not None:
        return pair.infinite_mass(mp)
    return use.pair.infinite_mass(mp) * (0 if use.added else mp.mpf(use.rate))


def _removed(use: Use, mp: Any, loss: Any, closed: bool, below: bool = False) -> Masses:
    """Return the masses of the losses above ℓ (with `below`: below ℓ) under (1−q)Q + qP and under Q: Poisson sampling
    with a record removed. They follow from the unsampled pair, whose loss w becomes ℓ = log(1 − q + q e^w)."""
    rate = mp.mpf(use.rate)
    e_to_w = 1 + mp.expm1(loss) / rate
    w = mp.log(e_to_w) if e_to_w > 0 else None  # None where ℓ <= log(1 − q), the least loss of all
    infinite = use.pair.infinite_mass(mp)  # by symmetry also the mass of Q where P has none
    if below:
        if w is None and e_to_w < 0:
            return mp.mpf(0), mp.mpf(0)
        p, q = use.pair.masses_below(mp, w, closed) if w is not None else (mp.mpf(0), mp.mpf(0))
        return (1 - rate) * (q + infinite) + rate * p, q + infinite
    if w is None:
        return 1 - rate * infinite, mp.mpf(1)
    p, q = use.pair.masses_above(mp, w, closed)
    return (1 - rate) * q + rate * p, q


def _poisson(use: Use, mp: Any, loss: Any, closed: bool) -> Masses:
    if not use.added:
        return _removed(use, mp, loss, closed)
    p, q = _removed(use, mp, -loss, closed, below=True)  # P and Q exchanged: the loss changes its sign
    return q, p


def _without_replacement(use: Use, mp: Any, loss: Any, closed: bool) -> Masses:
    """Return the masses of the pair of sampling without replacement: its positive losses are those of Poisson sampling
    with a record removed, its negative losses are their mirror images, and the rest of the mass is at 0."""
    if loss > 0 or (loss >= 0 and not closed):
        return _removed(use, mp, loss, closed)
    if loss >= 0:
        p, q = _removed(use, mp, loss, False)
    else:
        p, q = _removed(use, mp, -loss, not closed)
    infinite = infinite_mass(use, mp)
    return 1 - infinite - q, 1 - p - infinite


_SCHEMES: Mapping[str, Callable[[Use, Any, Any, bool], Masses]] = {"poisson": _poisson,
                                                                   "without-replacement": _without_replacement}


# --- mixtures of normal distributions: records in Poisson-sampled batches ---------------------------------------------

# Weights and thresholds are those of the bounds, in balls. An error in them is not found here, but by tests/soundness/
# sampling.py, which draws from the mixtures, and by tests/bounds/sampling against integrals of densities.


def poisson_group(mu: Formula, rate: float, size: int) -> LossPair:
    """Return the pair Σ_j p_j N(jμ, 1) and N(0, 1) with binomial weights, for a group of `size` records that is
    removed; its `reverse` is for a group that is added. The loss rises in the outcome, so that the losses above a
    number are those of the outcomes above one z."""
    mu, weights = compute_once(mu), compute_once(lambda mp: group_mixture.exact_weights(mp, rate, size))

    def masses(mp: Any, w: Any, side: int) -> Masses:
        z = group_mixture.exact_threshold(mp, w, mu(mp), rate, weights(mp))
        if z is None:
            return (mp.mpf(max(side, 0)),) * 2
        tails = [normal_tail(mp, side * (z - j * mu(mp))) for j in range(size + 1)]
        return mp.fsum(p * tail for p, tail in zip(weights(mp), tails, strict=True)), tails[0]

    return LossPair(lambda mp, w, closed: masses(mp, w, 1), lambda mp, w, closed: masses(mp, w, -1),
                    reverse=LossPair(lambda mp, w, closed: masses(mp, -w, -1)[::-1],
                                     lambda mp, w, closed: masses(mp, -w, 1)[::-1]))


def poisson_replaced(mu: Formula, rate: float, size: int) -> LossPair:
    """Return the pair Σ_j p_j N(jμ, 1) and Σ_j p_j N(−jμ, 1) of `size` records that are replaced, whose loss is odd and
    rises in the outcome."""
    mu, weights = compute_once(mu), compute_once(lambda mp: group_mixture.exact_weights(mp, rate, size))

    def masses_above(mp: Any, w: Any) -> Masses:
        z = replaced_mixture.exact_threshold(mp, abs(w), mu(mp), weights(mp)) * (1 if float(w) > 0 else -1)
        shifts = [(p, j * mu(mp)) for j, p in enumerate(weights(mp))]
        return (mp.fsum(p * normal_tail(mp, z - x) for p, x in shifts),
                mp.fsum(p * normal_tail(mp, z + x) for p, x in shifts))

    return symmetric_pair(masses_above)

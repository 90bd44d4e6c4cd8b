"""Pairs of an epoch in which the record is used with a probability below 1, from below."""

from __future__ import annotations

from dataclasses import replace
from math import log, log1p, nextafter
from typing import TYPE_CHECKING

import numpy as np

from dpcalc.pld import sampled
from dpcalc.pld.atoms import Atoms

if TYPE_CHECKING:
    from dpcalc.pld.pair import Pair

ERROR = 4e-15  # relative to 1, to the log and to the loss: of the few operations with the log of a mass


def with_probability(unused: float, pair: Pair) -> Pair:
    """The pair ((1−ρ)P + ρQ, Q), with its reverse, for the probability ρ that the record is not used.

    Atoms of `pair` and of its reverse are in the same order, as in dpcalc.pld.allocation: the first mass of each is
    rounded down and the second one up, and so are those of the result.
    """
    if not unused:
        return pair
    if not isinstance(pair, Atoms):  # one Gaussian step, used with probability 1 − ρ
        return sampled.poisson(pair, nextafter(1 - unused, 0.0))
    assert pair.reverse is not None and len(pair.losses) == len(pair.reverse.losses)
    p_low, q_low = np.array(pair.log_p), np.array(pair.reverse.log_p)
    p_high, q_high = q_low - np.array(pair.reverse.losses), p_low - np.array(pair.losses)
    low, high = (np.logaddexp(log1p(-unused) + p, log(unused) + q) for p, q in ((p_low, q_low), (p_high, q_high)))
    size = 1 + np.maximum(np.abs(pair.losses), np.abs(pair.reverse.losses))
    low, high = low - ERROR * (size + np.abs(low)), high + ERROR * (size + np.abs(high))
    added = replace(pair.reverse, losses=tuple((q_low - high).tolist()))
    return replace(pair, losses=tuple((low - q_high).tolist()), log_p=tuple(low.tolist()), reverse=added)

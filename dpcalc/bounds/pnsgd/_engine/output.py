"""Output perturbation: SGD without noise on strongly convex and smooth losses, with noise added once to its output.

Replacing the record m steps before the end moves the output by at most 2ηLc^m.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, log, log1p
from typing import Any

from dpcalc.bounds.pnsgd._engine.positions import Powers
from dpcalc.bounds.pnsgd._engine.step import steepest, steepest_exact
from dpcalc.bounds.start import GRADIENTS, START
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.mp.memo import cached_sequence
from dpcalc.numerics.rounding import quotient_down, quotient_up, up

RELEASED = "the output, with noise added once"
OUTPUT = ("level", "lipschitz", "learning_rate", "smoothness", "strong_convexity")
ASSUMPTIONS = ("the loss of every record is L-Lipschitz, β-smooth and ρ-strongly convex", GRADIENTS, START,
               "SGD without noise in its steps",
               "noise N(0, σ²I) once, on the released output", "neighbours differ by replacing one record",
               "c = max(|1−ηρ|, |1−ηβ|) < 1")
SOURCE = "Berthier 2019, Section 3.2.2; Wu et al. 2017, arXiv:1606.04722"
ERRATUM = ("Berthier 2019, Section 3.2.2, prints σ² = αs²/(2ε²) for RDP (α, ε); it must be αs²/(2ε).",)


def log_factor(learning_rate: float, smoothness: float, strong_convexity: float) -> float:
    """log c, rounded up, in whole numbers: 1 − ηβ may cancel, and c is taken to a power of up to 1e12.

    Raises OutOfScope where c >= 1.
    """
    top, bottom = steepest(learning_rate, strong_convexity, smoothness)
    if top >= bottom:
        c = top / bottom
        raise OutOfScope("out-of-range",
                         f"{strong_convexity:g} gives c = max(|1−ηρ|, |1−ηβ|) = {c:g}; output perturbation (Berthier "
                         "2019, Section 3.2.2) needs c < 1", "--strong-convexity")
    if 2 * top > bottom:
        return log1p(-quotient_down(bottom - top, bottom)) * (1 - 1e-15)
    c = quotient_up(top, bottom)
    return log(c) * (1 - 1e-15) if c > 0 else -inf


def ratios(level: float, lipschitz: float, learning_rate: float, smoothness: float, strong_convexity: float) -> Powers:
    """The function m → 2ηL c^m/σ, rounded up. Raises OutOfScope where c >= 1."""
    return Powers(_first(level, lipschitz, learning_rate), log_factor(learning_rate, smoothness, strong_convexity))


def _first(level: float, lipschitz: float, learning_rate: float) -> float:
    """2ηL/σ, rounded up."""
    return up(2 * learning_rate * lipschitz / level, 1e-15)


def unchecked_ratios(level: float, lipschitz: float, learning_rate: float, smoothness: float,
                     strong_convexity: float) -> Powers:
    """`ratios` as formulas at high precision take it, with 1 in place of a c >= 1."""
    top, bottom = steepest(learning_rate, strong_convexity, smoothness)
    log_c = log_factor(learning_rate, smoothness, strong_convexity) if top < bottom else 0.0
    return Powers(_first(level, lipschitz, learning_rate), log_c)


@cached_sequence
def ratios_exact(mp: Any, level: float, lipschitz: float, learning_rate: float, smoothness: float,
                 strong_convexity: float) -> Callable[[int], Any]:
    """`ratios` at high precision, for any c."""
    c = steepest_exact(mp, learning_rate, strong_convexity, smoothness)
    first = 2 * mp.mpf(learning_rate) * mp.mpf(lipschitz) / mp.mpf(level)
    return lambda m: first * c**m

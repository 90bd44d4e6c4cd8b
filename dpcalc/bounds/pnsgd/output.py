"""What the bounds for output perturbation share: plain SGD, strongly convex and smooth, noise once on its output."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

from dpcalc.bounds.pnsgd.positions import Powers
from dpcalc.errors import OutOfScope
from dpcalc.numerics.kept import kept_numbers
from dpcalc.numerics.rounding import up

RELEASED = "the output, with noise added once"
OUTPUT = ("level", "lipschitz", "learning_rate", "smoothness", "strong_convexity")
ASSUMPTIONS = ("the loss of every record is L-Lipschitz, β-smooth and ρ-strongly convex", "SGD without noise in its steps",
               "noise N(0, σ²I) once, on the released output", "neighbours differ by replacing one record",
               "c = max(|1−ηρ|, |1−ηβ|) < 1")
SOURCE = "Berthier 2019, Section 3.2.2; Wu et al. 2017, arXiv:1606.04722"
ERRATUM = ("Berthier 2019, Section 3.2.2, prints σ² = αs²/(2ε²) for RDP (α, ε); it must be αs²/(2ε).",)


def log_factor(learning_rate: float, smoothness: float, strong_convexity: float) -> float:
    """log c, rounded up; raises OutOfScope where c >= 1."""
    c = max(abs(1 - learning_rate * strong_convexity), abs(1 - learning_rate * smoothness))
    if c >= 1:
        raise OutOfScope("out-of-range", f"{strong_convexity:g}: c = max(|1−ηρ|, |1−ηβ|) = {c:g} must be below 1; output perturbation "
                         "(Berthier 2019, Section 3.2.2) needs a strict contraction", "--strong-convexity")
    return log(c) + 4e-16 / c if c > 0 else -float("inf")


def ratios(level: float, lipschitz: float, learning_rate: float, smoothness: float, strong_convexity: float) -> Powers:
    """m → 2ηL c^m/σ."""
    first = up(2 * learning_rate * lipschitz / level, 1e-15)
    return Powers(first, log_factor(learning_rate, smoothness, strong_convexity))


@kept_numbers
def ratios_exact(mp: Any, level: float, lipschitz: float, learning_rate: float, smoothness: float,
                 strong_convexity: float) -> Callable[[int], Any]:
    eta = mp.mpf(learning_rate)
    c = max(abs(1 - eta * mp.mpf(strong_convexity)), abs(1 - eta * mp.mpf(smoothness)))
    first = 2 * eta * mp.mpf(lipschitz) / mp.mpf(level)
    return lambda m: first * c**m

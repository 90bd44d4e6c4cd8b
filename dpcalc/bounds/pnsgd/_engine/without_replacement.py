"""SGD without replacement in passes over a part of the records, with every iterate released."""

from fractions import Fraction
from math import ceil, floor

from dpcalc.bounds.start import START

RUN = ("level", "lipschitz", "n", "tau", "passes")
ASSUMPTIONS = ("gradients are clipped to L", START,
               "each of ⌈E/τ⌉ passes reshuffles and processes a fraction τ < 1 of the records",
               "every iterate is released", "neighbours differ by replacing one record",
               "Gaussian noise")
WITHDRAWN = ("Berthier & Karimireddy's proof is withdrawn: it applies sampling with weights to weights that depend on "
             "the data.",
             "Berthier 2019, §4.2, calls τ = 1 sampling with replacement; it is sampling without replacement, where "
             "each pass uses every record once.")


def whole_passes(passes: float, tau: float) -> int:
    """The number of whole passes, ⌊E/τ⌋, at least 1."""
    return max(1, floor(passes / tau * (1 + 1e-12)))


def passes_begun(passes: float, tau: float) -> int:
    """The number of passes that can use a record, ⌈E/τ⌉: the last one may only be begun.

    E/τ counts as whole where it is so up to the rounding of τ.
    """
    count = Fraction(passes) / Fraction(tau)
    return max(1, ceil(count * (1 - Fraction(1, 2**52))))


def steps(n: int, tau: float) -> int:
    """The number of steps of a pass, ⌊τn⌋, at least 1."""
    return max(1, floor(n * tau * (1 + 1e-12)))

"""What the rows of the conjecture on SGD without replacement share: partial passes, every iterate released."""

from fractions import Fraction
from math import ceil, floor

from dpcalc.bounds.start import START

RUN = ("level", "lipschitz", "n", "tau", "passes")
ASSUMPTIONS = ("gradients are clipped to L", START,
               "each of E/τ passes reshuffles and processes a fraction τ < 1 of the records, "
               "E·n records in all", "every iterate is released", "neighbours differ by replacing one record",
               "Gaussian noise")
WITHDRAWN = ("Berthier & Karimireddy's proof is withdrawn: it applies sampling with weights to weights that depend on "
             "the data.",)


def whole_passes(passes: float, tau: float) -> int:
    """Passes begun and finished: ⌊E/τ⌋, at least 1."""
    return max(1, floor(passes / tau * (1 + 1e-12)))


def passes_begun(passes: float, tau: float) -> int:
    """Passes that can use a record: ⌈E/τ⌉, the last maybe only begun; E/τ is whole where it is so up to the rounding of
    τ."""
    count = Fraction(passes) / Fraction(tau)
    return max(1, ceil(count * (1 - Fraction(1, 2**52))))


def steps(n: int, tau: float) -> int:
    """Steps of a pass: ⌊τn⌋, at least 1."""
    return max(1, floor(n * tau * (1 + 1e-12)))

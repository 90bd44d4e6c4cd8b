"""Output perturbation: SGD without noise on strongly convex and smooth losses, with noise added once to its output.

Replacing the record m steps before the end moves the output by at most 2ηLc^m.
"""

from math import inf, log, log1p
from typing import Any

from dpcalc.bounds.pnsgd._engine.family import Family
from dpcalc.bounds.pnsgd._engine.shares import Powers
from dpcalc.bounds.pnsgd._engine.step import GAUSSIAN_PARAMS, RUN, SECRET, steepest, steepest_exact
from dpcalc.bounds.start import GRADIENTS, START
from dpcalc.core.bound import Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import quotient_down, quotient_up, up

RELEASED = "the output, with noise added once"
ONCE = "the output, once"
ASSUMPTIONS = ("the loss of every record is L-Lipschitz, β-smooth and ρ-strongly convex", GRADIENTS, START,
               "SGD without noise in its steps",
               "noise N(0, σ²I) once, on the released output", "neighbours differ by replacing one record",
               "c = max(|1−ηρ|, |1−ηβ|) < 1")
SOURCE = "Berthier 2019, Section 3.2.2; Wu et al. 2017, arXiv:1606.04722"
_RUN = f"{RUN} --strong-convexity 0.1"
_ERRATUM = ("Berthier 2019, Section 3.2.2, prints σ² = αs²/(2ε²) for RDP (α, ε); it must be αs²/(2ε).",)


def _log_factor(learning_rate: float, smoothness: float, strong_convexity: float) -> float:
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


def _start(level: float, lipschitz: float, learning_rate: float, smoothness: float,
           strong_convexity: float) -> tuple[float, float]:
    """2ηL/σ and log c."""
    return (up(2 * learning_rate * lipschitz / level, 1e-15), _log_factor(learning_rate, smoothness, strong_convexity))


def _start_exact(mp: Any, level: float, lipschitz: float, learning_rate: float, smoothness: float,
                 strong_convexity: float) -> tuple[Any, Any]:
    return (2 * mp.mpf(learning_rate) * mp.mpf(lipschitz) / mp.mpf(level),
            steepest_exact(mp, learning_rate, strong_convexity, smoothness))


OUTPUT = Family(GAUSSIAN_PARAMS, Powers, _start, _start_exact)

FIXED_RDP = OUTPUT.fixed_rdp(Theorem(
    name="output-perturbation", example=f"{_RUN} --index 500 --alpha 8 --bound output-perturbation",
    statement="ε(α) = αs²/(2σ²), s = 2ηL c^(n−i), c = max(|1−ηρ|, |1−ηβ|), for the record at position i",
    in_words="The Rényi divergence of SGD without noise in its steps, one pass in an order that may be known, with "
             "noise added once to the output. A record is replaced. It needs strongly convex smooth losses without "
             "clipping, as only then does a record's influence fade. It is false where an iterate without noise is "
             "released. Converted, it is never below output-perturbation-exact.",
    source=SOURCE, assumptions=ASSUMPTIONS, released=RELEASED, noise_on=ONCE, riskier=("learning_rate",),
    errata=_ERRATUM,
), rtol=1e-10)

FIXED = OUTPUT.fixed(Theorem(
    name="output-perturbation-exact", example=f"{_RUN} --index 500 --epsilon 1 --bound output-perturbation",
    statement="the record at position i changes the output by at most 2ηL c^(n−i), c = max(|1−ηρ|, |1−ηβ|): δ(ε) "
              "= θ(ε, 2ηL c^(n−i)/σ)",
    in_words="The privacy profile of SGD without noise in its steps, one pass in an order that may be known, with "
             "Gaussian noise added once to the output. A record is replaced. It needs strongly convex smooth losses "
             "without clipping, as only then does a record's influence fade with the steps. The last record gains "
             "nothing. It is false where an iterate without noise is released.",
    source=SOURCE, assumptions=ASSUMPTIONS, released=RELEASED, noise_on=ONCE, riskier=("learning_rate",),
))

SHUFFLED_RDP = OUTPUT.shuffled_rdp(Theorem(
    name="output-perturbation-shuffled", example=f"{_RUN} --alpha 8 --bound output-perturbation",
    statement="ε(α) = (1/(α−1)) log((1/n)Σ_m e^((α−1)αs_m²/(2σ²))), s_m = 2ηL c^m, c = max(|1−ηρ|, |1−ηβ|)",
    in_words="The Rényi divergence of SGD without noise in its steps, one pass in a uniformly random order, with noise "
             "added once to the output: a mean of exponentials over the places of the record, in which the last ones "
             "count most. A record is replaced. It needs strongly convex smooth losses without clipping. It is false "
             "where an iterate without noise is released.",
    source=f"Berthier 2019, Lemma 3.1; {SOURCE}", assumptions=(*ASSUMPTIONS, SECRET), released=RELEASED, noise_on=ONCE,
    riskier=("learning_rate",), errata=_ERRATUM,
))

SHUFFLED = OUTPUT.shuffled(Theorem(
    name="output-perturbation-shuffled-exact", example=f"{_RUN} --epsilon 1 --bound output-perturbation",
    statement="δ(ε) ≤ (1/n)Σ_{m<n} θ(ε, 2ηL c^m/σ), c = max(|1−ηρ|, |1−ηβ|); the sum is taken from above in "
              "blocks, by chords of θ, at most 1.6 % above it (exact to n = 64)",
    in_words="The privacy profile of SGD without noise in its steps, one pass in a uniformly random order, with "
             "Gaussian noise added once to the output: the mean over the places of the record. A record is replaced. "
             "It needs strongly convex smooth losses without clipping. It is loose: "
             "output-perturbation-shuffled-hiding, which uses that the order is secret, is usually smaller.",
    source=f"{SOURCE}; joint convexity", assumptions=(*ASSUMPTIONS, SECRET), released=RELEASED, noise_on=ONCE,
    riskier=("learning_rate",),
), rtol=2e-10)

BOUNDS = (FIXED_RDP, FIXED, SHUFFLED_RDP, SHUFFLED)

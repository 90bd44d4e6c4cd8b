"""An epoch of noisy SGD on smooth losses without convexity: a step multiplies a distance by at most C = 1 + ηβ."""

from math import log1p, sqrt
from typing import Any

from dpcalc.bounds.pnsgd._engine.family import Family
from dpcalc.bounds.pnsgd._engine.shares import Shares
from dpcalc.bounds.pnsgd._engine.smooth_sums import total
from dpcalc.bounds.pnsgd._engine.step import RUN, SECRET, move_ratio
from dpcalc.bounds.start import START
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.core.numbers import human, plain
from dpcalc.numerics.mp.sums import smooth_sum
from dpcalc.numerics.rounding import up

ASSUMPTIONS = (
    "the loss of every record is L-Lipschitz and β-smooth; it need not be convex, nor the iterates projected", START,
    "Gaussian noise on every gradient", "only the last iterate is released",
    "neighbours differ by replacing one record")
_THEOREM_23 = "Feldman, Mironov, Talwar & Thakurta 2018, Theorem 23, arXiv:1808.06651"
SOURCE = f"Berthier 2019, Theorem 3.6; {_THEOREM_23}"


def _start(level: float, lipschitz: float, learning_rate: float, smoothness: float) -> tuple[float, float]:
    return move_ratio(level, lipschitz), up(log1p(learning_rate * smoothness), 4e-16)


def _start_exact(mp: Any, level: float, lipschitz: float, learning_rate: float, smoothness: float) -> tuple[Any, Any]:
    return 2 * mp.mpf(lipschitz) / mp.mpf(level), 1 + mp.mpf(learning_rate) * mp.mpf(smoothness)


SMOOTH = Family(("level", "lipschitz", "learning_rate", "smoothness"), Shares, _start, _start_exact)

FIXED_RDP = SMOOTH.fixed_rdp(Theorem(
    name="smooth-nonconvex", example=f"{RUN} --index 500 --alpha 8",
    statement="ε(α) = (2αL²/σ²)(1 − C^(−2))/(1 − C^(−2(n−i+1))), C = 1 + ηβ, for the record at position i",
    in_words="The Rényi form of smooth-nonconvex-exact: the last iterate of one pass of noisy SGD, for the record at "
             "place i of an order that may be known. A record is replaced. The losses need not be convex, and "
             "gradients may be clipped. It gains little over one Gaussian step where ηβ is not small; the last record "
             "gains nothing.",
    source=SOURCE, assumptions=ASSUMPTIONS, riskier=("learning_rate",),
), rtol=2e-14)

FIXED = SMOOTH.fixed(Theorem(
    name="smooth-nonconvex-exact", example=f"{RUN} --index 500 --epsilon 1",
    statement="the record at position i is μ-GDP, μ² = (4L²/σ²)(1 − C^(−2))/(1 − C^(−2(n−i+1))), C = 1 + ηβ",
    in_words="One pass of noisy SGD in an order that may be known, of which only the last iterate is released, for "
             "losses that are smooth but need not be convex. A record is replaced. Later noise helps to hide the "
             "record as long as ηβ is small: a step may enlarge the distance of two runs by the factor 1 + ηβ. The "
             "last record gains nothing.",
    source=f"{SOURCE} (the shift lemma in f-DP: Bok, Su & Altschuler 2024, arXiv:2403.00278)",
    assumptions=ASSUMPTIONS, riskier=("learning_rate",),
))

SHUFFLED_RDP = SMOOTH.shuffled_rdp(Theorem(
    name="smooth-nonconvex-shuffled", example=f"{RUN} --alpha 8",
    statement="ε(α) = (1/(α−1)) log((1/n)Σ_t e^((α−1)ε_t(α))), ε_t(α) = (2αL²/σ²)(1 − C^(−2))/(1 − "
              "C^(−2(n−t+1))), C = 1 + ηβ",
    in_words="The Rényi form of smooth-nonconvex-shuffled-exact: the last iterate of one pass of noisy SGD in a "
             "uniformly random order, for losses that are smooth but need not be convex. A record is replaced. It is a "
             "mean of exponentials over the places of the record, in which the last places count most. It is false "
             "where earlier iterates are released.",
    source=f"Berthier 2019, Lemma 3.1 with Theorem 3.6; {_THEOREM_23}", assumptions=(*ASSUMPTIONS, SECRET),
    riskier=("learning_rate",),
    errata=("Berthier 2019, Proposition 3.1, prints asymptotic forms that are not bounds: with η = 1/(βn) the sum "
            "is (log n + 1.739)/n, 25 % above the print at n = 1000; with η = 1/(β√n) the true order is 2/√n, "
            "without the logarithm.",),
))

SHUFFLED = SMOOTH.shuffled(Theorem(
    name="smooth-nonconvex-shuffled-exact", example=f"{RUN} --epsilon 1",
    statement="δ(ε) ≤ (1/n)Σ_t θ(ε, μ_t), μ_t² = (4L²/σ²)(1 − C^(−2))/(1 − C^(−2(n−t+1))), C = 1 + ηβ; the sum "
              "is taken from above in blocks, by chords of θ, at most 1.6 % above it (exact to n = 64; less than "
              ".5 % where ε ≤ 15)",
    in_words="One pass of noisy SGD in a uniformly random order, of which only the last iterate is released, for "
             "losses that are smooth but need not be convex: δ is the mean over the places of the record. A record is "
             "replaced. It is loose: smooth-nonconvex-shuffled-hiding, which uses that the order is secret, is usually "
             "smaller. It is false where earlier iterates are released.",
    source=f"{SOURCE}; joint convexity", assumptions=(*ASSUMPTIONS, SECRET), riskier=("learning_rate",),
))


def refuse_little_noise(alpha: float, level: float, lipschitz: float) -> None:
    """Raises OutOfScope where σ < L√(2α(α−1)), which the theorem with much noise does not cover."""
    least = lipschitz * sqrt(2 * alpha * (alpha - 1))
    if level < least:
        raise OutOfScope("out-of-range", f"{plain(level)} < L√(2α(α−1)) = {human(least)}; Section 3.3.2 (Berthier "
                                         "2019) needs that much noise", "--sigma")


def _twice_the_mean(alpha: float, n: int, **p: float) -> float:
    """(2/n)Σ_t ε_t(α), rounded up. Raises OutOfScope where σ < L√(2α(α−1))."""
    refuse_little_noise(alpha, p["level"], p["lipschitz"])
    mu = SMOOTH.ratios(**p)
    mean = total(mu.share, lambda j: mu.share(j) * mu.log_share_slope(j), n) / n
    return up(alpha * mu.first * mu.first * mean, 4e-15)


def _twice_the_mean_exact(mp: Any, alpha: float, n: int, **p: float) -> Any:
    refuse_little_noise(alpha, p["level"], p["lipschitz"])
    return 2 * smooth_sum(mp, SMOOTH.rdp_exact(mp, alpha, **p), 1, n) / n


HIGH_NOISE = RdpBound(Theorem(
    name="smooth-nonconvex-high-noise",
    example="shuffle-pnsgd --sigma 50 --lipschitz 1 --learning-rate 0.01 --smoothness 0.5 --n 1000 --alpha 8 "
            "--bound smooth-nonconvex-high-noise",
    statement="ε(α) = (2/n)Σ_t ε_t(α) where σ ≥ L√(2α(α−1)); there (α−1)ε_t ≤ 1, and the mean of "
              "smooth-nonconvex-shuffled is at most e − 1 times the plain one",
    in_words="A simple Rényi bound for the last iterate of one pass of noisy SGD in a uniformly random order, for "
             "losses that are smooth but need not be convex: twice the mean over the places of the record. A record is "
             "replaced. It holds only where σ is large for the order α. It is loose: smooth-nonconvex-shuffled is at "
             "most e − 1 times that mean.",
    source="Berthier 2019, Section 3.3.2; Feldman, Mironov, Talwar & Thakurta 2018, Lemma 25, arXiv:1808.06651",
    assumptions=(*ASSUMPTIONS, SECRET, "σ ≥ L√(2α(α−1))"), riskier=("learning_rate",),
), params=(*SMOOTH.params, "n"), value=_twice_the_mean, exact=_twice_the_mean_exact, rtol=1e-9)

BOUNDS = (FIXED_RDP, FIXED, SHUFFLED_RDP, SHUFFLED, HIGH_NOISE)

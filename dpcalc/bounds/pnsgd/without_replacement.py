"""SGD without replacement in passes over a part of the records, with every iterate released: the conjectured
amplification, the sum behind it, Gaussian DP without amplification, and the loss of one concrete run.

Proof of without-replacement-unamplified. Fix the orders of all passes, which do not depend on the record. It is used in
at most k = ⌈E/τ⌉ steps, the same ones on both data sets; the other steps are equal, given the outputs before them. Each
of the k is a Gaussian mechanism of sensitivity 2L, chosen in view of the outputs before it, so that all together are
dominated by one of sensitivity 2L√k (Dong, Roth & Su 2022, Corollary 3.3). Random orders give a mixture of such pairs
with equal weights, and a hockey-stick divergence is jointly convex. ∎ """

from fractions import Fraction
from math import ceil, floor, fsum, sqrt
from typing import Any

from dpcalc.bounds.gaussian_dp import gaussian_bound
from dpcalc.bounds.sampling import poisson_rdp
from dpcalc.bounds.start import START
from dpcalc.core.bound import RdpBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.core.numbers import plain
from dpcalc.numerics.mp.sums import smooth_sum
from dpcalc.numerics.rounding import up

RUN = ("level", "lipschitz", "n", "tau", "passes")
ASSUMPTIONS = ("gradients are clipped to L", START,
               "each of ⌈E/τ⌉ passes reshuffles and processes a fraction τ < 1 of the records",
               "every iterate is released", "neighbours differ by replacing one record",
               "Gaussian noise")
WITHDRAWN = ("Berthier & Karimireddy's proof is withdrawn: it applies sampling with weights to weights that depend on "
             "the data.",
             "Berthier 2019, §4.2, calls τ = 1 sampling with replacement; it is sampling without replacement, where "
             "each pass uses every record once.")
EXAMPLE = ("shuffle-pnsgd --sigma 4 --lipschitz 1 --n 1000 --tau 1/1000 --epochs 1 --alpha 16 --bound "
           "without-replacement-conjecture")
_QUADRATURE = 5e-9  # relative error of the quadrature, with the rounding of 2L/σ and 1/n


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


def _check_noise(level: float, lipschitz: float) -> None:
    """Raise OutOfScope where σ² < 4L²."""
    if level < 2 * lipschitz:
        raise OutOfScope("out-of-range",
                         f"{plain(level)} < 2L = {plain(2 * lipschitz)}; Conjecture 1 (Berthier 2019) assumes "
                         "σ² ≥ 4L²", "--sigma")


def _conjecture(alpha: float, level: float, lipschitz: float, n: int, tau: float, passes: float,
                constant: float) -> float:
    """C·E·αL²/(n(1−τ)σ²), rounded up."""
    _check_noise(level, lipschitz)
    return up(constant * passes * alpha * (lipschitz / level) ** 2 / (n * (1 - tau)), 4e-15)


def _conjecture_exact(mp: Any, alpha: float, level: float, lipschitz: float, n: int, tau: float, passes: float,
                      constant: float) -> Any:
    square = (mp.mpf(lipschitz) / mp.mpf(level)) ** 2
    return mp.mpf(constant) * mp.mpf(passes) * mp.mpf(alpha) * square / (n * (1 - mp.mpf(tau)))


CONJECTURE = RdpBound(Theorem(
    name="without-replacement-conjecture", example=EXAMPLE,
    statement="ε(α) = C·E·αL²/(n(1−τ)σ²), C ≥ 16",
    in_words="This is a conjecture, and no guarantee: how much SGD in passes without replacement would gain from the "
             "secret order, with every iterate released, for a constant C of at least 16 that is not known. The "
             "published proof is withdrawn, as it uses sampling with weights that depend on the data. The proven "
             "bound for the same run is without-replacement-unamplified.",
    source="Berthier 2019, Conjecture 2; Berthier & Karimireddy (withdrawn), Theorem 2.2",
    assumptions=(*ASSUMPTIONS, "σ² ≥ 4L²", "unproven"), released="every step's output", status="conjecture",
    errata=WITHDRAWN,
), params=(*RUN, "constant"), value=_conjecture, exact=_conjecture_exact, rtol=1e-14)


def inverse_squares(low: int, high: int) -> float:
    """Σ_{x=low}^{high} 1/x², rounded up, to 1e-13 relative.

    Beyond x = 256 by Euler–Maclaurin around midpoints, which is an upper bound, as 1/x² is completely monotone.
    """
    first = min(high, max(low - 1, 256))
    head = fsum(1 / (x * x) for x in range(low, first + 1))
    if first == high:
        return head * (1 + 1e-15)
    a, b = first + 0.5, high + 0.5
    tail = (b - a) / (a * b) - (a**-3 - b**-3) / 12 + 7 * (a**-5 - b**-5) / 240
    return (head + tail) * (1 + 4e-15)


def _sum(alpha: float, level: float, lipschitz: float, n: int, tau: float, passes: float, constant: float) -> float:
    """(E/τ)Σ_{j<=τn} CαL²/((n−j+1)²σ²), rounded up."""
    _check_noise(level, lipschitz)
    sums = inverse_squares(n - steps(n, tau) + 1, n)
    return up(constant * passes / tau * alpha * (lipschitz / level) ** 2 * sums, 4e-15)


def _sum_exact(mp: Any, alpha: float, level: float, lipschitz: float, n: int, tau: float, passes: float,
               constant: float) -> Any:
    sums = smooth_sum(mp, lambda x: 1 / mp.mpf(x) ** 2, n - steps(n, tau) + 1, n)
    square = (mp.mpf(lipschitz) / mp.mpf(level)) ** 2
    return mp.mpf(constant) * mp.mpf(passes) / mp.mpf(tau) * mp.mpf(alpha) * square * sums


SUM = RdpBound(Theorem(
    name="without-replacement-conjecture-sum", example=EXAMPLE,
    statement="ε(α) = (E/τ)Σ_{j≤τn} CαL²/((n−j+1)²σ²), C ≥ 16",
    in_words="This is a conjecture, and no guarantee: the sum from which without-replacement-conjecture is derived, "
             "with a constant C of at least 16 that is not known, for SGD in passes without replacement with every "
             "iterate released. The published proof is withdrawn. The proven bound for the same run is "
             "without-replacement-unamplified.",
    source="Berthier 2019, Conjecture 1; Berthier & Karimireddy (withdrawn), Theorem 2.1",
    assumptions=(*ASSUMPTIONS, "σ² ≥ 4L²", "unproven"), released="every step's output", status="conjecture",
    errata=WITHDRAWN,
), params=(*RUN, "constant"), value=_sum, exact=_sum_exact, rtol=2e-11)


def _lower(alpha: float, level: float, lipschitz: float, n: int, tau: float, passes: float) -> float:
    """⌊E/τ⌋ times D_α((1−1/n)N(0,σ²) + (1/n)N(2L,σ²) ‖ N(0,σ²)), rounded down."""
    one = poisson_rdp.value(alpha, level / (2 * lipschitz), 1 / n)
    return whole_passes(passes, tau) * one * (1 - _QUADRATURE)


def _lower_exact(mp: Any, alpha: float, level: float, lipschitz: float, n: int, tau: float, passes: float) -> Any:
    z = mp.mpf(level) / (2 * mp.mpf(lipschitz))
    return whole_passes(passes, tau) * poisson_rdp.exact(mp, alpha, z, mp.mpf(1) / n)


LOWER = RdpBound(Theorem(
    name="without-replacement-lower", example=EXAMPLE,
    statement="linear losses with gradients {+L, −L, …, −L} against {−L, …, −L}: the first step of each pass "
              "alone loses D_α((1−1/n)N(0,σ²) + (1/n)N(2L,σ²) ‖ N(0,σ²)), and the passes are independent",
    in_words="This is a lower bound, and no guarantee: the Rényi divergence of one run with linear losses, in the "
             "first step of every pass without replacement. No bound for all such runs can be smaller, so that a "
             "constant C for which the conjecture is below it is disproved. What later steps of a pass add to the loss "
             "is left out.",
    source="Mironov 2017, Definition 4, arXiv:1702.07476v3 (the definition itself, for one pair of data sets)",
    assumptions=(*ASSUMPTIONS, "a lower bound: the loss of one instance, not a guarantee"),
    released="every step's output", status="lower",
), params=RUN, value=_lower, exact=_lower_exact, rtol=_QUADRATURE)


def _mu(level: float, lipschitz: float, n: int, tau: float, passes: float) -> float:
    """2L√⌈E/τ⌉/σ, rounded up."""
    return up(2 * lipschitz / level * sqrt(passes_begun(passes, tau)), 5e-16)


def _exact_mu(mp: Any, level: float, lipschitz: float, n: int, tau: float, passes: float) -> Any:
    return 2 * mp.mpf(lipschitz) / mp.mpf(level) * mp.sqrt(passes_begun(passes, tau))


UNAMPLIFIED = gaussian_bound(Theorem(
    name="without-replacement-unamplified", example=EXAMPLE,
    statement="μ = (2L/σ)√⌈E/τ⌉: each of E/τ passes, the last maybe only begun, is one Gaussian release of "
              "sensitivity 2L for the record; δ(ε) ≤ θ(ε, μ) and ε(α) = αμ²/2",
    in_words="The proven bound for SGD in passes without replacement with every iterate released: each pass that uses "
             "a record is one Gaussian release, and nothing is gained from the secret order. It holds for any losses "
             "with clipped gradients, where a record is replaced. It may be loose, as a pass uses only a share τ of "
             "the records.",
    source="proof in dpcalc/bounds/pnsgd/without_replacement.py, from Dong, Roth & Su 2022, Corollary 3.3, "
           "arXiv:1905.02383v3",
    assumptions=ASSUMPTIONS, released="every step's output",
), params=RUN, mu=_mu, exact_mu=_exact_mu, rtol=2e-12)

BOUNDS = (CONJECTURE, SUM, LOWER, UNAMPLIFIED)

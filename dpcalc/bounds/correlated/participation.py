"""Correlated noise by who takes part when: a record in one step; any two steps at least as many apart as C has bands;
separated steps, for coefficients of any kind; or every b-th step, in a fixed order.

Proof that any sensitivity s of C gives μ-GDP with μ = s/σ. What is released is a function of y = Cg + z. Given the
earlier rows, row t is N((Cg)_t, σ²I), and on the two neighbours its mean differs by (Cx)_t, where x_j is the change of
g_j: it may depend on the earlier rows, is 0 in the steps without the record, and has a norm of at most Δ elsewhere.
Whatever the rows, Σ_t ‖(Cx)_t‖² ≤ s². Let an observer see one more Gaussian release, whose means differ by what is
missing to s². Then the logarithm of the likelihood ratio is a sum of Gaussian increments whose variances, given the
past, add up to μ² in any case: a Brownian motion at the fixed time μ², hence N(±μ²/2, μ²), as for one Gaussian
mechanism. The observer of y alone learns no more. ∎

Proof of correlated-once. With one step, s² = Δ²·max_j ‖Ce_j‖² = Δ²·Σ_{k<n} c_k²: the first column is the longest one,
as the others are parts of it. A change of norm Δ in the first step attains it.

Proof of correlated-bands. Columns i and j of C with |i − j| ≥ b have no row in common where C has at most b bands. So C
maps the changes x_i of a record, of norm at most 1, to orthogonal vectors, whose sum has a squared norm of at most Σ_i
‖Ce_i‖². Column i has the coefficients c_t with t < n − i, and the j-th step of a record is jb or later (j = 0, 1, …):
so the sum is largest for changes of norm 1 in the steps 0, b, 2b, …

Proof of correlated-separated. Let X = CᵀC, and let m_k = max_{j≥k} |c_j|. With steps p_0 < p_1 < … and changes of norm
at most 1 the squared norm of Σ_i x_i Ce_{p_i} is at most Σ_{i,j} |X_{p_i p_j}|. For p ≤ q it holds that |X_pq| ≤
Σ_{t<n−q} m_t m_{t+q−p}, which does not increase in q at a fixed q − p, nor in q − p, as m does not increase. The j-th
step is jb or later, and the i-th and the j-th are at least |i − j|b apart: so each term is largest at the steps 0, b,
2b, …, where they add up to the squared norm of the sum of the columns of the matrix with coefficients m. Where c = m
this is attained, by equal changes (Kalinin & Lampert 2024, Theorem 2).

Proof of correlated-cyclic. Let X = CᵀC. A record takes part in some of the steps f, f + b, f + 2b, … with f < b. With
changes of norm at most 1 the squared norm of Σ_i x_i Ce_{f+ib} is at most Σ_{i,j} |X_{f+ib,f+jb}|, over all these
steps. For i ≤ j a term is at most Σ_{t<n−f−jb} |c_t c_{t+(j−i)b}|, which is largest at f = 0; there are most steps at f
= 0, too, and there the terms add up to the squared norm of the sum of the columns of |C|. Where c ≥ 0 and the record
may take part in all of them, this is attained by equal changes. No monotonicity of c is needed. """

from collections.abc import Callable
from typing import Any, NamedTuple

from dpcalc.bounds.correlated._engine.design import Design
from dpcalc.bounds.gaussian_dp import gaussian_bound
from dpcalc.core.bound import ProfileBound, Theorem
from dpcalc.core.errors import OutOfScope
from dpcalc.numerics.rounding import ratio_up

PARAMS = ("design", "change", "sigma")
SETTING = ("noise C⁻¹z with z ~ N(0, σ²I) is added to the clipped sums of all steps; σ is in clipping norms",
           "a record changes only the sums of the steps in which it takes part, each by at most one clipping norm (two "
           "where it is replaced)",
           "the steps of a record are fixed without looking at the data or at outputs; gradients may depend on "
           "earlier outputs")
DENISOV = "Denisov et al. 2022, arXiv:2202.08312"


class Correlated(NamedTuple):
    """Two computations of the sensitivity of a design, one that is fast and one that is exact, and the bound that they
    give."""

    sensitivity: Callable[[Design], float]  # in double precision, rounded up
    square: Callable[[Design, list[int]], int]  # its square from |c_0|, |c_1|, … as whole numbers

    def mu(self, design: Design, change: float, sigma: float) -> float:
        """μ, rounded up."""
        return ratio_up((design.sensitivity(self.sensitivity), change), (sigma,))

    def exact_sensitivity(self, mp: Any, design: Design) -> Any:
        """The sensitivity at the precision of mp, from whole numbers that are rounded up. Raises OutOfScope for too
        many steps."""
        if design.steps > 3_000_000:  # they would take more than 10 s and a gigabyte of memory
            raise OutOfScope("too-large", f"{design.steps} steps are too many for whole numbers; at most 3e+06 are "
                                          "evaluated in them", "--steps")
        # With 64 more bits, rounding up every coefficient costs less than one digit of the working precision.
        bits = int(mp.prec) + 64 + design.strategy.bits_of_first
        return mp.sqrt(mp.mpf(self.square(design, design.magnitudes(bits)))) / mp.mpf(2) ** bits

    def exact_mu(self, mp: Any, design: Design, change: float, sigma: float) -> Any:
        return self.exact_sensitivity(mp, design) * mp.mpf(change) / mp.mpf(sigma)

    def bound(self, theorem: Theorem) -> ProfileBound:
        return gaussian_bound(theorem, PARAMS, self.mu, self.exact_mu, rtol=1e-8)


def square_of_column_sums(c: list[int], n: int, separation: int, count: int) -> int:
    """The squared norm of the sum of `count` columns at 0, b, 2b, …; c_k is 0 beyond the list."""
    found: list[int] = []
    for i in range(n):
        new = c[i] if i < len(c) else 0
        old = c[left] if 0 <= (left := i - count * separation) < len(c) else 0
        found.append(new - old + (found[i - separation] if i >= separation else 0))
    return sum(x * x for x in found)


def sensitivity_of_orthogonal(design: Design) -> float:
    """√Σ_j ‖Ce_{jb}‖²; for one step the norm of the first column."""
    from dpcalc.bounds.correlated._engine.sensitivity_array import orthogonal_columns

    return orthogonal_columns(design.columns, design.steps, design.separation, design.participations)


def _square_of_orthogonal(design: Design, c: list[int]) -> int:
    return sum(x * x * min(design.participations, -(-(design.steps - t) // design.separation)) for t, x in enumerate(c))


ORTHOGONAL = Correlated(sensitivity_of_orthogonal, _square_of_orthogonal)

ONCE = ORTHOGONAL.bound(Theorem(
    name="correlated-once",
    example="correlated --steps 1000 --order once --strategy square-root --sigma 5 --delta 1e-5",
    statement="all steps together are exactly μ-GDP, μ = Δ·√(Σ_{k<n} c_k²)/σ, where Δ is what one record changes (1, "
              "or 2 where it is replaced)",
    in_words="DP-FTRL, or matrix factorisation, with noise that is correlated over the steps, for a record that takes "
             "part in at most one step; all steps' outputs are released. It is exact: a record of the first step "
             "attains it. It is false where a record takes part twice, or where its step depends on the data. The "
             "order need not be secret.",
    source=DENISOV,
    assumptions=(*SETTING, "a record takes part in at most one step"),
    released="every step's output",
))

BANDS = ORTHOGONAL.bound(Theorem(
    name="correlated-bands",
    example="correlated --steps 2052 --separation 342 --participations 6 --strategy banded-sqrt:342 --sigma 5 "
            "--delta 1e-5",
    statement="all steps together are exactly μ-GDP, μ = Δ·√(Σ_{j<k} Σ_{t<n−jb} c_t²)/σ, where C has at most b bands "
              "and Δ is what one record changes (1, or 2 where it is replaced)",
    in_words="DP-FTRL, or matrix factorisation, with a strategy matrix of at most b bands, for a record whose steps "
             "are at least b steps from each other; all steps' outputs are released. It is exact. It is false where "
             "two steps of a record are closer, as with a fresh shuffle in every epoch. The order need not be secret.",
    source=f"Choquette-Choo et al. 2023, arXiv:2306.08153; {DENISOV}",
    assumptions=(*SETTING, "a record takes part in at most k steps, and any two of them, i and j, have |j − i| ≥ b"),
    released="every step's output",
))


def _sensitivity_separated(design: Design) -> float:
    """‖Σ_{j<k} Me_{jb}‖, where M has the coefficients m."""
    from dpcalc.bounds.correlated._engine import sensitivity_array as s

    columns = design.columns if design.strategy.is_nonincreasing else s.least_nonincreasing_majorant(design.columns)
    return s.column_sums(columns, design.steps, design.separation, design.participations)


def _square_separated(design: Design, c: list[int]) -> int:
    largest = [0] * len(c)
    last = 0
    for k in range(len(c) - 1, -1, -1):
        last = largest[k] = max(last, c[k])
    return square_of_column_sums(largest, design.steps, design.separation, design.participations)


SEPARATED = Correlated(_sensitivity_separated, _square_separated).bound(Theorem(
    name="correlated-separated",
    example="correlated --steps 1000 --separation 100 --participations 4 --strategy square-root --sigma 5 --delta 1e-5",
    statement="all steps together are μ-GDP, μ = Δ·‖Σ_{j<k} Me_{jb}‖/σ, where M has the coefficients max_{j≥k} |c_j| "
              "and Δ is what one record changes (1, or 2 where it is replaced); exactly so where c is non-negative and "
              "does not increase",
    in_words="DP-FTRL, or matrix factorisation, for a record that takes part in at most k steps, any two of which are "
             "at least b steps from each other; all steps' outputs are released. It is exact where the coefficients "
             "are non-negative and do not increase, and else an upper bound. It is false where two steps of a record "
             "are closer than b.",
    source=f"Kalinin & Lampert 2024, Theorem 2, arXiv:2405.13763; {DENISOV}",
    assumptions=(*SETTING, "a record takes part in at most k steps, and any two of them, i and j, have |j − i| ≥ b"),
    released="every step's output",
))


def _sensitivity_cyclic(design: Design) -> float:
    """‖Σ_j |C|e_{jb}‖ over all steps jb."""
    from dpcalc.bounds.correlated._engine.sensitivity_array import column_sums

    return column_sums(design.columns, design.steps, design.separation, design.most)


def _square_cyclic(design: Design, c: list[int]) -> int:
    return square_of_column_sums(c, design.steps, design.separation, design.most)


CYCLIC = Correlated(_sensitivity_cyclic, _square_cyclic).bound(Theorem(
    name="correlated-cyclic",
    example="correlated --steps 1000 --order cyclic --separation 100 --strategy square-root --sigma 5 --delta 1e-5",
    statement="all steps together are μ-GDP, μ = Δ·‖Σ_j |C|e_{jb}‖/σ over all steps jb, where Δ is what one record "
              "changes (1, or 2 where it is replaced); exactly so where c is non-negative and a record takes part in "
              "every b-th step",
    in_words="DP-FTRL, or matrix factorisation, for a record that takes part in every b-th step only, as with batches "
             "in the same order in every epoch; all steps' outputs are released. It is exact where the coefficients "
             "are non-negative. It is false where the records are shuffled again in a later epoch. The order need not "
             "be secret.",
    source=f"dpcalc, bounds/correlated/participation.py (proof there), after {DENISOV}",
    assumptions=(*SETTING, "the differences of the steps of a record are multiples of b"),
    released="every step's output",
))

BOUNDS = (ONCE, BANDS, SEPARATED, CYCLIC)

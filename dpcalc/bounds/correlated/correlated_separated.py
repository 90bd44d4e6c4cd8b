"""Correlated noise where the steps of a record are separated, for coefficients of any kind.

Proof. Let X = CᵀC, and let m_k = max_{j≥k} |c_j|. With steps p_0 < p_1 < … and changes of norm at most 1 the squared
norm of Σ_i x_i Ce_{p_i} is at most Σ_{i,j} |X_{p_i p_j}|. For p ≤ q it holds that |X_pq| ≤ Σ_{t<n−q} m_t m_{t+q−p},
which does not increase in q at a fixed q − p, nor in q − p, as m does not increase. The j-th step is jb or later, and
the i-th and the j-th are at least |i − j|b apart: so each term is largest at the steps 0, b, 2b, …, where they add up
to the squared norm of the sum of the columns of the matrix with coefficients m. Where c = m this is attained, by equal
changes (Kalinin & Lampert 2024, Theorem 2). """

from dpcalc.bounds.correlated._engine import profile
from dpcalc.bounds.correlated._engine.design import Design
from dpcalc.bounds.correlated._engine.profile import Correlated, square_of_column_sums
from dpcalc.core.bound import Theorem


def sensitivity(design: Design) -> float:
    """‖Σ_{j<k} Me_{jb}‖, where M has the coefficients m."""
    from dpcalc.bounds.correlated._engine import sensitivity_array as s

    columns = design.columns if design.strategy.is_nonincreasing else s.least_nonincreasing_majorant(design.columns)
    return s.column_sums(columns, design.steps, design.separation, design.participations)


def square(design: Design, c: list[int]) -> int:
    largest = [0] * len(c)
    last = 0
    for k in range(len(c) - 1, -1, -1):
        last = largest[k] = max(last, c[k])
    return square_of_column_sums(largest, design.steps, design.separation, design.participations)


FORM = Correlated(sensitivity, square)
BOUND = FORM.bound(Theorem(
    name="correlated-separated",
    example="correlated --steps 1000 --separation 100 --participations 4 --strategy square-root --sigma 5 --delta 1e-5",
    statement="all steps together are μ-GDP, μ = Δ·‖Σ_{j<k} Me_{jb}‖/σ, where M has the coefficients max_{j≥k} |c_j| "
              "and Δ is what one record changes (1, or 2 where it is replaced); exactly so where c is non-negative and "
              "does not increase",
    source=f"Kalinin & Lampert 2024, Theorem 2, arXiv:2405.13763; {profile.DENISOV}",
    assumptions=(*profile.SETTING, "a record takes part in at most k steps, and any two of them, i and j, have "
                                   "|j − i| ≥ b"),
    released="every step's output",
))

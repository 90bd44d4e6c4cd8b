"""Correlated noise where a record takes part in every b-th step, in a fixed order.

Proof. Let X = CᵀC. A record takes part in some of the steps f, f + b, f + 2b, … with f < b. With changes of norm at
most 1 the squared norm of Σ_i x_i Ce_{f+ib} is at most Σ_{i,j} |X_{f+ib,f+jb}|, over all these steps. For i ≤ j a term
is at most Σ_{t<n−f−jb} |c_t c_{t+(j−i)b}|, which is largest at f = 0; there are most steps at f = 0, too, and there
the terms add up to the squared norm of the sum of the columns of |C|. Where c ≥ 0 and the record may take part in all
of them, this is attained by equal changes. No monotonicity of c is needed. """

from dpcalc.bounds.correlated._engine import profile
from dpcalc.bounds.correlated._engine.design import Design
from dpcalc.bounds.correlated._engine.profile import Correlated, square_of_column_sums
from dpcalc.core.bound import Theorem


def sensitivity(design: Design) -> float:
    """‖Σ_j |C|e_{jb}‖ over all steps jb."""
    from dpcalc.bounds.correlated._engine.sensitivity_array import column_sums

    return column_sums(design.columns, design.steps, design.separation, design.most)


def square(design: Design, c: list[int]) -> int:
    return square_of_column_sums(c, design.steps, design.separation, design.most)


FORM = Correlated(sensitivity, square)
BOUND = FORM.bound(Theorem(
    name="correlated-cyclic",
    example="correlated --steps 1000 --order cyclic --separation 100 --strategy square-root --sigma 5 --delta 1e-5",
    statement="all steps together are μ-GDP, μ = Δ·‖Σ_j |C|e_{jb}‖/σ over all steps jb, where Δ is what one record "
              "changes (1, or 2 where it is replaced); exactly so where c is non-negative and a record takes part in "
              "every b-th step",
    source=f"dpcalc, bounds/correlated/correlated_cyclic.py (proof there), after {profile.DENISOV}",
    assumptions=(*profile.SETTING, "the differences of the steps of a record are multiples of b"),
    released="every step's output",
))

"""Correlated noise where a record takes part in one step; and why any sensitivity s of C gives μ-GDP with μ = s/σ.

Proof. What is released is a function of y = Cg + z. Given the earlier rows, row t is N((Cg)_t, σ²I), and on the two
neighbours its mean differs by (Cx)_t, where x_j is the change of g_j: it may depend on the earlier rows, is 0 in the
steps without the record, and has a norm of at most Δ elsewhere. Whatever the rows, Σ_t ‖(Cx)_t‖² ≤ s². Let an observer
see one more Gaussian release, whose means differ by what is missing to s². Then the logarithm of the likelihood ratio
is a sum of Gaussian increments whose variances, given the past, add up to μ² in any case: a Brownian motion at the
fixed time μ², hence N(±μ²/2, μ²), as for one Gaussian mechanism. The observer of y alone learns no more.

With one step, s² = Δ²·max_j ‖Ce_j‖² = Δ²·Σ_{k<n} c_k²: the first column is the longest one, as the others are parts of
it. A change of norm Δ in the first step attains it. """

from dpcalc.bounds.correlated._engine import profile
from dpcalc.bounds.correlated._engine.design import Design
from dpcalc.bounds.correlated._engine.profile import Correlated
from dpcalc.core.bound import Theorem


def sensitivity(design: Design) -> float:
    """The norm of the first column of C, which is the largest one, as the others are parts of it."""
    from dpcalc.bounds.correlated._engine.sensitivity_array import orthogonal_columns

    return orthogonal_columns(design.columns, design.steps, design.steps, 1)


def square(design: Design, c: list[int]) -> int:
    return sum(x * x for x in c)


FORM = Correlated(sensitivity, square)
BOUND = FORM.bound(Theorem(
    name="correlated-once",
    example="correlated --steps 1000 --order once --strategy square-root --sigma 5 --delta 1e-5",
    statement="all steps together are exactly μ-GDP, μ = Δ·√(Σ_{k<n} c_k²)/σ, where Δ is what one record changes (1, "
              "or 2 where it is replaced)",
    source=profile.DENISOV,
    assumptions=(*profile.SETTING, "a record takes part in at most one step"),
    released="every step's output",
))

"""Correlated noise where a record takes part in one step."""

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
    example="correlated --steps 1000 --strategy square-root --sigma 5 --delta 1e-5",
    statement="all steps together are exactly μ-GDP, μ = Δ·√(Σ_{k<n} c_k²)/σ, where Δ is what one record changes (1, "
              "or 2 where it is replaced)",
    source=profile.DENISOV,
    assumptions=(*profile.SETTING, "each record takes part in one step"),
    released="every step's output",
))

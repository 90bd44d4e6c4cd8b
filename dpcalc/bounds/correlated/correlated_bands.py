"""Correlated noise where any two steps of a record are at least as many steps apart as C has bands.

Proof. Columns i and j of C with |i − j| ≥ b have no row in common where C has at most b bands. So C maps the changes
x_i of a record, of norm at most 1, to orthogonal vectors, whose sum has a squared norm of at most Σ_i ‖Ce_i‖². Column
i has the coefficients c_t with t < n − i, and the j-th step of a record is jb or later (j = 0, 1, …): so the sum is
largest for changes of norm 1 in the steps 0, b, 2b, … """

from dpcalc.bounds.correlated._engine import profile
from dpcalc.bounds.correlated._engine.design import Design
from dpcalc.bounds.correlated._engine.profile import Correlated
from dpcalc.core.bound import Theorem


def sensitivity(design: Design) -> float:
    """√Σ_j ‖Ce_{jb}‖²."""
    from dpcalc.bounds.correlated._engine.sensitivity_array import orthogonal_columns

    return orthogonal_columns(design.columns, design.steps, design.separation, design.participations)


def square(design: Design, c: list[int]) -> int:
    return sum(x * x * min(design.participations, -(-(design.steps - t) // design.separation)) for t, x in enumerate(c))


FORM = Correlated(sensitivity, square)
BOUND = FORM.bound(Theorem(
    name="correlated-bands",
    example="correlated --steps 2052 --separation 342 --participations 6 --strategy banded-sqrt:342 --sigma 5 "
            "--delta 1e-5",
    statement="all steps together are exactly μ-GDP, μ = Δ·√(Σ_{j<k} Σ_{t<n−jb} c_t²)/σ, where C has at most b bands "
              "and Δ is what one record changes (1, or 2 where it is replaced)",
    source=f"Choquette-Choo et al. 2023, arXiv:2306.08153; {profile.DENISOV}",
    assumptions=(*profile.SETTING, "a record takes part in at most k steps, and any two of them, i and j, have "
                                   "|j − i| ≥ b"),
    released="every step's output",
))

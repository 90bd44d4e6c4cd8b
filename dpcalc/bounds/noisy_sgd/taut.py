"""The taut string: the least Σ a_k²/(noise)_k² that undoes the pushes of a run before it ends.

z_k = c_k z_{k−1} + s_k − a_k >= 0, z_T = 0, z_τ given. With C_k = Π_{j>k} c_j the amount still to be undone, C_k z_k plus the pushes
to come, is a path over the remaining noise Σ_{j>k}(C_jη_jσ_j)² that must stay above the pushes to come: the shortest one is
their upper concave hull. Segments are merged from the end of the run backwards (pool adjacent violators), by sums of
positive terms only. The numbers may be floats, mpmath's or balls.
"""

from collections.abc import Iterable
from typing import Any

Segment = tuple[Any, Any, Any]  # noise, push, cost of this and all later steps


def pooled(stack: list[Segment], noise: Any, push: Any) -> tuple[int, Segment]:
    """(how many segments of the stack stay, the merged one on top of them) after an earlier step is put before them."""
    keep = len(stack)
    while keep and _not_less(push * stack[keep - 1][0], stack[keep - 1][1] * noise):
        keep -= 1
        noise, push = noise + stack[keep][0], push + stack[keep][1]
    later = stack[keep - 1][2] if keep else 0
    return keep, (noise, push, later + push * push / noise)


def _not_less(x: Any, y: Any) -> bool:
    """x >= y; of balls, whether that is sure: left apart, two segments still pass over every push, at no smaller cost."""
    return bool(x.surely_at_least(y)) if hasattr(x, "surely_at_least") else bool(x >= y)


def least(steps: Iterable[tuple[Any, Any, Any, Any]]) -> tuple[Any, int]:
    """(μ², M) over all starts τ = T − M. `steps` runs backwards from the last: (noise², push, start, apart) of step k, the first two
    with their factor C_k, `start` the distance z_{k−1} with its factor C_{k−1}, and `apart` whether a start there is allowed."""
    stack: list[Segment] = []
    best: Any = None
    length = 0
    for m, (noise, push, start, allowed) in enumerate(steps, 1):
        if allowed:
            cost = pooled(stack, noise, push + start)[1][2]
            if best is None or cost < best:
                best, length = cost, m
        keep, top = pooled(stack, noise, push)
        stack[keep:] = [top]
    return best, length

"""The taut string: the least Σ a_k²/(noise)_k² that undoes the pushes of a run before it ends.

z_k = c_k z_{k−1} + s_k − a_k >= 0, z_T = 0, z_τ given. With C_k = Π_{j>k} c_j the amount still to be undone, C_k z_k
plus the pushes to come, is a path over the remaining noise Σ_{j>k}(C_jη_jσ_j)² that must stay above the pushes to come:
the shortest one is their upper concave hull. Segments are merged from the end of the run backwards (pool adjacent
violators), by sums of positive terms only. The numbers may be floats, mpmath's or balls. """

from collections.abc import Container, Iterable
from typing import Any

Segment = tuple[Any, Any, Any]  # noise, push, cost of this and all later steps


class Hull:
    """The segments from the end of the run backwards, and sums of 2^j of them where a multiple of as many ends: a step
    with a long push before it is merged with many."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self._sums: list[list[tuple[Any, Any]]] = []
        self._closed: Any = 0  # cost of what is closed

    def put(self, noise: Any, push: Any) -> Segment:
        """An earlier step before them, merged with those it is to be: the segment that it is in."""
        while self.segments and not_less(push * self.segments[-1][0], self.segments[-1][1] * noise):
            last = self.segments.pop()
            self._sums.pop()
            noise, push = noise + last[0], push + last[1]
        top = (noise, push, self._later(len(self.segments)) + push * push / noise)
        self.segments.append(top)
        sums, end = [(noise, push)], len(self.segments)
        while end % 2 ** len(sums) == 0:
            before = self._sums[end - 1 - 2 ** (len(sums) - 1)][len(sums) - 1]
            sums.append((sums[-1][0] + before[0], sums[-1][1] + before[1]))
        self._sums.append(sums)
        return top

    def cost(self, noise: Any, push: Any) -> Any:
        """What all would cost with this step before them."""
        keep = len(self.segments)
        while keep and (taken := self._mergeable(keep, noise, push)):
            size, noise, push = taken
            keep -= size
        return self._later(keep) + push * push / noise

    def close(self) -> None:
        """What comes before is undone before the steps that are here, which merge no more; earlier ones may have a
        factor of their own."""
        self._closed = self._later(len(self.segments))
        self.segments, self._sums = [], []

    def _mergeable(self, keep: int, noise: Any, push: Any) -> tuple[int, Any, Any] | None:
        """As many segments as are known together that all are to be merged with the step: it is still above the one
        farthest from it."""
        for j, (more, pushes) in reversed([*enumerate(self._sums[keep - 1])]):
            far = self.segments[keep - 2**j]
            if not_less((push + pushes) * far[0], far[1] * (noise + more)):
                return 2**j, noise + more, push + pushes
        return None

    def _later(self, keep: int) -> Any:
        return self.segments[keep - 1][2] if keep else self._closed


def not_less(x: Any, y: Any) -> bool:
    """x >= y; of balls, whether that is sure: left apart, two segments still pass over every push, at no smaller
    cost."""
    return bool(x.surely_at_least(y)) if hasattr(x, "surely_at_least") else bool(x >= y)


def least(steps: Iterable[tuple[Any, Any, Any, Any]], closed: Container[int] = ()) -> tuple[Any, int]:
    """(μ², M) over all starts τ = T − M. `steps` runs backwards from the last: (noise², push, start, apart) of step k,
    the first two with their factor C_k, `start` the distance z_{k−1} with its factor C_{k−1}, and `apart` whether a
    start there is allowed. Before the M in `closed` the distance is to be 0, and the factors begin anew."""
    hull = Hull()
    best: Any = None
    length = 0
    for m, (noise, push, start, allowed) in enumerate(steps, 1):
        if allowed:
            cost = hull.cost(noise, push + start)
            if best is None or cost < best:
                best, length = cost, m
        hull.put(noise, push)
        if m in closed:
            hull.close()
    return best, length

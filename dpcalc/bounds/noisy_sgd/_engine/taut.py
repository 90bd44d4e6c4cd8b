"""The least cost Σ a_k²/(noise)_k² of shifts a_k that undo the pushes of a run before it ends (the taut string).

The distance is z_k = c_k z_{k−1} + s_k − a_k >= 0 with pushes s_k, z_T = 0 and z_τ given. With C_k = Π_{j>k} c_j the
amount still to be undone, C_k z_k plus the pushes to come, is a path over the remaining noise Σ_{j>k}(C_jη_jσ_j)² that
must stay above the pushes to come. The shortest such path is their upper concave hull. Segments are merged from the
end of the run backwards (pool adjacent violators), by sums of positive terms only. The numbers may be floats, mpmath's
or balls. """

from collections.abc import Container, Iterable
from typing import Any

Segment = tuple[Any, Any, Any]  # noise, push, cost of this and all later segments


class Hull:
    """The segments of the hull, from the end of the run backwards.

    With every segment whose number is a multiple of 2^j the sums over the last 2^j segments are stored, so that a step
    with a large push is merged with many segments at a time. """

    def __init__(self) -> None:
        self.segments: list[Segment] = []
        self._sums: list[list[tuple[Any, Any]]] = []
        self._closed_cost: Any = 0

    def put(self, noise: Any, push: Any) -> Segment:
        """Adds the next earlier step and returns the segment that contains it."""
        while self.segments and not_less(push * self.segments[-1][0], self.segments[-1][1] * noise):
            last = self.segments.pop()
            self._sums.pop()
            noise, push = noise + last[0], push + last[1]
        top = (noise, push, self._cost_of(len(self.segments)) + push * push / noise)
        self.segments.append(top)
        sums, end = [(noise, push)], len(self.segments)
        while end % 2 ** len(sums) == 0:
            before = self._sums[end - 1 - 2 ** (len(sums) - 1)][len(sums) - 1]
            sums.append((sums[-1][0] + before[0], sums[-1][1] + before[1]))
        self._sums.append(sums)
        return top

    def cost(self, noise: Any, push: Any) -> Any:
        """The cost of all steps if this one were added; the hull itself does not change."""
        count = len(self.segments)
        while count and (merged := self._mergeable(count, noise, push)):
            size, noise, push = merged
            count -= size
        return self._cost_of(count) + push * push / noise

    def close(self) -> None:
        """Requires that earlier pushes be undone before the steps added so far, which then merge no more. The factors
        C_k of earlier steps may start anew."""
        self._closed_cost = self._cost_of(len(self.segments))
        self.segments, self._sums = [], []

    def _mergeable(self, count: int, noise: Any, push: Any) -> tuple[int, Any, Any] | None:
        """The largest group of stored sums, at the end of the first `count` segments, with which the step is merged:
        the number of segments, and noise and push of the merged step. A group merges as a whole if its first segment
        does."""
        for j, (more, pushes) in reversed([*enumerate(self._sums[count - 1])]):
            first = self.segments[count - 2**j]
            if not_less((push + pushes) * first[0], first[1] * (noise + more)):
                return 2**j, noise + more, push + pushes
        return None

    def _cost_of(self, count: int) -> Any:
        """The cost of the first `count` segments and of all steps before the last call of `close`."""
        return self.segments[count - 1][2] if count else self._closed_cost


def not_less(x: Any, y: Any) -> bool:
    """Whether x >= y; for balls, whether that is certain. Where segments stay separate that should be merged, the path
    is still above every push, and its cost is no smaller, so that the bound remains valid."""
    return bool(x.surely_at_least(y)) if hasattr(x, "surely_at_least") else bool(x >= y)


def least(steps: Iterable[tuple[Any, Any, Any, Any]], closed: Container[int] = ()) -> tuple[Any, int]:
    """The least cost μ² over all starts τ = T − M, and that M.

    `steps` runs backwards from the last step: (noise², push, start, allowed) of step k, the first two with their factor
    C_k; `start` is the distance z_{k−1} with its factor C_{k−1}, and `allowed` says whether a start there may be used.
    For every M in `closed` the distance before the last M steps must be 0, and the factors start anew there. """
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

"""A search for the window length R and the noise σ1 that give burn-in-profile a small loss.

Every R and σ1 prove a bound, so the search may be rough. It is the downhill simplex method of Nelder and Mead in the
logarithms of R and of the odds of σ1² in σ². """

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import exp, log, sqrt

Choice = tuple[int, float]  # R and σ1
Point = tuple[float, float]  # log R, and the log odds of σ1² in σ²

_LARGEST_SEARCH = 24  # evaluations of up to 0.3 s each; 16 leave up to 0.4 % of ε, 40 gain less than 0.1 %


def improved(loss_at: Callable[[int, float], float], start: Choice, largest_r: int, sigma: float) -> Choice:
    """The best choice that the search finds from `start`, with R up to `largest_r`."""
    evaluated: dict[Choice, float] = {}

    @cache
    def loss(point: Point) -> float:
        choice = _choice(point, largest_r, sigma)
        if choice not in evaluated:
            evaluated[choice] = loss_at(*choice)
        return evaluated[choice]

    share = (start[1] / sigma) ** 2
    window, odds = log(start[0]), log(share / (1 - share))
    # Where the window seldom uses the record, shorter windows with more noise for the start are often better.
    simplex = [(window, odds), (window - 0.7, odds + 0.7), (window - 0.7, odds)]
    while len(evaluated) < _LARGEST_SEARCH and _size(simplex) > 0.05:
        simplex = _next_simplex(simplex, loss)
    return min(evaluated, key=lambda choice: evaluated[choice])


def _choice(point: Point, largest_r: int, sigma: float) -> Choice:
    """R and σ1 at a point, with 1 <= R <= `largest_r` and σ1 < σ."""
    odds = exp(min(point[1], 30.0))  # σ1 stays below σ
    return max(1, min(largest_r, round(exp(min(point[0], 700.0))))), sigma * sqrt(odds / (1 + odds))


def _size(simplex: list[Point]) -> float:
    """The largest distance of a coordinate from that of the first corner."""
    return max(abs(p[i] - simplex[0][i]) for p in simplex for i in (0, 1))


def _next_simplex(simplex: list[Point], loss: Callable[[Point], float]) -> list[Point]:
    """One step of Nelder and Mead: the worst corner moves through the middle of the others, or all move to the best."""
    best, second, worst = sorted(simplex, key=loss)

    def beyond_middle(factor: float) -> Point:
        x, y = (best[0] + second[0]) / 2, (best[1] + second[1]) / 2
        return x + factor * (x - worst[0]), y + factor * (y - worst[1])

    reflected = beyond_middle(1)
    if loss(reflected) < loss(best):
        return [best, second, min(reflected, beyond_middle(2), key=loss)]
    if loss(reflected) < loss(second):
        return [best, second, reflected]
    contracted = beyond_middle(0.5 if loss(reflected) < loss(worst) else -0.5)
    if loss(contracted) < min(loss(reflected), loss(worst)):
        return [best, second, contracted]
    return [best, _middle(best, second), _middle(best, worst)]


def _middle(p: Point, q: Point) -> Point:
    return (p[0] + q[0]) / 2, (p[1] + q[1]) / 2

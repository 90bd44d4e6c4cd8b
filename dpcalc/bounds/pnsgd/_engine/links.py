"""The links of a path (hybrid.py) as whole numbers, one for every node after the first, as records carry them.

k > 0: one block from the k-th node before. 0: the bound at the previous node. −1: μ-GDP. −t < −1: t equal blocks from
the previous node, each as long as possible. Any such numbers are a proof: no block spans more steps than there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dpcalc.bounds.pnsgd._engine.hybrid import Link

DIRECT = -1


def coded(links: Sequence[Link]) -> list[int]:
    """The codes of the links after the first, without the zeros at the end."""
    codes = [_code(j, link) for j, link in enumerate(links)][1:]
    last = len(codes)
    while last and not codes[last - 1]:
        last -= 1
    return codes[:last]


def _code(j: int, link: Link) -> int:
    if link.before < 0:
        return DIRECT
    return j - link.before if link.times == 1 else -link.times


def decoded(nodes: Sequence[int], codes: Sequence[int]) -> list[Link]:
    """The links that the codes stand for. Raises ValueError where they are no links between these nodes."""
    if len(codes) >= len(nodes) or nodes[0] != 0 or any(a >= b for a, b in pairwise(nodes)):
        raise ValueError("its links lead to nodes that are none")
    return [Link(DIRECT, 0, 0), *(_link(nodes, j, code) for j, code in enumerate(codes, 1))]


def _link(nodes: Sequence[int], j: int, code: int) -> Link:
    between = nodes[j] - nodes[j - 1]
    if type(code) is not int or code > j or -code > max(1, between):
        raise ValueError(f"its link {j} is {str(code)[:20]}, none")
    if code == 0:
        return Link(j - 1, 0, 0)
    if code > 0:
        return Link(j - code, nodes[j] - nodes[j - code], 1)
    return Link(-1, 0, 0) if code == DIRECT else Link(j - 1, between // -code, -code)


def needed(codes: Sequence[int]) -> list[int]:
    """The codes that the bound at the last node depends on; the others are replaced by 0."""
    found, j = [0] * len(codes), len(codes)
    while j > 0:
        found[j - 1] = code = codes[j - 1]
        j = 0 if code == DIRECT else j - max(code, 1)
    return found

"""Disjoint parts of the data (parallel composition): what the releases of all parts lose together.

Theorem. The data are partitioned by a property of the single record. The releases of each part read its records alone,
with parameters that are fixed beforehand; they may depend on what was released of other parts. Write (P_a, Q_a) for the
pair that dominates the releases of part a with and without a record. Where a record is added or removed, or zeroed out,
all releases lose at most the largest loss of one part, δ(ε) = max_a δ_a(ε). Where a record is replaced, they lose at
most the largest of what one part loses by a replaced record, and of what (P_a, Q_a) ⊗ (Q_b, P_b) loses, for a ≠ b.

Why it holds (a proof). Given all that was released before and all other records, the record that is added or removed
is in one part, and what is released of the other parts has the same law on both data sets. So the ratio of the laws of
all outputs is that of the releases of this part, adaptively composed. A record that is replaced stays in its part, or
it leaves part a and its successor enters part b: then the ratio is the product of those of the two parts, which use
independent noise. A record that leaves a part without entering another one is covered by the product, or by the part
alone where there is no other one. ∎ (McSherry 2009, for pure DP and records that are added or removed.) A maximum of
profiles is convex in e^ε, and so is the profile of a pair, which composes with other releases. The same holds of RDP,
ρ, μ and (ε, δ), where the two losses of a product add up.

What a part computes must not depend on its size, which differs between neighbouring data sets: rates are constants, and
batches of a fixed size are refused. """

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.core.errors import DpcalcError
from dpcalc.core.relations import ADD_REMOVE, REPLACE_ONE

if TYPE_CHECKING:
    from dpcalc.accounting.guarantee import Guarantee, Parallel

_SCALES = {"gaussian": "noise_multiplier", "laplace": "scale"}  # noise of which a larger scale loses less
_MOST_CASES = 20_000  # pairs of different parts, of which 200 have about as many; all of them take some seconds


Part = tuple["Guarantee", ...]


class Case(NamedTuple):
    """What the record may change: the releases that lose its contribution as `members`, and where it moves to another
    part, those that gain one as `entered`."""

    members: tuple[Guarantee, ...]
    entered: tuple[Guarantee, ...] = ()

    @property
    def all_members(self) -> tuple[Guarantee, ...]:
        return (*self.members, *self.entered)


def cases(guarantee: Parallel) -> tuple[Case, ...]:
    """All cases of the theorem, for the neighbouring data sets of the guarantee; of equal ones a single one."""
    relation = guarantee.adjacency or ADD_REMOVE
    if relation != REPLACE_ONE:
        return tuple(Case(_stated(part, relation)) for part in _worst(guarantee.parts, 1))
    found = [Case(_stated(part, REPLACE_ONE)) for part in _worst(guarantee.replaced or guarantee.parts, 1)]
    counted = _worst(guarantee.parts, 2)
    parts = [_stated(part, ADD_REMOVE) for part, count in counted.items() for _ in range(min(count, 2))]
    if len(parts) * (len(parts) - 1) // 2 > _MOST_CASES:
        raise DpcalcError("too-large", f"{len(parts)} different parts have too many pairs between which a record may "
                          "move; give the parts with the least noise in place of similar ones", "--input")
    moves = [Case(a, b) for k, a in enumerate(parts) for b in parts[k + 1:]]
    return tuple(dict.fromkeys([*found, *(moves or [Case(parts[0]), Case((), parts[0])])]))


def _worst(parts: Sequence[Part], most: int) -> Counter[Part]:
    """The different parts, and how often each occurs. Of those that differ in the scale of Gaussian or Laplace noise
    alone the `most` with the least noise stay, as more noise loses less at every ε."""
    counted = Counter(tuple(sorted(part, key=lambda one: one.model_dump_json())) for part in parts)
    kept = Counter[Part]()
    by_kind: dict[Any, list[tuple[float, Part]]] = {}
    for part in counted:
        kind, noise = _noise(part)
        by_kind.setdefault(kind, []).append((noise, part))
    for kind, group in by_kind.items():
        least = sorted(group, key=lambda one: one[0])[:most] if kind else group
        kept.update({part: counted[part] for _, part in least})
    return kept


def _noise(part: Part) -> tuple[str, float]:
    """What a part releases but for the scale of its noise, and that scale, where it is one release of such noise."""
    mechanisms: Sequence[Any] = getattr(part[0], "mechanisms", ())
    if len(part) > 1 or len(mechanisms) != 1 or mechanisms[0].name not in _SCALES:
        return "", 0.0
    name = _SCALES[mechanisms[0].name]
    return repr(mechanisms[0].model_copy(update={name: 0.0})), float(getattr(mechanisms[0], name))


def _stated(part: Part, relation: str) -> Part:
    """The releases of a part, as guarantees for these neighbours."""
    return tuple(one.model_copy(update={"adjacency": relation}) for one in part)


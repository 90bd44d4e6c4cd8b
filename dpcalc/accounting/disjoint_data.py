"""Which neighbouring data sets disjoint parts of the data have, and what must hold of the parts. The theorem about them
is in accounting/disjoint_parts.py; accounting/neighbours.py calls this module for it. """

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dpcalc.core.errors import DpcalcError
from dpcalc.core.relations import ADD_REMOVE, REPLACE_ONE, ZERO_OUT

if TYPE_CHECKING:
    from dpcalc.accounting.guarantee import Guarantee, Parallel

_FIXED = ("which records belong to which part must be fixed beforehand, by a property of the single record alone, so "
          "that each record is in at most one part")
_CONSTANT = "sampling rates and numbers of steps of a part must be constants, whatever number of records it has"


def relation(guarantee: Parallel, name: str, of_guarantee: Callable[[Guarantee, str], str | None]) -> str | None:
    """The relation of the neighbouring data sets, or None where it is unstated. Raises DpcalcError where the theorem
    does not cover a release."""
    if guarantee.size_of_group > 1 or guarantee.index:
        raise _of_one_record(name)
    stated = set[str]()
    for where, one in _releases(guarantee, name):
        if one.size_of_group > 1 or one.index:
            raise _of_one_record(where)
        _refuse_sizes(one, where)
        if (own := of_guarantee(one, where)) is not None:
            stated.add(own)
        if any(part.mechanism.query.of_respondents for part in getattr(one, "mechanisms", ())):
            raise DpcalcError("refused", f"{where} has reports of respondents, which show who belongs to which "
                              "part; give the reports with the largest ε as one release of all data", "--input")
        if own == REPLACE_ONE:
            raise DpcalcError("refused", f"{where} holds for {REPLACE_ONE} neighbours, from which nothing follows for "
                              f"a record that moves to another part; compute it with --adjacency {ADD_REMOVE}, or "
                              "leave out its adjacency", "--input")
    for k, part in enumerate(guarantee.replaced or (), 1):
        if any(of_guarantee(one, name) in (ADD_REMOVE, ZERO_OUT) or one.size_of_group > 1 or one.index for one in part):
            raise DpcalcError("refused", f"replaced, part {k} of {name}, is about a record that is replaced; state "
                              f"{REPLACE_ONE} as its adjacency", "--input")
    outer = guarantee.adjacency
    if len(stated | ({outer} - {None, REPLACE_ONE})) > 1 or (outer == REPLACE_ONE and ZERO_OUT in stated):
        raise DpcalcError("refused", f"{name} has parts for different neighbours "
                          f"({', '.join(sorted({*stated, *filter(None, [outer])}))}); use the same adjacency in all "
                          f"parts, which is {ADD_REMOVE} where the total is for {REPLACE_ONE}", "--input")
    return outer or next(iter(stated), None)


def _releases(guarantee: Parallel, name: str) -> Iterator[tuple[str, Any]]:
    """The releases of all parts, each with the words for its part."""
    return ((f"part {k} of {name}", one) for k, part in enumerate(guarantee.parts, 1) for one in part)


def _of_one_record(where: str) -> DpcalcError:
    return DpcalcError("refused", f"{where} is about groups of records, or about one position of a run, and the "
                       "records of a group may be in several parts; compute it for every single record", "--input")


def _refuse_sizes(guarantee: Guarantee, where: str) -> None:
    """Raises DpcalcError for batches that depend on the number of records."""
    for part in getattr(guarantee, "mechanisms", ()):
        if part.sampling and ADD_REMOVE not in part.sampling.record.bases:
            raise DpcalcError("refused", f"{where}: {part.sampling.record.words} depend on the number of records of "
                              "the part, which is not fixed where a record is added, removed or moved; use Poisson "
                              "batches with a constant sampling-rate", "--input")


def conditions(guarantees: Sequence[Guarantee]) -> list[str]:
    """What must hold of disjoint parts, and of their releases and batches, in sentences without a full stop; nothing
    where there are none."""
    each = [one for g in guarantees if g.kind == "parallel" for _, one in _releases(g, "")]
    schemes = [part.sampling.record for one in each for part in getattr(one, "mechanisms", ()) if part.sampling]
    return [*([_FIXED] if each else []), *([_CONSTANT] if schemes else []),
            *(sentence for one in each for sentence in one.promises or ()),
            *(scheme.promise for scheme in schemes if scheme.promise)]


def promises(guarantee: Parallel, name: str, wanted: str, of_release: Callable[[Guarantee, str, str], Any]
             ) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What must hold of releases that state no relation, as (sentences, warnings). Where a record is replaced, it may
    move to another part, so that their numbers must hold for a record that is added or removed, too."""
    each = [of_release(one, f"the parts of {name}", wanted) for _, one in _releases(guarantee, name)]
    sentences = [sentence for promise in each for sentence in promise.sentences]
    moved = [f"{sentence.split(' must ')[0]} must hold when a record is added to a part or removed from it, too"
             for sentence in sentences if wanted == REPLACE_ONE]
    return (*sentences, *moved), tuple(warning for promise in each for warning in promise.warnings)

"""The relations between neighbouring data sets, a closed set: what each of them says, in numbers and in words.

Which guarantee has which relation, and what follows from that, is decided in dpcalc/accounting/neighbours.py alone. """

from collections.abc import Mapping
from typing import NamedTuple

ADD_REMOVE, REPLACE_ONE, ZERO_OUT = "add-remove", "replace-one", "zero-out"
# (another name of a relation, and that relation)
SPELLINGS = (("add-or-remove", ADD_REMOVE), ("unbounded", ADD_REMOVE), ("zeroed-out", ZERO_OUT), *(
    (name, REPLACE_ONE) for name in ("replace", "substitute", "substitution", "swap", "bounded", "change-one")))


class Relation(NamedTuple):
    """A relation between neighbouring data sets. The texts with {size} are about groups of so many records."""

    name: str
    # How much a sum changes, to which each record adds a vector of at most the clipping norm, in clipping norms
    sensitivity: float
    in_batch: str  # what happens to a record of a batch: "the sensitivity must hold when …"
    differ: str  # "Neighbouring data sets …"
    groups: str
    groups_differ: str
    tested: str  # by an attacker: "no test of …"
    tested_of_one: str  # where the guarantee is about one record alone
    tested_of_group: str


_SAME_SIZE = "which of two neighbouring data sets was used"
_THIS_RECORD = "which of two data sets that differ in this record alone was used"
RELATIONS: Mapping[str, Relation] = {relation.name: relation for relation in (
    Relation(ADD_REMOVE, 1.0, "a record is added to a batch or removed from it",
             "differ by adding or removing one record", "groups of {size} records added or removed",
             "differ by adding, or by removing, a group of at most {size} records",
             "whether a given record is in the data", "whether this record is in the data",
             "whether a given group of {size} records is in the data"),
    Relation(REPLACE_ONE, 2.0, "a record of a batch is replaced",
             "differ by replacing one record", "groups of {size} records replaced",
             "differ by replacing at most {size} records", _SAME_SIZE, _THIS_RECORD, _SAME_SIZE),
    Relation(ZERO_OUT, 1.0, "the contribution of a record of a batch becomes 0",
             "have the same size and differ in one record, whose gradients are zero in one of them",
             "groups of {size} records zeroed out",
             "have the same size and differ in at most {size} records, whose gradients are zero in one of them",
             "whether a given record is in the data", _THIS_RECORD,
             "whether a given group of {size} records is in the data"),
)}


class Base(NamedTuple):
    """What a theorem about random batches needs of the mechanism: its guarantee between two batches.

    `relation` is that of the two batches, which need not be that of the run: for neighbours that replace a record, a
    Poisson batch with the record is compared to one without it. With `of_sum` a record whose contribution is 0 adds
    nothing to the query of a batch, as with a sum; then a batch with such a record is like one without it. With
    `described` the theorem needs the mechanism itself, and not its guarantee alone. `only` are the mechanisms that it
    is about, where it is not about all.
    """

    relation: str
    of_sum: bool = False
    described: bool = False
    only: tuple[str, ...] = ()

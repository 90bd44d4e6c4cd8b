"""Why a part of a record is left unchecked, or is rejected."""

from typing import NamedTuple


class Unchecked(Exception):
    """A claim cannot be checked by this package; the text says why."""


class OtherQuestion(Exception):
    """A row answers another question than that of its record."""


class MissingEntry(Exception):
    """A record lacks an entry that a claim rests on; the text says which one."""


class TooLong(Unchecked):
    """A grid or a sum would take minutes to check."""


# Exceptions that a computation with an invalid witness may raise.
INVALID_WITNESS_ERRORS = (ArithmeticError, ValueError, TypeError, IndexError, MissingEntry)


class NotComputed(NamedTuple):
    """A placeholder for a value of the expected record that could not be computed."""

    why: str
    matters: bool = False  # whether the record cannot be verified without it

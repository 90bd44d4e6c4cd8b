"""Why a part of a record is left unchecked, or is rejected."""

from typing import NamedTuple


class Unchecked(Exception):
    """A claim cannot be checked here; the text says why."""


class OtherQuestion(Exception):
    """A row answers another question than the one that the record was asked."""


class TooLong(Unchecked):
    """A grid or a sum would take minutes to check."""


# What computing with an invalid witness may raise.
INVALID_WITNESS_ERRORS = (ArithmeticError, ValueError, TypeError, LookupError)


class NotComputed(NamedTuple):
    """Stands in place of a value of the expected record that could not be computed."""

    why: str
    matters: bool = False  # whether the record cannot be verified without it

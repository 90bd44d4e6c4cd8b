"""What is left open, and why."""

from typing import NamedTuple


class Unchecked(Exception):
    """Why a claim cannot be checked here."""


class OtherQuestion(Exception):
    """A row that answers another question than the record says was asked."""


class TooLong(Unchecked):
    """A grid, or a sum, that would take minutes."""


BROKEN = (ArithmeticError, ValueError, TypeError, LookupError)  # what a witness that is none may lead to


class NotComputed(NamedTuple):
    """In place of a value of a record that is not known here."""

    why: str
    matters: bool = False  # whether the record cannot be verified without it

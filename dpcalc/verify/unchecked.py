"""What is left open, and why."""


class Unchecked(Exception):
    """Why a claim cannot be checked here."""


class OtherQuestion(Exception):
    """A row that answers another question than the record says was asked."""


class TooLong(Unchecked):
    """A grid, or a sum, that would take minutes."""

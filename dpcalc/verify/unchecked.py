"""What is left open, and why."""


class Unchecked(Exception):
    """Why a claim cannot be checked here."""


class TooLong(Unchecked):
    """A grid, or a sum, that would take minutes."""

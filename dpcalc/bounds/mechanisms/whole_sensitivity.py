"""The sensitivity of a query with integer values, as noise on the integers needs it."""

from dpcalc.core.errors import OutOfScope


def whole(sensitivity: float, mechanism: str) -> int:
    """The sensitivity as an integer. Raises OutOfScope where it is none."""
    if sensitivity != int(sensitivity) or not 1 <= sensitivity <= 2.0**53:  # where doubles are all integers
        raise OutOfScope("out-of-range", f"{sensitivity:g} is not a whole number from 1 on; {mechanism} noise is for "
                                         "queries with integer values, whose sensitivity is a whole number: scale the "
                                         "query to integers, and the noise with it",
                         "--sensitivity")
    return int(sensitivity)

"""The steps that --schedule names, for commands that print a table with a row for each of them."""

from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import NotANumber, number

MOST_ROWS = 1_000_000  # rows of a printed table; a larger one is probably a mistake


def step_range(text: str) -> tuple[int, ...]:
    """The steps of FIRST:LAST, or COUNT of them, evenly spaced, of FIRST:LAST:COUNT. Raises DpcalcError otherwise."""
    try:
        parts = [number(p) for p in text.split(":")]
        first, last, *rest = parts
        count = rest[0] if rest else last - first + 1
        valid = len(parts) <= 3 and all(p == int(p) for p in parts) and 1 <= first <= last <= 2**53 and count >= 1
    except (NotANumber, ValueError):
        valid = False
    if not valid:
        raise DpcalcError("not-a-number",
                          f"{text!r} is not FIRST:LAST or FIRST:LAST:COUNT, whole numbers with 1 ≤ FIRST ≤ LAST",
                          "--schedule")
    count = min(count, last - first + 1)
    if count > MOST_ROWS:
        raise DpcalcError("out-of-range", f"{count:g} rows are too many; at most {MOST_ROWS:g} are allowed; add "
                                          ":COUNT", "--schedule")
    intervals = max(int(count) - 1, 1)
    return tuple(int(first) + (int(last - first) * k) // intervals for k in range(int(count)))

"""Relative differences up to which numbers of a record count as the recomputed ones."""

RECOMPUTED = 1e-6  # numbers of bounds; the Fourier transforms of another machine round in another way
SAME_DOUBLES = 1e-9  # numbers that follow from the options by a few operations in doubles
COPIED = 4e-15  # numbers that stand twice in a record: 18 units of rounding
IN_TEXTS = 2e-5  # numbers within texts, which have six digits

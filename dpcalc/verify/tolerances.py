"""Relative differences up to which a recorded number counts as equal to the recomputed one."""

RECOMPUTED = 1e-6  # numbers of bounds: Fourier transforms are rounded differently on another machine
SAME_DOUBLES = 1e-9  # numbers that follow from the options by a few operations in doubles
COPIED = 4e-15  # numbers that a record contains twice: 18 units in the last place
IN_TEXTS = 2e-5  # numbers within texts, which have six digits

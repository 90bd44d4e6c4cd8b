"""Limits at which numbers that are next to nothing are rounded up, so that logarithms and exponentials stay doubles."""

LEAST_RATIO = 1e-300  # a positive shift, in noise levels, is never below this
LEAST_EXPONENT = -700.0  # exponents below this are raised to it: exp of less is subnormal, a hundred times slower, or 0

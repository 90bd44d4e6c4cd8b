"""Single mechanisms, a file each: noise on real numbers and on integers, randomised responses, selections, thresholds,
and shuffled reports."""

from dpcalc.core.quantities import MECHANISM

# Optimised unary encoding is a case of unary encoding, and what shuffled reports lose at least fills a file of its own.
MODULES = (*(name.replace("-", "_") for name in MECHANISM.choices if name != "optimized-unary"), "shuffled_ldp_lower")

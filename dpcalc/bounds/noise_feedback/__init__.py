"""Noise feedback: the last iterate on affine gradients, every iterate of any loss, and the best coefficient."""

MODULES = ("with_feedback", "without_feedback", "every_iterate", "optimum", "optimum_finite")

"""Noise feedback: the last iterate on affine gradients, every iterate of any loss, and the best coefficient."""

MODULES = ("affine", "every_iterate", "optimum", "optimum_finite")

"""Noise feedback: the last iterate on affine gradients, every iterate of any loss, and the best coefficient."""

from dpcalc.bounds.noise_feedback import every_iterate, optimum, optimum_finite, with_feedback, without_feedback

BOUNDS = (with_feedback.BOUND, without_feedback.BOUND, every_iterate.BOUND, optimum.BOUND, optimum_finite.BOUND)

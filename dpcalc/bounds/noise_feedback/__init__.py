"""Affine gradients, with and without noise feedback."""

from dpcalc.bounds.noise_feedback import with_feedback, without_feedback

BOUNDS = (with_feedback.BOUND, without_feedback.BOUND)

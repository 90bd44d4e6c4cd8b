"""Affine gradients, with and without noise feedback."""

MODULES = ("with_feedback", "without_feedback")

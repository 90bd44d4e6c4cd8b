"""Noisy values of the keys in the data, published where they are at least a threshold: discrete Laplace noise."""

from dpcalc.accounting.thresholds import mechanism_above_threshold

MECHANISM = mechanism_above_threshold("discrete-laplace", "discrete Laplace noise", "scale", whole=True)

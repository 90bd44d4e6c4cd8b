"""Noisy values of the keys in the data, published where they are at least a threshold: discrete Gaussian noise."""

from dpcalc.accounting.thresholds import mechanism_above_threshold

MECHANISM = mechanism_above_threshold("discrete-gaussian", "discrete Gaussian noise", "sigma", whole=True)

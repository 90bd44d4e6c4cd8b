"""Noisy SGD over a stream with noise that decays: privacy of the last iterate, index by index."""

from dpcalc.bounds.online import online_contraction, online_hybrid, online_iteration, online_limit

BOUNDS = (online_contraction.BOUND, online_iteration.BOUND, online_hybrid.BOUND, online_limit.BOUND)

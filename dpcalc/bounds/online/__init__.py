"""Noisy SGD over a stream with noise that decays: privacy of the last iterate, index by index."""

MODULES = ("online_contraction", "online_hybrid")

"""Correlated noise (DP-FTRL, matrix factorisation): the sensitivity of a strategy, by who takes part when."""

from dpcalc.bounds.correlated import correlated_bands, correlated_cyclic, correlated_once, correlated_separated

BOUNDS = (correlated_once.BOUND, correlated_bands.BOUND, correlated_separated.BOUND, correlated_cyclic.BOUND)

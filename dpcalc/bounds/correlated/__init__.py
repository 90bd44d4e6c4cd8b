"""Correlated noise (DP-FTRL, matrix factorisation): the sensitivity of a strategy, by who takes part when."""

MODULES = ("correlated_once", "correlated_bands", "correlated_separated", "correlated_cyclic")

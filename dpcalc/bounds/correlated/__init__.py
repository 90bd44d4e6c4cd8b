"""Correlated noise (DP-FTRL, matrix factorisation): the sensitivity of a strategy, by who takes part when."""

MODULES = ("participation",)

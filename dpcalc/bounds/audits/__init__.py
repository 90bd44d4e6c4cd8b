"""Audits: lower bounds on the privacy loss of a program from what an attack on it achieved, at a confidence."""

MODULES = ("counts", "gaussian_counts", "one_run")

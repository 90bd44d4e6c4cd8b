"""A calculator for differential privacy: every number is a theorem with its name on it."""

__version__ = "0.1.0"

"""Verification of a recorded answer: its claims are derived from the formulas as published, in rigorous arithmetic."""

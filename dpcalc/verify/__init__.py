"""Rechecking a recorded answer: its claims from the formulas as published, in rigorous arithmetic."""

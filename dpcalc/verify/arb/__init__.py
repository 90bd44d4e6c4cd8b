"""Ball arithmetic (python-flint, Arb) with the function names of an mpmath context."""

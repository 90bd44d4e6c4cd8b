"""Special functions that keep their digits, safe inversion and search. Scalar code imports `math` only."""

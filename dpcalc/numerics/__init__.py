"""Special functions without loss of accuracy, directed rounding, root finding, minimization and quadrature. Scalar code
imports `math` only; numpy is for the files named *_array."""

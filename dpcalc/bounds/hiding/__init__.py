"""Shuffled noisy SGD of which the last iterate is released: a record hides among all the others."""

from dpcalc.bounds.hiding import (
    output_perturbation_shuffled_hiding,
    shuffled_hiding,
    shuffled_hiding_laplace,
    shuffled_hiding_last,
    smooth_nonconvex_shuffled_hiding,
)

BOUNDS = (
    shuffled_hiding.BOUND,
    shuffled_hiding_last.BOUND,
    smooth_nonconvex_shuffled_hiding.BOUND,
    output_perturbation_shuffled_hiding.BOUND,
    shuffled_hiding_laplace.BOUND,
)

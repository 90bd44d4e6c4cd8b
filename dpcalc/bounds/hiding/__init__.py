"""Shuffled noisy SGD of which the last iterate is released: a record hides among all the others."""

MODULES = (
    "shuffled_hiding", "shuffled_hiding_last", "smooth_nonconvex_shuffled_hiding",
    "output_perturbation_shuffled_hiding", "shuffled_hiding_laplace",
)

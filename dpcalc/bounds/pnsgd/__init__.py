"""Noisy SGD over shuffled, fixed or stopped records: privacy of the last iterate."""

MODULES = ("contraction", "iteration", "fixed_order_hybrid", "smooth_nonconvex", "output_perturbation",
           "without_replacement")

"""Noisy SGD over shuffled, fixed or stopped records: privacy of the last iterate."""

MODULES = (
    "fixed_order", "fixed_order_iteration", "fixed_order_iteration_rdp", "fixed_order_hybrid", "randomly_stopped",
    "randomly_stopped_loose", "shuffled_contraction", "shuffled_iteration", "shuffled_iteration_rdp",
    "shuffled_limit", "smooth_nonconvex", "smooth_nonconvex_exact", "smooth_nonconvex_shuffled",
    "smooth_nonconvex_shuffled_exact", "smooth_nonconvex_high_noise", "output_perturbation",
    "output_perturbation_exact", "output_perturbation_shuffled", "output_perturbation_shuffled_exact",
    "without_replacement_conjecture", "without_replacement_sum", "without_replacement_unamplified",
    "without_replacement_lower",
)

"""Bounds for projected noisy SGD of which only the last iterate is released (burn-in, amplification by iteration)."""

MODULES = (
    "composition", "burn_in_rdp", "burn_in_profile", "burn_in_contraction", "iteration",
    "iteration_schedule", "nonconvex", "as_published", "lower_bound",
)

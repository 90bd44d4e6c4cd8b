"""Privacy amplification by sampling."""

MODULES = (
    "poisson_profile", "poisson_rdp", "poisson_group_profile", "truncated_poisson_profile",
    "truncated_poisson_lower", "wor_profile", "wor_rdp", "weighted_rdp", "allocation_profile", "allocation_lower",
    "amplification", "shuffle_no_amplification", "shuffle_lower", "shuffle_lower_allocation",
)

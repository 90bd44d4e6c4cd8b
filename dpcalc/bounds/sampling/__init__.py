"""Privacy amplification by sampling."""

MODULES = (
    "poisson_profile", "poisson_rdp", "poisson_rdp_closed", "poisson_group_profile", "poisson_replace_one_profile",
    "poisson_replace_one_rdp", "poisson_replace_one_comonotone", "truncated_poisson_profile",
    "truncated_poisson_lower", "wor_profile", "wor_rdp", "allocation_profile", "wor_zero_out_profile",
    "wor_zero_out_lower", "with_replacement_profile", "with_replacement_lower", "allocation_replace_one_profile",
    "amplification", "shuffle_no_amplification", "shuffle_lower", "shuffle_lower_allocation", "shuffle_profile",
    "shuffle_profile_used", "shuffle_profile_one_order",
)

"""Single mechanisms: noise on real numbers and on integers, randomised responses, selections, thresholds, and shuffled
reports."""

MODULES = (
    "gaussian_exact", "gaussian_rdp", "gaussian_classic", "laplace_exact", "laplace_profile", "laplace_rdp",
    "exponential_exact", "exponential_profile", "exponential_rdp", "exponential_lower", "above_threshold_exact",
    "above_threshold_rdp", "shuffled_ldp_exact", "shuffled_ldp_profile", "shuffled_ldp_lower",
    "randomized_response_exact", "randomized_response_rdp", "discrete_gaussian_exact", "discrete_gaussian_rdp",
    "discrete_laplace_exact", "discrete_laplace_rdp", "k_randomized_response_exact", "k_randomized_response_rdp",
    "unary_exact", "unary_rdp",
)

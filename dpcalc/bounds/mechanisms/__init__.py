"""Single mechanisms: noise on real numbers and on integers, randomised responses, selections, thresholds, and shuffled
reports."""

MODULES = ("gaussian", "laplace", "exponential", "above_threshold", "shuffled_ldp", "shuffled_ldp_lower",
           "randomized_response", "discrete_gaussian", "discrete_laplace", "k_randomized_response", "unary")

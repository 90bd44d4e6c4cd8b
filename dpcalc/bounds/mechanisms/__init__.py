"""Single mechanisms, a file each: noise on real numbers and on integers, randomised responses, selections, thresholds,
and shuffled reports."""

MODULES = ("gaussian", "laplace", "randomized_response", "discrete_gaussian", "discrete_laplace",
           "k_randomized_response", "unary", "exponential", "report_noisy_max", "one_shot_top_k", "above_threshold",
           "key_selection", "shuffled_ldp", "shuffled_ldp_lower", "noise_accuracy", "thresholded",
           "thresholded_composed")

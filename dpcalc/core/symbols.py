"""The names of numbers in answers, where a letter alone would not be understood."""

IN_ANSWERS = {
    "log_delta": "log δ", "noise_multiplier": "noise multiplier", "fpr": "FPR", "rmse": "RMSE",
    "max_error": "largest error", "ratio_to_independent": "RMSE over independent", "threshold": "τ",
    "noise_within": "half-width of the noise", "max_keys": "number of keys", "per_key": "c", "top_k": "k",
    "keep_probability": "keep probability", "drop_probability": "drop probability",
    # of audits
    "epsilon_lower": "lower bound on ε", "mu_lower": "lower bound on μ", "score_threshold": "score threshold",
    "tpr_lower": "TPR shown", "tpr_lower_gaussian": "TPR if Gaussian", "tpr_claimed": "largest TPR of claim",
}

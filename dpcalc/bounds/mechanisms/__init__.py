"""Single mechanisms: Gaussian and Laplace noise, randomised response, selections, thresholds, shuffled reports."""

from dpcalc.bounds.mechanisms import (
    above_threshold_exact,
    above_threshold_rdp,
    exponential_exact,
    exponential_profile,
    exponential_rdp,
    gaussian_classic,
    gaussian_exact,
    gaussian_rdp,
    laplace_exact,
    laplace_profile,
    laplace_rdp,
    randomized_response_exact,
    randomized_response_rdp,
    shuffled_ldp_exact,
    shuffled_ldp_profile,
)

BOUNDS = (
    gaussian_exact.BOUND,
    gaussian_rdp.BOUND,
    gaussian_classic.BOUND,
    laplace_exact.BOUND,
    laplace_profile.BOUND,
    laplace_rdp.BOUND,
    exponential_exact.BOUND,
    exponential_profile.BOUND,
    exponential_rdp.BOUND,
    above_threshold_exact.BOUND,
    above_threshold_rdp.BOUND,
    shuffled_ldp_exact.BOUND,
    shuffled_ldp_profile.BOUND,
    randomized_response_exact.BOUND,
    randomized_response_rdp.BOUND,
)

TOTAL_VARIATIONS = {  # by the name of the mechanism
    "gaussian": gaussian_exact.TOTAL_VARIATION,
    "laplace": laplace_exact.TOTAL_VARIATION,
    "exponential": exponential_exact.TOTAL_VARIATION,
    "above-threshold": above_threshold_exact.TOTAL_VARIATION,
    "shuffled-ldp": shuffled_ldp_exact.TOTAL_VARIATION,
    "randomized-response": randomized_response_exact.TOTAL_VARIATION,
}

"""Single mechanisms: Gaussian and Laplace noise, on real numbers and on integers, and randomised responses."""

from dpcalc.bounds.mechanisms import (
    discrete_gaussian_exact,
    discrete_gaussian_rdp,
    discrete_laplace_exact,
    discrete_laplace_rdp,
    gaussian_classic,
    gaussian_exact,
    gaussian_rdp,
    k_randomized_response_exact,
    k_randomized_response_rdp,
    laplace_exact,
    laplace_profile,
    laplace_rdp,
    randomized_response_exact,
    randomized_response_rdp,
    unary_exact,
    unary_rdp,
)

BOUNDS = (
    gaussian_exact.BOUND,
    gaussian_rdp.BOUND,
    gaussian_classic.BOUND,
    laplace_exact.BOUND,
    laplace_profile.BOUND,
    laplace_rdp.BOUND,
    randomized_response_exact.BOUND,
    randomized_response_rdp.BOUND,
    discrete_gaussian_exact.BOUND,
    discrete_gaussian_rdp.BOUND,
    discrete_laplace_exact.BOUND,
    discrete_laplace_rdp.BOUND,
    k_randomized_response_exact.BOUND,
    k_randomized_response_rdp.BOUND,
    unary_exact.BOUND,
    unary_rdp.BOUND,
)

TOTAL_VARIATIONS = {  # by the name of the mechanism, where it depends on one ratio
    "gaussian": gaussian_exact.TOTAL_VARIATION,
    "laplace": laplace_exact.TOTAL_VARIATION,
    "randomized-response": randomized_response_exact.TOTAL_VARIATION,
}

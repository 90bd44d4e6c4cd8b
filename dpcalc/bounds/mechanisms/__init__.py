"""Single mechanisms: Gaussian, Laplace, randomised response."""

from dpcalc.bounds.mechanisms import (
    gaussian_classic,
    gaussian_exact,
    gaussian_rdp,
    laplace_exact,
    laplace_profile,
    laplace_rdp,
    randomized_response_exact,
    randomized_response_rdp,
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
)

TOTAL_VARIATIONS = {  # by the name of the mechanism
    "gaussian": gaussian_exact.TOTAL_VARIATION,
    "laplace": laplace_exact.TOTAL_VARIATION,
    "randomized-response": randomized_response_exact.TOTAL_VARIATION,
}

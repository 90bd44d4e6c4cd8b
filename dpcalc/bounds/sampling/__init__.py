"""Privacy amplification by sampling."""

from dpcalc.bounds.sampling import (
    allocation_lower,
    allocation_profile,
    amplification,
    poisson_group_profile,
    poisson_profile,
    poisson_rdp,
    shuffle_lower,
    shuffle_lower_allocation,
    shuffle_no_amplification,
    truncated_poisson_lower,
    truncated_poisson_profile,
    weighted_rdp,
    wor_profile,
    wor_rdp,
)

BOUNDS = (poisson_profile.BOUND, poisson_rdp.BOUND, poisson_group_profile.BOUND,
          truncated_poisson_profile.BOUND, truncated_poisson_lower.BOUND,
          wor_profile.BOUND, wor_rdp.BOUND, weighted_rdp.BOUND, allocation_profile.BOUND, allocation_lower.BOUND,
          amplification.BOUND, shuffle_no_amplification.BOUND, shuffle_lower.BOUND, shuffle_lower_allocation.BOUND)

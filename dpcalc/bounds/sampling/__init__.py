"""Privacy amplification by sampling."""

from dpcalc.bounds.sampling import (
    amplification,
    poisson_group_profile,
    poisson_profile,
    poisson_rdp,
    weighted_rdp,
    wor_profile,
    wor_rdp,
)

BOUNDS = (poisson_profile.BOUND, poisson_rdp.BOUND, poisson_group_profile.BOUND,
          wor_profile.BOUND, wor_rdp.BOUND, weighted_rdp.BOUND,
          amplification.BOUND)

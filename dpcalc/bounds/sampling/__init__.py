"""Privacy amplification by sampling."""

from dpcalc.bounds.sampling import amplification, poisson_rdp, weighted_rdp, wor_rdp

BOUNDS = (poisson_rdp.BOUND, wor_rdp.BOUND, weighted_rdp.BOUND, amplification.BOUND)

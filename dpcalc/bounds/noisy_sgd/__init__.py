"""Projected noisy SGD whose last iterate is released: burn-in."""

from dpcalc.bounds.noisy_sgd import as_published, burn_in_rdp, composition, iteration

BOUNDS = (composition.BOUND, burn_in_rdp.BOUND, iteration.BOUND, as_published.BOUND)

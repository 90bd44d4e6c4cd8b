"""Projected noisy SGD whose last iterate is released: burn-in."""

from dpcalc.bounds.noisy_sgd import (
    as_published,
    burn_in_profile,
    burn_in_rdp,
    composition,
    iteration,
    iteration_schedule,
    lower_bound,
)

BOUNDS = (composition.BOUND, burn_in_profile.COMPOSITION, burn_in_rdp.BOUND, burn_in_profile.BOUND, iteration.BOUND,
          iteration_schedule.BOUND, as_published.BOUND, lower_bound.BOUND)

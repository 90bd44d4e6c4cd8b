"""Bounds for projected noisy SGD of which only the last iterate is released (burn-in, amplification by iteration)."""

from dpcalc.bounds.noisy_sgd import (
    as_published,
    burn_in_contraction,
    burn_in_profile,
    burn_in_rdp,
    composition,
    composition_profile,
    iteration,
    iteration_nonconvex,
    iteration_schedule,
    lower_bound,
    nonconvex,
)

BOUNDS = (
    composition.BOUND,
    composition_profile.BOUND,
    burn_in_rdp.BOUND,
    burn_in_profile.BOUND,
    burn_in_contraction.BOUND,
    iteration.BOUND,
    iteration_schedule.BOUND,
    nonconvex.BURN_IN_RDP,
    nonconvex.BURN_IN_PROFILE,
    iteration_nonconvex.BOUND,
    nonconvex.SCHEDULE,
    as_published.BOUND,
    lower_bound.BOUND,
)

"""Total variation distance of the outputs on neighbouring data sets: the largest advantage of any attacker."""

from dpcalc.bounds.total_variation import exact, kl, laplace_as_published, pinsker, product

BOUNDS = (
    exact.BOUND,
    pinsker.BOUND,
    laplace_as_published.BOUND,
    product.BOUND,
    kl.BOUND,
)

"""Total variation: how much better than a coin any attacker can be."""

from dpcalc.bounds.total_variation import exact, kl, laplace_as_published, pinsker, product

BOUNDS = (
    exact.BOUND,
    pinsker.BOUND,
    laplace_as_published.BOUND,
    product.BOUND,
    kl.BOUND,
)

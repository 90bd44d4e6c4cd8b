"""Compositions whose δ is known: what profile-composition is measured on."""

from math import inf

from draws import log_uniform, steps

from dpcalc.pld.atoms import approximate_dp
from dpcalc.pld.pair import Gaussian, Laplace


class Parts(tuple):
    """Pairs with counts, whose composition has a closed form: what makes it known, for reference and record."""

    name, gaussian, laplace = "up to 12 (ε, δ) steps", (), 0.0


def composed(rng):
    """Of twenty, seventeen are a few pairs of atoms, as randomised response and (ε, δ) points have, two Gaussian steps,
    one a Laplace step."""
    kind = rng.randrange(20)
    if kind == 0:
        parts = Parts([(Laplace(ratio := log_uniform(rng, 0.01, 20)), 1)])
        parts.name, parts.laplace = "one Laplace step", ratio
        return {"pairs": parts, "epsilon": rng.uniform(0, 0.95) * ratio}
    if kind < 3:
        counts = [steps(rng, 1000) for _ in range(rng.randint(1, 2))]
        mus = tuple(log_uniform(rng, 0.01, 2) / count**0.5 for count in counts)
        parts = Parts((Gaussian(mu), count) for mu, count in zip(mus, counts, strict=True))
        parts.name, parts.gaussian = "up to 2000 Gaussian steps", mus
        r = sum(count * mu * mu for mu, count in zip(mus, counts, strict=True)) ** 0.5
        return {"pairs": parts, "epsilon": max(0.0, r * (r / 2 + rng.uniform(-4, 12)))}

    def one():
        return approximate_dp(rng.uniform(0.01, 2), rng.choice((-inf, -rng.uniform(1, 30))))

    return {"pairs": Parts((one(), rng.randint(1, 4)) for _ in range(rng.randint(1, 3))), "epsilon": rng.uniform(0, 3)}

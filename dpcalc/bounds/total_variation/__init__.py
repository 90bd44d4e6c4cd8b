"""Total variation distance of the outputs on neighbouring data sets: the largest advantage of any attacker."""

MODULES = ("exact", "pinsker", "laplace_as_published", "product", "kl", "rdp")

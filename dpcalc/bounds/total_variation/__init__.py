"""Total variation distance of the outputs on neighbouring data sets: the largest advantage of any attacker."""

MODULES = ("closed_forms", "rdp")

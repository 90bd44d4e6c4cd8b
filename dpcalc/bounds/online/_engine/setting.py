"""The parameters and the assumptions that the bounds on a stream share."""

from dpcalc.bounds.pnsgd._engine.step import SETTING

STREAM = ("levels", "lipschitz", "diameter", "learning_rate", "smoothness", "strong_convexity", "n", "index")
ASSUMPTIONS = (*SETTING, "records in a fixed order, one a step", "η ≤ 2/(β+ρ)")

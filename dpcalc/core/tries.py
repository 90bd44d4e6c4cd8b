"""The options that say how many runs are tried, of which the best is published."""

from dpcalc.core.quantities import Quantity

TRIES = Quantity("tries", "expected number of runs; only the best is published, and their number is drawn at random "
                 "by --tries-law (tuning)", "m", gt=0, le=1e12, safe_direction=-1, search=(1.0, 1e12))
TRIES_LAW = Quantity("tries_law", "law of the number of runs (default: geometric)", kind="choice",
                     choices=("geometric", "logarithmic", "poisson"))
TRIES_SHAPE = Quantity("tries_shape", "shape of the law of the number of runs; a truncated negative binomial one, in "
                       "place of --tries-law (1 is geometric, 0 logarithmic)", "h", gt=-1, le=1000)
ONE_RUN = "one run alone"  # begins the note on what one run costs, and a fixed number of them
OPTIONS = (TRIES, TRIES_LAW, TRIES_SHAPE)
NAMES = tuple(option.name for option in OPTIONS)
SPELLINGS = {spelling: name for name in NAMES for spelling in (name, name.replace("_", "-"))}  # keys of a release

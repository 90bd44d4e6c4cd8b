"""Privacy loss distributions: ε and δ of compositions of dominating pairs, from above and from below.

Read in this order: pair.py, atoms.py and sampled.py (dominating pairs), pmf.py (laws on grids), discretize.py (one
use), multiscale.py (sums), pilot.py (bounds by moments), hockey_stick.py (reading δ and ε), listed.py (few sums,
exactly), bracket.py (the loop, and the two functions that a caller needs). renyi.py has the Rényi divergence of one
pair. """

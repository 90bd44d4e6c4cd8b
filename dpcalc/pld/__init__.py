"""Privacy loss distributions: upper and lower bounds on ε and δ of compositions of dominating pairs.

Read in this order: pair.py, atoms.py and sampled.py (dominating pairs), pmf.py (distributions on grids), discretize.py
(one use of a pair), multiscale.py (sums of losses), pilot.py (bounds by moments), hockey_stick.py (δ and ε of a
composition), on_grids.py (one composition), enumerated.py (few sums, exactly), one_direction.py (the search for a
narrow bracket), bracket.py (the functions that other modules call). renyi.py has the Rényi divergence of one pair;
shuffled_attack.py has pairs that an epoch of shuffled batches dominates, merged_cells.py those of two
mixtures of normal distributions in cells of outcomes. """

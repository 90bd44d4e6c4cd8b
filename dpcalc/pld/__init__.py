"""Privacy loss distributions: upper and lower bounds on ε and δ of compositions of dominating pairs.

Read in this order. Pairs: pair.py, atoms.py (finitely many losses, and exact sums of few), sampled.py and mixtures.py
(random batches), replaced.py. Compositions: pmf.py (distributions on grids), discretize.py (one use of a pair),
multiscale.py and powers.py (sums of losses), pilot.py (bounds by moments), profiles_on_grids.py (δ and ε of one
composition), one_direction.py (the search for a narrow bracket), bracket.py (the functions that other modules call),
renyi.py.

Pairs of a whole epoch: allocation.py by log_normal_sums.py (sums of log-normal ratios); allocation_replaced.py and
shuffled_epoch.py, whose profiles are means of positive parts (positive_sums.py by tilted_sums.py) and, from below,
probabilities of events (sum_events.py), made into pairs by profile_pairs.py; swapped_record.py and shuffled_used.py
have the terms of such sums. merged_cells.py has pairs of two mixtures in cells of outcomes. """

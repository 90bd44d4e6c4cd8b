"""Assumptions that several theorems on random batches share."""

POISSON = "each record is in the batch independently with probability q, afresh each step"
FIXED_SIZE = "batches of fixed size b = qn drawn uniformly without replacement, afresh each step"
ADDED_OR_REMOVED = "neighbours differ by adding or removing one record"
REPLACED = "neighbours differ by replacing one record"
GAUSSIAN_NOISE = "Gaussian noise of standard deviation z times the ℓ2 sensitivity of the sum"
ONLY_SUMS = "the batches and their sizes are not released"
OWN_GRADIENT = ("the clipped gradient of a record depends on this record and on past outputs only, not on which other "
                "records are in the batch")

"""Assumptions that several theorems on random batches share."""

OWN_GRADIENT = ("the clipped gradient of a record depends on this record and on past outputs only, not on which other "
                "records are in the batch")

"""The assumption on the start of a run that every theorem about a released iterate needs.

The proofs couple two runs on neighbouring data sets, which begin at the same w₀ and are projected on the same K. A
model that was fitted to the same data, as a warm start, differs between the two before the first step, and the bounds
are false. """

START = "the first iterate w₀ and the constraint set K, where there is one, do not depend on the data set"

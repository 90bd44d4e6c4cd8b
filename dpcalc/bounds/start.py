"""The assumptions on the start of a run, and on gradients, that the theorems about a released iterate share.

The proofs couple two runs on neighbouring data sets, which begin at the same w₀ and are projected on the same K. A
model that was fitted to the same data, as a warm start, differs between the two before the first step, and the bounds
are false. The first step takes its gradients at w₀, before any projection: where they keep to L on K alone, w₀ must lie
in K. Both runs are at w₀ then, so that no proof needs a contraction, or a law on K, before that step. Of L the proofs
for convex losses use only that a step moves two runs apart by 2ηL at most where they use different records, of one data
set or of both, at the same iterate. """

START = ("the first iterate w₀ and the constraint set K, where there is one, do not depend on the data set; w₀ lies in "
         "K, or L bounds the gradients at w₀ as well")
GRADIENTS = ("L need not bound the gradients themselves: it is enough that at the same iterate those of any two "
             "records differ by at most 2L (without a constraint set no strongly convex loss is L-Lipschitz)")

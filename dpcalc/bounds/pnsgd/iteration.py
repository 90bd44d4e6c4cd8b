"""Projected noisy SGD by amplification by iteration: the record at one place of a fixed order, or shuffled records."""

from dpcalc.bounds.pnsgd._engine.iteration import CONVEX, FELDMAN
from dpcalc.bounds.pnsgd._engine.step import RUN, SECRET, SETTING, STEP_SIZE
from dpcalc.core.bound import Theorem

FIXED = CONVEX.fixed(Theorem(
    name="fixed-order-iteration", example=f"{RUN} --index 500 --epsilon 1",
    statement="the record at position i is μ-GDP, μ = (2L/σ)·c^m/√(Σ_{k≤m} c^(2k)), m = n − i, c = 1 − ηρ",
    in_words="One pass of noisy projected SGD in an order that may be known, of which only the last iterate is "
             "released: the noise of all later steps helps to hide the record, as convex steps bring two runs no "
             "further from each other. A record is replaced. It is for convex smooth losses without clipping. The last "
             "record of the pass gains nothing.",
    source=FELDMAN, assumptions=(*SETTING, STEP_SIZE, "Gaussian noise"),
))

FIXED_RDP = CONVEX.fixed_rdp(Theorem(
    name="fixed-order-iteration-rdp", example=f"{RUN} --index 500 --alpha 8",
    statement="ε(α) = αμ²/2 for the record at position i, μ as in fixed-order-iteration",
    in_words="The Rényi form of fixed-order-iteration: the last iterate of one pass of noisy SGD in an order that may "
             "be known, for convex smooth losses without clipping. A record is replaced. The ε to which it is "
             "converted is never below that of fixed-order-iteration. The last record of the pass gains nothing.",
    source=FELDMAN, assumptions=FIXED.theorem.assumptions,
), rtol=2e-11)

SHUFFLED = CONVEX.shuffled(Theorem(
    name="shuffled-iteration", example=f"{RUN} --epsilon 1",
    statement="δ(ε) ≤ (1/n)Σ_{m<n} θ(ε, μ_m), μ_m = (2L/σ)·c^m/√(Σ_{k≤m} c^(2k)), c = 1 − ηρ; the sum is taken "
              "from above in blocks, by chords of θ, at most 1.6 % above it (exact to n = 64; less than .5 % "
              "where ε ≤ 15 and nηρ ≤ 1/4)",
    in_words="One pass of noisy projected SGD in a uniformly random order, of which only the last iterate is released: "
             "δ is the mean over the places of the record, each with the noise of the later steps. A record is "
             "replaced. It is for convex smooth losses without clipping. It is loose: shuffled-hiding, which uses that "
             "the order is secret, is usually much smaller.",
    source=f"{FELDMAN}; joint convexity", assumptions=(*SETTING, SECRET, STEP_SIZE, "Gaussian noise"),
))

SHUFFLED_RDP = CONVEX.shuffled_rdp(Theorem(
    name="shuffled-iteration-rdp", example=f"{RUN} --alpha 8",
    statement="ε(α) = (1/(α−1)) log((1/n)Σ_{m<n} e^((α−1)αμ_m²/2)), μ_m as in shuffled-iteration",
    in_words="The Rényi form of shuffled-iteration: the last iterate of one pass of noisy SGD in a uniformly random "
             "order, for convex smooth losses without clipping. A record is replaced. It is a mean of exponentials, in "
             "which the last places count most: at high orders it is only a little below the loss of a record in the "
             "last place.",
    source=f"{FELDMAN}; Berthier 2019, Lemma 3.1", assumptions=SHUFFLED.theorem.assumptions,
))

BOUNDS = (FIXED, FIXED_RDP, SHUFFLED, SHUFFLED_RDP)

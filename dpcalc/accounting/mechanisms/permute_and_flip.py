"""Permute-and-flip: one selection, the same as report noisy max with exponential noise, by its ε₀."""

from dpcalc.accounting.mechanisms import report_noisy_max as noisy_max
from dpcalc.accounting.mechanisms.record import Number, Part, Query, of_bounds
from dpcalc.bounds.mechanisms import report_noisy_max
from dpcalc.numerics.rounding import ratio_up

MECHANISM = of_bounds(
    report_noisy_max.PROFILE, report_noisy_max.RDP,
    name="permute-and-flip",
    words="permute-and-flip",
    sentence=lambda text: ("One of several candidates is selected by permute-and-flip, which as a single selection is "
                           f"{text('step_epsilon')}-differentially private."),
    query=Query("the ε of a selection"),
    notes=("a candidate whose score is d below the largest one is accepted with probability e^(−cd): ε₀ = 2cΔ with Δ "
           "the sensitivity of the scores, or cΔ where all scores change in the same direction",
           noisy_max.PEELING),
    ways_out={name: f"--step-epsilon already counts {counts} (2cΔ, or cΔ where all scores change in the same "
              "direction); --mechanism report-noisy-max, with noise of scale 1/c, takes --scale, --sensitivity and "
              "--queries"
              for name, counts in (("scale", "it"), ("sensitivity", "it"), ("queries", "that"))},
    options=("step_epsilon",),
    part=Part({"step_epsilon": Number(description="ε of one selection")}),
    group=lambda p, size: {**p, "step_epsilon": ratio_up((p["step_epsilon"], float(size)))},
    replaced=noisy_max.replaced,
)

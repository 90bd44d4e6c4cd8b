"""The smallest ratios 2L/σ and shares that are kept as they are: smaller ones are rounded up to these."""

LEAST_RATIO = 1e-300  # a ratio below is rounded up to it
NEARLY_NONE = -1400.0  # of log(ratio/first): one below is rounded up to it

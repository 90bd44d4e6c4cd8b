"""The topics of `dpcalc help` about counts, sums and means: what a person can change, which keys are published, and how
noisy an answer is."""

from dpcalc.commands.topics_of_releases import Topic

TOPICS = (
    Topic(
        "sensitivity", "how much one person can change an answer",
        ("sensitivities", "histogram", "histograms", "count", "counts", "counting", "sum", "sums", "mean", "means",
         "average", "contribution-bounds", "contribution", "contributions", "l0", "linf", "l1", "l2",
         "max-partitions-contributed", "max-contributions-per-partition", "clamping", "group-by"),
        ("Counts and sums by group (key): a person is in at most k groups (--max-keys k) and adds at most c to each "
         "(--per-key c). If a person is added or removed, the sensitivity is kc in ℓ1 and √k·c in ℓ2. If a person is "
         "replaced (--adjacency replace-one), it is 2kc and √(2k)·c, or 2√k·c for values of either sign (--signed). "
         "dpcalc computes it and prints it.",
         "Both bounds must be enforced before anything is computed: drop a person's surplus groups at random, and "
         "clamp what is left. The largest value that happens to be in the data is no bound.",
         "One number in all: --sensitivity is the largest change of it. A count has 1; a sum of values in [a, b] has "
         "the larger of |a| and |b|, or b − a where a person is replaced; a mean of n values, with n public, "
         "(b − a)/n. For a mean with a private n release a noisy sum and a noisy count: these are two releases.",
         "For DP-SGD the clipping norm is the sensitivity: give --noise-multiplier. Disjoint groups that each have a "
         "release of their own cost no more than the worst of them: dpcalc help parallel."),
        (("rdp --sigma 8 --max-keys 3 --delta 1e-5", "ε = 0.791276"),
         ("rdp --mechanism laplace --scale 3 --max-keys 3 --delta 0", "ε = 1")),
    ),
    Topic(
        "threshold", "keys that come from the data",
        ("thresholds", "keys", "key", "partition-selection", "tau", "rare-keys",
         "set-union", "thresholding"),
        ("If the list of groups comes from the data, a group that one person alone has shows that person. Then a "
         "group is published with its noisy value only if that is at least a threshold: --threshold T, with --sigma "
         "or --scale and --max-keys. Such a release has a δ also for Laplace noise, and no Rényi divergence.",
         "--solve threshold finds the smallest threshold for a budget. A larger one protects more and publishes fewer "
         "groups.",
         "Where the names of the groups are enough, without counts, --mechanism key-selection keeps a group as often "
         "as any mechanism with this (ε, δ) can: --people N prints how often, and --keep-probability P --solve people "
         "how many people that needs."),
        (("rdp --sigma 8 --max-keys 3 --epsilon 1 --delta 1e-5 --solve threshold", "τ = 37.0325"),
         ("rdp --mechanism key-selection --step-epsilon 1 --step-delta 1e-5 --people 12",
          "Keep probability = 0.760311 for a key of 12 people")),
    ),
    Topic(
        "error", "how noisy an answer is",
        ("accuracy", "utility", "confidence", "confidence-interval", "interval", "margin", "half-width",
         "standard-deviation", "noise-size", "noise-within", "noise-within-all"),
        ("--accuracy 0.95 prints the half-width of an interval (the margin of error) that holds the noise of one value "
         "with probability 95 %, and with --answers 12 that of all 12 cells of a table at once. --error A --accuracy P "
         "--solve sigma (or scale) finds the most noise that stays within A with probability P; with --delta the "
         "answer has its ε, too.",
         "These numbers are about the noise alone. The error of sampling people, and the bias of clamping and of "
         "dropped groups, come on top.",
         "How near dpcalc's numbers are to the theorems is another question: dpcalc explain BOUND --all says it."),
        (("rdp --sigma 2 --accuracy 0.95", "Half-width of the noise = 3.91993"),
         ("rdp --error 10 --accuracy 0.95 --solve sigma", "σ = 5.10213")),
    ),
)

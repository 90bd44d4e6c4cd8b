"""The topics of `dpcalc help` about releases: several of them, those that are chosen from others, and groups of
records."""

from typing import NamedTuple


class Topic(NamedTuple):
    """A short text, with commands and the results that they print."""

    name: str
    title: str
    words: tuple[str, ...]  # other words that this topic answers
    text: tuple[str, ...]  # paragraphs
    examples: tuple[tuple[str, str], ...]  # (arguments, how the answer begins)


TOPICS = (
    Topic(
        "composition", "several releases about the same data",
        ("compose", "composing", "accounting", "accountant"),
        ("Every release about the same records costs privacy, and the losses add up. Later releases may depend on "
         "the outputs of earlier ones.",
         "Adding up ε and δ is always valid, and pessimistic. Where dpcalc knows the mechanisms, it composes their "
         "privacy loss distributions. Where it does not, it composes RDP curves or (ε, δ) points. The answer names "
         "the theorem.",
         "--steps T composes one mechanism T times. convert composes the results (--json) of several commands. "
         "ledger composes the releases that a file lists, and prints what is left of a budget. All of them must have "
         "the same adjacency.",
         "A guarantee for one command covers that release only. What else is computed from the same data, such as "
         "the choice of hyper-parameters, must be counted too (dpcalc help tuning)."),
        (("rdp --sigma 10 --steps 100 --delta 1e-5", "ε = 4.37718"),
         ("rdp --sigma 2 --json | dpcalc subsample - --sampling-rate 0.01 --steps 1000 --json | dpcalc convert - "
          "--delta 1e-5", "ε = 0.622123")),
    ),
    Topic(
        "noisy-max", "choosing one of several candidates, or the best k of them",
        ("report-noisy-max", "noisy-argmax", "rnm", "permute-and-flip", "exponential-mechanism", "top-k", "topk",
         "one-shot-top-k", "noisy-max-gumbel", "gumbel", "peeling", "argmax"),
        ("Each candidate has a score, which one record changes by at most Δ (--sensitivity). Noise of scale b is added "
         "to all scores (--scale), and only the name of the winner is published. Its pure ε is 2Δ/b for Gumbel, "
         "Laplace and exponential noise, or Δ/b where a record that is added changes all scores in the same direction, "
         "as it does counts (--queries monotone).",
         "Which noise? Gumbel noise is the exponential mechanism (--mechanism noisy-max-gumbel, or exponential, which "
         "takes ε as --step-epsilon); over many selections it loses the least. Exponential noise is --mechanism "
         "permute-and-flip, which takes ε, or report-noisy-max, which takes the scale: at the same pure ε its winner "
         "is on average at least as good. report-noisy-max is also for Laplace noise.",
         "The best k candidates: select, remove the winner, and select again with new noise (peeling); that is --steps "
         "k of any of these. Or add noise once and publish the k largest, --mechanism one-shot-top-k: ε = 2kΔ/b. With "
         "Gumbel noise both are the same, and --steps k gives the smaller ε at δ > 0.",
         "Not covered: the winner's noisy score (add fresh noise to it, which is another release: --mechanism "
         "laplace), and candidates that are taken from the data, as all words that occur in them."),
        (("rdp --mechanism noisy-max-gumbel --scale 20 --steps 10 --delta 1e-6", "ε = 0.652163"),
         ("rdp --mechanism one-shot-top-k --scale 20 --top-k 10 --delta 1e-6", "ε = 0.999999")),
    ),
    Topic(
        "tuning", "what a search over hyper-parameters costs",
        ("hyper-parameters", "hyperparameters", "hyperparameter", "hyper-parameter", "selection", "private-selection",
         "grid-search", "random-search", "repeat-and-select", "tries", "trials", "best-of"),
        ("Every run on the same data counts, also one whose model is thrown away: whoever ran 30 times, and looked at "
         "all results, composes 30 runs (the second example, or a ledger of them).",
         "If only the best run is published, and the number of runs was drawn at random before the first one and "
         "stays secret, the search costs far less. --tries 30 is that number on average, --tries-law its distribution "
         "(geometric, logarithmic or poisson; --tries-shape for a truncated negative binomial one).",
         "Each run draws its settings anew from a distribution that does not depend on the data. The score is part of "
         "the run: on private data it must be computed privately, and the guarantee of one run covers it. Published "
         "is the run with the largest score, and nothing else.",
         "Not covered: a fixed number of runs, a grid that is run through once, settings that are chosen in view of "
         "earlier results, stopping at a good score, and a largest number of runs. For these, count every run."),
        (("subsample --n 60000 --batch-size 256 --epochs 20 --noise-multiplier 1.1 --tries 30 --delta 1e-5",
          "ε = 2.46856"),
         ("subsample --n 60000 --batch-size 256 --epochs 20 --noise-multiplier 1.1 --json | dpcalc convert - "
          "--steps 30 --delta 1e-5", "ε = 8.92052")),
    ),
    Topic(
        "adaptive-ledger", "what is left of a budget, after looking at outputs",
        ("adaptive", "filter", "filters", "privacy-filter", "odometer", "privacy-odometer", "adaptive-composition"),
        ("The total of a ledger holds for releases whose noise, length and number were fixed before the first output. "
         "Whoever looks at an output and then chooses the noise of the next release, or whether to go on, can lose "
         "more than that total: in examples 1.1 to 1.6 times the δ.",
         "What a release computes may depend on earlier outputs anyway: queries, models, losses, starting points. If "
         "noise, rates, steps, kinds or the number of releases do, you need a filter. ε, δ, the neighbours and the "
         "filter are fixed before the first release, and a release that would exceed the budget is not made. Write "
         "adaptive = true in the file, or --adaptive.",
         "The filter adds up Rényi divergences of one order, which follows from ε and δ (order = X in the file is "
         "another one); with filter = \"gdp\", for Gaussian noise on all records and for pure ε, it adds up μ², and "
         "adaptive choices of Gaussian noise cost nothing. Releases that are (ε, δ) with δ > 0 need delta-reserve = "
         "X, a part of δ.",
         "The guarantee is the budget, also where less of it was spent. \"?\" in place of a number finds the largest "
         "release that may still be made."),
        (("rdp --sigma 2 --json | dpcalc ledger - --adaptive --delta 1e-5 --epsilon 3", "ε = 3"),
         ("rdp --sigma 2 --json | dpcalc ledger - --adaptive --filter gdp --delta 1e-5 --epsilon 3", "ε = 3")),
    ),
    Topic(
        "group-privacy", "a person with several records",
        ("group", "groups", "group-size", "user-level", "unit-of-privacy"),
        ("A guarantee protects one record. If a person has up to k records, the guarantee for that person is weaker. "
         "--group-size k asks for it: neighbouring data sets then differ in all records of such a person.",
         "For noise on a query, k records move the query by at most k times the sensitivity of one. In training with "
         "Poisson batches each of the k records is drawn by itself, and their number in a batch is binomial. Both are "
         "computed from the mechanism. The examples below are for a person with three records.",
         "If all you know is an (ε, δ), dpcalc convert --group-size k gives (kε, δ·(e^(kε) − 1)/(e^ε − 1)). This "
         "holds for every mechanism, and soon says nothing. Shuffled batches have a theorem of their own (subsample "
         "--scheme shuffle); for other batches this formula is the only one here.",
         "Guarantees compose only for groups of the same size, so give the same --group-size in every command.",
         "You can also sample and clip per person. Then a person is the record, n is the number of persons, and no "
         "--group-size is needed."),
        (("rdp --sigma 4 --group-size 3 --delta 1e-5", "ε = 3.1468"),
         ("subsample --n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --group-size 3 --delta 1e-5",
          "ε = 3.88368")),
    ),
    Topic(
        "attacks", "what an attacker can do at most, and what an attack shows",
        ("attack", "attacker", "adversary", "membership-inference", "membership", "mia", "lira", "auditing", "audits",
         "empirical", "empirical-epsilon", "canary", "clopper-pearson", "true-positive-rate",
         "false-positive-rate", "auc", "roc-curve"),
        ("dpcalc tv says what a guarantee allows: the largest true-positive rate of any attack at a false-positive "
         "rate (--fpr), whoever attacks.",
         "dpcalc audit goes the other way. From the hits and false alarms of one attack, in independent runs, it "
         "gives an ε that the program has at least, with a confidence; or from the right guesses about many canaries "
         "of one run. Given a result of dpcalc as well, it says whether the attack refutes that claim.",
         "An audit is about the program that was attacked. It is no guarantee: an attack that fails proves nothing. "
         "A rate, or an area under a ROC curve, has no confidence; counts have one."),
        (("tv --sigma 2 --fpr 0.01 | sed -n 2p", "No attack has a TPR above 0.033899"),
         ("audit --true-positives 500/1000 --false-positives 10/1000 --delta 1e-5", "ε ≥ 3.24199")),
    ),
    Topic(
        "pipes", "commands that read each other's results",
        ("pipe", "json", "piping"),
        ("--json prints one JSON object with the answer, the whole question, and a guarantee. Another command reads "
         "it from a file, or from standard input (written -).",
         "rdp and subsample describe their mechanism even without a question, and the next command asks. Where "
         "possible the mechanism itself is passed on, and not just one (ε, δ), so that nothing is lost.",
         "Only proven guarantees pass. Several files are composed: dpcalc convert a.json b.json --delta 1e-5.",
         "-q prints the number alone, for scripts. --batch answers many questions, one per line of JSON or CSV. "
         "dpcalc schema describes the JSON."),
        (("rdp --sigma 2 --json | dpcalc subsample - --sampling-rate 0.01 --steps 1000 --json | dpcalc convert - "
          "--delta 1e-5", "ε = 0.622123"),
         ("rdp --sigma 1 --delta 1e-5 --json | dpcalc verify - -q", "verified")),
    ),
)

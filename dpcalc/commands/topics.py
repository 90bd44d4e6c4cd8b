"""The topics of `dpcalc help` and `dpcalc explain`: short texts on the ideas that options and answers rest on."""

from typing import Any

from dpcalc.commands import topics_of_counts, topics_of_releases
from dpcalc.commands.topics_of_releases import Topic

_RUN = "--n 50000 --batch-size 1024 --epochs 50"
_EXAMPLE = "--n 50000 --batch-size 1000 --epochs 50 --noise-multiplier 1.6 --delta 1e-5"

TOPICS = (
    Topic(
        "neighbours", "which data sets are neighbours",
        ("neighbors", "neighbour", "neighbor", "neighbouring", "neighboring", "adjacency", "add-remove", "replace-one",
         "adjacent", "zero-out", "promises", "promise"),
        ("A guarantee compares the outputs on two neighbouring data sets, which differ in one record. The adjacency "
         "says how they differ.",
         "add-remove: one data set has one record more than the other. This is usual for Poisson batches. "
         "replace-one: both have the same size, and one record has another value. This is usual for batches of a "
         "fixed size, for answers of respondents, and for all theorems about the last iterate. zero-out: both have "
         "the same size, and the gradients of one record are zero in one of them. This is usual for shuffled, "
         "truncated and cyclic batches, where one record more would change the batches of the others.",
         "Guarantees for different adjacencies cannot be compared or composed. Replacing a record is removing one "
         "and adding another, so its ε is larger, often 1.5 to 2 times for Poisson batches. In DP-SGD it moves the "
         "sum of a batch by 2C in place of C, with C the clipping norm; --noise-multiplier knows that. convert and "
         "ledger take --adjacency replace-one: then guarantees for other neighbours are converted by a theorem.",
         "Every answer names its adjacency after \"Neighbours:\". With --sigma or --scale alone, neighbours are the "
         "data sets that your --sensitivity refers to, or those that --adjacency names. Composed with other releases, "
         "or used on random batches, such a release takes their adjacency. Then the answer says what your sensitivity "
         "must bound, and repeats it in JSON as \"promises\"."),
        ((f"subsample {_RUN} --noise-multiplier 1.6 --delta 1e-5", "ε = 2.98888"),
         (f"subsample --adjacency replace-one {_RUN} --noise-multiplier 1.6 --delta 1e-5", "ε = 5.81353")),
    ),
    Topic(
        "noise-multiplier", "the noise of DP-SGD, as other libraries give it",
        ("noise-multipliers", "multiplier", "z"),
        ("In DP-SGD each record's gradient is clipped to norm C. The gradients of a batch are summed, and Gaussian "
         "noise is added to the sum. The noise multiplier Z is the standard deviation of that noise divided by C. It "
         "means the same in Opacus, JAX-privacy, TF-privacy and dpcalc, under every adjacency and sampling scheme. "
         "With micro-batches of several records, as in TF-privacy, give half of it: see dpcalc help micro-batches.",
         "ε depends on Z alone, and not on C. --clipping-norm together with a noise multiplier is accepted and "
         "changes nothing.",
         "--sigma with --sensitivity is for any other query: σ is the standard deviation of its noise, in the units "
         "in which the query is measured. For a sum of clipped gradients σ = ZC; the sensitivity is C for adding or "
         "removing a record, and 2C for replacing one.",
         "Some commands have --sigma for the noise on something else: the mean gradient of a batch (compare, "
         "burn-in), the gradient of one step (shuffle-pnsgd, online-noise), or the iterate (noise-feedback). On the "
         "mean gradient of b records σ = ZC/b."),
        (("rdp --noise-multiplier 4 --adjacency replace-one --delta 1e-5 -q", "1.99309…"),
         ("rdp --sigma 4 --sensitivity 2 --delta 1e-5 -q", "1.99309…")),
    ),
    Topic(
        "micro-batches", "batches that are computed in parts",
        ("micro-batch", "microbatches", "microbatch", "microbatching", "num-microbatches", "used-microbatching",
         "gradient-accumulation", "accumulation", "accumulation-steps", "virtual-batches", "virtual-batch",
         "physical-batches", "physical-batch", "batchmemorymanager"),
        ("In DP-SGD each record's gradient is clipped, and noise is added once to the sum over the batch. A batch that "
         "is computed in parts has the same ε only if neither the clipping nor the noise is done per part.",
         "Gradient accumulation and virtual batches (BatchMemoryManager and max_physical_batch_size in Opacus) split a "
         "batch to save memory: each record is clipped by itself, and noise is added once per optimizer step. The "
         "batch is that of all parts: --batch-size is the size of a part times the accumulation steps, and --steps "
         "counts optimizer steps.",
         "Micro-batches (num_microbatches in TF-privacy): the mean gradient of a micro-batch is clipped to C. One "
         "record can turn that mean into its opposite, so it moves the sum by 2C in place of C. Give half the noise "
         "multiplier, unless every micro-batch is one record. The privacy statement of TF-privacy halves it, too, "
         "where used_microbatching is true, as it is by default.",
         "The second example below is the run of the first with micro-batches."),
        (("subsample --n 60000 --batch-size 256 --epochs 20 --noise-multiplier 1.1 --delta 1e-5", "ε = 1.31908"),
         ("subsample --n 60000 --batch-size 256 --epochs 20 --noise-multiplier 0.55 --delta 1e-5", "ε = 8.78534")),
    ),
    Topic(
        "parallel", "disjoint parts of the data, and what they cost together",
        ("parallel-composition", "disjoint", "disjoint-parts", "parts", "partition", "partitions", "regions"),
        ("If the data are partitioned and every part has its releases, a record is used by the releases of one part "
         "only. Then all releases together lose no more than those of the worst part, where a record is added or "
         "removed (McSherry 2009). The example is a noisy count of every region: all counts together cost what one "
         "costs. In a ledger the parts are parallel = [[…], […]], a list of parts, each a list of its releases.",
         "Where a record is replaced, it may stay in its part, or leave one part and enter another one. The ledger "
         "takes the worse of both: one part under replace-one, or two parts under add-remove, which add up. Two parts "
         "of ε = 1 each have ε = 2 then.",
         "Which records belong to which part must be fixed beforehand, by a property of the single record alone, such "
         "as the region of a person. Parts that follow from the data, as clusters or quantiles, are no such "
         "partition, nor are those where a person has records in several parts. What is done with a part must not "
         "depend on its size: sampling rates and steps are constants, and batches of a fixed size are refused."),
        (("rdp --sigma 2 --delta 1e-5", "ε = 1.9931"),),
    ),
    Topic(
        "sampling", "how batches are formed, and which command covers it",
        ("subsampling", "batching", "dataloader", "data-loader", "random-allocation", "balls-and-bins"),
        ("An attacker who does not know whether a record was in a batch learns less. Every theorem on this assumes "
         "one way of forming batches, and says nothing about another.",
         "If you are not sure, your batches are shuffled: DataLoader(shuffle=True) and most pipelines cut a fresh "
         "order of the records into batches once per epoch (--scheme shuffle). Poisson (the default): at every step "
         "each record enters the batch with probability q, independently, as in Opacus, unless "
         "poisson_sampling=False; add --max-batch-size B if larger batches are cut. Random allocation (--scheme "
         "random-allocation): in every epoch each record draws one of the steps by itself. Without replacement "
         "(--scheme without-replacement): at every step b of the n records, drawn afresh. With replacement (--scheme "
         "with-replacement): every entry of a batch is any record, so that one may come twice. Cyclic (--scheme "
         "cyclic-poisson): Poisson batches from fixed groups in turn. Fixed order, full batch, stream: compare "
         "--batches fixed-order, full or stream.",
         "One run in several ways: 50,000 records, batches of 1,000, 50 epochs, noise multiplier 1.6, δ = 1e-5. "
         "Poisson batches: ε = 2.94784, and a little less by random allocation. A shuffled loader: ε = 7.16006 (the "
         "true ε is at least 6.51305), or 6.96299 with batches of 999 and --drop-last. Without replacement, "
         "where a record is replaced, ε is larger still.",
         "Never report a Poisson number for a shuffled loader: it is no guarantee for that run."),
        ((f"subsample {_EXAMPLE}", "ε = 2.94784"),
         ("subsample --scheme shuffle --n 50000 --batch-size 999 --drop-last --epochs 50 --noise-multiplier 1.6 "
          "--delta 1e-5", "ε = 6.96299")),
    ),
    Topic(
        "shuffled-batches", "what holds for a loader that shuffles",
        ("shuffled", "shuffling", "shuffle", "random-reshuffling", "reshuffling", "drop-remainder"),
        ("The records are put in a random order once per epoch, and the order is cut into batches. This is what most "
         "data loaders do. It is not Poisson sampling: a record is used exactly once in every epoch.",
         "subsample --scheme shuffle, and compare --batches shuffled, print a guarantee for runs that release every "
         "step, and a lower bound of the loss of one such run: no theorem can promise less than that. The true ε is "
         "between them.",
         "ε is smallest for epochs that leave out records: --drop-last, where the batch size does not divide the "
         "number of records. Left out must be those at the end of the order that the epoch has drawn over all records "
         "(drop_last=True, drop_remainder=True). Otherwise every record is used in every epoch. A last, smaller batch "
         "must then have the same noise on its sum.",
         "Not covered are a buffered shuffle (tf.data's with a buffer smaller than the data), records that are cut off "
         "before the order is drawn, an order that goes on in the next epoch (repeat before batch), and batches filled "
         "up with records seen before (DistributedSampler without drop_last).",
         "Three ways to a smaller ε: sample Poisson batches; give each record one batch of every epoch, drawn "
         "independently of the others (random allocation); or, for convex losses, release the last iterate only "
         "(shuffle-pnsgd, compare --release last-iterate). Or take more noise, as below."),
        ((f"subsample --scheme shuffle {_RUN} --drop-last --noise-multiplier 1.6 --delta 1e-5", "ε = 6.99663"),
         (f"compare --batches shuffled {_RUN} --drop-last --epsilon 8 --delta 1e-5 --solve noise-multiplier",
          "Noise multiplier = 1.52217"),),
    ),
    Topic(
        "poisson", "Poisson sampling",
        ("poisson-sampling", "poisson-subsampling", "bernoulli"),
        ("At every step each record is in the batch with probability q (--sampling-rate, or --batch-size over --n), "
         "independently of all other records and steps. The size of the batch varies; b = qn is the expected size.",
         "A step on a Poisson batch costs less privacy than a step on all records, by a factor of about q where its "
         "ε is small. The default neighbours are add-remove: one data set has one record more.",
         "The theorem assumes that the attacker does not see which records are in a batch, nor how many. Divide the "
         "sum of gradients by the expected size b, not by the actual one. Do not publish the sizes of the batches.",
         "A loader that shuffles the records is not Poisson sampling: see dpcalc help shuffled-batches."),
        ((f"subsample {_RUN} --noise-multiplier 1.6 --delta 1e-5", "ε = 2.98888"),),
    ),
    Topic(
        "statuses", "numbers that are proven, and those that are not",
        ("status", "proven", "conjecture", "conjectures", "limit", "limits", "lower", "as-published", "published",
         "unproven", "model"),
        ("proven: a theorem with a proof gives the number for the assumptions that dpcalc explain lists. Only proven "
         "numbers pass through pipes. Except in dpcalc audit and for --n inf, only they are the answer where --bound "
         "names no bound.",
         "lower: some concrete run loses at least this much, so no theorem can promise less; or an attack showed it, "
         "with a confidence (dpcalc audit). It is no guarantee.",
         "model: a lower bound of an audit that holds only for a mechanism of a certain kind. It is no guarantee.",
         "limit: what the value tends to as the number of records grows. It is no guarantee at any finite n.",
         "conjecture: stated in a paper, and not proven.",
         "as-published: printed in a paper, and wrong or unproven as printed. The errata say why.",
         "Conjectures and statements as published answer only where --bound names them. A warning on standard error "
         "then says that the number is no guarantee."),
        (("bounds --status conjecture -q", "without-replacement-conjecture"),),
    ),
    Topic(
        "delta", "what δ means, and how to choose it",
        ("failure-probability",),
        ("(ε, δ) differential privacy: for every event S, P(S) ≤ e^ε·Q(S) + δ, where P and Q are the distributions "
         "of the output on two neighbouring data sets.",
         "δ must be small: publishing one record at random, out of n, satisfies the definition with ε = 0 and δ = "
         "1/n. Choose δ well below 1/n; 1/(10n) or n^−1.1 are usual choices. dpcalc warns where δ ≥ 1/n.",
         "A mechanism has an ε for every δ (its privacy profile). A smaller δ gives a larger ε, and often not a much "
         "larger one. Two values of ε can be compared only at the same δ. With δ = 0 the guarantee is pure: Laplace "
         "noise and randomised response have one, Gaussian noise has none."),
        (("rdp --sigma 1 --delta 1e-5", "ε = 4.37718"), ("rdp --sigma 1 --delta 1e-6", "ε = 4.88656")),
    ),
    *topics_of_releases.TOPICS,
    *topics_of_counts.TOPICS,
    Topic(
        "correlated-noise", "noise that takes back earlier noise (DP-FTRL)",
        ("dp-ftrl", "dpftrl", "ftrl", "matrix-factorization", "matrix-factorisation", "matrix-mechanism", "bandmf",
         "banded", "blt", "toeplitz", "participation", "prefix-sum"),
        ("In DP-SGD every step adds fresh noise to the sum of clipped gradients, and the noise of all steps adds up "
         "in the model. With correlated noise a step takes back a part of the earlier noise, by fixed coefficients "
         "(the strategy C): step t adds (C⁻¹z)_t, where z is independent noise of standard deviation σ, in clipping "
         "norms.",
         "All steps together are one Gaussian mechanism, with μ = sensitivity/σ. The sensitivity depends on which "
         "steps use a record: one (the default), steps at least --separation apart (i and j with j − i ≥ b), or every "
         "b-th step (--order cyclic). It counts the cross terms between the steps of a record.",
         "Does it help? --compare prints the errors of prefix sums for each strategy at the same privacy. With Poisson "
         "batches only strategies with few bands profit from sampling (--sampling-rate), and at a small ε independent "
         "noise is often better there.",
         "A separation and Poisson batches exclude each other: a random batch ensures none."),
        (("correlated --steps 2052 --separation 342 --participations 6 --strategy banded-sqrt:342 --epsilon 8 "
          "--delta 1e-5 --solve sigma", "σ = 2.51381"),
         ("correlated --steps 1000 --order once --strategy square-root --sigma 5 --delta 1e-5", "ε = 1.38972")),
    ),
    Topic(
        "answer", "how to read an answer",
        ("headline", "output", "result"),
        ("The first line is the answer: the number, what it is for, and the name of the bound that gives it. It is "
         "the smallest proven number that dpcalc knows for the question. The table below it shows the best row of "
         "each theorem; --all shows every row.",
         "A privacy loss is rounded up and never below what the theorem gives. A noise that --solve finds is rounded "
         "up, and a number of steps down, so that the printed number meets the budget.",
         "Where a composition is computed numerically, the second line has a lower bound of the true ε: it shows how "
         "near the first number is.",
         "The number holds for the neighbours named after \"Neighbours:\", and for an attacker who sees what is named "
         "after \"Released:\". -q prints the number alone, and --explain adds the theorems and their assumptions."),
        (("subsample --n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5", "ε = 1.13403"),),
    ),
)
NAMES = tuple(topic.name for topic in TOPICS)
NAMES_OF_BOUNDS = ("composition", "group-privacy")  # the topics of which a bound has the name, too
WORDS = {word: topic for topic in TOPICS for word in (topic.name, *topic.words)}


def topic_record(word: str) -> dict[str, Any] | None:
    """The JSON record of the topic that answers a word; None where there is none."""
    topic = WORDS.get(word.lower().replace("_", "-"))
    if topic is None:
        return None
    return {"name": topic.name, "kind": "topic", "title": topic.title, "text": list(topic.text),
            "examples": [f"dpcalc {line}" for line, _ in topic.examples],
            "results": [result for _, result in topic.examples]}

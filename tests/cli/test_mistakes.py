"""Typical mistakes: one line that says what to do instead."""

import shlex
import time
from itertools import product

import pytest

from dpcalc.cli.app import main
from dpcalc.commands import COMMANDS
from dpcalc.commands.catalogue import calculators
from dpcalc.core.suggest import WAYS_OUT, meant

MISTAKES = [
    ("rdp", "nothing to compute: give --delta"), ("subsample", "no noise given: add --noise-multiplier"),
    ("ledger", "no release is given: name a TOML or JSON file"),
    ("rdp --sigma 1 -delta 1e-5", "-delta: one dash too few; did you mean --delta?"),
    ("rdp --sigma 1 -epsilon=1", "-epsilon: one dash too few; did you mean --epsilon?"),
    ("rdp --sigma 1 --delta 1e-5,", "'1e-5,' has no value beside one of its commas"),
    ("rdp --sigma 1 --eps 1", "did you mean --epsilon?"),
    ("rdp --noise laplace --delta 1e-5", "did you mean --mechanism?"),
    ("rdp --lipschitz 1 --delta 1e-5",
     "--lipschitz: no such option; it belongs to shuffle-pnsgd, online-noise, burn-in, noise-feedback"),
    ("rdp --frobnicate", "dpcalc rdp --help lists the options"),
    ("rdp --version", "did you mean dpcalc --version?"),
    ("rdp sigma=1 delta=1e-5", "'sigma=1' is no option; did you mean --sigma 1?"),
    ("rdp help", "did you mean --help?"),
    ("rdp --sigma 1 --delta 1e-5 x", "unexpected 'x'"),
    ("rdp --sigma 1 --delta 1e-5 '  '", "unexpected '  '"),
    ("rdp --mechanism gaussain --sigma 1 --delta 1e-5", "did you mean gaussian?"),
    ("rdp --mechanism laplace --sigma 1 --delta 1e-5", "--sigma: not used with --mechanism laplace; give --scale instead"),
    ("rdp --solve noise --epsilon 1 --delta 1e-5", "did you mean noise-multiplier?"),
    ("rdp --batch-size 5", "it belongs to subsample, tv, burn-in, compare"),
    ("rdp --csv", "write --format csv"), ("rdp --to zcdp", "dpcalc rdp … --json | dpcalc convert - --to zcdp"),
    ("subsample --best", "-q prints the best number alone"), ("subsample --max-epsilon 3", "whose exit code is 3"),
    ("subsample --no-poisson", "write --scheme shuffle"), ("subsample --accountant rdp", "--bound poisson-rdp"),
    ("subsample --noise 1", "write --noise-multiplier Z"), ("subsample --images-per-patient 3", "write --group-size N"),
    ("shuffle-pnsgd --all-epochs", "did you mean --release"), ("explain --answers", "without dashes: dpcalc explain answers"),
    ("rdp --sigma 1 --format model-card", "--format statement"), ("rdp --batch 256", "is --batch-size"),
    ("rdp --sigma 1 --delta 1e-5 --answers 20", "goes with --accuracy"), ("tv --sigma 1 --plot a.svg", "--roc 50"),
    ("rdp --sigma 1 --delta 1e-5 --output a.parquet", "a.json or a.csv"),
    ("subsample --batches full", "full is for dpcalc compare --batches full"),
    ("compare --scheme weighted", "weighted is for dpcalc subsample --scheme weighted"),
    ("online-noise --epochs 3", "give --n, the number of records"), ("ledger --epochs 3", "belongs into a release of the file"),
    ("subsample --clients 1000", "--batch-size those of a round"), ("subsample --microbatch 4", "give half the noise multiplier"),
    ("tv --scheme shuffle", "needed with --mechanism gaussian"),
    ("subsample --scheme posson", "'posson' is not one of poisson, cyclic-poisson"),
    ("subsample runs.csv", "'runs.csv': No such file or directory"),
    ("rdp --sigma 1 --delta 0.1%", "'0.1%' is a percentage; write 0.1/100"),
    ("rdp --sigma 1,1 --delta 1e-5", "1,1 has one value twice; did you mean 1.1?"),
    ("rdp", "nothing to compute"),
    ("ledger", "no release is given"),
    ("rdp --epsilon 1 --delta 1e-5 --solve",
     "--solve: needs a value: sigma, scale, probability, step-epsilon, threshold-scale, hits, sensitivity, "
     "noise-multiplier, max-keys, per-key, threshold, top-k, n, steps"),
    ("rdp --sigma", "--sigma: needs a value: standard deviation of the Gaussian noise"),
    ("online-noise --lipschitz 1 --smoothness 1 --learning-rate 1 --diameter 1 --strong-convexity 1 --c1 3 --c2 9 "
     "--decay 2 --n 9 --index 2 "
     "--epsilon 1", "--learning-rate: 1 gives M = 0"),
    ("rdp --json=yes", "--json: takes no value"),
    ("rdp --sigma 1 --delta 1e-5 -o json", "'json' is a format, no file: write --format json"),
    ("rdp --sigma 1 --delta 1e-5 --format yaml", "did you mean json?"),
    ("subsample --q 0.01 --sigma 1 --delta 1e-5", "did you mean --sampling-rate?"),
    ("subsample --sampling-rate 0.01 --steps 1 --sigma 1 --iters 9 --delta 1e-5", "did you mean --steps?"),
    ("subsample --sigma 1 --delta 1e-5 --batchsize 256 --n 60000", "did you mean --batch-size?"),
    ("subsample --sigma 1 --delta 1e-5", "--sampling-rate, or --n and --batch-size"),
    ("subsample --num-microbatches 32", "give half the noise multiplier, unless every micro-batch is one record"),
    ("compare --used-microbatching", "give half the noise multiplier"),
    ("tv --microbatch-size 8", "give half the noise multiplier"),  # it is no --batch-size
    ("subsample --gradient_accumulation_steps 4", "--batch-size is all records of such a step"),
    ("compare --max-physical-batch-size 128", "noise is added once per optimizer step"),
    ("convert --from renyi --delta 1e-5", "did you mean rdp?"),
    ("convert --from rdp --delta 1e-5", "--alpha: needed with --from rdp; also add --rdp"),
    ("burn-in --sigma 1 --delta 1e-5",
     "--n: needed by burn-in; also add --batch-size, --steps, --lipschitz, --smoothness, --learning-rate"),
    ("shuffle-pnsgd --noise laplace --sigma 1 --delta 1e-5", "give --scale"),
    ("shuffle-pnsgd --sigma 1 --delta 1e-5", "--lipschitz: needed with --noise gaussian; also add --n"),
    ("online-noise --delta 1e-5 --n 9", "(or give --sigmas instead of a schedule); also add --c2, --decay"),
    ("rdp --sigma 1 --delta 1e-5 --explain -q", "--explain: explains in a table or in JSON, not with --quiet"),
    ("rdp --sigma 1 --delta 1e-5 --explain --format csv", "not with --format csv"),
    ("dpsgd --sigma 1", "did you mean subsample?"),
    ("burnin", "did you mean burn-in?"),
    ("poisson-sampling", "dpcalc help poisson-sampling explains it"),
    ("help compositon", "did you mean composition?"),
    ("completion tcsh", "'tcsh' is not one of bash, zsh, fish"),
    ("completion", "name one shell: bash, zsh, fish"),
    ("explain verify", "dpcalc help verify shows its help"),
    ("-v", "did you mean --version?"),
    ("epsilon", "dpcalc help epsilon explains it, and dpcalc rdp --sigma 1 --delta 1e-5 asks for ε, dpcalc subsample for that of a training run; there are rdp"),
    ("privacy", "no command 'privacy'; dpcalc rdp --sigma 1 --delta 1e-5 asks for ε"),
    ("delta", "dpcalc rdp --sigma 1 --epsilon 1 asks for δ"), ("batch", "dpcalc rdp --batch FILE"),
    ("subsample --no-used-microbatching", "give half the noise multiplier"),
    ("subsample --accumulation 4", "--batch-size is all records of such a step"),
    ("rdp --epochs 3", "--epochs: no such option; for releases about all records give --steps T; for E epochs of random "
     "batches use dpcalc subsample --epochs E"),
    ("burn-in --epochs 3", "E epochs are E·n/b steps"), ("noise-feedback --epochs 3", "E epochs are E·n/b steps"),
    ("convert --epochs 3", "give --steps T"),
    ("rdp --mechanism laplace --epsilon 1 --solve scale", "beside --epsilon add --delta, as in --delta 0"),
    ("rdp --epsilon 1 --solve sigma", "beside --epsilon add --delta, as in --delta 1e-5"),
    ("rdp --sigma 1 --alpha inf", "ask with --delta 0 in place of --alpha"),
    ("subsample --scheme wor", "drawn afresh at every step are without-replacement"),
    ("compare --batches wor", "cut from a shuffled order write shuffle"),
    ("subsample --scheme balls_and_bins", "write random-allocation"),
    ("tv --sigma 1 --scheme truncated-poisson", "write --max-batch-size B with --scheme poisson"),
    ("compare --batches truncated-poisson", "use dpcalc subsample --max-batch-size B"),
    ("subsample --scheme reshuffling", "write shuffle"),
    ("subsample --scheme random-allocation --sampling-rate .1 --sigma 1 --delta 1e-5",
     "give --epochs, and --steps-per-epoch (1/q at a sampling rate q) or --n and --batch-size"),
    ("subsample --scheme shuffle --sampling-rate .1 --sigma 1 --delta 1e-5", "or --steps-per-epoch (1/q at a sampling rate"),
    ("rdp --mechanism report-noisy-max --delta 0", "--scale: needed with --mechanism report-noisy-max"),
    *((f"{command} --mechanism exponential --step-epsilon 1 {option}", "give 2cΔ, or cΔ where all scores change in the "
       "same direction") for command in ("rdp --delta 0", "subsample --sampling-rate .1 --steps 2 --delta 0", "tv")
      for option in ("--sensitivity 2", "--queries monotone")),
]


@pytest.mark.parametrize("line, says", MISTAKES, ids=[x[0] for x in MISTAKES])
def test_the_way_out(line, says, capsys):
    assert main(shlex.split(line)) == 2
    text = capsys.readouterr()
    assert text.out == "" and text.err.count("\n") == 1 and says in text.err


def test_a_value_of_other_tools_is_answered_wherever_the_option_exists(capsys):
    asked = 0
    for options, words, text in WAYS_OUT:
        for (name, command), option, word in product(calculators().items(), options.split(), words.split()):
            if option in (o.name for o in command.all_options()):
                assert main([name, f"--{option}", word]) == 2 and text in capsys.readouterr().err, (name, option, word)
                asked += 1
    assert asked > 100


def test_a_slip_is_understood_and_another_word_is_not():
    known = (*COMMANDS, "--help", "--version")
    for name in (name for name in COMMANDS if len(name) > 4):
        for k in range(1, len(name) - 2):
            swapped = name[:k] + name[k + 1] + name[k] + name[k + 2:]
            for word in (name[:k] + name[k + 1:], swapped, name[:k] + "x" + name[k + 1:]):
                assert meant(word, known) == name, word
    for word in ("epsilon", "privacy", "dataset", "sensitivity", "permute-and-flip"):
        assert meant(word, known) is None
    assert meant("truncated-gaussian", ("gaussian", "discrete-gaussian")) is None


def test_what_was_meant():
    assert meant("--q", ("-q", "--sampling-rate")) == "--sampling-rate"
    assert meant("--clip", ("--help", "--sensitivity")) is None and meant("--clip",
                                                                          ("--clipping-norm",
                                                                           "--sensitivity")) == "--clipping-norm"
    assert meant("--SIGMA", ("--sigma",)) == "--sigma" and meant("batch_size", ("batch-size",)) == "batch-size"
    assert meant("--mech", ("--mechanism", "--steps")) == "--mechanism" and meant("zzz", ("--sigma", "--steps")) is None


def test_a_word_of_a_megabyte_is_like_no_other():
    start = time.process_time()
    assert meant("g" * 10**6, ("gaussian", "laplace")) is None
    assert time.process_time() - start < 0.5

"""The law of refutation: the numbers of a true record are proven, and a headline that is a little better is refuted.

The files of single subjects have what else holds of their proofs."""

import re

import pytest
from conftest import few_of_each, slow
from verifying import ALL, ALL_BUT_LOWER_ENDS, HEAD, check

BURN_IN = "burn-in --lipschitz 1 --smoothness 1"
CONTRACTION = f"{BURN_IN} --steps 1e6 --bound burn-in-contraction --learning-rate .1"
FULL = f"{CONTRACTION} --n 1000 --batch-size 1000 --diameter 1 --sigma .1"
RANDOM = f"{CONTRACTION} --n 10000 --batch-size 100 --diameter 1 --sigma .2"
LOWER = f"{BURN_IN} --learning-rate .1 --bound lower-bound"
LAST = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .05"
EPOCHS = f"{LAST} --diameter 2"
STREAM = "online-noise --lipschitz {l} --diameter 1 --learning-rate {eta} --smoothness .5 --decay {a} --c1 {c} --c2 {c}"
LAPLACE = STREAM.format(l=10, eta=".01", a=1.5, c=100) + " --index 100 --noise laplace"
GAUSSIAN = STREAM.format(l=1, eta=".1", a=1.2, c=1e6) + " --noise gaussian"
NOISY = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .1"
WHOLE = "subsample --scheme without-replacement --bound wor-rdp"
TRUNCATED = "subsample --n 60000 --batch-size 256 --steps 3516 --noise-multiplier 1.1 --max-batch-size"
SMALL = "subsample --n 500 --batch-size 20 --steps 30 --noise-multiplier .8 --max-batch-size"
OF_500 = "subsample --n 500 --batch-size 20"
ALLOCATION = "subsample --scheme random-allocation --noise-multiplier"
SHUFFLE = "subsample --scheme shuffle"
RUN = f"{SHUFFLE} --n 6000 --batch-size 256"
FEW = f"{SHUFFLE} --n 130 --batch-size 50 --drop-last --epochs 2 --noise-multiplier 3 --delta 1e-3"

# (what is proven of a record, by what share of itself a better headline is refuted, lines); 0 where none is tried
LAW = {
    "burn-in by contraction, full batches": (ALL_BUT_LOWER_ENDS, 1e-6, [
        f"{FULL} --delta 1e-5", slow(f"{FULL} --epsilon 4"), f"{FULL} --epsilon .4", f"{FULL} --epsilon 0",
        f"{FULL} --strong-convexity .3 --delta 1e-6", f"{FULL} --delta .6", f"{FULL} --delta 1e-100"]),
    # compositions on other grids may prove a little less or more than the answer
    "burn-in by contraction, random batches": (ALL, 0.01, [
        slow(f"{RANDOM} --delta 1e-5"), slow(f"{RANDOM} --epsilon .1"), slow(f"{RANDOM} --epsilon 0"),
        # every window is one step
        slow(f"{CONTRACTION} --n 100 --batch-size 10 --diameter .1 --sigma 1 --delta 1e-4")]),
    "lower bounds after one step": (HEAD, 1e-6, [*(f"{LOWER} --steps 1 {line}" for line in (
        "--n 1000 --batch-size 50 --sigma .2 --diameter 1 --delta 1e-6",
        "--n 100 --batch-size 50 --sigma .002 --diameter 10 --strong-convexity .5 --delta 1e-30",
        "--n 1000 --batch-size 50 --sigma .0002 --diameter 1 --epsilon 10",
        "--n 1000 --batch-size 1000 --sigma .02 --diameter 1 --epsilon 1",
        "--n 1000 --batch-size 50 --sigma .1 --diameter 1 --epsilon 0",
        "--n 1000 --batch-size 50 --sigma 20 --diameter 1 --epsilon .01")),
        slow(f"{LOWER} --steps 1 --n 1000 --batch-size 50 --sigma .02 --diameter 1 --alpha 4"),
        slow(f"{LOWER} --steps 1 --n 100 --batch-size 50 --sigma .002 --diameter 10 --strong-convexity .5 "
             "--alpha 1.01")]),
    "lower bounds after many steps": (HEAD, 1e-6, [
        slow(f"{LOWER} --n 100 --batch-size 10 --steps 30 --sigma .2 --diameter 1 --delta 1e-6"),
        f"{LOWER} --n 100 --batch-size 10 --steps 2 --sigma .2 --diameter 1 --delta 1e-2",
        f"{LOWER} --n 10 --batch-size 10 --steps 2 --sigma .4 --diameter .1 --alpha 2",
        slow(f"{LOWER} --n 1000 --batch-size 50 --steps 100 --sigma 2 --diameter 1 --epsilon .001"),
        slow(f"{LOWER} --n 1000 --batch-size 50 --steps 100000 --sigma 2 --diameter 1 --delta 1e-6"),
        slow(f"{LOWER} --n 100 --batch-size 10 --steps 2 --sigma .2 --diameter 1 --epsilon 0"),
        f"{BURN_IN} --bound lower-bound --n 100 --batch-size 100 --steps 20 --sigma .02 --diameter .1 "
        "--strong-convexity 1 --learning-rate 1 --alpha 3",
        slow(f"{LOWER} --n 1000 --batch-size 50 --steps 40 --sigma 1 --diameter 1 --alpha 1.5")]),
    "lower bounds of walks from rest": (HEAD, 1e-3, [slow(f"{LOWER} --n 6000 --batch-size 128 --sigma .2 {line}") for line in (
        "--steps 1e6 --diameter 2 --delta 1e-6",  # wide
        "--steps 1e4 --diameter 2 --delta 1e-6",  # too short to be at rest there
        "--steps 1e9 --diameter .3 --epsilon .01",  # longer than is followed
        "--steps 1e6 --diameter .3 --alpha 4")]),
    "epochs": (ALL, 1e-6, [
        slow(f"{EPOCHS} --sigma 2 --n 40 --epochs 5 --delta 1e-6"),
        slow(f"{EPOCHS} --sigma 4 --n 300 --index 280 --epochs 7 --epsilon .5 --bound fixed-order-hybrid"),
        slow(f"{EPOCHS} --sigma 2 --n 200 --index 190 --epochs 4 --delta 1e-6"),
        slow(f"{EPOCHS} --noise laplace --scale 2 --n 1000 --epochs 3 --epsilon .5"),  # test_composition.py: quick
        slow(f"{EPOCHS} --sigma 9 --n 100 --epochs 3 --delta 1e-6 --strong-convexity .3 --bound output-perturbation"),
        slow(f"{EPOCHS} --sigma .5 --n 40 --epochs 2 --epsilon 60"),
        slow(f"{LAST} --diameter .1 --n 100 --epochs 3 --delta 1e-6 --epsilon 1 --solve sigma")]),
    "rare large losses": (ALL_BUT_LOWER_ENDS, 1e-6, [
        slow(f"{EPOCHS} --sigma .03 --n 1000 --epochs 3 --delta 1e-3 --bound shuffled-iteration"),
        slow(f"{EPOCHS} --sigma .03 --n 1000 --index 900 --epochs 2 --epsilon 900")]),
    "selections": (ALL_BUT_LOWER_ENDS, 1e-6, [
        "rdp --mechanism exponential --step-epsilon .3 --epsilon .1",
        "rdp --mechanism exponential --step-epsilon .3 --delta 1e-3",
        "rdp --mechanism exponential --step-epsilon .3 --steps 30 --alpha 4",
        "rdp --mechanism exponential --step-epsilon 1 --steps 20 --delta 1e-6 --bound exponential-profile",
        "rdp --mechanism exponential --step-epsilon 1 --steps 20 --delta 1e-6",
        "subsample --mechanism exponential --step-epsilon 2 --sampling-rate .01 --steps 40 --delta 1e-6",
        "subsample --mechanism exponential --scheme without-replacement --step-epsilon 2 --sampling-rate .1 --steps 4 "
        "--alpha 3",
        "rdp --mechanism above-threshold --threshold-scale 20 --scale 30 --hits 3 --steps 5 --delta 1e-6",
        "rdp --mechanism above-threshold --threshold-scale 3 --scale 7 --queries monotone --delta 0",
        slow("rdp --mechanism shuffled-ldp --n 1000 --step-epsilon 1 --delta 1e-6"),
        slow("rdp --mechanism shuffled-ldp --n 1e7 --step-epsilon 3 --epsilon .003"),
        slow("rdp --mechanism shuffled-ldp --n 40 --step-epsilon 1 --steps 7 --epsilon 1"),
        "rdp --mechanism shuffled-ldp --n 40 --step-epsilon 1 --epsilon 1"]),  # δ = 0, from above and from below
    "lower bounds of selections": (HEAD, 1e-3, [
        "rdp --mechanism exponential --step-epsilon 1 --steps 20 --delta 1e-6 --bound exponential-lower",
        "rdp --mechanism shuffled-ldp --n 1000 --step-epsilon 1 --delta 1e-6 --bound shuffled-ldp-lower"]),
    "long sums": (ALL, 1e-6, [
        f"{LAPLACE} --n 1e6 --epsilon 1", f"{LAPLACE} --n 1e12 --epsilon 1", slow(f"{LAPLACE} --n inf --epsilon 1"),
        f"{LAPLACE} --n 3e5 --delta 1e-8", f"{LAPLACE} --n 900 --epsilon 1 --bound online-limit",
        slow(f"{GAUSSIAN} --index 999993 --n 1e6 --epsilon .1"), f"{GAUSSIAN} --index 295 --n 300 --epsilon .1",
        f"{GAUSSIAN} --index 1900 --n 2000 --strong-convexity .01 --delta 1e-5",
        slow(f"{GAUSSIAN} --index 100 --n 1e6 --delta 1e-5 --bound online-iteration"),
        f"{NOISY} --sigma 3 --n 1e9 --bound smooth-nonconvex-shuffled --alpha 3",
        f"{NOISY} --sigma 30 --n 1e12 --bound smooth-nonconvex-high-noise --alpha 3",
        f"{NOISY} --sigma 3 --n 1e12 --strong-convexity .3 --bound output-perturbation-shuffled --alpha 3",
        "shuffle-pnsgd --sigma 4 --lipschitz 1 --n 1e9 --tau .5 --bound without-replacement-conjecture --alpha 3",
        "convert --from dp --epsilon 1e-3 --delta 1e-10 --steps 1e6 --target-delta 1e-3",
        "convert --from dp --epsilon 1e-5 --delta 0 --steps 1e9 --target-delta 1e-9",
        "rdp --mechanism randomized-response --probability .501 --steps 1e6 --delta 1e-5"]),
    "whole orders": (HEAD, 1e-6, [
        slow(f"{WHOLE} --sampling-rate .01 --steps 1 --sigma 300 --alpha 50000"),
        slow(f"{WHOLE} --sampling-rate .01 --steps 1 --mechanism laplace --scale 3000 --alpha 100000"),
        slow(f"{WHOLE} --sampling-rate .3 --steps 1 --mechanism discrete-laplace --scale 25 --alpha 26000"),
        slow("subsample --scheme weighted --max-weight .0001 --mechanism laplace --scale 50 --steps 10 "
             "--delta 1e-20")]),
    "answers that are hard to prove anew": (ALL_BUT_LOWER_ENDS, 1e-6, [
        # the least h of the optimal conversion lies next to p = 1
        "burn-in --n 604065 --batch-size 488269 --steps 4 --lipschitz 8.25888 --smoothness 0.776055 "
        "--learning-rate 0.0818229 --diameter 11.3104 --sigma 1.53867e-05 --epsilon 0.0159637 --bound burn-in-rdp",
        # weights that a convolution drops, under a steep tilt
        "rdp --mechanism laplace --steps 5 --epsilon 0.863037 --delta 1.42507e-05 --solve scale"]),
    "1 − (1 − P(∞))^T of a P(∞) below the last bit of 1": (ALL_BUT_LOWER_ENDS, 0, [
        slow("subsample --scheme without-replacement --sampling-rate 0.3 --sigma 12 --steps 2 --epsilon 1.5 "
             "--bound wor-profile")]),
    "truncated and cyclic Poisson batches": (ALL, 0, [
        slow(f"{TRUNCATED} 280 --delta 1e-5"), slow(f"{SMALL} 22 --epsilon 2"), slow(f"{SMALL} 5 --delta 1e-8"),
        slow(f"{SMALL} 600 --delta 1e-5"), slow(f"{SMALL} 25 --epsilon 0"),
        f"{SMALL} 22 --delta 1e-5 --bound truncated-poisson-lower",
        slow("subsample --n 9 --sampling-rate 1 --max-batch-size 4 --noise-multiplier 3 --steps 2 --delta 1e-5"),
        "subsample --n 9 --sampling-rate 1 --max-batch-size 4 --noise-multiplier 3 --steps 1 --delta 1e-2",
        f"{OF_500} --steps 1 --noise-multiplier .8 --max-batch-size 22 --delta 1e-5",
        f"{OF_500} --scheme cyclic-poisson --bands 4 --steps 30 --noise-multiplier .8 --delta 1e-5",
        slow(f"{OF_500} --steps 30 --max-batch-size 22 --epsilon 2 --delta 1e-5 --solve noise-multiplier"),
        slow(f"tv {SMALL.partition(' ')[2]} 22")]),
    "random allocation": (ALL, 0.01, [
        slow(f"{ALLOCATION} 1 --steps-per-epoch 30 --epochs 1 --delta 1e-6"),
        slow(f"{ALLOCATION} 0.5 --steps-per-epoch 20 --epochs 3 --delta 1e-5"),
        slow(f"{ALLOCATION} 2 --steps-per-epoch 17 --epochs 4 --participations 3 --delta 1e-6"),
        f"{ALLOCATION} 1 --steps-per-epoch 1 --epochs 1 --delta 1e-6"]),
    "δ of random allocation": (ALL, 0.2, [slow(f"{ALLOCATION} 0.8 --steps-per-epoch 25 --epochs 2 --epsilon 2")]),
    "shuffled batches": (HEAD, 0.02, [  # test_shuffled_records.py has quick ones
        slow(f"{FEW} --bound shuffle-profile"),
        slow(f"{SHUFFLE} --n 1030 --batch-size 50 --drop-last --steps 45 --noise-multiplier 1.5 --delta 1e-5 "
             "--bound shuffle-profile"),
        slow(f"{SHUFFLE} --n 65 --batch-size 10 --drop-last --epochs 2 --sigma 3 --delta 1e-3 --adjacency replace-one "
             "--bound shuffle-profile"),
        slow(f"{SHUFFLE} --n 120 --batch-size 50 --epochs 2 --noise-multiplier 3 --delta 1e-3 --bound "
             "shuffle-profile-used"),
        slow(f"{SHUFFLE} --n 430 --batch-size 100 --epochs 2 --sigma 3 --delta 1e-5 --adjacency replace-one --bound "
             "shuffle-profile-used"),
        slow(f"{SHUFFLE} --n 450 --batch-size 100 --epochs 2 --noise-multiplier 1.5 --delta 1e-5 --bound "
             "shuffle-lower")]),
    "δ of shuffled batches": (HEAD, 0.2, [
        slow(f"{SHUFFLE} --n 1030 --batch-size 50 --steps 25 --noise-multiplier 1.5 --epsilon 2 --bound "
             "shuffle-profile-used")]),
    "every number about shuffled batches": (ALL, 0, [
        slow(f"{RUN} --epochs 15 --noise-multiplier 1.1 --delta 1e-5 --adjacency zero-out"),
        slow(f"{RUN} --epochs 15 --noise-multiplier 1.1 --delta 1e-5 --drop-last"),
        slow(f"{RUN} --epochs 2 --noise-multiplier 2 --epsilon 1 --drop-last"),
        slow(f"{FEW} --reshuffle once --bound shuffle-profile-one-order"),
        slow(f"{RUN} --epochs 3 --noise-multiplier 2 --drop-last --delta 1e-5 --adjacency replace-one"),
        f"{RUN} --epochs 3 --noise-multiplier 2 --alpha 6",
        slow(f"{RUN} --epochs 3 --epsilon 2 --delta 1e-5 --drop-last --solve noise-multiplier"),
        slow(f"{SHUFFLE} --n 15 --batch-size 10 --epochs 3 --noise-multiplier 2 --delta 1e-5")]),
}
CASES = few_of_each(lambda case: (case[0], re.findall(r"mechanism \S+|bound \S+|$", case[1])[0]), [
    slow(what, *line.values) if hasattr(line, "values") else (what, line)
    for what, (_, _, lines) in LAW.items() for line in lines])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what, line", CASES)
def test_numbers_are_proven_and_a_better_headline_is_refuted(what, line):
    proven, share, _ = LAW[what]
    check(line, share, proven)

"""Processor time and peak memory of whole commands: what typical questions cost, what `compare` costs beside its
dearest row, and what `verify` costs beside the answer.

    python times.py
"""

import json
import tempfile
from pathlib import Path

from meter import dpcalc, output

GEOMETRY = "--lipschitz 1 --smoothness 1 --learning-rate .05 --diameter 2"
QUESTIONS = (
    "rdp --sigma 1 --delta 1e-5",
    "rdp --epsilon 1 --delta 1e-5 --solve sigma",
    "subsample --n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5",
    "subsample --n 60000 --batch-size 256 --epochs 15 --epsilon 2 --delta 1e-5 --solve noise-multiplier",
    "subsample --sampling-rate .01 --sigma 1 --steps 1e9 --delta 1e-6",
    "subsample --sampling-rate 1e-6 --steps 1e6 --delta 1e-9 --epsilon .5 --solve sigma",
    "subsample --scheme random-allocation --n 60000 --batch-size 250 --epochs 15 --noise-multiplier 1.1 --delta 1e-5",
    "subsample --scheme shuffle --n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5",
    "tv --sampling-rate 1e-5 --sigma 1 --steps 1000 --fpr .1",
    "tv --sampling-rate 1e-5 --sigma 1 --steps 1000 --fpr .001,.01,.1",
    f"burn-in --n 60000 --batch-size 128 --steps 1e6 {GEOMETRY} --sigma .1 --delta 1e-5",
    f"burn-in --n 60000 --batch-size 128 --steps 1e7 {GEOMETRY} --epsilon 2 --delta 1e-5 --solve sigma",
    f"burn-in --n 60000 --batch-size 1 --steps 1e6 {GEOMETRY} --epsilon 1 --delta 1e-5 --solve sigma",
    "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .01 --diameter 2 --n 1e6 --epochs 20 --sigma 4 "
    "--delta 1e-5",
)
RUNS = (  # `compare` answers for these, and each of its rows by a command that it names
    "--n 60000 --batches poisson --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5",
    "--n 60000 --batches shuffled --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5",
    "--n 1e9 --batches poisson --batch-size 256 --epochs 2 --noise-multiplier .3877 --delta 1e-10",
)
VERIFIED = (
    "rdp --sigma 1 --delta 1e-5",
    "subsample --sampling-rate .01 --sigma 1 --steps 10000 --delta 1e-6",
    "subsample --n 60000 --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5",
    "subsample --sampling-rate .01 --steps 10000 --delta 1e-6 --epsilon 2 --solve sigma",
    "subsample --sampling-rate 1e-4 --sigma .5 --steps 1e6 --delta 1e-6",
    "subsample --scheme without-replacement --sampling-rate .01 --sigma 2 --steps 1000 --delta 1e-5",
    "subsample --scheme random-allocation --n 60000 --batch-size 250 --epochs 15 --noise-multiplier 1.1 --delta 1e-5",
    f"burn-in --n 60000 --batch-size 128 --steps 1e6 {GEOMETRY} --sigma .1 --delta 1e-5",
    "compare --n 60000 --batches poisson --batch-size 256 --epochs 15 --noise-multiplier 1.1 --delta 1e-5",
)


def questions():
    print("seconds   MB")
    for line in QUESTIONS:
        found = dpcalc(line)
        print(f"{found.seconds:7.2f} {found.megabytes:4.0f}   dpcalc {line}", flush=True)


def comparisons():
    print("\nseconds   MB   × dearest row")
    for run in RUNS:
        rows = {row["command"] for row in json.loads(output(f"compare {run} --json"))["bounds"] if row.get("command")}
        dearest = max(dpcalc(row.removeprefix("dpcalc ")).seconds for row in rows)
        whole = dpcalc(f"compare {run}")
        print(f"{whole.seconds:7.2f} {whole.megabytes:4.0f}   {whole.seconds / dearest:13.1f}   dpcalc compare {run}",
              flush=True)


def verifications():
    print("\nanswer  verify  ratio   MB")
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.json"
        for line in VERIFIED:
            record.write_text(output(f"{line} --json"))
            answer, proof = dpcalc(f"{line} --json"), dpcalc(f"verify {record}")
            print(f"{answer.seconds:6.2f} {proof.seconds:7.2f} {proof.seconds / answer.seconds:6.1f} "
                  f"{proof.megabytes:4.0f}   dpcalc {line}", flush=True)


if __name__ == "__main__":
    questions()
    comparisons()
    verifications()

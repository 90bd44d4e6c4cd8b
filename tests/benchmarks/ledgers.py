"""Processor time and peak memory of ledgers: how both grow with the number of releases, and what running totals cost
beside the total alone (`-q`).

    python ledgers.py
"""

import json
import tempfile
from pathlib import Path

from meter import dpcalc

CASES = {  # a release for every number k; no two are equal
    "Gaussian count": ((500, 1000), lambda k: {"command": "rdp", "sigma": 20 + k / 10}),
    "Laplace count": ((50, 100), lambda k: {"command": "rdp", "mechanism": "laplace", "scale": 20 + k / 10}),
    "phase of DP-SGD": (
        (50, 100, 200),
        lambda k: {
            "command": "subsample",
            "n": 50_000 + 1000 * k,
            "batch-size": 256 + 16 * (k % 7),
            "steps": 500 + 37 * (k % 50),
            "noise-multiplier": 1 + k / 100,
        },
    ),
}


if __name__ == "__main__":
    print("seconds   MB  × one release  × half as many    × -q")
    for name, (counts, release) in CASES.items():
        before = {}
        for number in (1, *counts):
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "ledger.json"
                file.write_text(json.dumps({"delta": 1e-5, "release": [release(k) for k in range(number)]}))
                found, total = dpcalc(f"ledger {file} --json"), dpcalc(f"ledger {file} -q")
            before[number] = found.seconds
            growth = found.seconds / before[number // 2] if number // 2 in before and number > 1 else float("nan")
            print(
                f"{found.seconds:7.2f} {found.megabytes:4.0f} {found.seconds / before[1]:14.1f} {growth:15.1f} "
                f"{found.seconds / total.seconds:7.1f}   {number} × {name}",
                flush=True,
            )

"""Questions per second of batches and sweeps on one core, with their peak memory.

    python batch.py [LINES]

Every line asks another question, so that nothing is answered from memory. Rates are per second of processor time, the
start-up of a batch without lines left out. The bar of a case is its required rate on a machine where REFERENCE
answers 7,000 lines a second; it is printed for the machine at hand.
"""

import json
import sys

from meter import dpcalc

REFERENCE = "rdp --delta 1e-5 --bound gaussian-exact"
REFERENCE_RATE = 7000  # lines a second, to which the bars belong
SAMPLED = "subsample --sampling-rate .01 --steps 1000"
CASES = [  # (arguments, the key that runs from 1 to 2 times its first value, that value, share of LINES, bar)
    (REFERENCE, "sigma", 1.0, 1, None),
    ("rdp --alpha 8", "sigma", 1.0, 1, None),
    ("rdp --epsilon 1 --bound gaussian-exact", "sigma", 1.0, 1, None),
    ("rdp --mechanism laplace --delta 1e-5 --bound laplace-exact", "scale", 1.0, 1, None),
    ("convert --from rdp --alpha 8 --delta 1e-5 --bound rdp-improved", "rdp", 0.5, 1, None),
    ("convert --from gdp --delta 1e-5 --bound gdp-exact", "mu", 0.5, 1, None),
    ("rdp --delta 1e-5", "sigma", 1.0, 1, 6000),
    ("rdp --delta 1e-5 --solve sigma", "epsilon", 1.0, 1, 1500),
    (f"{SAMPLED} --delta 1e-5 --bound poisson-rdp", "sigma", 1.0, 0.25, 600),
    (f"{SAMPLED} --delta 1e-5 --bound poisson-profile", "sigma", 1.0, 0.1, 60),
    (f"{SAMPLED} --delta 1e-5", "sigma", 1.0, 0.1, None),
]
POINTS = 10_000  # of a sweep
SWEEP = f"rdp --delta 1e-5 --sigma 1:100:{POINTS}"
FORMATS = ("--format jsonl", "--format csv", "--json", "-q", "")


def rate(arguments, key, first, lines, start):
    """(lines a second of processor time, peak memory in MB)"""
    text = "".join(json.dumps({key: first * (1 + k / lines)}) + "\n" for k in range(lines))
    found = dpcalc(f"{arguments} --batch", text)
    return lines / (found.seconds - start), found.megabytes


if __name__ == "__main__":
    lines = int(float(sys.argv[1])) if len(sys.argv) > 1 else 2000
    start = min(dpcalc("rdp --batch", "").seconds for _ in range(5))
    speed = 1.0  # of this machine, relative to the one of the bars
    print("lines/s    bar    MB")
    for arguments, key, first, share, bar in CASES:
        found, megabytes = rate(arguments, key, first, max(10, int(lines * share)), start)
        speed = found / REFERENCE_RATE if arguments == REFERENCE else speed
        print(f"{found:7.0f} {bar * speed if bar else 0:6.0f} {megabytes:5.0f}   dpcalc {arguments} --batch", flush=True)
    print("\nseconds   MB")
    for form in FORMATS:
        found = dpcalc(f"{SWEEP} {form}")
        print(f"{found.seconds:7.2f} {found.megabytes:4.0f}   dpcalc {SWEEP} {form}", flush=True)

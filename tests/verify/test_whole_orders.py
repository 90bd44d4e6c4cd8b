"""The sums of wor-rdp at whole orders up to 100,000 are verified, and no better number is."""

import pytest
from conftest import slow
from verifying import ask, better, refuted, texts

from dpcalc.bounds.curve import of_bound
from dpcalc.bounds.mechanisms import gaussian
from dpcalc.bounds.sampling import wor_rdp
from dpcalc.core.errors import OutOfScope
from dpcalc.verify.report import verify

SAMPLED = "subsample --scheme without-replacement --bound wor-rdp"
LINES = [
    slow(f"{SAMPLED} --sampling-rate .01 --steps 1 --sigma 300 --alpha 50000"),
    slow(f"{SAMPLED} --sampling-rate .01 --steps 1 --mechanism laplace --scale 3000 --alpha 100000"),
    f"{SAMPLED} --sampling-rate .3 --steps 1 --mechanism discrete-laplace --scale 25 --alpha 26000",
    slow("subsample --scheme weighted --max-weight .0001 --mechanism laplace --scale 50 --steps 10 --delta 1e-20"),
]


@pytest.mark.parametrize("line", LINES)
def test_large_orders_are_verified_and_no_better_number(line):
    record = ask(line)
    verdict = verify(record)
    assert verdict.holds and all(f.verdict == "verified" for f in verdict.head), texts(verdict)
    assert refuted(better(record))


def test_orders_beyond_the_largest_are_refused():
    with pytest.raises(OutOfScope):
        wor_rdp.value(100_001, 0.1, of_bound(gaussian.RDP, sigma=30.0, sensitivity=1.0))

"""The sums of wor-rdp at whole orders: the block bounds hold the sum term by term, and orders up to 100,000 are checked."""

import pytest
from verifying import ask, better, refuted, texts

from dpcalc.bounds.curve import of
from dpcalc.bounds.mechanisms import gaussian_rdp, laplace_rdp, randomized_response_rdp
from dpcalc.bounds.sampling import wor_rdp
from dpcalc.core.errors import OutOfScope
from dpcalc.verify.arb.context import Context, enclosure
from dpcalc.verify.report import verify
from dpcalc.verify.whole_orders import sampled

SAMPLED = "subsample --scheme without-replacement --bound wor-rdp"
LINES = [
    f"{SAMPLED} --sampling-rate .01 --sigma 300 --alpha 50000",
    f"{SAMPLED} --sampling-rate .01 --mechanism laplace --scale 3000 --alpha 100000",
    f"{SAMPLED} --sampling-rate .3 --mechanism randomized-response --probability .51 --alpha 26000",
    "subsample --scheme weighted --max-weight .0001 --mechanism laplace --scale 50 --steps 10 --delta 1e-20",
]
CURVES = [
    of(gaussian_rdp.BOUND, sigma=30.0, sensitivity=1.0), of(gaussian_rdp.BOUND, sigma=3.0, sensitivity=1.0),
    of(laplace_rdp.BOUND, pure=0.5, scale=2.0, sensitivity=1.0), of(laplace_rdp.BOUND, pure=2.0, scale=0.5, sensitivity=1.0),
    of(randomized_response_rdp.BOUND, pure=0.04000533461369913, probability=0.51),
]


@pytest.mark.parametrize("line", LINES)
def test_large_orders_are_verified_and_no_better_number(line):
    record = ask(line)
    verdict = verify(record)
    assert verdict.holds and all(f.verdict == "verified" for f in verdict.head), texts(verdict)
    assert refuted(better(record))


@pytest.mark.parametrize("curve", range(len(CURVES)))
@pytest.mark.parametrize("alpha, rate", [(130, 0.3), (700, 0.003), (1500, 0.02)])
def test_blocks_hold_the_sum(curve, alpha, rate):
    c, base = Context(256), CURVES[curve]
    whole, blocks = (enclosure(c, lambda f=f: f(c, alpha, rate, base)).x for f in (wor_rdp.exact, sampled))
    assert whole.overlaps(blocks) and blocks.rad() < 1e-15 * blocks.mid()
    assert blocks.lower() <= wor_rdp.value(alpha, rate, base) * (1 + 1e-15)


def test_a_longer_sum_of_a_list_is_left_open():
    from dpcalc.verify.unchecked import Unchecked

    listed = CURVES[0]._replace(orders=(2.0, 3.0))
    with pytest.raises(Unchecked, match="26000 terms"):
        sampled(Context(128), 26000, 0.1, listed)
    with pytest.raises(OutOfScope):
        wor_rdp.value(100_001, 0.1, CURVES[0])

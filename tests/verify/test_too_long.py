"""What takes minutes is left open, and said so, instead of being waited for."""

import pytest

from dpcalc.verify.convolution import Sum, TooLong, times


def test_a_product_of_millions_of_points():
    half = Sum(0, [1] * 1_300_000, 0.0, 70)
    with pytest.raises(TooLong, match="2600000 points"):
        times(half, half, 2)
    assert times(half._replace(weights=[1 << 70]), half._replace(weights=[1 << 70]), 2).weights == [1 << 70]

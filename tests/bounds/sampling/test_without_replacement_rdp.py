"""RDP of batches without replacement: sums at large orders, searches of the best order, composed batches."""

from math import expm1, log1p

import mpmath
import pytest
from answers import answer
from conftest import slow, spread

from dpcalc.bounds import all_bounds
from dpcalc.bounds.curve import of_bound

mp = mpmath.mp.clone()
mp.dps = 60


@pytest.mark.slow
def test_the_best_whole_order_may_be_large(ask):
    got = ask("subsample", "--scheme", "without-replacement", "--sampling-rate", "1e-4", "--steps", "1", "--sigma", "2000", "--delta",
              "1e-9", "--bound", "rdp-improved")
    assert got["bounds"][0]["witness"]["alpha"] > 1500


def test_order_100000_is_within_the_accuracy_of_its_sum():
    """Tiny rates, against sums at high precision."""
    got = answer("subsample --scheme without-replacement --sampling-rate 1e-100 --steps 1 --sigma 14.735843288245796 "
                 "--alpha 100000 --bound wor-rdp")
    assert 6.21688021903576e-06 <= got["result"]["rdp"] <= 6.21688021903576e-06 * (1 + 2e-7)
    got = answer("subsample --scheme without-replacement --sampling-rate 1e-5 --steps 1 --sigma 65.90076337655995 --alpha 100000 "
                 "--bound wor-rdp")
    assert 6.46505526428371e-6 <= got["result"]["rdp"] <= 6.46505526428371e-6 * (1 + 1e-8)


@pytest.mark.parametrize("order", [7, 900, 1001, 20_000, 99_999])
@pytest.mark.parametrize("rate", [1e-4, 0.05, 0.3])
def test_the_rough_value_that_chooses_an_order_is_near_the_bound(order, rate):
    bounds = all_bounds()
    base = of_bound(bounds["laplace-rdp"], pure=2.0, scale=0.5, sensitivity=1.0)
    for name in ("wor-rdp", "weighted-rdp"):
        assert bounds[name].coarse(order, rate, base) == pytest.approx(bounds[name].value(order, rate, base), rel=1e-3)


def test_weights_are_those_of_single_records():
    """Where one of 100 batches that were formed beforehand is drawn, outputs may show which one: then D_2 is
    log(1 − c + c·e^ε(2)) with c = 1/100, 25 times the bound for steps that draw one record each."""
    bounds = all_bounds()
    base = of_bound(bounds["gaussian-rdp"], sigma=2.0, sensitivity=1.0)
    assert log1p(0.01 * expm1(base.rdp(2.0))) == pytest.approx(25 * bounds["weighted-rdp"].value(2.0, 0.01, base), rel=0.01)


@spread("rate, epsilon",
        [(0.05, 0.6285316388697870), (0.5, 3.0927703993683013), (0.7, 3.640141473287087),
                          (1.0, 4.0)])
def test_whole_orders_of_a_pure_mechanism(rate, epsilon):
    """The search over whole orders up to 1e5 finds one that is as good as the best."""
    found = answer("subsample --scheme without-replacement --mechanism laplace --scale 0.5 --delta 1e-5 "
                   f"--bound wor-rdp --sampling-rate {rate} --steps 2")
    assert found["result"]["epsilon"] == pytest.approx(epsilon, rel=1e-5)


@pytest.mark.parametrize("q, sigma, alpha", [slow(0.02, 0.08, 1.0001), slow(0.02, 0.1, 1.02), slow(0.02, 0.14, 1.3),
                                             (1e-6, 1.0, 2.0)])
def test_the_divergence_of_a_composed_batch_is_that_of_its_integral(q, sigma, alpha):
    """∫ of e^{αℓ} − 1 − α(e^ℓ − 1) under Q, whose negative losses have the masses of the positive ones under P."""
    a, mu = mp.mpf(alpha), 1 / mp.mpf(sigma)

    def at(t):
        loss = mp.log1p(mp.mpf(q) * mp.expm1(mu * t - mu * mu / 2))
        gains = [mp.expm1(a * x) - a * mp.expm1(x) for x in (loss, -loss)]
        return mp.npdf(t) * (gains[0] + mp.exp(loss) * gains[1])

    with mp.workdps(30):
        peaks = [mu / 2, *(x for m in (mu, a * mu) for x in (m - 8, m, m + 8) if x > mu / 2), a * mu + 25]
        exact = mp.log1p(mp.quad(at, sorted(set(peaks)))) / (a - 1)
    got = answer(f"subsample --scheme without-replacement --sampling-rate {q} --steps 1 --sigma {sigma} --alpha {alpha} "
                 "--bound wor-profile")["result"]["rdp"]
    assert exact <= got <= exact * (1 + 1e-5)


@pytest.mark.slow
def test_losses_beyond_the_exponents_of_doubles_have_a_divergence():
    """Losses above 709 have no e^ℓ in doubles."""
    line = "subsample --scheme without-replacement --sampling-rate .02 --steps 1 --alpha 1.02"
    sigma = answer(f"{line} --rdp 66 --solve sigma")["result"]["sigma"]
    met, missed = (answer(f"{line} --sigma {x!r}")["result"]["rdp"] for x in (sigma, sigma * 0.999))
    assert met <= 66 < missed

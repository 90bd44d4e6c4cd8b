"""One Poisson step in both directions from its definition, and what no amount of noise exceeds."""

from math import inf

import mpmath
import pytest
from answers import answer
from calling import call

from dpcalc.accounting.orders import own_params
from dpcalc.bounds import all_bounds
from dpcalc.bounds.sampling import poisson_profile
from dpcalc.commands import subsample_run

mp = mpmath.mp.clone()
mp.dps = 60
BOUNDS = all_bounds()


def bisected(rising):
    low, high = mp.mpf(-60), mp.mpf(60)
    for _ in range(90):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return high


@pytest.mark.slow
@pytest.mark.parametrize("sigma, rate, epsilon", [(1.0, 0.2, 0.05), (0.5, 0.01, 1.0), (2.0, 0.7, 0.3), (0.7, 1.0, 2.0),
                                                  (1.0, 0.2, 0.5)])
def test_either_direction_of_a_sampled_step_by_definition(sigma, rate, epsilon):
    """∫(mix − e^ε N)₊ and ∫(N − e^ε mix)₊; the second one also as printed, 1 − γ + γ·E_{1/γ}(mix‖N)."""
    q, apart, gamma = mp.mpf(rate), 1 / mp.mpf(sigma), mp.exp(mp.mpf(epsilon))

    def density(x):
        return mp.npdf(x), (1 - q) * mp.npdf(x) + q * mp.npdf(x - apart)

    def quadrature(excess):
        cut = [bisected(lambda x, at=at: density(x)[1] / density(x)[0] - at) for at in (gamma, 1 / gamma)]
        ends = sorted({mp.mpf(-14), *cut, mp.mpf(0), apart, apart + 14})
        return mp.quad(lambda x: max(excess(*density(x)), 0), [x for x in ends if -14 <= x <= apart + 14])

    own = own_params(poisson_profile.BOUND, subsample_run.bound_params({"scheme": "poisson", "sampling_rate": rate,
                                                              "mechanism": "gaussian",
                                                             "sigma": sigma, "sensitivity": 1.0, "steps": 1}))
    by_definition = {+1: quadrature(lambda n, mix: mix - gamma * n), -1: quadrature(lambda n, mix: n - gamma * mix)}
    above = quadrature(lambda n, mix: mix - n / gamma)
    assert abs(1 - gamma + gamma * above - by_definition[-1]) < mp.mpf(10) ** -25
    for side, delta in by_definition.items():
        exact = poisson_profile.sided_exact(mp, epsilon, side, **own)
        assert abs(exact - delta) < mp.mpf(10) ** -25
        stated = poisson_profile.sided(epsilon, side, **own)
        assert stated == -inf if exact == 0 else 0 <= stated - mp.log(exact) < mp.mpf(10) ** -9


@pytest.mark.parametrize("scheme, most", [("poisson", 1 - 0.99**2), ("without-replacement", 1 - 0.99**2)])
def test_delta_is_at_most_the_probability_that_the_record_is_in_a_batch(scheme, most):
    """1 − (1 − q)^T, however little noise there is: ε is 0 at any δ above it."""
    line = f"subsample --scheme {scheme} --sampling-rate .01 --steps 2"
    for sigma in (1e-9, 1e-3, 0.1):
        assert answer(f"{line} --sigma {sigma} --delta .03")["result"]["epsilon"] == 0
        assert answer(f"{line} --sigma {sigma} --epsilon 1")["result"]["delta"] <= most * (1 + 1e-9)
    code, _, err = call(f"{line} --epsilon .1 --delta .03 --solve sigma".split())
    assert code == 3 and "every sigma from" in err
    for question in ("--delta .03", "--epsilon 1"):
        code, out, _ = call(f"{line} --sigma .001 {question} "
                            f"--bound {'wor' if 'without' in scheme else scheme}-profile --json".split())
        checked = call(["verify", "-"], stdin=out)
        assert code == checked.returncode == 0 and "verified" in checked.stdout and "unchecked" not in checked.stdout


def test_an_amplified_epsilon_is_never_rounded_to_0():
    assert BOUNDS["amplification"].value(1e3, 0.1, 5e-324)["epsilon"] > 0

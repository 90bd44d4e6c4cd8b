"""The step size: rounding where a step contracts to a point, and messages about steps too large to contract."""

import json

import mpmath
import pytest
from answers import answer, refusal
from calling import call

from dpcalc.bounds import all_bounds
from dpcalc.bounds.pnsgd._engine.step import log_factor, squared_contraction

RUN = "shuffle-pnsgd --smoothness .5 --lipschitz 1 --n 100"
BOUNDS = all_bounds()
mp = mpmath.mp.clone()
mp.dps = 60
CONVEX = "shuffle-pnsgd --lipschitz 1 --diameter 1 --learning-rate .1 --smoothness 1 --alpha 8"


@pytest.mark.parametrize("rest", ["--sigma 2 --alpha 4", "--sigma 2 --epsilon 1", "--sigma 2 --delta .02 --diameter 1",
                                  "--sigma 9 --delta 1e-3 --index 3",
                                  "--sigma 2 --epsilon 1 --diameter 1 --bound shuffled-iteration"])
def test_the_message_points_to_the_bound_that_holds(rest, cli):
    line = f"{RUN} {rest} --learning-rate 5".split()
    done = cli(*line)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "5 > 2/(β+ρ) = 4" in done.stderr and done.stderr.rstrip().endswith("; --bound smooth-nonconvex holds for "
                                                                              "every η")
    line = [w for w in line if w not in ("--bound", "shuffled-iteration")]
    assert cli(*line, "--bound", "smooth-nonconvex").returncode == 0


@pytest.mark.parametrize("line", [f"{RUN} --noise laplace --scale 2 --diameter 1 --epsilon 1 --learning-rate 5",
                                  f"{RUN} --sigma 2 --epsilon 1 --learning-rate .5 --strong-convexity 2"])
def test_where_none_holds_or_another_option_is_at_fault_it_points_nowhere(line, cli):
    done = cli(*line.split())
    assert done.returncode == 2 and "smooth-nonconvex" not in done.stderr


@pytest.mark.parametrize("beta", [1.43, 7.661, 5.005])  # η = 1/β is rounded up: 1 − ηβ < 0
def test_a_rate_whose_product_with_beta_is_rounded_up_contracts_by_its_exact_remainder(beta):
    """1 − ηβ is below 0 by less than the rounding of 1, and not 0."""
    eta = 1 / beta
    c = 1 - mp.mpf(eta) * mp.mpf(beta)
    assert -1e-16 < c < 0
    assert 1 <= mp.exp(log_factor(eta, beta)) / -c < 1 + 1e-12
    assert 1 <= squared_contraction(eta, beta, beta) / c**2 < 1 + 1e-12
    step = {"level": 1e-17, "lipschitz": 1.0, "learning_rate": eta, "smoothness": beta, "strong_convexity": beta,
            "n": 2, "index": 1}
    assert BOUNDS["fixed-order-iteration"].value(0.5, **step) > mp.log(0.1)
    assert BOUNDS["fixed-order-hybrid"].value(0.5, diameter=2.0, **step) > mp.log(0.1)


@pytest.mark.filterwarnings("ignore:.*publishing one random record")
def test_the_largest_step_size_may_be_a_rounded_number():
    """2/.3 as a double is above 2/.3."""
    line = "shuffle-pnsgd --lipschitz 1 --smoothness .3 --diameter 1 --n 100 --sigma 1 --epsilon 1 --learning-rate"
    assert 0 < answer(f"{line} {2 / 0.3!r}")["result"]["delta"] < 1
    assert "2/(β+ρ)" in refusal(f"{line} {2 / 0.3 * (1 + 1e-15)!r}", 2)


def test_bounds_of_convex_losses_hold_up_to_their_step_size_and_the_others_beyond():
    """Beyond 2/(β+ρ) a step may spread: the bound without convexity remains."""
    line = f"{CONVEX.replace('--learning-rate .1', '--learning-rate 2.1')} --sigma 2 --n 100".split()
    done = call([*line, "--bound", "shuffled-iteration-rdp"])
    assert done.returncode == 2 and "--learning-rate: 2.1 > 2/(β+ρ) = 2" in done.stderr
    assert json.loads(call([*line, "--bound", "smooth-nonconvex",
                            "--json"]).stdout)["bound"] == "smooth-nonconvex-shuffled"


@pytest.mark.parametrize("rate, rho, most", [(3.5, 0.1, "3.33333"), (5, 0, "4"), (5, 0.5, "2")])
def test_a_noise_schedule_needs_steps_that_contract(rate, rho, most):
    line = (f"online-noise --diameter 1 --smoothness .5 --strong-convexity {rho} --learning-rate {rate} --decay 1.5 "
            "--c1 100 --c2 100 --schedule 1:2")
    code, out, err = call(line.split())
    assert code == 2 and not out and f"{rate} > 2/(β+ρ) = {most}" in err

"""Sums over endless streams: what lies far away is added up by arrays, as one by one; and roughly for searches."""

import numpy as np
import pytest
from last_iterate_lines import answer

from dpcalc.bounds.online import online_contraction, online_limit, sums, sums_many
from dpcalc.bounds.online.levels import Schedule
from dpcalc.bounds.online.shift import reaches
from dpcalc.bounds.pnsgd.laws import GAUSSIAN
from dpcalc.bounds.pnsgd.step import log_b
from dpcalc.numerics import lambert

RUN = {"lipschitz": 0.1, "diameter": 10.0, "learning_rate": 0.1, "smoothness": 0.5, "strong_convexity": 0.0}


def schedule(c1, c2, decay):
    return Schedule("gaussian", RUN["diameter"] / 2 / RUN["learning_rate"], c1, c2, decay, (10.0, 0.1, 0.5, 0.0))


@pytest.mark.parametrize("c1, c2", [(3.0, 1.0), (1e-3, 400.0), (1e6, 0.5)])
@pytest.mark.parametrize("epsilon", (0.0, 0.3, 20.0))
def test_losses(c1, c2, epsilon):
    """Not above those one by one, and near them."""
    levels = schedule(c1, c2, 1.05)
    reach = reaches(levels, RUN["diameter"], RUN["learning_rate"], RUN["smoothness"], RUN["strong_convexity"])
    t = np.geomspace(1e7, 1e290, 300)
    found = sums_many.losses(epsilon, levels, 100.0, t)
    one_by_one = np.array([-log_b(GAUSSIAN, epsilon, reach(float(x))) for x in t])
    assert (found <= one_by_one * (1 + 1e-12)).all()
    seen = one_by_one > 1e-300
    assert found[seen] == pytest.approx(one_by_one[seen], rel=2e-9)


def test_lambert():
    t = np.linspace(1, 1500, 400)
    assert sums_many.lambert_w_log(t) == pytest.approx([lambert.lambert_w_log(x) for x in t.tolist()], rel=1e-14)
    assert (sums_many.lambert_w_log(np.array([-5.0, 0.0])) >= lambert.lambert_w(1.0)).all()


@pytest.mark.parametrize("decay", (1.001, 1.05, 1.3))
@pytest.mark.parametrize("last", (np.inf, 1e14))
def test_sums(decay, last):
    levels = schedule(3.0, 1.0, decay)
    reach = reaches(levels, RUN["diameter"], RUN["learning_rate"], RUN["smoothness"], RUN["strong_convexity"])

    def loss(t):
        return -log_b(GAUSSIAN, 0.5, reach(t))

    power = 2 * decay + 2
    slow = sums.lower_sum(loss, 9, last, power)
    fast = sums.lower_sum(loss, 9, last, power, many=online_contraction.far_away(0.5, levels, 100.0))
    rough = sums.lower_sum(loss, 9, last, power, rough=True)
    assert fast <= slow * (1 + 1e-11) and fast == pytest.approx(slow, rel=1e-9) and rough == pytest.approx(slow, rel=1e-3)
    beside = sums.lower_sum(loss, 9, last, power, beside=1e6 * slow)
    assert slow * (1 - 1e-4) <= beside <= slow


def test_it_is_by_arrays_only_far_away(monkeypatch):
    """Numbers one by one, of an endless stream whose noise hardly falls."""
    asked = [0]

    def counted(*args):
        asked[0] += 1
        return log_b(*args)

    monkeypatch.setattr(online_limit, "log_b", counted)
    online_limit.value(0.5, GAUSSIAN, schedule(3.0, 1.0, 1.05), index=8, **RUN)
    assert asked[0] <= 1300  # 13,368 without
    assert online_contraction.far_away(0.5, schedule(3.0, 1.0, 1.05)._replace(noise="laplace"), 100.0) is None


def test_a_search_for_a_limit():
    run = "online-noise --lipschitz 5 --smoothness .1 --diameter .5 --learning-rate .3 --c2 4.97 --decay 1.05 --n inf --index 613240 --delta 1e-26"
    got = answer(f"{run} --epsilon .1 --solve c1")[0]["result"]
    assert 2.5 < got["c1"] < 3 and got["delta_limit"] == pytest.approx(1e-26, rel=1e-5)
    fed = answer(f"{run} --c1 {got['c1']!r}")[0]["result"]
    assert 0.1 * (1 - 1e-6) < fed["epsilon"] <= 0.1


def test_sums_beyond_what_a_square_can_hold():
    """Panels above 1e154: a warning of overflow on standard error."""
    found = sums_many.integral(lambda t: np.full_like(t, 1e160), 1.0, 1e20, 1.5, 1.0, 0.0, 0.0, 1e-12)
    assert found == pytest.approx(1e180, rel=1e-12)

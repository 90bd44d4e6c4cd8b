"""ε over epochs next to where the losses of Laplace noise end: the tilt from δ leads far beyond, and is not where ε is
looked for."""

from itertools import pairwise

import pytest

from dpcalc import answer, solve

pytestmark = pytest.mark.filterwarnings("ignore:.*publishing one random record")  # δ is above 1/n

_RUN = {"noise": "laplace", "lipschitz": 0.201339, "smoothness": 8.24257, "learning_rate": 0.0355151,
        "diameter": 0.205509, "n": 1390277578,
        "epochs": 235, "strong_convexity": 1.52663, "dimension": 1, "index": 424325888}
_DELTA = 2.72193e-09


def test_epsilon_falls_with_the_noise() -> None:
    found = [answer("shuffle-pnsgd", delta=_DELTA, scale=scale, **_RUN).value
             for scale in (0.1444, 0.14445, 0.1445, 0.14455)]
    assert all(more > less for more, less in pairwise(found))


def test_epsilon_is_where_its_delta_is() -> None:
    epsilon = answer("shuffle-pnsgd", delta=_DELTA, scale=0.1445, **_RUN).value
    assert answer("shuffle-pnsgd", epsilon=epsilon, scale=0.1445, **_RUN).value == pytest.approx(_DELTA, rel=0.03)


def test_the_solution_is_next_to_the_budget() -> None:
    found = solve("shuffle-pnsgd", "scale", epsilon=10.5858, delta=_DELTA, **_RUN).value
    assert 10.5858 * 0.995 < answer("shuffle-pnsgd", delta=_DELTA, scale=found, **_RUN).value <= 10.5858

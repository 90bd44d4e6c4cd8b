"""Where one rare loss decides, the grid that is composed is neither so coarse that it shows nor so fine that its
transforms' rounding does."""

import pytest

from dpcalc import answer

pytestmark = pytest.mark.filterwarnings("ignore:.*publishing one random record")  # δ is above 1/n


def test_rounding_of_transforms_does_not_show() -> None:
    """19077 points gave 0.3165 and 32770 gave 0.342."""
    found = answer("shuffle-pnsgd", lipschitz=0.207943, smoothness=0.366697, learning_rate=1.45565, diameter=4.35329,
                   epochs=302,
                   sigma=0.0854576, n=5 * 10**14, delta=2.45935e-11, bound="shuffled-iteration")
    assert 0.2757 < found.value < 0.2925


def test_delta_falls_beyond_the_largest_loss_of_an_epoch() -> None:
    """With 200 steps up to ε, δ was 1e3 times larger a thousandth of ε further on."""
    run = {"noise": "laplace", "lipschitz": 2.36439, "smoothness": 0.255283, "learning_rate": 4.28625,
           "diameter": 11.4318, "n": 55320102,
           "epochs": 55, "scale": 14.7456}
    found = [answer("shuffle-pnsgd", epsilon=0.32072 * x, **run).value
             for x in (1, 1.0007, 1.001, 1.0015, 1.002, 1.005)]
    assert found == sorted(found, reverse=True)

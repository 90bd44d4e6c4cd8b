"""An ε that was answered at a δ gives that δ back, up to 1e-5 of it where the losses are composed numerically: the two
questions have grids of their own, and the δ is the smaller of what both prove."""

import json
import random

from calling import call
from conftest import spread


def asked(*args):
    done = call([*args, "--json"])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["result"]


def test_composed_laplace_noise():
    """It was 6e-4 above δ."""
    run = ["rdp", "--mechanism", "laplace", "--scale", "15.276009234475852", "--steps", "5"]
    epsilon = asked(*run, "--delta", 1e-5)["epsilon"]
    assert asked(*run, "--epsilon", epsilon)["delta"] <= 1e-5 * (1 + 1e-9)


def draw(rng):
    noise = rng.choice((["--sigma", 10 ** rng.uniform(-0.2, 1)],
                        ["--mechanism", "laplace", "--scale", 10 ** rng.uniform(-0.3, 1.5)],
                        ["--mechanism", "discrete-laplace", "--scale", 10 ** rng.uniform(-0.6, 1.4)]))
    steps = ["--steps", int(3 * 10 ** rng.uniform(0, 2))]
    if "laplace" in noise and rng.random() < 0.6:
        return ["rdp", *noise, *steps, "--bound", "laplace-profile"]
    return ["subsample", *noise, *steps, "--sampling-rate", 10 ** rng.uniform(-3, -0.3), "--bound", "poisson-profile"]


@spread("seed", range(8))
def test_epsilon_fed_back(seed):
    rng = random.Random(seed)
    run, delta = draw(rng), 10 ** rng.uniform(-10, -3)
    epsilon = asked(*run, "--delta", delta)["epsilon"]
    if epsilon > 0:
        again = asked(*run, "--epsilon", epsilon)["delta"]
        assert again <= delta * (1 + 1e-5), run
        assert asked(*run, "--delta", again)["epsilon"] <= epsilon * (1 + 1e-3), run  # each to its own precision

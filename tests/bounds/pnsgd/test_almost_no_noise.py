"""Noise from next to none to far too much: a true number, or one sentence."""

import json
import random

import pytest
from calling import call
from conftest import slow


def asked(line):
    done = call([*line.split(), "--json"])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_record_in_a_batch_is_seen_where_there_is_no_noise():
    """TV is the probability 1 − (1−q)^T of ever being in a batch, and a test finds the record just then."""
    answer = asked("tv --sampling-rate 0.01 --sigma 2.85e-20 --steps 10 --fpr 0.01,0.1")
    seen = 1 - 0.99**10
    assert seen <= answer["result"]["tv"] <= seen * (1 + 1e-9)
    for point in answer["roc"]:
        true = seen + (1 - seen) * point["fpr"]
        assert true <= point["tpr"] <= true * (1 + 1e-3)


def test_epsilon_is_huge_and_finite():
    """r²/2 at r = √10·1e20, and some deviations."""
    for rate in ("1", "0.01"):
        answer = asked(f"subsample --sampling-rate {rate} --steps 10 --sigma 1e-20 --delta 1e-5")
        assert 5e40 <= answer["result"]["epsilon"] <= 5.01e40


@pytest.mark.parametrize("scheme", ["poisson", "without-replacement"])
@pytest.mark.parametrize("noise", ["--sigma 1e-20", "--sigma 1e-200", "--mechanism laplace --scale 1e-20"])
def test_delta_is_what_is_seen(scheme, noise):
    answer = asked(f"subsample --scheme {scheme} --sampling-rate 0.01 --steps 10 {noise} --epsilon 1")
    assert 1 - 0.99**10 <= answer["result"]["delta"] <= (1 - 0.99**10) * (1 + 1e-9)
    assert asked(f"subsample --scheme {scheme} --sampling-rate 0.01 --steps 10 {noise} --delta 0.0957")["result"]["epsilon"] == 0


def test_an_epsilon_above_the_largest_double_is_refused():
    done = call(["subsample", "--sampling-rate", "0.01", "--steps", "10", "--sigma", "1e-200", "--delta", "1e-5"])
    assert done.returncode == 3 and done.stdout == "" and done.stderr.count("\n") == 1 and "largest double" in done.stderr


def draw(rng):
    scale = 10 ** rng.choice((rng.uniform(-300, 300), rng.uniform(-25, 25)))
    rate = rng.choice((1.0, 10 ** -rng.uniform(0, 300), 1 - 10 ** -rng.uniform(1, 16), 10 ** -rng.uniform(0, 4)))
    command = rng.choice(("subsample", "tv", "rdp"))
    sampled = ["--sampling-rate", rate, "--scheme",
               rng.choice(("poisson", "without-replacement"))] if command != "rdp" else []
    noise = rng.choice((["--sigma", scale], ["--mechanism", "laplace", "--scale", scale]))
    question = rng.choice((["--delta", 10 ** -rng.uniform(0.01, 300)],
                           ["--epsilon", 10 ** rng.uniform(-300, 300)])) if command != "tv" else []
    return [command, *noise, *sampled, "--steps", int(10 ** rng.choice((0, rng.uniform(0, 9)))), *question, "--json"]


@pytest.mark.parametrize("draws", [1, slow(60)])
def test_any_noise_is_answered_or_refused(draws):
    """No traceback, no warning of a library, nothing that calls itself a fault."""
    rng = random.Random(4)
    for _ in range(draws):
        line = draw(rng)
        done = call(line)
        assert done.returncode in (0, 2,
                                   3) and "fault of dpcalc" not in done.stderr and "Warning" not in done.stderr, (line,
                                                                                                                  done.stderr)
        assert (done.stdout == "") == (done.returncode != 0)

"""The numbers that stand in the words about theorems and in the topics of help are those that dpcalc prints."""

import json
import random
import re
from math import log, sqrt

import pytest
from conftest import ROOT

from dpcalc import answer, solve
from dpcalc.bounds import all_bounds
from dpcalc.commands.topics import TOPICS
from dpcalc.core.errors import OutOfScope

BOUNDS = all_bounds()
DP_SGD = {"sampling_rate": 0.01, "noise_multiplier": 1, "steps": 10_000, "delta": 1e-6}
FIXED_SIZE = {"scheme": "without-replacement", "sampling_rate": 0.01, "noise_multiplier": 4, "steps": 1000, "delta": 1e-5}


def by(name, command, **options):
    """The smallest number that a bound gives in an answer."""
    found = json.loads(answer(command, **options).json())
    (key,) = {"epsilon", "tv", "feedback"} & found["result"].keys() - {"delta"}
    return min(row[key] for row in found["bounds"] if name in (row["name"], row.get("curve")))


NUMBERS = {
    "gaussian-rdp": lambda: (by("gaussian-rdp", "rdp", sigma=1, delta=1e-5), by("gaussian-exact", "rdp", sigma=1, delta=1e-5)),
    "poisson-rdp": lambda: (by("poisson-rdp", "subsample", **DP_SGD), by("poisson-profile", "subsample", **DP_SGD)),
    "wor-rdp": lambda: (by("wor-rdp", "subsample", **FIXED_SIZE), by("wor-profile", "subsample", **FIXED_SIZE)),
    "feedback-optimum": lambda: tuple(answer("noise-feedback", learning_rate=1, curvature=a, solve="feedback").value for a in (0.01, 0.5)),
    "tv-laplace-as-published": lambda: (answer("tv", mechanism="laplace", scale=solve(
        "tv", "scale", mechanism="laplace", tv=0.01, bound="tv-laplace-as-published").value, bound="tv-exact").value,),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NUMBERS)
def test_what_a_theorem_is_compared_with(name):
    for value in NUMBERS[name]():
        assert any(f"{value:.{digits}f}" in BOUNDS[name].theorem.in_words for digits in (2, 4)), value


def test_where_the_textbook_formula_first_fails():
    said = float(re.search(r"first fails at ε = (\d+\.\d+)", BOUNDS["gaussian-classic"].theorem.in_words)[1])
    for epsilon, fails in ((said - 0.01, False), (said + 0.01, True)):
        sigma = sqrt(2 * log(1.25 / 1e-5)) / epsilon
        assert (answer("rdp", sigma=sigma, epsilon=epsilon, bound="gaussian-exact").value > 1e-5) == fails


def test_the_closed_form_of_poisson_batches_is_loose():
    most = float(re.search(r"at most (\d+\.\d+) times", BOUNDS["poisson-rdp-closed"].theorem.in_words)[1])
    rng, compared = random.Random(70), 0
    while compared < 30:
        run = {"sampling_rate": 10 ** rng.uniform(-5, -1), "noise_multiplier": rng.uniform(1, 20), "steps": 1, "alpha": rng.randint(2, 40)}
        try:
            closed = answer("subsample", **run, bound="poisson-rdp-closed").value
        except OutOfScope:  # outside of the range of the closed form
            continue
        assert answer("subsample", **run, bound="poisson-rdp").value <= most * closed, run
        compared += 1


def test_the_numbers_of_topics_stand_in_examples_or_on_pages():
    """Both are run and compared."""
    pages = " ".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    for topic in TOPICS:
        shown = pages + " ".join(result for _, result in topic.examples)
        for number in re.findall(r"\d+\.\d{3,}", " ".join(topic.text)):
            assert number in shown, f"{topic.name}: {number}"

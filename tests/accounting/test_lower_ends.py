"""A lower end of what is lost is printed only where the mechanism itself has the two distributions that are
composed."""

import json
import random

import pytest
from calling import call

CURVE = {"kind": "rdp", "alpha": [2, 4, 8, 16, 32], "rdp": [0.02, 0.2, 0.19, 1.0, 2.3]}
POINTS = {"kind": "profile", "epsilon": [0, 1, 2], "delta": [0.3, 0.01, 1e-6]}
OUTPUTS = {"kind": "mechanisms", "mechanisms": [{"name": "gaussian", "noise_multiplier": 2,
                                                 "sampling": {"scheme": "poisson", "rate": 0.1}, "count": 20},
                                                {"name": "laplace", "scale": 3, "count": 2}]}
FIXED_SIZE = {"kind": "mechanisms", "mechanisms": [{"name": "gaussian", "noise_multiplier": 2,
                                                    "sampling": {"scheme": "without-replacement", "rate": 0.1}}]}
BY = ["--bound", "profile-composition"]


def asked(*args, **given):
    done = call([*args, "--json"], **given)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def lower(answer):
    return [key for row in answer["bounds"] for key in row if key.endswith("_lower")]


@pytest.mark.parametrize("guarantee", [CURVE, POINTS, FIXED_SIZE])
@pytest.mark.parametrize("question", [("--delta", "1e-4"), ("--epsilon", "0.7")])
def test_a_guarantee_that_is_read_has_none(guarantee, question):
    """Its pair dominates every mechanism that has it; the one at hand may lose less."""
    answer = asked("convert", "-", "--steps", "5", *question, *BY, stdin=json.dumps(guarantee))
    assert not lower(answer)


@pytest.mark.parametrize("guarantee", [{"kind": "dp", "epsilon": 0.5, "delta": 1e-7}, {"kind": "gdp", "mu": 0.3},
                                       {"kind": "tv", "tv": 0.1}])
def test_nor_has_one_that_is_composed_with_a_mechanism(guarantee, tmp_path):
    files = [tmp_path / "guarantee.json", tmp_path / "mechanism.json"]
    for file, content in zip(files, (guarantee, OUTPUTS), strict=True):
        file.write_text(json.dumps(content))
    answer = asked("convert", *files, "--epsilon", "0.7", *BY)
    assert not lower(answer)


@pytest.mark.parametrize("question", [("--delta", "1e-4"), ("--epsilon", "0.7")])
def test_mechanisms_that_are_read_have_one(question):
    answer = asked("convert", "-", *question, *BY, stdin=json.dumps(OUTPUTS))
    assert lower(answer)


@pytest.mark.parametrize("release, known", [("every-iterate", True), ("last-iterate", False)])
def test_a_run_that_releases_less_than_the_mechanisms_that_bound_it_has_none_in_a_pipe(release, known):
    run = ["compare", "--batches", "poisson", "--n", "1000", "--batch-size", "50", "--steps", "20",
           "--noise-multiplier", "1", "--release", release, "--delta", "1e-5", "--json"]
    done = call(run)
    assert done.returncode == 0, done.stderr
    for command in (["convert", "-"], ["ledger", "-"]):
        answer = asked(*command, "--delta", "1e-5", stdin=done.stdout)
        assert bool(lower(answer)) == known


RUN = ["--sampling-rate", "0.05", "--sigma", "2", "--steps", "9", "--delta", "1e-5"]


@pytest.mark.parametrize("line, attained", [
    (["subsample", *RUN, "--bound", "poisson-profile"], True),
    (["subsample", "--scheme", "without-replacement", *RUN, "--bound", "wor-profile"], False),
    (["subsample", "--adjacency", "replace-one", "--noise-multiplier", "2", "--sampling-rate", "0.05", "--steps", "9",
      "--delta", "1e-5"], True),
    (["rdp", "--mechanism", "laplace", "--scale", "2", "--steps", "9", "--delta", "1e-5", "--bound", "laplace-profile"],
     True),
    (["tv", "--p", ".3,.5,.2", "--q", ".25,.45,.3", "--steps", "5"], True),
    (["tv", "--tv", "0.3", "--epsilon", "1", "--delta", "0.05", "--steps", "5", *BY], False),
], ids=lambda x: " ".join(x) if isinstance(x, list) else "")
def test_by_scheme_and_neighbours(line, attained):
    answer = asked(*line)
    assert bool(lower(answer)) == attained


def test_no_lower_end_is_above_a_proven_bound():
    """An RDP curve's pair had ε >= 2.31986, said a note under a proven 2.16572."""
    rng = random.Random(7)
    for _ in range(8):
        curve = {**CURVE, "rdp": [order * 10 ** rng.uniform(-2, -0.5) for order in CURVE["alpha"]]}
        count = rng.randint(1, 20)
        mixed = {"kind": "mechanisms",
                 "mechanisms": [{**part, "count": rng.randint(1, 9)} for part in OUTPUTS["mechanisms"]]}
        for answer in (asked("convert", "-", "--steps", count, "--delta", "1e-4", stdin=json.dumps(curve)),
                       asked("convert", "-", "--delta", 10 ** rng.uniform(-9, -2), stdin=json.dumps(mixed))):
            lows = [row["epsilon_lower"] for row in answer["bounds"] if "epsilon_lower" in row]
            assert max(lows, default=0.0) <= min(row["epsilon"] for row in answer["bounds"]
                                                 if row["status"] == "proven")


def test_a_run_of_thresholds_has_none(tmp_path):
    """It is no randomised response of its pure ε: alone it has no lower end, and composed neither. Both releases lose
    at most 17.9753 at this δ."""
    ledger = tmp_path / "ledger.toml"
    ledger.write_text("""delta = 1e-5
[[release]]
command = "rdp"
mechanism = "above-threshold"
threshold-scale = 2
scale = 200
steps = 50
[[release]]
command = "rdp"
mechanism = "randomized-response"
probability = 0.5001
""")
    answer = asked("ledger", ledger)
    assert answer["result"]["epsilon"] > 17.9753 and not lower(answer)


@pytest.mark.parametrize("run, known", [  # the sums over all reports, at 60 digits
    ("randomized-response --categories 10 --step-epsilon 20 --steps 1e5 --epsilon 1999990", 0.9981013654878072),
    ("unary --probability .999999 --flip-probability 1e-6 --steps 1000 --epsilon 27617.20360634084", 0.9980009996663060),
])
def test_likely_reports_have_one_below_the_truth(run, known):
    result = asked("rdp", "--mechanism", *run.split())["result"]
    assert 0.999 * known < result["delta_lower"] <= known <= result["delta"]


@pytest.mark.slow
def test_truncated_tails_have_none():
    """The noise beyond the losses that are composed counts as revealing everything, which only an upper end may."""
    run = "rdp --mechanism discrete-gaussian --sigma 2000 --steps 1e9 --epsilon 3000 --bound discrete-gaussian-exact"
    assert asked(*run.split())["result"]["delta_lower"] == 0


@pytest.mark.parametrize("line", [
    "rdp --mechanism unary --probability .8 --flip-probability .2 --steps 10 --delta 1e-5",
    "rdp --mechanism laplace --scale .5 --steps 2 --delta 1e-5",
])
def test_it_is_that_of_any_row_where_another_one_is_smaller_in_its_last_digits(line):
    """By the rounding of the composition the row by RDP comes first, which has no lower end."""
    answer = asked(*line.split())
    head, [end] = answer["bounds"][0], [row["epsilon_lower"] for row in answer["bounds"] if "epsilon_lower" in row]
    assert head["name"].endswith("-rdp") and answer["result"]["epsilon"] == head["epsilon"]
    assert answer["result"]["epsilon_lower"] == end and head["epsilon"] * (1 - 1e-8) < end < head["epsilon"]
    assert "\nThe true ε is between " in call(line.split()).stdout


def test_a_solution_has_none_of_another_solution():
    line = "rdp --mechanism unary --flip-probability .2 --steps 2 --epsilon 5 --delta 1e-7 --solve probability"
    answer = asked(*line.split())
    assert "epsilon_lower" not in answer["result"] or "epsilon_lower" in answer["bounds"][0]

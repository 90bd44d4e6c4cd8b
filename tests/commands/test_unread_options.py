"""An option that no bound reads which answers is refused: accepted in silence it would seem to have an effect."""

import json

import pytest
from calling import call

RUN = "--n 5000 --batch-size 50 --steps 20 --delta 1e-5"
LINES = [f"{line} --bound {bound}" for line, bounds in {
    f"subsample {RUN} --sigma 1": ("poisson-profile", "poisson-rdp", "rdp-improved"),
    f"subsample {RUN} --scheme without-replacement --sigma 2": ("wor-profile", "wor-rdp"),
    f"subsample {RUN} --mechanism laplace --scale 3": ("poisson-profile", "composition-optimal"),
    "rdp --sigma 2 --delta 1e-5": ("gaussian-exact", "gaussian-rdp"),
    "rdp --mechanism laplace --scale 3 --delta 1e-5": ("laplace-exact", "laplace-rdp"),
    "rdp --mechanism randomized-response --probability .6 --delta .1": ("randomized-response-exact",
                                                                        "randomized-response-rdp"),
}.items() for bound in bounds]


@pytest.mark.parametrize("line", LINES)
def test_orders_are_accepted_where_an_order_is_searched(line):
    plain = json.loads(call([*line.split(), "--json"]).stdout)
    searched = any("alpha" in row["witness"] for row in plain["bounds"])
    done = call([*line.split(), "--orders", "2,3", "--json"])
    assert done.returncode == (0 if searched else 2)
    if searched:
        assert all(row["witness"]["alpha"] in (2, 3) for row in json.loads(done.stdout)["bounds"])
    else:
        error = json.loads(done.stderr)["error"]
        assert error["option"] == "--orders" and plain["bounds"][0]["name"] in error["message"]


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith("subsample")])
def test_a_precision_is_accepted_where_a_profile_is_composed(line):
    composed = line.endswith("-profile")
    done = call([*line.split(), "--precision", "0.05", "--json"])
    assert done.returncode == (0 if composed else 2)
    assert composed or json.loads(done.stderr)["error"]["option"] == "--precision"


@pytest.mark.parametrize("line", [
    "subsample --sampling-rate .1 --steps 5 --sigma 1 --alpha 3 --precision .01",
    "subsample --sampling-rate .1 --steps 5 --sigma 1 --json --precision .01",
    "tv --sigma 2 --precision .01",
    "subsample --sampling-rate .1 --steps 5 --epsilon 1 --delta 1e-5 --solve sigma --bound poisson-rdp --precision .01",
    "subsample --sampling-rate .1 --steps 5 --epsilon 1 --delta 1e-5 --solve sigma --bound poisson-profile --orders 3",
    "rdp --sigma 1 --delta 1e-5 --rdp 2",
    "rdp --epsilon 1 --delta 1e-5 --solve sigma --rdp 2",
    "subsample --sampling-rate .1 --steps 5 --sigma 1 --epsilon 1 --rdp 2",
    "rdp --mechanism laplace --scale 1 --delta 0 --orders 3",
])
def test_other_options_without_an_effect_are_refused(line):
    done = call(line.split())
    assert (done.returncode, done.stdout) == (2, "") and any(option in done.stderr
                                                             for option in ("--precision", "--orders", "--rdp"))


@pytest.mark.parametrize(("line", "words"), [
    ("subsample --sampling-rate .1 --steps 1 --sigma 1 --epsilon 3 --delta 1e-5",
     "add --solve noise-multiplier (or sigma), or drop one"),
    ("rdp --epsilon 3 --delta 1e-5", "add --solve noise-multiplier (or sigma), or drop one"),
    ("compare --batches full --n 100 --steps 3 --clipping-norm 1 --epsilon 3 --delta 1e-5",
     "add --solve noise-multiplier (or sigma), or drop one"),
    ("rdp --mechanism laplace --epsilon 3 --delta 1e-5", "add --solve scale (or sensitivity, steps), or drop one"),
    ("rdp --mechanism randomized-response --epsilon 3 --delta 1e-5",
     "add --solve probability (or steps), or drop one"),
    ("noise-feedback --epsilon 3 --delta 1e-5", "add --solve sigma, or drop one"),
    ("burn-in --n 600 --batch-size 12 --steps 1e4 --learning-rate .05 --diameter 2 --epsilon 3 --delta 1e-5",
     "add --solve sigma, or drop one"),
])
def test_a_budget_with_nothing_to_solve_for_says_what_to_add(line, words):
    done = call(line.split())
    assert (done.returncode, done.stdout) == (2,
                                              "") and words in done.stderr and "nothing left to compute" in done.stderr

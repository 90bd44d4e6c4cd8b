"""A limit is shown beside guarantees, never in the place of one that has no answer."""

import json

import pytest

RUN = "--lipschitz 10 --diameter 1 --learning-rate .1 --smoothness .5 --n 1e4 --c2 2 --epsilon 1"


@pytest.mark.parametrize("noise, c1", [("laplace", 606531), ("gaussian", 303266)])
def test_no_c1_of_the_limit_for_a_budget_that_no_proven_bound_meets(noise, c1, cli):
    line = f"shuffle-pnsgd --noise {noise} {RUN} --delta 1e-6 --solve c1".split()
    alone = cli(*line, "--bound", "shuffled-contraction")
    assert (alone.returncode, alone.stdout, alone.stderr.count("\n")) == (3, "", 1) and "has ε = " in alone.stderr
    named = cli(*line, "--bound", "shuffled-limit", "-q")  # who names it knows what it is
    assert named.returncode == 0 and float(named.stdout) == pytest.approx(c1,
                                                                          rel=1e-5) and "not a guarantee" in named.stderr
    both = cli(*line, "--bound", "shuffled-limit", "--bound", "shuffled-contraction")
    assert both.returncode == 0 and "shuffled-limit, limit" in both.stdout


def test_where_a_proven_bound_reaches_it_that_is_the_answer(cli):
    found = json.loads(cli(*f"shuffle-pnsgd --noise laplace {RUN} --delta 1e-4 --solve c1 --json".split()).stdout)
    assert (found["status"], found["bound"]) == ("proven", "shuffled-hiding-laplace")
    assert "shuffled-limit" in {b["name"] for b in found["bounds"]}

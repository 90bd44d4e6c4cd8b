"""A step that is no contraction: the message names the bounds that hold for it, and they do."""

import pytest

RUN = "shuffle-pnsgd --smoothness .5 --lipschitz 1 --n 100"


@pytest.mark.parametrize("rest", ["--sigma 2 --alpha 4", "--sigma 2 --epsilon 1", "--sigma 2 --delta .02 --diameter 1", "--sigma 9 --delta 1e-3 --index 3",
                                  "--sigma 2 --epsilon 1 --diameter 1 --bound shuffled-iteration"])
def test_the_message_points_to_the_bound_that_holds(rest, cli):
    line = f"{RUN} {rest} --learning-rate 5".split()
    done = cli(*line)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "5 > 2/(β+ρ) = 4" in done.stderr and done.stderr.rstrip().endswith("; --bound smooth-nonconvex holds for every η")
    line = [w for w in line if w not in ("--bound", "shuffled-iteration")]
    assert cli(*line, "--bound", "smooth-nonconvex").returncode == 0


@pytest.mark.parametrize("line", [f"{RUN} --noise laplace --scale 2 --diameter 1 --epsilon 1 --learning-rate 5",
                                  f"{RUN} --sigma 2 --epsilon 1 --learning-rate .5 --strong-convexity 2"])
def test_where_none_holds_or_another_option_is_at_fault_it_points_nowhere(line, cli):
    done = cli(*line.split())
    assert done.returncode == 2 and "smooth-nonconvex" not in done.stderr

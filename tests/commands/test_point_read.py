"""A point (ε, δ) that is read, and the questions that may stand beside it."""

import pytest
from calling import call

POINT = '{"kind": "dp", "epsilon": 1, "delta": 1e-3}'


@pytest.mark.parametrize("options", ["--delta 1e-9", "--delta 0", "--epsilon 2", "--epsilon 1e-3 --delta 1e-9"])
def test_a_point_that_is_read_answers_no_other_question(options):
    line = f"subsample - --scheme without-replacement --sampling-rate .1 {options} -q"
    done = call(line.split(), POINT)
    assert done.returncode == 2 and done.stdout == "" and "not used to amplify" in done.stderr
    assert "--delta:" in done.stderr or "--epsilon:" in done.stderr
    assert call(line.removesuffix(f" {options} -q").split(), POINT).returncode == 0


@pytest.mark.parametrize(("options", "said"), [
    ("--to tv --delta 1e-2", "--delta: not used"), ("--to tv --epsilon 1", "--epsilon: not used"),
    ("--epsilon 1 --delta 1e-2", "--epsilon: with --delta there is nothing left"),
    ("--slack 1e-3 --delta 1e-2", "--delta: not used with --slack"),
    ("--delta 1e-3 --target-delta 1e-2", "--target-delta: --delta asks"),
])
def test_an_option_that_the_point_answers_is_refused(options, said):
    done = call(["convert", "-", *options.split()], POINT)
    assert done.returncode == 2 and said in done.stderr

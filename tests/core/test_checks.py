"""Checks on the options of a run, which are data."""

import pytest

from dpcalc.core.checks import Check, Mode, Needed, Rule, check, excludes
from dpcalc.core.command import Command, Given
from dpcalc.core.errors import DpcalcError
from dpcalc.core.quantities import SIGMA, N
from dpcalc.core.results import Question, Row
from dpcalc.core.run import Run

COMMAND = Command("a", "", ())


def run(unknown=None, default=(), **options):
    question = Question("epsilon", delta=0.5, unknown=unknown, target=1.0 if unknown else None)
    given = Given({**dict(default), **options}, frozenset(options))
    return Run(COMMAND, given, question, lambda r: {"doubled": 2 * r["sigma"]}, frozenset({"sigma"}))


def error(tests, **options):
    with pytest.raises(DpcalcError) as raised:
        check(run(**options), *tests)
    return raised.value.code, raised.value.option, raised.value.message


def test_a_check_is_about_values_that_are_there():
    above = Check(("index", "n"), lambda i, n: i > n, "{index} is above n = {n}")
    check(run(index=3), above)
    check(run(index=3, n=3), above)
    assert error([above], index=4, n=3) == ("out-of-range", "--index", "4 is above n = 3")


def test_a_check_can_print_what_it_found_and_know_the_unknown():
    odd = Check(("used_at",), lambda used: next((x for x in used if x % 2), 0), "{it} is odd", "not-a-number", "--steps")
    assert error([odd], used_at=(2, 5)) == ("not-a-number", "--steps", "5 is odd")
    no_n = Check(("unknown",), lambda x: x == "n", "not n", option="--solve")
    check(run(), no_n)
    check(run(SIGMA), no_n)
    assert error([no_n], unknown=N)[1:] == ("--solve", "not n")


def test_options_exclude_each_other_where_they_are_given_or_solved_for():
    one = excludes("sigma", "n", "give one")
    check(run(sigma=1.0, default={"n": 3}), one)
    assert error([one], sigma=1.0, n=3) == ("contradictory", "--sigma", "give one")
    assert error([one], sigma=1.0, unknown=N) == ("contradictory", "--sigma", "give one")


def test_options_are_needed_always_or_beside_others():
    with_n = Needed(("sigma", "alpha"), "beside n", ("n",))
    check(run(), with_n)
    assert error([with_n], n=3) == ("missing", "--sigma", "needed beside n; also add --alpha")
    assert error([with_n], unknown=N, alpha=2.0) == ("missing", "--sigma", "needed beside n")
    assert error([Needed(("sigma",), "always")]) == ("missing", "--sigma", "needed always")


def test_the_first_test_that_fails_is_named():
    rules = [Rule(lambda r: r.sets("n"), "first", "refused", "--n"), Rule(lambda r: r.sets("n"), "second", "refused", "--n")]
    assert error(rules, n=1)[2] == "first"


def test_a_mode_refuses_what_is_not_used_and_asks_for_what_is_needed():
    mode = Mode({"sigma", "steps"}, ("sigma", "steps"), "here", "by this", ways_out={"n": "give --steps"},
                hints={"sigma": "; see there"})
    check(run(sigma=1.0, steps=2), mode)
    assert error([mode], sigma=1.0, steps=2, n=3) == ("unneeded", "--n", "not used here; give --steps")
    assert error([mode]) == ("missing", "--sigma", "needed by this; also add --steps; see there")
    assert error([mode], sigma=1.0) == ("missing", "--steps", "needed by this")
    assert error([mode], unknown=N)[1] == "--solve"
    check(run(SIGMA, steps=2), mode)


def test_a_run_is_the_mapping_of_its_options_at_any_value_of_the_unknown():
    one = run(SIGMA, n=3)
    assert one["sigma"] is None and one["n"] == 3 and "n" in one and one.unknown == "sigma"
    assert one.at(2.0).params == {"doubled": 4.0} and one.at(2.0)["sigma"] == 2.0 and one["sigma"] is None
    assert dict(one.having(n=4).at(1.0)) == {"n": 4, "sigma": 1.0}
    rows = (Row(None, {"sigma": 3.0, "epsilon": 1.0}),)
    answer = one.solved(rows).answer(rows, {}, "", "")
    assert answer.parameters == {"sigma": 3.0} and answer.rows == rows


def test_what_others_imply_is_shown_as_if_it_were_given():
    assert run(n=3).completed(sigma=5.0).answer((), {}, "", "").parameters == {"sigma": 5.0}
    assert run(sigma=1.0).asking(Question("delta", epsilon=1.0)).question.asks == "delta"

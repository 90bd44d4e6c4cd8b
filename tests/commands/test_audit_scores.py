"""An audit by a file of scores: which lines choose the threshold, which test it, and what a file may look like."""

import json
from itertools import product

import pytest
from calling import call

import dpcalc
from dpcalc.core.errors import DpcalcError


def scores(tmp_path, lines, header="member,score\n"):
    path = tmp_path / "scores.csv"
    path.write_text(header + "".join(f"{member},{score}\n" for member, score in lines))
    return str(path)


def test_lines_of_odd_number_choose_the_threshold_and_the_others_test_it(tmp_path):
    """In the lines that choose, 5 separates best; in the others, 2 of 3 members and 1 of 3 others are above it."""
    choose = [(1, 9), (1, 8), (1, 7), (0, 1), (0, 2), (0, 5 - 1e-9), (1, 5), (0, 0)]
    test = [(1, 5), (1, 4.9), (0, 6), (0, 1), (1, 100), (0, -3), (1, -1), (0, 4)]
    lines = [line for pair in zip(choose, test, strict=True) for line in pair]
    for header in ("member,score\n", "Member, Score\r\n", ""):
        answer = dpcalc.answer("audit", scores=scores(tmp_path, lines, header), delta=0)
        assert answer.parameters["true_positives"] == "2/4" and answer.parameters["false_positives"] == "1/4"
        assert answer.result["score_threshold"] == 5
    every = dpcalc.answer("audit", scores=scores(tmp_path, lines), delta=0, score_threshold=5)
    assert (every.parameters["true_positives"], every.parameters["false_positives"]) == ("6/8", "1/8")


def test_a_record_of_scores_holds_their_counts(tmp_path):
    lines = [(member, member * 3 + k % 7) for k, member in product(range(60), (0, 1, 1, 0))]
    record = call(["audit", "--scores", scores(tmp_path, lines), "--delta", "0", "--json"]).stdout
    assert "scores" not in json.loads(record)["options"]
    assert call(["verify", "-"], record).returncode == 0
    statement = call(["audit", "--scores", scores(tmp_path, lines), "--delta", "0", "--format", "statement"]).stdout
    assert "or chosen on lines that do not test it" in " ".join(statement.split())


@pytest.mark.parametrize("text", [
    "member,score\n1,3\n0,1\n1,2\n0,0.5\n0,1\n1,2.5\n", "1,3\n0,1\n1,2\n0,0.5\n0,1\n1,2.5",
    "Score;other;MEMBER\n3;a;1\n1;b;0\n2;c;1\n0.5;d;0\n1;e;0\n2.5;f;1\n", "1\t3\r\n0\t1\r\n\r\n1\t2\r\n0\t0.5\r\n0\t1\r\n1\t2.5\r\n",
    "member,score\nTrue,3\nFalse,1\n1.0,2\n0.0,5e-1\nfalse,1\ntrue,2.5\n"])
def test_columns_in_other_forms(text, tmp_path):
    (tmp_path / "s.csv").write_text(text, newline="")
    own = dpcalc.answer("audit", scores=str(tmp_path / "s.csv"), delta=0, score_threshold=2).parameters
    assert (own["true_positives"], own["false_positives"]) == ("3/3", "0/3")


def test_scores_that_are_smaller_for_members_give_a_warning(tmp_path):
    lines = [(k % 2 if k % 4 < 2 else 1 - k % 2, (k * 7919) % 97 - 60 * (k % 2 if k % 4 < 2 else 1 - k % 2)) for k in range(400)]
    done = call(["audit", "--scores", scores(tmp_path, lines), "--delta", "0"])
    assert "negate scores such as a loss" in done.stderr and done.stdout.startswith("ε ≥ 0 ")
    turned = call(["audit", "--scores", scores(tmp_path, [(m, -s) for m, s in lines]), "--delta", "0"])
    assert turned.stderr == "" and not turned.stdout.startswith("ε ≥ 0 ")


def test_equal_scores_are_smaller_for_nobody(tmp_path):
    for first in (0, 1):
        lines = [(k // 2 % 2 ^ first, 0.5) for k in range(40)]
        done = call(["audit", "--scores", scores(tmp_path, lines), "--delta", "0"])
        assert done.stderr == "" and done.stdout.startswith("ε ≥ 0 ")


def test_a_file_that_is_sorted_by_score_is_refused(tmp_path):
    lines = [(k % 3 == 0, k) for k in range(40)]
    with pytest.raises(DpcalcError, match="is sorted by score"):
        dpcalc.answer("audit", scores=scores(tmp_path, [(int(m), s) for m, s in lines]), delta=0)
    fixed = dpcalc.answer("audit", scores=scores(tmp_path, [(int(m), s) for m, s in lines]), delta=0, score_threshold=20)
    assert fixed.parameters["true_positives"] == "7/14"


@pytest.mark.parametrize("text, says", [
    ("", "has no line member,score"), ("member,score\n", "has no line member,score"),
    ("2,1\n", "line 1: the member '2' is not 1"), ("1,x\n", "line 1: 'x' is no finite score"),
    ("1,nan\n", "no finite score"), ("1\n", "has no two columns"),
    ("1,1\n0,1\n" * 5, "has no non-members (0) in lines of odd number; shuffle its lines once"),
    ("1,1\n1,2\n0,1\n1,2\n", "has no non-members (0) in lines of even number"),
    ("1,1\n1,2\n", "has no non-members (0)")])
def test_a_file_that_holds_no_scores_says_what_is_wrong(text, says, tmp_path):
    (tmp_path / "s.csv").write_text(text)
    with pytest.raises(DpcalcError, match="--scores") as error:
        dpcalc.answer("audit", scores=str(tmp_path / "s.csv"), delta=0)
    assert says in str(error.value)

"""--batch with CSV: the header names the options, and every line comes back with the columns of its answer."""

import csv
import io
import json
import subprocess

import pytest
from calling import call
from conftest import SCRIPT
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcalc import answer
from dpcalc.cli.batch import LONGEST

RDP = ("rdp", "--delta", "1e-5")


def asked(text, *args, code=0):
    done = call([*args, "--batch"], text)
    assert done.returncode == code, done.stderr
    return done


def table(text, *args, code=0, delimiter=","):
    """The header and the lines, each a mapping from column to cell."""
    done = asked(text, *args, code=code)
    assert ("lines have no answer; the column error says why" in done.stderr) == (code == 1), done.stderr
    header, *rows = csv.reader(io.StringIO(done.stdout, newline=""), delimiter=delimiter, strict=True)
    assert all(len(row) == len(header) for row in rows)
    return header, [dict(zip(header, row, strict=True)) for row in rows]


def test_every_line_comes_back_with_its_answer():
    header, rows = table("id,sigma,steps\na,1,10\nb,2,\n", *RDP)
    assert header[:4] == ["id", "sigma", "steps", "epsilon"] and header[-1] == "error"
    assert {"delta", "bound", "status", "adjacency"} < set(header)
    assert [(r["id"], r["sigma"], r["steps"], r["error"]) for r in rows] == [("a", "1", "10", ""), ("b", "2", "", "")]
    assert float(rows[0]["epsilon"]) == answer("rdp", sigma=1, steps=10, delta=1e-5).value
    assert float(rows[1]["epsilon"]) == answer("rdp", sigma=2, delta=1e-5).value
    assert (rows[0]["bound"], rows[0]["status"]) == ("gaussian-exact", "proven")


def test_a_line_that_fails_says_why_in_its_place():
    header, rows = table("sigma\n0\nx\n1\n\n-1\n", *RDP, code=1)
    assert [bool(r["epsilon"]) for r in rows] == [False, False, True, False] and "epsilon" in header
    assert [r["sigma"] for r in rows] == ["0", "x", "1", "-1"]
    assert rows[0]["error"].startswith("'--sigma: 0 is not > 0") and "'x'" in rows[1]["error"]
    assert rows[2]["error"] == "" and rows[3]["error"].startswith("'--sigma: -1")


def test_a_batch_without_any_answer_still_has_every_line():
    header, rows = table("note,sigma\na,0\nb,0\n", *RDP, code=1)
    assert header == ["note", "sigma", "error"] and [r["note"] for r in rows] == ["a", "b"]
    assert asked("sigma\n", *RDP).stdout == "sigma,error\n"


def test_the_formats_agree(tmp_path):
    lines = [(1, 100), (2.5, 1), (0.7, 7)]
    as_csv = "sigma,steps\n" + "".join(f"{a},{b}\n" for a, b in lines)
    as_json = "".join(json.dumps({"sigma": a, "steps": b}) + "\n" for a, b in lines)
    _, rows = table(as_csv, *RDP)
    records = [json.loads(line) for line in asked(as_csv, *RDP, "--json").stdout.splitlines()]
    assert records == [json.loads(line) for line in asked(as_json, *RDP).stdout.splitlines()]
    assert [float(r["epsilon"]) for r in rows] == [r["result"]["epsilon"] for r in records]
    assert asked(as_csv, *RDP, "-q").stdout.split() == [r["epsilon"] for r in rows]
    assert asked(as_json, *RDP, "--format", "csv").stdout == asked(as_csv, *RDP).stdout
    assert table(as_csv, *RDP, "--format", "tsv", delimiter="\t")[1] == rows
    (tmp_path / "lines.csv").write_text(as_csv)
    assert call([*RDP, "--batch", tmp_path / "lines.csv"]).stdout == asked(as_csv, *RDP).stdout


@pytest.mark.parametrize("header", ["noise-multiplier,sampling-rate", "noise_multiplier,sampling_rate",
                                    " noise-multiplier , sampling-rate"])
def test_a_column_is_named_as_the_option_or_as_a_key(header):
    _, rows = table(f"{header}\n1,.01\n", "subsample", "--delta", "1e-5", "--steps", 100, "--bound", "poisson-rdp")
    assert float(rows[0]["epsilon"]) == answer("subsample", noise_multiplier=1, sampling_rate=.01, steps=100,
                                               delta=1e-5, bound="poisson-rdp").value


def test_the_number_asked_for_fills_its_empty_cell():
    header, rows = table("sigma,epsilon,delta\n1,,1e-5\n1,1,\n", "rdp")
    assert header[:3] == ["sigma", "epsilon", "delta"] and header.count("epsilon") == 1
    assert float(rows[0]["epsilon"]) == answer("rdp", sigma=1, delta=1e-5).value
    assert float(rows[1]["delta"]) == answer("rdp", sigma=1, epsilon=1).value
    _, (row,) = table("sigma,epsilon\n,2\n", *RDP, "--solve", "sigma")
    assert float(row["sigma"]) == answer("rdp", epsilon=2, delta=1e-5, solve="sigma").value


def test_an_answer_without_a_column_is_an_error_not_a_gap():
    _, rows = table("sigma,delta,alpha\n1,1e-5,\n1,,8\n", "rdp", code=1)
    assert rows[0]["error"] == "" and "rdp, which has no column" in rows[1]["error"]


@pytest.mark.parametrize("header,says", [
    ("sgima", "did you mean sigma?"), ("sigma,comments", "name it _comments"), ("sigma;steps", "commas or tabs"),
    ("sigma,noise_multiplier,noise-multiplier", "two columns name --noise-multiplier"), ("x", "'x' is no option"),
    ("sigma,input", "'input'"), ("sigma,format", "'format'"), ("id,note", "no column"), ('"sigma', "header"),
    ("1,2", "columns '1' and '2' are no option"), (b"\xff\xfes\0i\0g\0", "no option")])
def test_a_header_that_names_anything_else_is_one_error(header, says):
    data = header if isinstance(header, bytes) else header.encode()
    done = asked(data + b"\n1,2\n", *RDP, code=2)
    assert done.stdout == "" and done.stderr.count("\n") == 1 and says in done.stderr
    assert done.stderr.startswith("dpcalc rdp: --batch: ") and len(done.stderr) < 250


def test_columns_that_describe_a_line_are_repeated():
    text = 'id,Name,label,comment,_accuracy,,sigma\n1,"a, ""b""",x,"two\r\nlines",.9,0,1\n'
    header, (row,) = table(text, *RDP)
    assert header[:7] == ["id", "Name", "label", "comment", "_accuracy", "", "sigma"]
    assert [row[name] for name in ("Name", "comment", "_accuracy", "")] == ['a, "b"', "two\r\nlines", ".9", "0"]
    assert json.loads(asked(text, *RDP, "--json").stdout)["id"] == "1"


def test_the_file_as_spreadsheets_write_it():
    plain = asked("sigma,steps\n1,10\n", *RDP).stdout
    assert asked(b"\xef\xbb\xbfsigma,steps\r\n1,10\r\n", *RDP).stdout == plain
    assert asked('"sigma","steps"\n"1","10"', *RDP).stdout == plain
    assert asked("\n\nsigma, steps\n\n1, 10\n\n", *RDP).stdout == plain
    tabs = asked("sigma\tsteps\n1\t10\n", *RDP).stdout
    assert tabs == plain.replace(",", "\t")


def test_bytes_that_are_only_repeated_stay_as_they_came():
    done = subprocess.run([SCRIPT, *RDP, "--batch"], input=b"note,sigma,steps\ncaf\xe9,1,1\nx,1,\xe9\n",
                          capture_output=True)
    _, good, bad = done.stdout.split(b"\n")[:3]
    assert good.startswith(b"caf\xe9,1,1,4.37") and b"--steps: not UTF-8 text" in bad and done.returncode == 1


@pytest.mark.parametrize("line,says", [
    ("1", "has 1 cells, and the header 2"), ("1,2,3", "has 3 cells, and the header 2"), ('1,"2', "unexpected end"), ('1,"2"3', "expected"),
    ("1," + "9" * (LONGEST + 1), "more than"), ("1,1.5", "whole"), ("1,@/etc/passwd", "not a finite")])
def test_a_line_that_is_no_line_of_the_table(line, says):
    last = [] if "unexpected" in says else ["1,1"]
    _, rows = table("\n".join(["sigma,steps", "1,1", line, *last]), *RDP, code=1)
    assert says in rows[1]["error"] and [bool(r["error"]) for r in rows] == [False, True, *(False for _ in last)]


def test_a_cell_names_no_file(tmp_path):
    (tmp_path / "levels").write_text("secret")
    _, rows = table(f"n,schedule\n9,{tmp_path}/levels\n", "burn-in", code=1)
    assert "names" in rows[0]["error"] or "named on the command line" in rows[0]["error"]


def test_an_answer_that_is_a_table_is_no_line():
    _, rows = table("sigma,roc\n1,\n1,5\n", "tv", code=1)
    assert float(rows[0]["tv"]) > .3 and "--format jsonl" in rows[1]["error"]


def test_json_lines_as_csv():
    text = '{"sigma": 1, "id": "a"}\nx\n{"sigma": 2, "id": null}\n{"sigma": 2, "steps": 3}\n{"orders": [2]}\n'
    header, rows = table(text, *RDP, "--format", "csv", code=1)
    assert header[:3] == ["sigma", "id", "epsilon"] and [r["id"] for r in rows] == ["a", "", "", "", ""]
    assert [bool(r["error"]) for r in rows] == [False, True, False, True, True]
    assert "--steps: has no column" in rows[3]["error"]


def test_results_of_another_batch_as_csv():
    results = asked('{"sigma": 1, "id": "a"}\n{"sigma": 0, "id": "b"}\n{"sigma": 2, "id": "c"}\n', "rdp", code=1).stdout
    header, rows = table(results, "convert", "--delta", "1e-5", "--format", "csv", code=1)
    assert [bool(r["epsilon"]) for r in rows] == [True, False, True] and "guarantee" not in header
    assert "an error of the command before" in rows[1]["error"]


# Cells of printable characters, ends of lines and tabs: others are escaped.
CELLS = st.text(st.characters(exclude_categories=["C", "Z"], include_characters=" \n\t"), max_size=5) | (
    st.sampled_from(["1", "0.5", "", "1/3", "x"]))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=4), st.sampled_from(",\t"))
def test_any_cells_come_back_as_they_came(rows, delimiter):
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([("note", "sigma", "steps"), *rows])
    done = call([*RDP, "--batch"], text.getvalue())
    header, *found = csv.reader(io.StringIO(done.stdout, newline=""), delimiter=delimiter, strict=True)
    assert header[:3] == ["note", "sigma", "steps"] and [tuple(row[:3]) for row in found] == rows
    assert all(row[-1] or float(row[3]) >= 0 for row in found) and "fault" not in done.stdout


def test_a_slow_pipe_is_answered_line_by_line():
    process = subprocess.Popen([SCRIPT, *RDP, "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdin.write(b"sigma\n1\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith(b"sigma,epsilon") and process.stdout.readline().startswith(b"1,4.377")
    process.stdin.write(b"2\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith(b"2,1.99")
    process.stdin.close()
    assert process.wait(30) == 0


@pytest.mark.parametrize(("line", "args"), [
    ({"epsilon": .1, "delta": 1e-7, "steps": 5, "target-delta": 1e-5}, ("convert", "--from", "dp")),
    ({"epsilon": .1, "delta": 1e-7, "steps": 5, "target-epsilon": 1}, ("convert", "--from", "dp")),
    ({"epsilon": 1, "delta": 1e-6, "sampling-rate": .1}, ("subsample",)),
    ({"epsilon": 1, "delta": 1e-6, "tv": .1, "steps": 3}, ("tv",)),
], ids=lambda x: x[0] if isinstance(x, tuple) else "")
def test_the_answer_stands_beside_a_given_number_of_the_same_name(line, args):
    """The ε of each step is no answer: the total ε has a column of its own, and so has its δ."""
    (row,) = table(",".join(line) + "\n" + ",".join(map(str, line.values())) + "\n", *args)[1]
    expected = json.loads(call([*args, *(x for k, v in line.items() for x in (f"--{k}", str(v))), "--json"]).stdout)
    results = {name.removeprefix("result_"): float(x) for name, x in row.items() if name.startswith("result_")}
    assert results and results == {name: expected["result"][name] for name in results}
    assert {name: float(row[name]) for name in line} == line


def test_a_later_line_whose_answer_has_no_column_is_an_error():
    rows = table("epsilon,delta,sampling-rate,steps,sigma\n,1e-6,.1,1,2\n1,1e-6,.1,,\n", "subsample", code=1)[1]
    assert float(rows[0]["epsilon"]) > 0 and "result_epsilon, which has no column" in rows[1]["error"]

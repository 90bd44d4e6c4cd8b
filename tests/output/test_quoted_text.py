"""Text from records, ledgers, tables and names of files is printed with its control characters escaped, in every
format."""

import csv
import io
import json
import re

import pytest
from calling import call
from conftest import slow

from dpcalc.output.formats import spreadsheet_cell

# Clears the screen, the same by a C1 control character, turns the direction of text, begins a new line.
BAD = "x\x1b[2J\x9b2J\u202e\r\nVerified: every number\x7f\u2028\x07"
STYLES = re.compile(r"\x1b\[(0|1|2|1;31|38;5;136)m")
FORMATS = ("table", "json", "jsonl", "csv", "tsv", "markdown", "latex", "statement")


def assert_clean(text, tabs=False):
    text = STYLES.sub("", text).replace("\n", "")
    text = text.replace("\t", "") if tabs else text
    assert text.isprintable(), [c for c in text if not c.isprintable()]


def checked(args, stdin=""):
    """A call none of whose output has a raw control character or a line that begins as the text wants it."""
    done = call(args, stdin)
    assert_clean(done.stdout, tabs="tsv" in args)
    assert_clean(done.stderr)
    assert not re.search(r"^(\x1b\[[0-9;]*m)*Verified: every number(?! in)", done.stdout, re.M)
    return done


@pytest.fixture(scope="module", params=["rdp --bound gaussian-rdp", slow("subsample --sampling-rate .01 --steps 100")])
def record(request):
    return json.loads(call([*request.param.split(), "--sigma", "1", "--delta", "1e-5", "--json"]).stdout)


def forged(record):
    """The record with the text in each place that a reader may quote."""
    yield {**record, BAD: 1}
    yield {**record, BAD: {BAD: BAD}}
    for key in ("version", "command", "schema", "status", "bound", "solved", "adjacency", "released", "id"):
        yield {**record, key: BAD}
    for key in ("notes", "promises"):
        yield {**record, key: [*record.get(key, ()), BAD]}
    for part in ("parameters", "options", "result", "guarantee"):
        yield {**record, part: {**record[part], BAD: BAD}}
        yield {**record, part: {**record[part], BAD: 1}}
    bound = record["bounds"][0]
    for key in ("name", "source", "status", "conversion", "curve", BAD):
        yield {**record, "bounds": [{**bound, key: BAD}, *record["bounds"][1:]]}
    yield {**record, "bounds": [{**bound, "witness": {**bound["witness"], BAD: BAD}}, *record["bounds"][1:]]}
    yield {"error": {"message": BAD, "code": BAD}}


@pytest.mark.parametrize("output", [[], ["--json"], ["-q"], ["--color", "always"]])
def test_verify(record, output):
    """Two records at once: their verdicts are not the first line."""
    for k, one in enumerate(forged(record)):
        if output and k % 3:  # the same texts, in fewer places
            continue
        checked(["verify", "-", *output], json.dumps([one, one] if k % 2 else one))


def test_names_of_files(tmp_path, record):
    path = tmp_path / BAD.replace("\u2028", "")
    path.write_text(json.dumps(record))
    for args in (["convert", path, "--delta", "1e-5"], ["ledger", path, "--delta", "1e-5"], ["tv", path],
                 ["ledger", path, "--delta", "1e-5", "--json"], ["convert", path, path, "--delta", "1e-5"]):
        assert checked([*args]).returncode == 0
    path.write_text("{")
    for command in ("verify", "convert", "ledger"):
        assert checked([command, path, *(["--delta", "1e-5"] if command != "verify" else [])]).returncode == 2
    assert checked(["convert", "--batch", path]).returncode == 1
    for args in (["compare", "--run", path], ["verify", f"{path}\x1b[2J"],
                 ["rdp", "--sigma", BAD], ["rdp", f"--{BAD}", "1"], [BAD], ["explain", BAD], ["help", BAD],
                 ["rdp", "--sigma", "1", "--delta", "1e-5", "--format", BAD],
                 ["rdp", "--sigma", "1", "--delta", "1e-5", "--output", f"{tmp_path}/none/{BAD}"]):
        assert checked(args).returncode == 2


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("colour", ["never", "always"])
def test_ledgers(format, colour):
    ledger = {"release": [{"name": BAD, "command": "rdp", "sigma": 3}, {"name": "=1+1", "kind": "gdp", "mu": 0.25}]}
    done = checked(["ledger", "-", "--delta", "1e-5", "--format", format, "--color", colour], json.dumps(ledger))
    assert done.returncode == 0
    if format in ("json", "jsonl"):
        names = [r["name"] for r in json.loads(done.stdout)["releases"]]
        assert names == [" ".join(BAD.split()), "=1+1"]  # the same text, as escapes of JSON
    if format in ("csv", "tsv"):
        rows = [*csv.reader(io.StringIO(done.stdout), delimiter="," if format == "csv" else "\t")]
        assert rows[2][0] == "'=1+1" and float(rows[2][1]) > 0


@pytest.mark.parametrize("release", [{BAD: 1}, {"command": BAD}, {"command": "rdp", BAD: 1}, {"file": BAD},
                                     {"command": "rdp", "sigma": BAD}, {"kind": BAD}, {"kind": "gdp", "mu": BAD},
                                     {"history": BAD}, {"schema": BAD}, BAD])
def test_errors_of_ledgers(release, tmp_path):
    (tmp_path / "l.json").write_text(json.dumps({"release": [release]}))
    for output in ([], ["--json"]):
        assert checked(["ledger", tmp_path / "l.json", "--delta", "1e-5", *output]).returncode == 2


@pytest.mark.parametrize("format", FORMATS)
def test_guarantees(format):
    guarantee = {"kind": "gdp", "mu": 0.5, "name": BAD, "promises": [BAD]}
    for command in ("convert", "tv"):
        args = [command, "-", *(["--delta", "1e-5"] if command == "convert" else []), "--format", format]
        assert checked(args, json.dumps(guarantee)).returncode == 0


def test_comparisons(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"n": 1000, BAD: 1}))
    assert checked(["compare", "--run", tmp_path / "run.json"]).returncode == 2
    (tmp_path / "run.toml").write_text('n = 1000\nbatches = "x\\u001b[2J\\u009b"\n')
    assert checked(["compare", "--run", tmp_path / "run.toml"]).returncode == 2


@pytest.mark.parametrize("format", ["jsonl", "csv", "tsv"])
def test_batches_of_json(format):
    lines = [{"sigma": 2, "delta": 1e-5, "id": BAD}, {"sigma": BAD, "delta": 1e-5, "id": "@A1"}, {BAD: 1, "id": "=2"},
             {"sigma": 2, "delta": 1e-5, "id": "-7"}]
    done = checked(["rdp", "--batch", "-", "--format", format], "\n".join(map(json.dumps, lines)))
    if format == "jsonl":
        assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [BAD, "@A1", "=2", "-7"]
    else:
        rows = [*csv.DictReader(io.StringIO(done.stdout), delimiter="," if format == "csv" else "\t")]
        assert [row["id"] for row in rows][1:] == ["'@A1", "'=2", "-7"]


def test_lines_of_csv_are_repeated_as_they_came_and_errors_are_quoted():
    """Tables are joined by the cells of the input, and the file has the same formulas already. Characters that command
    a terminal are escaped."""
    done = call(["rdp", "--batch", "-"], 'sigma,delta,_note\n2,1e-5,=1+1\n-1,1e-5,"a\x1b[2J"\n')
    rows = [*csv.DictReader(io.StringIO(done.stdout))]
    assert [row["_note"] for row in rows] == ["=1+1", "a\\u001b[2J"]
    assert rows[1]["error"].startswith("'--sigma: -1 is not > 0")


@pytest.mark.parametrize("text", ["=1+1", "+1+1", "-1-1", "@SUM(A1)", "-", "--sigma: no", "\t=1", "\r=1"])
def test_texts_that_begin_as_formulas_are_quoted(text):
    assert spreadsheet_cell(text)[0] == "'"


@pytest.mark.parametrize("text", ["-1.5", "+2", "1e-5", "-1e-300", "inf", "-inf", "a=b", "", "1-1"])
def test_numbers_and_other_texts_are_not(text):
    assert spreadsheet_cell(text) == text

"""What a command reads from a file or from standard input: the same limits, the same strict JSON, the same sentences
everywhere."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SCRIPT, slow

import dpcalc
from dpcalc import DpcalcError, answer, answer_lines
from dpcalc.cli.app import main
from dpcalc.core import reading
from dpcalc.core.strict_json import OutOfRange, loads

RUN = "--n 10 --lipschitz 1 --smoothness 1 --diameter 1"
# How each command is asked to read FILE, and the option that its errors name.
READERS = {
    "convert": ("convert FILE --delta 1e-5", "--input"),
    "convert --input": ("convert --input FILE --delta 1e-5", "--input"),
    "subsample": ("subsample FILE --sampling-rate .1 --delta 1e-5", "--input"),
    "tv": ("tv FILE", "--input"),
    "batch": ("convert FILE --batch", "--input"),
    "compare": ("compare --run FILE", "--run"),
    "ledger": ("ledger FILE --delta 1e-5", "--file"),
    "burn-in": (f"burn-in {RUN} --batch-size 10 --schedule FILE --delta 1e-5", "--schedule"),
    "online-noise": (f"online-noise {RUN.replace('--n 10 ', '')} --learning-rate .1 --sigmas @FILE --index 1 --epsilon "
                     f"1", "--sigmas"),
    "verify": ("verify FILE", None),
}
JSON = [name for name in READERS if name != "online-noise"]


def call(capsys, line, file, stdin=b""):
    """(exit code, stdout, stderr as JSON's error where there is one) of a call in this process."""
    held, sys.stdin = sys.stdin, stdin if stdin is None else io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    try:
        code = main([word.replace("FILE", str(file)) for word in line.split()])
    finally:
        sys.stdin = held
    out, err = capsys.readouterr()
    return code, out, err


def refused(capsys, reader, file, stdin=b""):
    line, option = READERS[reader]
    code, out, err = call(capsys, line, file, stdin)
    assert (code, out) == (2, "") and err.count("\n") == 1 and len(err) < 400, (code, out, err)
    # a run's parameter
    assert option is None or f" {option}: " in err or f"--sigma: {file}: " in err or f"--delta: {file}: " in err
    return err


@pytest.mark.parametrize("reader", READERS)
def test_what_cannot_be_read_is_one_sentence(capsys, tmp_path, reader):
    (tmp_path / "latin").write_bytes("σ = é".encode("latin-1", "replace") + b"\xff")
    assert "No such file" in refused(capsys, reader, tmp_path / "missing")
    assert "Is a directory" in refused(capsys, reader, tmp_path)
    assert "not UTF-8" in refused(capsys, reader, tmp_path / "latin")
    assert "null byte" in refused(capsys, reader, tmp_path / "a\0b")
    if reader == "batch":
        assert "standard input (-) is the batch" in refused(capsys, reader, "-")
        return
    assert "standard input is not UTF-8" in refused(capsys, reader, "-", b"\xff{}")
    assert "standard input is closed" in refused(capsys, reader, "-", None)
    refused(capsys, reader, "-", b"")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no device without an end")
@pytest.mark.parametrize(("reader", "most"),
                         [("convert", 50), ("compare", 1), ("burn-in", 100), ("online-noise", 100), ("verify", 50)])
def test_a_file_without_an_end_is_refused_by_its_limit(capsys, reader, most):
    assert f"more than {most} MB" in refused(capsys, reader, "/dev/zero")


BAD = {
    '{"a": 1, "b": {"c": 1, "c": 2}}': "the key 'c' appears twice",
    '{"sigma": [NaN]}': "NaN is not a JSON number",
    '{"sigma": -Infinity}': "-Infinity is not a JSON number",
    '{"a": ' * 100_000: "nested too deep",
    '{"a": ' + "1" * 5000 + "}": "a number with too many digits",
    '{"a": 1,\n "b": }': "(line 2, column 7)",
    "{'a': 1}": "(line 1, column 2)",
    '{"a": 1} {"a": 1}': "(line 1, column 10)",
}


@pytest.mark.parametrize("reader", JSON)
@pytest.mark.parametrize("text", BAD, ids=lambda text: text[:20])
def test_json_is_strict_everywhere(capsys, tmp_path, reader, text):
    (tmp_path / "x").write_text(text)
    assert BAD[text] in refused(capsys, reader, tmp_path / "x")


@pytest.mark.parametrize(("reader", "text", "says"), [
    ("convert", '{"kind": "gdp", "mu": 1e400}', "mu: 1e400 is not a finite number"),
    ("convert", '{"kind": "gdp", "mu": 1e-400}', "mu: 1e-400 is not a finite number, or below"),
    ("convert", '{"kind": "gdp", "mu": 1' + "0" * 400 + "}", "is not a finite number"),
    ("compare", '{"n": 10, "batches": "full", "steps": 5, "sigma": 1e400, "lipschitz": 1}',
     "'1e400' is not a finite number"),
    ("compare", '{"n": 10, "batches": "full", "steps": 5, "sigma": 1, "lipschitz": 1, "delta": 1e-400}',
     "below the least positive double"),
    ("compare", 'n = 10\nbatches = "full"\nsteps = 5\nsigma = 1\nlipschitz = 1\ndelta = 1e-400',
     "below the least positive double"),
    ("compare", "sigma = nan", "'nan' is not a finite number"),
    ("compare", "sigma = 1e999", "'1e999' is not a finite number"),
    ("burn-in", '{"sigma": [1, 1e400], "learning_rate": [0.1, 0.1]}', "sigma, step 2: '1e400' is not a number > 0"),
    ("burn-in", '{"sigma": [1, 1e-400], "learning_rate": [0.1, 0.1]}', "sigma, step 2: '1e-400' is not a number > 0"),
    ("burn-in", '{"sigma": [1, 1' + "0" * 400 + '], "learning_rate": [0.1, 0.1]}', "is not a number > 0"),
    ("online-noise", "1, 1e400", "/x is not a finite number"),
    ("online-noise", " \n", "holds no numbers"),
])
def test_numbers_that_no_double_holds_are_refused_by_name(capsys, tmp_path, reader, text, says):
    (tmp_path / "x").write_text(text)
    assert says in refused(capsys, reader, tmp_path / "x")


def test_a_result_that_claims_a_number_no_double_holds_is_none(capsys, tmp_path, cli):
    record = cli("rdp", "--sigma", "1", "--delta", "1e-5", "--json").stdout
    epsilon = json.loads(record)["result"]["epsilon"]
    (tmp_path / "x").write_text(record.replace(repr(epsilon), "1e-400"))
    assert "result.epsilon is \"1e-400\", no number" in refused(capsys, "verify", tmp_path / "x")
    (tmp_path / "x").write_text(record.replace(repr(epsilon), "1" + "0" * 400))
    assert "no number" in refused(capsys, "verify", tmp_path / "x")
    (tmp_path / "lines").write_text(json.dumps(json.loads(record)) + '\n{"schema": "dpcalc/v1", "schema": 2}\n')
    assert "line 2 is not JSON: the key 'schema' appears twice" in refused(capsys, "verify", tmp_path / "lines")


SCHEDULE = {"sigma": [0.5, 0.25, 1.0], "learning_rate": [0.1, 0.2, 0.1]}
SETTING = {"n": 10, "batch_size": 10, "lipschitz": 1, "smoothness": 1, "diameter": 1, "delta": 1e-5}


def test_python_and_batch_give_the_data_itself(tmp_path):
    path = tmp_path / "steps.json"
    path.write_text(json.dumps(SCHEDULE))
    expected = answer("burn-in", schedule=str(path), **SETTING).value
    assert answer("burn-in", schedule=path, **SETTING).value == answer("burn-in", schedule=SCHEDULE,
                                                                       **SETTING).value == expected
    lines = list(answer_lines([json.dumps({"schedule": SCHEDULE}), json.dumps({"schedule": str(path)}),
                               '{"schedule": {"sigma": [1], "sigma": [2]}}',
                               '{"schedule": {"sigma": [1e400], "learning_rate": [1]}}'],
                              "burn-in", **SETTING))
    assert json.loads(lines[0])["result"]["epsilon"] == expected
    assert ["a file is named on the command line" in lines[1], "appears twice" in lines[2],
            "'1e400' is not a number" in lines[3]] == [True] * 3
    run = {"n": 10, "batches": "full", "steps": 5, "sigma": 1, "lipschitz": 1, "delta": 1e-5}
    (tmp_path / "run.json").write_text(json.dumps(run))
    assert answer("compare", run=run).value == answer("compare", run=tmp_path / "run.json").value == answer("compare",
                                                                                                            **run).value
    line, by_file = answer_lines([json.dumps({"run": run}), json.dumps({"run": str(tmp_path / "run.json")})], "compare")
    assert json.loads(line)["result"]["epsilon"] == answer("compare", **run).value and "a file is named" in by_file
    for bad in ({"sigma": [float("nan")]}, {"sigma": [object()]}):
        with pytest.raises(DpcalcError, match=r"^--schedule: this is not JSON: "):
            answer("burn-in", schedule=bad, **SETTING)


def test_standard_input_is_read_once_and_a_sweep_asks_it_again(cli, tmp_path):
    line = ["burn-in", "--n", "10", "--batch-size", "10", "--lipschitz", "1", "--smoothness", "1", "--diameter", "1",
            "--schedule", "-", "-q"]
    done = cli(*line, "--delta", "1e-5,1e-6", stdin=json.dumps(SCHEDULE))
    each = [answer("burn-in", schedule=SCHEDULE, **{**SETTING, "delta": d}).value for d in (1e-5, 1e-6)]
    assert (done.returncode, [float(x) for x in done.stdout.split()]) == (0, each), done.stderr
    series = ["online-noise", "--lipschitz", "1", "--diameter", "1", "--smoothness", "1", "--learning-rate", ".1",
              "--index", "1", "-q", "--epsilon", "1"]
    assert cli(*series, "--sigmas", "@-", stdin="1 1\n2,1\n").stdout == cli(*series, "--sigmas", "1,1,2,1").stdout != ""
    for args in (["compare", "--run", "-"], ["online-noise", "--sigmas", "@-"], ["burn-in", "--schedule", "-"]):
        done = cli(*args, "--batch", stdin="{}")
        assert done.returncode == 2 and "standard input (-) is the batch" in done.stderr


@pytest.mark.parametrize("reader", [slow(name) if name != "verify" else name for name in READERS if name != "batch"])
def test_a_process_without_standard_input_says_so(reader):
    line = READERS[reader][0].replace("FILE", "-")
    done = subprocess.run(["sh", "-c", f"exec {SCRIPT} {line} <&-"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and "'-': standard input is closed" in done.stderr


def test_a_stream_of_text_is_read_as_well(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"a": "σ"}'))
    assert reading.json_value(reading.text("-", 1), "it") == {"a": "σ"}


def test_numbers_are_kept_or_told_apart():
    assert loads(str(2**1024)) == 2**1024  # an id may be any whole number
    assert isinstance(loads("1e400"), OutOfRange) and isinstance(loads("-1e-400"),
                                                                 OutOfRange) and loads("0.0e-400") == 0


def test_no_module_reads_by_itself():
    """One reader of files, one of standard input, one parser of JSON from outside."""
    sources = {p.name: p.read_text(encoding="utf-8") for p in Path(dpcalc.__file__).parent.rglob("*.py")}
    assert {name for name, text in sources.items() if "stdin" in text} == {"reading.py", "batch_stream.py"}
    assert {name for name, text in sources.items() if '"rb")' in text} == {"reading.py"}
    # dpcalc's own
    assert {name for name, text in sources.items() if "json.loads(" in text} == {"recomputed.py", "certify.py",
                                                                                 "catalogue.py"}

"""Files that data from others name: records and JSON in place of a file name none, a ledger those in its folder, and no
message repeats what is in a file that was not meant to be read."""

import json
import os
import subprocess
import sys

import pytest
from calling import call
from conftest import SCRIPT, slow

from dpcalc import answer

SECRET = "hunter2"
FACTORS = ["correlated", "--sigma", "2", "--steps", "3", "--delta", "1e-5", "--order", "once"]
GUARANTEE = {"kind": "gdp", "mu": 0.5}
EPSILON = 1.99309140441  # at δ = 1e-5
LEDGER = ["--delta", "1e-5", "-q"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of a ledger, which is the working folder: a guarantee in it, below it, and outside of it."""
    inside = tmp_path / "inside"
    (inside / "below").mkdir(parents=True)
    for path in (inside / "g.json", inside / "below" / "g.json", tmp_path / "g.json"):
        path.write_text(json.dumps(GUARANTEE))
    (inside / "secret.txt").write_text(f"1 {SECRET}\n")
    (inside / "out").symlink_to(tmp_path)
    (inside / "link.json").symlink_to(tmp_path / "g.json")
    (inside / "numbers").write_text("1, .5\n.25\n")
    if hasattr(os, "mkfifo"):
        os.mkfifo(inside / "fifo")
    monkeypatch.chdir(inside)
    return inside


def refused(args, stdin=b""):
    done = call(args, stdin)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
    assert SECRET not in done.stderr
    return done.stderr


def record(*line):
    return json.loads(call([*line, "--json"]).stdout)


@pytest.mark.parametrize("value", ["@secret.txt", "@numbers", "@fifo", "@/dev/zero", "@-"])
def test_a_record_names_no_file_of_numbers(folder, value):
    found = record(*FACTORS, "--coefficients", "1,.5,.25")
    assert call(["verify", "-"], json.dumps(found)).returncode == 0
    found["options"]["coefficients"] = value
    assert "options.coefficients names a file" in refused(["verify", "-"], json.dumps(found))


@pytest.mark.parametrize("value", [["g.json"], ["-"], [{"release": [{"file": "g.json"}]}],
                                   ['{"release": [{"file": "fifo"}]}'],
                                   [{"release": [{"command": "convert", "input": ["g.json"]}]}],
                                   [{"release": [{"command": "correlated", "coefficients": "@numbers"}]}]])
def test_a_record_of_a_ledger_names_no_file(folder, value):
    found = record("ledger", "g.json", "--delta", "1e-5")
    assert call(["verify", "-"], json.dumps(found)).returncode == 0
    found["options"]["file"] = value
    assert "options.file names a file" in refused(["verify", "-"], json.dumps(found))


@pytest.mark.parametrize("release", [{"file": "g.json"}, {"command": "convert", "input": "g.json"},
                                     {"command": "compare", "run": "run.toml"},
                                     {"command": "correlated", "sigma": 2, "steps": 3, "coefficients": "@numbers"}])
def test_json_in_place_of_a_file_names_no_file(folder, release):
    assert "names no file" in refused(["ledger", json.dumps({"release": [release]}), *LEDGER])


@pytest.mark.parametrize("key", ["file", "input"])
@pytest.mark.parametrize(("name", "anywhere", "says"), [
    ("g.json", False, None),
    ("below/g.json", False, None),
    ("../g.json", False, "in its folder and below"),
    ("below/../../g.json", False, "in its folder and below"),
    ("{root}/g.json", False, "in its folder and below"),
    ("/dev/stdin", False, "in its folder and below"),
    ("link.json", False, "in its folder and below"),
    ("out/g.json", False, "in its folder and below"),
    ("../g.json", True, None),
    ("link.json", True, None),
    ("{root}/g.json", True, None),
    ("below", False, "not a regular file"),
    ("fifo", False, "not a regular file"),
    ("fifo", True, "not a regular file"),
    ("/dev/null", True, "not a regular file"),
    ("secret.txt", False, "secret.txt is "),
])
def test_a_ledger_names_the_files_in_its_folder(folder, key, name, anywhere, says):
    name = name.format(root=folder.parent)
    release = f'file = "{name}"' if key == "file" else f'command = "convert"\ninput = "{name}"'
    text = f"[[release]]\n{release}\n"
    (folder / "l.toml").write_text(text)
    switch = ["--allow-files-anywhere"] if anywhere else []
    for source, stdin in (("l.toml", ""), (str(folder / "l.toml"), ""), ("-", text)):
        args = ["ledger", source, *LEDGER, *switch]
        if says:
            assert says in refused(args, stdin)
        else:
            assert float(call(args, stdin).stdout) == pytest.approx(EPSILON, rel=1e-9)


def test_numbers_that_a_ledger_names_are_those_in_its_folder(folder):
    text = '[[release]]\ncommand = "correlated"\nsigma = 2\nsteps = 3\ncoefficients = "@{}"\n'
    (folder / "l.toml").write_text(text.format("numbers"))
    assert float(call(["ledger", "l.toml", *LEDGER]).stdout) == record(*FACTORS, "--coefficients",
                                                                       "1,.5,.25")["result"]["epsilon"]
    (folder / "l.toml").write_text(text.format("../numbers"))
    assert "in its folder and below" in refused(["ledger", "l.toml", *LEDGER])
    (folder / "l.toml").write_text(text.format("fifo"))
    assert "not a regular file" in refused(["ledger", "l.toml", *LEDGER])


def test_the_switch_is_an_option_in_python(folder):
    (folder / "l.toml").write_text('[[release]]\nfile = "../g.json"\n')
    found = answer("ledger", file="l.toml", delta=1e-5, allow_files_anywhere=True).value
    assert found == pytest.approx(EPSILON, rel=1e-9)


@pytest.mark.parametrize(("text", "says"), [(f"1, 2\n{SECRET} 4", "entry 3 of x is not a finite number"),
                                            (f"1,{SECRET}\x1b[2J", "entry 2 of x is not a finite number"),
                                            ("1\n2\n-77e200", "entry 3 of x is not ≥ -1e+100")])
def test_a_file_of_numbers_is_named_by_the_place(folder, text, says):
    (folder / "x").write_text(text)
    message = refused([*FACTORS, "--coefficients", "@x"])
    assert says in message and "77" not in message


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="no names for open files")
@pytest.mark.parametrize("line", [
    "dpcalc convert <(dpcalc rdp --sigma 2 --json) --delta 1e-5 -q",
    slow("dpcalc rdp --sigma 2 --json | dpcalc convert /dev/stdin --delta 1e-5 -q"),
    slow("dpcalc ledger <(dpcalc rdp --sigma 2 --json) --delta 1e-5 -q"),
])
def test_pipes_that_a_user_names_are_read(line):
    path = f"{os.path.dirname(SCRIPT)}{os.pathsep}{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PATH": path})
    assert float(done.stdout) == answer("rdp", sigma=2, delta=1e-5).value, done.stderr

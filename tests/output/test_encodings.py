"""Output in encodings that lack the letters of a table, and JSON in any of them."""

import json
import os
import subprocess
import sys

import pytest
from answers import answer
from conftest import spread


@spread("encoding", ["latin-1", "cp1252", "ascii", "utf-16", "utf-8"])
def test_json_can_be_read_whatever_the_encoding(encoding):
    run = [sys.executable, "-m", "dpcalc", "rdp", "--sigma", "1", "--delta", "1e-5", "--json"]
    out = subprocess.run(run, capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding}, check=True).stdout
    assert json.loads(out.decode("utf-8"))["bounds"] == answer("rdp --sigma 1 --delta 1e-5")["bounds"]


@pytest.mark.parametrize("encoding, rule", [("ascii", b"-----"), ("utf-8", "─────".encode())])
def test_the_rule_of_a_table_is_one_that_the_encoding_has(encoding, rule):
    run = [sys.executable, "-m", "dpcalc", "rdp", "--sigma", "1", "--delta", "1e-5"]
    out = subprocess.run(run, capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding}, check=True).stdout
    assert out.splitlines()[4].startswith(rule) and b"\\u2500" not in out


def in_ascii(line):
    return subprocess.run([sys.executable, "-m", "dpcalc", *line.split()], capture_output=True, check=True,
                          env={"PYTHONIOENCODING": "ascii", "PATH": ""}).stdout


def test_letters_that_the_encoding_lacks_are_escaped_in_json():
    text = in_ascii("rdp --sigma 1 --delta 1e-5 --json")
    assert json.loads(text) == answer("rdp --sigma 1 --delta 1e-5") and b"\\u03b1" in text


def test_letters_that_the_encoding_lacks_are_spelled_out_for_people():
    lines = in_ascii("rdp --sigma 1 --delta 1e-5").decode("ascii").splitlines()
    assert lines[0] == "eps = 4.37718 at delta = 1e-05 (gaussian-exact)"
    assert lines[3].split() == ["bound", "eps", "source"] and len({line.index("4.") for line in lines[5:7]}) == 1
    note = in_ascii("noise-feedback --curvature .7 --learning-rate .1 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-5")
    assert b"Note: sigma is the noise on the iterate" in note

"""What .ci/lowest.txt installs is what pyproject.toml promises to work with."""

import subprocess
import sys

from conftest import ROOT


def test_the_lowest_versions_are_those_declared():
    printed = subprocess.run([sys.executable, ROOT / ".ci" / "lowest.py"], capture_output=True, text=True, check=True).stdout
    assert printed == (ROOT / ".ci" / "lowest.txt").read_text()
    assert printed.count("==") == printed.count("\n") >= 10

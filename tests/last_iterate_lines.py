"""What the tests of shuffle-pnsgd and online-noise share: their golden cases, and command lines in this process."""

import contextlib
import io
import json
from pathlib import Path

from dpcalc.cli import main

DATA = json.loads((Path(__file__).parent / "golden" / "last_iterate.json").read_text())


def asked(argv):
    """(exit code, stdout, stderr) in this process: a hundred command lines would spend a minute in start-up."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([*argv, "--json"])
    return code, out.getvalue(), err.getvalue()


def answer(line):
    """(the JSON answer, stderr)."""
    code, out, err = asked(line.split())
    assert code == 0, err
    return json.loads(out), err

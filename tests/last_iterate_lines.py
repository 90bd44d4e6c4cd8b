"""What the tests of shuffle-pnsgd and online-noise share: their golden cases, and command lines in this process."""

import json
from pathlib import Path

from calling import call

DATA = json.loads((Path(__file__).parent / "golden" / "last_iterate.json").read_text())


def asked(argv):
    """(exit code, stdout, stderr)."""
    return call([*argv, "--json"])


def answer(line):
    """(the JSON answer, stderr)."""
    code, out, err = asked(line.split())
    assert code == 0, err
    return json.loads(out), err

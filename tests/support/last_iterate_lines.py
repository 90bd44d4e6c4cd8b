"""What the tests of shuffle-pnsgd and online-noise share: their golden cases, and command lines in this process."""

import json

from calling import call
from paths import GOLDEN

DATA = json.loads((GOLDEN / "last_iterate.json").read_text())


def asked(argv):
    """(exit code, stdout, stderr)."""
    return call([*argv, "--json"])


def answer(line):
    """(the JSON answer, stderr)."""
    code, out, err = asked(line.split())
    assert code == 0, err
    return json.loads(out), err

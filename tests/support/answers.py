"""Answers of command lines: the JSON, the number alone, or why there is none."""

import json

from calling import call


def answer(line):
    code, out, err = call([*line.split(), "--json"])
    assert code == 0, err
    return json.loads(out)


def number(line):
    code, out, err = call([*line.split(), "-q"])
    assert code == 0, err
    return float(out)


def refusal(line, exit_code):
    code, out, err = call(line.split())
    assert code == exit_code and not out
    return err


def printed(line):
    """The exit code, and what is printed on both streams: a table, or why there is none."""
    done = call(line.split())
    return done.returncode, done.stdout + done.stderr

"""Answers of command lines: the JSON, the number alone, or why there is none."""

import json
from functools import cache

from calling import call


@cache
def _out(line):
    """What a line prints: many tests read the same answer."""
    code, out, err = call(line.split())
    assert code == 0, err
    return out


def answer(line):
    return json.loads(_out(f"{line} --json"))


def number(line):
    return float(_out(f"{line} -q"))


def refusal(line, exit_code):
    code, out, err = call(line.split())
    assert code == exit_code and not out
    return err


def printed(line):
    """The exit code, and what is printed on both streams: a table, or why there is none."""
    done = call(line.split())
    return done.returncode, done.stdout + done.stderr

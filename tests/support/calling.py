"""A call of the command line in this process: a thousand of them would spend ten minutes in start-up."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import NamedTuple

from dpcalc.cli.app import main


class Done(NamedTuple):
    """What a finished process has."""

    returncode: int
    stdout: str
    stderr: str  # warnings of libraries among it, as a process writes them


def call(args, stdin=b""):
    """`dpcalc ARGS`, with bytes or text on standard input, which is a file as a shell's < makes it."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True)
                for _ in range(2))
    held = sys.stdin
    try:
        with (tempfile.TemporaryFile() as given, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err),
              warnings.catch_warnings(record=True) as raised):
            given.write(stdin.encode() if isinstance(stdin, str) else stdin)
            given.seek(0)
            sys.stdin = io.TextIOWrapper(given, encoding="utf-8")
            as_a_process_does()
            code = main([str(a) for a in args])
    finally:
        sys.stdin = held
    said = "".join(warnings.formatwarning(w.message, w.category, w.filename, w.lineno) for w in raised)
    out_text, err_text = (stream.buffer.getvalue().decode() for stream in (out, err))
    return Done(code, out_text, err_text + said)


def shell(line):
    """A line for a shell, in the current directory: the commands of dpcalc that it begins with in this process, and what
    follows in bash."""
    stages, done = re.sub(r"^(dpcalc [^|;&<>$]+) > ([\w.]+)$", r"\1 | cat > \2", line).split(" | "), Done(0, "", "")
    while stages and not done.returncode and re.fullmatch(r"dpcalc [^;&<>$]+", stages[0]):
        done = call(shlex.split(stages.pop(0))[1:], done.stdout)
    if stages and not done.returncode:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        rest = subprocess.run(["bash", "-o", "pipefail", "-c", " | ".join(stages)], input=done.stdout,
                              capture_output=True, text=True, timeout=120, env={**os.environ, "PATH": path})
        done = Done(rest.returncode, rest.stdout, done.stderr + rest.stderr)
    return done


def as_a_process_does():
    """The filters of an interpreter that starts: only what a user is shown."""
    warnings.resetwarnings()
    for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
        warnings.simplefilter("ignore", category)

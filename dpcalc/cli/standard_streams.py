"""What a call writes: the answer on standard output, one line a message on standard error, and the exit code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable

from dpcalc.core.errors import DpcalcError, fault
from dpcalc.core.text import report


def write(text: str) -> None:
    """One write of the answer, flushed here, so that a full disk or a closed pipe is noticed inside `exit_code`."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def exit_code(run: Callable[[], int], program: str = "dpcalc", as_json: bool = False) -> int:
    """The exit code of a call that writes its answer. Whatever goes wrong is one line on standard error, or one object
    of JSON."""
    if sys.stderr is None:  # closed: what is for it must not go to stdout
        sys.stderr = io.StringIO()
    try:
        if sys.stdout is None:
            raise DpcalcError("output", "cannot write the answer: standard output is closed")
        return run()
    except DpcalcError as error:
        return _fail(error, program, as_json)
    except KeyboardInterrupt:
        _drop_output()
        return 130
    except BrokenPipeError:
        _drop_output()
        return 0
    except OSError as error:
        _drop_output()
        return _fail(DpcalcError("output", f"cannot write the answer: {error.strerror or error}"), program, as_json)
    except Exception as error:
        if "DPCALC_DEBUG" in os.environ:
            raise
        return _fail(fault(error), program, as_json)


def _fail(error: DpcalcError, program: str, as_json: bool) -> int:
    if as_json:
        from dpcalc.core.strict_json import dumps

        report(dumps(error.record()))
    else:
        report(f"{program}: {error.line()}")
    return error.exit_code


def _drop_output() -> None:
    """Nothing more can be written: keep the interpreter's own flush at exit silent."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def quiet_beside(option: str) -> DpcalcError:
    """The error for --quiet beside an option that says what to print."""
    return DpcalcError("contradictory", f"prints the number alone; drop {option} or --quiet", "--quiet")

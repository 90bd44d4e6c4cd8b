"""Standard output for the answer, standard error for messages of one line, and the exit code."""

import io
import os
import sys
from collections.abc import Callable

from dpcalc.core.errors import DpcalcError, fault


def write(text: str) -> None:
    """Writes the answer and flushes it, so that a full disk or a closed pipe is an error within `exit_code`. What a
    format has not escaped is escaped here: everything unprintable but our styles, ends of lines, and tabs (of TSV)."""
    if not text.isprintable():
        import re

        from dpcalc.core.text import printable_line

        text = "".join(x if x in ("\n", "\t") else printable_line(x) for x in re.split(r"([\n\t])", text))
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def exit_code(run: Callable[[], int], program: str = "dpcalc", as_json: bool = False) -> int:
    """Runs a call that writes its answer, and returns its exit code.

    Every error is one line on standard error: text that begins with the program, or one JSON object.
    """
    if sys.stderr is None:  # closed: messages must not appear on standard output instead
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
    from dpcalc.core import style
    from dpcalc.core.text import report

    if as_json:
        from dpcalc.core.strict_json import dumps

        report(dumps(error.record()))
    else:
        report(error.line(), program, style.RED)
    return error.exit_code


def _drop_output() -> None:
    """Drops what is still buffered, so that the interpreter's own flush at exit cannot fail."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

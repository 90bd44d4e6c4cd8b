"""A file that is written whole or not at all. An error names the option that named the file."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from dpcalc.core.errors import DpcalcError


@contextmanager
def whole_file(name: str, option: str) -> Iterator[BinaryIO]:
    """A stream whose content becomes the file where the body of the `with` ends without an exception.

    Raises DpcalcError where it cannot be written.
    """
    try:
        with _whole_file(name) as file:
            yield file
    except OSError as error:
        raise _not_writable(name, error.strerror or str(error), option) from None


@contextmanager
def _whole_file(name: str) -> Iterator[BinaryIO]:
    """The stream of a file of that name.

    The content goes to a temporary file in the same directory, which then takes the name; on an exception, also an
    interrupt, it is removed and an old file stays as it was. Raises OSError. A pipe, a device, or a file in a directory
    that takes no new file is written directly, at the end.
    """
    path = os.path.realpath(name)
    folder, old = os.path.dirname(path), os.path.exists(name)
    if old and not (os.path.isfile(name) and os.access(folder, os.W_OK)):
        held = io.BytesIO()
        yield held
        with open(name, "wb") as file:  # by this name: a pipe in /dev/fd has no other
            file.write(held.getvalue())
        return
    beside = os.path.join(folder, f".dpcalc-{os.urandom(8).hex()}.tmp")
    try:
        with open(beside, "xb") as file:
            yield file
        if old:
            os.chmod(beside, os.stat(path).st_mode & 0o777)
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.remove(beside)
        raise


def require_writable(name: str, option: str) -> None:
    """Raises DpcalcError where a file of this name cannot be written, before anything is computed."""
    folder = os.path.dirname(name) or "."
    if not os.path.isdir(folder):
        raise _not_writable(name, f"no directory {folder!r}", option)
    if os.path.isdir(name):
        raise _not_writable(name, "is a directory", option)
    if not os.access(name if os.path.exists(name) else folder, os.W_OK):
        raise _not_writable(name, "permission denied", option)


def _not_writable(name: str, reason: str, option: str) -> DpcalcError:
    return DpcalcError("output", f"cannot write {name!r}: {reason}", option)

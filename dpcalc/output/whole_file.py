"""A file that is written whole or not at all."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO


@contextmanager
def whole_file(name: str) -> Iterator[BinaryIO]:
    """A stream whose content becomes the file where the body of the `with` ends without an exception.

    The content goes to a temporary file in the same directory, which then takes the name; on an exception, also an
    interrupt, it is removed and an old file stays as it was. Raises OSError. A pipe, a device, or a file in a directory
    that takes no new file is written directly, at the end.
    """
    path = os.path.realpath(name)
    folder, old = os.path.dirname(path), os.path.exists(path)
    if old and not (os.path.isfile(path) and os.access(folder, os.W_OK)):
        held = io.BytesIO()
        yield held
        with open(path, "wb") as file:
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


def reason_not_writable(name: str) -> str | None:
    """Why a file of this name cannot be written, found before anything is computed; None where it can."""
    folder = os.path.dirname(name) or "."
    if not os.path.isdir(folder):
        return f"no directory {folder!r}"
    if os.path.isdir(name):
        return "is a directory"
    return None if os.access(name if os.path.exists(name) else folder, os.W_OK) else "permission denied"

"""Commands on a terminal, as people see them."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
from typing import NamedTuple


class Shown(NamedTuple):
    code: int
    screen: str  # what the terminal was sent, with \n between its lines
    stdout: str  # what went to a pipe instead, where stdout was one


def read_all(main):
    """What is written to the other side until it is closed."""
    text = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:  # how Linux says that the other side is closed
            return text
        if not part:
            return text
        text += part


def on_terminal(command, columns=80, *, streams=("stdout", "stderr"), **variables):
    """Run a command of which these streams are a terminal of so many columns and 24 lines; the others are pipes.

    The `variables` change its environment; one that is None is not set.
    """
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")} | {"TERM": "xterm", **variables}
    environment = {k: v for k, v in environment.items() if v is not None}
    ends = {name: side if name in streams else subprocess.PIPE for name in ("stdout", "stderr")}
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, env=environment, **ends) as process:
        os.close(side)
        screen = read_all(main)  # first: a short text fits a pipe, and a terminal does not wait
        out = process.communicate(timeout=60)[0] or b""
    os.close(main)
    return Shown(process.returncode, screen.decode(errors="replace").replace("\r\n", "\n"), out.decode())

"""Entry: --version is answered before anything heavy is imported, and an interrupt at any time is a silent exit code
130."""

import os

try:
    import signal
    import sys
except KeyboardInterrupt:
    os._exit(130)


def _leave(*_: object) -> None:
    """Ends the process at once: before the command line runs, and after it, there is nothing to put in order. An
    exception would lose itself in callbacks of the import system, which print it and go on."""
    os._exit(130)


def _on_interrupt(handler: object, instead_of: object) -> None:
    """Changes what an interrupt does, unless whoever started or imported this has decided it already."""
    if signal.getsignal(signal.SIGINT) is instead_of:
        signal.signal(signal.SIGINT, handler)  # type: ignore[arg-type]


# not where it is imported by another program
if __name__ == "__main__" or os.path.basename(sys.argv[0]).startswith("dpcalc"):
    _on_interrupt(_leave, instead_of=signal.default_int_handler)

# The matrices here are small: a second thread of linear algebra costs more than it brings, on a busy machine thirty
# times.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Nearly nothing here is cyclic: to look for it costs a command up to 20 ms.
_OBJECTS = 100_000  # that are made before it is looked for


def main() -> None:
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.exit(_version())
    import gc

    gc.set_threshold(_OBJECTS)
    from dpcalc.cli.app import main as cli

    try:
        _on_interrupt(signal.default_int_handler, instead_of=_leave)  # what is under way is put in order first
        code = cli(sys.argv[1:])
        _on_interrupt(_leave, instead_of=signal.default_int_handler)
    except KeyboardInterrupt:
        _leave()
    sys.exit(code)


def _version() -> int:
    from dpcalc import __version__
    from dpcalc.cli.standard_streams import exit_code, write

    def run() -> int:
        write(f"dpcalc {__version__}")
        return 0

    return exit_code(run)


if __name__ == "__main__":
    main()

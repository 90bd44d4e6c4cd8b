"""The entry point: --version is answered before anything heavy is imported, and an interrupt exits with code 130."""

import os

try:
    import signal
    import sys
except KeyboardInterrupt:
    os._exit(130)


def _leave(*_: object) -> None:
    """Ends the process at once, as nothing needs to be cleaned up before the command line runs, and after it.

    An exception could get lost in callbacks of the import system, which print it and continue.
    """
    os._exit(130)


def _on_interrupt(handler: object, instead_of: object) -> None:
    """Sets the handler of interrupts, unless the program that started or imported this one has set another handler."""
    if signal.getsignal(signal.SIGINT) is instead_of:
        signal.signal(signal.SIGINT, handler)  # type: ignore[arg-type]


# Not where another program imports this module.
if __name__ == "__main__" or os.path.basename(sys.argv[0]).startswith("dpcalc"):
    _on_interrupt(_leave, instead_of=signal.default_int_handler)

# The matrices here are small: a second thread of linear algebra slows them down, by a factor of 30 on a busy machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def main() -> None:
    if sys.argv[1:] in (["--version"], ["-V"]):
        sys.exit(_version())
    import gc

    # new objects before the garbage collector looks for cycles, of which there are hardly any: it takes up to 20 ms
    gc.set_threshold(100_000)
    from dpcalc.cli.app import main as cli

    try:
        # an exception, so that finished lines are still written
        _on_interrupt(signal.default_int_handler, instead_of=_leave)
        code = cli(sys.argv[1:])
        _on_interrupt(_leave, instead_of=signal.default_int_handler)
    except KeyboardInterrupt:
        _leave()
    gc.freeze()  # so that the collection at the end of the process, when nothing is needed any more, is fast
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

"""Entry: --version is answered before anything heavy is imported."""

import gc
import os
import sys

# The matrices here are small: a second thread of linear algebra costs more than it brings, on a busy machine thirty times.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Nearly nothing here is cyclic: to look for it costs a command up to 20 ms.
_OBJECTS = 100_000  # that are made before it is looked for


def main() -> None:
    if sys.argv[1:] in (["--version"], ["-V"]):
        from dpcalc import __version__

        sys.stdout.write(f"dpcalc {__version__}\n")
        return
    gc.set_threshold(_OBJECTS)
    from dpcalc.cli import main as cli

    sys.exit(cli(sys.argv[1:]))


if __name__ == "__main__":
    main()

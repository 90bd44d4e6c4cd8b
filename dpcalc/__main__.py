"""Entry: --version is answered before anything heavy is imported."""

import os
import sys

# The matrices here are small: a second thread of linear algebra costs more than it brings, on a busy machine thirty times.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def main() -> None:
    if sys.argv[1:] in (["--version"], ["-V"]):
        from dpcalc import __version__

        sys.stdout.write(f"dpcalc {__version__}\n")
        return
    from dpcalc.cli import main as cli

    sys.exit(cli(sys.argv[1:]))


if __name__ == "__main__":
    main()

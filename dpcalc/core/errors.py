"""Errors for people: one line that names the option, the value and what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from math import inf


class DpcalcError(Exception):
    """An error that the user can correct.

    `code` and `option` are part of the JSON interface and stable; `exit_code` is that of the command line.
    """

    exit_code = 2

    def __init__(self, code: str, message: str, option: str | None = None) -> None:
        super().__init__(code, message, option)  # so that the error can be pickled
        self.code, self.message, self.option = code, message, option

    def __str__(self) -> str:
        return self.line()

    def line(self) -> str:
        return f"{self.option}: {self.message}" if self.option else self.message

    def record(self) -> dict[str, dict[str, str]]:
        option = {"option": self.option} if self.option else {}
        return {"error": {"code": self.code, **option, "message": self.message}}


class NoSolution(DpcalcError):
    """The budget cannot be met.

    `reached` computes the best value that can be reached, and the words for it. It may take a while, and is called only
    where the error is printed.
    """

    exit_code = 3

    def __init__(self, code: str, message: str, option: str | None = None,
                 reached: Callable[[], tuple[float, str]] | None = None) -> None:
        super().__init__(code, message, option)
        self.reached = reached

    @staticmethod
    def nearest_to_budget(reasons: list[NoSolution]) -> NoSolution:
        """The error of the bound that comes nearest to the budget, with the value it reaches.

        Values that print alike, in six digits, are ties, and the first of them is returned.
        """
        found = [(reason, *(reason.reached() if reason.reached else (inf, ""))) for reason in reasons]
        nearest, _, text = min(found, key=lambda one: float(f"{one[1]:.6g}"))
        return NoSolution(nearest.code, f"{nearest.message}: {text}", nearest.option) if text else nearest


class EveryValueMeets(NoSolution):
    """Every value in the range of the search meets the budget, so that no value just meets it."""


class MissingExtra(DpcalcError):
    """An option needs a Python package that is not installed; the message reads on from the option."""

    def line(self) -> str:
        return f"{self.option} {self.message}"


class OutOfScope(DpcalcError):
    """A theorem does not cover these parameters. It is left out silently, unless it was named or is the only one."""


def flag(name: str) -> str:
    """The option of a parameter: --sampling-rate for sampling_rate."""
    return "--" + name.replace("_", "-")


def fault(error: Exception) -> DpcalcError:
    """The error to report for an exception that is a fault of dpcalc, not of its input."""
    return DpcalcError("internal",
                       f"this is a fault of dpcalc; please report it: {type(error).__name__}: {error} (DPCALC_DEBUG=1 "
                       f"shows where)")

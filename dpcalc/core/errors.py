"""What can go wrong, for people: one line that names the option, the value and what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from math import inf


class DpcalcError(Exception):
    """An answer that is a sentence. `code` and `option` are stable (JSON); `exit_code` follows the command line's."""

    exit_code = 2

    def __init__(self, code: str, message: str, option: str | None = None) -> None:
        super().__init__(code, message, option)  # as they came, so that an error survives pickling
        self.code, self.message, self.option = code, message, option

    def __str__(self) -> str:
        return self.line()

    def line(self) -> str:
        return f"{self.option}: {self.message}" if self.option else self.message

    def record(self) -> dict[str, dict[str, str]]:
        option = {"option": self.option} if self.option else {}
        return {"error": {"code": self.code, **option, "message": self.message}}


class NoSolution(DpcalcError):
    """The budget cannot be met. What can be reached at best takes a while to find out: it is looked for where it is
    told."""

    exit_code = 3

    def __init__(self, code: str, message: str, option: str | None = None,
                 reached: Callable[[], tuple[float, str]] | None = None) -> None:
        super().__init__(code, message, option)
        self.reached = reached

    @staticmethod
    def told(reasons: list[NoSolution]) -> NoSolution:
        """The one that comes nearest to the budget, with what it reaches; of several as near as they are told, the
        first one."""
        found = [(reason, *(reason.reached() if reason.reached else (inf, ""))) for reason in reasons]
        nearest, _, text = min(found, key=lambda one: float(f"{one[1]:.6g}"))
        return NoSolution(nearest.code, f"{nearest.message}: {text}", nearest.option) if text else nearest


class EveryValueMeets(NoSolution):
    """Every value of the range that was searched meets the budget: there is none that just meets it."""


class OutOfScope(DpcalcError):
    """A theorem does not cover these parameters: silent when it was only one of several, an error when named."""


def flag(name: str) -> str:
    """The option of a parameter: sampling_rate → --sampling-rate."""
    return "--" + name.replace("_", "-")


def fault(error: Exception) -> DpcalcError:
    """What is nobody's input: an error of dpcalc itself."""
    return DpcalcError("internal",
                       f"a fault of dpcalc, please report it: {type(error).__name__}: {error} (DPCALC_DEBUG=1 shows "
                       f"where)")

"""A calculator for differential privacy: every number is a theorem with its name on it.

    from dpcalc import answer, solve

    answer("subsample", sampling_rate=0.01, sigma=1, steps=10_000, delta=1e-6).value
    solve("rdp", "sigma", epsilon=1, delta=1e-5).value
"""

from __future__ import annotations

TYPE_CHECKING = False  # a type checker takes it for true; --version does not import typing
if TYPE_CHECKING:
    from typing import Any

    from dpcalc.api import answer, solve
    from dpcalc.cli.batch import answer_lines
    from dpcalc.core.errors import DpcalcError, NoSolution
    from dpcalc.output.result import Result

__version__ = "0.2.0"
__all__ = ["DpcalcError", "NoSolution", "Result", "answer", "answer_lines", "solve"]
_MODULES = {"answer": "api", "solve": "api", "answer_lines": "cli.batch", "DpcalcError": "core.errors",
            "NoSolution": "core.errors", "Result": "output.result"}


def __getattr__(name: str) -> Any:
    """Imports a name of the API when it is first used, so that `import dpcalc` alone is fast."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

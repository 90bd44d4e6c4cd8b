"""The context of high-precision arithmetic."""

from typing import Any

import mpmath


def context() -> Any:
    """An mpmath context of its own, whose precision nobody else changes."""
    return mpmath.mp.clone()

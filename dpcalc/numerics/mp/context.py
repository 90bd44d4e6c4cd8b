"""The context of high-precision arithmetic."""

from typing import Any

import mpmath


def context() -> Any:
    """A new mpmath context, whose precision is not shared with other code."""
    return mpmath.mp.clone()

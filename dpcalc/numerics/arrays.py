"""The type of numpy's arrays of any numbers. Only type checkers import it, so it costs no start-up time."""

from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]

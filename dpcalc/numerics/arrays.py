"""The type of numpy's arrays of any numbers. Modules that need no numpy otherwise import it for type checkers only."""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

"""The Python API: the questions of the command line under the same names, for notebooks and programs.

>>> from dpcalc import answer, solve
>>> answer("rdp", mechanism="gaussian", sigma=1, delta=1e-5)
<ε = 4.37718 at δ = 1e-05 (gaussian-exact)>
>>> solve("rdp", "sigma", epsilon=1, delta="1e-5").value
3.730631634819859
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from dpcalc.output.result import Input, Result, given_inputs


def answer(command: str, /, *, inputs: Iterable[Input] = (), **options: Any) -> Result:
    """The answer of a command to the question that the options ask: δ gives ε, ε gives δ, α gives the RDP.

    The options are those of `dpcalc COMMAND --help`, with _ for -; numbers, or texts like "1/3" and "2^-20". `from_` is
    --from, which is a keyword of Python. `inputs` are earlier answers, guarantees, or whole JSON results as dicts.
    Raises DpcalcError (one sentence: option, value, what is allowed) and NoSolution; warns where a number is no
    guarantee.

    >>> training = answer("subsample", sampling_rate=0.01, sigma=1, steps=1000, delta=1e-6, bound="poisson-rdp")
    >>> round(training.value, 4), training.status
    (2.4363, 'proven')
    >>> answer("convert", inputs=[answer("rdp", sigma=2), answer("rdp", sigma=3)], delta=1e-5)
    <ε = 2.44917 at δ = 1e-05 (gdp-exact)>
    >>> answer("rdp", sigma=0, delta=1e-5)
    Traceback (most recent call last):
    dpcalc.core.errors.DpcalcError: --sigma: 0 is not > 0 (σ: standard deviation of the Gaussian noise on the query)
    """
    return _answered(command, inputs, options)


def solve(command: str, unknown: str, /, *, inputs: Iterable[Input] = (), **options: Any) -> Result:
    """The value of a parameter that just meets a budget: `epsilon` and `delta`, or `alpha` and `rdp`, or `tv`.

    With that value, `answer` meets the budget. Raises NoSolution with the best value that can be reached.

    >>> solve("subsample", "steps", sampling_rate=0.001, sigma=2, epsilon=1, delta=1e-6, bound="poisson-rdp").value
    170440
    """
    return _answered(command, inputs, {**options, "solve": unknown})


def _answered(name: str, inputs: Iterable[Input], options: Mapping[str, Any]) -> Result:
    from warnings import warn

    from dpcalc.commands.ask import answer as answer_of
    from dpcalc.commands.ask import command_of, named, warnings_of

    command = command_of(name)
    raw = named(command, {k: _plain(x) for k, x in options.items()})
    found = answer_of(command, {**raw, "format": "json"}, given_inputs(command, inputs))
    for warning in warnings_of(found):
        warn(warning, stacklevel=3)
    return Result(found)


def _plain(x: Any) -> Any:
    """Values of other types as those of the command line.

    Arrays become lists, numbers of numpy those of Python, fractions and decimals their text, paths their names.
    """
    if hasattr(x, "tolist"):
        return _plain(x.tolist())
    if isinstance(x, list | tuple):
        return [_plain(item) for item in x]
    if isinstance(x, Mapping):
        return {key: _plain(item) for key, item in x.items()}
    if isinstance(x, os.PathLike):
        return os.fspath(x)
    if not isinstance(x, str | int | float) and hasattr(x, "as_integer_ratio"):
        return str(x)
    return x

"""The Python API: the questions of the command line under the same names, for notebooks and programs.

>>> from dpcalc import answer, solve
>>> answer("rdp", mechanism="gaussian", sigma=1, delta=1e-5)
<ε = 4.37718 at δ = 1e-05 (gaussian-exact)>
>>> solve("rdp", "sigma", epsilon=1, delta="1e-5").value
3.7306316348160284
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from dpcalc.errors import DpcalcError, flag
from dpcalc.result import Result
from dpcalc.spec import Command

Input = Result | Mapping[str, Any]


def answer(command: str, /, *, inputs: Iterable[Input] = (), **options: Any) -> Result:
    """The answer of a command to the question that the options ask: δ given → ε, ε given → δ, α given → RDP.

    The options are those of `dpcalc COMMAND --help`, with _ for -; numbers, or texts like "1/3" and "2^-20". `from_` is
    --from, which Python keeps for itself. `inputs` are earlier answers, guarantees, or whole JSON results as dicts.
    Raises DpcalcError (one sentence: option, value, what is allowed) and NoSolution; warns where a number is no guarantee.

    >>> training = answer("subsample", sampling_rate=0.01, sigma=1, steps=1000, delta=1e-6, bound="poisson-rdp")
    >>> round(training.value, 4), training.status
    (2.4363, 'proven')
    >>> answer("convert", inputs=[answer("rdp", sigma=2), answer("rdp", sigma=3)], delta=1e-5)
    <ε = 2.44917 at δ = 1e-05 (gdp-exact)>
    >>> answer("rdp", sigma=0, delta=1e-5)
    Traceback (most recent call last):
    dpcalc.errors.DpcalcError: --sigma: 0 is not > 0 (σ: standard deviation of the Gaussian noise on the query)
    """
    return _answered(command_of(command), inputs, options)


def solve(command: str, unknown: str, /, *, inputs: Iterable[Input] = (), **options: Any) -> Result:
    """The value of a parameter that just meets a budget: `epsilon` and `delta`, or `alpha` and `rdp`, or `tv`.

    Given back in place of the unknown it meets the budget. Raises NoSolution, which says the best that can be reached.

    >>> solve("subsample", "steps", sampling_rate=0.001, sigma=2, epsilon=1, delta=1e-6, bound="poisson-rdp").value
    170440
    """
    return _answered(command_of(command), inputs, {**options, "solve": unknown})


def command_of(name: str) -> Command:
    """The calculator of that name. Raises DpcalcError with the near one."""
    from importlib import import_module
    from importlib.util import find_spec

    module = "dpcalc.commands." + str(name).replace("-", "_")
    if re.fullmatch(r"[a-z]+([-_][a-z]+)*", str(name)) and find_spec(module):
        found = getattr(import_module(module), "COMMAND", None)
        if isinstance(found, Command):
            return found
    from dpcalc.cli import COMMANDS
    from dpcalc.params import near

    calculators = tuple(n for n in COMMANDS if isinstance(import_module("dpcalc.commands." + n.replace("-", "_")).COMMAND, Command))
    raise DpcalcError("unknown-command", f"no calculator {name!r}; there are {', '.join(calculators)}{near(str(name), calculators)}")


def named(command: Command, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options under the names of the command, its numbers as plain ones. Raises DpcalcError for a name it does not know."""
    names, raw = spellings(command), dict[str, Any]()
    for key, x in options.items():
        name = names.get(key)
        if name is None:
            from dpcalc.params import near

            raise DpcalcError("unknown-option", f"no such option of {command.name}{near(key[:40], tuple(names))}", flag(key[:40]))
        if raw.get(name) is not None:
            raise DpcalcError("contradictory", "given twice", flag(name))
        raw[name] = (x,) if isinstance(x, str) and command.option(name).multiple else x
    return raw


def spellings(command: Command) -> dict[str, str]:
    """How an option may be written → its name. How the answer is written is no part of a question."""
    quantities = [o.quantity for o in command.all_options() if o.name not in _WRITING]
    return {form: q.name for q in quantities for n in q.names
            for form in (n, n.replace("_", "-"), *((n + "_",) if n in ("from", "in", "lambda") else ()))}


_WRITING = {"format", "input", "plot"}


def _answered(command: Command, inputs: Iterable[Input], options: Mapping[str, Any]) -> Result:
    from warnings import warn

    from dpcalc.run import single, warnings_of

    raw = named(command, {k: _plain(x) for k, x in options.items()})
    guarantees = given_inputs(command, inputs)
    found = single(command, {**raw, "format": "json"}, guarantees)
    for warning in warnings_of(found):
        warn(warning, stacklevel=3)
    return Result(found)


def given_inputs(command: Command, inputs: Iterable[Input]) -> tuple[Any, ...]:
    """The guarantees of earlier answers, validated."""
    items = [inputs] if isinstance(inputs, Result | Mapping) else list(inputs)
    if items and not command.inputs:
        raise DpcalcError("unneeded", f"dpcalc {command.name} reads no guarantee", "--input")
    from dpcalc.guarantee import read

    return tuple(read(_handed_on(x) if isinstance(x, Result) else x, f"input {k}") for k, x in enumerate(items, 1))


def _handed_on(result: Result) -> dict[str, Any]:
    """What a pipe reads of a result: its guarantee, and which data sets are neighbours."""
    return {"schema": "dpcalc/v1", "adjacency": result.adjacency, "guarantee": result.guarantee}


def _plain(x: Any) -> Any:
    """A number of another library as Python's own: numpy's as they are, fractions and decimals as the text they print; a path
    as its name."""
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

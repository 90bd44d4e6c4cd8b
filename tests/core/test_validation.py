"""Values of options: the validator and the JSON Schema, which have one source, agree; a text is the number it denotes."""

import math
import random

import jsonschema
import pytest

from dpcalc import DpcalcError
from dpcalc.commands.catalogue import calculators
from dpcalc.core.command import OUTPUT
from dpcalc.core.validate import validate
from dpcalc.output.schema import parameters

# Every option that is part of a question; where commands share it, with its limits and choices, once.
OPTIONS = {(o.quantity, o.choices, o.multiple): (command, o) for command in calculators().values()
           for o in command.all_options() if o.group != OUTPUT}
SCHEMAS = {name: parameters(command)["properties"] for name, command in calculators().items()}
OF_ANY_KIND = (0, 1, -1, 2, 7, .5, -2.5, 1e-5, 1e300, 5e-324, 10**6, 2**53 - 1, 2**53, 10**30, True, False, None, "", "x",
               [], [1, 2.5], [True], [[1]], ["x"], [None], {}, {"a": 1})


def values(option, rng):
    """JSON values of any kind, those at and next to the limits of the option, and its choices."""
    q = option.quantity
    limits = [x for x in (q.gt, q.ge, q.lt, q.le) if x is not None]
    near = [y for x in limits for y in (x, x + 1, x - 1, math.nextafter(x, math.inf), math.nextafter(x, -math.inf))]
    drawn = [rng.uniform(-1, 3), math.exp(rng.uniform(-40, 40)), rng.randrange(10**6)]
    return [*OF_ANY_KIND, *near, [*near], *drawn, drawn, *(option.choices or q.choices)]


def validated(command, name, value):
    """The value of an option as a command reads it; None where it is refused."""
    try:
        return validate(command, {name: value})[name]
    except DpcalcError as error:
        assert error.option == "--" + name.replace("_", "-") and error.code in ("not-a-number", "out-of-range",
                                                                               "unknown-value")
        return None


CASES = [(command.name, option, value) for command, option in OPTIONS.values()
         for value in values(option, random.Random(3))
         if value not in (None, []) and option.quantity.kind != "horizon"]  # a whole number or inf, which JSON has not


def test_the_json_schema_accepts_what_a_command_accepts():
    """But for texts: a text may be a number, a list of numbers, or another name of a choice."""
    commands, schemas = calculators(), {}
    for name, option, value in CASES:
        schema = schemas.setdefault(option, jsonschema.Draft202012Validator(SCHEMAS[name][option.name]))
        got, is_valid = validated(commands[name], option.name, value), schema.is_valid(value)
        one = option.quantity.kind == "series" or option.multiple  # of a list, which may stand alone
        assert not is_valid or got is not None, (name, option.name, value)
        is_more = isinstance(value, str) or (one and not isinstance(value, list))
        assert is_valid or got is None or is_more, (name, option.name, value)


def test_a_value_is_kept():
    """As a double, a whole number, or a tuple."""
    commands = calculators()
    for name, option, value in CASES:
        got = validated(commands[name], option.name, value)
        if got is None or isinstance(value, str) or option.quantity.kind not in ("number", "count", "numbers", "series"):
            continue
        for x, y in zip(*(z if isinstance(z, list | tuple) else (z,) for z in (got, value)), strict=True):
            assert x == float(y) and type(x) is (int if option.quantity.kind == "count" else float)


def test_a_text_is_the_number_that_it_denotes():
    commands = calculators()
    for name, option, value in CASES:
        if isinstance(value, int | float) and not isinstance(value, bool) and option.quantity.kind in ("number", "count"):
            assert (validated(commands[name], option.name, repr(value)) == validated(commands[name], option.name, value)
                    == validated(commands[name], option.name, f"({value!r})/1"))


def test_refusals_say_what_is_allowed():
    allowed = "> 0 (σ: standard deviation of the Gaussian noise on the query)"
    for name, value, message in (("sigma", 0, f"0 is not {allowed}"), ("sigma", math.nan, f"nan is not {allowed}"),
                                 ("sigma", True, "true is not a number"),
                                 ("steps", 2**53, "9007199254740992 is above 2^53 − 1, the largest whole number allowed"),
                                 ("steps", "1.5", "'1.5' is not a whole number"),
                                 ("bound", [1], "1 is not a name"), ("plot", [1], "a list is not a name")):
        with pytest.raises(DpcalcError) as refused:
            validate(calculators()["rdp"], {name: value})
        assert str(refused.value) == f"--{name}: {message}"
    with pytest.raises(DpcalcError, match=r"^--adjacency: 'replace' is not one of add-remove, .*did you mean replace-one"):
        validate(calculators()["rdp"], {"adjacency": "replace"})

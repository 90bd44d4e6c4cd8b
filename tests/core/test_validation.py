"""Values of options: the validator and the JSON Schema, which have one source, agree; a text is the number it denotes."""

import math
import random
import warnings

import jsonschema
import pytest
from conftest import slow

from dpcalc import DpcalcError, answer
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


def cases(seed):
    rng = random.Random(seed)
    return [(command.name, option, value) for command, option in OPTIONS.values() for value in values(option, rng)
            if value not in (None, [])]


seeds = pytest.mark.parametrize("seed", [1, 2, *map(slow, range(3, 30))])


@pytest.mark.parametrize("seed", [2, *map(slow, (1, *range(3, 30)))])
def test_the_json_schema_accepts_what_a_command_accepts(seed):
    """But for texts: a text may be a number, a list of numbers, or another name of a choice. A switch that is off
    counts as not given."""
    commands, schemas = calculators(), {}
    for name, option, value in cases(seed):
        schema = schemas.setdefault(option, jsonschema.Draft202012Validator(SCHEMAS[name][option.name]))
        got, is_valid = validated(commands[name], option.name, value), schema.is_valid(value)
        one = option.quantity.kind == "series" or option.multiple  # of a list, which may stand alone
        assert not is_valid or got is not None or value is False, (name, option.name, value)
        is_more = isinstance(value, str) or (one and not isinstance(value, list))
        assert is_valid or got is None or is_more, (name, option.name, value)


@seeds
def test_a_value_is_kept(seed):
    """As a double, a whole number, or a tuple."""
    commands = calculators()
    for name, option, value in cases(seed):
        got = validated(commands[name], option.name, value)
        if got is None or isinstance(value, str) or option.quantity.kind not in ("number", "count", "numbers", "series"):
            continue
        for x, y in zip(*(z if isinstance(z, list | tuple) else (z,) for z in (got, value)), strict=True):
            assert x == float(y) and type(x) is (int if option.quantity.kind == "count" else float)


@seeds
def test_a_text_is_the_number_that_it_denotes(seed):
    commands = calculators()
    for name, option, value in cases(seed):
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
    with pytest.raises(DpcalcError, match=r"^--adjacency: 'replaceone' is not one of add-remove, .*did you mean replace-one"):
        validate(calculators()["rdp"], {"adjacency": "replaceone"})


@pytest.mark.parametrize("rate", ["1e-308", "9e-301"])
def test_rates_with_fewer_digits_than_a_double_are_refused(rate):
    """Their products are rounded to 0: 1,000 steps at a rate of 5e-324 would lose nothing."""
    for name, line in (("sampling_rate", {"sampling_rate": rate}), ("max_weight", {"max_weight": rate})):
        with pytest.raises(DpcalcError, match=f"^--{name.replace('_', '-')}: {rate} is not ≥ 1e-300 and ≤ 1"):
            validate(calculators()["subsample"], line)
    with pytest.raises(DpcalcError, match=f"entry 1 of history: .*rate: {rate} is not ≥ 1e-300"):
        answer("ledger", file={"history": [[1.0, float(rate), 10]]}, delta=1e-5)


@pytest.mark.parametrize("scheme", [slow("poisson"), "without-replacement"])
def test_the_least_rate_has_a_loss(scheme):
    """δ at ε = 0 of 1,000 steps is about 1,000 times the TV of one step, 1e-300 · TV(N(0, 1), N(1/3, 1)), or of the
    shift by 2/3 for replace-one neighbours."""
    shift = 1 / 3 if scheme == "poisson" else 2 / 3
    exact = 1e-297 * math.erf(shift / 2**1.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = answer("subsample", sampling_rate=1e-300, steps=1000, noise_multiplier=3, scheme=scheme, epsilon=0)
    assert exact <= found.value <= exact * 1.01

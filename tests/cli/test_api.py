"""The Python API: the numbers, names and errors of the command line, and an import that costs nothing."""

import copy
import doctest
import inspect
import json
import pickle
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import jsonschema
import numpy as np
import pytest
from calling import call
from conftest import ROOT

import dpcalc
from dpcalc import DpcalcError, NoSolution, Result, answer, solve


def test_it_prints_what_the_command_prints(cli):
    got = answer("rdp", sigma=1, delta=1e-5)
    line = ("rdp", "--sigma", "1", "--delta", "1e-5")
    assert got.json() + "\n" == cli(*line, "--json").stdout and str(got) + "\n" == cli(*line).stdout
    assert got.text("csv") + "\n" == cli(*line, "--format", "csv").stdout
    assert f"{got.value!r}\n" == cli(*line, "-q").stdout and float(got) == got.value == got.result["epsilon"]


def test_the_record():
    got = answer("subsample", sampling_rate=0.01, sigma=1, steps=100, delta=1e-6, bound=["poisson-rdp", "rdp-mironov"])
    assert (got.bound, got.status, got.adjacency, got.solved) == ("poisson-rdp", "proven", "add-remove", None)
    assert got.bounds[0]["epsilon"] == got.value and got.bounds[0]["witness"]["alpha"] > 1 and got.bounds[0]["source"]
    assert got.parameters["mechanism"] == "gaussian" and got.guarantee["kind"] == "mechanisms" and got.released
    assert got.record()["schema"] == "dpcalc/v1" == json.loads(got.json())["schema"]
    assert all(isinstance(x, float | int) for row in got.bounds for x in row["witness"].values())


def test_solve():
    got = solve("rdp", "sigma", mechanism="gaussian", epsilon=1, delta=1e-5)
    assert got.solved == "sigma" and got.value == got.result["sigma"]
    assert answer("rdp", sigma=got.value, delta=1e-5).value <= 1 < answer("rdp", sigma=got.value * (1 - 1e-9),
                                                                          delta=1e-5).value
    run = {"n": 60000, "sigma": 1, "steps": 100, "delta": 1e-5, "bound": "poisson-rdp"}
    batch = solve("subsample", "--batch-size", epsilon=1, **run).value
    assert answer("subsample", batch_size=batch, **run).value <= 1 < answer("subsample", batch_size=batch + 1,
                                                                            **run).value
    with pytest.raises(NoSolution, match="has ε = "):
        solve("rdp", "steps", sigma=0.01, epsilon=1, delta=1e-5)


@pytest.mark.parametrize("third", ["1/3", Fraction(1, 3), Decimal("0.33333333333333333333"), np.float64(1 / 3),
                                   np.array(1 / 3), 1 / 3])
def test_numbers_of_every_kind(third):
    assert answer("rdp", mechanism="laplace", scale=1, sensitivity=third, delta=0).value == 1 / 3


def test_whole_numbers_and_lists():
    assert answer("rdp", sigma=50, steps=np.int64(100), alpha=2).value == answer("rdp", sigma=50, steps="1e2",
                                                                                 alpha=2).value
    by = [answer("rdp", sigma=1, delta=1e-5, orders=orders, bound="rdp-improved").value
          for orders in ([2, 4, 8], "2,4,8", np.array([2, 4, 8]), (8, 4, 2))]
    assert len(set(by)) == 1


def test_what_an_answer_lacks_is_said_with_what_it_has():
    found = answer("rdp", sigma=1, delta=1e-5)
    for error, missing in ((AttributeError, lambda: found.epsilon), (TypeError, lambda: found["epsilon"])):
        with pytest.raises(error, match=r"\.value is the number asked for, \.result has steps, standard_deviation, epsilon, delta"):
            missing()
    assert copy.copy(found).value == found.value and not hasattr(found, "_repr_png_")


def test_earlier_answers_are_inputs():
    one, two = answer("rdp", sigma=3), answer("rdp", sigma=4, delta=1e-5)
    both = [answer("convert", inputs=inputs, delta=1e-5).value
            for inputs in ([one, two], [one.record(), two.guarantee], (json.loads(one.json()), two))]
    assert len(set(both)) == 1 and both[0] == pytest.approx(answer("rdp", sigma=2.4, delta=1e-5).value, rel=1e-9)
    assert answer("convert", inputs=one, delta=1e-5).value == answer("convert", inputs=[one], delta=1e-5).value
    assert repr(one) == "<rdp: a description, no number>" and json.loads(str(one))["guarantee"] == one.guarantee


@pytest.mark.parametrize("call,says", [
    (lambda: answer("rpd", sigma=1), "no calculator 'rpd'.*did you mean rdp"),
    (lambda: answer("schema"), "no calculator 'schema'"),
    (lambda: answer("schedule"), "no calculator"), (lambda: answer("../rdp"), "no calculator"),
    (lambda: answer("rdp", sgma=1), "--sgma: rdp has no such option; did you mean sigma?"),
    (lambda: answer("rdp", sigma=0, delta=0.1), "--sigma: 0 is not > 0"),
    (lambda: answer("rdp", sigma=float("nan"), delta=0.1), "--sigma: nan is not"),
    (lambda: answer("rdp", sigma=float("inf"), delta=0.1), "--sigma: inf is not"),
    (lambda: answer("rdp", sigma=1, delta=Decimal("1e-400")), "the least positive double"),
    (lambda: answer("rdp", sigma=10**400, delta=0.1), "--sigma: a number of more than 40 digits"),
    (lambda: answer("rdp", sigma=True, delta=0.1), "not a number"),
    (lambda: answer("rdp", sigma=object(), delta=0.1), "not a number"),
    (lambda: answer("rdp", sigma="1,2", delta=0.1), "not a finite number"),
    (lambda: answer("rdp", sigma=[1, 2], delta=0.1), "a list is not a number"), (lambda: answer("rdp"), "--sigma"),
    (lambda: answer("rdp", sigma=1).value, r"has no number; ask for one with delta=…, .*inputs=\[it\]"),
    (lambda: answer("rdp", foo=1), "no such option; dpcalc rdp --help lists the options"),
    (lambda: answer("rdp", epochs=1), "no such option; .*use dpcalc subsample --epochs"),
    (lambda: answer("rdp", sigma=1, delta=0.1, format="csv"), "--format: rdp has no such option"),
    (lambda: answer("rdp", inputs=[{"kind": "gdp", "mu": 1}]), "reads no guarantee"),
    (lambda: answer("convert", inputs=["x.json"], delta=0.1), 'has a "kind"'),
    (lambda: answer("convert", inputs=[{"kind": "gdp", "mu": -1}], delta=0.1), "input 1: mu: -1"),
    (lambda: answer("rdp", **{"noise-multiplier": 1, "noise_multiplier": 1}, delta=0.1), "given twice"),
    (lambda: answer("rdp", sigma=1, delta=0.1).text("xml"), "is not one of"),
])
def test_errors_are_those_of_the_command_line(call, says):
    with pytest.raises(DpcalcError, match=says) as caught:
        call()
    again = pickle.loads(pickle.dumps(caught.value))  # from another process
    assert (str(again), again.code, again.option, type(again)) == (str(caught.value), caught.value.code,
                                                                   caught.value.option, type(caught.value))


def test_what_is_no_guarantee_warns():
    question = {"sigma": 4, "lipschitz": 1, "n": 1000, "tau": 0.5, "delta": 1e-4,
                "bound": ["without-replacement-conjecture", "rdp-improved"]}
    with pytest.warns(UserWarning, match="not a guarantee") as caught:
        assert answer("shuffle-pnsgd", **question).status == "conjecture"
    assert caught[0].filename == __file__


def test_a_notebook_shows_a_table():
    html = answer("rdp", sigma=1, delta=1e-5)._repr_html_()
    assert html.count("<tr>") == 3 and "<b>ε = 4.37718 at δ = 1e-05 (gaussian-exact)</b>" in html and "Neighbours" in html
    assert answer("rdp", sigma=1)._repr_html_().startswith("<pre>{") and "≤" in answer("rdp", epsilon=1, delta=1e-5,
                                                                                       solve="sigma")._repr_html_()


def test_the_examples_of_the_docstrings():
    import dpcalc.api as api
    import dpcalc.cli.batch as batch

    assert doctest.testmod(api).attempted >= 6 and doctest.testmod(api).failed == doctest.testmod(batch).failed == 0


def test_the_import_is_light():
    probe = "import sys; import dpcalc; dpcalc.__version__; print(sorted(m for m in sys.modules if 'dpcalc' in m), 'typing' in sys.modules)"
    done = subprocess.run([sys.executable, "-S", "-c", probe], capture_output=True, text=True,
                          env={"PYTHONPATH": str(ROOT)})
    assert done.stdout == "['dpcalc'] False\n", done.stderr
    probe = ("import sys; from dpcalc import answer; answer('rdp', sigma=1, delta=1e-5).json(); "
             "print(sorted({'numpy', 'scipy', 'typer', 'rich', 'mpmath'} & set(sys.modules)))")
    assert subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True).stdout == "[]\n"


def test_everything_public_is_documented_and_typed():
    for name in dpcalc.__all__:
        assert inspect.getdoc(getattr(dpcalc, name)), name
    assert all(inspect.getdoc(x) for name, x in vars(Result).items() if not name.startswith("_"))
    with pytest.raises(AttributeError):
        dpcalc.nothing  # noqa: B018
    assert set(dpcalc.__all__) <= set(dir(dpcalc))


def test_the_schema_is_that_of_the_record_and_its_validated_options():
    schema = json.loads(call(["schema", "convert"]).stdout)
    record = answer("convert", from_="gdp", mu="1/3", delta="2^-20").record()
    jsonschema.validate(record, schema)
    parameters = schema["properties"]["parameters"]
    assert record["parameters"]["mu"] == 1 / 3 and {"from", "mu", "delta"} <= set(parameters["properties"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"mu": "1/3"}, parameters)

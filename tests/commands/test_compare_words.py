"""dpcalc compare: its errors, formats and schema."""

import json

import jsonschema
import pytest
from compare_runs import RUNS, compare, full

from dpcalc.commands.compare import COMMAND
from dpcalc.core.errors import DpcalcError
from dpcalc.output.answer import document, record
from dpcalc.output.formats import render


@pytest.mark.parametrize("change, option, word", [
    ({"batches": None}, "--batches", "without-replacement"), ({"n": None}, "--n", "needed"),
    ({"batch_size": None}, "--batch-size", "needed"),
    ({"batch_size": "70000"}, "--batch-size", "exceed"), ({"steps": None}, "--steps", "--epochs"),
    ({"epochs": "2"}, "--steps", "already"),
    ({"sigma": None}, "--sigma", "--noise-multiplier"), ({"lipschitz": None}, "--lipschitz", "--clipping-norm"),
    ({"strong_convexity": "2"}, "--strong-convexity", "> β"),
    ({"strong_convexity": "0", "loss": "any"}, "--strong-convexity", "--loss any"),
    ({"index": "5"}, "--index", "fixed-order"), ({"adjacency": "add-remove"}, "--adjacency", "replace-one"),
    ({"delta": "0"}, "--delta", "positive"), ({"alpha": "2"}, "--alpha", "--delta"),
    ({"bound": ("wor-profil",)}, "--bound", "wor-profile?"),
    ({"bound": ("iteration",)}, "--bound", "fixed-order"), ({"solve": "sigma", "sigma": None}, "--solve", "--epsilon"),
    ({"solve": "steps"}, "--solve", "--epsilon"),
    ({"solve": "noise-multiplier", "epsilon": "1", "delta": "1e-5"}, "--sigma", "not both"),
    ({"batches": "full"}, "--batch-size", "every record"), ({"batches": "stream"}, "--steps", "one pass"),
    ({"noise_multiplier": "1"}, "--sigma", "not both"),
])
def test_errors_name_the_option(change, option, word):
    with pytest.raises(DpcalcError) as caught:
        compare(**{**RUNS["without-replacement"], **change})
    assert caught.value.option == option and word in caught.value.message, caught.value.line()


def test_places_in_a_pass():
    run = RUNS["fixed order"]
    for index, word in (("1001", "no such record"), ("1000", "never used")):
        with pytest.raises(DpcalcError, match=word):
            compare(**{**run, "n": "1000", "batch_size": "30" if index == "1000" else "10", "index": index})
    assert compare(**run).value == compare(**{**run, "index": "491"}).value < compare(**{**run, "index": "501"}).value


def test_bounds_for_other_neighbours_are_named_so():
    with pytest.raises(DpcalcError, match="replace-one neighbours"):
        compare(**RUNS["poisson"], bound=("wor-profile",))


LINE = ["compare", "--n", "1000", "--batches", "full", "--steps", "500", "--sigma", ".02", "--clipping-norm", "1",
        "--delta", "1e-5"]


def test_formats(cli):
    line = LINE
    table, both = cli(*line).stdout, compare(n="1000", batches="full", steps="500", sigma=".02", clipping_norm="1")
    assert table.startswith("ε = 11.4801 at δ = 1e-05 (gaussian-exact)") and "Not applicable: " in table and "Z = bσ/C = 20" in table
    value = both.value
    assert float(cli(*line, "-q").stdout) == value
    header, first, _ = render(document(both), "csv").splitlines()
    assert header.startswith("bound,conversion,status,epsilon,delta,tv") and repr(value) in first and "dpcalc rdp" in first
    assert json.loads(render(document(both), "jsonl")) == record(both)
    assert "replace-one" in render(document(both), "latex") and "| gaussian-exact |" in render(document(both),
                                                                                               "markdown")
    swept = json.loads(cli(*line[:5], "--steps", "5,50", *line[7:], "--json").stdout)
    assert [a["result"]["steps"] for a in swept] == [5, 50] and "what_if" not in swept[0]


def test_its_guarantee_is_read_by_others(cli, ask):
    answer = cli(*LINE, "--json").stdout
    again = ask("convert", "-", "--delta", "1e-5", stdin=answer)
    assert again["result"]["epsilon"] == pytest.approx(json.loads(answer)["result"]["epsilon"], rel=1e-12)


@pytest.mark.parametrize("name", RUNS)
def test_results_follow_the_schema(name):
    from dpcalc.output.schema import of_command, of_result

    answer = json.loads(json.dumps(full(**RUNS[name])))
    for schema in (of_result(("compare",)), of_command(COMMAND)):
        jsonschema.validate(answer, schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**answer, "what_if": [{"assumption": 3}]}, schema)

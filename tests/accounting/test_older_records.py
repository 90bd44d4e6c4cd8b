"""Results of version 0.1.0: read by the names of today where their number holds, and refused where it does not."""

import json

import pytest
from calling import call
from conftest import slow

SURVEY = "rdp --mechanism k-randomized-response --categories 4 --step-epsilon 1 --steps 3 --delta 1e-5"
QUERIES = "rdp --mechanism above-threshold --queries monotone --scale 3 --threshold-scale 3 --delta 1e-5"
DP_SGD = "subsample --sampling-rate .01 --steps 100 --noise-multiplier 1 --adjacency replace-one --delta 1e-5"
SOLVED = "subsample --sampling-rate .01 --steps 100 --adjacency replace-one --epsilon 2 --delta 1e-5 --solve " \
         "noise-multiplier"
FIXED = " --scheme without-replacement"


def older(line, scheme=None, **changed):
    """The result of a question as version 0.1.0 wrote it, which had no `promises`, and no relation in a guarantee."""
    done = call([*line.split(), "--json"])
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    found.pop("promises", None)
    found["guarantee"].pop("adjacency", None)
    if found["solved"]:  # it showed the default of the option that was solved for, if there is one
        found["parameters"].pop(found["solved"].replace("-", "_"))
    if scheme:
        found["options"].pop("scheme")
        found["parameters"]["scheme"] = scheme
    return {**found, "version": "0.1.0", **changed}


@pytest.mark.parametrize("record", [
    (SURVEY, {"adjacency": "one respondent's answer"}),
    (QUERIES, {"adjacency": "those your sensitivity refers to"}),
    slow((DP_SGD + FIXED, {"scheme": "poisson"})),
    slow((SOLVED + FIXED, {"scheme": "poisson"})),
], ids=["reports", "monotone", "replaced", "solved"])
def test_a_number_that_holds_is_verified_and_read(record):
    line, changed = record
    text = json.dumps(older(line, **changed))
    checked = call(["verify", "-"], text)
    assert checked.returncode == 0 and " proven, the rest only computed again" in checked.stdout
    assert call(["convert", "-", "--delta", "1e-4", "--json"], text).returncode == 0


def test_a_solution_that_it_showed_as_the_default_of_its_option_is_verified():
    record = older("rdp --sigma 30 --epsilon 2 --delta 1e-5 --solve steps")
    record["parameters"]["steps"] = 1
    assert call(["verify", "-"], json.dumps(record)).returncode == 0


@pytest.mark.parametrize("line, relation", [(SURVEY, "replace-one"), (QUERIES, "add-remove")])
def test_the_relation_is_the_one_of_today(line, relation):
    said = {"replace-one": "one respondent's answer", "add-remove": "those your sensitivity refers to"}[relation]
    done = call(["convert", "-", "--delta", "1e-4", "--json"], json.dumps(older(line, adjacency=said)))
    assert json.loads(done.stdout)["adjacency"] == relation


def sampled(name, **numbers):
    part = {"name": name, "sampling": {"scheme": "without-replacement", "rate": 0.1}, "count": 1, **numbers}
    return {"kind": "mechanisms", "mechanisms": [part]}


LAPLACE = sampled("laplace", scale=1.0)
REPORTS = sampled("k-randomized-response", step_epsilon=1.0, categories=4)
GDP = {"kind": "gdp", "mu": 1.0}


@pytest.mark.parametrize("guarantee, inputs, parameters", [
    (REPORTS, [], {"scheme": "poisson"}),
    ({"kind": "dp", "epsilon": 1.0, "delta": 1e-6}, [REPORTS], {}),
    (LAPLACE, [], {"scheme": "poisson", "adjacency": "replace-one", "scale": 1.0}),
    (sampled("above-threshold", scale=1.0, threshold_scale=1.0), [],
     {"scheme": "without-replacement", "adjacency": "replace-one", "queries": "monotone"}),
    (LAPLACE, [GDP], {"scheme": "poisson", "adjacency": "zero-out"}),
    (LAPLACE, [{**GDP, "index": [50]}], {"scheme": "poisson"}),
], ids=["reports", "composed reports", "replaced by scale", "monotone", "zeroed out", "one position"])
def test_a_number_that_no_theorem_covers_is_refused(guarantee, inputs, parameters):
    record = {"schema": "dpcalc/v1", "version": "0.1.0", "command": "subsample", "parameters": parameters,
              "options": {}, "inputs": inputs, "status": "proven", "guarantee": guarantee, "bounds": []}
    done = call(["convert", "-", "--delta", "1e-4"], json.dumps(record))
    assert done.returncode == 2 and "was made by an earlier dpcalc by a theorem that does not cover it" in done.stderr


@pytest.mark.slow
def test_compare_meant_replaced_records_in_shuffled_batches():
    run = "compare --batches shuffled --n 60 --batch-size 5 --epochs 2 --noise-multiplier 3 --delta 1e-5"
    record = json.loads(call([*run.split(), "--adjacency", "replace-one", "--json"]).stdout)
    del record["options"]["adjacency"]
    assert call(["verify", "-"], json.dumps({**record, "version": "0.1.0"})).returncode == 0
    assert call(["verify", "-"], json.dumps(record)).returncode != 0


@pytest.mark.parametrize("line, released", [
    ("convert --from rdp --alpha 8 --rdp 0.5 --delta 1e-5", "every output of each input"),
    ("noise-feedback --learning-rate 0.1 --sigma 2 --steps 100 --lipschitz 1 --feedback 0.9 --release every-iterate --delta 1e-5",
     "every iterate")])
def test_what_is_released_was_said_in_other_words(line, released):
    record = older(line, released=released)
    assert call(["verify", "-"], json.dumps(record)).returncode == 0
    assert call(["verify", "-"], json.dumps({**record, "released": "the weather"})).returncode != 0


def test_rows_of_a_comparison_had_other_commands():
    record = older("compare --n 1000 --batches fixed-order --batch-size 100 --epochs 3 --noise-multiplier 2 --delta 1e-5")
    (row,) = record["bounds"]
    row["command"] = ("dpcalc rdp --sensitivity 0.02 --steps 3 --sigma 0.02 --delta 1e-05 --bound gaussian-exact")
    assert call(["verify", "-"], json.dumps(record)).returncode == 0


def test_bounded_range_is_a_promise_also_where_an_older_record_lacks_it():
    record = older("convert --from dp --epsilon 1 --delta 0 --to zcdp --bound bounded-range-zcdp", promises=[])
    del record["guarantee"]["promises"]
    found = json.loads(call(["convert", "-", "--delta", "1e-5", "--json"], json.dumps(record)).stdout)
    assert any("interval of length ε" in text for text in found["promises"])

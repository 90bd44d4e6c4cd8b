"""`dpcalc schema` describes what the commands really print."""

import json
from functools import cache

import jsonschema
import pytest
from calling import call
from conftest import few_of_each, slow

from dpcalc.commands import CALCULATORS
from dpcalc.core.quantities import MECHANISM

RUN = "--lipschitz 1 --smoothness .5 --learning-rate .1 --diameter 2"
ANSWERS = {
    "rdp": ["--sigma 1 --delta 1e-5", "--sigma 1", "--mechanism laplace --scale 2 --epsilon 1",
            "--mechanism laplace --scale 1 --epsilon 3", "--sigma 3 --alpha 2",
            "--mechanism randomized-response --probability .7 --steps 9 --delta 1e-3",
            "--epsilon 1 --delta 1e-5 --solve sigma --orders 2,4,8", "--sigma 2 --delta 1e-5 --digits 20"],
    "convert": ["--from gdp --mu 1 --delta 1e-5", "--from rdp --alpha 2,4,8 --rdp .1,.2,.4 --delta 1e-5",
                "--from zcdp --rho .5 --alpha 3", "--from gdp --mu 1 --to tv",
                "--from dp --epsilon 1 --delta 0 --to gdp",
                "--from dp --epsilon .1 --delta 1e-6 --steps 20 --target-epsilon 1",
                "--from outcomes --p .5,.5 --q .4,.6 --epsilon .1",
                "--from outcomes --p .5,.5 --q .4,.6 --steps 3 --delta .01",
                "--from outcomes --p .5,.5 --q .4,.6 --delta 0", "--from zcdp --rho .5 --steps 3 --to zcdp",
                "--from dp --epsilon 1 --delta 0 --to zcdp", "--from zcdp --rho .5 --delta 1e-6"],
    "tv": ["--sigma 1 --fpr .1,.2 --prior .3 --n 100", "--mechanism laplace --tv .01 --solve scale",
           "--epsilon .5 --delta 0 --tv .05"],
    "subsample": ["--n 60000 --batch-size 256 --epochs 15 --sigma 1.1 --delta 1e-5",
                  "--sampling-rate .01 --epsilon 1 --delta 1e-6", "--sampling-rate .01 --sigma 2 --steps 10",
                  "--scheme weighted --max-weight .01 --steps 1 --sigma 2 --delta 1e-5",
                  "--scheme without-replacement --sampling-rate .1 --steps 1 --mechanism laplace --scale 9 --delta 1e-5",
                  "--n 100 --batch-size 10 --epochs 2 --noise-multiplier 2 --clipping-norm 3 --delta 1e-3"],
    "compare": ["--n 100 --batches poisson --batch-size 10 --epochs 2 --noise-multiplier 2 --delta 1e-3"],
    "shuffle-pnsgd": [f"{RUN} --sigma 1 --n 100 --epsilon 1", f"{RUN} --sigma 1 --n 100 --index 3 --delta 1e-3"],
    "online-noise": [f"{RUN} --c1 100 --c2 100 --decay 1.5 --n 100 --index 5 --epsilon 1"],
    "burn-in": [f"{RUN} --n 100 --batch-size 10 --steps 100 --sigma 1 --delta 1e-3"],
    "noise-feedback": ["--curvature .7 --learning-rate .1 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-5 --index 3",
                       "--steps 100 --solve feedback"],
    "audit": ["--true-positives 500/1000 --false-positives 10/1000 --delta 1e-5 --roc 5",
              "--canaries 1000 --guesses 200 --right 180 --delta 0 --epsilon 9",
              "--true-positives 500/1000 --false-positives 10/1000 --delta 1e-5 --bound audit-gdp"],
    "correlated": ["--steps 90 --separation 20 --strategy square-root --sigma 3 --delta 1e-5",
                   "--steps 9 --coefficients 1,.5 --epsilon 1 --delta 1e-5 --solve sigma"],
}
LEDGER = json.dumps({"delta": 1e-5, "epsilon": 3, "release": [{"command": "rdp", "sigma": 4},
                                                              {"command": "rdp", "mechanism": "laplace", "scale": 20}]})


@cache
def validator(*command):
    """The validator of the schema of a command, or of that of all results."""
    schema = json.loads(call(["schema", *command]).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def follows(data, *command):
    """Whether a result follows the schema of a command, or of all results; with the first error where it does not."""
    error = next(validator(*command).iter_errors(data), None)
    assert error is None, error
    return True


SLOW = ("--n 103 --batches shuffled --batch-size 10 --drop-last --epochs 2 --epsilon 3 --delta 1e-3 "
        "--solve noise-multiplier")


@pytest.mark.parametrize("name, line", few_of_each(lambda case: case[0], [
    *(slow(name, line) if name == "burn-in" else (name, line) for name, lines in ANSWERS.items() for line in lines),
    slow("compare", SLOW)], every=3))
def test_results_follow_it(name, line, cli):
    answer = json.loads(cli(name, *line.split(), "--json").stdout)
    assert follows(answer, name)
    assert not validator(name).is_valid({**answer, "parameters": {**answer["parameters"], "colour": 1}})


def test_every_calculator_has_results_here():
    assert {*ANSWERS, "ledger"} == set(CALCULATORS)


def test_the_schema_of_all_results_is_that_of_a_command_but_for_its_parameters(ask):
    whole, one = ({**validator(*command).schema} for command in ((), ("rdp",)))
    assert whole.pop("title") != one.pop("title")
    whole, one = ({**schema, "properties": {**schema["properties"], "command": 0, "parameters": 0}}
                  for schema in (whole, one))
    assert whole == one and follows(ask("rdp", "--sigma", "1", "--delta", "1e-5"))


def test_results_made_from_results_follow_it(cli, ask):
    base = cli("rdp", "--sigma", "2", "--json").stdout
    sampled = ask("subsample", "-", "--sampling-rate", ".01", "--steps", "9", stdin=base)
    assert follows(sampled, "subsample")
    assert follows(ask("convert", "-", "--delta", "1e-5", stdin=json.dumps(sampled)), "convert")
    curve = json.dumps({"kind": "rdp", "alpha": [2, 3], "rdp": [0.1, 0.2], "adjacency": "replace-one"})
    assert follows(ask("subsample", "-", "--scheme", "without-replacement", "--sampling-rate", ".01", "--steps", "1",
                       "--alpha", "2", stdin=curve), "subsample")


@pytest.mark.parametrize("ledger", [LEDGER, LEDGER.replace("20", '"?"'), LEDGER.replace(": 3", ": 0.1"),
                                    '{"history": [[1.1, 0.01, 100], [1.0, 0.02, 50]]}'])
def test_ledgers_follow_it(ledger, cli):
    done = cli("ledger", "-", "--delta", "1e-5", "--json", stdin=ledger)
    found = json.loads(done.stdout)
    assert done.returncode == (3 if "over" in found["result"] else 0) and found["releases"]
    assert follows(found, "ledger")
    assert not validator("ledger").is_valid({**found, "releases": [{"name": "no numbers"}]})


def test_audits_beside_a_claim_follow_it(cli, ask):
    claim = cli("rdp", "--sigma", "2", "--delta", "1e-5", "--json").stdout
    done = cli("audit", "-", "--true-positives", "500/1000", "--false-positives", "10/1000", "--json", stdin=claim)
    found = json.loads(done.stdout)
    assert done.returncode == 3 and found["refuted"] is True and follows(found, "audit") and follows(found)
    assert not validator("audit").is_valid({**found, "refuted": "yes"})
    parameters = jsonschema.Draft202012Validator(validator("audit").schema["properties"]["parameters"])
    assert parameters.is_valid({"true_positives": [500, 1000]}) and not parameters.is_valid({"true_positives": [500]})


def test_ranges_come_from_the_quantities():
    parameters = validator("rdp").schema["properties"]["parameters"]["properties"]
    assert parameters["delta"]["minimum"] == 0 and parameters["delta"]["exclusiveMaximum"] == 1
    assert parameters["mechanism"]["enum"] == [*MECHANISM.choices]
    schema = validator().schema
    guarantee = jsonschema.Draft202012Validator(schema["properties"]["guarantee"] | {"$defs": schema["$defs"]})
    assert guarantee.is_valid({"kind": "gdp", "mu": 1}) and not guarantee.is_valid({"kind": "gdp", "mu": -1})


def test_other_words_are_refused(cli):
    done = cli("schema", "rpd")
    assert (done.returncode, done.stdout) == (2, "") and "did you mean rdp" in done.stderr
    assert cli("schema", "rdp", "convert").returncode == 2


def test_a_schedule_fits_the_schema():
    line = ("online-noise --diameter 1 --learning-rate .1 --smoothness .5 --decay 1.5 --c1 100 --c2 100 --schedule 1:3 "
            "--json")
    assert follows(json.loads(call(line.split()).stdout), "online-noise")

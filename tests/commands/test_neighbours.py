"""A guarantee is for one kind of neighbours, and no command takes it for the other."""

import json
import random
import re

import pytest
from answers import answer, printed
from calling import call
from conftest import slow

from dpcalc.core.numbers import human

RUN = "--lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5"


@pytest.fixture
def results(tmp_path):
    """Files of results for both kinds of neighbours."""
    lines = {"replace": f"shuffle-pnsgd {RUN} --sigma 10 --n 1000 --delta 1e-5",
             "add": "subsample --sampling-rate .01 --sigma 1 --steps 100 --delta 1e-5"}
    for name, line in lines.items():
        (tmp_path / name).write_text(call([*line.split(), "--json"]).stdout)
    return {name: str(tmp_path / name) for name in lines}


def test_results_keep_their_neighbours_in_pipes(results):
    """A guarantee for replace-one neighbours says nothing about add-remove ones."""
    code, text = printed(f"subsample {results['replace']} --sampling-rate .01")
    assert code == 2 and "holds for replace-one neighbours" in text and "add-remove" in text
    code, text = printed(f"convert {results['add']} {results['replace']} --delta 2e-5")
    assert code == 2 and "different neighbours" in text
    code, text = printed(f"subsample {results['replace']} --scheme without-replacement --sampling-rate .01")
    assert code == 0 and "Neighbours: replace-one" in text
    converted = json.loads(call(["convert", results["replace"], "--delta", "1e-5", "--json"]).stdout)
    assert converted["adjacency"] == "replace-one"
    for line in (f"convert {results['replace']} --delta 1e-5", f"tv {results['replace']}"):
        # from its own record of inputs
        assert call(["verify", "-"], call([*line.split(), "--json"]).stdout).returncode == 0
    bare = '{"kind": "dp", "epsilon": 1, "delta": 1e-6, "adjacency": "replace-one"}'
    assert call(["subsample", "-", "--sampling-rate", ".1"], bare).returncode == 2
    free = bare.replace(', "adjacency": "replace-one"', "")
    assert call(["subsample", "-", "--sampling-rate", ".1"], free).returncode == 0


def test_amplification_is_about_the_neighbours_of_its_scheme(tmp_path):
    """Add-remove neighbours at ε = 1 may be replace-one ones at 2.

    Poisson batches then have log((1 − q + qe)/(1 − q + q/e)) = .224, not .159."""
    point = "subsample --sampling-rate .1 --epsilon 1 --delta 1e-6"
    (tmp_path / "p").write_text(call([*point.split(), "--json"]).stdout)
    for line in (f"{point} --adjacency replace-one",
                 f"subsample {tmp_path / 'p'} --sampling-rate .1 --adjacency replace-one"):
        code, text = printed(line)
        assert code == 2 and "replace-one" in text
    mechanism = ('{"kind": "mechanisms", "adjacency": "%s", '
                 '"mechanisms": [{"name": "gaussian", "noise_multiplier": 2, "sampling": null, "count": 1}]}')
    line = "subsample - --sampling-rate .01 --steps 10 --adjacency replace-one --delta 1e-5"
    argv = line.split()
    assert call(argv, mechanism % "replace-one").returncode == 2
    assert call(argv, mechanism % "add-remove").returncode == 0
    fixed = [*argv, "--scheme", "without-replacement"]
    assert call(fixed, mechanism % "replace-one").returncode == 0
    assert call(fixed, mechanism % "add-remove").returncode == 2


def test_a_guarantee_for_one_record_stays_one_in_pipes():
    first, third = (answer(f"online-noise {RUN} --sigmas 1,2,3 --index {i} --epsilon 1") for i in (1, 3))
    assert first["guarantee"]["index"] == [1]
    done = call(["tv", "-"], json.dumps(first))
    assert "for record 1 only, as the input says" in done.stdout
    both = call(["convert", "-", "--delta", ".05", "--json"], json.dumps(first))
    assert json.loads(both.stdout)["guarantee"]["index"] == [1]
    assert call(["verify", "-"], both.stdout).returncode == 0
    done = call(["convert", "-", "--delta", ".1", "--json"], both.stdout)
    assert json.loads(done.stdout)["guarantee"]["index"] == [1] and "record 1" in json.loads(done.stdout)["notes"][0]
    assert third["guarantee"]["index"] == [3]
    assert "index" not in answer(f"shuffle-pnsgd {RUN} --n 100 --sigma 1 --epsilon 1")["guarantee"]


SUM = {"name": "gaussian", "noise_multiplier": 1, "sum": True}
SURVEY = {"name": "k-randomized-response", "step_epsilon": 1, "categories": 4}


def asked(line, *parts):
    """The result of a command about a guarantee of these mechanisms that states no relation, and what it warned of."""
    done = call([*line.split(), "--json"], json.dumps({"kind": "mechanisms", "mechanisms": parts}))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("batches", ["--scheme without-replacement --sampling-rate .1 --steps 1",
                                     slow("--scheme shuffle --adjacency replace-one --steps-per-epoch 5 --epochs 1"),
                                     "--scheme with-replacement --n 40 --batch-size 4 --steps 1",
                                     "--adjacency replace-one --sampling-rate .1 --steps 1",
                                     "--sampling-rate .1 --steps 1"])
def test_the_noise_multiplier_of_a_sum_is_one_for_all_neighbours(batches):
    found, warned = asked(f"subsample - {batches} --delta 1e-3", SUM)
    same = answer(f"subsample {batches} --noise-multiplier 1 --delta 1e-3")
    assert found["result"]["epsilon"] == same["result"]["epsilon"] and not warned
    assert found["result"]["noise_multiplier"] == 1


def test_a_mechanism_beside_reports_is_bound_to_their_neighbours_with_a_promise():
    found, warned = asked("convert - --delta 1e-3", SURVEY, {"name": "laplace", "scale": 1})
    (promise,) = found["promises"]
    assert found["adjacency"] == "replace-one" and promise in warned
    assert promise.startswith("the sensitivity of standard input must hold for replace-one neighbours")
    assert not asked("convert - --delta 1e-3", SURVEY)[1]


def test_numbers_that_state_no_relation_are_bound_with_a_promise():
    done = call(["convert", "--from", "gdp", "--mu", "1", "--delta", "1e-5", "--adjacency", "replace-one", "--json"])
    assert json.loads(done.stdout)["promises"] == [
        "the guarantee must hold for replace-one neighbours (often twice what holds where a record is added or removed)"]
    assert "must hold for replace-one neighbours" in done.stderr
    found = answer("convert --from gdp --mu 1 --delta 1e-5 --adjacency add-remove")
    assert found["promises"] == ["the guarantee must be that of add-remove neighbours"]


def test_a_pipe_says_which_two_batches_a_scale_is_about():
    one = call(["rdp", "--mechanism", "laplace", "--scale", "1", "--adjacency", "add-remove", "--json"]).stdout
    argv = ["subsample", "-", "--sampling-rate", ".1", "--adjacency", "replace-one", "--delta", "1e-5"]
    done = call([*argv, "--format", "statement"], one)
    assert "must hold when a record is added to a batch or removed from it" in " ".join(done.stdout.split())


@pytest.mark.parametrize("rate", [slow("1e-100"), slow("1e-200"), "1e-300"])
def test_the_rarest_batches_lose_something(rate):
    found = answer(f"subsample --sampling-rate {rate} --steps 2 --noise-multiplier .1 --epsilon 1 --adjacency replace-one")
    assert 0 < found["result"]["delta"] < 1e-100


def statement(line, text=""):
    done = call([*line.split(), "--format", "statement"], text)
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split())


@pytest.mark.slow
@pytest.mark.parametrize("line", ["convert - --adjacency replace-one --delta 1e-5", "tv - --adjacency replace-one"])
def test_a_statement_about_attacks_is_about_the_converted_guarantee(line):
    one = call(["subsample", "--n", "60000", "--batch-size", "600", "--noise-multiplier", "1", "--epochs", "10", "--delta", "1e-5", "--json"]).stdout
    rate = json.loads(call([*["tv", "-", "--adjacency", "replace-one", "--fpr", ".001", "--json"]], one).stdout)["result"]["tpr"]
    found = float(re.search(r"true-positive rate above (\S+) %", statement(line, one)).group(1))
    assert rate * 100 <= found <= rate * 101
    assert found > 1.5 * float(re.search(r"true-positive rate above (\S+) %",
                                         statement("convert - --delta 1e-5", one)).group(1))


def test_a_statement_has_the_noise_multiplier_of_the_run():
    run = "--scheme without-replacement --sampling-rate .01 --steps 10 --noise-multiplier 1.5 --delta 1e-5"
    one = call([*f"subsample {run}".split(), "--json"]).stdout
    assert "Gaussian noise (noise multiplier 1.5) on batches" in statement("convert - --delta 1e-5", one)


@pytest.mark.slow
def test_what_shuffled_batches_lose_is_compared_for_the_same_neighbours():
    run = "--n 605 --batch-size 60 --drop-last --noise-multiplier 1 --epochs 3 --delta 1e-5"
    for adjacency in ("zero-out", "replace-one"):
        (note,) = [x for x in answer(f"subsample --scheme shuffle {run} --adjacency {adjacency}")["notes"]
                   if "random allocation" in x]
        other = answer("subsample --scheme random-allocation --steps-per-epoch 10 --noise-multiplier 1 --epochs 3 "
                       f"--delta 1e-5 --adjacency {adjacency}")["result"]["epsilon"]
        assert f"(--scheme random-allocation) has ε = {human(other)}" in note


def test_the_way_out_for_reports_counts_the_rounds_of_the_epochs():
    said = "k-randomized-response --categories 4 --step-epsilon 2 --sampling-rate 0.1 --epochs 5"
    code, text = printed(f"subsample --mechanism {said} --delta 1e-6")
    assert code == 2 and "dpcalc rdp --mechanism k-randomized-response" in text and "--steps 50," in text
    code, text = printed(f"tv --mechanism {said}")
    assert code == 2 and "--steps 50 --json | dpcalc tv -, where" in text


def test_the_way_out_of_a_ledger_is_one_that_its_commands_answer(tmp_path):
    run = {"command": "subsample", "n": 6000, "batch-size": 60, "epochs": 2, "noise-multiplier": 1}
    file = tmp_path / "ledger.json"
    for second, way in (({"scheme": "shuffle"}, 'set adjacency = "zero-out" in release 1'),
                        ({"scheme": "without-replacement"}, 'set adjacency = "replace-one" in release 1')):
        file.write_text(json.dumps({"release": [run, {**run, **second}]}))
        code, text = printed(f"ledger --file {file} --delta 1e-5")
        assert code == 2 and way in text


@pytest.mark.slow
def test_replacing_a_record_loses_more_than_removing_it_and_often_up_to_twice_as_much():
    """As `dpcalc help neighbours` says of Poisson batches."""
    rng, ratios = random.Random(20), []
    for _ in range(9):
        run = (f"subsample --sampling-rate {10 ** rng.uniform(-3.5, -1)} --steps {int(10 ** rng.uniform(1, 4))} "
               f"--noise-multiplier {rng.uniform(0.6, 4)} --delta {10 ** rng.uniform(-8, -5)}")
        replaced, removed = (answer(f"{run} --adjacency {name}")["result"] for name in ("replace-one", "add-remove"))
        assert replaced["epsilon"] > removed["epsilon_lower"]
        ratios.append(replaced["epsilon"] / removed["epsilon"])
    assert 1.5 <= sorted(ratios)[4] <= 2.1

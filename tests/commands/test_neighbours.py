"""A guarantee is for one kind of neighbours, and no command takes it for the other."""

import json

import pytest
from answers import answer, printed
from calling import call

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
    assert code == 2 and "replace-one adjacency" in text and "add-remove" in text
    code, text = printed(f"convert {results['add']} {results['replace']} --delta 2e-5")
    assert code == 2 and "different adjacencies" in text
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
    assert call(argv, mechanism % "replace-one").returncode == 0
    assert call(argv, mechanism % "add-remove").returncode == 2


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

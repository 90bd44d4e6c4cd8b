"""What a guarantee in JSON promises of runs on random batches, of groups and of mechanisms that are known from above
only: no more than the command that wrote it."""

import json

import pytest
from calling import call
from conftest import spread


def answer(line, text=""):
    done = call([*line.split(), "--json"], text)
    assert done.returncode == 0, (line, done.stderr)
    return json.loads(done.stdout)


def refusal(line, text=""):
    done = call(line.split(), text)
    assert done.returncode == 2, (line, done.stdout)
    return done.stderr


def mechanisms(*parts, **stated):
    return json.dumps({"kind": "mechanisms", **stated, "mechanisms": parts})


POISSON = {"name": "gaussian", "noise_multiplier": 1.0, "sampling": {"scheme": "poisson", "rate": 0.01}, "count": 1000}


def test_poisson_batches_in_json_are_about_the_neighbours_that_it_states():
    """The noise multiplier is about a batch that loses a record, whatever the neighbours are."""
    replaced = answer("convert - --delta 1e-5", mechanisms(POISSON, adjacency="replace-one"))
    run = answer("subsample --noise-multiplier 1 --sampling-rate .01 --steps 1000 --adjacency replace-one --delta 1e-5")
    assert replaced["result"]["epsilon"] == pytest.approx(run["result"]["epsilon"], rel=1e-3)
    between = {**POISSON, "between": "replace-one"}
    assert "is not what gaussian needs here" in refusal("convert - --delta 1e-5",
                                                        mechanisms(between, adjacency="replace-one"))
    whole = answer("convert - --delta 1e-5", mechanisms(POISSON))["result"]["epsilon"]
    zeroed = answer("convert - --delta 1e-5", mechanisms(POISSON, adjacency="zero-out"))
    assert zeroed["result"]["epsilon"] == whole and zeroed["adjacency"] == "zero-out"


def test_the_guarantee_of_cyclic_batches_says_its_neighbours():
    run = answer("subsample --scheme cyclic-poisson --bands 4 --n 1000 --batch-size 10 --steps 100 --noise-multiplier 1")
    assert answer("convert - --delta 1e-5", json.dumps(run["guarantee"]))["adjacency"] == "zero-out"


def test_shuffled_reports_do_not_compose_with_added_records():
    report = {"name": "shuffled-ldp", "n": 100, "step_epsilon": 1.0}
    assert "different neighbours" in refusal("convert - --delta 1e-5", mechanisms(report, POISSON))


@pytest.mark.parametrize("sampling", [{"scheme": "poisson", "rate": 0.1},
                                      {"scheme": "random-allocation", "steps_per_epoch": 9}])
def test_what_a_scheme_does_not_cover_is_refused_in_json(sampling):
    for part in ({"name": "shuffled-ldp", "n": 100, "step_epsilon": 1.0},
                 *([{"name": "laplace", "scale": 2.0}] if sampling["scheme"] != "poisson" else [])):
        text = refusal("convert - --delta 1e-5", mechanisms({**part, "sampling": sampling}))
        assert "none of them is sampled" in text or "supported for Gaussian noise only" in text


def test_a_guarantee_about_one_index_is_none_for_groups():
    point = json.dumps({"kind": "dp", "epsilon": 0.1, "delta": 1e-7, "index": [100]})
    assert "every record" in refusal("convert - --group-size 3", point)


BOUND_ONLY = mechanisms({"name": "gaussian", "noise_multiplier": 3.0, "sampling": None, "count": 1}, upper_bound=True)


@pytest.mark.parametrize("run", ["--sampling-rate 0.01 --steps 10", "--scheme random-allocation --steps-per-epoch 20",
                                 "--scheme random-allocation --steps-per-epoch 1 --epochs 1",
                                 "--sampling-rate 0.01 --steps 10 --group-size 3"])
@spread("source", [BOUND_ONLY, json.dumps({"kind": "gdp", "mu": 0.5})])
def test_what_is_known_from_above_only_has_no_lower_end(source, run):
    found = answer(f"subsample - {run} --delta 1e-5", source)
    assert "epsilon_lower" not in found["result"] and found["guarantee"]["upper_bound"] is True
    again = answer("convert - --delta 1e-5", json.dumps(found))["result"]
    assert "epsilon_lower" not in again and again["epsilon"] == pytest.approx(found["result"]["epsilon"], rel=2e-3)


@pytest.mark.parametrize("mechanism", ["exponential --step-epsilon 0.1",
                                       "above-threshold --threshold-scale 20 --scale 20"])
def test_groups_of_selections_in_a_pipe_are_verified(mechanism, tmp_path):
    run = answer(f"rdp --mechanism {mechanism} --steps 20 --group-size 3 --delta 1e-6")
    found = answer("convert - --delta 1e-6 --bound profile-composition", json.dumps(run))
    assert "epsilon_lower" not in found["result"]
    path = tmp_path / "answer.json"
    path.write_text(json.dumps(found))
    assert call(["verify", str(path)]).returncode == 0
    text = json.dumps(found).replace(repr(found["result"]["epsilon"]), repr(found["result"]["epsilon"] / 3))
    path.write_text(text)
    assert call(["verify", str(path)]).returncode != 0

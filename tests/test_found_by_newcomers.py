"""What people found who used the tool by its README alone: each with the number, or the words, that are right."""

import json
from math import log

import pytest
from calling import call
from last_iterate_lines import answer, asked

RUN = "--lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5"
STREAM = "--lipschitz 10 --diameter 1 --learning-rate .01 --smoothness .5 --decay 1.5 --c1 100 --c2 100"
LAPLACE = "online-noise --noise laplace --lipschitz 1 --diameter 2 --smoothness .5 --learning-rate .1"
CONJECTURE = "shuffle-pnsgd --lipschitz 1 --bound without-replacement-conjecture"


def said(line):
    """What a table, or an error, says."""
    done = call(line.split())
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def results(tmp_path):
    """Files of results for both kinds of neighbours."""
    lines = {"replace": f"shuffle-pnsgd {RUN} --sigma 10 --n 1000 --delta 1e-5", "add": "subsample --sampling-rate .01 --sigma 1 --steps 100 --delta 1e-5"}
    for name, line in lines.items():
        (tmp_path / name).write_text(call([*line.split(), "--json"]).stdout)
    return {name: str(tmp_path / name) for name in lines}


def test_neighbours_are_kept_in_pipes(results):
    """A guarantee for replace-one neighbours says nothing about add-remove ones."""
    code, text = said(f"subsample {results['replace']} --sampling-rate .01")
    assert code == 2 and "replace-one neighbours" in text and "add-remove" in text
    code, text = said(f"convert {results['add']} {results['replace']} --delta 2e-5")
    assert code == 2 and "do not compose" in text
    code, text = said(f"subsample {results['replace']} --scheme without-replacement --sampling-rate .01")
    assert code == 0 and "Neighbours: replace-one" in text
    converted = json.loads(call(["convert", results["replace"], "--delta", "1e-5", "--json"]).stdout)
    assert converted["adjacency"] == "replace-one"
    for line in (f"convert {results['replace']} --delta 1e-5", f"tv {results['replace']}"):
        assert call(["verify", "-"], call([*line.split(), "--json"]).stdout).returncode == 0  # from its own record of inputs
    bare = '{"kind": "dp", "epsilon": 1, "delta": 1e-6, "adjacency": "replace-one"}'
    assert call(["subsample", "-", "--sampling-rate", ".1"], bare).returncode == 2
    assert call(["subsample", "-", "--sampling-rate", ".1"], bare.replace(', "adjacency": "replace-one"', "")).returncode == 0


@pytest.mark.parametrize("rest, epsilon", [
    ("--scales 15,16,17 --index 1", 2 / 15), ("--scales 15,400,17 --index 1", 20 / 400),  # (ε from which A is 0; MD/(ηv) of a later step)
    ("--c1 10 --c2 2 --decay 1.5 --n 1e6 --index 5", 2 / (10 / log(5**1.5 / 10 + 2))),
])
def test_pure_privacy_of_streams(rest, epsilon):
    found = answer(f"{LAPLACE} {rest} --delta 0")[0]["result"]
    assert found["epsilon"] == pytest.approx(epsilon, rel=1e-9) and found["epsilon"] >= epsilon * (1 - 1e-15)
    assert answer(f"{LAPLACE} {rest} --epsilon {found['epsilon']!r}")[0]["result"]["delta"] == 0
    assert answer(f"{LAPLACE} {rest} --epsilon {found['epsilon'] * .999!r}")[0]["result"]["delta"] > 0


def test_pure_privacy_of_a_position_that_steps_follow():
    line = "shuffle-pnsgd --lipschitz 1 --diameter .1 --smoothness .5 --learning-rate .1 --noise laplace --scale 3 --n 100 --index"
    first, last = (answer(f"{line} {k} --delta 0")[0]["result"]["epsilon"] for k in (3, 100))
    assert first == pytest.approx(1 / 3) and last == pytest.approx(2 / 3)
    code, _, err = asked(f"{LAPLACE.replace('--noise laplace ', '')} --sigmas 1,2 --index 1 --delta 0".split())
    assert code == 3 and "Gaussian" in err


def test_limits_and_worst_indices_below_the_doubles():
    line = f"online-noise {STREAM} --n 1e6 --index 100 --epsilon 300"
    found = answer(line)[0]["result"]
    assert found["log_delta_limit"] < -1e30 and found["limit_factor"] == "inf" and found["worst_log_delta"] == pytest.approx(-10239.347, rel=1e-6)
    _, text = said(line)
    assert "times it" in text and "e^1.5" in text and "4.94" not in text and "e-4447" in text
    same = answer(f"online-noise {RUN} --sigmas 1,100,100 --index 3 --epsilon 1")[0]["result"]
    assert same["worst_index"] == 3 and same["worst_log_delta"] == same["log_delta"]
    assert answer(f"{LAPLACE} --scales 1,1,1 --index 3 --epsilon 2")[0]["result"]["worst_delta"] == 0


@pytest.mark.parametrize("rest, solved", [
    ("--n 1000 --tau .5 --alpha 4 --rdp .01 --solve sigma", "σ = 3.57771"), ("--n 1000 --tau .5 --epsilon 1 --delta 1e-4 --solve sigma", "σ = "),
    ("--sigma 10 --n 1000 --tau .5 --epsilon 1 --delta 1e-4 --solve epochs", "E = "),
])
@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_what_stands_beside_a_solution_by_the_conjecture(rest, solved, form):
    code, text = said(f"{CONJECTURE} {rest} --format {form}")
    assert code == 0 and "KeyError" not in text and "without-replacement-lower" in text and "without-replacement-unamplified" in text
    assert form != "table" or (text.startswith(solved) and "ε(α) = " in text)


def test_the_lower_bound_stands_beside_epsilon_too():
    found = answer(f"{CONJECTURE} --sigma 2 --n 10 --tau .1 --epochs 100 --delta 1e-4")[0]["bounds"]
    conjecture, lower = (next(b for b in found if b["name"].startswith(f"without-replacement-{name}")) for name in ("conjecture", "lower"))
    assert lower["status"] == "lower" and lower["alpha"] == conjecture["witness"]["alpha"] and lower["rdp"] == pytest.approx(11.216, rel=1e-3)


def test_sweeps_tell_what_stands_beside_their_numbers():
    _, text = said(f"{CONJECTURE} --sigma 2 --n 1000 --tau .5,.001 --alpha 16")
    assert text.count("is refuted here") == 2 and "At τ = .001:" in text
    _, text = said(f"shuffle-pnsgd {RUN} --sigma 3 --n 100,200 --index 7 --epsilon 1")
    header, _, *lines = text.splitlines()
    assert " ".join(header.split()).endswith("worst index its δ") and [line.split()[-2] for line in lines[:2]] == ["100", "200"]
    _, text = said("shuffle-pnsgd --noise laplace --c1 1e5 --c2 2 --lipschitz 10 --diameter 1 --learning-rate .1 --smoothness .5 --n 1e3,1e4,1e5 "
                   "--epsilon 1 --bound shuffled-contraction")
    assert [line.split()[-1] for line in text.splitlines()[2:5]] == ["118.975", "13.149", "2.45043"]


def test_the_worst_position_of_an_rdp_value():
    line = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .1 --sigma 3 --n 100 --alpha 3"
    there, last = (answer(f"{line} --index {k}")[0]["result"] for k in (7, 100))
    assert there["worst_index"] == 100 and there["worst_rdp"] == pytest.approx(last["rdp"], rel=1e-14) and last["rdp"] > there["rdp"]


def test_bounds_say_what_order_they_are_about():
    assert "--index: needed by fixed-order" in said(f"shuffle-pnsgd {RUN} --sigma 3 --n 100 --bound fixed-order --epsilon 1")[1]
    assert "--index: not used by shuffled-iteration" in said(f"shuffle-pnsgd {RUN} --sigma 3 --n 9 --index 3 --bound shuffled-iteration --epsilon 1")[1]
    found = answer(f"shuffle-pnsgd {RUN} --sigma 1 --n 10 --epsilon 1 --bound rdp-mironov")[0]
    assert (found["bound"], found["bounds"][0]["conversion"]) == ("shuffled-iteration-rdp", "rdp-mironov")


@pytest.mark.parametrize("line, most", [
    ("--lipschitz .3 --diameter 20 --smoothness 2 --learning-rate .05 --n 10 --epochs 20 --epsilon 8 --delta 1e-6", 0.0),
    ("--lipschitz 1 --diameter 2 --smoothness .5 --learning-rate .001 --n 10 --epochs 20 --epsilon 1 --delta 1e-12", 0.0),
])
def test_a_solution_through_epochs_fed_back_as_epsilon(line, most):
    """δ was told 1.3 % and .9 % above the budget's."""
    sigma = answer(f"shuffle-pnsgd {line} --solve sigma")[0]["result"]["sigma"]
    question, _, delta = line.partition(" --delta ")
    found = answer(f"shuffle-pnsgd {question} --sigma {sigma!r}")[0]
    assert found["result"]["log_delta"] - log(float(delta)) <= most
    done = call(["verify", "-"], json.dumps(found))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("rest, log_exact, most", [
    ("--sigma 100 --epochs 500 --epsilon 2", log(9.4480e-07), 0.02), ("--sigma 10 --epochs 2 --epsilon 1", log(2.34529e-05), 0.004),
    ("--sigma 80 --epochs 6 --epsilon 1.326", log(1.539e-106), 0.7),
])
def test_how_far_epochs_are_told_above_the_exact_profile(rest, log_exact, most):
    """One record: exactly E Gaussian steps. The last one was 4.2 above."""
    found = answer(f"shuffle-pnsgd --lipschitz 1 --diameter 2 --smoothness 0 --learning-rate .1 --n 1 {rest}")[0]["result"]["log_delta"]
    assert log_exact - 1e-4 < found < log_exact + most


def test_answers_with_statements_are_verified():
    for line in ("rdp --sigma 1 --delta 1e-5", f"shuffle-pnsgd {RUN} --sigma 1 --n 10 --epsilon 1"):
        done = call(["verify", "-"], call([*line.split(), "--explain", "--json"]).stdout)
        assert done.returncode == 0, done.stdout + done.stderr


def test_certified_ends_of_a_tiny_delta():
    pytest.importorskip("flint")
    found = answer(f"online-noise {STREAM} --n 1e6 --index 100 --epsilon 1 --certify")[0]["certified"]
    assert 0 <= found["lower"] <= found["upper"]


@pytest.mark.parametrize("asked_for", ["--sigma 1 --delta 1e-5", "--delta 1e-5 --epsilon 1 --solve sigma"])
@pytest.mark.parametrize("bound", ["output-perturbation", "output-perturbation-shuffled"])
def test_a_named_bound_blames_the_option_that_its_theorem_is_about(bound, asked_for):
    """--delta at first: "infinite at every order"."""
    code, words = said(f"shuffle-pnsgd {RUN} --n 1000 {asked_for} --bound {bound}")
    assert code == 2 and "--strong-convexity: 0: c = max(|1−ηρ|, |1−ηβ|) = 1 must be below 1" in words


def test_a_schedule_fits_the_schema():
    import jsonschema

    schema = json.loads(call(["schema"]).stdout)
    line = "online-noise --diameter 1 --learning-rate .1 --smoothness .5 --decay 1.5 --c1 100 --c2 100 --schedule 1:3 --json"
    jsonschema.validate(json.loads(call(line.split()).stdout), schema)


@pytest.mark.parametrize("rest", ["-q", "--format csv", "--format tsv"])
def test_digits_that_would_not_be_shown_are_refused(rest):
    code, text = said(f"rdp --sigma 1 --delta 1e-5 --digits 20 {rest}")
    assert code == 2 and "--digits" in text and "not with" in text


def test_digits_of_a_sweep_stand_in_its_json():
    code, text = said("rdp --sigma 1 --delta 1e-5,1e-6 --digits 20")
    assert code == 2 and "--digits" in text
    line = "rdp --sigma 1 --delta 1e-5,1e-6 --digits 20 --json"
    points = json.loads(call(line.split()).stdout)
    assert [p["bounds"][0]["digits"]["epsilon"][:9] for p in points] == ["4.3771780", "4.8865541"]


def test_hints_name_what_the_command_has():
    assert "--alpha" not in said("online-noise --lipschitz 1")[1] and "--alpha" in said("shuffle-pnsgd --lipschitz 1")[1]
    assert "--orders" not in said(f"shuffle-pnsgd {RUN} --sigma .5 --n 1000 --epsilon 1 --alpha 3")[1]
    assert "--orders" in said("rdp --sigma 1 --epsilon 1 --alpha 3")[1]


def test_amplification_is_about_the_neighbours_of_its_scheme(tmp_path):
    """Add-remove neighbours at ε = 1 may be replace-one ones at 2: Poisson batches then have log((1−q+qe)/(1−q+q/e)) = .224, not .159."""
    point = "subsample --sampling-rate .1 --epsilon 1 --delta 1e-6"
    (tmp_path / "p").write_text(call([*point.split(), "--json"]).stdout)
    for line in (f"{point} --adjacency replace-one", f"subsample {tmp_path / 'p'} --sampling-rate .1 --adjacency replace-one"):
        code, text = said(line)
        assert code == 2 and "replace-one" in text
    mechanism = '{"kind": "mechanisms", "mechanisms": [{"name": "gaussian", "noise_multiplier": 2, "sampling": null, "count": 1}], "adjacency": "%s"}'
    argv = ["subsample", "-", *"--sampling-rate .01 --steps 10 --adjacency replace-one --delta 1e-5".split()]  # noqa: SIM905
    assert call(argv, mechanism % "replace-one").returncode == 0
    assert call(argv, mechanism % "add-remove").returncode == 2


@pytest.mark.parametrize("line", [
    "shuffle-pnsgd --noise laplace --scale 2 --delta 0 --lipschitz 1 --diameter .1 --learning-rate .1 --smoothness .5 --n 10 --index 3",
    "shuffle-pnsgd --noise laplace --scale 2 --delta 0 --lipschitz 1 --diameter .1 --learning-rate .1 --smoothness .5 --n 10 --index 3 --epochs 3 "
    "--bound fixed-order-basic",
    f"{LAPLACE} --scales 15,400,17 --index 1 --delta 0", f"{LAPLACE} --c1 10 --c2 2 --decay 1.5 --n 1e6 --index 5 --delta 0",
    f"{CONJECTURE} --tau .5 --sigma 3 --n 1000 --delta 1e-4", f"{CONJECTURE} --tau .5 --sigma 3 --n 1000 --epsilon 1",
])
def test_what_is_new_is_verified(line):
    done = call(["verify", "-"], call([*line.split(), "--json"]).stdout)
    assert "unchecked" not in done.stdout and "not verified" not in done.stdout, done.stdout
    assert done.returncode == (0 if "conjecture" not in line else done.returncode)


def test_a_bound_without_points_has_no_place_in_a_legend():
    _, text = said(f"{CONJECTURE} --tau .5 --n 1000 --delta 1e-4 --sigma 2,3,4 --plot -")
    assert "without-replacement-unamplified" in text and "without-replacement-lower" not in text

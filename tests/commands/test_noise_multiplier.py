"""The noise multiplier is one number: the noise on the sum of a batch's clipped gradients over the clipping norm, in
every command."""

import json
import random
import re
import warnings
from math import nextafter

import pytest
from calling import call
from conftest import slow, spread

from dpcalc import DpcalcError, answer, solve

RUN = {"n": 50_000, "batch_size": 1024, "epochs": 50}
BATCHES = [("poisson", None), ("poisson", "add-remove"), ("poisson", "replace-one"), ("without-replacement", None),
           ("without-replacement", "replace-one")]
CLOSE = 2e-3  # relative: the precision of a composed profile


def runs(seed, count):
    """Random (Z, n, b, T) whose ε is neither tiny nor huge."""
    r = random.Random(seed)
    for _ in range(count):
        n = r.randint(500, 100_000)
        b = r.randint(1, max(2, n // 20))
        yield r.uniform(0.8, 6), {"n": n, "batch_size": b, "steps": r.randint(1, 300)}


def neighbours(adjacency):
    return {"adjacency": adjacency} if adjacency else {}


@spread(("batches", "adjacency", "draws"), [
    ("poisson", "add-remove", 1), ("poisson", "replace-one", 1), *(slow(*case, 3) for case in BATCHES)])
def test_the_same_multiplier_is_the_same_run_in_subsample_compare_and_tv(batches, adjacency, draws):
    for multiplier, run in runs(f"{batches} {adjacency}", draws):
        said = {**run, "noise_multiplier": multiplier, **neighbours(adjacency)}
        sampled = answer("subsample", scheme=batches, delta=1e-6, **said)
        compared = answer("compare", batches=batches, delta=1e-6, **said)
        with_norm = answer("compare", batches=batches, delta=1e-6, clipping_norm=0.37, **said)
        attack = answer("tv", scheme=batches, **said)
        assert sampled.value == pytest.approx(compared.value, rel=CLOSE) == pytest.approx(with_norm.value, rel=CLOSE)
        assert attack.value == pytest.approx(compared.result["tv"], rel=CLOSE)
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            delta = answer("subsample", scheme=batches, epsilon=0.5, **said).value
            assert delta == pytest.approx(answer("compare", batches=batches, epsilon=0.5, **said).value, rel=0.02)
        assert len(raised) == 2 * (delta >= 1 / run["n"]) and all("at least 1/n" in str(w.message) for w in raised)
        assert sampled.adjacency == compared.adjacency == attack.adjacency
        assert {r.result["noise_multiplier"] for r in (sampled, compared, with_norm, attack)} == {multiplier}


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_the_same_multiplier_is_the_same_run_without_sampling(adjacency):
    for multiplier, run in runs(adjacency, 4):
        said = {"steps": run["steps"], "noise_multiplier": 20 * multiplier, "adjacency": adjacency}
        alone = answer("rdp", delta=1e-6, **said)
        assert answer("compare", batches="full", n=run["n"], delta=1e-6, **said).value == pytest.approx(alone.value,
                                                                                                        rel=1e-12)
        assert answer("subsample", sampling_rate=1, delta=1e-6, **said).value == pytest.approx(alone.value, rel=CLOSE)
        assert answer("tv", **said).value == pytest.approx(answer("tv", sampling_rate=1, **said).value, rel=CLOSE)
        assert answer("tv", **said).adjacency == alone.adjacency == adjacency


@pytest.mark.parametrize(("scheme", "adjacency", "factor"),
                         [("poisson", "add-remove", 1), ("without-replacement", "replace-one", 2),
                          ("weighted", "replace-one", 2)])
def test_replacing_a_record_moves_the_sum_by_twice_the_norm(scheme, adjacency, factor):
    rate = {"max_weight": 0.02} if scheme == "weighted" else {"sampling_rate": 0.02}
    run = {"scheme": scheme, "adjacency": adjacency, "steps": 100, **rate, "delta": 1e-6}
    by_multiplier = answer("subsample", noise_multiplier=3.1, **run)
    by_sigma = answer("subsample", sigma=3.1, sensitivity=factor, **run)
    assert by_multiplier.value == by_sigma.value
    assert by_multiplier.result["noise_multiplier"] == by_sigma.result["noise_multiplier"] == 3.1
    assert answer("subsample", sigma=3.1, **run).result["noise_multiplier"] == pytest.approx(factor * 3.1, rel=1e-15)
    assert by_multiplier.guarantee["mechanisms"][0]["noise_multiplier"] == 3.1 / factor  # σ over the sensitivity


def test_known_runs():
    """Two other accountants, which come within 1e-4, and the theorem for the run with a clipping norm of 1."""
    said = {**RUN, "noise_multiplier": 1.59623, "delta": 1e-5}
    assert answer("subsample", scheme="without-replacement", **said).value == pytest.approx(13.2648, rel=1e-4)
    assert answer("compare", batches="without-replacement", clipping_norm=1, **said).value == pytest.approx(13.2648,
                                                                                                            rel=1e-4)
    assert answer("tv", scheme="without-replacement", **RUN, noise_multiplier=1.6).value == pytest.approx(0.7729,
                                                                                                          rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("batches", "adjacency"), BATCHES)
def test_solving_for_it_agrees_and_meets_the_budget(batches, adjacency):
    for _, run in runs(f"solve {batches} {adjacency}", 2):
        said = {**run, "epsilon": 1.3, "delta": 1e-6, **neighbours(adjacency)}
        asked = {k: v for k, v in said.items() if k != "epsilon"}
        found = {"subsample": solve("subsample", "noise-multiplier", scheme=batches, **said),
                 "compare": solve("compare", "noise_multiplier", batches=batches, clipping_norm=0.3, **said)}
        assert found["subsample"].value == pytest.approx(found["compare"].value, rel=CLOSE)
        for command, scheme in (("subsample", "scheme"), ("compare", "batches")):
            z = found[command]
            assert z.solved == "noise-multiplier" and z.value == z.result["noise_multiplier"]
            assert answer(command, noise_multiplier=z.value, **{scheme: batches}, **asked).value <= 1.3
            assert answer(command, noise_multiplier=z.value * 0.99, **{scheme: batches}, **asked).value > 1.3


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_solving_for_it_without_sampling(adjacency):
    z = solve("rdp", "noise-multiplier", epsilon=1, delta=1e-5, adjacency=adjacency)
    assert z.value == pytest.approx({"add-remove": 1, "replace-one": 2}[adjacency]
                                    * solve("rdp", "sigma", epsilon=1, delta=1e-5).value, rel=1e-12)
    assert answer("rdp", noise_multiplier=z.value, adjacency=adjacency, delta=1e-5).value <= 1
    full = solve("compare", "noise-multiplier", batches="full", n=1000, steps=1, epsilon=1, delta=1e-5,
                 adjacency=adjacency)
    assert full.value == pytest.approx(z.value, rel=1e-12)
    t = solve("tv", "noise-multiplier", tv=0.1, adjacency=adjacency)
    assert answer("tv", noise_multiplier=t.value, adjacency=adjacency).value <= 0.1 < answer("tv",
                                                                                             noise_multiplier=t.value
                                                                                             * 0.999,
                                                                                             adjacency=adjacency).value


def test_a_solution_of_compare_survives_the_rounding_of_its_sigma():
    """σ = ZC/b is rounded; norms and batch sizes that are no powers of two."""
    for norm in (0.1, 3.7, 1 / 3):
        run = {"batches": "full", "n": 977, "steps": 13, "clipping_norm": norm, "delta": 1e-5}
        z = solve("compare", "noise-multiplier", epsilon=0.7, **run)
        assert answer("compare", noise_multiplier=z.value, **run).value <= 0.7
        assert answer("compare", noise_multiplier=nextafter(z.value, 0) * (1 - 1e-9), **run).value > 0.7


@spread("command", ["rdp", "subsample", "tv", "compare"])
@pytest.mark.parametrize("name", ["clipping-norm", "max_grad_norm", "max-grad-norm"])
def test_a_clipping_norm_beside_it_changes_nothing(command, name):
    run = {"rdp": {"delta": 1e-5}, "subsample": {**RUN, "delta": 1e-5}, "tv": RUN,
           "compare": {**RUN, "batches": "poisson", "delta": 1e-5}}[command]
    plain, with_norm = answer(command, noise_multiplier=1.3, **run), answer(command, noise_multiplier=1.3,
                                                                            **{name: 0.1}, **run)
    assert plain.value == pytest.approx(with_norm.value, rel=1e-9)
    assert command == "compare" or any("changes nothing" in note for note in with_norm.notes)


def lines():
    """A clipping norm where σ is the noise: (arguments, words of the way out)."""
    for run in ("rdp", "tv", "subsample --n 50000 --batch-size 1024 --epochs 50",
                "tv --n 50000 --batch-size 1024 --epochs 50"):
        for norm in ("--max-grad-norm", "--clipping-norm"):
            asks = "" if run.startswith("tv") else " --delta 1e-5"
            yield f"{run} --sigma 1.3 {norm} 0.1{asks}", "write --noise-multiplier 1.3; if it is the noise on the sum of a batch, write --noise-multiplier 13 (σ/C)"


@pytest.mark.parametrize(("line", "words"), [*lines(), ("rdp --epsilon 1 --delta 1e-5 --solve sigma --clipping-norm 2",
                                                        "--solve noise-multiplier")])
def test_a_clipping_norm_beside_sigma_is_refused_with_the_way_out(line, words):
    done = call(line.split())
    assert (done.returncode, done.stdout) == (2, "") and words in done.stderr and "noise-multiplier" in done.stderr
    assert "--sensitivity" not in done.stderr


@pytest.mark.parametrize("command", ["rdp", "subsample", "tv", "compare", "burn-in", "convert"])
@pytest.mark.parametrize("name", ["--clip", "--clipping", "--clip-norm", "--l2-norm-clip", "--max-grad-norm",
                                  "--clipping-norm", "--max-grad-norms"])
def test_a_sensitivity_is_never_suggested_for_a_clipping_norm(command, name):
    assert "sensitivity" not in call([command, name, "1", "--delta", "1e-5"]).stderr


@pytest.mark.parametrize(("line", "option", "words"), [
    ("rdp --sigma 1 --noise-multiplier 2 --delta .1", "--sigma", "not both"),
    ("rdp --sensitivity 1 --noise-multiplier 2 --delta .1", "--sensitivity", "not both"),
    ("rdp --sensitivity 1 --solve noise-multiplier --epsilon 1 --delta .1", "--sensitivity", "not both"),
    ("rdp --noise-multiplier 1 --solve sensitivity --epsilon 1 --delta .1", "--sensitivity", "not both"),
    ("rdp --noise-multiplier 1 --solve sigma --epsilon 1 --delta .1", "--sigma", "not both"),
    ("rdp --noise-multiplier 1 --solve noise-multiplier --epsilon 1 --delta .1", "--solve", "is given"),
    ("subsample --sigma 1 --adjacency replace-one --sampling-rate .1 --delta .1", "--adjacency", "--noise-multiplier"),
    ("rdp --mechanism laplace --scale 1 --clipping-norm 2 --delta .1", "--clipping-norm", "not used"),
    ("rdp --mechanism laplace --solve noise-multiplier --epsilon 1 --delta .1", "--solve", "has no effect"),
    ("subsample --noise-multiplier 1 --adjacency add-remove --scheme without-replacement --sampling-rate .1 --delta .1",
     "--adjacency", "replace-one"),
])
def test_what_says_the_noise_twice_or_not_at_all_is_refused(line, option, words):
    done = call([*line.split(), "--json"])
    assert done.returncode == 2
    error = json.loads(done.stderr)["error"]
    assert error["option"] == option and words in error["message"]


def test_its_neighbours_go_through_a_pipe():
    run = {"scheme": "without-replacement", "sampling_rate": 0.01, "steps": 100, "delta": 1e-5}
    with pytest.raises(DpcalcError, match="add-remove"):
        answer("subsample", inputs=[answer("rdp", noise_multiplier=2, delta=1e-5)], **run)
    piped = answer("subsample", inputs=[answer("rdp", noise_multiplier=2, adjacency="replace-one", delta=1e-5)], **run)
    assert piped.value == answer("subsample", noise_multiplier=2, **run).value
    assert answer("rdp", sigma=2, delta=1e-5).adjacency == "those your sensitivity refers to"


@pytest.mark.parametrize("line", [
    "rdp --noise-multiplier 2 --clipping-norm 3 --delta 1e-5",
    "rdp --solve noise-multiplier --adjacency replace-one --epsilon 1 --delta 1e-5",
    "subsample --scheme without-replacement --n 5000 --batch-size 50 --steps 30 --noise-multiplier 1.1 --delta 1e-5 "
    "--bound wor-rdp",
    slow("subsample --n 5000 --batch-size 50 --steps 30 --adjacency replace-one --solve noise-multiplier --epsilon 1 "
         "--delta 1e-5"),
    slow("compare --batches poisson --n 5000 --batch-size 50 --steps 30 --noise-multiplier 1.1 --delta 1e-5"),
    "compare --batches full --n 5000 --steps 30 --solve noise-multiplier --epsilon 1 --delta 1e-5 --max-grad-norm 3",
    "tv --noise-multiplier 20 --adjacency replace-one --steps 3", "tv --tv .1 --solve noise-multiplier --steps 3",
])
def test_records_hold_it_as_given_and_are_verified(line):
    pytest.importorskip("flint")
    record = call([*line.split(), "--json"]).stdout
    data = json.loads(record)
    given = line.split()
    name = "noise_multiplier"
    if "--noise-multiplier" in given:
        assert data["parameters"][name] == data["result"][name] == float(given[given.index("--noise-multiplier") + 1])
        assert not {"sigma", "sensitivity"} & data["parameters"].keys()
    else:
        assert data["solved"] == "noise-multiplier" and data["result"][name] > 0
        assert float(call([*given, "-q"]).stdout) == data["result"][name]
        assert call(given).stdout.startswith("Noise multiplier = ")
    assert call(["verify", "-"], record).returncode == 0


def test_lines_of_a_batch_and_sweeps_take_it():
    batch = call(["subsample", "--batch"],
                 '{"noise-multiplier": 2, "sampling_rate": 0.01, "steps": 10, "max-grad-norm": 3, "delta": 1e-5}\n')
    assert json.loads(batch.stdout)["result"]["epsilon"] == answer("subsample", noise_multiplier=2, sampling_rate=0.01,
                                                                   steps=10, delta=1e-5).value
    swept = call(["rdp", "--noise-multiplier", "1,2", "--adjacency", "replace-one", "--delta", "1e-5", "-q"])
    assert [float(x) for x in swept.stdout.split()] == [answer("rdp", sigma=s, delta=1e-5).value for s in (0.5, 1.0)]
    by_file = answer("compare", run={"n": 977, "batches": "full", "steps": 3, "noise-multiplier": 20,
                                     "max-grad-norm": 2}, delta=1e-5)
    assert by_file.value == pytest.approx(answer("rdp", noise_multiplier=20, adjacency="replace-one", steps=3,
                                                 delta=1e-5).value, rel=1e-12)


@pytest.mark.parametrize(("command", "whose"), [
    ("rdp", "on the query"), ("subsample", "on the sum"), ("tv", "on the sum"), ("compare", "on the mean gradient"),
    ("burn-in", "on the mean gradient"),
    ("shuffle-pnsgd", "on every gradient"), ("noise-feedback", "on the iterate"),
])
def test_the_help_of_sigma_says_whose_noise_it_is(command, whose):
    done = call([command, "--help"])
    text = " ".join(done.stdout.split())
    assert whose in text[text.index("--sigma "):][:220]


@pytest.mark.parametrize("command", ["rdp", "subsample", "tv", "compare"])
def test_it_is_listed_among_what_is_solved_for(command):
    assert re.search("just meets the budget: [a-z0-9, -]*noise-multiplier", " ".join(call([command, "--help"]).stdout.split()))
    refused = call([command, "--solve", "noise", "--epsilon", "1", "--delta", "1e-5"]).stderr
    assert "noise-multiplier" in refused


@pytest.mark.slow
def test_a_comparison_needs_no_norm_where_none_matters():
    """Bounds for clipped gradients depend on the noise over the norm alone; the others want to know L."""
    run = {"batches": "shuffled", "n": 6000, "batch_size": 100, "epochs": 2, "noise_multiplier": 3,
           "learning_rate": 0.1, "smoothness": 1,
           "release": "every-epoch", "delta": 1e-5}
    free, scaled = answer("compare", **run), answer("compare", clipping_norm=7, **run)
    assert [(b["name"], pytest.approx(b["epsilon"], rel=1e-9)) for b in free.bounds] == [(b["name"], b["epsilon"])
                                                                                         for b in scaled.bounds]
    assert len(free.bounds) == 4
    with pytest.raises(DpcalcError, match="--lipschitz or --clipping-norm"):
        answer("compare", batches="full", n=600, steps=3, sigma=3, delta=1e-5)


def test_it_is_relative_to_the_clipping_norm_where_gradients_are_smaller():
    found = answer("compare", batches="full", n=600, steps=3, noise_multiplier=20, clipping_norm=1, lipschitz=0.5,
                   delta=1e-5)
    assert found.result["noise_multiplier"] == 20
    assert found.value == pytest.approx(answer("rdp", noise_multiplier=40, adjacency="replace-one", steps=3,
                                               delta=1e-5).value, rel=1e-12)

"""dpcalc compare: its errors, formats and schema."""

import json

import jsonschema
import pytest
from compare_runs import RUNS, compare, full
from conftest import slow

from dpcalc import answer
from dpcalc.commands.compare import COMMAND
from dpcalc.commands.training_run import describe
from dpcalc.core.errors import DpcalcError
from dpcalc.core.validate import validate
from dpcalc.output.answer import document, record
from dpcalc.output.formats import render


@pytest.mark.parametrize("change, option, word", [
    ({"batches": None}, "--batches", "without-replacement"), ({"n": None}, "--n", "needed"),
    ({"batch_size": None}, "--batch-size", "needed"),
    ({"batch_size": "70000"}, "--batch-size", "more records"), ({"steps": None}, "--steps", "--epochs"),
    ({"epochs": "2"}, "--steps", "not both"),
    ({"sigma": None}, "--noise-multiplier", "--sigma"), ({"lipschitz": None}, "--lipschitz", "--clipping-norm"),
    ({"strong_convexity": "2"}, "--strong-convexity", "> β"),
    ({"strong_convexity": "0", "loss": "any"}, "--strong-convexity", "--loss any"),
    ({"index": "5"}, "--index", "fixed-order"), slow({"adjacency": "add-remove"}, "--adjacency", "replace-one"),
    ({"delta": "0"}, "--delta", "positive"), ({"alpha": "2"}, "--alpha", "--delta"),
    ({"bound": ("wor-profil",)}, "--bound", "wor-profile?"),
    ({"bound": ("iteration",)}, "--bound", "fixed-order"), ({"solve": "sigma", "sigma": None}, "--solve", "--epsilon"),
    ({"solve": "steps"}, "--solve", "--epsilon"),
    ({"solve": "noise-multiplier", "epsilon": "1", "delta": "1e-5"}, "--sigma", "not both"),
    ({"batches": "full"}, "--batch-size", "uses all records"), ({"batches": "stream"}, "--steps", "one pass"),
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
    with pytest.raises(DpcalcError, match="poisson-replace-one-profile: needs --adjacency replace-one"):
        compare(**RUNS["poisson"], bound=("poisson-replace-one-profile",))


LINE = ["compare", "--n", "1000", "--batches", "full", "--steps", "500", "--sigma", ".02", "--clipping-norm", "1",
        "--delta", "1e-5"]


def test_formats(cli):
    line = LINE
    table, both = cli(*line).stdout, compare(n="1000", batches="full", steps="500", sigma=".02", clipping_norm="1")
    assert table.startswith("ε = 11.4801 at δ = 1e-05 (gaussian-exact)")
    value = both.value
    assert float(cli(*line, "-q").stdout) == value
    header, first, _ = render(document(both), "csv").splitlines()
    assert header.startswith("bound,conversion,status,epsilon,delta,tv") and repr(value) in first and "dpcalc rdp" in first
    assert json.loads(render(document(both), "jsonl")) == record(both)
    assert "replace-one" in render(document(both), "latex") and "| gaussian-exact |" in render(document(both),
                                                                                               "markdown")
    swept = json.loads(cli(*line[:5], "--steps", "5,50", *line[7:], "--json").stdout)
    assert [a["result"]["steps"] for a in swept] == [5, 50] and "what_if" not in swept[0]


@pytest.mark.parametrize("absent", ["n", "batches", "batch_size", "epochs", "noise_multiplier"])
def test_a_run_that_lacks_an_option_is_told_all_it_needs(absent):
    run = {"n": "600", "batches": "shuffled", "batch_size": "300", "epochs": "1", "noise_multiplier": "1"}
    with pytest.raises(DpcalcError) as caught:
        compare(**{**run, absent: None})
    words = caught.value.message.split("a whole run is, for example, ")[1].split()
    asked = {name.removeprefix("--").replace("-", "_"): value for name, value in zip(words[::2], words[1::2], strict=True)}
    assert asked.keys() == run.keys() | {"delta"} and describe(validate(COMMAND, asked).values).steps == 4680


def page(cli, *more):
    line = ("compare --n 6000 --batches shuffled --batch-size 128 --drop-last --epochs 3 --noise-multiplier 1 "
            "--delta 1e-5")
    return cli(*line.split(), *more).stdout


@pytest.mark.slow
def test_the_page_is_one_screen_and_says_what_would_lower_the_number(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = page(cli)
    assert len(text.rstrip().splitlines()) <= 31 and all(len(line) <= 80 for line in text.splitlines())
    assert text.index("shuffle-profile ") < text.index("shuffle-no-amplification") < text.index("What would lower ε:") < text.index("--all shows the command")
    assert "  --batches poisson --adjacency zero-out: ε = " in text
    assert "Not applicable" not in text and "Each row by itself" not in text


@pytest.mark.slow
def test_all_shows_the_commands_and_what_does_not_apply(cli):
    text = page(cli, "--all")
    assert "--all shows" not in text and "\n    dpcalc subsample --scheme shuffle " in text
    assert "\n  Needs --batches poisson: poisson-profile, poisson-rdp" in text
    assert "\n  Needs --release last-iterate: shuffled-hiding-last.\n" in text


@pytest.mark.parametrize(("name", "heading"), [("noise-multiplier", "the noise multiplier"), ("sigma", "σ")])
def test_what_would_lower_the_noise_is_named_by_it(cli, name, heading):
    line = "compare --n 6000 --batches fixed-order --batch-size 128 --epochs 3 --clipping-norm 2 --epsilon 2 --delta 1e-5"
    text = cli(*line.split(), "--solve", name).stdout
    steps = text[text.index(f"What would lower {heading}:\n"):]
    assert "--release last-iterate --loss convex --lipschitz 2" in " ".join(steps.split())
    assert f"{heading.removeprefix('the ')} = " in " ".join(steps.split())


def test_its_guarantee_is_read_by_others(cli, ask):
    answer = cli(*LINE, "--json").stdout
    again = ask("convert", "-", "--delta", "1e-5", stdin=answer)
    assert again["result"]["epsilon"] == pytest.approx(json.loads(answer)["result"]["epsilon"], rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_results_follow_the_schema(name):
    from dpcalc.output.schema import of_command, of_result

    answer = json.loads(json.dumps(full(**RUNS[name])))
    for schema in (of_result(("compare",)), of_command(COMMAND)):
        jsonschema.validate(answer, schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**answer, "what_if": [{"assumption": 3}]}, schema)


@pytest.mark.parametrize("option", ["--release last-iterate", slow("--release every-epoch"), slow("--diameter 1"),
                                    slow("--loss convex --strong-convexity .1 --smoothness 1")])
def test_a_lower_end_is_for_every_iterate_of_any_losses(cli, option):
    """The numerical composition is exact for all iterates. A last iterate alone may lose less than its lower end."""
    run = ["compare", "--n", "60000", "--batches", "poisson", "--batch-size", "256", "--steps", "20", "--clipping-norm",
           "1", "--noise-multiplier", "1", "--delta", "1e-5", "--learning-rate", ".1"]
    assert "The true ε is between" in cli(*run).stdout
    done = cli(*run, *option.split())
    assert done.returncode == 0 and "poisson-profile" in done.stdout and "The true ε" not in done.stdout


@pytest.mark.parametrize("batches", ["without-replacement", "fixed-order"])
def test_clipping_keeps_a_loss_smooth_for_every_bound_that_needs_it_smooth(batches):
    run = {"n": 1000, "batch_size": 100, "steps": 10, "batches": batches, "release": "last-iterate", "smoothness": 1,
           "learning_rate": 0.01, "diameter": 1, "noise_multiplier": 1, "delta": 1e-5}
    note = "clipping keeps a loss smooth: it brings no two gradients further apart"
    assert note in answer("compare", clipping_norm=1, **run).notes
    assert note not in answer("compare", lipschitz=1, **run).notes

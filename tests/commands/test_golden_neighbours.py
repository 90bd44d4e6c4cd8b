"""Which data sets a number compares: questions where mechanisms, sampling, pipes and ledgers meet, with their values, or
the sentence that refuses them; and the values of data sets in which a record is replaced."""

import json
import re
import shlex

import pytest
from calling import call
from conftest import slow, spread
from paths import GOLDEN

CASES = {case["id"]: case for case in json.loads((GOLDEN / "neighbours.json").read_text())["cases"]}
REFUSED = [name for name, case in CASES.items() if case["how"] == "must_refuse"]
VALUES = json.loads((GOLDEN / "replace_one.json").read_text())["cases"]
SLOW = {"ledger-to-ro", "mixed-to-ro", "poisson-ro-compare", "poisson-ro-readme", "stays-shuffle-ro", "to-ro-poisson",
        "with-replacement-10", *(f"poisson-ro-pair-{run}" for run in ("0.01-1-1000", "0.05-3-500", "0.1-1-10", "0.1-1-5"))}
BRACKET = 1e-3  # the largest relative width of a bracket of ε, and distance of its upper end from the true value
# Ways out that no command line can show: they are about the input, which has to be made otherwise.
IN_WORDS = {
    "report-json-sampled": "leave out its sampling", "report-stated-add-remove": "use replace-one as its adjacency",
    "poisson-ro-gdp-ro": "compute it with --adjacency add-remove", "poisson-ro-noise-feedback": "compute it with",
    "generic-zo-poisson": "state add-remove", "generic-zo-cyclic": "state add-remove",
    "generic-zo-of-shuffle": "state add-remove", "one-record-sampled": "compute it for every record",
    "ro-to-ar": "compute a.json again with --adjacency add-remove",
}


@pytest.fixture
def case_of(tmp_path, monkeypatch):
    """A case by its name, with its files in the working directory."""
    monkeypatch.chdir(tmp_path)

    def prepared(name):
        for file, content in CASES[name].get("files", {}).items():
            if isinstance(content, dict) and "argv" in content:
                done = call([*content["argv"], "--json"])
                assert done.returncode == 0, done.stderr
                content = done.stdout
            (tmp_path / file).write_text(content if isinstance(content, str) else json.dumps(content))
        return CASES[name]

    return prepared


@spread("name", [slow(name) if name in SLOW else name for name in CASES])
def test_the_case(name, case_of):
    case = case_of(name)
    in_json = case["how"] in ("equal", "between")
    done = call([*case["argv"], *(["--json"] if in_json else [])])
    printed = done.stdout + done.stderr
    if case["how"] == "must_refuse":
        assert done.returncode == case["code"] and done.stderr.count("\n") == 1 and done.stdout == ""
    elif case["how"] == "must_not_verify":
        assert done.returncode != 0
    else:
        assert done.returncode == 0, done.stderr
    for words in case.get("says", []):
        assert any(word in printed for word in ([words] if isinstance(words, str) else words)), (words, printed)
    assert not [word for word in case.get("says_not", []) if word in printed]
    if in_json:
        answer = json.loads(done.stdout)
        value = answer["result"][case["key"]]
        if case["how"] == "equal":
            assert value == pytest.approx(case["expected"], rel=case["rtol"])
        else:
            assert case["low"] <= value <= case["high"]
        assert {key: answer[key] for key in case.get("field", {})} == case.get("field", {})
        for key, expected in case.get("also", {}).items():
            assert answer["result"][key] == pytest.approx(expected, rel=1e-6)
        assert call(["verify", "-"], done.stdout).returncode == 0


@spread("name", [slow(name) if name in ("monotone-wor", "poisson-ro-laplace") else name for name in REFUSED])
def test_a_way_out_works_when_it_is_pasted(name, case_of):
    case = case_of(name)
    message = call(case["argv"]).stderr
    if name in IN_WORDS:
        assert IN_WORDS[name] in message
        return
    lines = list(ways_out(message, case["argv"]))
    assert lines, message
    for line in lines:
        if "--sampling-rate" in line and "|" not in line and "--steps" not in line:
            line += " --steps 1"  # the golden question has none
        assert answered(line) == 0, (line, message)


@pytest.mark.parametrize("line", [
    "tv --mechanism laplace --scale 1 --sampling-rate .1 --steps 1 --adjacency replace-one --fpr .01",
    slow("subsample --mechanism exponential --step-epsilon 1 --sampling-rate .1 --steps 1 --adjacency replace-one --epsilon .5"),
    slow("subsample --mechanism laplace --sampling-rate .1 --steps 1 --adjacency replace-one --epsilon 1 --delta 1e-5 --solve scale"),
    slow("subsample --sigma 2 --scheme random-allocation --steps-per-epoch 9 --epochs 1 --adjacency replace-one --delta 1e-5"),
    "tv --mechanism unary --step-epsilon 1 --sampling-rate .1 --steps 3",
])
def test_so_does_one_of_another_question(line):
    done = call(shlex.split(line))
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    lines = list(ways_out(done.stderr, shlex.split(line)))
    # whoever allocates records at random, or solves for noise, has nothing to gain from batches of a fixed size
    lines = [x for x in lines if "random-allocation" not in x or "--noise-multiplier" in x]
    assert lines, done.stderr
    for other in lines:
        assert answered(other) == 0, (other, done.stderr)


def test_a_way_out_of_a_ledger_asks_no_report_for_other_neighbours(tmp_path):
    releases = [{"command": "subsample", "sampling-rate": 0.01, "noise-multiplier": 1, "steps": 100},
                {"command": "rdp", "mechanism": "k-randomized-response", "categories": 4, "step-epsilon": 1}]
    (tmp_path / "ledger.json").write_text(json.dumps({"release": releases}))
    argv = ["ledger", "--file", str(tmp_path / "ledger.json"), "--delta", "1e-5"]
    message = call(argv).stderr
    assert 'set adjacency = "replace-one" in release 1' in message and "add-remove\" in" not in message
    assert call([*argv, "--adjacency", "replace-one"]).returncode == 0
    (tmp_path / "ledger.json").write_text(json.dumps({"release": [{**releases[0], "adjacency": "replace-one"},
                                                                  releases[1]]}))
    assert call(argv).returncode == 0


def ways_out(message, argv):
    """The command lines that a message proposes: as they stand, or as changes of the line that was refused."""
    line = shlex.join(argv)
    for command in re.findall(r"(?:use|write) (dpcalc [^;]*?)(?:, where|;|$)", message.strip()):
        yield command.removeprefix("dpcalc ")
    for multiplier in re.findall(r"--noise-multiplier (\S+) if", message):
        yield re.sub(r"--sigma \S+", f"--noise-multiplier {multiplier}", line)
    if "for batches of a fixed size use --scheme without-replacement" in message and " g.json" not in line:
        yield f"{line} --scheme without-replacement"
    if "--adjacency replace-one, which converts" in message or "(or --adjacency replace-one)" in message:
        yield f"{line} --adjacency replace-one"
    if "drop it for replace-one" in message:
        yield line.replace("--queries monotone", "")


def answered(line):
    """The exit code of a command line, with a pipe in it or without."""
    text = ""
    for part in line.split(" | "):
        done = call(shlex.split(part.removeprefix("dpcalc ")), text)
        text = done.stdout
    return done.returncode


# --- values ----------------------------------------------------------------------------------------------------------


def by_name(*capabilities):
    return [pytest.param(case["question"], case["value"], id=json.dumps(case["question"]))
            for case in VALUES if case["capability"] in capabilities]


def asked(*line):
    done = call([*map(str, line), "--json"])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def options(question, **names):
    return [word for name, x in question.items() for word in ("--" + names.get(name, name).replace("_", "-"), x)]


@spread("question, value", by_name("replace-one-poisson", "replace-one-group"))
def test_runs_on_poisson_batches(question, value):
    found = asked("subsample", *options({**question, "adjacency": "replace-one"}))["result"]
    assert value["epsilon_low"] <= found["epsilon"] <= value["epsilon_high"] * (1 + BRACKET)
    if question["steps"] > 1:  # a single step is a closed form
        assert (found["epsilon"] - found["epsilon_lower"]) / found["epsilon"] <= BRACKET
        assert found["epsilon_lower"] <= value["epsilon_high"]


@pytest.mark.parametrize("question, value", by_name("replace-one-laplace"))
def test_laplace_noise_on_poisson_batches(question, value, tmp_path):
    (tmp_path / "one.json").write_text(call(["rdp", "--mechanism", "laplace", "--scale", str(question["scale"]),
                                             "--adjacency", "add-remove", "--json"]).stdout)
    run = {name: x for name, x in question.items() if name not in ("mechanism", "scale")}
    found = asked("subsample", tmp_path / "one.json", *options({**run, "adjacency": "replace-one"}))["result"]
    assert value["epsilon_low"] <= found["epsilon"] <= value["epsilon_high"] * (1 + BRACKET)


@pytest.mark.parametrize("question, value", by_name("replace-one-step"))
def test_one_step(question, value):
    """At ε < 0 by symmetry: δ(−ε) = 1 − e^{−ε} + e^{−ε}δ(ε)."""
    from math import exp, expm1

    e = question["epsilon"]
    found = asked("subsample", "--sampling-rate", question["sampling_rate"], "--noise-multiplier", question["sigma"],
                  "--steps", 1, "--adjacency", "replace-one", "--epsilon", abs(e))["result"]["delta"]
    assert (found if e >= 0 else -expm1(e) + exp(e) * found) == pytest.approx(value["delta"], rel=1e-8)


@pytest.mark.parametrize("question, value", by_name("truncated-step"))
def test_one_truncated_step(question, value):
    run = {name: x for name, x in question.items() if name != "sigma"}
    found = asked("subsample", *options(run), "--noise-multiplier", question["sigma"], "--steps", 1, "--adjacency",
                  "replace-one", "--bound", "truncated-poisson-profile")["result"]["delta"]
    assert found == pytest.approx(value["delta_upper"], rel=1e-8)


@pytest.mark.parametrize("epsilon, run", [(7.684009, "--sampling-rate .08192 --noise-multiplier 3 --steps 876"),
                                          (3.120069, "--sampling-rate .05 --noise-multiplier 3 --steps 500")])
def test_another_accountant(epsilon, run):
    """dp-accounting 0.6.0 by privacy loss distributions for REPLACE_ONE, δ = 1e-5."""
    found = asked("subsample", *run.split(), "--adjacency", "replace-one", "--delta", "1e-5")["result"]
    assert found["epsilon"] == pytest.approx(epsilon, rel=1e-3)

"""The words of dpcalc: the catalogue, explain, the help and its examples. What they say is run and compared."""

import csv
import io
import json
import re
import subprocess
from importlib import import_module
from textwrap import dedent

import pytest
from calling import call, shell
from conftest import ROOT, few_of_each, slow, spread

from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.bounds import ROOMS, all_bounds
from dpcalc.cli.app import EXAMPLES, main
from dpcalc.commands import COMMAND_GROUPS, COMMANDS, PAGES, calculator
from dpcalc.commands.catalogue import (
    answers,
    bound_named,
    calculators,
    entries,
    measured,
    parameters,
    proof,
    proofs,
    quantity_named,
    uses,
)
from dpcalc.commands.topics import NAMES, NAMES_OF_BOUNDS, TOPICS
from dpcalc.core.bound import PointBound
from dpcalc.core.command import GROUPS
from dpcalc.output.theorem import short_source

BOUNDS = all_bounds()
MODULES = {name: import_module(f"dpcalc.cli.pages.{name}").COMMAND if name in PAGES else calculator(name)
           for name in COMMANDS}
SHOWN = {line: result for command in MODULES.values() for line, result in command.examples} | dict(EXAMPLES) | {
    line: result for topic in TOPICS for line, result in topic.examples}

# The file that the help of ledger shows, without the line above it.
RELEASES = dedent(MODULES["ledger"].sample.partition("\n")[2])


@pytest.fixture
def printed(tmp_path, monkeypatch):
    """What a line prints, without a new process where that is dpcalc alone."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "releases.toml").write_text(RELEASES)
    (tmp_path / "steps.json").write_text('{"sigma": [1, 2, 1], "learning_rate": [0.1, 0.1, 0.2]}')

    def run(line):
        done = shell(f"dpcalc {line}")
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


# --- examples ---------------------------------------------------------------------------------------------------------


def test_every_command_has_two_examples():
    for name in COMMANDS:
        lines = [line for line, _ in MODULES[name].examples]
        assert len(lines) >= 2 and all(re.search(rf"(^|dpcalc ){name}( |$)", line) for line in lines), name


# Examples that take a second or more: of shuffled batches and random allocation, and some of a last iterate.
LONG = re.compile(r"--scheme (shuffle|random-allocation)|--batches shuffled.* --solve|--steps 1e7|shuffled-ldp --n 10000|"
                  "burn-in --n 60000.* --(solve|alpha|epsilon|sigma 0.1 --delta)")
COSTLY = {"shuffled-hiding-last", "smooth-nonconvex-shuffled-hiding",
          "bounds --assumes convex --json | jq -r '.[0].name'"}  # half a second and more


def quick_or_slow(lines):
    """The keys as cases, of which those with an example that takes long are slow; key → example."""
    return [slow(key) if key in COSTLY or LONG.search(line) else key for key, line in lines.items()]


@spread("line", quick_or_slow({line: line for line in SHOWN}))
def test_the_headline_in_the_help_is_what_is_printed(line, printed):
    first, shown = printed(line).splitlines()[0], SHOWN[line]
    if shown.endswith("…"):
        assert first.startswith(shown.removesuffix("…").rstrip()) and len(shown) > 3
    else:
        assert first == shown or first.startswith(f"{shown} ")


def theorems(answer):
    """The names of the bounds that an answer rests on; a composition of epochs rests on that of one epoch."""
    names = {row.get(key) for row in answer["bounds"] for key in ("name", "curve", "conversion")} - {None}
    return {name if name in BOUNDS else name.removesuffix("-basic") for name in names}


def asked_of(line):
    return line.rsplit("dpcalc ", 1)[-1].split()[0]


ASKED = {}


@pytest.mark.parametrize("name", few_of_each(
    lambda name: asked_of(BOUNDS[name].theorem.example),
    quick_or_slow({name: bound.theorem.example for name, bound in BOUNDS.items()})))
def test_every_bound_has_an_example_that_shows_it(name, printed):
    line = BOUNDS[name].theorem.example
    if line not in ASKED:
        ASKED[line] = theorems(json.loads(printed(f"{line} --json")))
    assert name in ASKED[line], f"{name} is in no row of its example, dpcalc {line}"
    assert ASKED[line] <= set(uses(calculators()[asked_of(line)]))


def test_no_example_is_of_nothing():
    for name, bound in BOUNDS.items():
        assert bound.theorem.example, f"the Theorem of {name} has no example"


MORE = ["rdp --sigma 1 --delta 1e-5 --bound rdp-mironov",
        "subsample --mechanism laplace --scale 9 --sampling-rate .1 --steps 9 --delta 1e-5",
        "subsample --scheme without-replacement --sampling-rate .1 --steps 1 --sigma 3 --delta 1e-5",
        "tv --sampling-rate .1 --steps 1 --sigma 3", "tv --epsilon 1 --delta 0 --steps 9",
        "tv --mechanism laplace --scale 9 --steps 9", "tv --rho .1", "tv --p .5,.5 --q .4,.6",
        "rdp --mechanism laplace --scale 9 --steps 9 --delta 1e-5",
        "convert --from dp --epsilon .1 --delta 0 --steps 9 --target-delta 1e-5",
        "burn-in --n 9 --batch-size 9 --steps 99 --lipschitz 1 --smoothness 1 --learning-rate .1 --diameter 2 --sigma "
        "1 --delta 1e-5",
        "shuffle-pnsgd --sigma 9 --lipschitz 1 --smoothness .5 --learning-rate .1 --diameter 1 --n 99 --epochs 3 "
        "--delta 1e-5", "tv --scheme without-replacement --sampling-rate .1 --sigma 3 --steps 9"]


@spread("line", MORE)
def test_an_answer_uses_no_bound_that_its_command_does_not_name(line, printed):
    assert theorems(json.loads(printed(f"{line} --json"))) <= set(uses(MODULES[asked_of(line)]))


def test_every_bound_is_used_and_every_calculator_uses_some():
    unused = {name for name, entry in entries().items() if not entry.commands}
    assert not unused, f"no command uses {unused}: a Route is missing (docs/adding-a-bound.md)"
    assert all(uses(command) for command in calculators().values())


# --- the catalogue ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_catalogue_has_every_bound_in_json(printed):
    assert [row["name"] for row in json.loads(printed("bounds --json"))] == list(BOUNDS)
    assert [json.loads(line)["name"] for line in printed("bounds --format jsonl").splitlines()] == list(BOUNDS)


def test_every_bound_is_found_by_its_name():
    assert all(bound_named(name) is bound for name, bound in BOUNDS.items())
    assert not any(map(bound_named, ("", "gaussian", "rdp-optimal-basic", 'rdp-optimal"', "../rdp")))


def test_the_catalogue_has_every_bound_by_name(printed):
    assert printed("bounds -q").split() == list(BOUNDS)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_catalogue_has_a_line_for_every_bound_in_groups(width, printed, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    text = printed("bounds")
    assert re.findall(r"^(\S.*):$", text, re.M) == list(ROOMS.values())
    lines = text.replace("\n      ", "  ").splitlines()  # a source that stands below its name
    lines = [line.strip() for line in lines if line.startswith(" ")]
    assert [line.split()[0] for line in lines] == list(BOUNDS) and max(map(len, text.splitlines())) <= width
    assert text.count("\n      ") == 0 or width < 80
    for line, bound in zip(lines, BOUNDS.values(), strict=True):
        is_plain = bound.status == "proven" or bound.status in bound.name
        assert line.endswith(short_source(bound.source) if is_plain else f" [{bound.status}]")


@pytest.mark.parametrize("name, mark", [("csv", ","), ("tsv", "\t")])
def test_the_catalogue_has_a_row_for_every_bound(name, mark, printed):
    rows = list(csv.DictReader(io.StringIO(printed(f"bounds --format {name}")), delimiter=mark))
    assert [(row["bound"], row["status"], row["source"], float(row["rtol"]))
            for row in rows] == [(b.name, b.status, b.source, b.rtol) for b in BOUNDS.values()]


def test_the_catalogue_has_every_bound_in_texts_for_papers(printed):
    assert printed("bounds --format markdown").count("\n| ") == len(BOUNDS) + 1
    assert printed("bounds --format latex").count(r"\\") == len(BOUNDS) + 1


def test_filters(printed):
    of = lambda line: printed(f"bounds {line} -q").split()  # noqa: E731
    assert of("--command noise-feedback") == ["noise-feedback", "without-feedback", "feedback-every-iterate",
                                                "feedback-optimum", "feedback-optimum-finite"]
    assert of("--status limit") == ["shuffled-limit", "online-limit"]
    convex = of("--assumes CONVEX")
    assert convex and convex == [b.name for b in BOUNDS.values() if "convex" in " ".join(b.theorem.assumptions).lower()]
    assert of("--assumes convex --command burn-in --status proven") == [n for n in convex
                                                                        if n in uses(MODULES["burn-in"])
                                                                        and BOUNDS[n].status == "proven"]


def test_a_point_says_which_quantities_it_gives():
    assert all(isinstance(b, PointBound) == (b.kind == "point") for b in BOUNDS.values())
    assert answers(BOUNDS["amplification"]) == "ε, δ" and answers(BOUNDS["pure-gdp"]) == "μ"
    assert set(BOUNDS["dp-tv"].value(1.0, 1e-6)) == set(BOUNDS["dp-tv"].gives)
    assert set(BOUNDS["pure-gdp"].value(1.0, 2)) == set(BOUNDS["pure-gdp"].gives)
    assert set(BOUNDS["amplification"].value(1.0, 1e-6, 0.1)) == set(BOUNDS["amplification"].gives)
    assert set(BOUNDS["tv-kl"].value(0.1, 2)) == set(BOUNDS["tv-kl"].gives)


def test_every_parameter_is_described():
    for name, bound in BOUNDS.items():
        rows = parameters(entries()[name])
        assert [row["name"] for row in rows] == list(bound.params) and all(row["meaning"] for row in rows), name


# --- explain ----------------------------------------------------------------------------------------------------------


@spread("first", [slow(0), 1, 2, 3])
def test_explain_says_all_that_is_known(first, printed):
    for name, bound in [*BOUNDS.items()][first::4]:
        text, short = printed(f"explain {name} --all"), printed(f"explain {name}")
        assert text.startswith(f"{name} [{bound.status}]: {bound.theorem.statement}\n")
        for said in (bound.source, *bound.theorem.assumptions, *bound.theorem.errata,
                     f"Example: dpcalc {bound.theorem.example}"):
            assert said in text and said in short, name
        assert all(said in text for said in (*entries()[name].commands, "Accuracy: ", "Proof")), name
        assert f"dpcalc explain {name} --all" in short and not {"Accuracy:", "Proof:"} & set(short.split()), name


def test_proofs_are_those_in_the_files():
    files = [file for file, _ in proofs(BOUNDS["burn-in-profile"])]
    assert files[0] == "dpcalc/bounds/noisy_sgd/burn_in_profile.py" and "dpcalc/bounds/noisy_sgd/burn_in_rdp.py" in files
    assert all("Proof." in text for _, text in proofs(BOUNDS["burn-in-profile"]))
    assert proofs(BOUNDS["fixed-order-hybrid"])[0][0] == "dpcalc/bounds/pnsgd/_engine/hybrid.py"
    assert proofs(BOUNDS["gaussian-rdp"]) == []
    assert proof(BOUNDS["gaussian-rdp"]) == "in the source" and proof(BOUNDS["without-replacement-conjecture"]) == "none is known"
    assert all("in the source" not in proof(b) for b in BOUNDS.values()
               if b.status in ("conjecture", "as-published", "lower"))
    for bound in BOUNDS.values():
        assert "proof" not in bound.source or proofs(bound), bound.name
    shown = {file for bound in BOUNDS.values() for file, _ in proofs(bound)}
    written = {str(path.relative_to(ROOT)) for path in (ROOT / "dpcalc").rglob("*.py")
               if re.search(r"^Proof\b", path.read_text(encoding="utf-8"), re.M)}
    assert written == shown  # no file with a proof is forgotten


def test_explain_in_json_and_of_several(printed):
    one, two = json.loads(printed("explain rdp-optimal tv-laplace-as-published rdp-optimal --json"))
    assert (one["name"], two["status"]) == ("rdp-optimal", "as-published")
    assert two["errata"] == list(BOUNDS["tv-laplace-as-published"].theorem.errata) and "dpcalc tv" in two["example"]
    assert printed("explain shuffled-iteration-basic").startswith("shuffled-iteration [proven]")


def test_commands_and_options_are_explained_in_short(printed):
    assert printed("explain epsilon").startswith("--epsilon ε: privacy loss; ")
    assert "\n  Option of: rdp, convert" in printed("explain epsilon")
    assert printed("explain sampling-rate") == printed("explain sampling_rate")
    assert printed("explain clipping-norm").endswith(printed("explain max-grad-norm"))
    assert printed("explain target-delta").startswith("--target-delta δ: total δ after composition")
    word, command, option = json.loads(printed("explain tv --json"))
    assert word["kind"] == "word"
    assert command["bounds"] == list(uses(MODULES["tv"])) and option["symbol"] == "TV" and option["commands"] == ["convert", "tv"]
    assert "Bounds: gaussian-exact, " in printed("explain rdp --all") and "--command rdp" in printed("explain rdp") and "Example: dpcalc rdp" in printed("explain rdp")


def test_measured_accuracy_is_shown(printed):
    row = measured("gaussian-exact")
    assert row["worst"] <= row["claimed"] == BOUNDS["gaussian-exact"].rtol and measured("no-such") is None
    assert f"Measured: at worst {row['worst']:g} ({row['claimed']:g} allowed), in the same units, over {row['points']} points" in printed("explain gaussian-exact --all")


def test_explain_of_a_calculator_is_what_explain_says(printed):
    """Statement, source, assumptions and errata, in the same words."""
    text, alone = printed("rdp --sigma 20 --delta 1e-5 --explain"), printed("explain gaussian-classic")
    theorem = alone[: alone.index("  Example:")]
    assert theorem in text and "Erratum: " in theorem and "Assumes: " in theorem


# --- the help ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 80])
def test_help_fits_the_terminal(width, printed, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    for name in ("", *COMMANDS):
        text = printed(f"{name} --help")
        assert max(map(len, text.splitlines())) <= width, name
        assert "..." not in re.sub(r"(\]|NAME|\|-|\[ARGS\])\.\.\.", "", text), name


def test_options_are_in_groups_in_one_order(printed):
    for name, command in calculators().items():
        text = printed(f"{name} --help")
        headings = [line.removesuffix(":") for line in text.splitlines() if re.fullmatch(r"[A-Z]\w+:", line)]
        assert headings == [*(g for g in GROUPS if g in headings), "Examples"], name
        assert {"Question", "Output"} <= set(headings) and "9.0072e+15" not in text, name
        assert all(option.group in GROUPS for option in command.all_options()), name


def test_a_broken_example_can_be_pasted(printed, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    text = printed("noise-feedback --help")
    example = text[text.index("  dpcalc noise-feedback --") : text.index("      →")]
    assert "\\\n" in example
    words = subprocess.run(["bash", "-c", 'dpcalc() { printf "%s\\n" "$@"; }\n' + dedent(example)], capture_output=True,
                           text=True, check=True).stdout
    assert call(words.splitlines()).stdout.startswith(MODULES["noise-feedback"].examples[0][1])


BAD = [("explain gaussain-rdp", "did you mean gaussian-rdp"), ("explain", "dpcalc bounds"), ("explain", "name a bound, a command, an option, a topic or a word of the field"),
       ("explain shufled-batches", "did you mean shuffled-batches"),
       ("bounds --command tvv", "did you mean tv"),
       ("bounds --status provn", "did you mean proven"), ("bounds nobody --status proven", "no bound has 'nobody' in its name or source, proven as --status"),
       ("bounds --assumes nothing-like-it", "no bound has nothing-like-it as --assumes"),
       ("explain frobenius", "is no bound, command, option, topic or word of the glossary"), ("explain lapalce", "did you mean laplace"),
       ("bounds --json --format csv", "--json is --format json"), ("bounds --comand tv", "did you mean --command"),
       ("bounds --status proven --status limit", "given 2 times"),
       ("explain rdp-optimal --format csv", "table, json, jsonl")]


@pytest.mark.parametrize("line, says", BAD, ids=[x[0] for x in BAD])
def test_bad_input_is_told_the_way_out(line, says, capsys):
    assert main(line.split()) == 2
    text = capsys.readouterr()
    assert text.out == "" and text.err.count("\n") == 1 and says in text.err


@pytest.mark.parametrize("name", calculators())
def test_the_short_help_is_one_screen(name, printed, monkeypatch):
    """How to ask, the usual options with a line each, an example or two, and where to read more."""
    monkeypatch.setenv("COLUMNS", "80")
    text, command = printed(f"{name} -h"), MODULES[name]
    lines = text.splitlines()
    assert 15 <= len(lines) <= 30 and max(map(len, lines)) <= 80
    assert lines[-1] == f"dpcalc {name} --help shows every option." and text.count("→") in (1, 2)
    assert set(command.usual) < {o.name for o in command.all_options()}
    assert all(re.search(rf"^  {command.option(n).quantity.option} ", text, re.M) for n in command.usual)
    assert " ".join(command.asks.split()) in " ".join(text.split())
    assert len(printed(f"{name} --help").splitlines()) > len(lines)


def test_the_commands_are_in_groups(printed):
    text = printed("")
    assert re.findall(r"^(\w[\w ]+):$", text, re.M) == [*COMMAND_GROUPS, "Examples", "Options"]
    assert re.findall(r"^  ([a-z-]+)  ", text, re.M) == list(COMMANDS)
    assert printed("-h") == printed("--help") == text and printed("help").startswith(text.rstrip("\n"))


WORDS_AT_MOST = 24  # of the help of one option, without the list of its choices


def test_the_help_of_an_option_is_a_short_sentence():
    for name in COMMANDS:
        for option in MODULES[name].all_options():
            assert len(option.quantity.help.split()) <= WORDS_AT_MOST, (name, option.name)


def test_mechanisms_in_the_help_are_those_of_the_records(printed):
    assert ", ".join(MECHANISMS) in " ".join(printed("rdp --help").split())


# --- topics -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("topic", TOPICS, ids=NAMES)
def test_a_topic_is_a_short_text(topic, printed, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    text = printed(f"help {topic.name}")
    assert text.startswith(f"{topic.name}: {topic.title}\n") and 8 <= len(text.splitlines()) <= 30
    assert all(text.rstrip("\n") in printed(f"explain {word}") for word in (topic.name, *topic.words[:2]))
    (record,) = [r for r in json.loads(printed(f"explain {topic.name} --json")) if r["kind"] == "topic"]
    assert record["text"] == list(topic.text) and len(topic.examples) in (1, 2)
    assert topic.name in printed("help")


def test_a_word_may_be_a_topic_and_an_option(printed):
    assert [r["kind"] for r in json.loads(printed("explain delta --json"))] == ["topic", "option"]
    assert [r["name"] for r in json.loads(printed("explain adjacency --json"))] == ["neighbours", "--adjacency"]
    assert [r["kind"] for r in json.loads(printed("explain composition --json"))] == ["rdp", "topic"]
    assert "Option of" not in printed("help delta")


def test_a_word_names_one_topic():
    words = [word for topic in TOPICS for word in (topic.name, *topic.words)]
    assert len(words) == len(set(words)) and set(words) & {*BOUNDS, *COMMANDS} == set(NAMES_OF_BOUNDS)
    assert not any(quantity_named(name) for name in BOUNDS)


def test_help_of_a_command_is_its_long_help(printed):
    assert all(printed(f"help {name}") == printed(f"{name} --help") for name in ("rdp", "verify", "help"))
    assert printed("help rdp-optimal") == printed("explain rdp-optimal")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_the_script(shell, printed):
    files = {"bash": "dpcalc.bash", "zsh": "_dpcalc", "fish": "dpcalc.fish"}
    assert printed(f"completion {shell}").rstrip("\n") == (ROOT / "completions" / files[shell]).read_text().rstrip("\n")


def test_a_default_stands_on_one_line(cli):
    for command in ("rdp", "shuffle-pnsgd", "compare"):
        assert "[default:\n" not in cli(command, "--help").stdout

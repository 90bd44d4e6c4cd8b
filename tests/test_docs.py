"""README and docs/: every command runs and prints what is shown there; links lead somewhere; pages are short and say
first what they answer."""

import csv
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import chdir, redirect_stdout

import pytest
from calling import call
from conftest import ROOT, slow, spread
from generate_docs import DOCS, PAGES, WIDTH, commands, console, generated, printed, rounded

from dpcalc import answer
from dpcalc.bounds import all_bounds
from dpcalc.commands import COMMANDS
from dpcalc.commands import PAGES as PAGES_OF_TEXT
from dpcalc.commands.catalogue import calculators
from dpcalc.core import counts, quantities
from dpcalc.core.errors import flag
from dpcalc.core.quantities import BATCHES, RELEASE, SCHEME, Quantity

README = ROOT / "README.md"
GENERATED = ("bounds", "errata", "accuracy", "glossary", "reference")
TEXTS = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}
WRITTEN = {name: text for name, text in TEXTS.items() if not name.endswith(tuple(f"/{page}.md" for page in GENERATED))}
PROSE = {name: re.sub(r"^```.*?^```", "", text, flags=re.M | re.S) for name, text in TEXTS.items()}
each_page = pytest.mark.parametrize("name", TEXTS)


BLOCKS_OF_README = [*re.finditer(r"```console\n(.*?)\n```", TEXTS["README.md"], re.S)]


@pytest.fixture
def as_printed(monkeypatch):
    """On a terminal as wide as the outputs of the pages."""
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    monkeypatch.setenv("LINES", "24")


@pytest.mark.parametrize("block", [slow(block) if re.search("1,3,8|two.json .*--format statement", block[1]) else block
                                   for block in BLOCKS_OF_README],
                         ids=lambda block: commands(block[1])[0])
def test_the_readme_prints_what_stands_there(block, as_printed, tmp_path):
    """A block alone, after the commands that write the files that it may read."""
    for command in re.findall(r"^\$ (dpcalc .* > \w+\.json)$", TEXTS["README.md"], re.M):
        printed(command, tmp_path)
    assert console(block, tmp_path) == block[0], "run python tests/generate_docs.py"


@pytest.mark.parametrize("name", [slow(name) for name in TEXTS])
def test_a_page_is_current(name, as_printed, tmp_path):
    """Every command in a console block runs, and prints what stands there."""
    if re.search(r"\bjq\b", TEXTS[name]) and not shutil.which("jq") and not os.environ.get("CI"):
        pytest.skip("jq is not installed")
    (tmp_path / "figures").mkdir()
    assert generated(TEXTS[name], tmp_path) == TEXTS[name], "run python tests/generate_docs.py"
    for picture in (tmp_path / "figures").iterdir():
        assert words(picture) == words(DOCS / "figures" / picture.name), (
            f"delete docs/figures/{picture.name} and run python tests/generate_docs.py")


def words(picture):
    """The texts of an SVG picture: title, axes, ticks and names of lines; the curves depend on the version of
    matplotlib."""
    return re.findall(r"<text[^>]*>\s*(.*?)\s*</text>", picture.read_text(encoding="utf-8"))


# --- the other commands ----------------------------------------------------------------------------------------------

# within sentences and tables
BROKEN = re.compile(r" \\`<br>`")  # a command of several lines within a cell of a table
CODE = sorted({" ".join(code.split()) for text in PROSE.values()
               for code in re.findall(r"`([^`]+)`", BROKEN.sub(" ", text))})
INCOMPLETE = re.compile(r"…|\b[A-Z]{2,}\b|^dpcalc( [\w-]+)?$")  # a placeholder; or the name of a command
OPTIONS = {option for name in COMMANDS for option in re.findall(r"--[a-z][a-z-]+", call([name, "--help"]).stdout)}
OPTIONS |= {flag(alias) for q in (*vars(quantities).values(), *counts.OPTIONS) if isinstance(q, Quantity) for alias in q.aliases}
OF_OTHER_PROGRAMS = {"--pipe", "--points", "--more"}
CHOICES = {"--bound": set(all_bounds()), "--batches": set(BATCHES.choices), "--scheme": set(SCHEME.choices),
           "--release": set(RELEASE.choices)}


# commands that take more than half a second
LONG = re.compile(r"--scheme shuffle --n 60000|--steps 1e7 (?!.*burn-in-profile)|--steps-per-epoch 1000 --epochs 10 ")


@spread("code", [slow(code) if LONG.search(code) else code for code in CODE
                 if code.startswith("dpcalc ") and not INCOMPLETE.search(code)])
def test_a_command_within_a_sentence_runs(code):
    """The beginning of one, which names a command with an option, is at least without a mistake."""
    done = call(shlex.split(code.partition(" > ")[0])[1:])
    assert done.returncode == 0 or any(words in done.stderr for words in (
        "nothing to compute", "requires an argument", "needs a value", "no noise given")), done.stderr


def test_names_within_sentences_exist():
    """Options, the values of options that have choices, and commands."""
    for code in CODE:
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", code)) <= OPTIONS | OF_OTHER_PROGRAMS, code
        for option, value in re.findall(r"(--[a-z]+) ([a-z][\w-]*)", code):
            assert value in CHOICES.get(option, {value}), code
        assert not (found := re.match(r"dpcalc ([a-z-]+)", code)) or found.group(1) in COMMANDS, code


PAPERS = BROKEN.sub(" ", TEXTS["docs/papers.md"])
FUNCTIONS = {name: " ".join(command.replace("\\\n", " ").split())
             for name, command in re.findall(r'^\$ (\w+)\(\) \{ (dpcalc [^"]*) "\$@"; \}$', PAPERS, re.M)}
# a row whose last column is a bound: its command, with the function that it calls written out, and `--bound`
ROWS_OF_PAPERS = [(f"{FUNCTIONS.get(first, first)} {rest} --bound {bound}", bound, more) for first, rest, bound, more in
                  re.findall(r"^\|[^|]*\| `(\w+) ([^`]*)` \| `([\w-]+)`([^|]*)\|$", PAPERS, re.M)]


def test_the_tables_of_papers_have_many_rows():
    assert len(ROWS_OF_PAPERS) > 70 and len(FUNCTIONS) == 5
    assert all(command.startswith("dpcalc ") for command, _, _ in ROWS_OF_PAPERS)


@pytest.mark.parametrize("command, bound, more", [slow(*row) if LONG.search(row[0]) else row for row in ROWS_OF_PAPERS])
def test_the_tables_of_papers_name_the_bound_and_status_that_answer(command, bound, more):
    found = json.loads(call([*shlex.split(command)[1:], "--json"]).stdout)
    status = (re.findall(r"as-published|conjecture|limit|lower", more) or ["proven"])[0]
    head = found["bounds"][0]  # whose number the command prints
    assert bound in (head["name"], head.get("curve")) and found["bound"] == bound
    assert status == found["status"] or "--n inf" in command


def test_what_is_not_computed_stands_in_no_table_of_that_paper():
    sections = re.split(r"^## ", TEXTS["docs/papers.md"], flags=re.M)
    paragraphs = [(section, part) for section in sections for part in section.split("\n\n")
                  if part.startswith("Not computed")]
    assert len(paragraphs) == 2
    for section, part in paragraphs:
        in_tables = set(re.findall(r"\d+\.\d+", "".join(re.findall(r"^\| ([^|]*) \| `[^|]* \| ", section, re.M))))
        assert not in_tables & set(re.findall(r"\d+\.\d+", part)), part


def test_the_page_on_python_names_every_calculator():
    listed = re.search(r"^The calculators are (.*?)\. ", TEXTS["docs/python.md"], re.M | re.S).group(1)
    assert set(re.findall(r"`([a-z-]+)`", listed)) - {"file"} == set(COMMANDS) - PAGES_OF_TEXT


BLOCKS = [(name, code) for name,
          text in TEXTS.items() for code in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)]
IN_PROCESSES = re.compile(r"^import (dask|ray)\b", re.M)


@pytest.mark.slow
@pytest.mark.parametrize("code", [code for _, code in BLOCKS if IN_PROCESSES.search(code)],
                         ids=lambda code: " ".join(IN_PROCESSES.findall(code)))
def test_the_python_of_several_processes_answers_every_question_once_and_in_order(code, tmp_path):
    """Nine questions in several blocks, in JSON Lines and in CSV; a block is skipped where what it imports, and pip
    does not install with the tests, is missing."""
    for imported, package in (("dask", "dask"), ("dask.dataframe", "pandas"), ("dask.dataframe", "pyarrow"),
                              ("dask.distributed", "distributed"), ("import ray", "ray")):
        if imported in code:
            pytest.importorskip(package)
    sigmas = [1 + k / 8 for k in range(9)]
    (tmp_path / "questions.jsonl").write_text("".join(f'{{"sigma": {x}{" " * 30_000}}}\n' for x in sigmas))
    (tmp_path / "runs.csv").write_text("sigma,name\n" + "".join(f"{x},{'a' * 30_000}\n" for x in sigmas))
    (tmp_path / "page.py").write_text(code)  # as a file, because it starts the program again
    done = subprocess.run([sys.executable, "page.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    paths = sorted(tmp_path.glob("answers-*"))
    assert len(paths) != 1
    if "csv" in code:
        found = [float(row["epsilon"]) for path in paths for row in csv.DictReader(path.read_text().splitlines())]
    else:
        written = "".join(path.read_text() for path in paths) or done.stdout  # as cat joins them
        found = [json.loads(line)["result"]["epsilon"] for line in written.splitlines()]
    assert found == [answer("rdp", sigma=x, delta=1e-5).value for x in sigmas]


BLOCKS_HERE = [block for block in BLOCKS if not IN_PROCESSES.search(block[1])]


@pytest.mark.parametrize("name, code", BLOCKS_HERE, ids=[f"{name}-{k}" for k, (name, _) in enumerate(BLOCKS_HERE)])
def test_the_python_runs_and_the_numbers_in_its_comments_are_true(name, code, tmp_path):
    """A number with an ellipsis after `# ` is how the value of that line begins."""
    shown = re.findall(r"^([^\s#].*?)\s+# (\d+\.\d+)…", code, re.M)
    program = "\n".join([code, *(f"print(repr({expression}))" for expression, _ in shown)])
    with chdir(tmp_path), redirect_stdout(io.StringIO()) as out:
        exec(program, {"__name__": "__main__"})
    values = out.getvalue().splitlines()[-len(shown):] if shown else []
    assert all(value.startswith(start) for value, (_, start) in zip(values, shown, strict=True)), (values, shown)


def setup_commands():
    """The two commands for a fresh machine, each on one line."""
    return [re.sub(r" *\\\n *", " ", c) for block in re.findall(r"^```sh\n(.*?)\n```", TEXTS["README.md"], re.M | re.S)
            for c in commands(block)]


def test_the_setup_commands():
    """CI runs both in fresh copies; here runs what follows the installation in the first one."""
    first, second = setup_commands()
    assert all(c.startswith("python3 -m venv .venv && .venv/bin/pip install -q ") for c in (first, second))
    assert call(shlex.split(first.split(".venv/bin/dpcalc ")[1])).stdout.startswith("ε = 2.98888 at δ = 1e-05")
    assert second.endswith("'.[test]' && .venv/bin/python -m pytest") and "test = [" in (ROOT
                                                                                         / "pyproject.toml").read_text()
    assert "<!-- test command -->" in TEXTS["README.md"] and "<!-- test command -->" in (ROOT / ".ci"
                                                                                         / "run").read_text()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@each_page
def test_shell_blocks_have_no_mistakes_of_syntax(name):
    for block in re.findall(r"^```sh\n(.*?)\n```", TEXTS[name], re.M | re.S):
        for command in commands(block):
            assert subprocess.run(["bash", "-n", "-c", command]).returncode == 0, command


DECIMAL = re.compile(r"(?<![\w^.:/×-])\d+\.\d+(?![\w.]*\d)")
OF_ELSEWHERE = {"3.11",  # Python
                "2.992", "2.902",  # of Opacus
                "13.2", "1.75",  # of an output of docs/sampling.md, and of a picture
                "0.0357"}  # of a run that tests/bounds/hiding/test_hiding_runs.py computes


@pytest.mark.parametrize("name", [name for name in WRITTEN if name != "docs/papers.md"])
def test_numbers_in_sentences_are_those_of_the_outputs(name):
    """To the digits that they have: each decimal number of three digits or more is within one unit of the last one of a
    number printed there."""
    blocks = " ".join(re.findall(r"^```.*?^```", TEXTS[name], re.M | re.S))
    printed = [float(x) for x in re.findall(r"\d+\.\d+(?:e[-+]?\d+)?", blocks)]
    said = {x for x in DECIMAL.findall(re.sub(r"`[^`]*`", "", PROSE[name]))
            if len(x.replace(".", "").lstrip("0")) >= 3} - OF_ELSEWHERE
    assert not [x for x in said if not any(abs(float(x) - y) <= 1.01 * 10.0 ** -len(x.split(".")[1]) for y in printed)]


# --- pages as a reader sees them -------------------------------------------------------------------------------------


def test_the_readme_is_short():
    lines = TEXTS["README.md"].rstrip("\n").split("\n")
    assert len(lines) <= 250 and max(map(len, lines)) <= 100


@pytest.mark.parametrize("name", [name for name in WRITTEN if name != "README.md"])
def test_a_page_is_short_and_says_first_what_it_answers(name):
    text = TEXTS[name]
    paragraphs = text.split("\n\n")
    assert paragraphs[0].startswith("# ") and paragraphs[1].endswith((".", "?")), paragraphs[1]
    assert text.count("\n") <= 200 + sum(block.count("\n")
                                         for block in re.findall(r"^```console\n.*?^```", text, re.M | re.S))
    assert text.count("\n") <= 260
    shown = re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)
    lines = [*PROSE[name].split("\n"),
             *(part for block in shown for command in commands(block) for part in f"$ {command}".split("\n"))]
    assert not [line for line in lines if len(line) > 100 and not line.startswith(("|", "!["))]


def test_the_index_and_the_navigation_list_every_page():
    pages = {page.name for page in DOCS.glob("*.md")} - {"index.md"}
    assert len(pages) >= 14
    assert pages == set(re.findall(r"\]\(([\w-]+\.md)\)", TEXTS["docs/index.md"]))
    assert pages | {"index.md"} == set(re.findall(r"[\w-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))


def test_every_command_is_in_the_readme_or_the_page_on_verification():
    text = TEXTS["README.md"] + TEXTS["docs/verification.md"]
    assert all(re.search(rf"`(dpcalc )?{name}[` ]", text) for name in COMMANDS)


def anchors(text):
    """The names of headings, as web pages of Markdown make them."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)$", text, re.M)}


@each_page
def test_links_lead_somewhere(name):
    page = ROOT / name
    for link in re.findall(r"\]\(([^)\s]+)\)", PROSE[name]):
        if link.startswith("https://"):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), link


def test_numbers_are_cut_to_what_every_machine_prints():
    """One processor adds in another order than the next."""
    assert rounded("x 2.1008351326139194, 3.938700159657647e-12") == "x 2.100835…, 3.938700…e-12"
    assert rounded("0.00012345678901234567 0.9542504550093345") == "0.0001234567… 0.9542504…"
    assert rounded("4.37718 0.000721615 1e-05 12.5 60000") == "4.37718 0.000721615 1e-05 12.5 60000"
    assert rounded("4.37717809568133187025434") == "4.37717809568133187025434"  # of --digits: the same everywhere


def test_every_option_of_every_command_stands_in_the_reference():
    text = TEXTS["docs/reference.md"]
    assert re.findall(r"^## (.*)$", text, re.M) == list(COMMANDS)
    for name, command in calculators().items():
        part = text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        assert all(re.search(rf"^ +(-\w, )?{option.quantity.option}\b", part, re.M) for option in command.all_options()), name

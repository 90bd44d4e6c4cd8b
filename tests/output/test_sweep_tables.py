"""The tables of sweeps: a column for each bound, grids of two options, LaTeX, and what is a table by itself: the noise
of steps, and ROC curves."""

import csv
import io
import json
import re
from itertools import combinations, product

import pytest
from answers import printed
from calling import call
from conftest import slow, spread

from dpcalc.core.numbers import human

LINE = "online-noise --noise laplace --diameter 1 --learning-rate .01 --smoothness .5 --decay 1.5 --c2 100 --schedule 1:1e6:3".split()  # noqa: SIM905


@pytest.fixture(scope="module")
def levels(cli):
    """Noise by (C1, step), from one call for each C1."""
    found = {}
    for c1 in ("50", "100"):
        done = cli(*LINE, "--c1", c1, "--format", "csv")
        found |= {(c1, row["step"]): row["scale"] for row in csv.DictReader(io.StringIO(done.stdout))}
    assert len(found) == 6
    return found


@pytest.mark.parametrize(("format", "mark"), [("csv", ","), ("tsv", "\t")])
def test_a_swept_schedule_for_programs(cli, levels, format, mark):
    done = cli(*LINE, "--c1", "50,100", "--format", format)
    rows = list(csv.DictReader(io.StringIO(done.stdout), delimiter=mark))
    assert done.returncode == 0 and {(r["c1"], r["step"]): r["scale"] for r in rows} == levels and len(rows) == 6


@pytest.mark.parametrize("format", ["table", "markdown", "latex"])
def test_a_swept_schedule_for_people(cli, levels, format):
    done = cli(*LINE, "--c1", "50,100", "--format", format)
    words = [[w for w in line.replace("|", " ").replace("&", " ").split() if w != "\\\\"]
             for line in done.stdout.splitlines()]
    rows = {(w[0], w[1]): float(w[2]) for w in words if len(w) == 3 and w[0] in ("50", "100")}
    assert done.returncode == 0 and rows == pytest.approx({k: float(v) for k, v in levels.items()}, rel=1e-5)
    assert all(rows[k] >= float(v) for k, v in levels.items())


def test_json_quiet_and_points_without_an_answer(cli, levels):
    done = cli(*LINE, "--c1", "50,100", "--json")
    found = [(f"{r['parameters']['c1']:g}", r["guarantee"]) for r in json.loads(done.stdout)]
    assert {(c1, str(step)): repr(v) for c1, g in found for step,
            v in zip(g["step"], g["scale"], strict=True)} == levels
    assert cli(*LINE, "--c1", "50,100", "-q").stdout.split() == list(levels.values())
    assert cli(*LINE, "--c1", "50", "-q").stdout.split() == list(levels.values())[:3]
    failed = cli(*LINE, "--c1", "50,0")
    assert failed.returncode == 1 and "No answer at C1 = 0: 0 is not > 0" in failed.stdout
    explained = cli(*LINE, "--c1", "50", "--explain")
    assert (explained.returncode, explained.stdout) == (2, "") and "--explain: no bound is used" in explained.stderr
    lines = cli(*LINE, "--c1", "50", "--batch", "-q", stdin="{}")
    assert lines.returncode == 1 and "has no single number" in lines.stderr and "--quiet" not in lines.stderr


def test_a_swept_roc_curve_is_shown_where_it_was_asked_for(cli):
    table = cli("tv", "--sigma", "1,2", "--fpr", ".01,.1").stdout
    of_tv, of_rates = (part.splitlines()[2:] for part in table.split("\n\n")[1:3])
    assert [line.split()[:2] for line in of_rates[:4]] == [["1", "0.01"], ["1", "0.1"], ["2", "0.01"], ["2", "0.1"]]
    assert [len(line.split()) for line in of_tv] == [3, 3]  # σ, TV, and TV by Pinsker's inequality
    assert "| 2 | 0.1 |" in cli("tv", "--sigma", "1,2", "--fpr", ".01,.1", "--format", "markdown").stdout
    assert "| 0.1 | 0.389144 |" in cli("tv", "--sigma", "1", "--fpr", ".01,.1", "--format", "markdown").stdout


# --- grids -----------------------------------------------------------------------------------------------------------

GRID = "rdp --sigma 1,2,4 --delta 1e-5,1e-6"
COMPARED = "compare --batches poisson --n 6000 --batch-size 100 --steps 1,2 --noise-multiplier 1 --delta 1e-5"


def page(line):
    """What a call prints on standard output."""
    return printed(line)[1]


def headlines(line):
    """The headline numbers of a sweep, rounded up as a cell shows them, point after point."""
    return [human(answer["result"][answer["solved"] or "epsilon"]) for answer in json.loads(page(f"{line} --json"))]


def cells(text, start):
    """The rows of a printed table whose first cell is one of the given values."""
    rows = [line.strip("| ").replace("\\\\", "").replace("&", " ").replace("|", " ").split() for line in text.splitlines()]
    return [row for row in rows if row and row[0] in start]


@pytest.mark.parametrize("format", ["table", "markdown", "latex"])
def test_two_options_give_a_grid_with_one_number_a_cell(format):
    text = page(f"{GRID} --format {format}")
    rows = cells(text, ("1", "2", "4"))
    assert [row[0] for row in rows] == ["1", "2", "4"] and [x for row in rows for x in row[1:]] == headlines(GRID)
    assert "gaussian-rdp" not in text and "Bound: gaussian-exact." in text
    assert ("at each $\\delta$" if format == "latex" else "ε at each δ") in text


@pytest.mark.parametrize("line, title", [
    ("rdp --sigma 1,2 --steps 1,2 --delta 1e-5", "ε at δ = 1e-05"), ("rdp --sigma 1,2 --delta 1e-5,1e-6", "ε at each δ"),
    ("rdp --steps 1,2 --epsilon 1,2 --delta 1e-5 --solve sigma", "σ for each ε at δ = 1e-05"),
    ("rdp --steps 1,2 --sensitivity 1,2 --epsilon 1 --delta 1e-5 --solve sigma", "σ for ε ≤ 1 at δ = 1e-05"),
    ("rdp --sigma 1,2 --steps 1,2 --alpha 8", "ε(α) at α = 8"), ("rdp --sigma 1,2 --epsilon 1", "δ at ε = 1")])
def test_the_title_says_what_the_numbers_are(line, title):
    assert page(line).splitlines()[0] == title


def test_a_grid_says_which_bound_gives_which_cells():
    lines = page("tv --mechanism laplace --scale 1,2 --steps 1,2,4,400").splitlines()
    answers = json.loads(page("tv --mechanism laplace --scale 1,2 --steps 1,2,4,400 --json"))
    assert len({a["bound"] for a in answers}) > 1
    line = next(line for line in lines if line.startswith("Bounds: "))
    assert {a["bound"] for a in answers} <= set(line.replace(";", "").replace(".", "").split())


def test_a_wide_grid_becomes_several(monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    text = page("rdp --sigma 1,2,4 --delta 1e-3:1e-9:7:log")
    assert max(map(len, text.splitlines())) <= 50
    rows = cells(text, ("1", "2", "4"))
    assert [row[0] for row in rows] == ["1", "2", "4"] * 2  # two blocks of columns
    found = [x for k in range(3) for x in (*rows[k][1:], *rows[k + 3][1:])]
    assert found == headlines("rdp --sigma 1,2,4 --delta 1e-3:1e-9:7:log")


def test_a_point_without_an_answer_has_a_dash_in_its_cell():
    code, text, _ = call(["rdp", "--sigma", "0,2", "--delta", "1e-5,1e-6"])
    assert code == 1 and cells(text, ("0",)) == [["0", "–", "–"]] and text.count("No answer at σ = 0") == 2


def test_numbers_that_vary_beside_the_headline_have_a_grid_of_their_own():
    text = page("shuffle-pnsgd --lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5 --sigma 3,4 --n 100,200 "
                   "--index 7 --epsilon 1")
    titles = [part.splitlines()[-1] for part in text.split("\n\n")[:-1]]
    assert titles[0] == "δ at ε = 1" and "δ at the worst index" in titles
    assert "\nEach number is for record 7 only.\n" in text


def test_programs_get_long_rows_of_every_bound():
    rows = list(csv.DictReader(io.StringIO(page(f"{GRID} --format csv"))))
    assert [(r["sigma"], r["delta"]) for r in rows if r["bound"] == "gaussian-exact"] == list(
        product(("1", "2", "4"), ("1e-5", "1e-6")))
    assert {r["bound"] for r in rows} == {"gaussian-exact", "gaussian-rdp"}


@pytest.mark.parametrize("line", ["rdp --sigma 1,2 --delta 1e-5 --bound gaussian-exact",
                                  "subsample --sampling-rate .01 --steps 9 --sigma 1,2 --delta 1e-5"])
def test_no_column_is_shown_twice(line):
    header, _, *rows = page(line).splitlines()[2:6]
    columns = list(zip(*(row.split() for row in rows), strict=True))
    assert len(set(columns)) == len(columns) and "gaussian-exact" not in header and "poisson-profile" not in header


NEAR = ("burn-in --n 1e4 --batch-size 64 --lipschitz 1 --smoothness 1 --learning-rate .05 --diameter 2 --sigma 5 --delta 1e-5 "
        "--steps 1e3,1e4")


@pytest.mark.parametrize("line", [NEAR, slow("subsample --sampling-rate .01 --sigma 1,2 --steps 100 --delta 1e-6")])
def test_columns_that_are_nearly_equal_are_one_and_a_sentence_says_so(line):
    rows = list(csv.DictReader(io.StringIO(page(f"{line} --format csv"))))
    named = {}  # the numbers of each bound, point after point
    for row in rows:
        label = f"{row['bound']} ({row['conversion']})" if row["conversion"] else row["bound"]
        named.setdefault(label, []).append(float(row["epsilon"]))
    named["ε"] = [float(x) for x in page(f"{line} -q").split()]
    text = page(f"{line} --format markdown")
    columns = [name.partition(" [")[0] for name in text.split("\n")[2].strip("| ").split(" | ")][1:]
    numbers = [line.strip("| ").split(" | ")[1:] for line in text.split("\n")[4:6]]
    for k, name in enumerate(columns):
        assert [float(row[k]) for row in numbers] == pytest.approx(named[name], rel=1e-5)
    folded = re.findall(r"([^.|]+?) (?:is|are) within 0\.1 % of (\S+(?: \([a-z-]+\))?) at every point\.", text)
    assert bool(folded) == (line == NEAR)
    for names, of in folded:
        for name in re.split(", | and ", names.strip()):
            assert name not in columns and of in columns
            assert named[name.partition(" [")[0]] == pytest.approx(named[of], rel=1.001e-3)
    for x, y in combinations(columns[1:], 2):
        assert max(abs(a / b - 1) for a, b in zip(named[x], named[y], strict=True)) > 0.99e-3
    assert "within" not in page(f"{line} --all")


@pytest.mark.parametrize("deltas, shown", [
    ("1e-2,.001", ["0.01", "0.001"]), ("1e-2,1e-9,.1", ["1e-02", "1e-09", "1e-01"]), ("1/8,1e-2", ["1/8", "1e-2"]),
    ("1e-5,1e-6", ["1e-5", "1e-6"]), ("1e-9:.1:2:log", ["1e-09", "1e-01"])])
def test_swept_values_have_one_notation_in_tables(deltas, shown):
    line = f"rdp --sigma 2 --delta {deltas}"
    assert [row[0] for row in cells(page(line), shown)] == shown
    assert [row[0] for row in cells(page(f"{line} --format markdown"), shown)] == shown
    if ":" not in deltas:
        assert list(dict.fromkeys(r["delta"] for r in csv.DictReader(io.StringIO(page(f"{line} --format csv"))))) == deltas.split(",")


def test_whole_numbers_below_a_billion_have_no_exponent():
    rows = cells(page("rdp --sigma 1e5 --delta 1e-5 --steps 1e4:1e8:3:log"), ("10000", "1000000", "100000000"))
    assert len(rows) == 3


@spread("form", ["", "--format markdown", "--format latex", "--format csv", "--plot -"])
@pytest.mark.parametrize("adjacency, only", [("add-remove", "poisson-profile"),
                                             slow("replace-one", "poisson-replace-one-profile")])
def test_rows_of_another_adjacency_are_left_out(form, adjacency, only):
    text = page(f"{COMPARED} --adjacency {adjacency} {form}")
    other = {"poisson-profile", "poisson-replace-one-profile"} - {only}
    assert only in text and not any(name in text for name in other)
    if adjacency == "add-remove" and form == "":
        assert "Note: rows for replace-one neighbours are left out; --adjacency replace-one asks for them." in text


# --- LaTeX -----------------------------------------------------------------------------------------------------------


def test_latex_has_the_rules_of_booktabs_and_numbers_to_the_right():
    first, *lines = page("rdp --sigma 1 --delta 1e-5 --format latex").splitlines()
    assert first == r"% needs \usepackage{booktabs}"
    assert lines[:4] == [r"\begin{tabular}{lrl}", r"\toprule", r"bound & $\varepsilon$ & source \\", r"\midrule"] and lines[-2:] == [r"\bottomrule", r"\end{tabular}"]


def test_a_latex_grid_is_whole():
    text = page("rdp --sigma 1,20 --epsilon 1,2 --format latex")
    assert text.splitlines()[3:] == [
        r"\begin{tabular}{rrr}", r"\toprule", r"\multicolumn{3}{c}{$\delta$ at each $\varepsilon$} \\", r"\midrule",
        r" & \multicolumn{2}{c}{$\varepsilon$} \\", r"\cmidrule(l){2-3}", r"$\sigma$ & 1 & 2 \\", r"\midrule",
        *[line for line in text.splitlines() if line.startswith(("1 &", "20 &"))], r"\bottomrule", r"\end{tabular}"]
    assert r"\times10^{" in text and "e-" not in "".join(line for line in text.splitlines() if "&" in line)


@pytest.mark.parametrize(("args", "asked"), [
    ("convert --from dp --epsilon .1,.2 --delta 1e-7 --steps 5 --target-delta 1e-5", "epsilon"),
    ("convert --from dp --epsilon .1 --delta 1e-7,1e-6 --steps 5 --target-epsilon 1", "delta"),
    ("subsample --epsilon 1,2 --delta 1e-7,1e-6 --sampling-rate .1", "epsilon"),
])
def test_a_swept_number_does_not_hide_the_answer_of_the_same_name(cli, args, asked):
    rows = list(csv.DictReader(io.StringIO(cli(*args.split(), "--format", "csv").stdout)))
    numbers = [float(x) for x in cli(*args.split(), "-q").stdout.split()]
    assert set(numbers) <= {float(row[f"result_{asked}"]) for row in rows} and len(set(numbers)) > 1

"""On a terminal of any width every number stands whole, with its exponent, its swept value and its status."""

import contextlib
import io
import json
import re

import pytest
from calling import call
from conftest import SCRIPT, slow, spread
from terminals import on_terminal

from dpcalc.cli.app import main
from dpcalc.core.numbers import human, human_log

RUN = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .1 --diameter 1"
STREAM = "online-noise --lipschitz 10 --diameter 1 --learning-rate .01 --smoothness .5 --decay 1.5 --c1 100 --c2 100 --index 100"
SINGLE = [
    "rdp --sigma 1 --delta 1e-5",
    "rdp --sigma 1e-3 --delta 1e-300",
    f"{RUN} --n 1e8 --sigma 1 --epsilon 500",  # δ = 5.1e-…
    f"{RUN} --n 1e4 --c1 1e5 --c2 2 --noise laplace --epsilon 1",
    f"{STREAM} --n 1e6 --epsilon 1",
    "convert --from dp --epsilon 0.005 --delta 1e-5 --steps 1000 --target-epsilon 0.15",
    "subsample --sampling-rate .01 --sigma 1 --steps 100 --delta 1e-6 --bound poisson-rdp",
    "rdp --epsilon 1 --delta 1e-5 --solve sigma",
    "convert --from gdp --mu 1 --delta 1e-5 --bound gdp-exact --digits 60",
    "compare --n 9 --batches full --steps 3 --sigma 1 --clipping-norm 1 --delta 1e-5",
]
SWEPT = [
    (f"{RUN} --n 1e8 --sigma 1,2,4,40 --epsilon 3", "sigma"),
    ("rdp --sigma 1:10:3 --delta 1e-5", "sigma"),
    ("rdp --sigma 1,2 --delta 1e-5,1e-7", "sigma"),
    (f"{RUN} --n 1e3,1e5 --c1 1e5 --c2 2 --epsilon 1", "n"),
    (f"{RUN} --n 1e12 --sigma 1 --epsilon 300,3000", "epsilon"),
]
WIDE = ("burn-in --n 1e6 --batch-size 64 --lipschitz 1 --smoothness 1 --learning-rate .05 --diameter 2 --sigma 0.05 --delta 1e-7 "
        "--steps 1e3:1e6:4:log")


def words(text):
    """Numbers and names as they stand between blanks."""
    return {part for w in text.split() for part in (w, w.strip("();,"))}


def asked(answer):
    """The key of the number that its rows are about."""
    if answer["solved"]:
        return answer["solved"].replace("-", "_")
    return next(k for k in ("delta", "epsilon", "rdp", "tv") if k in answer["bounds"][0]
                and (k != "delta" or "log_delta" in answer["bounds"][0]))


def best_rows(answer):
    """The rows that a table shows: the best of each theorem, or all where bounds are named."""
    by_theorem = {}
    for row in answer["bounds"]:
        by_theorem.setdefault((row.get("curve", row["name"]), row.get("adjacency")), row)
    return answer["bounds"] if "bound" in answer["options"] else list(by_theorem.values())


def printed(answer):
    """Every number of the rows of a table at its printed precision."""
    name, found = asked(answer), set()
    for row in best_rows(answer):
        tiny = name == "delta" and 0 < row[name] < 1e-300
        found.add(human_log(row["log_delta"]) if tiny
                  else human(row[name], upward=name not in ("steps", "n", "epochs")))
        found |= set(row.get("digits", {}).values())
        found |= {human(row["tv"])} if "assumes" in row else set()
    return found


def screen(line, columns):
    shown = on_terminal([SCRIPT, *line.split()], columns, streams=["stdout"])
    assert shown.code == 0
    return shown.screen


class Terminal(io.StringIO):
    def isatty(self):
        return True


def as_screen(line, columns, monkeypatch):
    """The same in this process."""
    monkeypatch.setenv("COLUMNS", str(columns))
    with contextlib.redirect_stdout(Terminal()) as out:
        assert main(line.split()) == 0
    return out.getvalue()


@pytest.mark.parametrize("columns", [40, 80])
@spread("line", [SINGLE[2], slow(SWEPT[0][0]), SWEPT[3][0]])
def test_a_real_terminal_shows_the_same(line, columns, monkeypatch):
    assert screen(line, columns) == as_screen(line, columns, monkeypatch)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("columns", [40, 60, 80, 120])
@pytest.mark.parametrize("line", SINGLE)
def test_every_number_of_an_answer_is_whole(line, columns, monkeypatch):
    answer = json.loads(call([*line.split(), "--json"]).stdout)
    text = as_screen(line, columns, monkeypatch)
    assert printed(answer) <= words(text)
    names = re.sub(r"\s+", " ", text)
    assert all(row["name"] in names for row in answer["bounds"])
    statuses = {row["status"] for row in answer["bounds"]}
    assert "assumes" in answer["bounds"][0] or statuses == {"proven"} or statuses <= words(text)
    if "--digits 60" not in line or columns > 60:
        assert max(map(len, text.splitlines())) <= columns


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("columns", [40, 60, 80, 120])
@spread("line, name", SWEPT)
def test_every_number_of_a_sweep_is_whole(line, name, columns, monkeypatch):
    answers = json.loads(call([*line.split(), "--json"]).stdout)
    text = as_screen(f"{line} --all", columns, monkeypatch)
    seen, is_grid = words(text), sum("," in word or ":" in word for word in line.split()) == 2
    for answer in answers:
        assert ({human(answer["result"]["epsilon"])} if is_grid else printed(answer)) <= seen
        assert answer["parameters"][name] in {float(w) for w in seen if re.fullmatch(r"[\d.e+-]+", w)}
    unproven = {row["status"] for answer in answers for row in answer["bounds"]} - {"proven"}
    assert all(f"[{status}]" in text for status in unproven) and ("--c1" not in line or unproven)
    assert max(map(len, text.splitlines())) <= columns


def test_a_wide_terminal_has_a_line_for_each_point_and_a_narrow_one_with_all_a_block(monkeypatch):
    line = f"{SWEPT[0][0]} --all"
    wide, narrow = (as_screen(line, columns, monkeypatch) for columns in (120, 40))
    assert re.search(r"^40 +1\.6514e-39667 ", wide, re.M)
    assert re.search(r"^σ: 40\nδ: 1\.6514e-39667\n", narrow, re.M)
    assert narrow.count("σ: ") == 4


@pytest.mark.parametrize("columns", [40, 60, 80])
@spread("line, first", [(SWEPT[0][0], ("1", "2", "4", "40")), (WIDE, ("1000", "10000", "100000", "1000000"))])
def test_a_narrow_terminal_has_fewer_columns_and_a_sentence_about_the_others(line, first, columns, monkeypatch):
    text, wide = (as_screen(line, width, monkeypatch) for width in (columns, 300))
    assert max(map(len, text.splitlines())) <= columns and "Left out" not in wide
    rows, every = ([row.split() for row in page.split("\n\n")[1].splitlines() if row.split()[0] in first]
                   for page in (text, wide))
    assert [row[0] for row in rows] == list(first) and all(set(row) <= set(all_cells) and row[:2] == all_cells[:2]
                                                           for row, all_cells in zip(rows, every, strict=True))
    below = " ".join(text.split("\n\n")[2].split())
    left = re.findall(r"Left out for width: (.*); --all or --format csv shows", below)
    names = left[0].split(", ") if left else []
    assert len(rows[0]) + len(names) == len(every[0])
    assert all(f" {name} " in f'{wide.split(chr(10))[2]} ' for name in names) and bool(names) >= (columns < 80)

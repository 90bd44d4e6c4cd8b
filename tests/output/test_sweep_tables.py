"""Sweeps of what is a table by itself: the noise of steps, and ROC curves. Every format has a line for every point and
step."""

import csv
import io
import json

import pytest

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
    assert lines.returncode == 1 and "has no headline" in lines.stderr and "--quiet" not in lines.stderr


def test_a_swept_roc_curve_is_shown_where_it_was_asked_for(cli):
    table = cli("tv", "--sigma", "1,2", "--fpr", ".01,.1").stdout
    rows = [line.split() for line in table.splitlines() if line[:1] in "12"]
    assert [r[:2] for r in rows if len(r) == 3] == [["1", "0.01"], ["1", "0.1"], ["2", "0.01"], ["2", "0.1"]]
    assert sum(len(r) == 4 for r in rows) == 2  # TV by each bound
    assert "| 2 | 0.1 |" in cli("tv", "--sigma", "1,2", "--fpr", ".01,.1", "--format", "markdown").stdout
    assert "| 0.1 | 0.389144 |" in cli("tv", "--sigma", "1", "--fpr", ".01,.1", "--format", "markdown").stdout

"""Sweeps: lists and ranges of any numeric option, in every format, with failing points told in their place."""

import csv
import io
import json
import os
import subprocess

import pytest
from answers import printed
from calling import call
from conftest import SCRIPT, slow

RUN = "--lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5"
CONJECTURE = "shuffle-pnsgd --lipschitz 1 --bound without-replacement-conjecture"


def test_a_list_gives_rows_in_order(cli, ask):
    rows = json.loads(cli("rdp", "--sigma", "1,2,4", "--delta", "1e-5", "--json").stdout)
    assert [r["parameters"]["sigma"] for r in rows] == [1, 2, 4]
    assert rows[1]["result"] == ask("rdp", "--sigma", 2, "--delta", "1e-5")["result"]


@pytest.mark.parametrize("text,values", [
    ("1:9:3", [1, 5, 9]), ("1:100:3:log", [1, 10, 100]), ("1/2,sqrt(4)", [0.5, 2.0]), ("8:2:4", [8, 6, 4, 2])])
def test_ranges(cli, text, values):
    rows = json.loads(cli("rdp", "--sigma", text, "--delta", "1e-5", "--json").stdout)
    assert [r["parameters"]["sigma"] for r in rows] == pytest.approx(values, rel=1e-12)


def test_a_range_of_counts_is_whole_and_says_each_once(cli):
    rows = json.loads(cli("rdp", "--sigma", "9", "--steps", "1:4:9", "--delta", "1e-5", "--json").stdout)
    assert [r["parameters"]["steps"] for r in rows] == [1, 2, 3, 4]


def test_two_options_give_a_grid_and_three_are_refused(cli):
    done = cli("rdp", "--sigma", "1,2", "--delta", "1e-5,1e-6,1e-7", "--format", "csv")
    table = list(csv.DictReader(io.StringIO(done.stdout)))
    exact = [r for r in table if r["bound"] == "gaussian-exact"]
    assert [(r["sigma"], r["delta"]) for r in exact] == [(s, d) for s in "12" for d in ("1e-5", "1e-6", "1e-7")]
    assert float(exact[0]["epsilon"]) > float(exact[3]["epsilon"])
    done = cli("rdp", "--sigma", "1,2", "--delta", "1e-5,1e-6", "--steps", "1,2")
    assert done.returncode == 2 and "at most two" in done.stderr and done.stdout == ""


def test_quiet_and_jsonl_have_a_line_a_point(cli):
    quiet = cli("subsample", "--sampling-rate", ".01", "--steps", "100", "--delta", "1e-5", "--sigma", "1,2,3",
                "-q").stdout.split()
    lines = cli("subsample", "--sampling-rate", ".01", "--steps", "100", "--delta", "1e-5", "--sigma", "1,2,3",
                "--format", "jsonl").stdout
    assert [float(x) for x in quiet] == [json.loads(line)["result"]["epsilon"] for line in lines.splitlines()]


@pytest.mark.parametrize("how", [("-q",), slow(("--format", "jsonl")), slow(("--json",))])
def test_points_are_printed_as_they_are_computed(how):
    """The points take seconds together. They all fit into the buffer of a pipe, so that none is missing at the end
    because nobody read it."""
    sigmas = ",".join(f"{1 + k / 100}" for k in range(20))
    argv = ["subsample", "--sampling-rate", ".01", "--steps", "100000", "--delta", "1e-6", "--precision", "1e-5",
            "--bound", "poisson-profile", "--sigma", sigmas, *how]
    process = subprocess.Popen([SCRIPT, *argv], stdout=subprocess.PIPE)
    mark = b"\n" if how == ("-q",) else b'"schema"'
    shown = b""
    while mark not in shown and (chunk := os.read(process.stdout.fileno(), 1 << 16)):
        shown += chunk
    process.kill()
    shown += process.communicate()[0]
    assert 1 <= shown.count(mark) < 20


def test_a_failing_point_is_told_in_its_place(cli):
    done = cli("rdp", "--sigma", "1,0,2", "--delta", "1e-5", "--json")
    assert done.returncode == 1
    first, second, third = json.loads(done.stdout)
    assert second["error"]["option"] == "--sigma" and first["result"]["epsilon"] > third["result"]["epsilon"]
    done = cli("rdp", "--sigma", "0,-1", "--delta", "1e-5")
    assert done.returncode == 2 and done.stdout == "" and "--sigma" in done.stderr


@pytest.mark.parametrize("text,says", [
    ("1:2", "start:stop:count"), ("1:2:0", "points"), ("1:2:2.5", "points"), ("0:1:3:log", "positive"),
    ("1:2:3:lin", "start:stop:count"),
    ("1:2:1e9", "points"), ("1:x:3", "not a finite number")])
def test_bad_ranges(cli, text, says):
    done = cli("rdp", "--sigma", text, "--delta", "1e-5")
    assert done.returncode == 2 and says in done.stderr and done.stdout == "" and "Traceback" not in done.stderr


def test_a_table_has_a_column_for_each_other_bound(cli):
    text = cli("rdp", "--sigma", "1,2", "--delta", "1e-5").stdout
    title, _, head, _, first, *_ = text.splitlines()
    assert title == "ε at δ = 1e-05" and "Bound: gaussian-exact.\n" in text
    assert head.split() == ["σ", "ε", "gaussian-rdp", "(rdp-optimal)"] and first.split() == ["1", "4.37718", "4.72839"]


@pytest.mark.parametrize("line, text, meant", [
    ("rdp --sigma 9 --delta 1e-5 --steps", "60,123", "60123? Or write '60, 123' with spaces for a sweep of 2 values."),
    ("subsample --batch-size 2 --steps 3 --sigma 9 --delta 1e-5 --n", "1,234,567",
     "1234567? Or write '1, 234, 567' with spaces for a sweep of 3 values."),
    ("subsample --batch-size 2 --steps 3 --sigma 9 --delta 1e-5 --n", "50,000", "50000?"),
    ("rdp --sigma 9 --delta 1e-5 --steps", "10,000", "10000?"),
    ("rdp --sigma 9 --delta 1e-5 --steps", "100,000", "100000?"),
    ("rdp --delta 1e-5 --sigma", "1,050", "1050?"),
    ("rdp --delta 1e-5 --sigma", "0,05", "0.05?")])
def test_one_number_with_separators_is_no_sweep(cli, line, text, meant):
    done = cli(*line.split(), text)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f"{line.split()[-1]}: {text} is not a number; did you mean {meant}\n")


@pytest.mark.parametrize("option, text, values", [
    ("--steps", "60, 123", [60, 123]), ("--steps", "10,100", [10, 100]), ("--steps", "64,128", [64, 128]),
    ("--sigma", "1,2", [1, 2]), ("--steps", "128,256,512", [128, 256, 512]), ("--steps", "10,20", [10, 20]),
    ("--steps", "10_000,20_000", [10_000, 20_000]),
    ("--sensitivity", "1,100", [1, 100]), ("--delta", "0,.5", [0, 0.5])])
def test_what_is_plausible_as_values_is_a_sweep(cli, option, text, values):
    rest = {"--sigma": "1e4", "--steps": "1", "--epsilon": "1e-3"} | {option: text}
    if option == "--delta":
        rest = {"--mechanism": "laplace", "--scale": "2", option: text}
    rows = json.loads(cli("rdp", *(word for pair in rest.items() for word in pair), "--json").stdout)
    assert [r["parameters"][option[2:]] for r in rows] == values


def test_values_stand_on_one_line_of_the_table(cli):
    assert cli("rdp", "--sigma", "1 +\x0b\n 2,3", "--delta", "1e-5").stdout == cli("rdp", "--sigma", "1 + 2,3",
                                                                                   "--delta", "1e-5").stdout


def test_whole_numbers_of_a_range_are_whole_in_csv():
    csv = call(f"shuffle-pnsgd {RUN} --n 1e3:1e5:3:log --sigma 4 --epsilon 1 --bound shuffled-contraction "
               f"--format csv".split()).stdout
    assert [row.split(",")[0] for row in csv.splitlines()] == ["n", "1000", "10000", "100000"]


@pytest.mark.parametrize("how", ["--format csv", "--format tsv", "--format markdown", "-q"])
def test_a_point_without_an_answer_warns_beside_formats_without_room(how):
    code, _, err = call(f"rdp --sigma 1e-300,1 --delta 1e-5 --bound gaussian-exact {how}".split())
    assert code == 1 and err.startswith("warning: No answer at σ = 1e-300: ")


def test_a_sweep_says_what_stands_beside_its_numbers():
    _, text = printed(f"{CONJECTURE} --sigma 2 --n 1000 --tau .5,.001 --alpha 16")
    assert text.count("is refuted here") == 2 and "At τ = .001:" in text
    _, text = printed(f"shuffle-pnsgd {RUN} --sigma 3 --n 100,200 --index 7 --epsilon 1")
    title, _, header, _, *lines = text.splitlines()
    assert title == "δ at ε = 1" and " ".join(header.split()).endswith("worst index its δ")
    assert "\nEach number is for record 7 only.\n" in text
    assert [line.split()[-2] for line in lines[:2]] == ["100", "200"]
    _, text = printed("shuffle-pnsgd --noise laplace --c1 1e5 --c2 2 --lipschitz 10 --diameter 1 --learning-rate .1 "
                      "--smoothness .5 --n 1e3,1e4,1e5 --epsilon 1 --bound shuffled-contraction")
    assert [line.split()[-1] for line in text.splitlines()[4:7]] == ["118.975", "13.149", "2.45043"]

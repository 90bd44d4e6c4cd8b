"""A table shows the best row of each theorem; --all, a named bound, JSON and CSV have every row."""

import csv
import io
import json
import re

import pytest
from calling import call
from conftest import slow

from dpcalc import answer
from dpcalc.bounds import all_bounds
from dpcalc.output.theorem import short_source

RUN = "subsample --sampling-rate .01 --sigma 1 --steps 100 --delta 1e-6"


def printed(line):
    done = call(line.split())
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(line):
    """The first words of the lines between the rule and the next empty line."""
    table = re.split(r"─{5,}\n", printed(line))[1].split("\n\n")[0]
    return [" ".join(re.split(r" {2,}", row)[:1]) for row in table.splitlines()]


EVERY = ["poisson-profile", "poisson-rdp (rdp-optimal)", "poisson-rdp (rdp-improved)"]


def test_the_best_row_of_each_theorem():
    assert rows(RUN) == EVERY[:2]
    assert rows(f"{RUN} --all") == EVERY
    # who names bounds sees them all
    assert rows(f"{RUN} --bound poisson-rdp --bound rdp-optimal --bound rdp-improved") == EVERY[1:]
    assert rows("convert --from zcdp --rho .5 --delta 1e-6") == ["rdp-optimal"]
    assert rows("convert --from zcdp --rho .5 --delta 1e-6 --all") == ["rdp-optimal", "rdp-improved", "rdp-mironov"]


@pytest.mark.parametrize("line", [
    slow(RUN.replace("--sigma 1", "--sigma 1,2")), "rdp --sigma 1 --epsilon 1,10,30,60,100",
    "convert --from zcdp --rho .001,.1,1,10,100 --delta 1e-6",
    slow("subsample --sampling-rate .01 --steps 100 --noise-multiplier .5,1 --epsilon 10"),
    slow("subsample --sampling-rate .01 --steps 1000 --noise-multiplier .5,1,2,5,10 --epsilon 10")])
def test_sweeps_have_one_column_for_each_theorem(line):
    """Also where two conversions are the same but for rounding."""
    for form in ("", "--format markdown", "--plot -"):
        shown = printed(f"{line} {form}")
        assert "rdp-improved" not in shown and "rdp-optimal" in shown
        assert "rdp-improved" in printed(f"{line} {form} --all")


def test_explanations_are_of_the_rows_shown():
    assert "\nrdp-improved [" not in printed("rdp --sigma 1 --delta 1e-5 --explain")
    assert "\nrdp-improved [" in printed("rdp --sigma 1 --delta 1e-5 --explain --all")


def test_programs_have_every_row():
    assert [row["name"] for row in json.loads(printed(f"{RUN} --json"))["bounds"]] == ["poisson-profile", "poisson-rdp",
                                                                                       "poisson-rdp"]
    assert len(list(csv.DictReader(io.StringIO(printed(f"{RUN} --format csv"))))) == 3
    assert printed(f"{RUN} --format markdown").count("\n| poisson") == 2
    assert printed(f"{RUN} --format markdown --all").count("\n| poisson") == 3
    assert all("Mironov 2017" in row["source"] and "arXiv" in row["source"] for row in
               csv.DictReader(io.StringIO(printed("convert --from rdp --alpha 8 --rdp .5 --delta 1e-5 --bound "
                                                  "rdp-mironov --format csv"))))
    named = answer("rdp", sigma=1, delta=1e-5, bound=["gaussian-rdp", "rdp-optimal", "rdp-improved"])
    assert "rdp-optimal" in named.text() and "rdp-improved" in named.text()
    run = answer("rdp", sigma=1, delta=1e-5)
    assert "rdp-improved" not in run.text() and "rdp-improved" in run.text(every_row=True) and len(run.bounds) == 3


@pytest.mark.parametrize("option", ["-q", "--json", "--format jsonl", "--format csv", "--format tsv", "--batch"])
def test_all_is_refused_where_there_is_no_table(option):
    done = call([*RUN.split(), "--all", *option.split()])
    assert done.returncode == 2 and "--all" in done.stderr and done.stderr.count("\n") == 1


def test_status_is_a_column_where_something_is_not_proven():
    assert "status" not in printed(RUN) and "proven" not in printed(RUN)
    text = printed("burn-in --n 600 --batch-size 12 --steps 9 --lipschitz 1 --smoothness 1 --learning-rate .05 "
                   "--diameter 2 --sigma .1 --delta 1e-5")
    assert re.search(r"^lower-bound +lower ", text, re.M) and re.search(r"^burn-in-profile +proven ", text, re.M)


@pytest.mark.parametrize("question, name", [("--delta 1e-5", "epsilon"), ("--epsilon .01", "delta")])
def test_a_lower_bound_is_rounded_down(question, name):
    line = "burn-in --n 600 --batch-size 12 --steps 9 --lipschitz 1 --smoothness 1 --learning-rate .05 --diameter 2 --sigma .1"
    row = next(row for row in json.loads(printed(f"{line} {question} --json"))["bounds"] if row["status"] == "lower")
    shown = re.search(r"^lower-bound +lower +(\S+)", printed(f"{line} {question}"), re.M).group(1)
    assert row[name] * (1 - 1e-5) < float(shown) <= row[name]


def test_the_source_of_a_row_is_of_the_theorem_that_names_it():
    text = printed("convert --from rdp --alpha 8 --rdp .5 --delta 1e-5 --all")
    assert re.search(r"^rdp-mironov .*Mironov 2017, Prop 3$", text,
                     re.M) and re.search(r"^rdp-optimal .*Asoodeh et al\. 2021, Thm 3$", text, re.M)


@pytest.mark.parametrize("source, short", [
    ("Balle, Barthe & Gaboardi 2018, Theorem 8, arXiv:1807.01647v2; Zhu, Dong & Wang 2022, Theorems 10 and 11",
     "Balle et al. 2018, Thm 8"),
    ("Mironov, Talwar & Zhang 2019, Theorems 4 and 5, §3.3, arXiv:1908.10530v1", "Mironov et al. 2019, Thms 4, 5"),
    ("Mironov 2017, Definition 4, arXiv:1702.07476v3 (the definition itself)", "Mironov 2017, Def 4"),
    ("dpcalc, bounds/pnsgd/_engine/hybrid.py (proof there), from Feldman et al. 2018, Theorem 22, and Asoodeh, Diaz & "
     "Calmon 2020, Theorem 3",
     "after Feldman et al. 2018, Thm 22"),
    ("Altschuler & Talwar 2022, Theorems 3.1 and 5.1, arXiv:2205.13710, repaired",
     "Altschuler & Talwar 2022, Thms 3.1, 5.1, repaired"),
    ("δ at ε = 0 of the exact profiles: Balle & Wang 2018, Theorem 8, arXiv:1805.06530v2; Warner 1965",
     "Balle & Wang 2018, Thm 8"),
])
def test_short_sources(source, short):
    assert short_source(source) == short


def test_every_short_source_is_short_and_begins_like_the_whole_one():
    for bound in all_bounds().values():
        short = short_source(bound.source)
        assert 10 < len(short) <= 50 and not re.search(r"arXiv|;|\(", short), short
        year = re.search(r"\d{4}", short)
        assert year is None or year.group() in bound.source


@pytest.mark.parametrize("line, headline", [
    ("rdp --mechanism laplace --epsilon .5 --delta 0 --solve scale", "v = 2 gives ε ≤ 0.5 at δ = 0 ("),
    ("rdp --mechanism laplace --scale 5 --delta 0 --steps 26", "ε = 5.2 at δ = 0 ("),
    ("rdp --sigma 10 --alpha 4 --steps 5", "ε(α) = 0.1 at α = 4 ("),
    ("convert --from dp --epsilon .2 --delta 0 --to zcdp", "ρ = 0.02 ("),
    ("convert --from gdp --mu .2 --to zcdp", "ρ = 0.02 ("),
    ("convert --from zcdp --rho .1 --alpha 3", "ε(α) = 0.3 at α = 3 ("),
    ("convert --from dp --epsilon .1 --delta 1e-8 --steps 10 --target-epsilon 1", "δ = 1e-07 at ε = 1 ("),
    ("subsample --sampling-rate .01 --epsilon 1 --delta 1e-5", "ε = 0.0170369 at δ = 1e-07 for one step ("),
    ("rdp --sigma 1 --delta 1/60000", "ε = 4.25636 at δ = 1.66667e-05 ("),
])
def test_closed_forms_of_decimals_are_printed_as_everybody_knows_them(line, headline):
    done = call(line.split())
    assert done.returncode == 0 and done.stdout.startswith(headline)

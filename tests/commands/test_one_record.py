"""A guarantee for one record says so beside its number, with what the worst record has; -q, JSON and sweeps warn."""

from __future__ import annotations

import json

import pytest
from answers import answer
from calling import call
from conftest import slow

RUN = "--lipschitz 1 --smoothness .5 --learning-rate .1 --diameter 2"
LAPLACE = ("online-noise --noise laplace --lipschitz 10 --diameter 1 --learning-rate 0.01 --smoothness 0.5 --decay 1.5 "
           "--c1 100 --c2 100 --n 1000")
CALLS = {  # with --index, and the name of the worst index
    f"shuffle-pnsgd {RUN} --sigma 1 --n 100": 100,
    f"shuffle-pnsgd {RUN} --sigma 4 --n 100 --epochs 2 --bound fixed-order-iteration": 100,
    LAPLACE: 1000,
    f"online-noise {RUN} --sigmas 3,2,1,4 --n 4": None,
    f"burn-in {RUN} --order fixed --n 100 --batch-size 10 --steps 104 --sigma .1": 4,
    "noise-feedback --curvature .7 --learning-rate .1 --sigma 2 --steps 6 --lipschitz 1": 6,
    "noise-feedback --learning-rate .1 --sigma 2 --steps 6 --lipschitz 1 --release every-iterate": 1,
    f"compare {RUN} --loss convex --n 100 --batches stream --batch-size 1 --epochs 1 --sigma 1 --release last-iterate": 100,
}


def asked(line):
    done = call([*line.split(), "--json"])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("line", [slow(line) if line.startswith("compare") else line for line in CALLS])
@pytest.mark.parametrize("question", ["--epsilon 1", "--delta 1e-3"])
def test_the_headline_has_the_number_of_the_worst_record(line, question):
    found, err = asked(f"{line} --index 2 {question}")
    name = "delta" if "--epsilon" in question else "epsilon"
    result, worst = found["result"], found["result"]["worst_index"]
    assert CALLS[line] in (None, worst) and worst != 2
    listed = "--sigmas" in line  # there another record may be the worst one at another ε
    told = "delta" if listed else name
    headline = call(f"{line} --index 2 {question}".split()).stdout.splitlines()[0]
    what = "batch" if line.startswith("burn-in") else "record"
    assert f", for {what} 2 only; the worst {what}, {worst}, has {'δ' if told == 'delta' else 'ε'} = " in headline
    said = float(headline.partition(f"the worst {what}, ")[2].split("= ")[1].split()[0])
    assert result[f"worst_{told}"] <= said <= result[f"worst_{told}"] * (1 + 1.1e-5)
    if not line.startswith("compare"):  # which tells what holds for every record by any bound
        at = question if not listed or name == "delta" else f"--epsilon {result['epsilon']!r}"
        there = asked(f"{line} --index {worst} {at}")[0]["result"]
        assert result[f"worst_{told}"] == pytest.approx(there[told], rel=1e-9)
    assert result[f"worst_{told}"] >= result[told if listed else name]
    assert found["guarantee"]["index"] == [2]
    assert f"warning: the guarantee is for {what} 2 only; the worst {what}, {worst}, has " in err


@pytest.mark.parametrize("line", [slow(line) if line.startswith("compare") else line
                                  for line in CALLS if CALLS[line]])
def test_that_the_record_is_the_worst_one_is_said_and_no_warning(line):
    found, err = asked(f"{line} --index {CALLS[line]} --delta 1e-3")
    assert any(note.endswith(f"{CALLS[line]}, which is the worst one") for note in found["notes"])
    assert "only" not in err
    assert "which is the worst one" in call(f"{line} --index {CALLS[line]} --delta 1e-3".split()).stdout.splitlines()[0]


def test_quiet_warns_and_a_table_does_not_say_it_twice():
    line = f"{LAPLACE} --index 100 --epsilon 1".split()
    quiet, table = call([*line, "-q"]), call(line)
    assert float(quiet.stdout) > 0
    assert quiet.stderr.startswith("warning: the guarantee is for record 100 only; the worst record, 1000, has δ = ")
    assert not table.stderr and " ".join(table.stdout.split()).count("for record 100 only") == 1


def test_a_solution_says_what_the_worst_record_has():
    run = f"shuffle-pnsgd {RUN} --n 100 --index 20 --delta 1e-3"
    found, _ = asked(f"{run} --epsilon 1 --solve sigma")
    there, _ = asked(f"{run} --sigma {found['result']['sigma']!r} --epsilon 1".replace("--index 20 --delta 1e-3",
                                                                                       "--index 100"))
    assert found["result"]["worst_delta"] == pytest.approx(there["result"]["delta"],
                                                           rel=1e-9) and there["result"]["delta"] > 1e-3
    assert found["notes"][0].endswith(" at ε = 1") and "the worst record, 100, has δ = " in found["notes"][0]


def test_of_rdp_values():
    found, _ = asked(f"shuffle-pnsgd {RUN} --sigma 1 --n 100 --index 20 --alpha 4")
    there, _ = asked(f"shuffle-pnsgd {RUN} --sigma 1 --n 100 --index 100 --alpha 4")
    assert found["result"]["worst_rdp"] == pytest.approx(there["result"]["rdp"], rel=1e-12)
    assert "for record 20 only; the worst record, 100, has ε(α)" in found["notes"][0]


def test_a_stream_without_end_has_a_worst_record_without_privacy():
    found, _ = asked(LAPLACE.replace("--n 1000", "--n inf") + " --index 100 --epsilon 1 --bound online-contraction")
    assert found["result"]["worst_delta"] == 1 and "has δ = 1" in found["notes"][0]


@pytest.mark.parametrize("line", [slow(line) if line.startswith("compare") else line
                                  for line in CALLS if "--sigmas" not in line])
def test_what_is_read_from_it_is_for_that_record_only(line):
    first = call([*f"{line} --index 2 --delta 1e-3".split(), "--json"])
    then = call(["convert", "-", "--epsilon", ".5"], first.stdout) if '"gdp"' in first.stdout else \
        call(["tv", "-"], first.stdout)
    assert then.returncode == 0, then.stderr
    assert ", for record 2 only, as the input says" in then.stdout.splitlines()[0]
    more = call(["tv", "-", "--json"], first.stdout)
    assert json.loads(more.stdout)["guarantee"]["index"] == [2] and "for record 2 only" in more.stderr


def test_sweeps_and_batches_warn():
    line = [*f"{LAPLACE} --epsilon 1 --index 100,200".split()]
    assert "Each number holds for one record only." in call(line).stdout
    assert call([*line, "-q"]).stderr.count("warning: the guarantee is for record") == 1  # and so at 1 more point
    batch = call([*LAPLACE.split(), "--batch"], '{"epsilon": 1, "index": 100}\n{"epsilon": 1, "index": 1000}\n')
    assert batch.stderr.count("the guarantee is for record 100 only") == 1 and "record 1000 only" not in batch.stderr


@pytest.mark.parametrize("uses, only", [([True, True], False), ([True, False], True)])
def test_a_schedule_holds_for_records_used_as_it_says(uses, only, tmp_path):
    path = tmp_path / "steps.json"
    path.write_text(json.dumps({"sigma": [1, 1], "learning_rate": [0.1, 0.1], "uses": uses}))
    found, err = asked(f"burn-in --order fixed --n 10 --batch-size 5 --lipschitz 1 --smoothness 1 --diameter 2 "
                       f"--schedule {path} --delta 1e-3")
    assert ("only at the steps" in err) == only and any("only at the steps" in note for note in found["notes"]) == only


@pytest.mark.parametrize("line", [
    "--noise laplace --scale 1.952 --diameter 1 --learning-rate 0.003494 --n 30 --index 6 --delta 2.131e-07",
    "--n 1000 --sigma .4 --strong-convexity .3 --learning-rate 1 --bound randomly-stopped --diameter 1 --index 3 "
    "--delta 1e-5"])
def test_the_worst_record_has_no_less_than_the_record_in_question(line):
    """Both δ are those at the same ε."""
    result = answer(f"shuffle-pnsgd --lipschitz 1 --smoothness .5 --epochs 2 {line}")["result"]
    assert result["worst_delta"] >= result["delta"] == float(line.rsplit(maxsplit=1)[1])


def test_a_next_step_of_compare_that_is_for_one_record_says_so():
    line = f"compare {RUN} --loss convex --n 10 --batches stream --batch-size 1 --epochs 1 --sigma 1 --delta 1e-3"
    steps = " ".join(call(f"{line} --index 2".split()).stdout.partition("What would lower")[2].split())
    assert "if only the last iterate is released and the guarantee is for record 2 alone." in steps
    assert "alone" not in call(line.split()).stdout.partition("What would lower")[2]

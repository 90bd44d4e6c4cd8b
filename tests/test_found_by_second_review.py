"""What a review of learning rates, windows, records and encodings found."""

import json
import os
import subprocess
import sys
from math import log1p

import pytest
from answers import answer, number, refusal
from calling import call

from dpcalc.bounds.conversions import outcomes
from dpcalc.verify.report import verify

# --- records of comparisons ------------------------------------------------------------------------------------------

POISSON = ("compare --n 60000 --batches poisson --batch-size 256 --steps 40 --clipping-norm 1 --noise-multiplier 1 --delta 1e-5")
DRAWN = ("compare --n 31032 --batches without-replacement --batch-size 1 --steps 94 --lipschitz 1.17 --sigma .648 --loss convex "
         "--release last-iterate --smoothness 1 --learning-rate .1 --diameter 1 --epsilon .815")


def lowered(record, name, share):
    bounds = [{**row, **{key: row[key] * share for key in ("epsilon", "epsilon_lower") if key in row}} if row["name"] == name else row
              for row in record["bounds"]]
    return {**record, "bounds": bounds}


@pytest.mark.parametrize("share", [0.99, 0.5])
def test_a_row_composes_its_own_steps_not_those_that_are_handed_on(share):
    """Half of ε was "verified": for the headline's neighbours."""
    record = answer(POISSON)
    assert verify(record).holds and any(row["name"] == "wor-profile" for row in record["bounds"][1:])
    found = verify(lowered(record, "wor-profile", share))
    assert not found.holds
    assert any(f.verdict == "not verified" and "wor-profile" in f.text for f in found.others)


def test_true_rows_of_a_comparison():
    """One was refuted by the mechanism of another one."""
    found = verify(answer(DRAWN))
    assert found.holds and not any(f.verdict == "not verified" for f in found.others)


def test_a_comparison_whose_epsilon_is_0():
    """δ at ε = 0 was taken from the row that answers ε = 0 at δ: a total variation of 1e-5."""
    assert verify(answer("compare --n 600 --batches full --steps 1 --noise-multiplier 1e6 --lipschitz 1 --delta 1e-5")).holds


def test_comparisons_in_a_sweep():
    """They have no room for what would lower them."""
    for record in answer("compare --n 600 --batches full --steps 10 --lipschitz 1 --noise-multiplier 20 --delta 1e-5,1e-6"):
        assert verify(record).holds and not verify(lowered(record, "gaussian-exact", 0.99)).holds


@pytest.mark.parametrize("delta", [None, 0.0])
def test_a_delta_of_0_is_a_claim(delta):
    record = answer("rdp --sigma 1 --epsilon 3")
    rows = [{**row, "log_delta": "-inf", **({} if delta is None else {"delta": delta})} for row in record["bounds"]]
    result = {**record["result"], "log_delta": "-inf", **({} if delta is None else {"delta": delta})}
    found = verify({**record, "bounds": rows, "result": result})
    assert not found.holds
    assert all(any(f.verdict == "not verified" and f.bound.startswith(name) for f in (*found.head, *found.others))
               for name in ("gaussian-exact", "gaussian-rdp (rdp-optimal)", "gaussian-rdp (rdp-improved)"))
    assert verify(answer("rdp --mechanism laplace --scale 1 --epsilon 3")).holds


# --- learning rates --------------------------------------------------------------------------------------------------

CONVEX = "--lipschitz 1 --diameter 8 --n 100 --smoothness 1 --strong-convexity 1 --c1 30 --c2 2 --delta 1e-5 --solve learning-rate"


@pytest.mark.parametrize("line, at_least, rises", [  # under a schedule the loss of strongly convex losses rises, and falls again
    (f"shuffle-pnsgd {CONVEX} --index 50 --epsilon 5e-4", 0.9, False),  # .005; no loss from .002 on
    (f"shuffle-pnsgd {CONVEX} --index 1 --epsilon 3e-4 --bound fixed-order-iteration", 0.9, True),
    ("online-noise --lipschitz 3.66 --diameter 4.5 --smoothness .209 --strong-convexity .0627 --n 22 --index 2 --decay 1.82 --c1 6.63 "
     "--c2 75.3 --delta 5.24e-7 --epsilon .0426 --solve learning-rate", 5, True),  # .029
])
def test_where_the_loss_rises_and_falls_with_the_learning_rate(line, at_least, rises):
    """It was said that every smaller one meets the budget, too."""
    record = answer(line)
    eta, epsilon = record["result"]["learning_rate"], float(line.split("--epsilon ")[1].split()[0])
    assert eta >= at_least and verify(record).holds
    assert any("may rise and fall" in note for note in record["notes"]) and not any(note.startswith("every") for note in record["notes"])
    asked = line.replace(" --solve learning-rate", "").replace(f" --epsilon {line.split('--epsilon ')[1].split()[0]}", "")
    assert number(f"{asked} --learning-rate {eta!r}") <= epsilon
    between = [number(f"{asked} --learning-rate {eta * share!r}") for share in (0.02, 0.05, 0.1, 0.2, 0.5)]
    assert (max(between) > epsilon) is rises


@pytest.mark.parametrize("epsilon", [0.8])
def test_a_conversion_named_beside_bounds_of_both_directions(epsilon):
    """The bound that has no conversion was left out, or the conversion was no bound."""
    line = (f"shuffle-pnsgd --lipschitz 1 --n 1000 --smoothness .5 --diameter 1 --sigma 3 --delta 1e-4 --epsilon {epsilon} "
            "--solve learning-rate --bound shuffled-iteration")
    other = f"{line} --bound smooth-nonconvex --bound rdp-optimal"
    assert refusal(other, 3) == refusal(line, 3)
    assert "'nope' is not a bound" in refusal(f"{line} --bound nope", 2)


# --- windows ---------------------------------------------------------------------------------------------------------


def test_windows_that_seldom_see_the_record_beside_the_whole_run():
    """δ at ε was 1.285e-4 by the whole run, where ε at δ = 2.25e-5 was that ε."""
    line = "burn-in --lipschitz 1 --smoothness 1 --n 823 --steps 13 --batch-size 1 --learning-rate .941 --diameter .0814 --sigma .835"
    assert number(f"{line} --epsilon 1.4866517265283434") < 2.25e-5
    assert number(f"{line} --delta 2.25e-5") < 1.4767


def test_the_batch_of_all_records_is_looked_at_by_its_own_theorem():
    """No batch size met the budget, and .00520568 was the best that is reached: by the theorem for random batches."""
    line = ("burn-in --lipschitz 1 --smoothness 1 --learning-rate .794 --diameter .121 --sigma .236 --strong-convexity .1 --n 485 --steps 5 "
            "--alpha 6.82")
    record = answer(f"{line} --rdp .00515 --solve batch-size")
    assert (record["result"]["batch_size"], record["bound"]) == (485, "iteration") and verify(record).holds
    assert not any("afresh" in note or note.startswith("every") for note in record["notes"])
    assert "0.00513563 (at --batch-size 485)" in refusal(f"{line} --rdp .005 --solve batch-size", 3)
    assert "by burn-in-rdp" in refusal(f"{line} --rdp .005 --solve batch-size --bound burn-in-rdp", 3)


# --- what is written -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "ascii", "utf-16", "utf-8"])
def test_json_can_be_read_whatever_the_encoding(encoding):
    """é of Rényi was a single byte."""
    run = [sys.executable, "-m", "dpcalc", "rdp", "--sigma", "1", "--delta", "1e-5", "--json"]
    out = subprocess.run(run, capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding}, check=True).stdout
    assert json.loads(out.decode("utf-8"))["bounds"] == answer("rdp --sigma 1 --delta 1e-5")["bounds"]


@pytest.mark.parametrize("encoding, rule", [("ascii", b"-----"), ("utf-8", "─────".encode())])
def test_the_rule_of_a_table_is_one_that_the_encoding_has(encoding, rule):
    run = [sys.executable, "-m", "dpcalc", "rdp", "--sigma", "1", "--delta", "1e-5"]
    out = subprocess.run(run, capture_output=True, env={**os.environ, "PYTHONIOENCODING": encoding}, check=True).stdout
    assert out.splitlines()[3].startswith(rule) and b"\\u2500" not in out


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_warning_that_cannot_be_written():
    """The answers were lost with it."""
    line = "rdp --sigma 1e-300,1 --delta 1e-5 --bound gaussian-exact -q"
    assert "1e-300" in call(line.split()).stderr
    with open("/dev/full", "wb", buffering=0) as full:
        done = subprocess.run([sys.executable, "-m", "dpcalc", *line.split()], stdout=subprocess.PIPE, stderr=full, text=True)
    assert done.returncode == 1 and done.stdout.split()[-1] == "4.377178095681332"


def test_outcomes_that_are_alike_lose_nothing():
    """ε was 1e-16; next to it, it is known to its last digits."""
    assert answer("convert --from outcomes --p .5,.5 --q .5,.5 --delta 0")["result"]["epsilon"] == 0
    p, q = (0.5, 0.5), (0.5 + 2**-40, 0.5 - 2**-40)
    loss = -log1p(-(2**-39))
    assert loss <= outcomes.pure(p, q) <= loss * (1 + 3e-15)

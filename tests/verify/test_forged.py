"""No field of a record can be changed in silence: what is neither proven nor computed again is said to be unchecked."""

import functools
import json
import math
import random
from contextlib import suppress
from inspect import signature
from time import process_time

import pytest
from conftest import slow
from forgeries import forgeries, is_weaker, name_of, passes
from verifying import ask, texts

from dpcalc.verify.budget import SECONDS, Budget
from dpcalc.verify.report import verify

LINES = [
    "rdp --sigma 2 --steps 3 --delta 1e-5",
    "rdp --sigma 1 --delta 1e-5 --digits 20 --explain --certify",
    "rdp --mechanism randomized-response --probability .52 --epsilon 1 --delta 1e-5 --solve steps",
    "rdp --epsilon .3 --delta 1e-6 --solve sigma",
    "convert --from zcdp --rho .3 --delta 1e-6",
    "convert --from outcomes --p .3,.5,.2 --q .25,.45,.3 --delta .01",
    "convert --from dp --epsilon 1 --delta 0 --steps 4 --to gdp",
    "subsample --sampling-rate .05 --sigma 2 --steps 5 --delta 1e-5 --bound poisson-profile",
    "subsample --mechanism discrete-laplace --scale 2.4663034623764326 --sampling-rate .3 --steps 3 --delta 1e-3",
    "tv --sigma 3 --fpr .01,.1",
    "tv --tv .1 --solve sigma",
    "shuffle-pnsgd --sigma 2 --lipschitz 1 --smoothness .5 --learning-rate .1 --diameter 1 --n 50 --epsilon .3",
    "online-noise --noise laplace --lipschitz 1 --smoothness .5 --learning-rate .04 --diameter .8 --c1 50 --c2 50 "
    "--decay 1.5 --index 80 --n 277 --epsilon 1",
    "burn-in --order fixed --n 100 --batch-size 10 --steps 30 --lipschitz 1 --smoothness 1 --learning-rate .1 "
    "--diameter 1 --sigma .2 --delta 1e-5",
    "noise-feedback --curvature .7 --learning-rate .1 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-5",
    "noise-feedback --curvature .7,.1 --learning-rate .1 --sigma 2 --steps 60 --lipschitz 1 --feedback .5 --release "
    "every-iterate --used-at 1,9 --epsilon .3",
    "noise-feedback --curvature .7 --learning-rate .1 --solve feedback",
    "correlated --steps 90 --separation 20 --strategy banded-inverse-sqrt:4 --sigma 3 --delta 1e-5",
    "compare --n 600 --batches full --steps 10 --lipschitz 1 --noise-multiplier 20 --delta 1e-5",
]
SAMPLE, SEED = 6, 20261126


def silent(line, pick):
    """The changes that verify does not notice."""
    record = ask(line)
    assert verify(record).holds, texts(verify(record))
    return [name_of(path) for path, forged in pick(list(forgeries(record))) if not is_weaker(record, path, forged)
            and passes(forged, path)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", [slow(line) if "subsample --samp" in line or "--certify" in line else line
                                  for line in LINES])
def test_a_changed_field_is_refused_or_said_to_be_unchecked(line):
    assert silent(line, lambda found: random.Random(f"{SEED} {line}").sample(found, SAMPLE)) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", LINES)
def test_every_change_of_every_field_is(line):
    assert silent(line, lambda found: found) == []


def in_both(record, name, factor):
    """A number of the headline changed wherever it stands."""
    record["result"][name] = record["bounds"][0][name] = record["result"][name] * factor


BOTH = "rdp --mechanism laplace --scale 19 --steps 10 --delta 1e-5"
FULL = "rdp --sigma 1 --delta 1e-5 --digits 20 --explain --certify"
FORGED = {
    "a raised lower end": (BOTH, lambda r: in_both(r, "epsilon_lower", 1.01)),
    "a lower end above its upper end": (BOTH, lambda r: in_both(r, "epsilon_lower", 1.1)),
    "the last digit": (FULL, lambda r: r["bounds"][0]["digits"].update(epsilon=r["bounds"][0]["digits"]["epsilon"][:-1]
                                                                       + "5")),
    "no digits of one bound": (FULL, lambda r: r["bounds"][1].pop("digits")),
    "another note": (BOTH, lambda r: r["notes"].append("the noise may be left out")),
    "no notes": (BOTH, lambda r: r["notes"].clear()),
    "another statement": (FULL, lambda r: r["bounds"][0].update(statements=["everything is private"])),
    "a raised certified end": (FULL, lambda r: r["certified"].update(lower=r["certified"]["lower"] * (1 + 1e-6))),
    "a lowered certified end": (FULL, lambda r: r["certified"].update(upper=r["certified"]["upper"] * (1 - 1e-6))),
    "more bits": (FULL, lambda r: r["certified"].update(bits=256.0)),
    "a number that nobody knows": (BOTH, lambda r: r["bounds"][1].update(mu=0.1)),
    "all bounds left out": (BOTH, lambda r: r["bounds"].clear()),
    "fewer assumptions": (BOTH, lambda r: r["bounds"][0]["assumptions"].pop()),
}


@functools.cache
def assert_as_it_was(line):
    verdict = verify(ask(line))
    assert verdict.holds and not verdict.unchecked, texts(verdict)


@pytest.mark.parametrize("what", FORGED)
def test_what_is_forged_is_not_verified(what):
    line, change = FORGED[what]
    record = ask(line)
    assert_as_it_was(line)
    change(record)
    assert not verify(record).holds


ALL = [-1e300, 1e300]  # a window that leaves nothing out


def steep(witness):
    """Coarse steps under a tilt that makes the weights of their points sum up to more than the largest double."""
    witness["steps"][5:] = [128.0, 128.0]
    witness["windows"] = [ALL] * 7
    witness["other"] = {key: witness[key] for key in ("tilt", "grids", "windows", "steps")}


def of_ends_that_are_no_doubles(epsilon, *parts):
    """A grid around the loss ε whose points are next to each other as doubles, so that edges of its cells are not:
    each part is a factor of the step and the first and last point, counted from ε."""
    step = math.ulp(epsilon) / 2
    top = round(epsilon / step) - 2
    grids = [[[step * factor, top // factor + first, top // factor + last] for factor, first, last in parts]]

    def change(witness):
        witness.clear()
        count = 3 if len(parts) == 1 else 30
        witness.update(tilt=1.0, grids=grids, windows=[ALL] * count, steps=[grids[0][-1][0]] * count)

    return change


COMPOSED = {
    "weights beyond the doubles": ("subsample --n 10000 --batch-size 256 --epochs 2 --noise-multiplier 1.1 "
                                   "--delta 1e-5", steep, {"epsilon": 0.01, "epsilon_lower": 0.005}),
    "a grid of adjacent doubles": ("rdp --mechanism k-randomized-response --step-epsilon 3 --categories 2 --steps 2 "
                                   "--epsilon 1", of_ends_that_are_no_doubles(3.0, (1, -40, 0)),
                                   {"delta": 0.9999, "log_delta": math.log(0.9999), "delta_lower": 0.999}),
    "two grids of adjacent doubles": ("rdp --mechanism k-randomized-response --step-epsilon 0.09375 --categories 2 "
                                      "--steps 100 --delta 1e-5",
                                      of_ends_that_are_no_doubles(0.09375, (1, -4, 0), (2, -4, 4)),
                                      {"epsilon": 9.4, "epsilon_lower": 9.0}),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("what", [slow(what) if what.startswith("weights") else what for what in COMPOSED])
def test_a_witness_that_leaves_the_range_of_doubles_proves_nothing(what):
    line, change, claims = COMPOSED[what]
    record = ask(line)
    row = record["bounds"][0]
    change(row["witness"])
    for x in (row, record["result"]):
        x.update({key: claim for key, claim in claims.items() if key in x})
    verdict = verify(record)
    assert not verdict.holds and any("out of range" in found.text for found in verdict.head), texts(verdict)


def test_another_choice_that_proves_the_number_is_reported():
    record = ask(BOTH)
    record["bounds"][0]["witness"]["remark"] = 1.0
    verdict = verify(record)
    assert verdict.holds and verdict.unchecked == ("bounds[0].witness.remark",)


def test_a_bound_that_is_left_out_is_reported():
    record = ask(BOTH)
    record["bounds"].pop()
    verdict = verify(record)
    assert verdict.holds and verdict.unchecked == ("bounds",
                                                   ) and "composition-basic" in verdict.record[0].text, texts(verdict)
    record = ask(BOTH)
    record["bounds"][1], record["bounds"][2] = record["bounds"][2], record["bounds"][1]
    assert verify(record).holds and verify(record).unchecked == ("bounds",)


def test_words_of_another_version_are_unchecked_and_its_numbers_are_not():
    record = ask(BOTH)
    record["version"] = "0.0.9"
    record["notes"] = [*record["notes"], "said in another way"]
    record["bounds"][0]["source"] = "said in another way"
    verdict = verify(record)
    assert verdict.holds and set(verdict.unchecked) == {"version", "notes", "bounds[0].source"}
    in_both(record, "epsilon", 1 - 1e-6)
    assert not verify(record).holds
    record = {**ask(BOTH), "version": "0.0.9", "adjacency": "replace-one"}
    assert not verify(record).holds and "adjacency" in verify(record).unchecked


def test_numbers_that_another_machine_rounds_in_another_way():
    """A text is the same but for the last digits of its numbers: it is reported; a number within 1e-9 is the same."""
    record = ask("rdp --sigma 1 --delta 1e-5 --certify")
    note = record["notes"][-1]
    record["notes"][-1] = note.replace(repr(record["certified"]["upper"]),
                                       repr(record["certified"]["upper"] * (1 + 1e-15)))
    assert record["notes"][-1] != note
    verdict = verify(record)
    assert verdict.holds and verdict.unchecked == (f"notes[{len(record['notes']) - 1}]",)
    record["notes"][-1] = note.replace("128 bits", "256 bits")
    assert not verify(record).holds


def test_a_record_that_claims_nothing_is_not_verified(cli):
    record = cli("rdp", "--sigma", "2", "--json").stdout
    assert cli("verify", "-", stdin=record).returncode == 3
    done = cli("verify", "-", "-q", stdin=record)
    assert done.returncode == 3 and done.stdout == "nothing claimed\n"


def test_the_command_says_what_is_unchecked(cli):
    record = {**ask(BOTH), "id": "a run"}
    done = cli("verify", "-", stdin=json.dumps(record))
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "  unchecked: id, because it is a name that was given to the question"
    assert cli("verify", "-", "-q", stdin=json.dumps(record)).stdout == "verified; not checked: id\n"
    told = json.loads(cli("verify", "-", "--json", stdin=json.dumps(record)).stdout)
    assert told["verified"] is True and told["verdict"] == "verified" and told["not_checked"] == ["id"]


# --- what dpcalc prints ----------------------------------------------------------------------------------------------


def test_lines_of_a_batch(cli):
    """With an id, which may hold what other programs take for the end of a line; and with an error in its place."""
    asked = [{"sigma": 1, "delta": 1e-5, "id": "a\u2028b\u0085c\u2029d"}, {"sigma": 2, "delta": 1e-5, "id": 7},
             {"sigma": -1, "id": 8}]
    answered = cli("rdp", "--batch", stdin="\n".join(json.dumps(x, ensure_ascii=False) for x in asked))
    assert answered.returncode == 1 and "\u2028" not in answered.stdout  # dpcalc escapes it, other programs may not
    raw = "\n".join(json.dumps(json.loads(line), ensure_ascii=False) for line in answered.stdout.splitlines())
    done = cli("verify", "-", "-q", stdin=raw)
    assert "\u2028" in raw and done.returncode == 3 and done.stderr == ""
    assert done.stdout == "verified; not checked: id\nverified; not checked: id\nno answer\n"
    both = "".join(line + "\r\n" for line in answered.stdout.split("\n")[:2])
    assert cli("verify", "-", "-q", stdin=both).returncode == 0
    told = cli("verify", "-", stdin=answered.stdout.split("\n")[2])
    assert told.returncode == 3 and "no answer: the result is an error: -1 is not > 0" in told.stdout and told.stderr == ""


@pytest.mark.parametrize("end", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_lines_end_at_a_line_feed_only(end, cli):
    record = cli("rdp", "--sigma", "1", "--delta", "1e-5", "--format", "jsonl").stdout.strip()
    done = cli("verify", "-", "-q", stdin=record + end + record)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert cli("verify", "-", "-q", stdin=f"{record}\n\n\r\n{record}\n").stdout == "verified\nverified\n"


def test_a_point_of_a_sweep_without_an_answer(cli):
    swept = cli("rdp", "--sigma", "0,1", "--delta", "1e-5", "--json").stdout
    done = cli("verify", "-", "-q", stdin=swept)
    assert done.returncode == 3 and done.stdout == "no answer\nverified\n"


def test_the_line_of_a_mistake_is_counted_as_it_stands_in_the_file(cli):
    record = cli("rdp", "--sigma", "1", "--delta", "1e-5", "--format", "jsonl").stdout
    assert "line 3 " in cli("verify", "-", stdin=record + "\n{\n").stderr


# --- time ------------------------------------------------------------------------------------------------------------

COSTLY = "subsample --n 10000 --batch-size 473 --epochs 2 --sigma 1.8713 --epsilon .1"  # a second


def test_a_record_that_takes_too_long_is_given_up_and_said_to_be_unchecked():
    record = ask(COSTLY)
    start = process_time()
    verdict = verify(record, seconds=0.05)
    assert process_time() - start < 0.6
    assert not verdict.holds and verdict.unchecked
    assert any(f.verdict == "unchecked" and "0.05 s of the processor" in f.text
               for f in (*verdict.head, *verdict.record))
    assert signature(verify).parameters["seconds"].default == SECONDS <= 300


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seconds, after", [
    (0.1, "subsample --sampling-rate .01 --steps 10 --noise-multiplier 1 --alpha 2.5 --bound poisson-rdp"),
    slow(0.3, None)])
def test_an_integral_is_broken_off_too(seconds, after, capfd):
    """The library of ball arithmetic calls the integrand back, and would go on with an exception set."""
    record = ask("online-noise --noise gaussian --lipschitz 1 --smoothness .5 --learning-rate .05 --diameter 1 --c1 50 "
                 "--c2 50 --decay 1.5 "
                 "--index 80 --n inf --epsilon 1")
    capfd.readouterr()
    start = process_time()
    verdict = verify(record, seconds=seconds)
    assert process_time() - start < 1 and not verdict.holds and "bounds[0].delta" in verdict.unchecked
    assert capfd.readouterr().err == "" and verify(ask(after) if after else record).holds


def test_what_is_at_work_when_time_is_over_is_broken_off():
    """Also where it would take an error for its own; and nothing is begun after that."""
    def long():
        while process_time() - start < 5:
            with suppress(Exception):
                sum(range(1000))

    budget, start = Budget(0.2), process_time()
    assert "0.2 s of the processor" in (budget.run(long, str) or "")
    assert 0.15 < process_time() - start < 1
    assert "0.2 s of the processor" in budget.run(lambda: "begun", str)
    assert Budget(60).run(lambda: "done", str) == "done"


def test_nothing_is_begun_when_time_is_over():
    start = process_time()
    verdict = verify(ask("rdp --sigma 1 --delta 1e-5"), seconds=0.0)
    assert process_time() - start < 5 and not verdict.holds and verdict.unchecked == ("the whole result",)


def test_a_release_with_a_positive_delta_is_never_part_of_a_pure_guarantee(cli, tmp_path):
    for k, epsilon in enumerate((0.7, 1.6)):
        (tmp_path / str(k)).write_text(json.dumps({"kind": "dp", "epsilon": epsilon, "delta": 0}))
    record = json.loads(cli("convert", tmp_path / "0", tmp_path / "1", "--delta", "0", "--json").stdout)
    assert cli("verify", "-", stdin=json.dumps(record)).returncode == 0
    for k, delta in ((0, 0.5), (1, 1e-5)):
        changed = json.loads(json.dumps(record))
        changed["inputs"][k]["delta"] = delta
        assert cli("verify", "-", stdin=json.dumps(changed)).returncode == 3


@pytest.mark.parametrize(("line", "why"), [  # at α = 100 the first formula is .125 and the truth .819
    ("subsample --sampling-rate .1 --noise-multiplier 4 --steps 1 --alpha 4 --bound poisson-rdp-closed",
     "α* = 6.00789"),
    ("shuffle-pnsgd --sigma 50 --lipschitz 1 --learning-rate 0.01 --smoothness 0.5 --n 1000 --alpha 4 "
     "--bound smooth-nonconvex-high-noise", "50 < L√(2α(α−1)) = 140.7"),
])
def test_an_order_that_a_closed_form_does_not_cover_is_not_verified(line, why):
    record = ask(line)
    assert verify(record).holds
    for part in (record["options"], record["parameters"], record["result"], *record["bounds"],
                 record["bounds"][0]["witness"]):
        part |= {"alpha": 100.0} if "alpha" in part else {}
        part |= {"rdp": part["rdp"] * 25} if "rdp" in part else {}
    verdict = verify(record)
    assert not verdict.holds and verdict.head[0].verdict == "unchecked" and why in verdict.head[0].text

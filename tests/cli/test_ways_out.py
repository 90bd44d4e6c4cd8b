"""Messages and notes that name the option at fault, the best that can be reached, and the way out."""

import json

import pytest

DP = "convert --from dp --epsilon 1 --delta 1e-6"
STREAM = ("online-noise --noise laplace --lipschitz 10 --diameter 1 --learning-rate .01 --smoothness .5 --decay 1.5 "
          "--c1 100 --c2 100 "
          "--index 100 --n 1e6 --epsilon 1")
RATE = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --diameter 1 --n 1000 --epsilon 1 --delta 1e-6 --sigma 6 --solve learning-rate"


@pytest.mark.parametrize("line, code, says", [
    (f"{DP} --steps 1e3 --target-delta 1e-4", 3, ("--target-delta: ", "the least δ it gives is 0.000999501")),
    (f"{DP} --steps 1e9 --target-delta 1e-2", 3, ("--target-delta: ", "the least δ it gives is 1")),
    ("convert --delta 1e-5", 2, ("--from: ", "outcomes", "JSON file (- for standard input)")),
    (f"{STREAM} --schedule 1:10", 2,
     ("--schedule: prints the noise of the steps", "drop --epsilon, --index, --lipschitz, --n")),
])
def test_the_message(line, code, says, cli):
    done = cli(*line.split())
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
    assert all(part in done.stderr for part in says), done.stderr


def test_the_best_reachable_delta_is_reachable(cli, ask):
    """1 − (1−δ)^T, the chance that some step fails, rounded up."""
    assert 0.000999500 < 1 - (1 - 1e-6) ** 1000 <= 0.000999501
    assert ask(*f"{DP} --steps 1e3 --target-delta 0.000999501".split())["result"]["epsilon"] > 0
    done = cli(*f"{DP} --steps 1e3 --target-delta 0.0009995".split())
    assert done.returncode == 3


def test_an_array_is_composed_or_refused(cli):
    swept = cli("rdp", "--sigma", "1,2", "--delta", "1e-5", "--json").stdout
    assert float(cli("convert", "-", "--delta", "1e-5", "-q", stdin=swept).stdout) == pytest.approx(
        float(cli("convert", "--from", "gdp", "--mu", "sqrt(5/4)", "--delta", "1e-5", "-q").stdout), rel=1e-12)
    done = cli(*["subsample", "-", "--sampling-rate", ".1", "--delta", "1e-5"], stdin=swept)
    assert done.returncode == 2 and "give one mechanism" in done.stderr
    lines = cli("rdp", "--sigma", "1,2", "--delta", "1e-5", "--format", "jsonl").stdout
    assert cli("convert", "--delta", "1e-5", "--batch", "-q", stdin=lines).stdout.count("\n") == 2  # the way out is one


@pytest.mark.parametrize("value, name", [("true", "true"), ("false", "false")])
def test_a_batch_says_what_its_line_says(value, name, cli):
    error = json.loads(cli("rdp", "--delta", "1e-5", "--batch", stdin=f'{{"sigma": {value}}}').stdout)["error"]
    assert error["message"] == f"{name} is not a number"


@pytest.mark.parametrize("more, says", [
    ("--bound shuffled-contraction", "--learning-rate 4, the end"),
    ("--bound shuffled-contraction --strong-convexity .2", "--learning-rate 2.85714, the end"),
    ("--bound smooth-nonconvex", "--learning-rate 1e-15, the end"),
])
def test_a_solution_of_the_step_size_says_which_others_do(more, says, ask):
    found = ask(*f"{RATE} {more}".split())
    note, eta = next(n for n in found["notes"] if "meets the budget too" in n), found["result"]["learning_rate"]
    assert says in note
    other = f"{RATE} {more}".replace("--solve learning-rate", "").replace("--epsilon 1 ", "")
    larger = "smooth" not in more
    for factor in (1.5, 20) if larger else (0.7, 1e-3):
        assert ask(*other.split(), "--learning-rate", repr(eta * factor))["result"]["epsilon"] <= 1
    assert ask(*other.split(), "--learning-rate", repr(eta * (0.99 if larger else 1.01)))["result"]["epsilon"] > 1


def test_other_solutions_say_nothing_of_the_kind(ask):
    assert not any("meets the budget too" in n
                   for n in ask("rdp", "--epsilon", "1", "--delta", "1e-5", "--solve", "sigma")["notes"])


def test_a_warning_never_rounds_a_loss_down(cli):
    """The headline and the warning beside it print the same δ."""
    seen = 0
    for sigma in (1.2, 1.3, 1.7, 1.9, 2.1, 2.3):
        done = cli(*f"shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .1 --diameter 1 --n 9e3 --sigma "
                    f"{sigma} --epsilon .01".split())
        if done.stderr:
            headline = done.stdout.splitlines()[0].split()[2]
            assert done.stderr.startswith(f"warning: δ = {headline} is at least 1/n"), done
            seen += 1
    assert seen >= 2


def test_the_worst_index_is_told_with_its_delta_rounded_up(cli):
    for epsilon in (0.3, 0.5, 0.7, 1.1, 1.3):
        for line in (STREAM.replace("--epsilon 1", ""),
                     "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .1 --diameter 1 --n 9e3 --sigma 3 "
                     "--index 5"):
            found = json.loads(cli(*line.split(), "--epsilon", epsilon, "--json").stdout)
            note = next(n for n in found["notes"] if "worst" in n)
            told = float(note.partition("δ = ")[2].split()[0])
            assert found["result"]["worst_delta"] <= told <= found["result"]["worst_delta"] * (1 + 1.1e-5)

"""Messages and notes that name the option at fault, the best that can be reached, and the way out."""

import json
import math
import random
import re

import pytest
from conftest import slow

from dpcalc.bounds import all_bounds

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
    slow("--bound smooth-nonconvex", "--learning-rate 1e-15, the end"),
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


# --- a way out that is pasted works -----------------------------------------------------------------------------------


PURE = {"laplace": "", "discrete-laplace": "", "randomized-response": "", "unary": "", "exponential": "",
        "permute-and-flip": "", "report-noisy-max": "", "noisy-max-gumbel": "", "one-shot-top-k": "--top-k 3",
        "k-randomized-response": "--categories 4", "above-threshold": "--threshold-scale 4", "shuffled-ldp": "--n 100"}


@pytest.mark.parametrize("name", PURE)
def test_a_pure_mechanism_without_noise_says_how_to_find_it(name, cli):
    line = f"rdp --mechanism {name} --epsilon 1 {PURE[name]}".split()
    done = cli(*line)
    pasted = re.search(r"for this ε, add (.*)$", done.stderr.strip())
    assert done.returncode == 2 and "--delta 0" in pasted[1], done.stderr
    assert cli(*line, *pasted[1].split(), "-q").returncode == 0


def test_gaussian_noise_without_a_level_says_how_to_find_it(cli):
    pasted = re.search(r"for this ε, add (.*)$", cli("rdp", "--epsilon", "1").stderr.strip())
    assert float(cli("rdp", "--epsilon", "1", *pasted[1].split(), "-q").stdout) == pytest.approx(3.73063, rel=1e-5)


@pytest.mark.parametrize("name", ["staircase", "sparse-gap", "Truncated_Laplace", "bounded-gaussian", "skellam", "snapping",
                                  "uniform", "ptr"])
def test_a_mechanism_without_a_theorem_is_composed_by_its_epsilon(name, cli):
    done = cli("rdp", "--mechanism", name, "--delta", "1e-6")
    command = re.search(r"as in dpcalc (.*)$", done.stderr.strip())
    assert done.returncode == 2 and "did you mean" not in done.stderr
    assert 4 < float(cli(*command[1].split(), "-q").stdout) <= 10  # ten releases of pure ε = 1


def test_the_range_of_a_selection_is_what_the_message_says():
    """Pr[y] ∝ e^(c·u(y)): the privacy loss of all y lies in an interval of length 2cΔ, and cΔ for monotone scores."""
    rng, c, delta = random.Random(1), 0.7, 3.0
    widest = {True: 0.0, False: 0.0}
    for _ in range(2000):
        monotone = rng.random() < 0.5
        scores = [rng.uniform(0, 9) for _ in range(4)]
        moves = [rng.choice((0.0, delta)) if monotone else rng.choice((-delta, delta)) for _ in scores]
        others = [u + move for u, move in zip(scores, moves, strict=True)]
        losses = [c * (v - u) - math.log(sum(math.exp(c * x) for x in others) / sum(math.exp(c * x) for x in scores))
                  for u, v in zip(scores, others, strict=True)]
        widest[monotone] = max(widest[monotone], max(losses) - min(losses))
    assert widest == {True: pytest.approx(c * delta), False: pytest.approx(2 * c * delta)}


def test_the_pure_epsilon_is_the_divergence_of_infinite_order(cli):
    line = ["rdp", "--mechanism", "laplace", "--scale", "2"]
    done = cli(*line, "--alpha", "inf")
    pasted = re.search("ask with (.*) in place of --alpha where", done.stderr)
    assert done.returncode == 2 and "dpcalc convert" not in done.stderr
    assert float(cli(*line, *pasted[1].split(), "-q").stdout) == 0.5
    assert cli("rdp", "--sigma", "1", *pasted[1].split()).returncode != 0  # Gaussian noise has none


def test_the_way_out_of_different_neighbours_works(cli, tmp_path):
    for name, adjacency in (("a", "add-remove"), ("b", "replace-one")):
        (tmp_path / name).write_text(cli("rdp", "--noise-multiplier", "4", "--adjacency", adjacency, "--json").stdout)
    files = [str(tmp_path / "a"), str(tmp_path / "b")]
    done = cli("convert", *files, "--delta", "1e-5")
    option = re.search(r"add (--adjacency \S+), which converts a$", done.stderr.strip())
    assert done.returncode == 2 and option
    assert float(cli("convert", *files, "--delta", "1e-5", *option[1].split(), "-q").stdout) > 0


def test_an_author_leads_to_the_bounds(cli):
    done = cli("explain", "feldman")
    found = cli(*re.search(r"more \(dpcalc (bounds \w+)\)", done.stdout)[1].split(), "-q").stdout.split()
    assert {"fixed-order-iteration", "shuffled-ldp-exact"} <= set(found)
    assert set(cli("bounds", "feldman", "shuffled", "-q").stdout.split()) < set(found)


def test_the_bounds_of_an_author_have_the_name_in_their_source(cli):
    found = cli("bounds", "feldman", "-q").stdout.split()
    sources = {name: bound.source for name, bound in all_bounds().items()}
    assert set(found) == {name for name, source in sources.items() if "feldman" in f"{name} {source}".lower()}

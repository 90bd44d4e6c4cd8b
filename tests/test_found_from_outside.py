"""What testers who knew only the contract found."""

import json
import random
import subprocess
import sys

import pytest
from answers import answer, number, refusal
from calling import call

from dpcalc.bounds.pnsgd._engine import hybrid
from dpcalc.bounds.pnsgd._engine.iteration import path
from dpcalc.bounds.pnsgd._engine.laws import log_gaussian
from dpcalc.verify.report import verify

SCHEDULE = "shuffle-pnsgd --lipschitz 1 --diameter 8 --n 100 --smoothness 0 --c1 30 --c2 2"
CURVE = "shuffle-pnsgd --lipschitz .1 --n 1000 --smoothness 1.21 --sigma 1.7 --alpha 3.24 --rdp .001"


# --- a learning rate is looked for in the direction its bounds lose less ----------------------------------------------


@pytest.mark.parametrize("line, epsilon, delta", [
    (SCHEDULE, 1, 1e-3),
    (f"{SCHEDULE} --noise laplace", 1, 1e-3),
    ("shuffle-pnsgd --lipschitz .42 --diameter 8 --n 138 --smoothness 0 --noise laplace --c1 31.2 --c2 2", 0.01, 1e-3),
    ("shuffle-pnsgd --lipschitz .42 --diameter 8 --n 138 --smoothness 0 --noise laplace --c1 31.2 --c2 2 --index 32", 0.01, 9e-150),
])
def test_under_a_schedule_the_largest_learning_rate_is_found(line, epsilon, delta):
    """1e-15 was told, and that every one meets the budget; or that none does."""
    eta = number(f"{line} --epsilon {epsilon} --delta {delta} --solve learning-rate")
    assert number(f"{line} --learning-rate {eta!r} --delta {delta}") <= epsilon
    assert number(f"{line} --learning-rate {1.001 * eta!r} --delta {delta}") > epsilon


def test_curves_that_lose_less_with_smaller_steps_are_solved_downwards():
    """Without convexity; with it any rate has that budget (shuffled-iteration-rdp)."""
    assert number(f"{CURVE} --solve learning-rate --bound smooth-nonconvex-shuffled") == pytest.approx(0.0174274, rel=1e-5)
    assert "every --learning-rate from 1e-15 to 1.65289 meets the budget (by shuffled-iteration-rdp)" in refusal(
        f"{CURVE} --solve learning-rate", 3)


def test_bounds_of_both_directions():
    """Those that lose less with larger steps answer first; the others where these do not."""
    line = "shuffle-pnsgd --lipschitz 877 --smoothness 1 --n 3 --epochs 100 --sigma 2.78e5 --epsilon .366 --delta 1.58e-7 --solve learning-rate"
    assert "every --learning-rate from 1e-15 to 1e+15 meets the budget (by smooth-nonconvex-shuffled-hiding)" in refusal(
        f"{line} --bound smooth-nonconvex", 3)
    assert "the best reachable is epsilon = 26.7" in refusal(
        line.replace("2.78e5", "2.78e3").replace("--n", "--diameter .5 --n"), 3)


@pytest.mark.parametrize("missing", ["--diameter 8 ", "--smoothness 0 "])
def test_a_schedule_says_what_it_needs(missing):
    line = f"{SCHEDULE} --learning-rate .1 --epsilon 1".replace(missing, "")
    assert refusal(line, 2).startswith(f"dpcalc shuffle-pnsgd: {missing.split()[0]}: needed with --noise gaussian and a schedule")


def test_the_best_that_is_reached_is_that_of_the_sharpest_bound():
    """It was 6.50701, by burn-in-rdp."""
    line = "burn-in --n 1000 --batch-size 10 --steps 1000 --lipschitz 1 --smoothness 1 --diameter .1 --sigma .1 --delta 1e-5"
    assert "by burn-in-profile: the best reachable is epsilon = 5.208" in refusal(f"{line} --epsilon 3 --solve learning-rate", 3)


# --- records ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", [
    "burn-in --n 81065 --batch-size 1 --steps 4 --lipschitz .13 --smoothness .1 --diameter .05 --sigma .05 --learning-rate 2.5 "
    "--strong-convexity .08 --epsilon 3",  # a lower value of 0 was refuted
    "subsample --mechanism randomized-response --probability .6 --sampling-rate .8 --steps 45 --delta 1e-10",  # whole numbers > 1e308
    "compare --n 600 --batches full --steps 10 --noise-multiplier 20 --lipschitz 1 --delta 1e-5",  # told as --sigma 20; one row for two
    "compare --batches poisson --batch-size 256 --steps 100 --noise-multiplier 1.1 --clipping-norm 1 --n 60000 --delta 1e-5",
])
def test_true_answers_are_verified(line):
    verdict = verify(answer(line))
    assert verdict.holds, [f.text for f in (*verdict.head, *verdict.others, *verdict.record) if f.verdict != "verified"]


def test_a_multiplier_is_recorded_as_one():
    line = "compare --n 600 --batches full --steps 10 --lipschitz 1 --delta 1e-5"
    record = answer(f"{line} --noise-multiplier 20")
    assert record["options"]["noise_multiplier"] == 20 and "sigma" not in record["options"]
    assert record["result"]["epsilon"] == pytest.approx(1.1993696, rel=1e-6)


def test_rows_of_one_bound_are_told_apart():
    record = answer("compare --n 600 --batches full --steps 10 --noise-multiplier 20 --lipschitz 1 --delta 1e-5")
    assert [row["name"] for row in record["bounds"]] == ["gaussian-exact"] * 2
    record["bounds"][1]["epsilon"] *= 0.99
    assert not verify(record).holds


def test_a_row_that_answers_another_question_is_refuted():
    record = answer("rdp --sigma 1 --delta 1e-5")
    record["bounds"][1]["delta"] = 1e-300
    assert not verify(record).holds


def test_a_delta_of_1_is_handed_on():
    record = answer("shuffle-pnsgd --lipschitz 4 --diameter 3 --n 1 --smoothness 0 --learning-rate .01 --sigma .1 --epsilon .04")
    assert record["result"]["delta"] == 1 and record["guarantee"] == {"kind": "tv", "tv": 1.0}


def test_an_encoding_that_lacks_letters():
    """They were question marks, in JSON too."""
    asked = [sys.executable, "-m", "dpcalc", "rdp", "--sigma", "1", "--delta", "1e-5"]
    here = {"PYTHONIOENCODING": "ascii", "PATH": ""}
    text = subprocess.run([*asked, "--json"], capture_output=True, check=True, env=here).stdout
    assert json.loads(text) == answer("rdp --sigma 1 --delta 1e-5") and b"\\u03b1" in text
    assert subprocess.run(asked, capture_output=True, check=True, env=here).stdout.startswith(b"\\u03b5 = 4.37718 at \\u03b4 = 1e-05")


@pytest.mark.parametrize("how", ["--format csv", "--format tsv", "--format markdown", "-q"])
def test_points_without_an_answer_are_told_beside_formats_without_room(how):
    code, _, err = call(f"rdp --sigma 1e-300,1 --delta 1e-5 --bound gaussian-exact {how}".split())
    assert code == 1 and err.startswith("warning: No answer at σ = 1e-300: ")


# --- searches ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line, count", [
    # By the tilt to what one loss alone makes ε was a tenth above that with its lower end: 772.
    ("subsample --sampling-rate .0013016297375789024 --sigma 3.2542540553853976 --epsilon .1232362771178066 --delta 1.6569566294707484e-23", 958),
    ("rdp --mechanism laplace --scale 1.360603123474322 --sensitivity .5695245183277388 --epsilon 9.670180286868968 "
     "--delta 1.2444220391184462e-6", 26),
    ("subsample --sampling-rate .03536836583978662 --sigma 1.851601844279679 --adjacency replace-one --epsilon .4067656516478 "
     "--delta .0004746325550742399", 45),
    ("subsample --sigma .508 --sampling-rate 7.218416258373194e-5 --epsilon .04 --delta 3.806922117950493e-6", 10),
])
def test_the_last_count_that_meets_the_budget(line, count):
    assert count - 1 <= number(f"{line} --solve steps") <= count  # ε is told to a thousandth


def test_a_diameter_that_does_not_matter():
    """D = 1 was told, and .31 by burn-in-profile; then the end of the range."""
    line = ("burn-in --lipschitz .5207926504785778 --smoothness 0 --learning-rate .04676430294704093 --n 269 --batch-size 1 --steps 6225 "
            "--sigma 3.150758882356814 --epsilon .15288488776111206 --delta .004753340643699415 --solve diameter")
    assert "every --diameter from 1e-15 to 1e+15 meets the budget (by burn-in-profile)" in refusal(line, 3)


def test_epochs_of_tiny_losses_by_the_tilt_to_their_epsilon():
    """It is far less than basic composition, 3.4e-5."""
    record = answer("shuffle-pnsgd --lipschitz 1 --smoothness .5 --diameter 1 --epochs 20 --sigma 3.21 --n 1e12 --learning-rate 1e-15 "
                    "--delta 2.28e-6 --bound shuffled-iteration")
    assert record["result"]["epsilon"] == pytest.approx(1.59e-6, rel=2e-2)
    assert verify(record).holds


# --- the last iterate ---------------------------------------------------------------------------------------------------


def test_few_records_are_followed_by_the_best_blocks():
    """Against every block at every step: log δ was up to 2 % of itself above, where two blocks are nearly alike."""
    rng, some = random.Random(4), 0
    for _ in range(250):
        n, level, epsilon = rng.randint(2, 64), 10 ** rng.uniform(-1, 1.5), 10 ** rng.uniform(-3, 1)
        rate, rho = 10 ** rng.uniform(-3, 0), rng.choice([0.0, 0.0, 10 ** rng.uniform(-3, -0.5)])
        walk = path(n, level, 10 ** rng.uniform(-1, 1), 10 ** rng.uniform(-4, 2), rate, 1.0, rho, 1)
        found = hybrid.follow(epsilon, walk)[0]
        best = [log_gaussian(epsilon, walk.mu(0))]
        for j in range(1, len(found)):
            blocks = (best[p] + log_gaussian(hybrid._level(epsilon, hybrid._log_gap(epsilon), best[p]), walk.kappa(p, j, j - p))
                      for p in range(j) if best[p] > -600)
            best.append(min(best[-1], log_gaussian(epsilon, walk.mu(j)), *blocks))
        for a, b in zip(found, best, strict=True):
            if -600 < b < -1e-9:
                some += 1
                assert a <= b * (1 - 1e-11)
    assert some > 3000


@pytest.mark.parametrize("bound, worst, delta", [("online-contraction", 1, 0.999284), ("online-iteration", 2, 0.303976)])
def test_the_worst_index_is_by_the_bound_that_is_asked_for(bound, worst, delta):
    result = answer("online-noise --lipschitz .627245356262402 --diameter 1.0451114036925548 --learning-rate .015068013520288196 "
                    f"--smoothness 0 --n 2 --epsilon 1 --sigmas .17839870291015134,.8599681332580605 --index 1 --bound {bound}")["result"]
    assert result["worst_index"] == worst and result["worst_delta"] == pytest.approx(delta, rel=1e-4)


@pytest.mark.parametrize("asked, before, now", [("--epsilon 1.7", 0.003557, 0.00278), ("--delta .003", 2.034, 1.623)])
def test_short_windows_that_seldom_see_the_record(asked, before, now):
    """By the windows that are best for RDP δ was .003557, and rose and fell by 5 % as σ rose."""
    line = ("burn-in --n 634 --batch-size 2 --steps 742 --lipschitz 9.95 --smoothness 2.4 --diameter .092 --learning-rate .04323 "
            f"--sigma 3.7 {asked} --bound burn-in-profile")
    record = answer(line)
    assert verify(record).holds
    value = record["result"]["delta" if "epsilon" in asked else "epsilon"]
    assert value < before and value == pytest.approx(now, rel=0.02)

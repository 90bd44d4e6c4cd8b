"""subsample --max-batch-size and --scheme cyclic-poisson: numbers, options, pipes, and what is refused."""

import json

import pytest
from answers import answer
from calling import call
from conftest import slow, spread

RUN = "subsample --n 60000 --batch-size 256 --steps 3516 --noise-multiplier 1.1"
SMALL = "subsample --n 2000 --batch-size 40 --steps 50 --noise-multiplier 0.9"


def refused(line):
    code, out, err = call([*line.split(), "--json"])
    assert code == 2 and not out, out
    return json.loads(err)["error"]


# --- batches of a maximal size ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_answer_names_what_it_holds_for():
    record = answer(f"{RUN} --max-batch-size 300 --delta 1e-5")
    result = record["result"]
    assert result["epsilon"] == pytest.approx(2.3826, rel=2e-3) and result["epsilon_lower"] == pytest.approx(1.1337,
                                                                                                             rel=1e-3)
    assert record["adjacency"] == "zero-out" and record["bound"] == "truncated-poisson-profile"
    assert [bound["status"] for bound in record["bounds"]] == ["proven", "lower"]
    assert result["steps"] == 3516 and result["sampling_rate"] == pytest.approx(256 / 60000)
    (advice,) = [note for note in record["notes"] if "--max-batch-size" in note]
    enough = int(advice.split("--max-batch-size ")[1].split()[0])
    assert 330 < enough < 400
    plain = answer(f"{RUN} --delta 1e-5")["result"]["epsilon"]
    assert answer(f"{RUN} --max-batch-size {enough} --delta 1e-5")["result"]["epsilon"] < plain * 1.001
    (part,) = record["guarantee"]["mechanisms"]
    assert part["sampling"] == {"scheme": "truncated-poisson", "rate": result["sampling_rate"], "n": 60000,
                                "max_batch_size": 300}
    page = call(f"{RUN} --max-batch-size 300 --delta 1e-5".split()).stdout
    assert "The true ε is between 1.1336" in page and "Neighbours: zero-out" in page


@spread("most, value", [(256, 5.890), (280, 3.8381), (320, 1.1612), (400, 1.1342)])
def test_the_lower_end_is_never_that_of_batches_whose_sizes_are_seen(most, value):
    """1.152, 2.109, 3.334 and 5.047 were once given for B = 320, 300, 280 and 256: no run of this kind loses that."""
    result = answer(f"{RUN} --max-batch-size {most} --delta 1e-5")["result"]
    assert result["epsilon"] == pytest.approx(value, rel=2e-3)
    assert result["epsilon_lower"] <= 1.1339


def test_large_batches_get_no_advice_and_nearly_the_number_of_poisson():
    plain = answer(f"{SMALL} --adjacency zero-out --delta 1e-5")["result"]["epsilon"]
    for most in (90, 2000, 5000):
        record = answer(f"{SMALL} --max-batch-size {most} --delta 1e-5")
        assert record["result"]["epsilon"] == pytest.approx(plain, rel=1e-3)
        assert not [note for note in record["notes"] if "--max-batch-size" in note]
        assert record["result"]["epsilon_lower"] <= plain


def test_the_rate_may_be_given_instead_of_the_batch_size():
    by_size = answer(f"{SMALL} --max-batch-size 50 --delta 1e-5")["result"]
    by_rate = answer(f"{SMALL.replace('--batch-size 40', '--sampling-rate 0.02')} --max-batch-size 50 --delta 1e-5")
    assert by_rate["result"]["epsilon"] == pytest.approx(by_size["epsilon"], rel=1e-9)
    epochs = answer(f"{SMALL.replace('--steps 50', '--epochs 1')} --max-batch-size 50 --delta 1e-5")["result"]
    assert epochs["epsilon"] == by_size["epsilon"] and epochs["steps"] == 50


@pytest.mark.parametrize("budget, unknown", [slow("--epsilon 1 --delta 1e-5", "noise-multiplier"),
                                             ("--epsilon 6 --delta 1e-6", "steps"), slow("--epsilon 2 --delta 1e-5", "n")])
def test_solutions_meet_their_budget(budget, unknown):
    option, words = f"--{unknown}", SMALL.split()
    at = words.index(option)
    line = " ".join([*words[:at], *words[at + 2:]]) + " --max-batch-size 50"
    found = answer(f"{line} {budget} --solve {unknown}")["result"][unknown.replace("-", "_")]
    epsilon, _, delta = budget.split()[1:]
    again = answer(f"{line} {option} {found!r} --delta {delta}")["result"]["epsilon"]
    assert float(epsilon) * 0.9 <= again <= float(epsilon)


@pytest.mark.parametrize("given, unknown", [("--n 2000 --max-batch-size 260", "steps"),
                                            slow("--steps 30 --max-batch-size 22", "n")])
def test_beside_a_rate_steps_and_records_are_solved_for(given, unknown):
    line = f"subsample --sampling-rate .1 --noise-multiplier .8 {given} --delta 1e-5"
    found = answer(f"{line} --epsilon 3 --solve {unknown}")["result"][unknown]
    assert 2.7 <= answer(f"{line} --{unknown} {found}")["result"]["epsilon"] <= 3


def test_delta_and_total_variation():
    assert answer(f"{SMALL} --max-batch-size 50 --epsilon 1")["result"]["delta"] > answer(
        f"{SMALL} --max-batch-size 50 --epsilon 2")["result"]["delta"] > 0
    tv = answer(f"tv {SMALL.partition(' ')[2]} --max-batch-size 50")["result"]["tv"]
    assert answer(f"tv {SMALL.partition(' ')[2]} --adjacency zero-out")["result"]["tv"] < tv < 1


def test_its_guarantee_composes():
    record = answer(f"{SMALL} --max-batch-size 50 --delta 1e-5")
    piped = call(["convert", "-", "--delta", "1e-5", "--json"], json.dumps(record))
    assert json.loads(piped.stdout)["result"]["epsilon"] == pytest.approx(record["result"]["epsilon"], rel=1e-3)
    double = answer(f"{SMALL.replace('--steps 50', '--steps 100')} --max-batch-size 50 --delta 1e-5")["result"]
    twice = json.loads(call(["convert", "-", "--steps", "2", "--delta", "1e-5", "--json"], json.dumps(record)).stdout)
    assert twice["result"]["epsilon"] == pytest.approx(double["epsilon"], rel=1e-3)
    assert twice["adjacency"] == "zero-out"
    other = {**record["guarantee"]["mechanisms"][0], "name": "laplace", "scale": 1.0}
    del other["noise_multiplier"]
    code, _, err = call(["convert", "-", "--delta", "1e-5"], json.dumps({"kind": "mechanisms", "mechanisms": [other]}))
    assert code == 2 and "Gaussian" in err and "Traceback" not in err


@pytest.mark.parametrize("options, option, words", [
    ("--adjacency add-remove", "--adjacency", "not released"),
    ("--scheme without-replacement", "--max-batch-size", "not used"), ("--sampling-rate .1", "--sampling-rate", "both"),
    ("--bands 3", "--bands", "not used"),
])
def test_what_is_refused(options, option, words):
    found = refused(f"{SMALL} --max-batch-size 50 --delta 1e-5 {options}")
    assert found["option"] == option and words in found["message"]


def test_what_is_missing():
    found = refused("subsample --sampling-rate .1 --steps 3 --noise-multiplier 1 --max-batch-size 9 --delta 1e-5")
    assert found["option"] == "--n" and found["code"] == "missing"
    assert refused(f"{SMALL} --max-batch-size 50 --alpha 3")["message"].startswith("RDP of Poisson batches of a maximal")
    laplace = SMALL.replace("--noise-multiplier 0.9", "--mechanism laplace --scale 2")
    assert "gaussian" in refused(f"{laplace} --max-batch-size 50 --delta 1e-5")["message"]
    assert refused(f"{SMALL} --max-batch-size 0 --delta 1e-5")["option"] == "--max-batch-size"


def test_a_statement_says_how_batches_are_truncated():
    text = " ".join(call(f"{SMALL} --max-batch-size 50 --delta 1e-5 --format statement".split()).stdout.split())
    assert "of more than 50 drawn records a uniform subset of that size stays" in text
    assert "the sizes of batches are not released" in text and "whose gradients are zero" in text


# --- cyclic batches --------------------------------------------------------------------------------------------------


CYCLIC = "subsample --scheme cyclic-poisson --n 6000 --batch-size 50 --noise-multiplier 1"


@pytest.mark.parametrize("steps, bands", [(100, 1), (100, 4), (101, 4), (7, 9), (1000, 120)])
def test_cyclic_batches_are_poisson_batches_of_the_steps_that_a_record_meets(steps, bands):
    record = answer(f"{CYCLIC} --steps {steps} --bands {bands} --delta 1e-5")
    met, rate = -(-steps // bands), 50 / (6000 // bands)  # the rate of the smallest group
    plain = answer(f"subsample --sampling-rate {rate!r} --steps {met} --noise-multiplier 1 --adjacency zero-out "
                   "--delta 1e-5")
    assert record["result"]["epsilon"] == pytest.approx(plain["result"]["epsilon"], rel=1e-9)
    assert record["result"]["steps"] == steps and record["result"]["sampling_rate"] == pytest.approx(rate)
    assert record["adjacency"] == "zero-out" and record["bound"] == plain["bound"]
    assert record["guarantee"] == {"kind": "mechanisms", "adjacency": "zero-out", "promises": record["promises"],
                                   "mechanisms": [{"name": "gaussian", "noise_multiplier": 1.0, "count": met, "sampling": {
                                       "scheme": "poisson", "rate": record["result"]["sampling_rate"]}}]}


def test_epochs_of_cyclic_batches():
    """A pass over n records takes n/b steps, or b/p steps at a rate p in each group."""
    by_batch = answer(f"{CYCLIC} --epochs 2 --bands 4 --delta 1e-5")["result"]
    assert by_batch["steps"] == 240
    rate = CYCLIC.replace("--n 6000 --batch-size 50", "--sampling-rate 1/30")
    by_rate = answer(f"{rate} --epochs 2 --bands 4 --delta 1e-5")["result"]
    assert by_rate["steps"] == 240 and by_rate["epsilon"] == pytest.approx(by_batch["epsilon"], rel=1e-9)
    solved = answer(f"{CYCLIC} --bands 4 --epsilon 2 --delta 1e-5 --solve steps")["result"]["steps"]
    assert answer(f"{CYCLIC} --bands 4 --steps {solved} --delta 1e-5")["result"]["epsilon"] <= 2
    assert answer(f"{CYCLIC} --bands 4 --steps {solved + 4} --delta 1e-5")["result"]["epsilon"] > 2
    assert answer(f"{CYCLIC} --bands 4 --steps 100 --alpha 3")["result"]["rdp"] > 0


def test_cyclic_batches_of_other_noise():
    laplace = CYCLIC.replace("--noise-multiplier 1", "--mechanism laplace --scale 2")
    record = answer(f"{laplace} --bands 4 --steps 40 --delta 0")
    assert record["result"]["epsilon"] == pytest.approx(answer(
        f"subsample --sampling-rate {200 / 6000!r} --steps 10 --mechanism laplace --scale 2 --delta 0")["result"]["epsilon"])


@pytest.mark.parametrize("options, option, words", [
    ("--bands 4 --adjacency add-remove", "--adjacency", "change their groups"),
    ("", "--bands", "needed"),
    ("--bands 200", "--batch-size", "30"), ("--bands 4 --max-batch-size 60", "--max-batch-size", "not used"),
])
def test_what_cyclic_batches_refuse(options, option, words):
    found = refused(f"{CYCLIC} --steps 10 --delta 1e-5 {options}")
    assert found["option"] == option and words in found["message"]


def test_no_single_point_is_amplified_by_groups():
    found = refused("subsample --scheme cyclic-poisson --sampling-rate .1 --epsilon 1 --delta 1e-6")
    assert "amplifies no" in found["message"]

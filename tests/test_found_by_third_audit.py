"""What an audit of the last iterate's commands, their pipes and messages found."""

import json
import random
from math import exp, log

import mpmath
import pytest
from answers import answer, refusal
from calling import call

from dpcalc.bounds.pnsgd._engine import schedules
from dpcalc.core.errors import OutOfScope
from dpcalc.verify.report import verify

RUN = "--lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5"
POINT = '{"kind": "dp", "epsilon": 1, "delta": 1e-3}'


@pytest.mark.parametrize("options", ["--delta 1e-9", "--delta 0", "--epsilon 2", "--epsilon 1e-3 --delta 1e-9"])
def test_a_point_that_is_read_answers_no_other_question(options):
    """It was amplified, and --delta 1e-9 taken for asked and answered."""
    line = f"subsample - --scheme without-replacement --sampling-rate .1 {options} -q"
    done = call(line.split(), POINT)
    assert done.returncode == 2 and done.stdout == "" and "not used to amplify" in done.stderr and ("--delta:" in done.stderr or "--epsilon:" in done.stderr)
    assert call(line.removesuffix(f" {options} -q").split(), POINT).returncode == 0


@pytest.mark.parametrize(("options", "said"), [
    ("--to tv --delta 1e-2", "--delta: not used"), ("--to tv --epsilon 1", "--epsilon: not used"),
    ("--epsilon 1 --delta 1e-2", "--epsilon: with --delta there is nothing left"), ("--slack 1e-3 --delta 1e-2", "--delta: --slack already says"),
    ("--delta 1e-3 --target-delta 1e-2", "--target-delta: --delta already asks"),
])
def test_options_beside_a_point_that_is_read(options, said):
    done = call(["convert", "-", *options.split()], POINT)
    assert done.returncode == 2 and said in done.stderr


def test_names_that_are_no_bounds_of_the_question():
    """The first was a fault; the others blamed --c1, and another name."""
    assert "--c1: needed by online-limit" in refusal(f"online-noise {RUN} --sigmas 1,2,3 --index 1 --epsilon 1 --bound online-limit", 2)
    said = refusal(f"shuffle-pnsgd {RUN} --noise laplace --scale 1 --n 100 --epsilon 1 --bound rdp-optimal", 2)
    assert "--bound: 'rdp-optimal' is not a bound for this question (laplace noise)" in said
    assert "'composition-basic'" in refusal(f"shuffle-pnsgd {RUN} --n 1000 --sigma 1 --epochs 3 --epsilon 1 --bound composition-basic", 2)


LAPLACE = "--noise laplace --lipschitz 1 --diameter 1 --smoothness .01 --learning-rate .1 --n 1000"


@pytest.mark.filterwarnings("ignore:.*publishing one record")
@pytest.mark.parametrize(("line", "c1"), [
    (f"shuffle-pnsgd {LAPLACE} --c2 0 --epsilon 0 --delta 1e-3", None), (f"shuffle-pnsgd {LAPLACE} --c2 .5 --epsilon .01 --delta 1e-3", None),
    (f"online-noise {LAPLACE} --c2 0 --decay 2 --index 5 --epsilon 0 --delta 1e-3", 19.1434177),
])
def test_the_scale_of_a_schedule_is_looked_for_before_its_pole(line, c1):
    """--c2 was blamed."""
    record = answer(f"{line} --solve c1")
    found = record["result"]["c1"]
    assert c1 is None or found == pytest.approx(c1, rel=1e-6)
    budget = line.split("--epsilon ")[1].split()[0]
    back, less = (answer(f"{line.split(' --epsilon ')[0]} --c1 {x!r} --epsilon {budget}")["result"]["delta"] for x in (found, found * 0.999))
    assert back <= 1e-3 < less


def test_beyond_the_pole_there_is_no_noise():
    """At C1 = 25 it was that of the rounding of log 25."""
    said = refusal(f"online-noise {LAPLACE} --c2 0 --decay 2 --index 5 --epsilon 0 --c1 25", 2)
    assert "needs x + C2 > 1" in said
    said = refusal(f"online-noise {LAPLACE} --c2 0 --decay 2 --index 5 --epsilon 0 --delta 1e-300 --solve c1", 3)
    assert "the best reachable is epsilon" in said


def test_noise_of_schedules_is_never_more_than_printed():
    """Next to the pole, and where C1 and j^a are large and alike, it was: up to 1e-5 of it."""
    mp, rng, seen = mpmath.mp.clone(), random.Random(1), 0
    mp.dps = 60
    for _ in range(4000):
        n, decay, noise = int(exp(rng.uniform(0, log(1e12)))), rng.choice((1.0, rng.uniform(0.6, 3), rng.uniform(1, 20))), rng.choice(("laplace", "gaussian"))
        c2, log_j = rng.choice((0.0, rng.random(), 1.0, rng.uniform(0, 3))), decay * log(n)
        c1 = exp(log_j + rng.uniform(-3, 3))
        if noise == "laplace" and c2 < 1 and rng.random() < 0.5:
            c1 = exp(log_j) / (1 - c2) * (1 - 10 ** rng.uniform(-14, -1))
        x = mp.mpf(n) ** mp.mpf(decay)
        try:
            found = schedules.level(noise, n, 2.0, 0.5, 0.0, 0.0, c1, c2, decay)
        except OutOfScope:
            assert noise == "laplace" and x / mp.mpf(c1) + mp.mpf(c2) - 1 < 1e-12
            continue
        seen += 1
        exact = schedules.level_exact(mp, noise, x, mp.mpf(2), c1, c2)
        above = x / mp.mpf(c1) + mp.mpf(c2) - 1
        assert 0 < found <= exact and (above < 1e-3 or found > exact * (1 - 1e-9))
    assert seen > 2500


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("line", "name", "delta"), [
    ("online-noise --lipschitz .01 --diameter 2 --smoothness 0 --index 2 --sigmas .001,.01,.001 --bound online-hybrid", "learning-rate", 1e-3),
    ("shuffle-pnsgd --lipschitz .01 --diameter 100 --smoothness 0 --n 1000 --index 997 --sigma .001", "learning-rate", 1e-12),
])
def test_a_solution_fed_back_at_epsilon_0(line, name, delta):
    """δ was 3e-15 of itself above its budget."""
    found = answer(f"{line} --epsilon 0 --delta {delta} --solve {name}")["result"]["learning_rate"]
    assert delta * (1 - 3e-8) < answer(f"{line} --{name} {found!r} --epsilon 0")["result"]["delta"] <= delta


def test_limits_below_doubles():
    """A column of limits told e^-3336 in two rows and 5e-324 at n = inf."""
    line = f"online-noise {RUN} --c1 1 --c2 1 --decay 2 --index 5 --epsilon 3"
    logs = [answer(f"{line} --n {n}")["result"]["log_delta_limit"] for n in ("1e4", "inf")]
    assert logs[0] == logs[1] < -3000


@pytest.mark.parametrize("path", [("guarantee", "delta"), ("result", "delta"), ("result", "log_delta"), ("bounds", 0, "delta"), ("bounds", 0, "log_delta")])
def test_a_record_says_its_claim_once(path):
    """A guarantee that was a billionth less than the headline was verified."""
    record = answer(f"shuffle-pnsgd {RUN} --n 100 --sigma 1 --epsilon 1")
    assert verify(record).holds
    place = record
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] *= 1 + 5e-13 if path[-1] == "log_delta" else 1 - 5e-13
    assert not verify(record).holds


def test_a_guarantee_for_one_record_stays_one():
    """Convert and tv told it as one for every record."""
    first, third = (answer(f"online-noise {RUN} --sigmas 1,2,3 --index {i} --epsilon 1") for i in (1, 3))
    assert first["guarantee"]["index"] == [1]
    done = call(["tv", "-"], json.dumps(first))
    assert "for record 1 only, as the input says" in done.stdout
    both = call(["convert", "-", "--delta", ".05", "--json"], json.dumps(first))
    assert json.loads(both.stdout)["guarantee"]["index"] == [1]
    assert call(["verify", "-"], both.stdout).returncode == 0
    done = call(["convert", "-", "--delta", ".1", "--json"], both.stdout)
    assert json.loads(done.stdout)["guarantee"]["index"] == [1] and "record 1" in json.loads(done.stdout)["notes"][0]
    assert third["guarantee"]["index"] == [3]
    assert "index" not in answer(f"shuffle-pnsgd {RUN} --n 100 --sigma 1 --epsilon 1")["guarantee"]


# --- what a review of rates, digits and directions found ---------------------------------------------------------------

BURN_IN = "burn-in --lipschitz 1 --smoothness 1 --learning-rate .1 --diameter 1 --n 100 --steps 10 --delta 1e-5 --digits 20"


@pytest.mark.parametrize("more", ["--sigma 1 --batch-size 10", "--sigma 1 --batch-size 100", "--batch-size 10 --epsilon 1 --solve sigma"])
def test_digits_beside_a_composed_profile(more):
    """It was a fault: the grid of the row was taken for a parameter."""
    done = call(f"{BURN_IN} {more}".split())
    assert done.returncode == 0 and "published formula" in done.stdout


@pytest.mark.parametrize(("line", "end"), [
    ("online-noise --lipschitz 1.5912904969648574 --diameter 0.1935092390557678 --smoothness 0.07446647358652585 --strong-convexity "
     "0.0023553941731813115 --n 103 --c1 5.243944610230841 --c2 15.240503035126297 --decay 1.1671435864392532 --index 33 "
     "--delta 8.115692985394403e-06 --epsilon 0.000834402630569214 --solve learning-rate", 26.034253),
])
def test_a_learning_rate_whose_faster_form_misses_the_budget(line, end):
    """η = .0254 was told, as the largest one found."""
    assert answer(line)["result"]["learning_rate"] == pytest.approx(end, rel=1e-6)


@pytest.mark.parametrize(("line", "exact"), [
    ("--sigma 0.05330586060465346 --sampling-rate 0.36152895984406896 --fpr 5.1629571547670674e-191", 1.89911882e-27),
    ("--sigma .05 --sampling-rate .5 --fpr 1e-100", 0.0507142854),
    ("--sigma 0.057588817584873206 --sampling-rate 0.9955272869698087 --fpr 2.637279269421851e-56", 0.9407292973),
])
def test_rates_beyond_a_plateau_below_1(line, exact):
    """δ is q up to a large ε: the rate was q."""
    assert answer(f"tv {line}")["result"]["tpr"] == pytest.approx(exact, rel=1e-6)


def test_the_direction_that_does_not_decide_takes_no_search(monkeypatch):
    """It took seven compositions just below the largest loss, each of a second."""
    from dpcalc.accounting import attack

    asked, once = [], attack._composed
    monkeypatch.setattr(attack, "_composed", lambda route, params, epsilon, side=0: asked.append(side) or once(route, params, epsilon, side))
    attack_at = answer("tv --sigma .5 --sampling-rate .001 --steps 50 --fpr 1e-4 --bound poisson-profile")
    assert attack_at["result"]["tpr"] > 1e-4 and asked.count(-1) <= 4 < asked.count(1)


@pytest.mark.parametrize("vectors", ["--p .2,.3,.5 --q .6,.4,0", "--p .6,.4,0 --q .2,.3,.5"])
def test_a_composition_that_is_its_infinite_losses(vectors):
    """Unchecked, for want of a grid."""
    record = answer(f"tv {vectors} --steps 2")
    assert verify(record).holds
    record = json.loads(json.dumps(record).replace(repr(record["result"]["tv"]), "0.7499999"))
    assert not verify(record).holds


@pytest.mark.parametrize(("command", "key"), [("convert --from gdp --mu 1 --delta 1e-5", "mu"), ("rdp --sigma 2 --alpha 3", "noise_multiplier"),
                                              ("shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .01 --n 9 --sigma 1 --alpha 2 "
                                               "--bound shuffled-iteration-rdp", "rdp")])
def test_a_guarantee_of_any_kind_follows_from_the_record(command, key):
    record = answer(command)
    assert verify(record).holds
    found = record["guarantee"]
    found = found["mechanisms"][0] if "mechanisms" in found else found
    value = found[key][0] if isinstance(found[key], list) else found[key]
    changed = value * (1 + 1e-12 if key == "noise_multiplier" else 1 - 1e-12)
    found[key] = [changed] if isinstance(found[key], list) else changed
    assert not verify(record).holds


@pytest.mark.filterwarnings("ignore:.*publishing one record")
def test_a_learning_rate_that_is_rounded_up():
    """2/.3 as a double is above 2/.3."""
    line = "shuffle-pnsgd --lipschitz 1 --smoothness .3 --diameter 1 --n 100 --sigma 1 --epsilon 1 --learning-rate"
    assert 0 < answer(f"{line} {2 / 0.3!r}")["result"]["delta"] < 1
    assert "2/(β+ρ)" in refusal(f"{line} {2 / 0.3 * (1 + 1e-15)!r}", 2)

"""Profiles that are known at points, or composed from epochs, are proven anew on a grid; and no better number is."""

import json

import pytest
from conftest import few_of_each, slow
from paths import GOLDEN
from verifying import ask, better, refuted, texts

from dpcalc.verify import composition_atoms, loss_distributions
from dpcalc.verify.arb.context import Context
from dpcalc.verify.report import verify

RUN = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .05 --diameter 2"
EPOCHS = [  # and more in test_epoch_proofs.py
    slow(f"{RUN} --sigma 2 --n 40 --epochs 5 --epsilon .5"),
    f"{RUN} --noise laplace --scale 2 --n 1000 --epochs 5 --delta 1e-6",
    f"{RUN} --noise laplace --scale 2 --n 1000 --epochs 3 --epsilon 4",
    slow(f"{RUN} --n 100 --epochs 3 --delta 1e-6 --epsilon 1 --solve sigma"),
    slow(f"{RUN} --sigma 30 --n 100 --delta 1e-6 --epsilon 1 --solve epochs"),
    f"{RUN} --sigma 4 --n 1000000 --epochs 20 --delta 1e-6 --bound shuffled-contraction",
    f"{RUN} --sigma 2 --n 100 --index 90 --epochs 4 --delta 1e-6",
    slow(f"{RUN} --sigma 9 --n 100 --epochs 3 --delta 1e-6 --bound smooth-nonconvex"),
    f"{RUN} --sigma .05 --n 100 --epochs 400 --epsilon 1 --bound shuffled-iteration",
]
PROFILE = '{"kind": "profile", "epsilon": [0, 0.5, 1, 2], "delta": [0.3, 0.1, 0.01, 1e-6]}'
STEEP = '{"kind": "profile", "epsilon": [0.5, 2], "delta": [0.1, 0]}'
CURVE = '{"kind": "rdp", "alpha": [2, 4, 8, 16], "rdp": [0.1, 0.2, 0.4, 0.9]}'
DIVERGENCES = [
    "subsample --scheme without-replacement --mechanism laplace --scale 2 --sampling-rate .01 --steps 100 --alpha 3",
    "subsample --scheme without-replacement --mechanism laplace --scale .1 --sampling-rate .3 --steps 1 --alpha 1.2",
    "subsample --scheme without-replacement --mechanism discrete-laplace --scale 0.45511961331341866 --sampling-rate .1 --steps 1 "
    "--alpha 30",
]
PURE = '[{"kind": "dp", "epsilon": 1, "delta": 0}, {"kind": "dp", "epsilon": 2, "delta": 0}]'
TIGHT = '[{"kind": "dp", "epsilon": 1, "delta": 0.1}, {"kind": "dp", "epsilon": 2, "delta": 0.2}]'
ZCDP, POINT = '{"kind": "zcdp", "rho": 0.25}', '{"kind": "dp", "epsilon": 1, "delta": 1e-7}'
FINITE = '{"kind": "outcomes", "p": [0.7, 0.2, 0.1], "q": [0.2, 0.7, 0.1], "count": 20}'
ONE_SIDED = '{"kind": "outcomes", "p": [0.7, 0.3, 0], "q": [0.2, 0.7, 0.1]}'
SAMPLED = ('{"kind": "mechanisms", "mechanisms": [{"name": "gaussian", "noise_multiplier": 2, "count": 20, "sampling": '
           '{"scheme": "poisson", "rate": 0.1}}]}')
OF_TWO = SAMPLED.replace('{"kind"', '{"group_size": 2, "kind"')
READ = [
    (f"[{SAMPLED}, {PROFILE}, {SAMPLED}]", "convert - --delta 1e-3"),  # equal ones are composed as one
    (OF_TWO.replace("20", "1"), "convert - --delta 1e-1"), slow(OF_TWO, "convert - --delta 1e-3"),
    (PROFILE, "convert - --delta 1e-3"), (PROFILE, "convert - --steps 3 --epsilon 1"), (PROFILE, "tv -"),
    (PROFILE, "tv - --fpr .1"),
    (STEEP, "convert - --steps 4 --epsilon 1"), (STEEP, "convert - --to tv"),
    (CURVE, "convert - --delta 1e-5"), slow(CURVE, "convert - --steps 2 --epsilon 1 --bound profile-composition"),
    (CURVE, "tv - --fpr .1"),
    (PURE, "convert - --delta 0"), (PURE, "convert - --epsilon 3"), (PURE, "convert - --to zcdp"),
    (PURE, "convert - --epsilon 9 --delta 0 --solve steps"),
    (TIGHT, "convert - --delta .28"), (TIGHT, "convert - --epsilon 3"), (TIGHT, "convert - --epsilon 2"),
    (ZCDP, "convert - --delta 1e-6"), (ZCDP, "convert - --to zcdp"), (ZCDP, "tv - --steps 2"),
    (f"[{ZCDP}, {POINT}]", "convert - --delta 1e-6"),
    (FINITE, "convert - --delta .01"), slow(FINITE, "convert - --epsilon 2 --steps 3"),
    (FINITE, "convert - --epsilon 2"), (FINITE, "convert - --delta 0"),
    (FINITE, "tv -"),
    (f"[{FINITE}, {POINT}]", "convert - --delta .01"), (f"[{ONE_SIDED}, {ZCDP}]", "convert - --delta .3"),
    ('{"kind": "tv", "tv": 0.1}', "convert - --epsilon 1"), ('{"kind": "tv", "tv": 1}', "convert - --epsilon 1"),
]
DESCRIBED = [
    slow("rdp --mechanism discrete-laplace --scale 3 --sensitivity 3 --steps 20 --delta 1e-3"),
    "convert --from tv --tv .1 --steps 4 --epsilon .5", "convert --from tv --tv .1 --steps 4 --to tv",
    "convert --from tv --tv .1 --epsilon 0",
    "tv --p .3,.5,.2 --q .25,.45,.3 --steps 3", "tv --p .3,.5,.2 --q .25,.7,.05 --steps 2",
    "tv --p .3,.7,0 --q 0,.7,.3 --steps 5",
    slow("tv --tpr .3 --fpr .1 --solve rho"), "tv --tpr .3 --fpr .1 --solve mu",
    "convert --from outcomes --p .3,.5,.2 --q .25,.45,.3 --steps 7 --epsilon .3",
    "convert --from outcomes --p .3,.5,.2 --q .25,.45,.3 --steps 7 --delta 0",
    "convert --from outcomes --p .3,.7,0 --q 0,.7,.3 --steps 3 --delta .9",
    "convert --from outcomes --p .3,.5,.2 --q .25,.45,.3 --steps 7 --alpha 3",
    "convert --from zcdp --rho .3 --steps 3 --to zcdp", "convert --from gdp --mu .7 --steps 3 --to zcdp",
    "convert --from dp --epsilon .7 --delta 0 --steps 3 --to zcdp",
    "convert --from dp --epsilon .7 --delta 0 --to zcdp --bound bounded-range-zcdp",
    "convert --from gdp --mu .7 --steps 3 --to gdp", "convert --from outcomes --p .3,.7 --q .4,.6 --steps 3 --to gdp",
    "tv --epsilon .5 --delta 1e-5 --tv .1", "tv --epsilon .5 --delta 1e-5 --tv .1 --steps 5",
    "tv --epsilon .5 --delta 1e-5 --tv .1 --fpr .1",
]


def check(record, line):
    verdict = verify(record)
    proven = [f for f in verdict.head if "lower end" not in f.text]
    assert verdict.holds and all(f.verdict == "verified" for f in proven), (line, texts(verdict))
    low = better(record)
    assert low is None or refuted(low), (line, texts(verify(low)))


def kind(line):
    return line.split(" --")[1] if line.startswith("convert") else line.split()[0]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", few_of_each(kind, EPOCHS + DESCRIBED + DIVERGENCES))
def test_epochs_and_described_profiles(line):
    check(ask(line), line)


@pytest.mark.parametrize(("guarantee", "line"), few_of_each(lambda case: case[0], READ))
def test_guarantees_in_json(guarantee, line, tmp_path):
    file = tmp_path / "a.json"
    file.write_text(guarantee)
    check(ask(line.replace(" -", f" {file}", 1)), line)


def test_a_record_of_an_earlier_version():
    """Its sums became coarser after every binary digit of the number of steps, and it does not say so."""
    found = verify(json.loads((GOLDEN / "result_of_0.1.0.json").read_text())).head
    assert [finding.verdict for finding in found] == ["verified", "verified"], [finding.text for finding in found]


def test_a_point_of_a_profile_that_is_made_smaller_is_not_verified(tmp_path):
    file = tmp_path / "a.json"
    file.write_text(PROFILE)
    record = ask(f"convert {file} --steps 3 --epsilon 1")
    record["inputs"][0]["delta"][2] = 0.02
    assert not verify(record).holds
    record = json.loads(json.dumps(record).replace("0.02", "0.01"))
    assert verify(record).holds


@pytest.mark.parametrize("line", [
    slow("subsample --scheme without-replacement --sigma 46.9 --sampling-rate 0.001 --steps 14454 --epsilon 5.5"),
    "subsample --sigma 46.9 --sampling-rate 0.001 --steps 14454 --epsilon 5.5 --bound poisson-profile",
])
def test_profiles_far_below_every_double(line):
    """By Chernoff's bound, which is left open: no grid is told of."""
    record = ask(line)
    assert record["bounds"][0]["witness"]["chernoff"] == 1 and record["bounds"][0]["log_delta"] < -1500
    assert [f.verdict for f in verify(record).head] == ["unchecked"] * len(verify(record).head)


@pytest.mark.parametrize("steps", [30, slow(1000)])
def test_a_direction_that_moments_nearly_decide_is_verified(steps):
    """Moments show that the loss is smaller in the other direction, but at another tilt than that of the answer."""
    assert verify(ask(f"subsample --sigma 1.7333333333333334 --sampling-rate .01 --steps {steps} --delta 1e-5 "
                      "--bound poisson-profile")).holds


def test_the_cells_of_nested_grids_leave_out_no_losses():
    """The finest grid begins where the next one does, and a third one goes on below."""
    record = ask("subsample --sigma 1.2 --sampling-rate .001 --steps 1e6 --delta 1e-5 --bound poisson-profile")
    assert record["result"]["epsilon_lower"] > record["result"]["epsilon"] * (1 - 1e-3)
    assert [f.verdict for f in verify(record).head] == ["verified"] * 2


def test_bends_far_out_are_no_balls_around_zero():
    c = Context(128)
    deltas = {0.0: 0.5, 1.0: 0.1, 800.0: 0.05, 900.0: 0.01}
    base = composition_atoms.profile_pair(list(deltas), lambda mp, e: mp.mpf(deltas[e]))
    p, q = loss_distributions.masses_above(loss_distributions.Use(base), c, c.mpf(799))
    assert p.x.rel_accuracy_bits() > 90 and q.x.rel_accuracy_bits() > 90 and float(p) == pytest.approx(0.09) and 0 < q < 1e-300

"""Lower ends of brackets: proven by a certificate of their own, which never is above δ."""

import random
from math import inf

import pytest
from test_verify import ask, texts

from dpcalc.verify import below, composition, laws, lumps, plans
from dpcalc.verify.cells import Grid
from dpcalc.verify.context import Context
from dpcalc.verify.report import OPEN, REFUTED, VERIFIED, verify

LINES = [
    "subsample --sampling-rate .05 --sigma 2 --steps 5 --delta 1e-5 --bound poisson-profile",
    "subsample --sampling-rate .05 --sigma 2 --steps 50 --epsilon 0.3 --bound poisson-profile",
    "subsample --sampling-rate .01 --sigma 2 --steps 100 --delta 1e-6 --bound poisson-profile",
    "subsample --sampling-rate .02 --mechanism laplace --scale 2 --steps 20 --delta 1e-6 --bound poisson-profile",
    "subsample --sampling-rate .02 --mechanism randomized-response --probability .8 --steps 90 --delta 1e-6 --bound poisson-profile",
    "rdp --mechanism laplace --scale 2 --steps 20 --delta 1e-6 --bound laplace-profile",
    "tv --mechanism laplace --scale 20 --steps 9 --bound laplace-profile",
    "tv --p .3,.5,.2 --q .25,.45,.3 --steps 5",
]


def ends(record):
    return [f for f in verify(record).head if "lower end" in f.text]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", LINES)
def test_lower_ends_are_verified_and_no_larger_ones(line):
    record = ask(line)
    row = record["bounds"][0]
    name = next(k for k in row if k.endswith("_lower"))
    found = ends(record)
    assert len(found) == 1 and found[0].verdict == VERIFIED and ">=" in found[0].text, texts(verify(record))
    row[name] = record["result"][name] = row[name.removesuffix("_lower")] * (1 - 1e-9)
    assert ends(record)[0].verdict == OPEN or found[0].claim.claimed > row[name] * (1 - 1e-6)  # a bracket of no width


def test_a_lower_end_above_the_upper_one_refutes_the_record():
    record = ask(LINES[0])
    record["result"]["epsilon_lower"] = record["bounds"][0]["epsilon_lower"] = record["result"]["epsilon"] * 1.01
    assert not verify(record).holds and any(f.verdict == REFUTED for f in ends(record))


BASES = {
    "gaussian": laws.gaussian(lambda mp: mp.mpf(1)),
    "laplace": laws.laplace(lambda mp: mp.mpf(1), 1.0),
    "binary": lumps.binary(lambda mp: mp.mpf(1) / 2, 0.01, 0.5),
}


@pytest.mark.parametrize("name", BASES)
@pytest.mark.parametrize("scheme, rate, added", [(None, 1.0, False), ("poisson", 0.2, False), ("poisson", 0.2, True), ("without-replacement", 0.2, False)])
@pytest.mark.parametrize("steps", [1, 7, 90])
def test_below_is_never_above(name, scheme, rate, added, steps):
    """Whatever the grid; and near it on a fine one."""
    c, rng = Context(128), random.Random(f"{name}{scheme}{steps}{added}")
    parts = ((laws.Use(BASES[name], scheme, rate, added), steps),)
    for step in (0.3, 0.02):
        reach = int((1.2 if name != "gaussian" else 4) / step) + 2
        grid = Grid(rng.uniform(-step, step), -reach, 2 * reach, inf)
        plan = plans.Plan(rng.uniform(0.2, 4), (grid,), (step,), ((),))
        for epsilon in (0.0, 0.3 + rng.random()):
            upper = composition.delta(c, parts, plan, epsilon)
            lower = below._delta(c, parts, plan, epsilon, 1e-9) + below._infinite(c, parts)
            assert lower.x.lower() <= upper.x.upper() and lower.x.is_finite(), (float(lower), float(upper))
            if step == 0.02 and steps == 7 and name != "binary":  # whose atoms are off so rough a grid
                assert lower > upper * 0.9 - 1e-6, (float(lower), float(upper))


@pytest.mark.parametrize("line", [
    "subsample --scheme poisson --sampling-rate 0.0037 --mechanism randomized-response --probability 0.93 --steps 2 --bound poisson-profile --epsilon 0.11",
    "subsample --scheme without-replacement --sampling-rate 0.2 --mechanism randomized-response --probability 0.63 --steps 8 --bound wor-profile --epsilon 3.2",
])
def test_above_every_sum_of_losses_nothing_is_left(line):
    record = ask(line)
    assert "grids" not in record["bounds"][0]["witness"] and verify(record).holds
    record["options"]["epsilon"] = record["parameters"]["epsilon"] = 0.05
    assert not verify(record).holds

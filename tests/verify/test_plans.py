"""The plans by which a record hides among the others are in their witness: verified as they are told, and refused where
they are none."""

import random

import pytest
from conftest import slow
from verifying import ask, better, refuted, texts

from dpcalc.verify.report import REFUTED, verify

RUN = "shuffle-pnsgd --lipschitz 1 --learning-rate 0.01 --smoothness 0.5"
LAPLACE = "shuffle-pnsgd --noise laplace --scale 2 --lipschitz 1 --diameter 8 --learning-rate 1 --smoothness .5 --bound shuffled-hiding-laplace"
LINES = {
    "convex": f"{RUN} --sigma 2 --n 1000 --epsilon 1 --bound shuffled-hiding",
    "set": f"{RUN} --sigma 2 --n 1000 --diameter .01 --epsilon 0 --bound shuffled-hiding",
    "smooth": f"{RUN} --sigma 2 --n 1000 --delta 1e-5 --bound smooth-nonconvex-shuffled-hiding",
    "output": f"{RUN} --sigma .02 --n 1000 --strong-convexity .1 --epsilon 1 --bound "
              f"output-perturbation-shuffled-hiding",
    "laplace": f"{LAPLACE} --n 10000 --delta 1e-6",
    "epochs": f"{RUN} --sigma 2 --n 100 --epochs 3 --delta 1e-5 --bound smooth-nonconvex-shuffled-hiding",
    "epochs of a set": f"{RUN} --sigma 2 --n 100 --diameter .05 --epochs 3 --delta 1e-5 --bound shuffled-hiding",
    "epochs of Laplace noise": f"{LAPLACE} --n 10000 --epochs 4 --epsilon .2",
}


def witness(record):
    return record["bounds"][0]["witness"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [slow(name) if name.startswith(("epochs", "convex")) else name for name in LINES])
def test_is_verified_and_a_better_number_is_not(name):
    record = ask(LINES[name])
    verdict = verify(record)
    assert all(f.verdict == "verified" and "at its witness" not in f.text for f in verdict.head), texts(verdict)
    assert name.startswith("epochs") or refuted(better(record))  # that of a composition takes a minute


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [slow("convex"), slow("smooth"), "output", "laplace"])
def test_other_plans_prove_no_better_number(name):
    rng, record = random.Random(name), ask(LINES[name])
    low, way = better(record), witness(record)["way"]
    for _ in range(4):
        if "laplace" in name:
            other = [*sorted(rng.sample(range(3000), 2)), rng.uniform(-1, 5)]
        else:
            other = [rng.randint(4, 32), way[1] * rng.uniform(0.5, 1.5)]
        for r in (record, low):
            witness(r)["way"] = other
        assert all(f.verdict in ("verified", REFUTED) for f in verify(record).head), (other, texts(verify(record)))
        assert not verify(low).holds

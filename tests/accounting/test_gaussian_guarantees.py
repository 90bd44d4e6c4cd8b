"""Guarantees of Gaussian noise as others read them: whole in pipes, sampled as mechanisms, with a μ of any size."""

import json
from math import sqrt

import mpmath
import pytest
from answers import answer
from calling import call

from dpcalc.accounting.guarantee import Gdp
from dpcalc.accounting.guarantee_sums import gaussian_mu
from dpcalc.verify.report import verify

RUN = "--lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5"


def test_a_gaussian_guarantee_goes_through_pipes_whole(tmp_path):
    one = call(f"shuffle-pnsgd {RUN} --sigma 4 --n 1000 --index 999 --delta 1e-5 --bound fixed-order-iteration "
               f"--json".split()).stdout
    (path := tmp_path / "one.json").write_text(one, encoding="utf-8")
    record = answer(f"convert {path} {path} --delta 1e-5")
    twice = answer(f"shuffle-pnsgd {RUN} --sigma 4 --n 1000 --index 999 --epochs 2 --delta 1e-5 "
                   "--bound fixed-order-iteration")
    assert record["result"]["epsilon"] == pytest.approx(twice["result"]["epsilon"], rel=1e-9)
    assert "index" in json.dumps(record["guarantee"])
    stream = call(f"online-noise {RUN} --sigmas 2,3,4 --index 1 --epsilon 1 --bound online-iteration "
                  f"--json".split()).stdout
    mu = 2 / sqrt(4 + 9 + 16)
    assert {**json.loads(stream)["guarantee"], "promises": []} == {
        "kind": "gdp", "mu": pytest.approx(mu, rel=1e-12), "index": [1], "adjacency": "replace-one", "promises": []}
    tv = json.loads(call(["tv", "-", "--json"], stream).stdout)["result"]["tv"]
    assert tv == pytest.approx(float(mpmath.erf(mu / sqrt(8))), rel=1e-9)


def test_what_is_as_sharp_as_a_gaussian_guarantee_hands_that_on():
    for line, mu in ((f"shuffle-pnsgd {RUN} --sigma 4 --n 1000 --index 999 --delta 1e-5", 0.5 / sqrt(2)),
                     (f"online-noise {RUN} --sigmas 2,3,4 --index 1 --epsilon 1", 2 / sqrt(29))):
        assert {**answer(line)["guarantee"], "promises": []} == {
            "kind": "gdp", "mu": pytest.approx(mu, rel=1e-12), "adjacency": "replace-one", "promises": [],
            "index": [int(line.split("--index ")[1].split()[0])]}
    assert answer(f"shuffle-pnsgd {RUN} --sigma 4 --n 1000 --index 7 --delta 1e-5")["guarantee"]["kind"] == "dp"


def test_a_gaussian_guarantee_is_sampled_as_a_mechanism():
    one = '{"kind": "gdp", "mu": 0.5, "adjacency": "replace-one"}'
    options = "--scheme without-replacement --sampling-rate .01 --steps 10 --delta 1e-7 --json"
    sampled = json.loads(call(["subsample", "-", *options.split()], one).stdout)["result"]["epsilon"]
    assert sampled == pytest.approx(answer(f"subsample --sigma 2 {options}")["result"]["epsilon"], rel=1e-12)
    done = call(["subsample", "-", *options.replace("without-replacement", "poisson").split()], one)
    assert done.returncode == 2 and "replace-one" in done.stderr


def test_a_mu_whose_square_is_below_the_doubles_keeps_its_total_variation():
    line = ("shuffle-pnsgd --lipschitz 1 --learning-rate .1 --smoothness 1 --strong-convexity .5 --n 10000 --index 1 "
            "--sigma 1 --epsilon 0")
    one = call([*line.split(), "--bound", "output-perturbation-exact", "--json"]).stdout
    mu = json.loads(one)["guarantee"]["mu"]
    found = json.loads(call(["tv", "-", "--json"], one).stdout)
    with mpmath.workdps(30):
        assert found["result"]["tv"] == pytest.approx(float(mpmath.erf(mpmath.mpf(mu) / mpmath.sqrt(8))), rel=1e-12)
        assert mu < 4e-224
    assert 2e-161 <= gaussian_mu((Gdp(kind="gdp", mu=1e-161),) * 4) <= 2e-161 * (1 + 1e-14)


def test_the_mu_that_is_handed_on_is_proven():
    """By the bound's formula: another rounding of it is accepted, a smaller one or another number is not."""
    record = answer(f"shuffle-pnsgd {RUN} --sigma 4 --n 1000 --index 990 --epochs 3 --delta 1e-5")
    mu, verdict = record["guarantee"]["mu"], verify(record)
    assert verdict.holds and [f.text for f in verdict.others if f.claim and f.claim.quantity == "mu"] != []
    for by, holds in ((1e-12, True), (-1e-12, False), (1e-6, False), (-1e-6, False)):
        record["guarantee"]["mu"] = mu * (1 + by)
        assert verify(record).holds == holds


def test_the_noise_of_a_guarantee_is_not_solved_for():
    done = call(["subsample", "-", *["--sampling-rate", ".1", "--steps", "10", "--delta", "1e-5", "--epsilon", "1",
                                     "--solve", "sigma"]], '{"kind": "gdp", "mu": 1}')
    assert done.returncode == 2 and "--solve" in done.stderr and "the input fixes the noise" in done.stderr

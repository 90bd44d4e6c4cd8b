"""Command lines of shuffle-pnsgd and online-noise: solving, limits, the worst record, the conjecture, errors,
schedules."""

import json
from math import log, sqrt

import pytest
from conftest import slow
from last_iterate_lines import answer, asked

from dpcalc.bounds import all_bounds
from dpcalc.bounds.online._engine.levels import schedule

BOUNDS = all_bounds()
RUN = "--lipschitz 1 --diameter 2 --smoothness .5"
BUDGET = "--epsilon 1 --delta 1e-4"


@pytest.mark.parametrize("name, rest", [
    ("sigma", "--learning-rate .01 --n 1000"), ("n", "--sigma 4 --learning-rate .01"),
    ("learning-rate", "--sigma 6 --n 1000 --bound shuffled-contraction"),
    ("scale", "--noise laplace --learning-rate .1 --n 1000"),
    ("c1", "--noise laplace --c2 2 --learning-rate .1 --n 1e6"),
    ("sigma", "--learning-rate .01 --n 1000 --index 500"),
    slow("learning-rate", "--sigma 6 --n 1000 --bound smooth-nonconvex"),
])
def test_a_solved_parameter_meets_the_budget_and_is_tight(name, rest):
    base = f"shuffle-pnsgd {RUN} {rest}"
    solved, _ = answer(f"{base} {BUDGET} --solve {name}")
    x, bound = solved["result"][name.replace("-", "_")], solved["bound"]
    got = answer(f"{base} --{name} {x!r} --delta 1e-4 --bound {bound}")[0]["result"]["epsilon"]
    assert got <= 1
    if name != "n":
        assert got >= 1 - 1e-6


def test_online_solves():
    base = "online-noise --lipschitz 10 --diameter 1 --smoothness .5 --decay 1.5 --c2 100 --index 100 --bound online-contraction"
    for name, rest, delta in (("c1", "--learning-rate .01 --n 1e4", 1e-15),
                              ("n", "--learning-rate .01 --c1 100", 1e-15),
                              ("learning-rate", "--c1 100 --n 1e4", 1e-30)):
        x = answer(f"{base} {rest} --epsilon 1 --delta {delta} --solve {name}")[0]["result"][name.replace("-", "_")]
        assert answer(f"{base} {rest} --{name} {x!r} --delta {delta}")[0]["result"]["epsilon"] <= 1


def test_limit_and_its_factor_and_the_warning():
    got, err = answer("shuffle-pnsgd --noise laplace --c1 1e5 --c2 2 --lipschitz 10 --diameter 1 --learning-rate .1 "
                      "--smoothness .5 --n 1e4 --epsilon 1")
    statuses = {b["name"]: b["status"] for b in got["bounds"]}
    assert statuses["shuffled-limit"] == "limit" and got["status"] == "proven"
    plain = next(b["delta"] for b in got["bounds"] if b["name"] == "shuffled-contraction")
    assert plain / got["result"]["delta_limit"] == pytest.approx(got["result"]["limit_factor"], rel=1e-9)
    assert "1/n" not in err  # 8e-5 < 1e-4
    _, err = answer(f"shuffle-pnsgd {RUN} --sigma .5 --learning-rate .01 --n 1000 --epsilon 1")
    assert "1/n" in err


def test_a_named_limit_warns():
    got, err = answer("shuffle-pnsgd --noise laplace --c1 1e5 --c2 2 --lipschitz 10 --diameter 1 --learning-rate .1 "
                      "--smoothness .5 --n 1e4 "
                      "--epsilon 1 --bound shuffled-limit")
    assert got["status"] == "limit" and "not a guarantee" in err


def test_worst_index():
    fixed = answer(f"shuffle-pnsgd {RUN} --sigma 2 --learning-rate .1 --n 100 --index 3 --epsilon 1")[0]["result"]
    last = answer(f"shuffle-pnsgd {RUN} --sigma 2 --learning-rate .1 --n 100 --index 100 --epsilon 1 --bound "
                  f"fixed-order")[0]["result"]
    assert fixed["worst_index"] == 100 and fixed["worst_delta"] == pytest.approx(last["delta"],
                                                                                 rel=1e-12) and fixed["delta"] < last["delta"]
    stream = "online-noise --sigmas 3,1,2,4 --lipschitz 1 --diameter .5 --learning-rate .1 --smoothness .5 --epsilon 1"
    each = [answer(f"{stream} --index {i} --bound online-iteration --bound online-contraction")[0]["result"]["delta"]
            for i in (1, 2, 3, 4)]
    got = answer(f"{stream} --index 1")[0]["result"]
    assert each[got["worst_index"] - 1] == max(each) == pytest.approx(got["worst_delta"], rel=1e-9)


def test_the_conjecture_is_never_alone_and_can_be_refuted():
    line = "shuffle-pnsgd --sigma 2 --lipschitz 1 --n 1000 --tau 1/1000 --epochs 1 --bound without-replacement-conjecture --alpha 16"
    got, err = answer(line.replace("--tau 1/1000 --epochs 1", "--tau .6 --epochs 1"))
    rows = {b["name"]: b for b in got["bounds"]}
    assert "not a guarantee" in err and got["status"] == "conjecture"
    assert {n: b["status"] for n, b in rows.items()} == {
        "without-replacement-conjecture": "conjecture", "without-replacement-conjecture-sum": "conjecture",
        "without-replacement-unamplified": "proven", "without-replacement-lower": "lower"}
    assert rows["without-replacement-lower"]["rdp"] == pytest.approx(0.632, rel=1e-3)  # one pass, its first step
    # a record may be used in both passes begun
    assert rows["without-replacement-unamplified"]["rdp"] == pytest.approx(2 * 2 * 16 / 4, rel=1e-9)
    assert any("refuted here" in note for note in got["notes"])
    code, _, err = asked(line.replace("--sigma 2", "--sigma 1.9").split())
    assert code == 2 and "4L²" in err
    assert "without-replacement-conjecture" not in {b["name"]
                                                    for b in answer(f"shuffle-pnsgd {RUN} --sigma 2 --learning-rate .1 "
                                                                    f"--n 9 --epsilon 1")[0]["bounds"]}


def test_conjecture_of_one_step():
    one = BOUNDS["without-replacement-conjecture-sum"].value(16.0, 2.0, 1.0, 1000, 1 / 1000, 1 / 1000, 16.0)
    assert one == pytest.approx(6.4e-5, rel=1e-9)
    assert BOUNDS["without-replacement-lower"].value(16.0, 2.0, 1.0, 1000, 1 / 1000,
                                                     1 / 1000) == pytest.approx(0.632, rel=1e-3)


def test_figure_12_of_berthier():
    """ε at δ = 1e-4 under conjecture 1: τ costs 1/(1−τ) in RDP, ε grows with the epochs, and the proven bound is far
    above."""
    line = "shuffle-pnsgd --sigma 4 --lipschitz 1 --n 1000 --tau {} --epochs {} --delta 1e-4 --bound without-replacement-conjecture"
    found = {(tau, e): answer(line.format(tau, e))[0] for tau in (0.001, 0.5, 0.9) for e in (1, 50)}
    eps = {k: v["result"]["epsilon"] for k, v in found.items()}
    assert eps[0.001, 1] < eps[0.5, 1] < eps[0.9, 1] and all(eps[t, 1] < eps[t, 50] for t in (0.001, 0.5, 0.9))
    for (tau, e), x in eps.items():  # ε(α) = ρα: the best conversion lies near ρ + 2√(ρ log 1/δ), and below it
        rho = 16 * e / (1000 * (1 - tau) * 16)
        assert 0.6 * (rho + 2 * sqrt(rho * log(1e4))) < x < rho + 2 * sqrt(rho * log(1e4))
        assert {b["name"]: b.get("epsilon") for b in found[tau, e]["bounds"]}["without-replacement-unamplified"] > 3 * x


@pytest.mark.parametrize("line, says", [
    (f"shuffle-pnsgd {RUN} --sigma 1 --learning-rate 5 --n 10 --epsilon 1",
     ("--learning-rate", "2/(β+ρ) = 4", "Theorem 1")),
    (f"shuffle-pnsgd {RUN} --sigma 1 --learning-rate .1 --strong-convexity 1 --n 10 --epsilon 1",
     ("--strong-convexity", "ρ ≤ β")),
    (f"shuffle-pnsgd {RUN} --noise laplace --scale 1 --learning-rate .1 --dimension 2 --n 10 --epsilon 1",
     ("--dimension", "Laplace", "Theorem 1")),
    (f"shuffle-pnsgd {RUN} --noise laplace --sigma 1 --learning-rate .1 --n 10 --epsilon 1", ("--sigma", "laplace")),
    (f"shuffle-pnsgd {RUN} --sigma 1 --learning-rate .1 --n 10 --index 11 --epsilon 1", ("--index", "11 is above n = 10")),
    (f"shuffle-pnsgd {RUN} --sigma 1 --c1 9 --learning-rate .1 --n 10 --epsilon 1", ("--sigma", "not both")),
    (f"shuffle-pnsgd {RUN} --sigma 1 --learning-rate .1 --n 10 --alpha 8 --bound smooth-nonconvex-high-noise",
     ("--sigma", "L√(2α(α−1))")),
    (f"shuffle-pnsgd {RUN} --sigma 1 --learning-rate .1 --n 10 --tau .5 --epsilon 1",
     ("--tau", "without-replacement-conjecture")),
    (f"shuffle-pnsgd {RUN} --sigma 1 --learning-rate .1 --n 10 --epsilon 1 --bound randomly-stopped --bound "
     f"shuffled-iteration",
     ("--bound", "different releases")),
    ("shuffle-pnsgd --sigma 1 --lipschitz 1 --n 10 --epsilon 1", ("missing", "--learning-rate", "--smoothness")),
    (f"shuffle-pnsgd {RUN} --sigma 1 --learning-rate .1 --n 10 --epsilon 1 --bound output-perturbation",
     ("--strong-convexity", "needs c < 1")),
    (f"online-noise {RUN} --learning-rate .1 --sigmas 1,2 --n 3 --index 1 --epsilon 1", ("--n", "2 steps")),
    (f"online-noise {RUN} --learning-rate .1 --sigmas @/no/such --index 1 --epsilon 1", ("--sigmas", "No such file")),
    (f"online-noise {RUN} --learning-rate .1 --decay 1 --c1 1 --c2 3 --index 1 --n 5 --epsilon 1", ("--decay", "> 1")),
    ("online-noise --diameter 1 --smoothness .5 --learning-rate .1 --decay 2 --c1 1 --c2 3 --schedule 5:1",
     ("--schedule", "FIRST:LAST")),
])
def test_errors_name_the_option(line, says):
    code, out, err = asked(line.split())
    assert (code, out) == (2, "") and all(word in err for word in says), err


def test_schedule_as_a_table(tmp_path):
    code, out, _ = asked(["online-noise", "--diameter", "1", "--smoothness", ".5", "--learning-rate", ".01", "--decay",
                          "1.5", "--c1", "100", "--c2", "100", "--schedule", "1:1e6:5"])
    got = json.loads(out)["guarantee"]
    assert code == 0 and got["step"] == [1, 250000, 500000, 750000, 1000000]
    s = schedule("gaussian", 1.0, 0.01, 0.5, 0.0, 100.0, 100.0, 1.5)
    assert got["sigma"] == [s.at(j) for j in got["step"]]
    path = tmp_path / "levels"
    path.write_text("\n".join(repr(s.at(j)) for j in range(1, 51)))
    run = "--lipschitz 10 --diameter 1 --smoothness .5 --learning-rate .01 --index 7 --epsilon 1"
    listed = answer(f"online-noise {run} --sigmas @{path}")[0]["result"]
    formula = answer(f"online-noise {run} --decay 1.5 --c1 100 --c2 100 --n 50")[0]["result"]
    assert listed["log_delta"] == pytest.approx(formula["log_delta"],
                                                rel=1e-9) and listed["worst_index"] == formula["worst_index"] == 50


def test_endless_stream_is_a_limit():
    got, err = answer("online-noise --noise laplace --lipschitz 10 --diameter 1 --learning-rate .01 --smoothness .5 "
                      "--decay 1.5 --c1 100 --c2 100 "
                      "--index 100 --n inf --epsilon 1")
    assert got["status"] == "limit" and "not a guarantee" in err
    assert (got["result"]["worst_index"], got["result"]["worst_delta"]) == ("inf", 1.0)

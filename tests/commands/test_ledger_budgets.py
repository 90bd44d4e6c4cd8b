"""Budgets of a ledger on ρ and μ beside ε or alone, "?" that meets all of them, shares, and what is noted beside releases;
and rdp --solve for a budget on ρ or μ."""

import csv
import io
import json
from math import sqrt

import pytest
from calling import call
from conftest import slow

from dpcalc import DpcalcError, answer, solve
from dpcalc.core.errors import NoSolution
from dpcalc.verify.report import verify

DELTA = 1e-5
GAUSSIAN = {"command": "rdp", "sigma": 2}  # ρ = 1/8, μ = 1/2
LAPLACE = {"command": "rdp", "mechanism": "laplace", "scale": 4}  # ρ = 1/32
TRAINING = {"command": "subsample", "sampling-rate": 0.01, "noise-multiplier": 10, "steps": 50}  # ρ = 1/4


def ledger(*releases, **header):
    return answer("ledger", file={"release": list(releases), **header})


# --- ρ and μ ---------------------------------------------------------------------------------------------------------


def test_a_ledger_of_rho_alone_needs_no_delta():
    found = ledger(GAUSSIAN, LAPLACE, rho=0.5)
    assert found.value == 0.15625 == answer("convert", inputs=[answer("rdp", sigma=2), answer(
        "rdp", mechanism="laplace", scale=4)], to="zcdp").value
    assert found.result["rho_budget"] == 0.5 and found.result["rho_left"] == 0.34375
    releases = found.record()["releases"]
    assert [(one["rho"], one["total_rho"]) for one in releases] == [(0.125, 0.125), (0.03125, 0.15625)]
    assert [one["left"] for one in releases] == [0.375, 0.34375] and "epsilon" not in releases[0]
    assert verify(found.record()).holds


def test_a_ledger_of_mu_alone():
    found = ledger(GAUSSIAN, {**GAUSSIAN, "steps": 3}, mu=1)
    assert found.value == 1 and found.result["mu_left"] == 0
    assert [one["total_mu"] for one in found.record()["releases"]] == [0.5, 1]


def test_all_budgets_are_checked():
    within = {"delta": DELTA, "epsilon": 3, "rho": 0.2, "mu": 0.7}
    found = ledger(GAUSSIAN, LAPLACE, **within)
    assert found.value == ledger(GAUSSIAN, LAPLACE, delta=DELTA).value
    assert {"left", "rho_left", "mu_left"} <= found.result.keys() and verify(found.record()).holds
    page = call(["ledger", "-"], stdin=json.dumps({**within, "release": [GAUSSIAN, LAPLACE]}))
    assert page.returncode == 0 and "ρ left of the budget 0.2: 0.04375 (ρ is 0.15625)." in page.stdout


@pytest.mark.parametrize("name, budget", [("rho", 0.15), slow("epsilon", 2), slow("mu", 0.55)])
def test_every_budget_may_be_exceeded(name, budget):
    header = {"delta": DELTA, "epsilon": 3, "rho": 0.2, "mu": 0.7, name: budget}
    done = call(["ledger", "-", "--json"], stdin=json.dumps({**header, "release": [GAUSSIAN, LAPLACE]}))
    record, own = json.loads(done.stdout), "" if name == "epsilon" else f"{name}_"
    assert done.returncode == 3 and record["result"][f"{own}over"] > 0 and record["result"][f"{own}left"] == 0
    assert sum("over" in key for key in record["result"]) == 1 and done.stderr.count("over the budget") == 1
    assert verify(record).holds


def test_budgets_on_the_command_line_stand_before_those_of_the_file():
    file = {"release": [GAUSSIAN], "rho": 0.01}
    assert answer("ledger", file=file, rho=1).result["rho_left"] == 0.875
    assert answer("ledger", file=[json.dumps(file)], mu=1, rho=1).result["mu_left"] == 0.5


def test_three_thirds_of_a_budget_fit():
    releases = [{"kind": "zcdp", "rho": 0.1}] * 3
    done = call(["ledger", "-"], stdin=json.dumps({"rho": 0.3, "release": releases}))
    assert done.returncode == 0 and done.stdout.startswith("ρ = 0.3 ")


@pytest.mark.parametrize("adjacency, rho", [("add-remove", 0.25), ("replace-one", 1)])
def test_poisson_sampling_does_not_lower_rho(adjacency, rho):
    found = ledger({**TRAINING, "adjacency": adjacency}, rho=2, mu=2)
    assert found.value == rho and found.result["mu"] == pytest.approx(sqrt(2 * rho), rel=1e-15)
    assert any(note.startswith("Poisson sampling does not lower ρ") for note in found.notes)
    alone = answer("rdp", noise_multiplier=10, steps=50, adjacency=adjacency)
    assert answer("convert", inputs=[alone], to="zcdp").value == pytest.approx(rho, rel=1e-15)


@pytest.mark.parametrize("alpha", [1.5, 4, 30, 200, 5000])
def test_the_divergence_of_a_sampled_step_is_below_rho_and_near_to_it_for_large_orders(alpha):
    """The integral of p^α q^(1−α) for q = N(0, σ²) and p = (1−r)q + rN(1, σ²), on a grid."""
    import numpy as np

    sigma, rate = 2.0, 0.1
    x = np.linspace(-20, 20 + alpha, 400_001)
    log_q = -x * x / (2 * sigma**2)
    log_p = np.logaddexp(np.log(1 - rate) + log_q, np.log(rate) - (x - 1) ** 2 / (2 * sigma**2))
    terms = alpha * log_p + (1 - alpha) * log_q
    divergence = (terms.max() + np.log(np.exp(terms - terms.max()).sum() * (x[1] - x[0]) / sigma / sqrt(2 * np.pi))
                  ) / (alpha - 1)
    assert divergence <= alpha / (2 * sigma**2) * (1 + 1e-9)
    if alpha > 1000:
        assert divergence >= 0.99 * alpha / (2 * sigma**2)


@pytest.mark.parametrize("release, said", [
    ({"kind": "dp", "epsilon": 1, "delta": 1e-7}, "release 2 (point) has no ρ, which the budget rho needs"),
    ({**TRAINING, "scheme": "without-replacement"}, "release 2 (point) has no ρ"),
    ({"command": "shuffle-pnsgd", "n": 100, "lipschitz": 1, "sigma": 3}, "give delta = 1e-5 at the top of the ledger"),
])
def test_releases_without_rho(release, said):
    with pytest.raises(DpcalcError) as raised:
        ledger({**GAUSSIAN, "adjacency": "replace-one"}, {"name": "point", **release}, rho=1)
    assert said in raised.value.message


@pytest.mark.parametrize("header, said", [
    ({}, "a ledger of ρ or μ alone has a budget rho or mu"), ({"epsilon": 1, "rho": 1}, "needed: the δ of the total"),
    ({"rho": -1}, "-1 is not > 0"), ({"mu": "a"}, "'a' is not a"), ({"rhoo": 1}, "did you mean rho?"),
])
def test_mistakes_in_budgets(header, said):
    with pytest.raises(DpcalcError) as raised:
        ledger(GAUSSIAN, **header)
    assert said in raised.value.message


# --- "?" -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("header, name", [
    ({"rho": 0.5}, "rho"), ({"mu": 0.8}, "mu"), ({"rho": 0.5, "mu": 0.8}, "mu"), ({"rho": 0.2, "mu": 0.8}, "rho"),
    ({"delta": DELTA, "epsilon": 2.5, "rho": 0.5}, "epsilon"), ({"delta": DELTA, "epsilon": 3, "rho": 0.2}, "rho")])
@pytest.mark.filterwarnings("ignore:over the budget")
def test_a_solution_meets_all_budgets_and_just_the_tightest(header, name):
    unknown = {"command": "rdp", "sigma": "?"}
    found = ledger(GAUSSIAN, unknown, **header)
    given = ledger(GAUSSIAN, {**unknown, "sigma": found.value}, **header)
    assert not any("over" in key for key in given.result)
    assert given.result[name] == pytest.approx(header[name], rel=1e-6)
    worse = ledger(GAUSSIAN, {**unknown, "sigma": found.value * 0.99}, **header)
    assert any("over" in key for key in worse.result) and verify(found.record()).holds


def test_a_rho_that_is_asked_for_beside_a_budget_of_rho():
    found = ledger({"kind": "zcdp", "rho": "?"}, GAUSSIAN, rho=1)
    assert found.value == 0.875 and found.result["rho"] == 1 and verify(found.record()).holds
    assert str(found).startswith("ρ of the release = 0.875")


def test_no_solution_and_nothing_to_solve_for():
    with pytest.raises(NoSolution, match=r"the other releases alone have ρ = 0\.125"):
        ledger(GAUSSIAN, {"command": "rdp", "sigma": "?"}, rho=0.1)
    found = ledger({"kind": "dp", "epsilon": "?", "delta": 0}, rho=1e300, delta=DELTA, epsilon=1)  # ε decides
    assert 0.9 < found.result["epsilon"] <= 1


# --- shares, dates and notes -----------------------------------------------------------------------------------------


def test_shares_add_up_to_what_is_spent():
    for header in ({"delta": DELTA, "epsilon": 3}, {"rho": 0.4}):
        found = ledger(GAUSSIAN, LAPLACE, LAPLACE, **header).record()
        budget, name = (3, "epsilon") if "delta" in header else (0.4, "rho")
        assert sum(one["share"] for one in found["releases"]) == pytest.approx(found["result"][name] / budget)
    assert "share" not in ledger(GAUSSIAN, delta=DELTA).record()["releases"][0]
    page = ledger(GAUSSIAN, LAPLACE, delta=DELTA, epsilon=3).text("table")
    assert "share" in page and "66.5 %" in page


TOML = """delta = 1e-5
[[release]]
name = "first"
date = 2026-03-01
note = "for the annual report"
_ticket = 17
_people = ["a", "b"]
command = "rdp"
sigma = 2
[[release]]
date = "2026-04-01T10:00:00"
note = "@anna asked \\"?\\""
_file = {file = "secret.json"}
kind = "gdp"
mu = 0.5
"""


def test_remarks_are_kept_and_change_nothing(tmp_path):
    (tmp_path / "l.toml").write_text(TOML)
    found = answer("ledger", file=tmp_path / "l.toml")
    assert found.value == ledger(GAUSSIAN, {"kind": "gdp", "mu": 0.5}, delta=DELTA).value
    first, second = found.record()["releases"]
    assert first["date"] == "2026-03-01" and first["_people"] == ["a", "b"] and first["_ticket"] == 17
    assert second["date"].startswith("2026-04-01") and second["note"] == '@anna asked "?"'
    assert second["_file"] == {"file": "secret.json"} and verify(json.loads(found.json())).holds
    page = found.text("table")
    assert "for the annual report" in page and "2026-03-01" in page and "17" not in page
    rows = list(csv.DictReader(io.StringIO(found.text("csv"))))
    assert rows[0]["note"] == "for the annual report" and rows[1]["_ticket"] == ""


def test_remarks_of_every_kind_of_release(tmp_path):
    (tmp_path / "one.json").write_text(answer("rdp", sigma=3).json())
    remark = {"date": "2026-03-01", "_x": 1}
    (tmp_path / "l.json").write_text(json.dumps({"release": [
        {"file": "one.json", **remark}, {"kind": "gdp", "mu": 0.1, **remark},
        {"parallel": [[{"sigma": 5, "note": "inner"}]], **remark}]}))
    found = answer("ledger", file=tmp_path / "l.json", delta=DELTA).record()["releases"]
    assert all(one["date"] == "2026-03-01" and one["_x"] == 1 for one in found)


@pytest.mark.parametrize("remark, said", [({"date": "yesterday"}, "write it as 2026-03-01"), ({"date": 3}, "no date"),
                                          ({"note": 3}, "note is a text"), ({"note": "x" * 2000}, "at most 1000 characters")])
def test_mistakes_in_remarks(remark, said):
    with pytest.raises(DpcalcError) as raised:
        ledger({**GAUSSIAN, **remark}, delta=DELTA)
    assert said in raised.value.message


def test_numbers_that_json_does_not_have_are_kept_as_texts():
    text = 'delta = 1e-5\n[[release]]\n_x = nan\n_y = [1979-05-27, inf]\nnote = """a\n  b"""\ncommand = "rdp"\nsigma = 2\n'
    (found,) = json.loads(call(["ledger", "-", "--json"], stdin=text).stdout)["releases"]
    assert found["_x"] == "nan" and found["_y"] == ["1979-05-27", "inf"] and found["note"] == "a b"


def test_a_note_cannot_control_the_terminal():
    page = ledger({**GAUSSIAN, "note": "a\x1b[31mred\nb"}, delta=DELTA).text("table")
    assert "\x1b" not in page and "red" in page


# --- the picture -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dates, axis", [((), "release"), (("2026-01-10", "2026-03-02", "2026-07-01"), "date"),
                                         (("2026-01-10", "2026-03-02", None), "release"),
                                         (("2026-07-10", "2026-03-02", "2026-07-01"), "release")])
def test_the_total_over_releases_or_dates(dates, axis):
    from dpcalc.output.plot.releases import plot_releases

    releases = [{**GAUSSIAN, **({"date": date} if date else {})} for date in dates or (None,) * 3]
    found = ledger(*releases, delta=DELTA, epsilon=5)
    drawn = plot_releases(found._answer)
    assert drawn.x.label == axis and len(drawn.series) == 2
    assert list(drawn.series[0].y) == [one["total_epsilon"] for one in found.record()["releases"]]
    assert set(drawn.series[1].y) == {5.0} and bool(drawn.notes) == (axis == "release" and bool(dates))


@pytest.mark.slow
def test_the_picture_is_drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = json.dumps({"delta": DELTA, "epsilon": 1, "release": [{**GAUSSIAN, "date": "2026-01-01"},
                                                                 {**GAUSSIAN, "date": "2026-02-01"}]})
    done = call(["ledger", "-", "--plot", "-"], stdin=text)
    assert done.returncode == 3 and "2026-01-01" in done.stdout and "budget 1" in done.stdout
    done = call(["ledger", "-", "--plot", "l.svg", "-q"], stdin=text)
    assert done.returncode == 3 and "2026-01-01" in (tmp_path / "l.svg").read_text() and float(done.stdout) > 1
    assert call(["ledger", "-", "--plot", "l.jpg"], stdin=text).returncode == 2


# --- rdp --rho and --mu ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options, value", [
    ({"rho": 0.5, "steps": 4, "solve": "sigma"}, 2.0), ({"rho": 0.5, "steps": 4, "solve": "noise-multiplier"}, 2.0),
    ({"rho": 0.5, "sigma": 3, "solve": "steps"}, 9), ({"mu": 0.5, "sigma": 3, "solve": "steps"}, 2),
    ({"rho": 0.5, "mechanism": "laplace", "solve": "scale"}, 1.0),
    ({"rho": 0.5, "mechanism": "exponential", "solve": "step-epsilon"}, 2.0),
    ({"rho": 0.5, "mechanism": "discrete-gaussian", "solve": "sigma", "steps": 9}, 3.0),
    ({"rho": 2, "noise_multiplier": 3, "adjacency": "replace-one", "solve": "steps"}, 9),
    ({"rho": 0.5, "group_size": 3, "solve": "sigma"}, 3.0), ({"mu": 0.5, "solve": "sigma"}, 2.0)])
def test_the_noise_for_a_budget_of_rho_or_mu(options, value):
    found = answer("rdp", **options)
    assert found.value == pytest.approx(value, rel=1e-12)
    assert found.result["rho" if "rho" in options else "mu"] <= options.get("rho", options.get("mu"))
    assert verify(found.record()).holds


def test_mu_of_laplace_noise_meets_its_budget():
    found = answer("rdp", mu=0.5, mechanism="laplace", solve="scale", steps=2)
    back = answer("convert", inputs=[answer("rdp", mechanism="laplace", scale=found.value, steps=2)], to="gdp")
    assert 0.4999 < back.value <= 0.5


@pytest.mark.parametrize("options, said", [
    ({"rho": 0.5, "sigma": 2}, "is a budget for --solve; to print ρ"), ({"mu": 0.5, "sigma": 2}, "convert - --to gdp"),
    ({"rho": 0.5, "mu": 1, "solve": "sigma"}, "dpcalc ledger meets several budgets"),
    ({"rho": 0.5, "delta": 1e-5, "solve": "sigma"}, "--delta belongs to another one"),
    ({"mu": 0.5, "mechanism": "discrete-gaussian", "solve": "sigma"}, "discrete-gaussian has no μ here"),
    ({"rho": 0.01, "sigma": 2, "solve": "steps"}, "one step already has ρ = 0.125")])
def test_mistakes_in_budgets_of_rho(options, said):
    with pytest.raises(DpcalcError) as raised:
        answer("rdp", **options)
    assert said in raised.value.message
    with pytest.raises(DpcalcError, match="sampling does not lower ρ of Gaussian noise"):
        solve("subsample", "noise_multiplier", rho=1, sampling_rate=0.1, steps=3)

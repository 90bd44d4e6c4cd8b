"""Ledgers whose releases are tuned, disjoint, adaptive or within a budget of ρ, together."""

import datetime

import pytest

from dpcalc import DpcalcError, answer
from dpcalc.verify.report import verify

TUNED = {"command": "rdp", "sigma": 8, "tries": 2}
PARTS = {"parallel": [[{"sigma": 4}], [{"mechanism": "laplace", "scale": 4}]]}


def ledger(*releases, delta=1e-5, **options):
    header = {name: options.pop(name) for name in ("adaptive", "rho", "mu") if name in options}
    return answer("ledger", file={"release": list(releases), **header}, delta=delta, **options)


def test_totals_of_many_releases_of_which_one_is_tuned():
    found = ledger(*[{"command": "rdp", "sigma": 30}] * 4, TUNED).record()
    totals = [one["total_epsilon"] for one in found["releases"]]
    assert totals == sorted(totals) and totals[-1] == found["result"]["epsilon"]
    assert found["releases"][-1]["epsilon"] == pytest.approx(answer("rdp", sigma=8, tries=2, delta=1e-5).value, rel=3e-3)


def test_the_best_of_several_runs_on_disjoint_parts():
    best = ledger({**PARTS, "tries": 3})
    assert ledger(PARTS).value < best.value < 3 * ledger(PARTS).value
    piped = answer("convert", inputs=[best.guarantee], delta=1e-5)
    assert piped.value == pytest.approx(best.value, rel=1e-6)


def test_what_is_not_proven_of_disjoint_parts_beside_a_tuned_run_is_said():
    verdict = verify(ledger(PARTS, TUNED).record())
    assert "bounds[0].epsilon" in verdict.unchecked and not any(f.verdict == "not verified" for f in verdict.head)


@pytest.mark.filterwarnings("ignore:over the budget")
def test_a_budget_of_rho_says_what_may_be_stated_only_while_it_is_kept():
    two = [{"kind": "gdp", "mu": 0.4}] * 2
    kept, over = (ledger(*two, delta=None, rho=rho) for rho in (1, 0.01))
    assert any("may be stated is the budget ρ = 1" in note for note in kept.notes)
    assert not any("may be stated" in note for note in over.notes) and over.result["rho_over"] > 0.1
    assert not any("may be stated" in promise for promise in kept.promises)


@pytest.mark.parametrize("name, power", [("rho", 1), ("mu", 2)])
def test_running_totals_of_rho_and_mu_are_sums(name, power):
    releases = [{"command": "rdp", "sigma": sigma} for sigma in (2, 3, 5)]
    each = ledger(*releases, delta=None, **{name: 5}).record()["releases"]
    sums = [sum(one[name] ** power for one in each[:k]) ** (1 / power) for k in (1, 2, 3)]
    assert [one[f"total_{name}"] for one in each] == pytest.approx(sums, rel=1e-12)


@pytest.mark.parametrize("release", [
    {"command": "subsample", "n": "?", "batch-size": 10, "noise-multiplier": 1, "steps": 1000},
    {"command": "rdp", "sigma": "?"},
])
def test_an_adaptive_ledger_finds_a_number_that_its_command_does_not_take_everywhere(release):
    found = ledger(release, adaptive=True, epsilon=3)
    again = {key: found.value if x == "?" else x for key, x in release.items()}
    assert ledger(again, adaptive=True, epsilon=3).record()["adaptive"]["left"] >= 0


def test_a_release_that_fits_whatever_its_number_is_said_to():
    release = {"command": "subsample", "sampling-rate": "?", "noise-multiplier": 50, "steps": 1}
    with pytest.raises(DpcalcError, match="every value of sampling-rate fits"):
        ledger(release, adaptive=True, epsilon=3)


def test_dates_of_toml_are_read_from_python():
    assert ledger({"kind": "gdp", "mu": 0.1, "date": datetime.date(2026, 1, 1)}, delta=None, rho=1).value == pytest.approx(0.005)


def test_an_epsilon_of_a_release_is_no_noise():
    with pytest.raises(DpcalcError, match="does not set its noise"):
        ledger({"command": "rdp", "sigma": 5, "epsilon": 0.1})

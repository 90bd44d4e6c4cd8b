"""Part of each pass: a proven row holds for every pass that may use the record, the last one too, which may only be
begun."""

import json
from fractions import Fraction
from math import ceil, erf, log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcalc.bounds.pnsgd.without_replacement import UNAMPLIFIED, passes_begun, whole_passes

LINE = "shuffle-pnsgd --sigma 4 --lipschitz 1 --n 1000 --alpha 1000 --bound without-replacement-conjecture --json --tau {} --epochs {}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("tau, epochs, uses", [(0.9, 1, 2), (0.5, 1, 2), ("1/3", 1, 3), (0.1, 1, 10), (0.3, 1, 4),
                                               (0.9, 9, 10), (0.9, 10, 12), (0.7, 7, 10)])
def test_the_proven_row_counts_every_use(tau, epochs, uses, cli):
    found = json.loads(cli(*LINE.format(tau, epochs).split()).stdout)
    rows = {row["name"]: row["rdp"] for row in found["bounds"]}
    assert rows["without-replacement-unamplified"] == pytest.approx(uses * 2 * 1000 / 16, rel=1e-13)
    assert rows["without-replacement-unamplified"] >= uses * 2 * 1000 / 16


def test_two_passes_of_nine_tenths_can_both_use_the_record():
    """D_α of the record's own two releases, its gradient moved from −L to L in both: composed Gaussians of shift
    2L/σ."""
    alpha, uses = 1000, 2
    run = {"level": 4.0, "lipschitz": 1.0, "n": 1000, "tau": 0.9, "passes": 1}
    assert UNAMPLIFIED.rdp(alpha, **run) >= uses * alpha * (2 / 4.0) ** 2 / 2 * (1 - 1e-15)


@pytest.mark.parametrize("line, uses", [("--tau .9 --epochs 10", 12), ("--tau .5 --epochs 1", 2),
                                        ("--tau .1 --epochs 3", 30)])
def test_the_proven_row_is_one_gaussian_release(line, uses, ask, cli):
    """μ = (2L/σ)√⌈E/τ⌉: the same ε, total variation and noise as that of the Gaussian mechanism."""
    run = f"shuffle-pnsgd --lipschitz 1 --n 1000 --bound without-replacement-unamplified {line} --delta 1e-5".split()
    found = ask(*run, "--sigma", 4, "--digits", 15)
    same = ask("rdp", "--sigma", 2, "--steps", uses, "--delta", 1e-5)["result"]["epsilon"]
    assert found["result"]["epsilon"] == pytest.approx(same, rel=1e-11)
    assert float(found["bounds"][0]["digits"]["epsilon"]) == pytest.approx(same, rel=1e-10)
    assert "not proven" not in cli("verify", "-", stdin=json.dumps(found)).stdout
    tv = ask("tv", "-", stdin=json.dumps(found))["result"]["tv"]
    assert tv == pytest.approx(erf(0.5 * sqrt(uses / 8)), rel=1e-12)
    assert ask(*run, "--epsilon", same, "--solve", "sigma")["result"]["sigma"] == pytest.approx(4, rel=1e-9)


def test_twelve_uses_at_half_the_noise():
    assert UNAMPLIFIED.inverse(log(1e-5), level=4.0, lipschitz=1.0, n=1000, tau=0.9,
                               passes=10) == pytest.approx(8.38541892421683, rel=1e-12)


@given(st.integers(1, 10**15), st.floats(1e-6, 0.999999))
def test_never_fewer_than_the_passes_there_are(epochs, tau):
    exact = Fraction(epochs) / Fraction(tau)
    begun = passes_begun(epochs, tau)
    assert exact * (1 - Fraction(1, 2**51)) <= begun <= ceil(exact)
    assert whole_passes(epochs, tau) <= begun * (1 + 1e-11)


def test_help_and_explain_say_what_e_and_tau_mean(cli):
    said = " ".join(cli("shuffle-pnsgd", "--help").stdout.split())
    assert "fraction of the records in each pass" in said and "makes E/τ passes" in said
    explained = cli("explain", "without-replacement-unamplified").stdout
    assert "each of ⌈E/τ⌉ passes" in explained

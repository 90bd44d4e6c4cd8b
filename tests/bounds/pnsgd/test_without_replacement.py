"""Part of each pass: the conjecture, its lower bound, and what is proven beside them."""

import json

import mpmath
import pytest
from answers import answer, printed
from calling import call
from conftest import slow

from dpcalc.bounds.pnsgd.without_replacement import inverse_squares

PARTIAL = "shuffle-pnsgd --lipschitz 1 --n 1000 --tau .5"
CONJECTURE = "shuffle-pnsgd --lipschitz 1 --bound without-replacement-conjecture"


@pytest.mark.parametrize("name, status, question", [
    ("without-replacement-unamplified", "proven", "--alpha 16"),
    ("without-replacement-unamplified", "proven", "--delta 1e-5"),
    ("without-replacement-conjecture-sum", "conjecture", "--alpha 16"),
    ("without-replacement-conjecture-sum", "conjecture", "--epsilon 1"),
    ("without-replacement-lower", "lower", "--alpha 16"),
])
def test_what_stands_beside_the_conjecture_can_be_named_alone(name, status, question):
    done = call([*f"{PARTIAL} --sigma 2 {question} --bound {name}".split(), "--json"])
    assert [(row["name"], row["status"]) for row in json.loads(done.stdout)["bounds"]] == [(name, status)]
    assert ("not a guarantee" in done.stderr) == (status != "proven")


def test_without_amplification_any_noise_has_its_composition():
    """σ < 2L, where the conjecture says nothing; ⌈E/τ⌉ Gaussian releases of sensitivity 2L."""
    found = answer(f"{PARTIAL} --sigma .5 --epochs 3 --alpha 4 --bound without-replacement-unamplified")
    assert found["result"]["rdp"] == pytest.approx(6 * 2 * 4 / 0.25, rel=1e-12) and found["status"] == "proven"
    both = answer(f"{PARTIAL} --sigma 2 --alpha 16 --bound without-replacement-conjecture "
                  "--bound without-replacement-unamplified")
    assert [row["status"] for row in both["bounds"]] == ["proven", "conjecture", "conjecture", "lower"]
    assert any("refuted here" in note for note in both["notes"])
    code, _, err = call(f"{PARTIAL} --sigma 2 --delta 1e-5 --bound without-replacement-lower".split())
    assert code == 2 and "ask with --alpha" in err


def test_erratum_nearly_whole_passes_sample_without_replacement():
    """For τ → 1 a pass uses each record once at most: each of the two passes costs that of one use, α(2L)²/(2σ²)."""
    found = answer("shuffle-pnsgd --lipschitz 1 --n 1000 --tau .999 --sigma 2 --alpha 4 "
                   "--bound without-replacement-unamplified")
    assert found["result"]["rdp"] == pytest.approx(2 * 4 * 2**2 / (2 * 2**2), rel=1e-12)


@pytest.mark.parametrize("rest, solved", [
    ("--n 1000 --tau .5 --alpha 4 --rdp .01 --solve sigma", "σ = 3.57771"),
    ("--n 1000 --tau .5 --epsilon 1 --delta 1e-4 --solve sigma", "σ = "),
    ("--sigma 10 --n 1000 --tau .5 --epsilon 1 --delta 1e-4 --solve epochs", "E = "),
])
@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_what_stands_beside_a_solution_by_the_conjecture(rest, solved, form):
    code, text = printed(f"{CONJECTURE} {rest} --format {form}")
    assert code == 0 and "KeyError" not in text and "without-replacement-lower" in text
    assert "without-replacement-unamplified" in text
    assert form != "table" or (text.startswith(solved) and "ε(α) = " in text)


def test_the_lower_bound_stands_beside_an_epsilon():
    found = answer(f"{CONJECTURE} --sigma 2 --n 10 --tau .1 --epochs 100 --delta 1e-4")["bounds"]
    conjecture, lower = (next(b for b in found if b["name"].startswith(f"without-replacement-{name}"))
                         for name in ("conjecture", "lower"))
    assert lower["status"] == "lower" and lower["alpha"] == conjecture["witness"]["alpha"]
    assert lower["rdp"] == pytest.approx(11.216, rel=1e-3)


@pytest.mark.parametrize("line, said", [
    ("--noise laplace --scale 3 --n 1000 --tau .5 --alpha 16 --bound without-replacement-conjecture",
     "--bound: 'without-replacement-conjecture' is not a bound for this question (laplace noise)\n"),
    # --tau is what makes it a question about partial passes
    ("--sigma 3 --smoothness .5 --learning-rate .1 --diameter 1 --n 1000 --alpha 16 "
     "--bound without-replacement-conjecture",
     "--tau: needed with --tau (partial passes)\n"),
])
def test_the_conjecture_names_what_it_needs(line, said):
    done = call(["shuffle-pnsgd", "--lipschitz", "1", *line.split()])
    assert done.returncode == 2 and done.stderr.endswith(said)


@pytest.mark.parametrize("low, high", [(541, 545), (300, 301), (258, 258), (1, 1000), slow(1000, 100_000)])
def test_a_sum_of_inverse_squares_has_13_digits(low, high):
    want = mpmath.fsum(1 / mpmath.mpf(x) ** 2 for x in range(low, high + 1))
    assert want <= inverse_squares(low, high) <= want * (1 + mpmath.mpf("2e-14"))

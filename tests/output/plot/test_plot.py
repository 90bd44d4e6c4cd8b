"""What a plot shows: lines, scales, words, gaps."""

import math

import pytest
from plotted import LAPLACE, swept

from dpcalc.commands.catalogue import calculators
from dpcalc.output.plot.labels import axis_label, wrapped

PNSGD = "--lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5"


def test_a_line_a_bound_the_headline_first():
    found = swept("rdp --sigma 4,1,2 --delta 1e-5")
    labels = [s.label for s in found.plot.series]
    assert labels == ["gaussian-exact", "gaussian-rdp (rdp-optimal)"]
    at = {p.at["sigma"]: p.answer for p in found.points}
    for k, series in enumerate(found.plot.series):
        assert series.x == (1, 2, 4) and series.proven  # in order, however they were given
        assert series.y == tuple(at[x].rows[k].result["epsilon"] for x in "124")


@pytest.mark.parametrize("line, x, y", [
    ("rdp --sigma 1:200:3 --delta 1e-5", "linear", "log"),  # the axis of a range is spaced as the range is
    ("rdp --sigma 1:2:3:log --delta 1e-5", "log", "linear"),
    ("rdp --sigma 1:2:3 --delta 1e-5", "linear", "linear"),
    ("rdp --sigma 1,2,4 --delta 1e-5", "log", "linear"),  # and that of a list as its nearest progression
    ("rdp --sigma 1,2,5,10 --delta 1e-5", "log", "linear"),
    ("rdp --sigma 4,3,1,2 --delta 1e-5", "linear", "linear"),
    ("rdp --sigma 1,4,8 --delta 1e-5", "linear", "linear"),
    ("rdp --sigma 1,99 --delta 1e-5", "linear", "log"),
    ("rdp --sigma 1,101 --delta 1e-5", "log", "log"),
    ("rdp --sigma 1,2 --epsilon 9", "linear", "log"),
    ("rdp --sigma 1,2 --epsilon 400", "linear", "powers")])
def test_axes_are_spaced_as_the_values_are(line, x, y):
    plot = swept(line).plot
    assert (plot.x.kind, plot.y.kind) == (x, y)


def test_a_delta_that_underflows_is_drawn_by_its_logarithm():
    found = swept("rdp --sigma 1,2,3 --epsilon 400 --bound gaussian-exact")
    logs = [p.answer.rows[0].result["log_delta"] / math.log(10) for p in found.points]
    assert found.plot.series[0].y == tuple(logs) and max(logs) < -8000


def test_what_fails_is_a_gap_and_what_has_no_place_is_said():
    plot = swept("rdp --sigma 5 --delta 1e-5 --steps 1,1.5,9 --bound gaussian-exact").plot
    assert plot.series[0].y[1] is None and all(plot.series[0].y[i] for i in (0, 2)) and plot.notes == ()
    plot = swept("rdp --mechanism laplace --scale .1:3:9:log --epsilon 1 --bound laplace-exact").plot
    assert plot.y.kind == "linear" and None not in plot.series[0].y  # δ near 1, and 0: no logarithm is needed
    plot = swept("rdp --mechanism laplace --scale .9,.9999,2 --epsilon 1 --bound laplace-exact").plot
    assert plot.y.kind == "log" and plot.series[0].y[2] is None
    assert plot.notes == ("not drawn: 1 point of laplace-exact at 0 (a logarithmic axis has none)",)


def test_what_is_not_proven_is_marked_also_where_that_changes():
    plot = swept(f"shuffle-pnsgd --c1 1e5 --c2 2 {LAPLACE} .1 --n 1e3,1e4 --epsilon 1 --bound shuffled-contraction "
                 "--bound shuffled-limit").plot
    assert [(s.label, s.proven) for s in plot.series] == [("shuffled-contraction", True),
                                                          ("shuffled-limit [limit]", False)]
    plot = swept(f"online-noise --c1 100 --c2 100 --decay 1.5 {LAPLACE} .01 --index 9 --n 1e3,1e4,inf --epsilon 1").plot
    assert [(s.label, s.x) for s in plot.series] == [("online-contraction", (1e3, 1e4)),
                                                     ("online-contraction [limit]", (1e3, 1e4))]
    assert plot.series[0].y[1] and plot.series[1].y == (None, None) and "at infinity" in plot.notes[0]


def test_of_two_options_the_longer_one_runs_along_x():
    for line in ("rdp --sigma 1,2,4 --steps 1:64:7:log --delta 1e-5",
                 "rdp --steps 1:64:7:log --sigma 1,2,4 --delta 1e-5"):
        found = swept(line)
        assert [s.label for s in found.plot.series] == ["σ = 1", "σ = 2", "σ = 4"]
        assert [s.value for s in found.plot.series] == [1, 2, 4]
        assert found.plot.series[0].x == (1, 2, 4, 8, 16, 32, 64)
        heads = {p.answer.parameters["steps"]: p.answer.value for p in found.points
                 if p.answer.parameters["sigma"] == 2}
        assert found.plot.series[1].y == tuple(heads[t] for t in found.plot.series[1].x)
    assert [s.label for s in swept("rdp --sigma 1,2 --delta 1e-5,1e-6").plot.series] == ["δ = 1e-5", "δ = 1e-6"]


WORDS = [
    ("rdp --sigma 1,2 --delta 1e-5", "ε at δ = 1e-05", "rdp, gaussian", "noise σ [units of the sensitivity]",
     "privacy loss ε"),
    ("rdp --delta 1e-5,1e-6 --sigma 2", "ε at each δ", "rdp, gaussian: σ = 2", "failure probability δ", "privacy loss ε"),
    ("rdp --sigma 1,2 --alpha 8 --steps 1e2", "ε(α) at α = 8", "rdp, gaussian: T = 1e2",
     "noise σ [units of the sensitivity]", "Rényi divergence ε(α)"),
    ("rdp --epsilon 1,2 --delta 1e-5 --solve sigma", "σ for each ε at δ = 1e-05", "rdp, gaussian", "privacy loss ε",
     "noise σ [units of the sensitivity]"),
    ("rdp --sigma 9,10 --epsilon 2 --delta 1e-5 --solve steps", "T for ε ≤ 2 at δ = 1e-05", "rdp, gaussian",
     "noise σ [units of the sensitivity]",
     "number of releases T"),
    ("rdp --noise-multiplier 1,2 --delta 1e-5", "ε at δ = 1e-05", "rdp, gaussian", "noise multiplier Z",
     "privacy loss ε"),
    ("convert --from gdp --mu 1,2 --epsilon 1", "δ at ε = 1", "convert, from gdp",
     "parameter of Gaussian differential privacy μ", "failure probability δ"),
    ("convert --from dp --epsilon .1,.2 --delta 1e-6 --steps 20 --target-epsilon 1", "δ at ε = 1",
     "convert, from dp: T = 20, δ = 1e-6", "privacy loss ε",
     "failure probability δ"),
    ("convert --from dp --epsilon .1 --delta 1e-6 --steps 20 --target-epsilon 1,2", "δ at each ε",
     "convert, from dp: T = 20, ε = .1, δ = 1e-6", "privacy loss ε",
     "failure probability δ"),
    ("subsample --sampling-rate .01 --sigma 2 --steps 10,20 --alpha 4", "ε(α) at α = 4",
     "subsample, poisson, gaussian: q = .01, σ = 2",
     "number of steps T", "Rényi divergence ε(α)"),
    (f"shuffle-pnsgd --sigma 1,2 {PNSGD} --n 9 --epsilon 1", "δ at ε = 1",
     "shuffle-pnsgd, gaussian: L = 1, β = .5, η = .01, D = 2, n = 9",
     "noise σ [units of the gradient]", "failure probability δ"),
    ("noise-feedback --curvature .7 --learning-rate .1,.2 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-5",
     "ε at δ = 1e-05", None, "step size η", "privacy loss ε"),
    (f"burn-in --n 60 --batch-size 6 --steps 1e3,1e4 --order fixed {PNSGD} --sigma 1 --delta 1e-5", "ε at δ = 1e-05",
     "burn-in, convex, fixed order: n = 60, b = 6, L = 1, β = .5, η = .01, D = 2, σ = 1", "number of steps T",
     "privacy loss ε"),
    ("tv --sigma 1,2", "TV", "tv, gaussian", "noise σ [units of the sensitivity]", "total variation distance TV"),
    ("tv --tv .1,.2 --solve sigma", "σ for each TV", "tv, gaussian", "total variation distance TV",
     "noise σ [units of the sensitivity]"),
    ("tv --sigma 1 --fpr .1,.2", "Largest true-positive rate of any attack", "tv, gaussian: σ = 1",
     "false-positive rate FPR", "true-positive rate TPR"),
    ("online-noise --schedule 1:9 --c1 9 --c2 9 --decay 2 --diameter 2 --learning-rate .01 --smoothness .5",
     "σ of each step",
     "online-noise, gaussian: C1 = 9, C2 = 9, a = 2, β = .5, η = .01, D = 2", "step j",
     "noise σ [units of the gradient]"),
]


@pytest.mark.parametrize("line, title, subtitle, x, y", WORDS, ids=[w[0][:40] for w in WORDS])
def test_words(line, title, subtitle, x, y):
    plot = swept(line).plot
    _, at, condition = title.partition(" at ")  # the axis says it too, as the title is often left out of a paper
    up = y + at + condition if at and " for " not in title else y
    assert (plot.title, plot.x.label, plot.y.label) == (title, x, up)
    if subtitle:
        assert plot.subtitle == subtitle


def test_every_option_that_can_be_swept_has_a_short_name():
    for command in calculators().values():
        for option in command.all_options():
            if option.quantity.kind in ("number", "count", "horizon"):
                label = axis_label(command, option.name)
                assert 0 < len(label) <= 64 and option.quantity.symbol in label


def test_the_roc_curve_is_drawn_beside_a_blind_guess():
    plot = swept("tv --sigma 1 --fpr .01,.1,.5").plot
    attack, blind = plot.series
    assert blind.x == blind.y == attack.x == (0.01, 0.1, 0.5) and all(t > f for f,
                                                                      t in zip(attack.x, attack.y, strict=True))


def test_a_sweep_of_roc_curves_is_a_curve_a_value():
    plot = swept("tv --sigma 1,1/2 --fpr .01,.1,.5").plot
    assert [s.label for s in plot.series] == ["σ = 1", "σ = 1/2", "blind guess"] and plot.subtitle == "tv, gaussian"
    assert plot.series[0].y == swept("tv --sigma 1 --fpr .01,.1,.5").plot.series[0].y


def test_wrapped_words_keep_their_numbers():
    assert wrapped("a: n = 60000, b = 1", 10) == ["a:", "n = 60000,", "b = 1"] and wrapped("", 9) == []

"""shuffle-pnsgd, online-noise and tv: which option is at fault, and what is needed or reached, in one line."""

import pytest
from answers import answer, printed, refusal
from calling import call
from conftest import slow
from fuzz import answered

RUN = "--lipschitz 1 --diameter 2 --learning-rate .01 --smoothness .5"
SCHEDULE = "shuffle-pnsgd --lipschitz 1 --diameter 8 --n 100 --smoothness 0 --c1 30 --c2 2"
LINEAR = "shuffle-pnsgd --lipschitz 1 --smoothness 0"
SHUFFLE = "shuffle-pnsgd --lipschitz 1 --smoothness"


def result(line):
    return answer(line)["result"]


def test_a_name_that_is_no_bound_of_the_question():
    assert "--c1: needed by online-limit" in refusal(f"online-noise {RUN} --sigmas 1,2,3 --index 1 --epsilon 1 "
                                                     "--bound online-limit", 2)
    said = refusal(f"shuffle-pnsgd {RUN} --noise laplace --scale 1 --n 100 --epsilon 1 --bound rdp-optimal", 2)
    assert "--bound: 'rdp-optimal' is not a bound for this question (laplace noise)" in said
    assert "'composition-basic'" in refusal(f"shuffle-pnsgd {RUN} --n 1000 --sigma 1 --epochs 3 --epsilon 1 "
                                            "--bound composition-basic", 2)


@pytest.mark.parametrize("rest", ["--epsilon 1 --epochs 2", "--epsilon 1 --delta 1e-3 --solve epochs"])
def test_a_limit_is_not_composed(rest):
    said = refusal(f"shuffle-pnsgd {RUN} --c1 100 --c2 2 --n 1000 --bound shuffled-limit {rest}", 2)
    assert "--bound: shuffled-limit is not a guarantee" in said


@pytest.mark.parametrize(("line", "said"), [
    ("online-noise --c1 1 --c2 1 --decay 1 --n 10 --index 2", "1 is not > 1 and ≤ 1000 (a: exponent of the decay"),
    ("online-noise --sigmas 1,-3 --index 2", "-3 is not > 0 (σ_1,…: standard deviation"),
    ("shuffle-pnsgd --sigma 4 --n 1000 --tau .5", "--tau: not used without "
     "--bound without-replacement-conjecture")])
def test_a_number_out_of_its_range_is_named_by_its_symbol(line, said):
    assert said in refusal(f"{line} {RUN} --epsilon 1", 2)


def test_bounds_say_what_order_they_are_about():
    assert "--index: needed by fixed-order" in printed(f"shuffle-pnsgd {RUN} --sigma 3 --n 100 --bound fixed-order "
                                                       "--epsilon 1")[1]
    assert "--index: not used by shuffled-iteration" in printed(f"shuffle-pnsgd {RUN} --sigma 3 --n 9 --index 3 "
                                                                "--bound shuffled-iteration --epsilon 1")[1]
    found = answer(f"shuffle-pnsgd {RUN} --sigma 1 --n 10 --epsilon 1 --bound rdp-mironov")
    assert (found["bound"], found["bounds"][0]["conversion"]) == ("shuffled-iteration-rdp", "rdp-mironov")


@pytest.mark.parametrize("question", ["--sigma 1 --delta 1e-5", "--delta 1e-5 --epsilon 1 --solve sigma"])
@pytest.mark.parametrize("bound", ["output-perturbation", "output-perturbation-shuffled"])
def test_a_named_bound_blames_the_option_that_its_theorem_is_about(bound, question):
    """The divergence is infinite at every order without it."""
    code, words = printed(f"shuffle-pnsgd {RUN} --n 1000 {question} --bound {bound}")
    assert code == 2 and "--strong-convexity: 0 gives c = max(|1−ηρ|, |1−ηβ|) = 1" in words


def test_a_message_names_only_options_of_its_command():
    assert "--alpha" not in printed("online-noise --lipschitz 1")[1]
    assert "--alpha" in printed("shuffle-pnsgd --lipschitz 1")[1]
    assert "--orders" not in printed(f"shuffle-pnsgd {RUN} --sigma .5 --n 1000 --epsilon 1 --alpha 3")[1]
    assert "--orders" in printed("rdp --sigma 1 --epsilon 1 --alpha 3")[1]


@pytest.mark.parametrize("missing", ["--diameter 8 ", "--smoothness 0 "])
def test_a_schedule_says_what_it_needs(missing):
    line = f"{SCHEDULE} --learning-rate .1 --epsilon 1".replace(missing, "")
    assert refusal(line, 2).startswith(f"dpcalc shuffle-pnsgd: {missing.split()[0]}: needed with --noise gaussian and "
                                       "a schedule")


@pytest.mark.parametrize("line, words", [
    ("--bound shuffled-contraction", "by shuffled-contraction; the least δ it gives is 1"),
    ("--bound shuffled-iteration", "by shuffled-iteration; the least δ it gives is 1"),
    ("--bound shuffled-contraction --epochs 2", "by shuffled-contraction; every epoch leaves δ "
     "= 1"),
    ("--bound shuffled-contraction-basic --epochs 2", "by shuffled-contraction-basic; the least "
     "δ it gives is 1"),
])
def test_a_delta_that_no_epsilon_reaches(line, words):
    assert words in refusal(f"{LINEAR} --learning-rate 1 --diameter 1 --n 5 --sigma 1e-160 --delta 1e-5 {line}", 3)


@pytest.mark.parametrize("name, words", [
    ("shuffled-contraction", "by shuffled-contraction; every epoch leaves δ = 0.001"),
    ("shuffled-contraction-basic", "by shuffled-contraction-basic; the least δ it gives is "
     "0.003"),
])
def test_a_delta_that_no_epsilon_of_three_epochs_reaches(name, words):
    """One epoch's least δ is no bound of what three reach."""
    line = f"{LINEAR} --learning-rate 1e160 --diameter 1 --n 1000 --sigma 1e-160 --epochs 3 --bound {name}"
    assert words in refusal(f"{line} --delta .002", 3)
    assert result(f"{line} --delta .0035")["epsilon"] < 1e200


def test_the_bound_or_the_option_to_use_instead_is_named():
    gaussian = "--sigma 3 --n 1000 --alpha 8 --bound shuffled-iteration"
    other = "--noise laplace --scale 3 --n 1000 --alpha 8"
    run = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --learning-rate .01 --diameter 2"
    assert "--bound shuffled-iteration-rdp or smooth-nonconvex-shuffled" in refusal(f"{run} {gaussian}", 2)
    assert "curve of RDP" not in refusal(f"{run} {other}", 2)
    passes = "shuffle-pnsgd --lipschitz 1 --n 1000 --alpha 8 --tau .5 --bound without-replacement-conjecture --sigma 3"
    for name in ("--c1", "--c2"):
        assert refusal(f"{passes} {name} 3", 2).startswith(f"dpcalc shuffle-pnsgd: {name}: ")
    notes = answer(f"{run} --n 1000 --index 500 --epsilon 1.1737314339856124 --delta 1e-5 --solve sigma")["notes"]
    assert any("at ε = 1.1737314339856124" in note for note in notes)


@pytest.mark.parametrize("line", [
    slow("burn-in --n 60000 --batch-size 128 --steps 1e6 --smoothness 1 --learning-rate .05 --diameter 2 --sigma .1"),
    "shuffle-pnsgd --sigma 2 --smoothness .5 --learning-rate .5 --diameter 1 --n 1000",
    "online-noise --smoothness .5 --learning-rate .01 --diameter 1 --decay 1.5 --c1 100 --c2 100 --index 9 --n 100",
])
def test_smoothness_and_diameter_imply_a_lipschitz_constant_under_a_condition_only(line):
    said = refusal(f"{line} --epsilon 1", 2)
    assert "--lipschitz: needed" in said and "only where every loss has gradient 0 somewhere" in said
    way_out = said.strip().split("then give ")[1]
    assert call(f"{line} --epsilon 1 {way_out}".split()).returncode == 0


@pytest.mark.parametrize("question, words", [("--delta 1e-5", "the worst record, 1000, has ε = "),
                                             ("--epsilon 1.1737314339856124", "at ε = 1.1737314339856124 (")])
def test_the_epsilon_beside_the_worst_position_has_all_digits_where_it_was_given(question, words):
    line = f"{SHUFFLE} .5 --learning-rate .01 --diameter 2 --sigma 3 --n 1000 --index 500 {question}"
    assert words in call(line.split()).stdout


@pytest.mark.parametrize("options, words", [
    ("--learning-rate 4.0000001 --sigma 1 --epsilon 1", "4.0000001 > 2/(β+ρ) = 4;"),
    ("--learning-rate .1 --sigma 10.583 --alpha 8 --bound smooth-nonconvex-high-noise",
     "10.583 < L√(2α(α−1)) = 10.5831;"),
])
def test_a_number_next_to_its_limit_is_printed_with_the_digits_that_tell_them_apart(options, words):
    assert words in refusal(f"shuffle-pnsgd --lipschitz 1 --diameter 1 --smoothness .5 --n 1000 {options}", 2)


def test_the_precision_is_used_or_refused():
    line = "tv --mechanism laplace --scale 5.365088077617794 --steps 7"
    wide, narrow = (answer(f"{line} --precision {x}")["result"]["tv"] for x in (0.01, 1e-5))
    assert narrow <= wide
    code, _, err = call(["tv", "--sigma", "2", "--precision", "1e-5"])
    assert code == 2 and "--precision" in err


def test_two_dashes_alone_print_the_help():
    assert answered(["--"]).out == answered(["--help"]).out

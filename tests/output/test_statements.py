"""--format statement: the paragraphs about a guarantee that a paper or a model card can use."""

import json
import re
import shlex
from decimal import Decimal
from statistics import NormalDist

import mpmath
import pytest
from calling import call
from conftest import few_of_each, slow

from dpcalc import DpcalcError, __version__, answer, solve
from dpcalc.commands.true_positive_rate import rate_of_point
from dpcalc.core.text import shell_lines

RUN = "subsample --n 60000 --batch-size 256 --epochs 15"
LAST = "--lipschitz 1 --diameter 1 --learning-rate .25 --smoothness .5"
# The arguments of a call, and words of its statement.
CASES = [
    ("rdp --sigma 1 --delta 1e-5", "is (ε, δ)-differentially private with ε = 4.37718 and δ = 1e-05",
     "those that the sensitivity of the query refers to", "standard deviation 1", "one access to the data"),
    ("rdp --sigma 1 --epsilon 3", "with ε = 3 and δ = 0.00153719"),
    ("rdp --mechanism laplace --scale 2 --alpha 8", "Rényi differentially private with ε(α) = 0.410268 at the order "
     "α = 8", "Laplace noise of scale 2"),
    ("rdp --mechanism laplace --scale 2 --delta 0 --steps 3", "pure differential privacy, δ = 0) with ε = 1.5",
     "3 accesses to the data"),
    ("rdp --mechanism randomized-response --probability .75 --delta 0", "one respondent's answer",
     "no test of what a respondent's true answer is has a true-positive rate above 0.3 %"),
    ("rdp --noise-multiplier 4 --delta 1e-5", "adding or removing one record", "the clipping norm, is 4"),
    ("rdp --epsilon 1 --delta 1e-5 --sigma 20 --solve steps", "With 28 steps or fewer, the mechanism", "ε = 1 and"),
    ("convert --from gdp --mu 1 --steps 4 --delta 1e-5", "Each of 4 releases", "μ = 1", "those of the given guarantee"),
    ("convert --from dp --epsilon 1 --delta 0 --to gdp", "(μ-GDP) with μ = 1.23204", "(1, 0)-differentially private"),
    ("convert --from dp --epsilon 1 --delta 1e-6 --to tv", "total variation at most 0.462118"),
    ("convert --from tv --tv .01 --epsilon 1", "one of total variation at most 0.01", "with ε = 1 and δ = 0.01."),
    ("convert --from outcomes --p .5,.5 --q .25,.75", "one with 2 outcomes", "ε = 0.693148"),
    (f"{RUN} --noise-multiplier 1.1 --delta 1e-5", "ε = 1.13403 and δ = 1e-05", "The unit of privacy is one record",
     "Poisson samples: each record is in a batch with probability 256/60000", "is 1.1", "3516 accesses to the data",
     "batches cut from shuffled data are not covered", "whether a given record is in the data has a true-positive rate "
     "above 0.261 % at a false-positive rate of 0.1 %", "poisson-profile (Balle et al. 2018, Thm 8)"),
    (f"{RUN} --adjacency replace-one --noise-multiplier 1.1 --delta 1e-5", "replacing one record",
     "which of two neighbouring data sets was used"),
    (f"{RUN} --epsilon 2 --delta 1e-5 --solve noise-multiplier", "With a noise multiplier of 0.838801 or more, the "
     "training run described below is (ε, δ)-differentially private with ε = 2 and δ = 1e-05"),
    ("subsample --scheme without-replacement --sampling-rate .01 --sigma 2 --steps 9 --delta 1e-5",
     "drawn uniformly without replacement", "the share 0.01 of the records", "a noise multiplier of 4"),
    ("subsample --scheme random-allocation --steps-per-epoch 10 --epochs 2 --noise-multiplier 4 --delta 1e-5",
     "each record takes part in one of 10 steps, drawn uniformly"),
    ("subsample --scheme random-allocation --n 100 --batch-size 10 --participations 3 --epochs 2 --noise-multiplier 4 "
     "--delta 1e-5", "each record takes part in 3 of 100/10 steps"),
    ("subsample --scheme weighted --max-weight .01 --steps 1 --sigma 2 --delta 1e-5", "with a probability of at most 0.01"),
    ("subsample --sampling-rate .01 --epsilon 1 --delta 1e-6", "ε = 0.0170369 and δ = 1e-08",
     "without sampling, the mechanism is (1, 1e-06)-differentially private"),
    ("tv --sigma 50", "total variation at most 0.00797872"),
    ("tv --fpr .1 --tpr .2 --solve sigma", "every test with a false-positive rate of 0.1 has a true-positive rate of "
     "at most 0.2"),
    (f"shuffle-pnsgd --sigma 1 {LAST} --n 1000 --epsilon 1", "a secret order that is shuffled afresh, is covered",
     "Constants: L = 1, β = 0.5, ρ = 0, η = 0.25, D = 1", "the release of the last iterate"),
    (f"shuffle-pnsgd --sigma 1 {LAST} --n 1000 --epsilon 1 --index 10", "This is no guarantee for the whole data set. "
     "It is for record 10 only; the worst record, 1000, has δ = 0.509862.",
     "no test of which of two data sets that differ in this record alone was used has"),
    (f"online-noise --sigmas 1,2,3 {LAST} --index 1 --epsilon 1", "a stream of 3 records", "a known level at each step"),
    ("burn-in --n 600 --batch-size 12 --steps 9 --lipschitz 1 --smoothness 1 --learning-rate .05 --diameter 2 "
     "--sigma .1 --delta 1e-5", "9 steps are covered; a batch holds 12 of 600 records"),
    ("burn-in --n 60000 --batch-size 128 --steps 1e4 --lipschitz 1 --smoothness 1 --learning-rate .05 --diameter 2 "
     "--sigma .1 --delta 1e-5", "10000 steps are covered; a batch holds 128 of 60000 records"),
    ("noise-feedback --curvature .7 --learning-rate .1 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-5",
     "at each of 6 steps, and taken back at the next one"),
    ("correlated --steps 100 --separation 20 --participations 3 --strategy square-root --sigma 4 --delta 1e-5",
     "clipping norms is drawn at each of 100 steps", "takes part in at most 3 steps that are at least 20 apart"),
    ("compare --n 60000 --batches shuffled --batch-size 256 --drop-last --epochs 2 --noise-multiplier 4 --delta 1e-5",
     "in a secret order of the records that is shuffled afresh, and leaves out those at the end of that order",
     "Not covered are a buffered shuffle", "clipped gradients"),
    ("subsample --scheme shuffle --n 50 --batch-size 20 --epochs 2 --noise-multiplier 4 --delta 1e-5",
     "and uses each of them once; the last, smaller batch has the same noise on its sum", "covers 6 accesses to the data"),
    ("subsample --scheme shuffle --n 50 --batch-size 20 --reshuffle once --epochs 2 --noise-multiplier 4 --delta 1e-5",
     "in a secret order of the records that is the same in all epochs."),
    ("compare --n 60000 --batches full --steps 9 --sigma 1 --lipschitz 1 --delta 1e-5", "all 60000 records",
     "their largest norm 1"),
]


# Those of shuffled batches, whose first bound takes seconds, and a solution that another case solves for less.
LONG = re.compile("--steps 1e4|--epochs 15 --adjacency replace-one|--scheme shuffle|"
                  "--batches shuffled|--solve noise-multiplier")
each_case = pytest.mark.parametrize("case", [slow(case) if LONG.search(case[0]) else case for case in CASES],
                                    ids=[line for line, *_ in CASES])


def stated(line, stdin=b""):
    """The statement in one line, and the command below it."""
    done = call([*shlex.split(line), "--format", "statement"], stdin)
    assert done.returncode == 0, done.stderr
    text, command = done.stdout.rsplit("\n\n", 1)
    return " ".join(text.split()), command


@each_case
def test_the_sentences_of_every_command(case):
    line, *words = case
    text, _ = stated(line)
    for word in words:
        assert word in text
    for word in ("Not covered are", "hyper-parameters", "preprocessing", "other use of the same data",
                 "false-positive rate of 0.1 %", f"dpcalc {__version__}"):
        assert word in text
    assert not re.search(r"None|nan|inf\b|[{}]|\bat most ,|\(\)|  ", text)
    assert all(sentence[0].isupper() or sentence[0].isdigit() for sentence in re.split(r"(?<=[a-z)])\. ", text))


@pytest.mark.parametrize("line", few_of_each(lambda line: line.split()[0], [
    slow(line) if LONG.search(line) else line for line, *_ in CASES]))
def test_the_command_repeats_the_number(line):
    command = stated(line)[1].replace("\\\n", " ")
    again = call([*shlex.split(command)[1:], "-q"])
    assert again.stdout == call([*shlex.split(line), "-q"]).stdout != ""


def test_what_comes_from_a_pipe_is_part_of_the_command():
    data = call(["rdp", "--sigma", "2", "--json"]).stdout
    run = call(shlex.split("subsample - --sampling-rate .01 --steps 1000 --json"), data).stdout
    text, command = stated("convert - --delta 1e-5", run)
    assert "Gaussian noise (noise multiplier 2) on Poisson batches, rate 0.01, 1000 times" in text
    assert "ε = 0.622057" in text and "adding or removing one record" in text
    rate = r"true-positive\s+rate above ([\d.]+) %"
    direct = stated("subsample --sampling-rate .01 --steps 1000 --noise-multiplier 2 --delta 1e-5")[0]
    assert re.search(rate, text).group(1) == re.search(rate, direct).group(1)
    echo, bar, *rest = shlex.split(command.replace("\\\n", " "))[1:]
    assert bar == "|" and rest[0] == "dpcalc"
    again = call([*rest[1:], "-q"], echo)
    assert again.stdout == call(["convert", "-", "--delta", "1e-5", "-q"], run).stdout
    two = "\n".join(json.dumps(json.loads(data)) for _ in range(2))
    text, command = stated("convert - --delta 1e-5", two)
    assert "The composition described below" in text and "Gaussian noise (noise multiplier 2) (2 times)" in text
    echo, bar, *rest = shlex.split(command.replace("\\\n", " "))[1:]
    assert call([*rest[1:], "-q"], echo).stdout == call(["convert", "-", "--delta", "1e-5", "-q"], two).stdout


def test_a_command_is_not_broken_within_a_text():
    text = json.dumps({"promises": ["for some it's --scheme shuffle | for others --batches shuffled"]})
    line = f"echo {shlex.quote(text)} | dpcalc convert - --delta 1e-05 --adjacency replace-one"
    shown = shell_lines(line, 30)
    assert len(shown) == 4 and shlex.split("\n".join(shown).replace("\\\n", "")) == shlex.split(line)


def test_long_lists_stand_in_a_file():
    levels = ",".join(["1"] * 30)
    text, command = stated(f"online-noise --sigmas {levels} {LAST} --index 1 --epsilon 1")
    assert "--sigmas @FILE" in command.replace("\\\n", "").replace("    ", "")
    assert "where FILE holds the values of --sigmas" in text


UNPROVEN = [
    ("shuffle-pnsgd --sigma 4 --lipschitz 1 --n 1000 --tau 1/1000 --epochs 1 --alpha 16 --bound "
     "without-replacement-conjecture", "it rests on a conjecture that nobody has proven. By this formula, "),
    ("shuffle-pnsgd --sigma 4 --lipschitz 1 --n 1000 --tau 1/1000 --epochs 1 --alpha 16 --bound "
     "without-replacement-lower", "it bounds the privacy loss from below, and the true loss may be larger. At best, "),
    ("tv --mechanism laplace --scale 2 --bound tv-laplace-as-published",
     "the published formula behind it is known to be false. By this formula, "),
]


@pytest.mark.parametrize("line, words", UNPROVEN)
def test_what_is_no_guarantee_says_so_first(line, words):
    text, _ = stated(line)
    assert text.startswith(f"This is not a privacy guarantee: {words}")
    assert " would be " in text and "attacker" not in text and "The guarantee covers" not in text


def test_the_worst_record_stands_for_all():
    text, _ = stated("noise-feedback --curvature .7 --learning-rate .1 --sigma 2 --steps 6 --lipschitz 1 --delta 1e-5 "
                     "--index 6")
    assert text.startswith("This is a guarantee for record 6, which is the worst one.")


def test_a_warning_about_delta_is_part_of_the_statement():
    text, _ = stated("subsample --n 1000 --batch-size 10 --steps 9 --sigma 1 --delta .1")
    assert "Caution: δ = 0.1 " in text


# --- the attacker ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.0, 1e-9, 0.1, 1.0, 6.9, 7.0, 20.0, 40.0, 705.0, 1e5])
@pytest.mark.parametrize("delta", [0.0, 1e-300, 1e-9, 0.01, 0.5])
def test_the_rate_of_a_point_is_that_of_its_trade_off_rounded_up(epsilon, delta):
    with mpmath.workdps(60):
        f, e, d = mpmath.mpf(0.001), mpmath.mpf(epsilon), mpmath.mpf(delta)
        true = min(mpmath.mpf(1), mpmath.exp(e) * f + d, 1 - mpmath.exp(-e) * max(1 - d - f, mpmath.mpf(0)))
        assert true <= rate_of_point(epsilon, delta) <= min(1, true * (1 + mpmath.mpf(4e-15)))


def test_the_rate_is_that_of_the_whole_trade_off():
    """Of a Gaussian mechanism: Φ(Φ⁻¹(0.001) + 1/σ), far below what its (ε, δ) allows."""
    shown = Decimal(re.search(r"above ([\d.]+) %", stated("rdp --sigma 1 --delta 1e-5")[0])[1])
    true = NormalDist().cdf(NormalDist().inv_cdf(0.001) + 1)
    assert true * 100 <= shown <= true * 101
    assert rate_of_point(answer("rdp", sigma=1, delta=1e-5).value, 1e-5) > 2 * true


def test_a_guarantee_that_excludes_nothing_says_so():
    assert "excludes no attack at a false-positive rate of 0.1 %" in stated("rdp --sigma .05 --delta 1e-5")[0]
    assert re.search(r"above 99\.\d+ %", stated("rdp --mechanism laplace --scale .07 --delta 0")[0])


# --- where it stands -------------------------------------------------------------------------------------------------


def test_python_has_the_same_text():
    line = "rdp --sigma 1 --delta 1e-5 --format statement"
    assert answer("rdp", sigma=1, delta=1e-5).text("statement") + "\n" == call(line.split()).stdout
    assert "of 3.73064 or more" in solve("rdp", "sigma", epsilon=1, delta=1e-5).text("statement")


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_it_is_wrapped_to_the_width_and_pairs_stay_together(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = call(f"{RUN} --noise-multiplier 1.1 --delta 1e-5 --format statement".split()).stdout.splitlines()
    assert max(map(len, lines)) <= columns
    assert not any(line.endswith((" =", "ε", "(ε,")) or line.startswith(("= ", "% ")) for line in lines)
    assert "\xa0" not in "".join(lines)


@pytest.mark.parametrize("option, said", [
    ("--explain", "--explain"), ("-q", "--quiet"), ("--all", "--all"), ("--digits 20", "--digits"),
    ("--batch -", "--format"), ("--epsilon 2 --sigma 2,3", "--sigma")])
def test_what_does_not_go_with_it(option, said):
    question = "" if "--sigma" in option else "--sigma 1 --delta 1e-5 "
    done = call(f"rdp {question}--format statement {option}".split())
    assert done.returncode == 2 and said in done.stderr and done.stdout == ""


def test_a_schedule_is_no_guarantee():
    schedule = answer("online-noise", noise="laplace", c1=100, c2=100, decay=1.5, schedule="1:3", diameter=1,
                      learning_rate=.1, smoothness=.5)
    with pytest.raises(DpcalcError, match="statement is about a guarantee"):
        schedule.text("statement")

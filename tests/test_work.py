"""Work is counted alike on every machine, and a search that takes much of it ends with what meets the budget so far."""

import pytest
from last_iterate_lines import answer, asked

from dpcalc import solving_last
from dpcalc.numerics import work

SHUFFLED = "shuffle-pnsgd --bound shuffled-iteration --lipschitz"
LONGEST = [
    f"{SHUFFLED} 5.18 --smoothness 0 --diameter .0183 --learning-rate .006284 --epochs 1280 --n 5.17e9 --epsilon 6140 --delta 2.96e-6 --solve sigma",
    f"{SHUFFLED} .854 --smoothness .201 --diameter 7.82 --learning-rate .000133 --n 678000000000 --sigma .474 --strong-convexity 4.45e-7 "
    "--epsilon .0165 --delta .00028 --solve epochs",
    f"{SHUFFLED} 236 --smoothness .247 --diameter .0221 --n 26600000 --epochs 436 --learning-rate .00221 --epsilon 950 --delta 4.71e-5 --solve sigma",
    f"{SHUFFLED} .1 --smoothness .1 --diameter 2 --learning-rate .001 --n 1e12 --sigma .0211 --epsilon .0413 --delta .000134 --solve epochs",
    f"{SHUFFLED} 1 --smoothness .5 --diameter 1 --learning-rate 1 --n 5e9 --epochs 1000 --epsilon .0146 --delta .00197 --solve sigma",
    f"{SHUFFLED} 97.6 --smoothness 0 --diameter .755 --learning-rate 4.03856 --n 1e6 --epochs 1000 --epsilon 7010 --delta .00236 --solve sigma",
    f"{SHUFFLED} 89.5 --smoothness 0 --diameter .809 --learning-rate .0594 --n 290000000000 --epochs 400 --epsilon 281 --delta 4.62e-9 "
    "--solve sigma",
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", LONGEST)
def test_the_longest_answers(line):
    """The solution meets its budget, and the next question about it says so."""
    found = answer(line)[0]["result"]
    budget, unknown = (line.split(f"--{name} ")[1].split()[0] for name in ("epsilon", "solve"))
    question = line.replace(f"--epsilon {budget} ", "").replace(f" --solve {unknown}", "")
    assert answer(f"{question} --{unknown} {found[unknown]!r}")[0]["result"]["epsilon"] <= float(budget)
    assert found["epsilon"] > 0.8 * float(budget)


def test_an_answer_does_not_depend_on_what_was_asked_before():
    """Work counts the same, so that a batch gives the lines that single calls give."""
    counts, said = [], []
    for line in (LONGEST[0], LONGEST[2], LONGEST[0], LONGEST[0]):
        before = work.done()
        said.append(asked(line.split()))
        counts.append(work.done() - before)
    assert said[0] == said[2] == said[3] and counts[0] == counts[2] == counts[3] > 0


def test_a_search_ends_where_its_work_does(monkeypatch):
    """With next to none allowed: the first value that meets the budget."""
    full = answer(LONGEST[4])[0]["result"]
    monkeypatch.setattr(solving_last, "_ENOUGH_WORK", 1.0)
    monkeypatch.setattr(solving_last, "MOST_WORK", 1.0)
    little = answer(LONGEST[4])[0]["result"]
    assert little["sigma"] >= full["sigma"] and little["epsilon"] <= 0.0146


def test_what_is_remembered_is_forgotten():
    asked_for = []
    twice = work.remembered(4)(lambda x: asked_for.append(x) or 2 * x)
    assert [twice(3), twice(3), twice(4)] == [6, 6, 8] and asked_for == [3, 4]
    work.forget()
    assert twice(3) == 6 and asked_for == [3, 4, 3]

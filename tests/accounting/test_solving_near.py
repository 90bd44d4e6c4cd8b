"""--solve over epochs: it meets the budget, and a little less privacy does not."""

import pytest
from last_iterate_lines import answer

RUN = "shuffle-pnsgd --lipschitz 1 --smoothness .5 --diameter 2"
ETA = "--learning-rate .01"
QUESTIONS = [
    (f"{RUN} {ETA} --n 1e6 --epochs 20 --bound shuffled-iteration --solve sigma", "sigma"),
    (f"{RUN} {ETA} --n 1e3 --epochs 100 --bound shuffled-iteration --solve sigma", "sigma"),
    (f"{RUN} {ETA} --n 1e12 --epochs 1000 --bound shuffled-iteration --solve sigma", "sigma"),
    (f"{RUN} {ETA} --n 1e9 --epochs 1000 --index 500000000 --solve sigma", "sigma"),
    (f"{RUN} {ETA} --sigma 4 --epochs 3 --bound shuffled-iteration --solve n", "n"),
    (f"{RUN} {ETA} --sigma 4 --n 1e6 --bound shuffled-iteration --solve epochs", "epochs"),
    (f"{RUN} {ETA} --noise laplace --n 10000 --epochs 1000 --solve scale", "scale"),
]


@pytest.mark.parametrize("line, unknown", QUESTIONS)
def test_a_solution_is_next_to_the_budget(line, unknown):
    found, _ = answer(f"{line} --epsilon 1 --delta 1e-6")
    x, safer = found["result"][unknown], -1 if unknown == "epochs" else 1
    options = line.replace(f" --solve {unknown}", "")

    def epsilon(x):
        return answer(f"{options} --{unknown} {x!r} --delta 1e-6")[0]["result"]["epsilon"]

    less = x * (1 - 0.01 * safer)
    assert 0.998 <= epsilon(x) <= 1 < epsilon(less if unknown in ("sigma", "scale") else int(less))

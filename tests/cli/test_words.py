"""The words of the field that `dpcalc explain` and `dpcalc help` know, and the search for other words."""

import json

import pytest
from calling import shell

from dpcalc.cli.app import main
from dpcalc.cli.pages.explain import named
from dpcalc.commands.glossary import comparable, words


@pytest.fixture
def printed():
    def run(line):
        done = shell(f"dpcalc {line}")
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


ENTRIES = [(entry, name) for entry in words() for name in entry.names]


def test_every_word_of_the_glossary_is_answered_in_any_spelling(printed):
    for _, name in ENTRIES:
        for spelled in {name, name.upper(), name.replace(" ", "-"), name.replace("-", " ")} if len(name) > 2 else {name}:
            assert named(spelled), spelled
    for line in ("dominating pair", "Dominating-Pair", "DOMINATING_PAIR"):
        assert printed(f"explain {line}").startswith("Dominating pair: two distributions that are at least as easy"), line
        assert printed(f"help {line}") == printed(f"explain {line}")


def test_the_glossary_has_no_two_entries_of_one_name():
    names = [comparable(name) if len(name) > 2 else name for entry in words() for name in set(entry.names)]
    assert sorted(names) == sorted(set(names))


ANSWERS = {"RDP": "RDP: a bound ε(α)", "zCDP": "zCDP: ρ-zCDP", "prv": "Privacy loss distribution", "adam": "Optimizer",
           "opacus": "Opacus", "microbatch": "micro-batches", "federated": "Federated learning", "Histogram": "sensitivity",
           "DP-SGD": "DP-SGD", "exit-codes": "Exit code", "csv": "CSV", "sweep": "Sweep", "python": "Python",
           "Rényi order": "Order", "renyi differential privacy": "RDP", "last-iterate": "Last iterate", "Lipschitz": "Lipschitz",
           "tuning": "tuning", "moments accountant": "Accountant", "early-stopping": "Early stopping",
           "user-level dp": "Federated learning", "hidden state": "Last iterate", "SVT": "Sparse vector",
           "advanced composition": "Composition", "median": "Quantile", "figures": "Paper", "w0": "K, w₀", "ε": "ε, δ"}


@pytest.mark.parametrize("word", ANSWERS)
def test_words_that_people_ask_about(word, printed):
    assert printed(f"explain '{word}'").startswith(ANSWERS[word])


def test_letters_of_two_cases_are_two_entries(printed):
    assert printed("explain K").startswith("K, w₀: constraint set") and printed("explain k").startswith("k: ")


@pytest.mark.parametrize("word, says", [
    ("feldman", ("Bounds (dpcalc explain NAME):", "shuffled-ldp-exact", "more")),
    ("clamp", ("Topics (dpcalc help NAME):", "sensitivity  how much one person", "--per-key")),
    ("laplace", ("laplace-exact", "--scale", "Topics")), ("Renyi", ("--alpha", "rdp", "RDP"))])
def test_another_word_lists_what_mentions_it(word, says, printed):
    text = printed(f"help {word}")
    assert f"{word!r} is {'a value of --noise, --mechanism' if word == 'laplace' else 'not a name'}" in text and all(part in text for part in says)
    assert max(map(len, text.splitlines())) <= 100
    assert json.loads(printed(f"explain {word} --json"))[0]["kind"] == "search"


def test_no_dissimilar_name_is_suggested(capsys):
    for word in ("", " ", "-", "a<", "frobenius", "zzz", "strange", "xyzzy", "q" * 10_000):
        assert main(["explain", word]) == 2
        text = capsys.readouterr().err
        assert "did you mean" not in text and len(text) < 400

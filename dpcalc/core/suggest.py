"""The name that a mistyped word probably means: a similar one, or our name for a word of other tools and papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# Our name, and the words that stand for it elsewhere. Options, values and commands share one table; of a word that is
# there several times, the first name among the choices is meant.
_WORDS = {
    "epsilon": "eps privacy-budget target-eps",
    "target-epsilon": "target-eps",
    "alpha": "order",
    "mechanism": "noise",
    "noise-multiplier": "z noise",
    "sigma": "std stddev noise-std variance noise noise-scale",
    "batch-size": "b batch minibatch lot-size",
    "scale": "b noise-scale lambda",
    "clipping-norm": "clip clipping clip-norm max-norm",
    "sampling-rate": "q sampling-probability rate",
    "scheme": "sampling",
    "steps": "iters num-iterations t compositions times rounds",
    "epochs": "passes num-epochs",
    "n": "records samples examples num-samples sample-size",
    "learning-rate": "lr eta gamma step-size rate",
    "lipschitz": "l",
    "smoothness": "beta",
    "strong-convexity": "convexity",
    "diameter": "radius d",
    "adjacency": "neighbours neighbors neighboring relation",
    "bound": "theorem",
    "format": "output-format",
    "output": "o out outfile output-file",
    "explain": "verbose",
    "input": "file",
    "gaussian": "normal",
    "exponential": "em gumbel noisy-max report-noisy-max",
    "above-threshold": "sparse svt threshold abovethreshold",
    "shuffled-ldp": "shuffle shuffler shuffled",
    "without-replacement": "wor uniform fixed-size",
    "poisson": "bernoulli",
    "shuffle": "shuffling reshuffling random-reshuffling",
    "replace-one": "replace substitution",
    "add-remove": "add add-or-remove",
    "zero-out": "zero-one zeroing zeroed-out add-remove",
    "random-allocation": "balls-and-bins balls-in-bins allocation balanced-iteration",
    "dp": "pure approx approximate approx-dp eps-delta epsilon",
    "zcdp": "cdp",
    "rdp": "renyi gaussian laplace mechanism",
    "gdp": "f-dp",
    "json": "yaml",
    "markdown": "md",
    "latex": "tex",
    "table": "text",
    "subsample": "dpsgd dp-sgd sgd poisson",
    "shuffle-pnsgd": "shuffle",
    "convert": "compose composition",
    "tv": "attack",
    "correlated": "dp-ftrl dpftrl ftrl mf dp-mf bandmf matrix-factorization matrix-factorisation",
    "independent": "dp-sgd dpsgd identity",
    "square-root": "sqrt toeplitz",
    "banded-sqrt": "bsr banded bandmf",
    "banded-inverse-sqrt": "bisr",
    "blt-scale": "output-scale",
    "blt-decay": "buf-decay",
    "online-noise": "online stream",
    "bounds": "list catalogue theorems",
    "--help": "help",
    "--version": "version v",
}


def meant(word: str, choices: Sequence[str]) -> str | None:
    """The choice that a word probably stands for, or None. A long option never stands for a short one."""
    return synonym(word, choices) or _similar(*_compared(word, choices))


def synonym(word: str, choices: Sequence[str]) -> str | None:
    """The choice that a word stands for in another spelling or elsewhere, or None."""
    written, known = _compared(word, choices)
    if written in known:
        return known[written]
    return next((known[name.lstrip("-")] for name, words in _WORDS.items()
                 if written in words.split() and name.lstrip("-") in known), None)


def _compared(word: str, choices: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The word and the choices without dashes and in one spelling."""
    known = {c.lstrip("-"): c for c in choices if c.startswith("--")
             or not (c.startswith("-") or word.startswith("--"))}
    return word.lstrip("-").lower().replace("_", "-"), known


def _similar(written: str, known: Mapping[str, str]) -> str | None:
    longer = [name for name in known if name.startswith(written)]
    if len(written) >= 3 and len(longer) == 1:
        return known[longer[0]]
    from difflib import get_close_matches

    close = get_close_matches(written, known, 1)
    return known[close[0]] if close else None

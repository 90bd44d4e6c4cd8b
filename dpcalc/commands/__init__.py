"""The table of commands. A calculator is a command that answers questions. Each has a module, which turns options into
a question, and the question into an answer; the mathematics is in other packages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpcalc.core.command import Command

COMMANDS = {
    "rdp": "Privacy of one mechanism, once or many times",
    "convert": "Convert between guarantees, and compose them",
    "subsample": "Privacy of training on random batches (DP-SGD)",
    "schema": "JSON Schema of a result, and of a command's parameters",
    "shuffle-pnsgd": "Privacy of the last iterate of noisy SGD over shuffled records",
    "online-noise": "Privacy of the last iterate of noisy SGD over a stream, with noise that decays",
    "burn-in": "Noisy SGD: when longer training costs no more privacy",
    "noise-feedback": "Affine gradients with noise feedback",
    "tv": "Total variation: what any attacker can do",
    "compare": "Every guarantee that applies to a training run, and what more assumptions would buy",
    "ledger": "Total privacy loss of several releases, and what is left of a budget",
    "bounds": "The catalogue: every bound, and which command uses it",
    "explain": "A bound's statement, assumptions, source, proof, errata, accuracy",
    "verify": "Recheck a result from the formulas as published",
}
PAGES = frozenset({"schema", "bounds", "explain", "verify"})  # commands that print text, and answer no question


def calculator(name: str) -> Command:
    """The calculator of this name, a key of COMMANDS that is not in PAGES."""
    from importlib import import_module

    command: Command = import_module("dpcalc.commands." + name.replace("-", "_")).COMMAND
    return command

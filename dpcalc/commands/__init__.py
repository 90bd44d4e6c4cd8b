"""The table of commands. A calculator is a command that answers questions. Each has a module, which turns options into
a question, and the question into an answer; the mathematics is in other packages."""

from importlib import import_module

from dpcalc.core.command import Command

# Group in the help → name of a command → what it is for, in one line.
COMMAND_GROUPS = {
    "Calculate": {
        "rdp": "privacy of one mechanism, used once or many times",
        "convert": "convert between guarantees, and compose them",
        "subsample": "privacy of training on random batches (DP-SGD)",
        "correlated": "privacy of noise that is correlated between steps (DP-FTRL)",
        "tv": "total variation: what any attacker can do",
        "audit": "lower bound on ε from what an attack achieved",
    },
    "Last iterate": {
        "shuffle-pnsgd": "noisy SGD over shuffled records, or in a fixed order",
        "online-noise": "noisy SGD over a stream, with a noise level for each step",
        "burn-in": "noisy SGD in batches: when longer training costs no more",
        "noise-feedback": "gradient descent where each step takes back noise",
    },
    "Compare and report": {
        "compare": "every guarantee for a training run, and what would lower ε",
        "ledger": "total of several releases, and what is left of a budget",
    },
    "Look up": {
        "bounds": "list the bounds: their status, commands and sources",
        "explain": "explain a bound, a command, an option or a topic",
        "verify": "recheck results from the formulas as published",
        "schema": "JSON Schema of a result, and of a command's parameters",
        "help": "help on a command or a topic",
        "completion": "print the completion script of a shell",
    },
}
COMMANDS = {name: text for group in COMMAND_GROUPS.values() for name, text in group.items()}
PAGES = frozenset(COMMAND_GROUPS["Look up"])  # commands that print text, and answer no question
CALCULATORS = tuple(name for name in COMMANDS if name not in PAGES)


def calculator(name: str) -> Command:
    """The calculator of this name, one of CALCULATORS."""
    command: Command = import_module("dpcalc.commands." + name.replace("-", "_")).COMMAND
    return command

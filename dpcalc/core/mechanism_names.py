"""The values of --mechanism, one record each: what options, help and validation say of a mechanism before its theorems
are imported. What is known of it is in the record of the same name in dpcalc/accounting/mechanisms."""

from typing import NamedTuple


class MechanismName(NamedTuple):
    """A value of --mechanism."""

    name: str
    spellings: tuple[str, ...] = ()  # other names of it
    # The mechanism of which it is a form that is chosen by options, and these: randomised response with --categories
    # is k-ary
    form_of: str = ""
    by: tuple[str, ...] = ()
    step_epsilon: str = ""  # one use, where its --step-epsilon is the ε of that
    of_keys: bool = False  # about the keys of all the data, so that no random batches are drawn
    before: str = ""  # at what stage it is that, in words after the name


NAMES = (
    MechanismName("gaussian", ("analytic-gaussian", "analytic-gauss")),
    MechanismName("laplace", ("laplacian",)),
    MechanismName("randomized-response", ("rr", "randomised-response", "warner")),
    MechanismName("discrete-gaussian"),
    MechanismName("discrete-laplace", ("geometric", "two-sided-geometric")),
    MechanismName("k-randomized-response", ("k-rr", "krr", "grr", "k-randomised-response"), "randomized-response",
                  ("categories", "step_epsilon"), "report"),
    MechanismName("unary", ("rappor",)),
    MechanismName("optimized-unary", ("oue", "optimised-unary"), "unary", ("step_epsilon",), "report"),
    MechanismName("exponential", ("exponential-mechanism",), step_epsilon="selection"),
    MechanismName("permute-and-flip", ("pf", "permute-flip"), step_epsilon="selection"),
    MechanismName("report-noisy-max", ("noisy-max", "rnm", "noisy-max-laplace", "noisy-max-exponential",
                                       "report-noisy-max-laplace", "report-noisy-max-exponential")),
    MechanismName("noisy-max-gumbel", ("report-noisy-max-gumbel", "gumbel-max", "gumbel-noisy-max")),
    MechanismName("one-shot-top-k", ("top-k", "topk", "one-shot-topk")),
    MechanismName("above-threshold", ("svt", "sparse-vector")),
    *(MechanismName(f"thresholded-{noise}", (), noise, ("threshold",), of_keys=True)
      for noise in ("gaussian", "laplace", "discrete-gaussian", "discrete-laplace")),
    MechanismName("key-selection", ("partition-selection", "optimal-partition-selection", "truncated-geometric"),
                  step_epsilon="selection", of_keys=True),
    MechanismName("shuffled-ldp", step_epsilon="report", before=" before shuffling"),
)


ON_BATCHES = tuple(known.name for known in NAMES if not known.of_keys)  # that can be used on random batches


def of_step_epsilon(use: str) -> str:
    """The mechanisms whose --step-epsilon is the ε of one such use, for its help."""
    return ", ".join(f"{known.name}{known.before}" for known in NAMES if known.step_epsilon == use)


def form(name: str, is_given: set[str]) -> str:
    """The mechanism that a value of --mechanism stands for beside these options, given or solved for."""
    return next((known.name for known in NAMES if known.form_of == name and is_given.intersection(known.by)), name)

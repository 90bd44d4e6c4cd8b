"""A privacy statement: the paragraphs about an answer that a paper or a model card can use as they are.

It says what guidance on reporting asks for (Ponomareva et al. 2023, "How to DP-fy ML", arXiv:2303.00654): the
guarantee, the unit of privacy, the adjacency, what is released, the accesses to the data that are covered, how batches
are drawn, how the number was computed, and how to check it.
"""

import re
from decimal import Decimal

from dpcalc import __version__
from dpcalc.accounting.cautions import FALSE_POSITIVES
from dpcalc.accounting.schemes import SCHEMES
from dpcalc.commands.true_positive_rate import true_positive_rate
from dpcalc.core import audits
from dpcalc.core.bound import CompositionBound
from dpcalc.core.counts import NOT_ABOUT_PRIVACY, PERSON
from dpcalc.core.errors import DpcalcError
from dpcalc.core.numbers import ROUNDED, human, plain
from dpcalc.core.quantities import Quantity
from dpcalc.core.relations import RELATIONS
from dpcalc.core.results import CONVERTED, Answer
from dpcalc.core.text import NO_BREAK, shell_lines
from dpcalc.output import statement_audit
from dpcalc.output.command_line import command_line
from dpcalc.output.statement_procedure import procedure
from dpcalc.output.tables import paragraph, width
from dpcalc.output.theorem import short_source
from dpcalc.output.values import shown_value

# What a statement says first of a headline that is no guarantee, by its status.
_UNPROVEN = {
    "as-published": "the published formula behind it is known to be false",
    "conjecture": "it rests on a conjecture that nobody has proven",
    "limit": "it holds only in the limit, and not for any finite run",
    "lower": "it bounds the privacy loss from below, and the true loss may be larger",
}
_NOT_COVERED = ("Not covered are {choices}preprocessing, and every other use of the same data: each of them costs "
                "privacy of its own where it depends on the data.")


def statement(answer: Answer) -> str:
    """The paragraphs about an answer, wrapped to the width. Raises DpcalcError where there is no number to state."""
    if answer.table or not answer.rows or answer.question.asks in {"feedback", *NOT_ABOUT_PRIVACY}:
        raise DpcalcError("unneeded", "statement is about a guarantee; ask with --delta, --epsilon or --alpha",
                          "--format")
    if answer.question.asks == audits.ASKS:
        return "\n\n".join((_wrapped(statement_audit.sentences(answer)), _computation(answer)))
    status = answer.headline.status
    claim = [] if status == "proven" else [f"This is not a privacy guarantee: {_UNPROVEN[status]}."]
    if answer.only:
        claim.append(f"This is a guarantee {answer.only.text}." if answer.only.is_worst else
                     f"This is no guarantee for the whole data set. It is {answer.only.text}.")
    claim += [_guarantee(answer), _neighbours(answer), *_promises(answer), *procedure(answer), _released(answer)]
    cautions = [f"Caution: {warning}." for warning in answer.warnings if warning not in answer.promises]
    several = answer.command in ("convert", "ledger")  # which may be the runs of a search
    choices = "" if _is_selected(answer) else (
        "further runs for the choice of hyper-parameters, " if several else "the choice of hyper-parameters, ")
    meaning = [*([_attacks(answer)] if status == "proven" else []), *cautions, _NOT_COVERED.format(choices=choices)]
    return "\n\n".join((_wrapped(claim), _wrapped(meaning), _computation(answer)))


# Where a line must not end: within a pair, around an equals sign, and before a unit. A no-break space stands there
# until the text is wrapped.
_TOGETHER = re.compile(r"\([^() ]+, [^() ]+\)| = | %")


def _wrapped(sentences: list[str]) -> str:
    """The sentences as one paragraph."""
    text = _TOGETHER.sub(lambda match: match.group().replace(" ", NO_BREAK), " ".join(sentences))
    return paragraph([text]).replace(NO_BREAK, " ")


# --- the guarantee ---------------------------------------------------------------------------------------------------


def _guarantee(answer: Answer) -> str:
    """The sentence with the numbers: those of the question, or of the budget that the solution meets."""
    status = answer.headline.status
    verb = "would be" if status != "proven" else "are" if answer.command == "ledger" else "is"
    claim = f"{_subject(answer)} {verb} {_claim(answer)}"
    before = {"proven": "", "lower": "At best, "}.get(status, "By this formula, ")
    unknown = answer.question.unknown
    if unknown is not None:
        before += f"{'with' if before else 'With'} {_solution(answer, unknown)}, "
    return f"{before}{claim}." if before else f"{claim[0].upper()}{claim[1:]}."


def _subject(answer: Answer) -> str:
    """What the statement is about."""
    if answer.command == "ledger":
        return "the releases described below, all together,"
    if _is_selected(answer):
        return "the best of the runs described below"
    if answer.command == "convert":
        several = answer.extra.get("steps", 1) > 1 or len(answer.inputs) > 1
        return "the composition described below" if several else "a mechanism with the guarantee below"
    if answer.scope:
        return f"{answer.scope.removeprefix('for ')} of the training run described below"
    trains = answer.command not in ("rdp", "tv") or "scheme" in answer.parameters
    return "the training run described below" if trains else "the mechanism described below"


def _claim(answer: Answer) -> str:
    """The guarantee as the words after 'is'."""
    asks, numbers = answer.question.asks, {name: _number(answer, name) for name in
                                           ("epsilon", "delta", "rdp", "alpha", "mu", "rho", "tv", "tpr", "fpr")}
    if asks in ("epsilon", "delta") and answer.headline.result.get("delta", answer.question.delta) == 0:
        return f"ε-differentially private (pure differential privacy, δ = 0) with ε = {numbers['epsilon']}"
    return {
        "epsilon": "(ε, δ)-differentially private with ε = {epsilon} and δ = {delta}",
        "delta": "(ε, δ)-differentially private with ε = {epsilon} and δ = {delta}",
        "rdp": "(α, ε)-Rényi differentially private with ε(α) = {rdp} at the order α = {alpha}",
        "mu": "μ-Gaussian differentially private (μ-GDP) with μ = {mu}",
        "rho": "ρ-zero-concentrated differentially private (ρ-zCDP) with ρ = {rho}",
        "tv": "such that its output distributions on two neighbouring data sets have total variation at most {tv}",
        "tpr": "such that every test with a false-positive rate of {fpr} has a true-positive rate of at most {tpr}",
    }[asks].format(**numbers)


def _number(answer: Answer, name: str) -> str:
    """A number of the guarantee: the budget where a parameter was solved for, a number of the question as it was given,
    or the computed one, rounded up. '' where there is none."""
    question, result = answer.question, answer.headline.result
    if question.unknown and question.target is not None and name == question.asks:
        return plain(question.target)
    given = getattr(question, name, None)
    if given is not None and result.get(name, given) == given:
        return plain(given)
    return shown_value(answer, name, answer.headline) if name in result else ""


def _solution(answer: Answer, unknown: Quantity) -> str:
    """The solution of --solve, as in 'a noise multiplier of 1.6 or more'."""
    value = shown_value(answer, unknown.name, answer.headline)
    one_sided = not (unknown.non_monotone or unknown.both)
    if unknown.kind == "count" or unknown.name == "epochs":
        noun = {"n": "records", "batch_size": "records in a batch"}.get(unknown.name, unknown.name)
        return f"{value} {noun}{' or more' if unknown.safe_direction > 0 else ' or fewer'}" if one_sided else value
    name = _NAMES.get(unknown.name, f"a {unknown.name.replace('_', ' ')}")
    return f"{name} of {value}{(' or more' if unknown.safe_direction > 0 else ' or less') if one_sided else ''}"


_NAMES = {"sigma": "a standard deviation σ", "scale": "a scale v of the Laplace noise",
          "probability": "a probability of the true answer", "c1": "a constant C1 of the noise schedule",
          "mu": "a parameter μ of each release", "rho": "a parameter ρ of each release",
          "epsilon": "an ε of each release", "tv": "a total variation of each release",
          "kl": "a Kullback–Leibler divergence of each release", "max_weight": "a largest weight"}


# --- neighbours, and what is released --------------------------------------------------------------------------------


def _neighbours(answer: Answer) -> str:
    """The relation of neighbouring data sets, and the unit of privacy."""
    relation, size = RELATIONS.get(answer.adjacency), answer.group_size
    if size > 1:
        differ = relation.groups_differ if relation else (
            "differ in at most {size} records, each in the way that the given numbers refer to")
        return (f"Neighbouring data sets {differ.format(size=size)}. The unit of privacy is a group of {size} records, "
                f"as all records of a user who has no more than {size}.")
    if answer.of_respondents:
        return "Neighbouring data sets differ in one respondent's answer, which is the unit of privacy."
    if relation and _is_about_people(answer):
        return (f"Neighbouring data sets {relation.differ}, where a record is all that one person contributes. The "
                "unit of privacy is one person.")
    if relation:
        return (f"Neighbouring data sets {relation.differ}. The unit of privacy is one record: whoever has several "
                "records is protected less.")
    of = ("that the sensitivity of the query refers to" if "mechanism" in answer.parameters else
          "that each release refers to" if answer.command == "ledger" else "of the given guarantee")
    return f"Neighbouring data sets are those {of}; what they differ in is the unit of privacy."


def _is_about_people(answer: Answer) -> bool:
    """Whether all releases say what one person contributes, so that a record is a person."""
    if "l0_sensitivity" in answer.extra or not answer.inputs:
        return any(promise.startswith(PERSON) for promise in answer.promises) and not answer.inputs
    return all(any(promise.startswith(PERSON) for promise in item.get("promises") or ()) for item in answer.inputs)


def _promises(answer: Answer) -> list[str]:
    """The sentences on guarantees that were converted, and on what must hold besides the theorems' assumptions."""
    converted = [f"{note[0].upper()}{note[1:]}." for note in answer.notes if note.endswith(CONVERTED)]
    # of a run's own batches the sentence on how they are drawn says it
    said = {scheme.promise for scheme in SCHEMES.values()} if {"scheme", "batches"} & answer.parameters.keys() else ()
    conditions = [promise for promise in answer.promises if promise not in said]
    if answer.command == "correlated" or not conditions:  # the sentence on its steps says them
        return converted
    return [*converted, f"The guarantee has conditions: {'; '.join(conditions)}."]


def _is_selected(answer: Answer) -> bool:
    """Whether the number is about the best of a random number of runs."""
    return "expected_runs" in answer.extra


def _released(answer: Answer) -> str:
    """What may be published, and the number of accesses to the data that are covered."""
    if _is_selected(answer):
        of_one = int(answer.extra.get("steps", 1))
        accesses = f"; each run makes {of_one} accesses to the data" if of_one > 1 else ""
        return ("The guarantee covers the release of the run with the largest score, and of anything computed from it, "
                f"out of a random number of runs, {plain(answer.extra['expected_runs'])} expected{accesses}.")
    covers = "The guarantee covers" if answer.headline.status == "proven" else "The number is for"
    steps = answer.extra.get("steps")
    accesses = "" if steps is None else "one access to the data, and " if steps == 1 else (
        f"{int(steps)} accesses to the data, and ")
    if answer.command == "convert" or (answer.command == "tv" and "mechanism" not in answer.parameters):
        releases = f"{int(steps)} releases" if steps is not None and steps > 1 else "the release"
        return f"{covers} {releases} of what the given one covers."
    article = "the " if answer.released.startswith("last ") else ""
    return f"{covers} {accesses}the release of {article}{answer.released} and of anything computed from it."


# --- attacks ---------------------------------------------------------------------------------------------------------


def _attacks(answer: Answer) -> str:
    """What the guarantee means for an attacker."""
    rate, fpr = true_positive_rate(answer), _percent(FALSE_POSITIVES)
    if rate == 1:
        return f"The guarantee excludes no attack at a false-positive rate of {fpr}."
    return (f"Whatever else an attacker knows, no test of {_tested(answer)} has a true-positive rate above "
            f"{_percent(rate)} at a false-positive rate of {fpr}.")


def _percent(share: float) -> str:
    """A share of 1 as a percentage, rounded up in three digits; near 1 the missed share is rounded down in two."""
    if share < 0.99:
        percentage = 100 * Decimal(human(share, 3, rounded=ROUNDED))
    else:
        percentage = 100 - 100 * Decimal(human(1 - share, 2, upward=False))
    return f"{percentage.normalize():f} %"


def _tested(answer: Answer) -> str:
    """What an attacker tests, in words that continue 'no test of'."""
    relation = RELATIONS.get(answer.adjacency)
    if answer.of_respondents:
        return "what a respondent's true answer is"
    if relation is None:
        return "which of two neighbouring data sets was used"
    if answer.only and not answer.only.is_worst:
        return relation.tested_of_one
    return relation.tested_of_group.format(size=answer.group_size) if answer.group_size > 1 else relation.tested


# --- the theorem -----------------------------------------------------------------------------------------------------


def _computation(answer: Answer) -> str:
    """How the number was computed: the theorems with their sources, the program, and the command on its own lines."""
    theorems = answer.headline.route.theorems
    names = " and ".join(f"{theorem.name} ({short_source(theorem.source)})" for theorem in theorems)
    subject = "theorems are" if len(theorems) > 1 else "theorem is"
    assumed = answer.headline.context.get("assumes")  # of a comparison
    if answer.question.asks == audits.ASKS:
        assumed = ""  # said already
    elif not assumed and "scheme" not in answer.parameters:  # adjacency and schemes have sentences of their own
        assumed = "; ".join(a for theorem in theorems for a in theorem.theorem.assumptions
                            if not a.startswith("neighbours differ"))
    lower = answer.headline.route.bound.is_from_below
    line = command_line(answer)
    files = f", where FILE holds {line.files}" if line.files else ""
    text = _wrapped([f"The {subject} {names}: {_method(answer)}.", *([f"It assumes: {assumed}."] if assumed else []),
                     *(["The number was proven in ball arithmetic."] if answer.certified else []),
                     f"Results are rounded {'down' if lower else 'to the safe side'}. They were computed by dpcalc "
                     f"{__version__} with this command{files}:"])
    return "\n".join((text, "", *(f"    {part}" for part in shell_lines(line.text, width() - 4))))


def _method(answer: Answer) -> str:
    """How the number follows from the theorem, in words."""
    bound = answer.headline.route.bound
    if _is_selected(answer):
        return "the guarantee of one run becomes that of the best of a random number of runs"
    if bound.is_numerical(answer.headline.params):
        return CompositionBound.method
    if not answer.headline.route.conversion:
        return bound.method
    if answer.extra.get("steps", 1) > 1 and not bound.is_of_whole_run:
        return "the Rényi divergences of all steps are added up, and their sum is converted to (ε, δ)"
    return "a bound on the Rényi divergence is converted to (ε, δ)"

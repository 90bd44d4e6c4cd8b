"""Every mechanism in every use: what is forgotten of a new one is named here, by the use that lacks it."""

import json
from pathlib import Path

import domains
import pytest
from calling import call
from conftest import slow, spread
from levels import levels

from dpcalc import accounting, bounds
from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.accounting.schemes import SCHEMES
from dpcalc.bounds.total_variation.closed_forms import CLOSED_FORMS
from dpcalc.commands.catalogue import entries
from dpcalc.core import counts
from dpcalc.core import quantities as q
from dpcalc.core.errors import flag
from dpcalc.core.mechanism_names import ON_BATCHES
from dpcalc.verify.mechanisms import losses

NINE = ("--steps", "9")
RUNS = {"weighted": ("--max-weight", ".01", *NINE), "cyclic-poisson": ("--sampling-rate", ".01", "--bands", "1", *NINE),
        "random-allocation": ("--steps-per-epoch", "100", "--epochs", "1"),
        "shuffle": ("--n", "1000", "--batch-size", "10", "--epochs", "1"),
        "with-replacement": ("--n", "1000", "--batch-size", "10", "--steps", "9")}
BUDGET = ("--epsilon", "2", "--delta", "1e-5")


def options(name):
    """A mechanism with its noise, as options."""
    return ("--mechanism", name, *(word for option, value in levels(name).items() for word in (flag(option), repr(value))))


def answered(*args, stdin=""):
    """The JSON of an answer, which is no fault."""
    code, out, err = call([*args, "--json"], stdin)
    assert code == 0, f"dpcalc {' '.join(args)}: {err}"
    return json.loads(out)


def refused(reason, *args, stdin=""):
    """What a mechanism cannot do is refused with a sentence."""
    code, out, err = call([*args, "--json"], stdin)
    assert code == 2 and out == "" and reason in err, err


def test_every_table_of_mechanisms_has_the_same_names():
    shared = {"optimized_unary", "permute_and_flip", "noisy_max_gumbel"}  # bounds of another mechanism
    for room, others in ((accounting, {"__init__", "record"}),
                         (bounds, {"__init__", "finite", "whole_sensitivity", "shuffled_ldp_lower", "noise_accuracy",
                                "thresholded", "thresholded_composed"})):
        files = {path.stem for path in (Path(room.__file__).parent / "mechanisms").glob("*.py")} - others
        own = {name.replace("-", "_") for name in q.MECHANISM.choices}
        if room is bounds:
            own -= {*shared, *(name for name in own if name.startswith("thresholded"))}
        assert not files - own, f"core/mechanism_names.py: NAMES lack {files - own}"
        assert not own - files, f"{room.__name__}.mechanisms lacks a file {own - files}"
    for name, mechanism in MECHANISMS.items():
        where = f"accounting/mechanisms/{name.replace('-', '_')}.py"
        assert mechanism.name == name, f"{where}: its name is {mechanism.name}"
        said = []
        mechanism.sentence(lambda option, said=said: said.append(option) or "1")
        assert {*mechanism.options} <= {*said}, f"{where}: its sentence does not say {({*mechanism.options} - {*said})}"
        assert mechanism.part.as_fields or not {*mechanism.options} - {*mechanism.part.fields, "n"}, f"{where}: fields of part"
    missing = {name for name, mechanism in MECHANISMS.items() if mechanism.curve} - domains.PARAMETERS.keys()
    assert not missing, f"tests/oracles/domains.py: PARAMETERS of {missing}"
    by_ratio = {name for name, mechanism in MECHANISMS.items() if mechanism.tv.ratio}
    assert set(CLOSED_FORMS) == by_ratio, "bounds/total_variation/closed_forms.py: CLOSED_FORMS"
    levels = {option for m in MECHANISMS.values() for option in (*m.options, *m.optional)} - {"sensitivity", "n"}
    known = {option.name for option in (*q.MECHANISM_OPTIONS, *counts.MECHANISM_OPTIONS)}
    assert known == levels, "core/quantities.py and core/counts.py: MECHANISM_OPTIONS"


@pytest.mark.parametrize("name", MECHANISMS)
def test_verify_knows_the_losses_of_every_mechanism(name):
    (part,) = answered("rdp", *options(name))["guarantee"]["mechanisms"]
    assert losses(part), "verify/mechanisms.py describes it, unless its exact profile has `outcomes`"


@spread("name", [slow(name) if name == "shuffled-ldp" else name for name in MECHANISMS])
@pytest.mark.parametrize("question, steps", [
    (("--delta", "1e-5"), "9"), (("--epsilon", ".5"), "1"), (("--alpha", "3"), "9"),
    slow(("--delta", "1e-5"), "1"), slow(("--epsilon", ".5"), "9"), slow(("--alpha", "3"), "1")], ids=" ".join)
def test_questions(name, steps, question):
    run = ("rdp", *options(name), "--steps", steps)
    if question[0] == "--alpha" and MECHANISMS[name].curve is None:
        return refused("ask with --delta", *run, *question)
    record = answered(*run, *question)
    verdict = answered("verify", "-", stdin=json.dumps(record))
    assert verdict["verified"], verdict
    assert all(call(["explain", bound["name"]])[0] == 0 for bound in record["bounds"] if bound["name"] in entries())


@pytest.mark.parametrize("name", [slow(name) if name == "shuffled-ldp" else name for name in MECHANISMS])
@pytest.mark.parametrize("steps", ("1", "9"))
def test_solving(name, steps):
    unknown = MECHANISMS[name].options[0]
    others = (word for option, value in levels(name).items() if option != unknown for word in (flag(option), repr(value)))
    run = ("rdp", "--mechanism", name, "--steps", steps, *others)
    found = answered(*run, *BUDGET, "--solve", flag(unknown))["result"]
    again = answered(*run, flag(unknown), repr(found[unknown]), "--delta", "1e-5")["result"]
    assert again["epsilon"] <= 2 and answered("rdp", *options(name), *BUDGET, "--solve",
                                              "steps")["result"]["steps"] >= 1


@pytest.mark.parametrize("name", [slow(name) if name == "shuffled-ldp" else name for name in MECHANISMS])
@pytest.mark.parametrize("steps", ("1", "9"))
def test_total_variation(name, steps):
    run, described = ("tv", *options(name), "--steps", steps), ""
    if name not in ON_BATCHES:
        refused("is not one of", "tv", "--mechanism", name)
        run, described = ("tv", "-"), json.dumps(answered("rdp", *options(name), "--steps", steps))
    record = answered(*run, stdin=described)
    assert 0 < record["result"]["tv"] < 1 and answered("verify", "-", stdin=json.dumps(record))["verified"]
    assert 0.1 < answered(*run, "--fpr", ".1", stdin=described)["result"]["tpr"] < 1


@pytest.mark.parametrize("scheme, name", [
    slow(scheme, name) if k % 2 or scheme == "shuffle" or (scheme, name) == ("random-allocation", "gaussian")
    else (scheme, name) for k, name in enumerate(MECHANISMS) for scheme in q.SCHEME.choices])
def test_samples(name, scheme):
    run = ("subsample", *options(name), "--scheme", scheme, *RUNS.get(scheme, ("--sampling-rate", ".01", *NINE)))
    if name not in ON_BATCHES:
        return refused("is not one of", "subsample", "--mechanism", name, "--delta", "1e-5")
    if reason := MECHANISMS[name].query.not_sampled:
        return refused(reason, "subsample", *options(name), "--scheme", scheme, "--delta", "1e-5")
    if SCHEMES[scheme].only and name not in SCHEMES[scheme].only:
        assert call([*run, "--delta", "1e-5"])[0] == 2
        return
    record = answered(*run, "--delta", "1e-5")
    assert 0 < record["result"]["epsilon"] < 3
    piped = answered("convert", "-", "--steps", "2", "--delta", "1e-5", stdin=json.dumps(record))
    assert piped["result"]["epsilon"] > record["result"]["epsilon"]


@pytest.mark.parametrize("name", MECHANISMS)
def test_numbers_in_json_have_a_range(name):
    """A probability is between 0 and 1, a whole number at least 1 (at least 2 categories), every other one positive."""
    given = answered("rdp", *options(name), *NINE)["guarantee"]
    (part,) = given["mechanisms"]

    def asked(field, x):
        changed = json.dumps({**given, "mechanisms": [{**part, field: x}]})
        return call(["convert", "-", "--delta", "1e-3", "--json"], changed)

    ranges = {"probability": ((0.5, 0.95), (0, 1, 1.5)), "flip_probability": ((0.05, 0.5), (0, 1, 1.5)),
              "categories": ((2, 3), (1, 2.5)), "contributors": ((1,), (0, 3, 1.5)),
              "step_delta": ((1e-6, 1e-5), (0, 1, 1.5)), "threshold": ((80.0, 90.0), (0, -1.5)),
              "per_key": ((1.0, 2.0), (0, -1.5))}
    for field in set(part) - {"name", "count", "sampling"}:
        usual = ((1, 2), (0, 1.5)) if isinstance(part[field], int) else ((0.5, 2.0), (0, -1.5))
        inside, outside = ranges.get(field, usual)
        for x in inside:
            code, _, err = asked(field, x)
            assert code == 0, (field, x, err)
        for x in outside:
            code, out, err = asked(field, x)
            assert code == 2 and not out and f"mechanisms.0.{field}: {x:g} is not" in err, (field, x, out, err)


@pytest.mark.parametrize("name", [slow(name) if name in ("above-threshold", "discrete-laplace", "laplace") else name
                                  for name in MECHANISMS])
def test_pipes(name):
    described = json.dumps(answered("rdp", *options(name)))
    for question in (("--delta", "1e-5"), ("--epsilon", ".5"), ("--alpha", "3"), ("--to", "tv")):
        if question[0] == "--alpha" and MECHANISMS[name].curve is None:
            refused("no RDP curve", "convert", "-", *question, stdin=described)
        else:
            assert answered("convert", "-", "--steps", "2", *question, stdin=described)["status"] == "proven"
    if reason := MECHANISMS[name].query.not_sampled:
        return refused(reason, "subsample", "-", "--scheme", "without-replacement", "--sampling-rate", ".1", "--delta",
                       "1e-5", stdin=described)
    assert answered("subsample", "-", "--scheme", "without-replacement", "--sampling-rate", ".1", "--delta", "1e-5",
                    stdin=described)["status"] == "proven"


@pytest.mark.parametrize("name", MECHANISMS)
def test_batches_and_plots(name):
    first, more = repr(level := levels(name)[MECHANISMS[name].options[0]]), repr(level * 1.1)
    line = json.dumps({"mechanism": name, **levels(name)})
    code, out, err = call(["rdp", "--batch", "--delta", "1e-5"], line)
    assert code == 0 and json.loads(out)["status"] == "proven", err
    swept = [f"{first},{more}" if word == first else word for word in options(name)]
    code, out, err = call(["rdp", *swept, "--delta", "1e-5", "--plot", "-"])
    assert code == 0 and out, err

"""Which data sets a number compares, wherever mechanisms, batches, guarantees and commands meet: every cell of the table
is answered for the right neighbours, with a promise where something must hold, or is refused with a way out."""

import json
import warnings
from itertools import product

import pytest
from conftest import slow, spread
from levels import levels

import dpcalc
from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.core import quantities as q
from dpcalc.core.mechanism_names import ON_BATCHES

ADD, ZERO, REPLACE = RELATIONS = ("add-remove", "zero-out", "replace-one")
# Scheme → relation of the run → (relation between two batches that its theorem needs, whether the query must be a sum,
# whether the theorem is about Gaussian noise alone). The first one is the usual relation.
TABLE = {
    "poisson": {ADD: (ADD, False, False), ZERO: (ADD, True, False), REPLACE: (ADD, False, False)},
    "truncated": {ZERO: (ADD, True, True), REPLACE: (ADD, False, True)},
    "cyclic-poisson": {ZERO: (ADD, True, False), REPLACE: (ADD, False, False)},
    "random-allocation": {ADD: (ADD, False, True), ZERO: (ADD, True, True), REPLACE: (ADD, False, True)},
    "without-replacement": {REPLACE: (REPLACE, False, False), ZERO: (ZERO, True, True)},
    "weighted": {REPLACE: (REPLACE, False, False)},
    "shuffle": {ZERO: (ZERO, False, True), REPLACE: (REPLACE, False, True)},
    "with-replacement": {REPLACE: (REPLACE, False, True), ZERO: (ZERO, True, True)},
}
BY_RATE = {"sampling_rate": 0.1, "steps": 2}
RUNS = {"truncated": {"n": 100, "batch_size": 10, "max_batch_size": 20, "steps": 2},
        "cyclic-poisson": {**BY_RATE, "bands": 1}, "random-allocation": {"steps_per_epoch": 4, "epochs": 1},
        "weighted": {"max_weight": 0.1, "steps": 2}, "shuffle": {"n": 20, "batch_size": 5, "epochs": 1},
        "with-replacement": {"n": 20, "batch_size": 2, "steps": 2}}
REPORTS = ("randomized-response", "k-randomized-response", "unary", "optimized-unary", "shuffled-ldp")
NOT_SAMPLED = REPORTS
KINDS = {
    "mechanisms": {"mechanisms": [{"name": "gaussian", "noise_multiplier": 2.0}]},
    "rdp": {"alpha": [2.0, 4.0, 8.0], "rdp": [0.25, 0.5, 1.0]}, "gdp": {"mu": 0.5}, "zcdp": {"rho": 0.125},
    "dp": {"epsilon": 0.5, "delta": 1e-4}, "tv": {"tv": 0.2}, "profile": {"epsilon": [0.0, 1.0], "delta": [0.2, 0.03]},
    "outcomes": {"p": [0.6, 0.4], "q": [0.4, 0.6]},
}
WAYS_OUT = ("use ", "give ", "write ", "state ", "drop it", "compute it", "compute ", "add --adjacency", "describe ",
            "ask with", "leave out", "supported for", "(or --adjacency", " point can")


def batches(scheme):
    return {"scheme": "poisson" if scheme == "truncated" else scheme, **RUNS.get(scheme, BY_RATE)}


def asked(command, **options):
    """An answer with its warnings, or the message of a refusal, which is one line with a way out."""
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        try:
            return dpcalc.answer(command, **options), [str(w.message) for w in raised]
        except dpcalc.DpcalcError as error:
            assert "\n" not in error.message and any(way in error.message for way in WAYS_OUT), error.message
            return None, error.message


def guarantee(kind, relation):
    return {"kind": kind, **KINDS[kind], **({"adjacency": relation} if relation else {})}


def test_the_table_has_every_scheme():
    assert set(TABLE) - {"truncated"} == set(q.SCHEME.choices)
    differ = {name for name, mechanism in MECHANISMS.items() if mechanism.query.of_respondents} ^ set(REPORTS)
    assert not differ, f"REPORTS here and `query` in accounting/mechanisms disagree about {differ}"


def about_numbers(found):
    """The promises of an answer on what its numbers bound, without those on its batches and on its releases."""
    others = ("batches must be Poisson samples", "each record must draw its step", "every epoch must put all n records", "noise, rates and steps of all")
    return [promise for promise in found.promises if not promise.startswith(others)]


LONG = {"shuffle", "without-replacement", "weighted", "random-allocation", "truncated"}  # to be composed


@pytest.mark.parametrize("scheme", [slow(scheme) if scheme in LONG else scheme for scheme in TABLE])
def test_mechanisms_that_options_describe(scheme):
    """By a number that says how much one record changes: a promise says between which batches that must hold."""
    for name, relation in product((*ON_BATCHES, "noise multiplier"), (None, *RELATIONS)):
        by_multiplier, row = name == "noise multiplier", TABLE[scheme]
        options = {"noise_multiplier": 2.0} if by_multiplier else {"mechanism": name, **levels(name)}
        options |= batches(scheme) | ({"adjacency": relation} if relation else {})
        if name == "shuffled-ldp":
            options["n"] = 100
        found, said = asked("subsample", **options, epsilon=0.5)
        own = relation or next(iter(row))
        where = (scheme, name, relation, said)
        if own not in row or name in NOT_SAMPLED:
            assert found is None, where
            continue
        base, is_sum, only_gaussian = row[own]
        allowed = by_multiplier or ((name == "gaussian" or not only_gaussian) and (base == own or is_sum))
        assert (found is not None) == allowed, where
        if found is None:
            continue
        words = {ADD: "added to a batch or removed", REPLACE: "a record of a batch is replaced", ZERO: "becomes 0"}[base]
        assert found.adjacency == found.guarantee["adjacency"] == own, where
        promises = about_numbers(found)
        assert bool(promises) != by_multiplier, where
        assert by_multiplier or (words in promises[0] and found.guarantee["promises"] == list(found.promises))
        assert by_multiplier or is_sum == any("zeroed record adds nothing" in x for x in found.promises), where


@spread("scheme", [slow(scheme) if scheme in ("random-allocation", "truncated") else scheme for scheme in TABLE])
def test_guarantees_on_batches(scheme):
    """A guarantee is that of a batch if it states what the theorem needs, or nothing and the run's relation is that."""
    if scheme == "shuffle":
        return
    answered = 0
    for kind, own, relation in product(KINDS, (None, *RELATIONS), (None, *RELATIONS)):
        run = batches(scheme) | ({"adjacency": relation} if relation else {})
        # one use of each kind: what has no profile or curve is known by its (ε, δ) alone
        run = {name: x for name, x in run.items() if name != "steps"} if kind == "dp" and "n" not in run else run
        found, said = asked("subsample", inputs=[guarantee(kind, own)], **run, epsilon=0.5)
        of_run, row = relation or next(iter(TABLE[scheme])), TABLE[scheme]
        where = (scheme, kind, own, relation, said)
        if of_run not in row:
            assert found is None, where
            continue
        base, is_sum, _ = row[of_run]
        fits = own == base or (is_sum and own == ZERO and kind == "mechanisms")
        bound = own is None and (base == of_run or (is_sum and kind == "mechanisms"))
        if not fits and not bound:
            assert found is None, where
        elif found is not None:  # else there is no theorem for this kind
            answered += 1
            assert found.adjacency == found.guarantee["adjacency"] == of_run, where
            assert fits or any("must" in promise for promise in found.promises), where
            assert bool(said) == (bound and base == REPLACE), where  # a warning, as the usual sensitivity doubles there
    assert answered >= len(TABLE[scheme])


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("command", ["rdp", "tv"])
def test_mechanisms_on_all_records(command, mechanism):
    if command == "tv" and mechanism not in ON_BATCHES:
        pytest.skip("dpcalc tv reads it from a pipe")
    own = {"mechanism": mechanism, **levels(mechanism)}
    asks = {"epsilon": 0.5} if command == "rdp" else {}
    unstated, _ = asked(command, **own, **asks)
    for relation in RELATIONS:
        found, said = asked(command, **own, **asks, adjacency=relation)
        if mechanism in REPORTS:
            assert (found is not None) == (relation == REPLACE), said
        if found is not None:
            of_two = MECHANISMS[mechanism].states_relation and relation == REPLACE  # the keys of two people
            assert found.value > unstated.value if of_two else found.value == unstated.value
            assert found.guarantee["adjacency"] == relation
    stated = ADD if MECHANISMS[mechanism].states_relation else None
    assert unstated.guarantee.get("adjacency") == (REPLACE if mechanism in REPORTS else stated)


@pytest.mark.parametrize("command", [slow("convert"), slow("tv"), slow("ledger")])
def test_guarantees_that_compose(command):
    """All that state a relation share it; the others are bound to it, with a promise."""
    asks = {"tv": {}, "convert": {"epsilon": 0.5}, "ledger": {"delta": 0.7}}[command]

    def compose(*guarantees, **more):
        given = {"file": {"release": list(guarantees)}} if command == "ledger" else {"inputs": list(guarantees)}
        return asked(command, **given, **asks, **more)

    for first, second in product(KINDS, ("gdp", "outcomes")):
        for own, other in product((None, *RELATIONS), repeat=2):
            found, said = compose(guarantee(first, own), guarantee(second, other))
            stated, where = {own, other} - {None}, (first, second, own, other, said)
            if len(stated) > 1:
                assert found is None and "different neighbours" in said and "replace-one" in said, where
                converted, why = compose(guarantee(first, own), guarantee(second, other), adjacency=REPLACE)
                if {kind for kind, r in ((first, own), (second, other)) if r != REPLACE} & {"outcomes"}:
                    assert converted is None and "give those on two data sets" in why, where
                else:
                    assert converted is not None or "which says nothing" in why, (where, why)
                    assert converted is None or converted.adjacency == REPLACE
                continue
            assert found is not None, where
            assert found.guarantee.get("adjacency") == next(iter(stated), None), where
            promised = bool(stated) and None in (own, other)
            assert bool(about_numbers(found)) == promised and bool(said) == (promised and stated == {REPLACE}), where


def test_what_is_stated_is_never_read_as_another_relation():
    """From replaced records nothing follows for added ones; reports are about replaced ones alone."""
    for kind in KINDS:
        found, said = asked("convert", inputs=[guarantee(kind, REPLACE)], adjacency=ADD, epsilon=0.5)
        assert found is None and "nothing follows" in said
        assert asked("convert", inputs=[guarantee(kind, None)], adjacency=ADD, epsilon=0.5)[0].adjacency == ADD
    report = {"kind": "mechanisms", "mechanisms": [{"name": "randomized-response", "probability": 0.7}]}
    assert asked("convert", inputs=[report], epsilon=0.5)[0].adjacency == REPLACE
    for relation in (ADD, ZERO):
        assert asked("convert", inputs=[{**report, "adjacency": relation}], epsilon=0.5)[0] is None
        assert asked("convert", inputs=[report], adjacency=relation, epsilon=0.5)[0] is None


# --- the same number by every way ------------------------------------------------------------------------------------


def value(command, **options):
    return asked(command, **options)[0].value


@pytest.mark.parametrize("run", [{"sampling_rate": 0.05}, {"scheme": "cyclic-poisson", "sampling_rate": 0.05, "bands": 2}])
def test_replaced_records_on_poisson_batches_by_every_way(run):
    """Z, σ = Z for added records in a pipe, and 1/Z-GDP."""
    run = {**run, "steps": 30, "adjacency": REPLACE, "delta": 1e-5}
    by_multiplier = value("subsample", noise_multiplier=1.5, **run)
    described = dpcalc.answer("rdp", sigma=1.5, adjacency=ADD)
    assert value("subsample", inputs=[described], **run) == pytest.approx(by_multiplier, rel=1e-9)
    if "scheme" not in run:
        gdp = {"kind": "gdp", "mu": 1 / 1.5, "adjacency": ADD}
        assert value("subsample", inputs=[gdp], **run) == pytest.approx(by_multiplier, rel=2e-3)
    piped = dpcalc.answer("subsample", noise_multiplier=1.5, **run)
    assert value("convert", inputs=[piped], delta=1e-5) == pytest.approx(by_multiplier, rel=1e-3)
    assert value("ledger", file={"release": [json.loads(piped.json())]}, delta=1e-5) == pytest.approx(by_multiplier,
                                                                                                       rel=1e-3)
    removed = dpcalc.answer("subsample", noise_multiplier=1.5, **{**run, "adjacency": ADD if "scheme" not in run else ZERO})
    assert value("convert", inputs=[removed], adjacency=REPLACE, delta=1e-5) == pytest.approx(by_multiplier, rel=1e-3)


def test_zeroed_records_have_the_numbers_of_removed_ones_on_poisson_batches():
    run = {"sampling_rate": 0.05, "steps": 30, "delta": 1e-5, "noise_multiplier": 1.5}
    assert value("subsample", **run) == value("subsample", **run, adjacency=ZERO) < value("subsample", **run,
                                                                                         adjacency=REPLACE)


def test_promises_are_carried_on():
    """From options to a pipe, a ledger, a statement and JSON."""
    first = dpcalc.answer("subsample", mechanism="laplace", scale=2, sampling_rate=0.1, steps=2, delta=1e-5)
    (promise,) = about_numbers(first)
    for found in (dpcalc.answer("convert", inputs=[first], delta=1e-5), dpcalc.answer("tv", inputs=[first]),
                  dpcalc.answer("ledger", file={"release": [json.loads(first.json())]}, delta=1e-5)):
        assert promise in found.promises and promise in json.loads(found.json())["promises"]
        assert promise in found.guarantee["promises"] and promise[1:] in " ".join(str(found).split())
    assert promise[1:] in " ".join(first.text("statement").split())
    again = dpcalc.answer("convert", inputs=[dpcalc.answer("convert", inputs=[first], delta=1e-5)], delta=1e-5)
    assert promise in again.promises


@pytest.mark.slow
def test_shuffled_batches_are_converted_to_replaced_records():
    """A law on a grid is infinite with some probability; the conversion costs more than the theorem about replaced ones."""
    run = {"scheme": "shuffle", "n": 1000, "batch_size": 100, "noise_multiplier": 2, "epochs": 1, "drop_last": True}
    zeroed = dpcalc.answer("subsample", **run, delta=1e-7)
    found = dpcalc.answer("convert", inputs=[dpcalc.answer("subsample", **run)], adjacency="replace-one", delta=1.3e-6).value
    assert dpcalc.answer("subsample", **run, adjacency="replace-one", delta=1.3e-6).value < found < 2 * zeroed.value

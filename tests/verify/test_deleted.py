"""What a record lacks never makes it look better: it is not verified, or what it hands on is no smaller than before."""

import json
import random

import pytest
from calling import call
from conftest import slow
from forgeries import changed, name_of, nodes

from dpcalc import __version__
from dpcalc.accounting.guarantee import read
from dpcalc.core.errors import DpcalcError
from dpcalc.verify.records import check_shape
from dpcalc.verify.report import verify

PASSES = "--lipschitz 1 --smoothness .5 --learning-rate .1 --diameter 1"
LEDGER = """delta = 1e-5
[[release]]
command = "rdp"
noise-multiplier = 9
steps = 100
[[release]]
command = "rdp"
mechanism = "laplace"
scale = 60
steps = 5
"""
SEVERAL = '[{"kind": "gdp", "mu": 0.5}, {"kind": "zcdp", "rho": 0.1}]'
RECORDS = {  # a line, and what it reads
    "rdp": ("rdp --sigma 2 --steps 3 --delta 1e-5", ""),
    "solved": ("rdp --epsilon .3 --delta 1e-6 --solve sigma", ""),
    "a conjecture": ("shuffle-pnsgd --sigma 4 --lipschitz 1 --n 1000 --tau .5 --alpha 8 --bound "
                     "without-replacement-conjecture", ""),
    "poisson": ("subsample --sampling-rate .01 --steps 1000 --noise-multiplier 1 --delta 1e-5 --bound poisson-rdp", ""),
    "poisson, replaced": ("subsample --sampling-rate .01 --steps 10 --noise-multiplier 1 --adjacency replace-one "
                          "--delta 1e-5 --bound poisson-replace-one-rdp", ""),
    "fixed size": ("subsample --scheme without-replacement --adjacency replace-one --sampling-rate .01 --steps 100 "
                   "--noise-multiplier 1 --delta 1e-5 --bound wor-rdp", ""),
    "shuffle": ("subsample --scheme shuffle --n 1000 --batch-size 100 --epochs 2 --sigma 20 --delta 1e-5 --bound "
                "shuffle-no-amplification", ""),
    "groups": ("rdp --sigma 4 --steps 10 --group-size 3 --delta 1e-5", ""),
    "several": ("convert - --delta 1e-5 --bound rdp-optimal", SEVERAL),
    "outcomes": ("convert --from outcomes --p .3,.5,.2 --q .25,.45,.3 --steps 4 --delta .01", ""),
    "ledger": ("ledger - --bound rdp-optimal", LEDGER),
    "one record": (f"shuffle-pnsgd --sigma 2 {PASSES} --n 50 --index 20 --epsilon .1", ""),
    "a stream": (f"online-noise --noise laplace {PASSES} --c1 50 --c2 50 --decay 1.5 --index 80 --n 277 --epsilon 1",
                 ""),
    "tv": ("tv --sigma 3 --fpr .01,.1", ""),
    "burn-in": ("burn-in --order fixed --n 100 --batch-size 10 --steps 30 --lipschitz 1 --smoothness 1 --learning-rate "
                ".1 --diameter 1 --sigma .2 --delta 1e-5 --bound iteration", ""),
    "feedback": ("noise-feedback --curvature .7,.1 --learning-rate .1 --sigma 2 --steps 60 --lipschitz 1 --feedback .5 "
                 "--release every-iterate --used-at 1,9 --epsilon .3", ""),
    "correlated": ("correlated --steps 90 --separation 20 --strategy banded-inverse-sqrt:4 --sigma 3 --delta 1e-5", ""),
    "compare": ("compare --n 600 --batches full --steps 10 --lipschitz 1 --noise-multiplier 20 --delta 1e-5", ""),
}
LONG = {"poisson", "poisson, replaced", "shuffle", "ledger"}  # up to 9 seconds; others are of their kinds
VERSIONS = (__version__, "0.1.0", "0.1.1", "9.9.9", None)
SAMPLE, SEED = 12, 20261128


def record_of(name):
    line, given = RECORDS[name]
    done = call([*line.split(), "--json"], given)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def paths(record):
    """Where there is a key, or one of the first entries of a list."""
    return [path for path, _ in nodes(record) if path]


def forged(record, path, version):
    """The record without what stands there, in the name of this version, or of none. One that another version wrote may
    have other notes, and has none here, so that they do not tell what is missing."""
    found = changed(record, path)
    if version is None:
        found.pop("version", None)
    elif path != ("version",):
        found["version"] = version
    if version != __version__ and "notes" in found:
        found["notes"] = []
    return found


def is_accepted(record):
    try:
        check_shape(record, "it")
        return verify(record).holds
    except DpcalcError:
        return False


def handed_on(record):
    """The guarantee that the next command reads; None where it refuses the record."""
    try:
        return read(record, "it")
    except DpcalcError:
        return None


def epsilon(record):
    done = call(["convert", "-", "--delta", ".01", "-q"], json.dumps(record))
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def looks_better(record, other):
    """Whether the other record is accepted and hands on a smaller number, or what cannot be compared."""
    if not is_accepted(other):
        return False
    before, after = handed_on(record), handed_on(other)
    if after is None or after == before:
        return False
    return before is None or epsilon(other) < epsilon(record) * (1 - 1e-9)


def that_look_better(name, pick):
    """Where something was deleted, and in the name of which version, that verify accepts though less is handed on."""
    record = record_of(name)
    return [(name_of(path), version) for path, version in pick([(p, v) for p in paths(record) for v in VERSIONS])
            if looks_better(record, forged(record, path, version))]


def some(name):
    """What is handed on, and a sample of all else."""
    def pick(every):
        first = [(path, version) for path, version in every if path[0] == "guarantee" and version == "9.9.9"]
        return first + random.Random(f"{SEED} {name}").sample(every, SAMPLE)

    return pick


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [slow(name) if name in LONG else name for name in RECORDS])
def test_what_is_deleted_makes_no_record_look_better(name):
    assert is_accepted(record_of(name))
    assert that_look_better(name, some(name)) == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RECORDS)
def test_nothing_that_is_deleted_does(name):
    assert that_look_better(name, lambda every: every) == []


@pytest.mark.parametrize("name, delete, what", [
    ("ledger", lambda g: g["mechanisms"].pop(), "guarantee.mechanisms"),
    ("poisson", lambda g: g["mechanisms"][0].pop("count"), "guarantee.mechanisms[0].count"),
    ("shuffle", lambda g: g["mechanisms"][0]["sampling"].pop("n"), "guarantee.mechanisms[0].sampling.n"),
    ("shuffle", lambda g: g["mechanisms"][0]["sampling"].pop("steps"), "guarantee.mechanisms[0].sampling.steps"),
    ("one record", lambda g: g.pop("index"), "guarantee.index"),
    ("a conjecture", lambda g: g.pop("status"), "guarantee.status"),
])
def test_what_another_version_lacks_is_named_and_not_accepted(name, delete, what, cli):
    record = {**record_of(name), "version": "0.1.1", "notes": []}
    delete(record["guarantee"])
    done = cli("verify", "-", stdin=json.dumps(record))
    assert done.returncode == 3 and done.stdout.startswith("NOT verified: an important part could not be checked")
    assert f"unchecked: {what}, because another version wrote it" in done.stdout


@pytest.mark.parametrize("path, lacks", [
    (("bounds", 1, "witness", "alpha"), "bounds[1].witness.alpha"),
    (("bounds", 1, "witness", "rdp"), "bounds[1].witness.rdp"),
    (("bounds", 0, "epsilon"), "bounds[0].epsilon")])
def test_a_missing_entry_is_a_fault_of_the_record(path, lacks, cli):
    done = cli("verify", "-", stdin=json.dumps(changed(record_of("rdp"), path)))
    assert done.returncode == 3 and f"the result lacks {lacks}\n" in done.stdout and "incomplete" not in done.stdout

"""Disjoint parts of the data: never less than what enumerated mechanisms lose on any two neighbouring data sets, equal to
it where a part is as bad as stated, refused where a part knows its size, carried by pipes, and proven by verify."""

import json
import warnings
from itertools import product
from math import exp
from random import Random

import pytest
from conftest import slow

from dpcalc import DpcalcError, answer
from dpcalc.verify.report import verify

ADD, REPLACE, ZERO = "add-remove", "replace-one", "zero-out"
EPSILONS = (0.0, 0.1, 0.3, 0.55, 0.8, 1.1, 1.6, 2.3)


def asked(*inputs, **options):
    """The answer without the warnings of unstated numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return answer("convert", inputs=list(inputs), **options)


def parallel(*parts, **more):
    return {"kind": "parallel", "parts": [list(part) for part in parts], **more}


def pure(epsilon, **more):
    return {"kind": "dp", "epsilon": epsilon, "delta": 0, **more}


def mechanism(name, count=1, **more):
    return {"kind": "mechanisms", "mechanisms": [{"name": name, "count": count, **more}]}


def gaussian(z, count=1):
    return mechanism("gaussian", count, noise_multiplier=z)


def laplace(scale, count=1):
    return mechanism("laplace", count, scale=scale)


def poisson(z, rate, steps):
    return mechanism("gaussian", steps, noise_multiplier=z, sum=True, sampling={"scheme": "poisson", "rate": rate})


# --- enumerated mechanisms -------------------------------------------------------------------------------------------


def data_sets(parts, most=2):
    """All data sets of at most so many records, each a pair (part, value)."""
    records = tuple(product(range(parts), (0, 1)))
    return [data for size in range(most + 1) for data in product(records, repeat=size)]


def neighbours(data, relation, parts):
    """The data sets in which the first record of this one is removed, or replaced."""
    if relation == ADD:
        return [data[1:]]
    return [(record, *data[1:]) for record in product(range(parts), (0, 1)) if record != data[0]]


def law_of_responses(data, epsilons):
    """The law of a run of randomised response on a bit of each part, as often as it has an ε. The bit of a release is
    the parity of the records of its part or of their values, which of the two the earlier outputs decide: a part may
    read what was released of the others."""
    law = {(): 1.0}
    for part, own in enumerate(epsilons):
        values = [value for place, value in data if place == part]
        for epsilon in own:
            longer = {}
            for outputs, chance in law.items():
                bit = (len(values) if sum(outputs) % 2 else sum(values) + len(values) // 2) % 2
                for out in (0, 1):
                    longer[(*outputs, out)] = chance / (1 + exp(-epsilon if out == bit else epsilon))
            law = longer
    return law


def law_of_counts(data, scales):
    """The law of a sum in [−1, 1] of each part with geometric noise, cut at ±3."""
    law = {(): 1.0}
    for part, scale in enumerate(scales):
        total = sum((-1, 1)[value] for place, value in data if place == part)
        ratio = exp(-1 / scale)
        weights = {k: (1 - ratio) / (1 + ratio) * ratio ** abs(k - total) for k in range(-60, 61)}
        cut = {}
        for k, weight in weights.items():
            cut[max(-3, min(3, k))] = cut.get(max(-3, min(3, k)), 0.0) + weight
        law = {(*outputs, k): chance * weight for outputs, chance in law.items() for k, weight in cut.items()}
    return law


def largest_delta(law, relation, parts):
    """ε → the largest δ over all pairs of neighbouring data sets in both orders."""
    laws = {data: law(data) for data in data_sets(parts)}
    pairs = [both for data in laws if data for other in neighbours(data, relation, parts)
             for both in ((laws[data], laws[other]), (laws[other], laws[data]))]
    return {e: max(sum(max(0.0, p[x] - exp(e) * q[x]) for x in p) for p, q in pairs) for e in EPSILONS}


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("epsilons", [((1.0,), (0.4,)), ((0.5, 0.3), (0.7,)), ((0.6,), (0.6,)), ((0.9,),),
                                      ((0.5,), (0.2,), (0.3,))], ids=str)
def test_randomised_response_on_parts(epsilons, relation):
    truth = largest_delta(lambda data: law_of_responses(data, epsilons), relation, len(epsilons))
    given = parallel(*([pure(e) for e in part] for part in epsilons))
    for epsilon, delta in truth.items():
        found = asked(given, epsilon=epsilon, adjacency=relation).value
        assert delta <= found + 1e-14
        assert found == pytest.approx(delta, rel=1e-6, abs=1e-12)  # the bits of a part may all change at once


@pytest.mark.parametrize("scales", [(1.0, 2.0), (1.5, 1.5), (3.0,)], ids=str)
def test_sums_whose_sensitivity_doubles(scales):
    """Stated for records that are added or removed, and converted: a record of a part may change its sum by 2."""
    given = parallel(*([{**mechanism("discrete-laplace", scale=scale, sensitivity=1), "adjacency": ADD}] for scale in scales))
    for relation in (ADD, REPLACE):
        truth = largest_delta(lambda data: law_of_counts(data, scales), relation, len(scales))
        for epsilon, delta in truth.items():
            assert delta <= asked(given, epsilon=epsilon, adjacency=relation).value + 1e-12
    assert asked(given, epsilon=0, adjacency=REPLACE).value > asked(given, epsilon=0, adjacency=ADD).value


def test_a_move_may_show_more_than_every_part():
    given = parallel([pure(0.5)], [pure(0.5)])
    assert asked(given, delta=0, adjacency=ADD).value == 0.5
    assert asked(given, delta=0, adjacency=REPLACE).value == 1.0


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_beside_another_release(relation):
    """Responses on the parts, and one on all records: the sum of the largest profile and of its own."""
    epsilons, alone = ((0.8,), (0.3,)), 0.5

    def law(data):
        bit = (sum(value for _, value in data) + len(data)) % 2
        return {(*outputs, out): chance / (1 + exp(-alone if out == bit else alone))
                for outputs, chance in law_of_responses(data, epsilons).items() for out in (0, 1)}

    truth = largest_delta(law, relation, 2)
    given = parallel(*([pure(e) for e in part] for part in epsilons))
    for epsilon, delta in truth.items():
        assert delta <= asked(given, pure(alone), epsilon=epsilon, adjacency=relation).value + 1e-14


def distribution(random, size):
    weights = [random.random() ** 3 + 1e-3 for _ in range(size)]
    return [x / sum(weights) for x in weights]


def product_of(*distributions):
    found = [1.0]
    for one in distributions:
        found = [a * b for a in found for b in one]
    return found


def largest(pairs, epsilon):
    return max(sum(max(0.0, a - exp(epsilon) * b) for a, b in zip(*both, strict=True))
               for p, q in pairs for both in ((p, q), (q, p)))


@pytest.mark.parametrize("relation", [ADD, REPLACE])
@pytest.mark.parametrize("seed", [0, *(slow(seed) for seed in range(1, 40))])
def test_finite_mechanisms_on_parts_beside_another_one(seed, relation):
    """Losses that cancel but for a rounding once took .4 % of the masses of the pair."""
    random = Random(seed)
    parts = [[(distribution(random, size), distribution(random, size)) for size in random.choices((2, 3), k=2)]
             for _ in range(random.choice((2, 3)))]
    other = distribution(random, 2), distribution(random, 2)
    given = parallel(*([outcomes(p, q, ADD) for p, q in part] for part in parts))
    laws = [tuple(product_of(*side) for side in zip(*part, strict=True)) for part in parts]
    moves = [(product_of(a[0], b[1]), product_of(a[1], b[0])) for a in laws for b in laws if a is not b]
    if relation == REPLACE:
        given |= {"adjacency": REPLACE, "replaced": [[pure(0.0)] for _ in parts]}
    pairs = moves if relation == REPLACE else laws
    both = [(product_of(p, a), product_of(q, b)) for p, q in pairs for a, b in (other, other[::-1])]
    for epsilon in (0.0, 1.2):
        assert largest(pairs, epsilon) <= asked(given, epsilon=epsilon).value * (1 + 1e-11)
        assert largest(both, epsilon) <= asked(given, outcomes(*other, relation), epsilon=epsilon).value * (1 + 1e-11)


def outcomes(p, q, relation):
    return {"kind": "outcomes", "p": p, "q": q, "adjacency": relation}


# --- equal to what follows in other ways -----------------------------------------------------------------------------


def test_equal_parts_count_once():
    one = asked(laplace(3), delta=1e-6, adjacency=ADD).value
    assert asked(parallel(*[[laplace(3)]] * 50), delta=1e-6).value == pytest.approx(one, rel=1e-12)


def test_only_the_parts_with_the_least_noise_count():
    many, two = (parallel(*([laplace(3 + k / 10)] for k in range(number))) for number in (200, 2))
    for relation in (ADD, REPLACE):
        assert asked(many, delta=1e-6, adjacency=relation).value == asked(two, delta=1e-6, adjacency=relation).value
    other = parallel([laplace(3)], [laplace(3.1, count=5)], [laplace(3.2)])  # more releases, with more noise
    assert asked(other, delta=0, adjacency=ADD).value == pytest.approx(5 / 3.1, rel=1e-12)


def test_gaussian_parts():
    given = parallel([gaussian(2)], [gaussian(3)], [gaussian(4), gaussian(4)])
    assert asked(given, delta=1e-5).value == asked(gaussian(2), delta=1e-5).value
    moved = asked(given, delta=1e-5, adjacency=REPLACE).value
    assert moved == pytest.approx(answer("convert", from_="gdp", mu=(1 / 4 + 1 / 8) ** 0.5, delta=1e-5).value, rel=1e-9)
    assert asked(given, to="zcdp").value == 1 / 8
    assert asked(given, to="gdp", adjacency=REPLACE).value == pytest.approx((3 / 8) ** 0.5, rel=1e-12)


def test_what_holds_for_records_that_stay_may_be_stated():
    """A count of a part does not change where a record is replaced and stays in it."""
    given = parallel(*[[{**gaussian(2), "adjacency": ADD}]] * 2, adjacency=REPLACE, replaced=[[pure(0.0)]] * 2)
    assert asked(given, to="gdp").value == pytest.approx(0.5**0.5, rel=1e-12)
    assert asked({**given, "replaced": None, "adjacency": ADD}, to="gdp", adjacency=REPLACE).value == 1
    for wrong, said in (([[pure(0.0)]], "differ in length"), ([[pure(0.0, adjacency=ADD)]] * 2, "state replace-one")):
        with pytest.raises(DpcalcError, match=said):
            asked({**given, "replaced": wrong}, to="gdp")


def test_the_worst_part_depends_on_delta():
    given, both = parallel([gaussian(2)], [laplace(2.5)]), ([gaussian(2)], [laplace(2.5)])
    for delta in (0.15, 0.01, 1e-3, 1e-5, 1e-9):
        worst = max(asked(*part, delta=delta, adjacency=ADD).value for part in both)
        assert worst <= asked(given, delta=delta).value * (1 + 1e-12) <= worst * (1 + 1e-3)


@pytest.mark.parametrize("asks", [{"alpha": 4}, {"to": "zcdp"}, {"to": "gdp"}, {"to": "tv"}, {"epsilon": 0.2}],
                         ids=str)
def test_every_question_has_the_largest_of_its_parts(asks):
    given, both = parallel([gaussian(2)], [laplace(2)]), (gaussian(2), laplace(2))
    worst = max(asked(part, adjacency=ADD, **asks).value for part in both)
    assert worst <= asked(given, **asks).value * (1 + 1e-12) <= worst * (1 + 2e-4)


def test_points_of_parts():
    given = parallel([{"kind": "dp", "epsilon": 0.2, "delta": 1e-7}], [{"kind": "dp", "epsilon": 0.1, "delta": 1e-6}])
    assert 0.1 < asked(given, delta=2e-6).value <= 0.2
    with pytest.raises(DpcalcError, match="no ε exists at δ = 5e-07"):
        asked(given, delta=5e-7)


# --- neighbours, sizes and groups ------------------------------------------------------------------------------------


@pytest.mark.parametrize("part, said", [
    ({**gaussian(2), "adjacency": REPLACE}, "a record that moves to another part"),
    (mechanism("k-randomized-response", step_epsilon=1.0, categories=4), "show who belongs to which part"),
    ({**pure(0.5), "group_size": 3}, "may be in several parts"), ({**pure(0.5), "index": [3]}, "every single record"),
    (mechanism("gaussian", 5, noise_multiplier=2.0, sampling={"scheme": "without-replacement", "rate": 0.1}),
     "use Poisson batches with a constant sampling-rate"),
    ({**mechanism("gaussian", 5, noise_multiplier=2.0,
                  sampling={"scheme": "shuffle", "n": 100, "batch_size": 10, "steps": 10}), "adjacency": ZERO},
     "use Poisson batches with a constant sampling-rate"),
    ({**gaussian(2), "status": "conjecture"}, "only proven guarantees"),
    (parallel([gaussian(2)]), "parallel.*is not one of"),
], ids=lambda x: x if isinstance(x, str) else "")
def test_refused_parts(part, said):
    for relation in (None, REPLACE):
        with pytest.raises(DpcalcError, match=said):
            asked(parallel([laplace(3)], [part]), delta=1e-5, **({"adjacency": relation} if relation else {}))


def test_different_neighbours_in_one_block():
    with pytest.raises(DpcalcError, match=r"parts for different neighbours.*use the same adjacency"):
        asked(parallel([{**gaussian(2), "adjacency": ADD}], [{**gaussian(2), "adjacency": ZERO}]), delta=1e-5)
    with pytest.raises(DpcalcError, match="have different neighbours"):
        asked(parallel([{**gaussian(2), "adjacency": ADD}]), {**gaussian(2), "adjacency": REPLACE}, delta=1e-5)


def test_what_must_hold_is_said():
    found = asked(parallel([poisson(2, 0.01, 100)], [laplace(3)]), delta=1e-5)
    said = "; ".join(found.promises)
    assert found.record()["guarantee"]["adjacency"] == ADD
    assert "must be fixed beforehand, by a property of the single record" in said
    assert "must be constants" in said and "sensitivity of the parts of" in said
    with pytest.warns(UserWarning, match="must hold for replace-one neighbours"):
        moved = answer("convert", inputs=[parallel([laplace(3)], [laplace(4)])], delta=1e-5, adjacency=REPLACE)
    assert any("when a record is added to a part or removed from it, too" in promise for promise in moved.promises)


# --- pipes and proofs ------------------------------------------------------------------------------------------------


LEDGER = {"release": [{"parallel": [[{"sigma": 3}, {"sigma": 4}], [{"mechanism": "laplace", "scale": 4}]]}]}


def test_a_ledger_hands_the_parts_on():
    found = answer("ledger", file=LEDGER, delta=1e-5)
    assert found.guarantee["kind"] == "parallel" and found.guarantee["adjacency"] == ADD
    assert asked(found, delta=1e-5).value == found.value
    assert answer("tv", inputs=[found]).value == pytest.approx(asked(found, to="tv").value, rel=1e-12)
    assert asked(found, delta=1e-5, adjacency=REPLACE).value > found.value
    with pytest.raises(DpcalcError, match="cannot be sampled here"):
        answer("subsample", inputs=[found], sampling_rate=0.1, steps=3, delta=1e-5)


@pytest.mark.parametrize("given, other, relation", [
    (parallel([pure(0.5), pure(0.2)], [pure(0.6)]), pure(0.3), ADD),
    (parallel([pure(0.5), pure(0.2)], [pure(0.6)]), pure(0.3), REPLACE),
    slow(parallel([gaussian(2), laplace(9)], [laplace(3)]), laplace(7), ADD),
    slow(parallel([gaussian(2)], [laplace(3)]), laplace(7), REPLACE),
    slow(parallel([poisson(1, 0.01, 50)], [gaussian(5)]), laplace(7), REPLACE),
    slow(parallel([outcomes([0.5, 0.3, 0.2], [0.3, 0.3, 0.4], None)], [laplace(3)]), laplace(7), ADD)])
def test_verify_proves_them(given, other, relation):
    found = json.loads(asked(given, other, delta=1e-4, adjacency=relation).json())
    verdict = verify(found)
    assert verdict.holds and not verdict.unchecked
    found["result"]["epsilon"] = found["bounds"][0]["epsilon"] = 0.99 * found["result"]["epsilon"]
    assert not verify(found).holds

"""Soundness from below: a search that tries to break every proven bound, with a fixed budget and seed; -m long makes it
far longer."""

import json
import random
from collections import Counter
from time import perf_counter

import pytest
from conftest import slow, spread
from last_iterate_lines import asked
from paths import GOLDEN
from soundness import FAMILIES, ask, broken

FEW = {"above_threshold": 8, "composed": 3, "allocated": 8, "allocated_several": 8, "composed_pairs": 7, "random_batches": 8, "gaussian_passes": 6, "shuffled_games": 8, "smooth_passes": 4,
       "known_order": 8, "changing_others": 8, "hills_in_order": 8,
       "hills_in_batches": 8, "hills_composed": 3, "laplace_passes": 6, "large": 8, "renyi_to_dp": 6,
       "hiding_one_pass": 8, "hiding_expanding": 8,
       "hiding_several_passes": 8, "hiding_output": 8, "hiding_laplace": 8, "hiding_straight": 8, "renyi": 10}
FAR_FROM_SHARP = {"exchanged": 0.8, "much_noise": 0.2, "composed": 0.3, "allocated_several": 0.5, "hills_composed": 0.3, "random_batches": 0.3, "changing_others": 0.5, "gaussian_passes": 0.85,
                  "laplace_passes": 0.75, "known_order": 0.8,
                  "large": 0.7, "hiding_one_pass": 0.4, "hiding_expanding": 0.4, "hiding_several_passes": 0.4,
                  "hiding_output": 0.4, "hiding_laplace": 0.4,
                  "hiding_straight": 0.4, "renyi": 0.1, "threshold": 0.3, "top_k": 0.3}
COSTLY = {"shuffled_games", "changing_others", "sampled", "allocated_replaced", "composed", "replaced", "allocated", "random_batches",
          "amplification", "smooth_passes", "grouped", "renyi", "large", "hiding_laplace", "hiding_expanding",
          "hiding_straight", "hiding_several_passes", "allocated_several"}
WITHOUT = set()  # proven bounds that no instance here speaks of
INSTANCES = json.loads((GOLDEN / "subsample_instances.json").read_text())["instances"]
TRIALS, SECONDS = 100_000, 1500  # of the long search


def search(family, draws, seed):
    rng = random.Random(f"{family.__name__} {seed}")
    for _ in range(draws):
        yield from family(rng)


@pytest.mark.parametrize("family", [slow(f) if f.__name__ in COSTLY else f for f in FAMILIES], ids=lambda f: f.__name__)
def test_no_proven_bound_is_broken(family):
    """And some instance is so near that it would break a bound a little lower: the search can tell."""
    count, nearest = 0, 0.0
    for name, question, true, reported in search(family, FEW.get(family.__name__, 20), 2026):
        assert not broken(true, reported), (name, question, true, reported)
        assert ask.BOUNDS[name].status == "proven" and true >= 0
        count += 1
        nearest = max(nearest, true / reported if reported > 1e-6 else 0.0)
    assert count >= 20
    assert nearest > FAR_FROM_SHARP.get(family.__name__, 0.95)


@pytest.mark.slow
def test_every_proven_bound_is_tried():
    """Few instances tell, until each bound has one."""
    untried = {name for name, bound in ask.BOUNDS.items() if bound.status == "proven"} - WITHOUT
    for draw in range(5):
        for family in FAMILIES:
            untried -= {name for name, *_ in search(family, 1, f"tried {draw}")} if untried else set()
    assert not untried, f"tests/soundness/: a family with an instance of {untried}"


@spread("case", INSTANCES, ids=lambda c: c["id"])
def test_sampled_instances_lie_below_the_bounds(case):
    code, out, err = asked(case["argv"])
    assert code == 0, err
    assert json.loads(out)["result"][case["key"]] >= case["true"] * (1 - 1e-9)


@pytest.mark.long
def test_long_search(capsys):
    """At least 100,000 trials, in rounds over all families; prints how many of each bound and how near the nearest
    came."""
    trials, nearest, found, rounds, start = Counter(), {}, [], 0, perf_counter()
    while sum(trials.values()) < TRIALS and perf_counter() - start < SECONDS:
        for family in FAMILIES:
            for name, question, true, reported in search(family, 1 if family.__name__ == "composed" else 3,
                                                         f"long {rounds}"):
                trials[name] += 1
                if broken(true, reported):
                    found.append((name, question, true, reported, family.__name__, rounds))
                elif reported > 1e-6:
                    nearest[name] = max(nearest.get(name, 0.0), true / reported)
        rounds += 1
    with capsys.disabled():
        print(f"\n{sum(trials.values())} trials in {rounds} rounds, {len(found)} violations")
        for name, count in sorted(trials.items()):
            print(f"{name:36} {count:7} trials, nearest true/reported {nearest.get(name, 0.0):.9f}")
    assert not found, found[:5]
    assert sum(trials.values()) >= TRIALS

"""Steps of Gaussian or Laplace noise on random batches, for one record and for groups."""

from functools import reduce
from itertools import combinations, combinations_with_replacement, product
from math import comb, cos, exp, factorial, pi, sin

import chains
import numpy as np
from scipy.special import ndtr
from shuffled_games import delta, random_game

from dpcalc.accounting.mechanisms import MECHANISMS
from dpcalc.bounds.curve import of_bound
from dpcalc.pld.atoms import Atoms
from dpcalc.pld.bracket import log_delta_at_epsilon
from soundness import ask
from soundness.mechanisms import cells, laplace_cdf

CDF = {"gaussian": ndtr, "laplace": laplace_cdf}


def sampled(rng):
    noise, z = rng.choice(("gaussian", "gaussian", "laplace")), exp(rng.uniform(-1, 2))
    rate = rng.choice((rng.random(), exp(rng.uniform(-8, 0))))
    cuts = np.concatenate([np.linspace(-5, 5 + 1 / z, 160),
                           [0.0, 1 / z, *(rng.uniform(-7, 7 + 1 / z) for _ in range(20))]])
    far, near = cells(CDF[noise], cuts, 1 / z), cells(CDF[noise], cuts, 0.0)
    neither = cells(CDF[noise], cuts, rng.choice((0.0, 1.0, rng.random())) / z)
    added = (1 - rate) * near + rate * far, near
    replaced = (1 - rate) * neither + rate * far, (1 - rate) * neither + rate * near
    values = {"sigma": z, "scale": z, "sensitivity": 1.0}
    run = {"sampling_rate": rate, "max_weight": rate, "profile": MECHANISMS[noise].profile(values),
           "noise_multiplier": z,
           "base": of_bound(ask.BOUNDS[f"{noise}-rdp"], 1 / z if noise == "laplace" else float("inf"), sensitivity=1.0,
                            **({"sigma": z} if noise == "gaussian" else {"scale": z}))}
    at, whole = ask.epsilons(rng, rate / z), [float(rng.randint(2, 60)) for _ in range(4)]
    yield from ask.profile("poisson-profile", *added, at, run)
    yield from ask.profile("wor-profile", *replaced, at, run)
    if noise == "gaussian":
        yield from ask.rdp("poisson-rdp", *added, [a for a in (*ask.orders(rng, 3), *whole) if a > 1.001], run)
        yield from ask.rdp("wor-profile", *replaced, ask.orders(rng, 2), run, function="rdp")
    yield from ask.rdp("wor-rdp", *replaced, whole, run)
    yield from ask.rdp("weighted-rdp", *replaced, whole, run)


def much_noise(rng):
    """Poisson batches with the noise and the rates of a closed form, which is about four times the truth."""
    z, rate = 4 * exp(rng.uniform(0, 1)), rng.choice((0.19, 0.2 * rng.random()))
    cuts = np.linspace(-5, 5 + 1 / z, 200)
    far, near = cells(CDF["gaussian"], cuts, 1 / z), cells(CDF["gaussian"], cuts, 0.0)
    added = (1 - rate) * near + rate * far, near
    run = {"noise_multiplier": z, "sampling_rate": rate}
    for pair in (added, added[::-1]):
        yield from ask.rdp("poisson-rdp-closed", *pair, ask.orders(rng), run)


def subsets(vectors, rate):
    """(probability, sum) of each set of the vectors that a Poisson batch may draw."""
    for drawn in product((False, True), repeat=len(vectors)):
        chance = np.prod([rate if d else 1 - rate for d in drawn])
        yield chance, sum((v for v, d in zip(vectors, drawn, strict=True) if d), np.zeros(2))


def in_squares(cuts, centre):
    """The masses under N(centre, I) of the rectangles between the cuts."""
    return np.multiply.outer(*(cells(ndtr, axis, x) for axis, x in zip(cuts, centre, strict=True))).ravel()


def grouped(rng):
    """A group of records whose contributions are vectors in the plane, in one step, or in two steps of which the second
    depends on the first output; and its loss by the guarantee of one record."""
    size, z, rate = rng.choice((1, 2, 3, 4)), exp(rng.uniform(-0.5, 1.5)), rng.choice((rng.random(), 0.05))
    spread = rng.choice((0.0, 0.0, 0.3, 2.0, 2 * pi))
    lengths = [rng.choice((1.0, 1.0, rng.random())) / z for _ in range(size)]

    def vectors():
        angles = [spread * (rng.random() - 0.5) for _ in range(size)]
        return [r * np.array((cos(a), sin(a))) for r, a in zip(lengths, angles, strict=True)]

    first, after_low, after_high = vectors(), vectors(), vectors()
    cuts = np.linspace(-5, 5 + size / z, 90), np.linspace(-5, 5 + size / z, 30 if spread else 2)
    at = ask.epsilons(rng, size * rate / z)
    run = {"sampling_rate": rate, "noise_multiplier": z, "group_size": size}
    p, q = sum(c * in_squares(cuts, v) for c, v in subsets(first, rate)), in_squares(cuts, (0.0, 0.0))
    yield from ask.profile("poisson-group-profile", p, q, at, run)

    coarse = np.linspace(-4, 4 + size / z, 24), np.array([0.0, 0.5])
    one, none = sum(c * in_squares(coarse, v) for c, v in subsets(first, rate)), in_squares(coarse, (0.0, 0.0))
    low = np.arange(len(none)) < len(none) / 2
    after = [sum(c * in_squares(coarse, v) for c, v in subsets(later, rate)) for later in (after_low, after_high)]
    both = np.concatenate([np.multiply.outer(one[here], later).ravel()
                           for here, later in zip((low, ~low), after, strict=True)])
    neither = np.concatenate([np.multiply.outer(none[here], none).ravel() for here in (low, ~low)])
    parts = ((ask.BOUNDS["poisson-group-profile"].pair(rate, z, size), 2),)
    for epsilon in at[:2]:
        true = max(float(np.maximum(a - exp(epsilon) * b, 0).sum()) for a, b in ((both, neither), (neither, both)))
        yield ("poisson-group-profile", f"δ({epsilon:.6g}) of two steps", true,
               exp(log_delta_at_epsilon(parts, epsilon).upper))

    known = [(e, exp(ask.BOUNDS["poisson-group-profile"].value(e, rate, z, 1))) for e in at]
    yield from ask.profile("group-privacy", p, q, [size * e * (1 + 1e-12) for e in at],
                           {"profile_points": tuple(known), "group_size": size})


def replaced(rng):
    """A Poisson batch of up to six records with Gaussian noise, of which one or more have other values on the other data
    set, and two steps of which the second depends on the first output."""
    size, others, z = rng.choice((1, 1, 2, 3)), rng.randint(0, 3), exp(rng.uniform(-0.7, 1.5))
    rate = rng.choice((rng.random(), 0.05, 1.0))

    def laws(coarse):
        before, after, rest = (contributions(rng, k) for k in (size, size, max(others, 1)))
        if rng.random() < 0.3:
            after = [-v for v in before]
        both = [list(subsets([*own, *rest[:others]], rate)) for own in (before, after)]
        flat = all(v[1] == 0 for law in both for _, v in law)
        reach = 4 + (size + others) / z
        cuts = (np.linspace(-reach, reach, 24 if coarse else 300 if flat else 70),
                np.linspace(-reach, reach, 2 if flat or coarse else 50))
        return [sum(c * in_squares(cuts, v / z) for c, v in law) for law in both]

    p, q = laws(coarse=False)
    at = ask.epsilons(rng, 2 * size * rate / z)
    run = {"sampling_rate": rate, "noise_multiplier": z, "group_size": size}
    for a, b in ((p, q), (q, p)):
        yield from ask.profile("poisson-replace-one-profile", a, b, at, run)
        if size == 1:
            yield from ask.rdp("poisson-replace-one-rdp", a, b, ask.orders(rng, 3), run)

    first, *later = [laws(coarse=True) for _ in range(3)]
    low = np.arange(len(first[0])) < len(first[0]) / 2
    steps = [np.concatenate([np.multiply.outer(one[here], after[k]).ravel() for here, after in
                             zip((low, ~low), later, strict=True)]) for k, one in enumerate(first)]
    parts = ((ask.BOUNDS["poisson-replace-one-profile"].pair(rate, z, size), 2),)
    for epsilon in at[:2]:
        true = max(chains.delta(*steps, epsilon), chains.delta(*steps[::-1], epsilon))
        yield ("poisson-replace-one-profile", f"δ({epsilon:.6g}) of two steps", true,
               exp(log_delta_at_epsilon(parts, epsilon).upper))


def replaced_in_other_noise(rng):
    """A Poisson batch of up to six numbers of at most s with Laplace or discrete noise, of which one is another number on
    the other data set; and a mechanism with finitely many outcomes, of which a record changes each probability by at
    most e^±ε₀."""
    name = rng.choice(("laplace", "discrete-laplace", "discrete-gaussian", "exponential"))
    rate, level = rng.choice((rng.random() * 0.999, 0.05)), exp(rng.uniform(-0.7, 1.5))
    if name == "exponential":
        without = np.array([rng.random() + 0.01 for _ in range(4)])
        without /= without.sum()
        with_one, with_other = (within(rng, without, level) for _ in range(2))
        p, q = (1 - rate) * without + rate * with_one, (1 - rate) * without + rate * with_other
        values = {"step_epsilon": level}
    else:
        s = 1.0 if name == "laplace" else float(rng.randint(1, 3))
        level *= s
        values = {"scale": level, "sigma": level, "sensitivity": s}
        numbers = [rng.choice((-s, s, rng.uniform(-s, s))) for _ in range(rng.randint(1, 5))]
        other = rng.choice((-numbers[0], rng.uniform(-s, s)))
        if name != "laplace":
            numbers, other = [float(round(x)) for x in numbers], float(round(other))
        law = law_on_a_line(name, level, s * (len(numbers) + 1))
        p, q = (sum(c * law(v[0]) for c, v in subsets([np.array((x, 0.0)) for x in data], rate))
                for data in (numbers, [other, *numbers[1:]]))
    step = MECHANISMS[name].replaced(values, rate)
    for a, b in ((p, q), (q, p)):
        yield from ask.profile("poisson-replace-one-comonotone", a, b, ask.epsilons(rng, 2 * rate / level),
                               {"step_profile": step})


def within(rng, law, epsilon):
    """A distribution whose probabilities are e^−ε to e^ε times those of `law`."""
    high = np.array([rng.random() < 0.5 for _ in law])
    if high.all() or not high.any():
        return law
    for share in np.linspace(1, 0, 50):  # some outcomes gain as much as they can, if the others can lose as much
        gained = np.where(high, law * exp(epsilon * share), 0.0)
        rest = (1 - gained.sum()) / law[~high].sum()
        if exp(-epsilon) <= rest <= 1:
            return np.where(high, gained, law * rest)
    return law


def law_on_a_line(name, level, reach):
    """The masses of noise around a number: of cells, or of the integers."""
    if name == "laplace":
        cuts = np.linspace(-reach - 6 * level, reach + 6 * level, 400)
        return lambda at: cells(laplace_cdf, cuts / level, at / level)
    k = np.arange(-int(reach + 12 * level) - 2, int(reach + 12 * level) + 3)
    power = 1 if name == "discrete-laplace" else 2
    far = np.arange(-int(50 * level) - 60, int(50 * level) + 61)
    total = np.exp(-(np.abs(far) / level) ** power / power).sum()
    return lambda at: np.exp(-(np.abs(k - at) / level) ** power / power) / total


def shuffled(rng):
    """Epochs of one to three batches in a secret order: the batch of the record is shifted, by 1/z more on one data set
    than on the other, and the other records may shift it on both."""
    batches, z, others = rng.choice((1, 1, 2, 3)), exp(rng.uniform(-1, 2)), rng.choice((0.0, 1.0, rng.uniform(-2, 2)))
    cuts = np.linspace(-5 - 2 / z, 5 + 3 / z, {1: 90, 2: 90, 3: 30}[batches])
    law = {shift: cells(CDF["gaussian"], cuts, shift / z) for shift in (0.0, others, others + 1)}

    def epoch(own):
        total = 0.0
        for place in range(batches):
            one = np.ones(1)
            for k in range(batches):
                one = np.outer(one, law[own] if k == place else law[0.0]).ravel()
            total = total + one / batches
        return total

    p, q = epoch(others + 1), epoch(others)
    epochs = rng.choice((1, 2)) if batches == 1 else 1
    if epochs == 2:
        p, q = np.outer(p, p).ravel(), np.outer(q, q).ravel()
    run, mu = {"noise_multiplier": z, "epochs": epochs}, epochs**0.5 / z
    yield from ask.profile("shuffle-no-amplification", p, q, ask.epsilons(rng, mu * (1 + mu)), run)
    yield from ask.inverse("shuffle-no-amplification", p, q, [10 ** rng.uniform(-6, -1) for _ in range(3)], run)
    yield from ask.rdp("shuffle-no-amplification", p, q, ask.orders(rng, 3), run, function="rdp")


def shuffled_games(rng):
    """Epochs of one to three batches whose gradients depend on earlier outputs; once all records are used, and once some
    are left out, which is the first epoch of one order for all epochs, too."""
    draws = np.random.default_rng(rng.randrange(2**32))
    for leftover in ("used", "dropped"):
        game = random_game(draws, leftover=leftover)
        while leftover == "dropped" and game.rest >= game.batch_size:
            game = random_game(draws, leftover=leftover)
        replaced = game.adjacency == "replace-one"
        run = {"noise_of_record": game.sigma / (2 if replaced else 1), "n": game.n, "batch_size": game.batch_size,
               "drop_last": leftover == "dropped", "replaced": replaced, "group_size": 1, "tail": 1e-14}
        epoch = {"whole_epochs": 1, "unfinished": 0}
        named = {"used": {"shuffle-profile-used": {"clipped": True, **epoch}},
                 "dropped": {"shuffle-profile": epoch, "shuffle-profile-one-order": {"epochs": 1}}}[leftover]
        for name, more in named.items():
            parts = ask.BOUNDS[name].value(**run, **more)
            yield name, f"δ({game.epsilon:.6g})", max(delta(game)), exp(log_delta_at_epsilon(parts, game.epsilon).upper)


def batch_sums(gradients, rate, most):
    """The probability of every sum of a truncated Poisson batch: given its size, a batch is a uniform subset."""
    n = len(gradients)
    drawn = [comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)]
    sizes = [*drawn[:most], sum(drawn[most:])] if most < n else drawn
    sums = {}
    for size, share in enumerate(sizes):
        for batch in combinations(gradients, size):
            sums[sum(batch)] = sums.get(sum(batch), 0.0) + share / comb(n, size)
    return sums


def truncated(rng):
    """Small runs with gradients −1, 0 and 1, of which the first is 0, or another one, on the other data set."""
    replaced = rng.random() < 0.5
    n, z = rng.randint(2, 8), exp(rng.uniform(-1.2, 1))
    most, rate = rng.randint(1, min(3, n)), rng.choice((rng.random(), 1.0, exp(rng.uniform(-4, 0))))
    others = rng.choice(([-1] * (n - 1), [rng.choice((-1, -1, 0, 1)) for _ in range(n - 1)]))
    cuts = np.concatenate([np.linspace(-4 - 5 * z, 4 + 5 * z, 250), [rng.uniform(-6, 6) for _ in range(20)]])
    p, q = (sum(share * cells(ndtr, cuts / z, at / z) for at, share in batch_sums([own, *others], rate, most).items())
            for own in (rng.choice((1, 1, -1)), rng.choice((-1, 0, 1)) if replaced else 0))
    run = {"n": n, "sampling_rate": rate, "max_batch_size": most, "noise_multiplier": z, "replaced": replaced}
    yield from ask.profile("truncated-poisson-profile", p, q, ask.epsilons(rng, 2 * rate / z), run)


def hockey_stick(p, q, gamma):
    return float(np.maximum(p - gamma * q, 0).sum())


def each_direction(name, p, q, at, own):
    """Both directions by themselves, and the convex minorant that is composed at γ on both sides of 1."""
    bound = ask.BOUNDS[name]
    pair = bound.pair(*own)
    for side, (a, b) in ((1, (p, q)), (-1, (q, p))):
        for epsilon in at:
            yield (name, f"δ({epsilon:.6g}), side {side}", hockey_stick(a, b, exp(epsilon)),
                   exp(bound.directions.value(epsilon, side, *own)))
        if isinstance(pair, Atoms):
            atoms = pair if side > 0 else pair.reverse
            loss, mass = np.array(atoms.losses), np.exp(atoms.log_p)
            for x in (x for epsilon in at for x in (epsilon, -epsilon)):
                shown = float((mass * np.maximum(-np.expm1(np.minimum(x - loss, 50.0)), 0)).sum())
                yield name, f"minorant δ({x:.6g}), side {side}", hockey_stick(a, b, exp(x)), shown + exp(atoms.log_infinite)


def contributions(rng, count):
    """Vectors of norm at most 1: numbers −1, 0 and 1, the worst ones, or any in the plane."""
    kind = rng.choice(("worst", "numbers", "plane"))
    if kind == "plane":
        angles, lengths = ([rng.uniform(0, 2 * pi) for _ in range(count)], [rng.choice((1.0, rng.random())) for _ in range(count)])
        return [np.array((r * cos(a), r * sin(a))) for r, a in zip(lengths, angles, strict=True)]
    return [np.array((x, 0.0)) for x in ([1, *[-1] * (count - 1)] if kind == "worst" else
                                         [rng.choice((-1, 0, 1)) for _ in range(count)])]


def law_of_sums(batches, z):
    """The cells of a noisy sum, from the probability of every batch and its sum; numbers need one axis only."""
    ends = [(min(v[k] for _, v in batches), max(v[k] for _, v in batches)) for k in (0, 1)]
    flat = ends[1] == (0.0, 0.0)
    cuts = (np.linspace(-8, 8, 240 if flat else 60), np.linspace(-8, 8, 2 if flat else 60))
    return lambda chosen: sum(c * in_squares(cuts, v / z) for c, v in chosen)


def zeroed_fixed_size(rng):
    """Batches of fixed size of up to six records, of which the first contributes nothing on the other data set."""
    n, z = rng.randint(1, 6), exp(rng.uniform(-0.7, 1))
    b, vectors = rng.randint(1, n), contributions(rng, n)
    both = [[(1 / comb(n, b), sum(batch, np.zeros(2))) for batch in combinations(data, b)]
            for data in (vectors, [np.zeros(2), *vectors[1:]])]
    law = law_of_sums([*both[0], *both[1]], z)
    p, q = map(law, both)
    at, own = ask.epsilons(rng, 2 * b / n / z), (b / n, z)
    yield from ask.profile("wor-zero-out-profile", p, q, at, dict(zip(("sampling_rate", "noise_multiplier"), own, strict=True)))
    yield from each_direction("wor-zero-out-profile", p, q, at, own)


def drawn_batches(vectors, b):
    """(probability, sum) of b draws with replacement, by how often each record is drawn."""
    for batch in combinations_with_replacement(range(len(vectors)), b):
        ways = factorial(b) / np.prod([factorial(batch.count(k)) for k in set(batch)])
        yield ways / len(vectors) ** b, sum((vectors[k] for k in batch), np.zeros(2))


def drawn_with_replacement(rng):
    """Up to five draws from up to six records, of which the first is replaced, or contributes nothing, on the other
    data set."""
    n, replaced = rng.randint(1, 6), rng.random() < 0.5
    b, vectors, z = rng.randint(1, 5 if n < 4 else 3), contributions(rng, n), exp(rng.uniform(-0.3, 1.5))
    other = contributions(rng, 2)[-1] if replaced else np.zeros(2)
    both = [list(drawn_batches(data, b)) for data in (vectors, [other, *vectors[1:]])]
    law = law_of_sums([*both[0], *both[1]], z)
    p, q = map(law, both)
    most = max((float(np.linalg.norm(x - y)) for x, y in combinations([other, *vectors], 2)), default=0.0)
    if most == 0.0:
        return
    own = (n, b, z / most * (1 - 1e-15) if replaced else z, replaced)
    at = ask.epsilons(rng, 2 * b / n / z)
    yield from ask.profile("with-replacement-profile", p, q, at, dict(zip(
        ("n", "batch_size", "noise_multiplier", "replaced"), own, strict=True)))
    yield from each_direction("with-replacement-profile", p, q, at, own)


def allocated(rng):
    """An epoch of two or three steps of random allocation, with every noisy sum rounded to cells."""
    steps, z = rng.choice(((2, exp(rng.uniform(-1, 1.5))), (3, exp(rng.uniform(-0.7, 1)))))
    cuts = np.linspace(-5 * z, 5 * z + 1, 120 if steps == 2 else 30)
    far, near = (cells(lambda x: ndtr(x / z), cuts, place) for place in (1.0, 0.0))
    q = reduce(np.multiply.outer, [near] * steps).ravel()
    p = sum(reduce(np.multiply.outer, [far if i == j else near for i in range(steps)]).ravel()
            for j in range(steps)) / steps
    parts = ask.BOUNDS["allocation-profile"].value(z, steps, 1, 1e-14)
    for epsilon in ask.epsilons(rng, 1 / z):
        true = max(chains.delta(p, q, epsilon), chains.delta(q, p, epsilon))
        yield "allocation-profile", f"δ({epsilon:.6g})", true, exp(log_delta_at_epsilon(parts, epsilon).upper)


def allocated_several(rng):
    """Two of three or of four steps, at which the noisy sums are rounded to few cells."""
    steps, z = rng.choice((3, 4)), exp(rng.uniform(-0.7, 1))
    cuts = np.linspace(-2 * z, 2 * z + 1, 12 if steps == 3 else 7)
    far, near = (cells(lambda x: ndtr(x / z), cuts, place) for place in (1.0, 0.0))
    q = reduce(np.multiply.outer, [near] * steps).ravel()
    pairs = list(combinations(range(steps), 2))
    p = sum(reduce(np.multiply.outer, [far if i in pair else near for i in range(steps)]).ravel()
            for pair in pairs) / len(pairs)
    parts = ask.BOUNDS["allocation-profile"].value(z, steps, 2, 1e-14)
    for epsilon in ask.epsilons(rng, 1 / z):
        true = max(chains.delta(p, q, epsilon), chains.delta(q, p, epsilon))
        yield "allocation-profile", f"δ({epsilon:.6g})", true, exp(log_delta_at_epsilon(parts, epsilon).upper)


def allocated_replaced(rng):
    """An epoch of two or three steps of random allocation, with the value of the record replaced and every noisy sum
    rounded to cells. The gradients of the last step may depend on whether the sum of the outputs before it is large."""
    steps, z = rng.choice(((2, exp(rng.uniform(-1, 1.5))), (3, exp(rng.uniform(-0.7, 1)))))
    cuts = np.linspace(-5 * z - 1, 5 * z + 1, 120 if steps == 2 else 30)
    near, middle = cells(ndtr, cuts / z, 0.0), np.concatenate([cuts[:1], (cuts[1:] + cuts[:-1]) / 2, cuts[-1:]])
    extreme = rng.random() < 0.5

    def gradient():
        return 1.0 if extreme else rng.choice((1.0, -1.0, rng.uniform(-1, 1)))

    own, other = [gradient() for _ in range(steps)], [-gradient() for _ in range(steps)]
    past = reduce(np.add.outer, [middle] * (steps - 1)).ravel()
    late, is_large = (gradient(), -gradient()), past > rng.uniform(-z, z)

    def epoch(gradients, after_large):
        laws = [cells(ndtr, cuts / z, g / z) for g in gradients]
        before = [reduce(np.multiply.outer, [laws[i] if i == j else near for i in range(steps - 1)]).ravel()
                  for j in range(steps)]
        last = np.where(is_large[:, None], cells(ndtr, cuts / z, after_large / z), laws[-1])
        return ((np.multiply.outer(sum(before[:-1]), near) + before[-1][:, None] * last) / steps).ravel()

    p, q = epoch(own, late[0]), epoch(other, late[1])
    parts = ask.BOUNDS["allocation-replace-one-profile"].value(z, steps, 1, 1e-14)
    for epsilon in ask.epsilons(rng, 2 / z):
        true = max(chains.delta(p, q, epsilon), chains.delta(q, p, epsilon))
        yield ("allocation-replace-one-profile", f"δ({epsilon:.6g})", true,
               exp(log_delta_at_epsilon(parts, epsilon).upper))


FAMILIES = (sampled, much_noise, grouped, replaced, replaced_in_other_noise, shuffled, shuffled_games, truncated, zeroed_fixed_size, drawn_with_replacement, allocated,
            allocated_several, allocated_replaced)

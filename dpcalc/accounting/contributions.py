"""The sensitivity of counts and sums by key, from what one person may contribute to them.

A person contributes to at most k keys, with a part of the value of each in [0, c], or in [−c, c] where parts are
signed. Neighbours differ in one person.

Add-remove, zero-out: at most k values move, by at most c each. Replace-one: with parts in [0, c] a value moves by at
most c, also of a key that both persons have, and so at most 2k values do. With signed parts a value moves by at most
2c, where both persons have the key, and all moves add up to at most 2kc; then k values that move by 2c are the worst
case. Groups of r records move each value by at most r times as much, and all together, too.

Proof of the worst case. Let values have independent symmetric noise with a log-concave density p, or probabilities p
of whole numbers. Let n values move by b, or any values by at most b each and nb in total: the former loses at least as
much. Signs do not count, as noise is symmetric. A larger move loses more, as tests for large values are the best ones
of log-concave noise: so let the total be nb. It remains that two values which move by x >= y lose at most as much as
with x + t and y − t, for t = min(b − x, y); such steps lead to n moves of b. For noisy values u and w and any γ > 0,
1 less the profile is the sum of min(p(u)p(w), γp(u − x)p(w − y)). Take the terms with u + w = z. As functions of u,
A = p(u)p(z − u) and B = γp(u − x)p(z − u − y) are log-concave, and symmetric about z/2 and about z/2 + (x − y)/2. The
step moves B by t, away from the centre of A. The sum of min(A, B) is the integral over h of how many u have A > h and
B > h: of how much two intervals overlap, with the centres of A and B. That does not grow where the centres move away
from each other. Other values that move as well change γ only, at every outcome of theirs. ∎ With n = 1 this says that
one value which moves by ib loses at least as much as i values that move by b.

The values have independent noise, so that a release is a composition of as many uses of the noise on one value. Of
Gaussian noise that is one use on a query that moves by √(number)·(largest move) in ℓ2. """

from collections.abc import Mapping
from fractions import Fraction
from math import inf, nextafter, sqrt
from typing import Any, NamedTuple

from dpcalc.core.counts import CONTRIBUTION, PERSON, SENSITIVITY_LINE
from dpcalc.core.numbers import plain
from dpcalc.core.relations import ADD_REMOVE, RELATIONS

NAMES = tuple(quantity.name for quantity in CONTRIBUTION)


class Moved(NamedTuple):
    """The values that move between neighbours: their largest number, and by how much each moves at most."""

    number: int
    by: float

    @property
    def l1(self) -> float:
        return self.number * self.by

    @property
    def l2(self) -> float:
        """√number·by, rounded up: the least double whose square is at least number·by²."""
        square, found = self.number * Fraction(self.by) ** 2, sqrt(self.number) * self.by
        while Fraction(nextafter(found, 0.0)) ** 2 >= square:
            found = nextafter(found, 0.0)
        while Fraction(found) ** 2 < square:
            found = nextafter(found, inf)
        return found


def moved_values(values: Mapping[str, Any]) -> Moved | None:
    """What moves between neighbours, or None where no contribution is given."""
    if {*map(values.get, NAMES)} == {None}:
        return None
    keys, part = int(values.get("max_keys") or 1), float(values.get("per_key") or 1.0)
    if people_who_differ(values) == 1:
        return Moved(keys, part)
    return Moved(keys, 2 * part) if values.get("signed") else Moved(2 * keys, part)


def people_who_differ(values: Mapping[str, Any]) -> int:
    """How many people have contributed to only one of two neighbours: 1 where one is added, removed or zeroed out, and
    2 where one is replaced by another."""
    return int(RELATIONS[values.get("adjacency") or ADD_REMOVE].sensitivity)


def with_sensitivity(values: Mapping[str, Any], in_l2: bool) -> Mapping[str, Any]:
    """The options, in which contributions become a sensitivity: of the whole release in ℓ2, or of one value."""
    moved = moved_values(values)
    return values if moved is None else {**values, "sensitivity": moved.l2 if in_l2 else moved.by}


def number_of_values(values: Mapping[str, Any]) -> int:
    """The number of values that move, each with noise of its own; 1 where no contribution is given."""
    moved = moved_values(values)
    return moved.number if moved else 1


def numbers(values: Mapping[str, Any]) -> dict[str, float]:
    """The sensitivities in ℓ0, ℓ1, ℓ2 and ℓ∞, for the answer."""
    moved = moved_values(values)
    if moved is None:
        return {}
    differ = int(values.get("max_keys") or 1) * people_who_differ(values)  # signed ones less where a value moves by 2c
    return {"l0_sensitivity": differ, "l1_sensitivity": moved.l1, "l2_sensitivity": moved.l2,
            "linf_sensitivity": moved.by}


def fields_of_part(values: Mapping[str, Any], in_l2: bool) -> dict[str, int]:
    """What a part of a guarantee in JSON says of the values that move together, where each is a use of the noise."""
    number = number_of_values(values)
    return {} if in_l2 or number == 1 else {"moved": number}


def line(values: Mapping[str, Any], in_l2: bool) -> tuple[str, ...]:
    """The line below the headline that says what the sensitivity is."""
    moved = moved_values(values)
    if moved is None:
        return ()
    norm, size = ("ℓ2", moved.l2) if in_l2 else ("ℓ1", moved.l1)
    several = "s" if moved.number > 1 else ""
    worst = "as of " if values.get("signed") and people_who_differ(values) > 1 else ""  # more values may move, by less
    each = f"{worst}{moved.number} value{several}, at most {moved.by:.6g} each"
    return (f"{SENSITIVITY_LINE} {norm} = {size:.6g} ({each})",)


def promises(values: Mapping[str, Any], once: bool) -> tuple[str, ...]:
    """What must be done before anything is computed; `once` says that a person counts once at a key."""
    if moved_values(values) is None:
        return ()
    keys, part = int(values.get("max_keys") or 1), plain(float(values.get("per_key") or 1.0))
    low = f"−{part}" if values.get("signed") else "0"
    number, each = (f"{keys} keys", "each") if keys > 1 else ("1 key", "it")
    size = f"counts once at {each}" if once else f"between {low} and {part} to the value of {each}"
    return (f"{PERSON} to at most {number}, and {size}; this is enforced before anything is computed, by "
            "dropping keys and clamping, not only observed",)

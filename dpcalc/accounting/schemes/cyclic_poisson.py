"""Cyclic Poisson sampling: the records form m fixed groups, and step i draws a Poisson sample of group i mod m.

The groups do not depend on the values of records. A record meets one step in m, and is in its batch with probability q,
independently of the other records: so T steps are at most ⌈T/m⌉ steps of Poisson sampling at the rate q, for records
that stay in their groups (zero-out): in the other steps its gradients are not used, and what is released there is a
function of earlier outputs and of other records (compare Choquette-Choo et al. 2023, arXiv:2306.08153, where the noise
is correlated between steps, too). A record that is replaced stays in its group as well.

For K records together the same steps are counted, with the Poisson pair of K records. Where they are in several groups,
K_g in group g, the steps are first dominated by the product of the pairs of the records of their groups. The pairs of
one turn of m steps are together the pair of one step, which is not adaptive, with outputs in m orthogonal directions,
in which the records of group g move the g-th. There |u_S| <= |S| and ⟨u_S, v_R⟩ >= −|S||R|, which is all that
poisson_group_profile.py and poisson_replace_one_profile.py need. So a turn is dominated by the Poisson pair of ΣK_g = K
records; a last turn that is incomplete counts as a whole one. """

from collections.abc import Mapping
from typing import Any

from dpcalc.accounting.schemes import by_rate, poisson
from dpcalc.accounting.schemes.record import NOT_SHUFFLED, Scheme, Values, mechanisms_guarantee
from dpcalc.core.bound import Params
from dpcalc.core.checks import Check, Needed
from dpcalc.core.errors import OutOfScope
from dpcalc.core.relations import ADD_REMOVE, REPLACE_ONE, ZERO_OUT, Base
from dpcalc.numerics.rounding import ratio_up

_TOO_LARGE = "{batch_size} is above {it}, the records of the smallest of {bands} groups"
_BATCH_SIZE = Check(("batch_size", "n", "bands"), lambda b, n, bands: str(n // bands) if b > n // bands else "",
                    _TOO_LARGE)


def _params(values: Values) -> dict[str, Any]:
    """The rate within a group, and the number of steps that a record meets."""
    bands = values["bands"]
    if values.get("sampling_rate") is not None:
        rate, epochs = float(values["sampling_rate"]), values.get("epochs")
        passes = None if epochs is None else epochs * bands  # of a group; an epoch takes each group once
        steps = by_rate.number_of_steps({**values, "epochs": passes}, rate)
    else:
        by_rate.sampling_rate(values)  # raises for what is missing
        n, b = values["n"], values["batch_size"]
        if b > n // bands:
            raise OutOfScope("out-of-range", _TOO_LARGE.format(batch_size=b, it=n // bands, bands=bands),
                             "--batch-size")
        rate = ratio_up((b,), (n // bands,))
        steps = by_rate.number_of_steps(values, rate)
    return {"sampling_rate": rate, "run_steps": steps, "steps": -(-steps // bands)}


def _guarantee(values: Values, params: Params) -> dict[str, Any]:
    sampling = {"scheme": poisson.SCHEME.name, "rate": params["sampling_rate"]}
    return mechanisms_guarantee(SCHEME, values, ((sampling, params["steps"]),))


def _sentence(text: Mapping[str, str]) -> str:
    rate = text.get("sampling_rate") or f"{text['batch_size']} over the size of the smallest group"
    records = f"{text['n']} records" if "n" in text else "records"
    return (f"The {records} form {text['bands']} fixed groups, from which batches are drawn in turn: each record of "
            f"the group is in the batch with probability {rate}, independently; {NOT_SHUFFLED}")


def _notes(values: Values) -> tuple[str, ...]:
    found = _params(values)
    return (f"a record meets {found['steps']} of {found['run_steps']} steps, with probability "
            f"{found['sampling_rate']:.6g} in each",)


SCHEME = Scheme(
    name="cyclic-poisson",
    words="cyclic Poisson batches",
    bases={ZERO_OUT: Base(ADD_REMOVE, of_sum=True), REPLACE_ONE: Base(ADD_REMOVE, described=True)},
    refusal="whose groups are formed by the positions of the records: without a record, others would change their "
            "groups",
    options=(*by_rate.OPTIONS, "bands"),
    checks=(Needed(("bands",), "with --scheme cyclic-poisson: the number of groups that batches are drawn from in "
                               "turn"), *by_rate.CHECKS, _BATCH_SIZE),
    params=_params,
    routes=poisson.SCHEME.routes,
    group_routes=poisson.SCHEME.group_routes,
    own_guarantee=_guarantee,
    sentence=_sentence,
    pure=poisson.SCHEME.pure,
    of_mechanism=poisson.SCHEME.of_mechanism,
    companions={"sampling_rate": "sampling_rate", "steps": "run_steps"},
    notes=_notes,
    promise=poisson.SCHEME.promise,
)

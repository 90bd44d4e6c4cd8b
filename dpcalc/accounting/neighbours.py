"""Which data sets a number compares: the relation of neighbours that each guarantee has, what a theorem about random
batches needs between two batches, and what follows from that where guarantees meet.

Every guarantee has one of the relations of core/relations.py, or is unstated: a promise that is not given yet. An
unstated one is bound to the relation of the rest with a promise that is printed and handed on. A relation that is
stated is never read as another one. Guarantees are converted only where --adjacency asks for it, and only to
replace-one, by bounds/conversions/to_replace_one.py. No other module decides about relations. """

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dpcalc.accounting import disjoint_data, ways_out
from dpcalc.core.errors import DpcalcError
from dpcalc.core.relations import ADD_REMOVE, RELATIONS, REPLACE_ONE, ZERO_OUT

if TYPE_CHECKING:
    from dpcalc.accounting.guarantee import Guarantee
    from dpcalc.accounting.mechanisms import Mechanism
    from dpcalc.accounting.schemes import Scheme
    from dpcalc.core.command import Given
    from dpcalc.core.relations import Base

Values = Mapping[str, Any]
UNSTATED = "those your sensitivity refers to"  # in words, the neighbours of a mechanism without --adjacency
RESPONDENT = "one respondent's answer"  # what the neighbours of reports differ in
_ROUNDS = "where --steps are the rounds that a respondent is asked in"
_MONOTONE = "monotone"  # a fact about adding or removing a record: --queries
_ZERO_ADDS_NOTHING = "a zeroed record adds nothing to the query of a batch"
_SIZES = "and the sizes of batches are not released"
_SAME_ORDER = "the probabilities p of all lists of outcomes must belong to the same one of two neighbouring data sets"
_DOUBLES = "(often twice what holds where a record is added or removed)"


class Promise(NamedTuple):
    """What must hold for an answer, in sentences without a full stop; `warnings` are those that are printed on standard
    error, too."""

    sentences: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def and_of(self, scheme: Scheme) -> Promise:
        """This, and what must hold of the batches."""
        return self._replace(sentences=tuple(dict.fromkeys(filter(None, (*self.sentences, scheme.promise)))))


NOTHING = Promise()


# --- a mechanism that options describe -------------------------------------------------------------------------------


def of_mechanism(mechanism: Mechanism, values: Values, by_multiplier: bool) -> str | None:
    """The relation of a mechanism on all records, whose noise may be given as a noise multiplier; None where only its
    sensitivity says it. Raises DpcalcError for one that it cannot have."""
    wanted = values.get("adjacency")
    if mechanism.query.of_respondents:
        if wanted not in (None, REPLACE_ONE):
            raise DpcalcError("refused", f"{wanted} does not go with --mechanism {mechanism.name}, whose data sets "
                              f"differ in {RESPONDENT}; drop it, or use replace-one", "--adjacency")
        return REPLACE_ONE
    if _is_monotone(mechanism, values):
        _refuse_monotone(str(wanted or ADD_REMOVE))
        return str(wanted or ADD_REMOVE)
    return str(wanted or ADD_REMOVE) if by_multiplier or wanted or mechanism.states_relation else None


def _is_monotone(mechanism: Mechanism, values: Values) -> bool:
    return "queries" in mechanism.optional and values.get("queries") == _MONOTONE


def _refuse_monotone(relation: str) -> None:
    """Raises DpcalcError for monotone queries where a record is replaced: counts do not all change in one direction."""
    if relation == REPLACE_ONE:
        raise DpcalcError("refused", "monotone holds when a record is added or removed (--adjacency add-remove), and "
                          "not when a record changes its category; drop it for replace-one", "--queries")


def of_run(given: Given, scheme: Scheme, mechanism: Mechanism, by_multiplier: bool, is_tv: bool) -> Promise:
    """What must hold for a mechanism that options describe, on random batches. Raises DpcalcError where no theorem
    covers its batches and its neighbours. `is_tv` says that dpcalc tv asks."""
    values, relation = given.values, scheme.relation(given.values)
    base, query = scheme.bases[relation], mechanism.query
    if query.not_sampled:
        instead = ways_out.unsampled(given, mechanism, is_tv)
        raise DpcalcError("refused", f"{mechanism.name} {query.not_sampled}"
                          + (f"; use {instead}, {_ROUNDS}" if query.of_respondents else ""), "--mechanism")
    if _is_monotone(mechanism, values):
        _refuse_monotone(base.relation)
    _refuse_mechanism(mechanism, scheme, relation, "--mechanism")
    if by_multiplier:
        return NOTHING
    if base.relation != relation and not base.of_sum:
        raise DpcalcError("refused", ways_out.by_sensitivity(given, scheme, mechanism, relation, is_tv), "--adjacency")
    about = f"{query.about} must hold when {RELATIONS[base.relation].in_batch}"
    return Promise((about, *_of_sum(base)))


def _of_sum(base: Base) -> tuple[str, ...]:
    """What must hold of the query where the theorem is about a sum."""
    if not base.of_sum:
        return ()
    return (_ZERO_ADDS_NOTHING if base.relation == ZERO_OUT else f"{_ZERO_ADDS_NOTHING}, {_SIZES}",)


def _refuse_mechanism(mechanism: Mechanism, scheme: Scheme, relation: str, option: str, of: str = "") -> None:
    """Raises DpcalcError for a mechanism that the theorem about batches and these neighbours does not cover."""
    only = scheme.bases[relation].only
    if not only or mechanism.name in only:
        return
    others = [r for r, base in scheme.bases.items() if not base.only]
    raise DpcalcError("refused", f"{of}{relation} on {scheme.words} is supported for {' or '.join(only)} only; use "
                      f"--adjacency {' or '.join(others)}", option)


# --- guarantees from JSON --------------------------------------------------------------------------------------------


def of_guarantee(guarantee: Guarantee, name: str = "the input") -> str | None:
    """The relation of a guarantee, or None where it is unstated. Raises DpcalcError where its mechanisms and their
    batches cannot have the one that it states, or not the same one."""
    if guarantee.kind == "parallel":
        return disjoint_data.relation(guarantee, name, of_guarantee)
    stated: str | None = guarantee.adjacency
    if guarantee.kind == "selected":
        runs = guarantee.of_one_run
        return compose(runs, None, [name] * len(runs)).relation
    found: dict[str, str] = {}
    for part in getattr(guarantee, "mechanisms", ()):
        respondents = part.mechanism.query.of_respondents
        relation = REPLACE_ONE if respondents else part.relation(stated)
        if relation is not None:
            found.setdefault(relation, f"{part.name}{', reports of respondents' if respondents else ''}")
        if part.sampling and relation not in part.sampling.record.bases:
            record = part.sampling.record
            raise DpcalcError("refused", f"{name}: {relation} is not supported with {record.name} sampling, "
                              f"{record.refusal}; it can be {' or '.join(record.neighbours)}", "--input")
        if part.sampling and relation is not None:
            _refuse_mechanism(part.mechanism, part.sampling.record, relation, "--input", f"{name}: ")
        needed = part.sampling.record.bases[relation].relation if part.sampling and relation else "left out"
        if part.between not in (None, needed):
            raise DpcalcError("refused", f"{name}: between {part.between} is not what {part.name} needs here; it can "
                              f"be {needed}", "--input")
    if len({*found, *((stated,) if stated else ())}) > 1:
        said = "; ".join([*([f"{stated}: as it states"] if stated else []),
                          *(f"{relation}: {part}" for relation, part in sorted(found.items()) if relation != stated)])
        way = (f"use {next(iter(found))} as its adjacency" if len(found) == 1 else
               "give them as separate guarantees, and compose these with dpcalc convert --adjacency replace-one")
        raise DpcalcError("refused", f"{name} has different neighbours ({said}); {way}", "--input")
    return next(iter(found), stated)


class Composed(NamedTuple):
    """Guarantees that are about the same neighbouring data sets, and so compose: `relation` is None where none of them
    states one."""

    guarantees: tuple[Guarantee, ...]
    relation: str | None
    promise: Promise
    converted: tuple[str, ...]  # the names of those that were converted


def compose(guarantees: Sequence[Guarantee], wanted: str | None = None, titles: Sequence[str] = (),
            way_out: Callable[[Mapping[str, Sequence[int]]], str] | None = None) -> Composed:
    """Guarantees as guarantees about the same neighbouring data sets: those that all stated ones share, or `wanted`.
    Raises DpcalcError where they differ. Of the releases of a ledger, `titles` are their names, and `way_out` says what
    makes them agree, from relation → places of the releases. """
    names = titles or [g.name or (f"input {k}" if len(guarantees) > 1 else "the input")
                       for k, g in enumerate(guarantees, 1)]
    stated = [of_guarantee(g, name) for g, name in zip(guarantees, names, strict=True)]
    places: dict[str, list[int]] = {}
    for k, relation in enumerate(stated):
        if relation is not None:
            places.setdefault(relation, []).append(k)
    if wanted is None and len(places) > 1:
        said = [f"{names[k]}, reports of respondents" if _of_respondents(g) else names[k]
                for k, g in enumerate(guarantees)]
        groups = "; ".join(f"{relation}: {', '.join(said[k] for k in places[relation])}" for relation in sorted(places))
        which, option = ("releases", "--file") if way_out else ("inputs", "--input")
        way = way_out(places) if way_out else ways_out.different_neighbours(names, places)
        raise DpcalcError("refused", f"the {which} have different neighbours ({groups}); {way}", option)
    target = wanted or next(iter(places), ADD_REMOVE if any(g.kind == "parallel" for g in guarantees) else None)
    sentences = [*(sentence for g in guarantees for sentence in (
        *(g.promises or ()), *(part.sampling.record.promise for part in getattr(g, "mechanisms", ()) if part.sampling))
        if sentence), *disjoint_data.conditions(guarantees)]
    found, warnings, converted = list[Any](), list[str](), list[str]()
    for g, relation, name in zip(guarantees, stated, names, strict=True):
        g, promise, is_converted = _for(target, g, relation, name)
        found.append(g)
        sentences += promise.sentences
        warnings += promise.warnings
        converted += [name] if is_converted else []
    if len({(g.p, g.q) for g in guarantees if g.kind == "outcomes"}) > 1:
        sentences.append(_SAME_ORDER)
    promise = Promise(tuple(dict.fromkeys(sentences)), tuple(dict.fromkeys(warnings)))
    return Composed(tuple(found), target, promise, tuple(converted))


def _for(target: str | None, g: Guarantee, relation: str | None, name: str) -> tuple[Guarantee, Promise, bool]:
    """A guarantee as one for the relation that all share, what must hold for that, and whether it was converted."""
    if g.kind == "selected":
        runs = compose(g.of_one_run, target, [name] * len(g.candidate))
        found = g.model_copy(update={"adjacency": target, "candidate": runs.guarantees})
        return found, runs.promise, bool(runs.converted)
    bound = relation or target
    promise = NOTHING if bound is None else _promise_of_input(g, name, bound)
    if bound != target:
        g = _converted(g, str(bound), str(target), name)
    return g.model_copy(update={"adjacency": target}), promise, bound != target


def _of_respondents(guarantee: Guarantee) -> bool:
    """Whether all of a guarantee is about reports of respondents."""
    parts = getattr(guarantee, "mechanisms", ())
    return bool(parts) and all(part.mechanism.query.of_respondents for part in parts)


def are_of_respondents(guarantees: Sequence[Guarantee]) -> bool:
    """Whether all guarantees are about reports of respondents, so that neighbours differ in one person's answer."""
    return bool(guarantees) and all(map(_of_respondents, guarantees))


def _promise_of_input(guarantee: Guarantee, name: str, relation: str) -> Promise:
    """What must hold of an input of which at least a part states no relation, beside others that do."""
    if guarantee.adjacency:
        return NOTHING
    if guarantee.kind == "parallel":
        return Promise(*disjoint_data.promises(guarantee, name, relation, _promise_of_input))
    parts = getattr(guarantee, "mechanisms", None)
    unstated = [part for part in parts or () if not (part.sampling or part.sum or part.mechanism.query.of_respondents)]
    if parts and not unstated:
        return NOTHING
    return _bound([f"{part.mechanism.query.about} of {name}" for part in unstated] or [f"the guarantee of {name}"],
                  relation)


def of_numbers(relation: str) -> Promise:
    """What must hold of a guarantee whose numbers options give, and which states no relation."""
    return _bound(["the guarantee"], relation)


def _bound(about: Sequence[str], relation: str) -> Promise:
    """What must hold of numbers that state no relation, and are taken for those of this one."""
    what = (f"hold for {relation} neighbours {_DOUBLES}" if relation == REPLACE_ONE else
            f"be that of {relation} neighbours")
    sentences = tuple(dict.fromkeys(f"{x} must {what}" for x in about))
    return Promise(sentences, sentences if relation == REPLACE_ONE else ())


def _converted(guarantee: Guarantee, relation: str, wanted: str, name: str) -> Guarantee:
    """An input for replaced records. Raises DpcalcError where no theorem leads from its relation to the wanted one."""
    from dpcalc.accounting import replaced

    if _of_respondents(guarantee):
        raise DpcalcError("refused", f"{name} is about {RESPONDENT}, from which nothing follows for {wanted} "
                          f"neighbours; use --adjacency {REPLACE_ONE}", "--adjacency")
    if wanted != REPLACE_ONE:
        raise DpcalcError("refused", f"{name} holds for {relation} neighbours, from which nothing follows for {wanted} "
                          f"ones; drop it, or compute {name} again with --adjacency {wanted}", "--adjacency")
    if guarantee.index:
        raise DpcalcError("refused", f"{name} is about one position of a run alone, and a record that is added or "
                          f"removed moves the others; compute it for {wanted} neighbours", "--adjacency")
    return replaced.guarantee(guarantee, relation, name)


# --- an input as the mechanism on a batch ----------------------------------------------------------------------------


def as_base(guarantee: Guarantee, scheme: Scheme, values: Values) -> Promise:
    """What must hold for the guarantee of an input to be that of the mechanism on a random batch. Raises DpcalcError
    where it is not what the theorem needs between two batches."""
    relation, name = scheme.relation(values), guarantee.name or "the input"
    base, own = scheme.bases[relation], of_guarantee(guarantee, name)
    parts = getattr(guarantee, "mechanisms", ())
    if parts:
        _refuse_mechanism(parts[0].mechanism, scheme, relation, "--input", f"{name}: ")
    if guarantee.index:
        raise DpcalcError("refused", f"the guarantee of {name} is about position {guarantee.index[0]} of a run, and a "
                          "batch puts records in other positions; compute it for every record", "--input")
    if parts and parts[0].mechanism.query.not_sampled:
        query, instead = parts[0].mechanism.query, ways_out.composed(guarantee, values)
        raise DpcalcError("refused", f"{parts[0].name} {query.not_sampled}"
                          + (f"; use {instead}, {_ROUNDS}" if query.of_respondents else ""), "--input")
    if (base.of_sum or base.described) and (not parts or guarantee.upper_bound):  # type: ignore[union-attr]
        raise DpcalcError("refused", ways_out.not_described(own, relation, name, scheme, base.of_sum), "--input")
    carried, zero = guarantee.promises or (), _of_sum(base)
    is_sum = bool(parts) and all(part.sum for part in parts)
    if own is None and (base.relation == relation or base.of_sum or is_sum):
        promise = _promise_of_input(guarantee, name, base.relation)
        return Promise((*carried, *promise.sentences, *zero), promise.warnings)
    if own == base.relation or (base.of_sum and own == ZERO_OUT):
        about = parts[0].mechanism.query.about if parts else "the guarantee"
        of_batch = () if is_sum or relation in (own, ZERO_OUT) else (
            f"{about} of {name} must hold when {RELATIONS[base.relation].in_batch}",)
        return Promise((*carried, *of_batch, *zero))
    raise DpcalcError("refused", ways_out.other_base(own, base.relation, relation, name, scheme), "--input")

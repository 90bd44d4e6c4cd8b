"""A theorem in lines of text, as --explain and `dpcalc explain` print it, and its source in short, for tables."""

from __future__ import annotations

import re

from dpcalc.core.bound import Bound


def lines(bound: Bound) -> list[str]:
    """Statement, what it means, source, assumptions and errata."""
    words = [f"  In words: {bound.in_words}"] if bound.in_words else []
    return [f"{bound.name} [{bound.status}]: {bound.statement}", *words, f"  Source: {bound.source}",
            *(f"  Assumes: {a}" for a in bound.assumptions), *(f"  Erratum: {e}" for e in bound.errata)]


_NAME = r"[A-Z][\w’-]+"
# Each pattern with what takes its place, in this order.
_SHORTER = tuple((re.compile(pattern), short) for pattern, short in (
    (r";.*", ""),  # the first reference alone
    (r" \([^()]*\)|, arXiv:\d+\.\d+(?:v\d+)?", ""),
    # proven here, from others' theorems
    (r"^(?:proof in )?dpcalc\S* (?:\S+\.py, )?from |^after the construction of ", "after "),
    (r"^[^:]*: (?=[A-Z])", ""),  # what the reference is about
    (rf"({_NAME})(?:, {_NAME})+ & {_NAME}", r"\1 et al."),
    (r",? (?:and|with) (?![\d§]).*", ""),  # a second reference in the same sentence
    (r"^([^,]*, [^,]*)(?:,.*?)??(, corrected|, repaired)?$", r"\1\2"),  # its first place alone
    (r"(?<=\d) and (?=[\d§])", ", "),
    (r"Theorem", "Thm"), (r"Proposition", "Prop"), (r"Corollaries", "Cors"), (r"Corollary", "Cor"),
    (r"Definition", "Def"),
    (r"Lemma", "Lem"), (r"Conjecture", "Conj"), (r"Section ", "§"),
))


def short_source(source: str) -> str:
    """The first reference of a source, for a column of a table: 'Balle et al. 2018, Thm 8'."""
    for pattern, short in _SHORTER:
        source = pattern.sub(short, source)
    return source

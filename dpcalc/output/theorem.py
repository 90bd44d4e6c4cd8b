"""A theorem in lines of text, for --explain and `dpcalc explain`, and its source shortened for tables."""

from __future__ import annotations

import re

from dpcalc.core.bound import Bound


def lines(bound: Bound) -> list[str]:
    """The lines about a theorem: statement, meaning in words, source, assumptions and errata."""
    words = [f"  In words: {bound.theorem.in_words}"] if bound.theorem.in_words else []
    return [f"{bound.name} [{bound.status}]: {bound.theorem.statement}", *words, f"  Source: {bound.source}",
            *(f"  Assumes: {a}" for a in bound.theorem.assumptions), *(f"  Erratum: {e}" for e in bound.theorem.errata)]


_NAME = r"[A-Z][\w’-]+"  # the family name of an author
# Patterns and their replacements, applied in this order.
_REPLACEMENTS = tuple((re.compile(pattern), short) for pattern, short in (
    (r";.*", ""),  # further references
    (r" \([^()]*\)|, arXiv:\d+\.\d+(?:v\d+)?", ""),
    # The source of a proof in this package: the theorem that it builds on.
    (r"^(?:proof in )?dpcalc\S* (?:\S+\.py, )?(?:from|in the manner of) |^after the construction of ", "after "),
    (r"^proof in dpcalc/\S+$", "proof in dpcalc"),
    (r"^[^:]*: (?=[A-Z])", ""),  # the statement that the reference is for
    (rf"({_NAME})(?:, {_NAME})+ & {_NAME}", r"\1 et al."),
    (r",? (?:and|with) (?![\d§]).*", ""),  # a second reference in the same sentence
    (r"^([^,]*, [^,]*)(?:,.*?)??(, corrected|, repaired)?$", r"\1\2"),  # further places in the same paper
    (r"(?<=\d) and (?=[\d§])", ", "),
    (r"Theorem", "Thm"), (r"Proposition", "Prop"), (r"Corollaries", "Cors"), (r"Corollary", "Cor"),
    (r"Definition", "Def"), (r"Lemma", "Lem"), (r"Conjecture", "Conj"), (r"Section ", "§"),
))


def short_source(source: str) -> str:
    """The first reference of a source, shortened to about 50 characters or less: 'Balle et al. 2018, Thm 8'."""
    for pattern, short in _REPLACEMENTS:
        source = pattern.sub(short, source)
    return source

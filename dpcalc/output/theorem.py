"""A theorem in lines of text, for --explain and `dpcalc explain`; its source, shortened for tables; and the entries of
references.bib that it names, as BibTeX."""

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from dpcalc import __version__
from dpcalc.core.bound import Bound
from dpcalc.core.results import Answer


def lines(bound: Bound) -> list[str]:
    """The lines about a theorem: statement, meaning in words, source, assumptions and errata."""
    theorem = bound.theorem
    return [f"{bound.name} [{bound.status}]: {theorem.statement}", f"  In words: {theorem.in_words}",
            f"  Source: {bound.source}",
            *(f"  Assumes: {a}" for a in theorem.assumptions), *(f"  Erratum: {e}" for e in theorem.errata)]


_NAME = r"[A-Z][\w’-]+"  # the family name of an author
# Patterns and their replacements, applied in this order.
_REPLACEMENTS = (
    (r";.*", ""),  # further references
    (r" \([^()]*\)|, arXiv:\d+\.\d+(?:v\d+)?", ""),
    # The source of a proof in this package: the theorem that it builds on.
    (r"^(?:proof in )?dpcalc\S* (?:\S+\.py, )?(?:from|in the manner of) |^after the construction of ", "after "),
    (r"^proof in dpcalc/\S+$|^dpcalc, \S+\.py(?:, after.*)?$", "proof in dpcalc"),
    (r"^[^:]*: (?=[A-Z])", ""),  # the statement that the reference is for
    (rf"({_NAME})(?:, {_NAME})+ & {_NAME}", r"\1 et al."),
    (r",? (?:and|with) (?![\d§]).*", ""),  # a second reference in the same sentence
    (r"^([^,]*, [^,]*)(?:,.*?)??(, corrected|, repaired)?$", r"\1\2"),  # further places in the same paper
    (r"(?<=\d) and (?=[\d§])", ", "),
    (r"Theorem", "Thm"), (r"Proposition", "Prop"), (r"Corollaries", "Cors"), (r"Corollary", "Cor"),
    (r"Definition", "Def"), (r"Lemma", "Lem"), (r"Conjecture", "Conj"), (r"Section ", "§"),
)


def short_source(source: str) -> str:
    """The first reference of a source, shortened to about 50 characters or less: 'Balle et al. 2018, Thm 8'."""
    for pattern, short in _REPLACEMENTS:
        source = re.sub(pattern, short, source)
    return source


# --- BibTeX ----------------------------------------------------------------------------------------------------------

# The entry of this program. Those of papers stand in references.bib, in ASCII: BibTeX or a terminal may lack accents.
_SOFTWARE = """@software{{dpcalc,
  title = {{dpcalc: a calculator for differential privacy}},
  version = {{{version}}},
  note = {{Python package dpcalc-privacy{proofs}}}
}}"""
_OWN_PROOF = re.compile(r"^proof in (dpcalc/[\w/]+\.py)")


class Reference(NamedTuple):
    """An entry of references.bib, and the ways in which the source of a theorem names it."""

    key: str
    text: str
    citations: tuple[str, ...]  # 'Dong, Roth & Su 2022', 'Dong et al. 2022'
    arxiv: str | None

    def is_in(self, source: str) -> bool:
        """Whether a source names this paper, by its authors and year or by its arXiv number."""
        return (f"arXiv:{self.arxiv}" in source
                or any(re.search(rf"(?<!& )\b{re.escape(citation)}(?!\d)", source) for citation in self.citations))


@cache
def references() -> tuple[Reference, ...]:
    """The entries of references.bib, in its order."""
    from importlib.resources import files  # takes some milliseconds, which few answers need

    text = files("dpcalc").joinpath("output/references.bib").read_text(encoding="ascii")
    return tuple(_reference(entry) for entry in text.strip().split("\n\n"))


def _reference(entry: str) -> Reference:
    authors = [author.split(",")[0] for author in _field(entry, "author").replace(r'{\"e}', "ë").split(" and ")]
    year = _field(entry, "year")
    *others, last = authors
    ways = [f"{', '.join(others)} & {last}" if others else last]
    if len(authors) > 2:
        ways.append(f"{authors[0]} et al.")
    return Reference(entry[entry.index("{") + 1:entry.index(",")], entry,
                     tuple(f"{way} {year}".rstrip() for way in ways), _field(entry, "eprint") or None)


def _field(entry: str, name: str) -> str:
    """The value of a field of an entry; '' where the entry lacks it."""
    found = re.search(rf"^  {name} = {{(.*)}},?$", entry, re.M)
    return found.group(1) if found else ""


def cited(source: str) -> tuple[Reference, ...]:
    """The entries that the source of a theorem names."""
    return tuple(reference for reference in references() if reference.is_in(source))


def bibtex(bounds: Iterable[Bound]) -> str:
    """The BibTeX entries of the sources of these bounds, each once, in alphabetical order; dpcalc itself comes last,
    with the theorems that it proves."""
    bounds = tuple(bounds)
    found = {reference.key: reference.text for bound in bounds for reference in cited(bound.source)}
    proofs = dict.fromkeys(f"; proof of {bound.name} in {own.group(1)}" for bound in bounds
                           if (own := _OWN_PROOF.match(bound.source)))
    software = _SOFTWARE.format(version=__version__, proofs="".join(proofs))
    return "\n\n".join((*(found[key] for key in sorted(found)), software))


def of_answers(answers: Iterable[Answer]) -> str:
    """The BibTeX entries of the bounds of the headlines, or with `every_row` (--all) of all rows."""
    rows = (row for answer in answers for row in (answer.rows if answer.every_row else answer.rows[:1]))
    return bibtex(theorem for row in rows for theorem in row.route.theorems)

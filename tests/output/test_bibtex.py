"""--format bibtex: the sources of bounds as BibTeX entries."""

import re

import pytest
from calling import call

from dpcalc import __version__, answer
from dpcalc.bounds import all_bounds
from dpcalc.output.theorem import bibtex, cited, references

BOUNDS = all_bounds()


def keys(text):
    return re.findall(r"^@\w+{(\w+),$", text, re.M)


def printed(line):
    done = call(line.split())
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_citation_of_a_source_has_an_entry():
    """By arXiv number, and by the year that ends a citation: both must belong to one of the entries. Theorems of this
    project may have no other source."""
    for name, bound in BOUNDS.items():
        source, found = bound.source, cited(bound.source)
        assert found or source.startswith("proof in dpcalc"), name
        numbers = set(re.findall(r"arXiv:(\d+\.\d+)", source)) - {reference.arxiv for reference in found}
        assert not numbers, f"dpcalc/output/references.bib lacks arXiv:{numbers}, which {name} cites"
        years = re.findall(r"[\w’] ((?:19|20)\d\d)\b", source)
        assert set(years) <= {way[-4:] for reference in found for way in reference.citations}, name


def test_every_entry_is_cited_by_a_bound():
    used = {reference.key for bound in BOUNDS.values() for reference in cited(bound.source)}
    assert used == {reference.key for reference in references()}


def test_citations_do_not_match_other_papers():
    assert [r.key for r in cited("Balle & Wang 2018, Theorem 8")] == ["balle2018improving"]
    assert [r.key for r in cited("Zhu, Dong & Wang 2022, Theorem 10")] == ["zhu2022optimal"]
    assert [r.key for r in cited("Mironov, Talwar & Zhang 2019")] == ["mironov2019renyi"]
    assert [r.key for r in cited("Feldman et al. 2018, Theorem 22")] == ["feldman2018privacy"]
    assert cited("Mironov 2018") == () == cited("Somebody & Mironov 2017")


def test_entries_are_well_formed():
    for reference in references():
        fields = dict(re.findall(r"^  (\w+) = {(.*)},?$", reference.text, re.M))
        assert reference.text.isascii() and reference.text.count("{") == reference.text.count("}")
        assert {"author", "title"} <= fields.keys() and ("year" in fields or "note" in fields)
        assert len(fields) == len(reference.text.splitlines()) - 2
        assert re.fullmatch(r"\d{4}\.\d{5}|\d{4}\.\d{4}", fields.get("eprint", "0000.0000"))
        assert ("eprint" in fields) == ("archiveprefix" in fields), f"references.bib: {reference.key}, archiveprefix"
        assert re.fullmatch(r"10\.\d{4,}/\S+", fields.get("doi", "10.1000/x"))
    every = [reference.key for reference in references()]
    assert len(set(every)) == len(every)
    assert every == sorted(every, key=lambda key: key.replace("_", "")), "references.bib: sort the entries by their keys"


def test_the_sources_of_the_headline_each_once_and_the_program_last():
    line = "subsample --sampling-rate .01 --sigma 1 --steps 10 --delta 1e-5 --format bibtex"
    text = printed(line)
    assert keys(text) == ["balle2018privacy", "zhu2022optimal", "dpcalc"]
    assert f"version = {{{__version__}}}" in text
    assert keys(printed(f"{line} --all")) == ["asoodeh2021three", "balle2018privacy", "balle2020hypothesis",
                                              "canonne2020discrete", "mironov2019renyi", "zhu2022optimal", "dpcalc"]
    result = answer("subsample", sampling_rate=.01, sigma=1, steps=10, delta=1e-5)
    assert result.text("bibtex") + "\n" == text


def test_a_sweep_has_the_sources_of_all_its_points():
    assert keys(printed("rdp --sigma 1,2 --delta 1e-5 --format bibtex")) == ["balle2018improving",
                                                                            "sordello2021privacy", "dpcalc"]


def test_pages_about_bounds_print_their_sources():
    assert keys(printed("explain tv-kl --format bibtex")) == ["bretagnolle1979estimation",
                                                              "tsybakov2009introduction", "dpcalc"]
    assert keys(printed("bounds --status conjecture --format bibtex")) == ["berthier2019differential",
                                                                           "berthier_amplifying", "dpcalc"]
    assert len(keys(printed("bounds --format bibtex"))) == len(references()) + 1
    assert keys(printed("explain noise-feedback --format bibtex")) == keys(bibtex([BOUNDS["noise-feedback"]]))


@pytest.mark.parametrize("option, said", [
    ("--explain", "--explain"), ("-q", "--quiet"), ("--digits 20", "--digits"), ("--batch -", "--format")])
def test_what_does_not_go_with_it(option, said):
    done = call(f"rdp --sigma 1 --delta 1e-5 --format bibtex {option}".split())
    assert done.returncode == 2 and said in done.stderr and done.stdout == ""

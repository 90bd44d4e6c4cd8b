"""The package as it is installed: its name, what it says of itself, and the versions that it promises to work with."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from importlib.resources import files

import pytest
from conftest import ROOT

import dpcalc

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_top_level_holds_what_belongs_there():
    """A test or a command that writes into the current folder would leave its file here."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("no repository")
    top = {name.partition("/")[0] for name in listed.stdout.splitlines()}
    assert {name for name in top if not name.startswith(".")} == {
        "pyproject.toml", "dpcalc", "tests", "completions", "docs", "README.md", "mkdocs.yml", "LICENSE", "CHANGELOG.md"}


def test_the_lowest_versions_are_those_declared():
    printed = subprocess.run([sys.executable, ROOT / ".ci" / "lowest.py"], capture_output=True, text=True,
                             check=True).stdout
    assert printed == (ROOT / ".ci" / "lowest.txt").read_text()
    assert printed.count("==") == printed.count("\n") >= 10


def test_the_distribution_has_a_name_of_its_own():
    """Another project owns the name dpcalc on the package index; the command and the import are dpcalc."""
    installed = distribution("dpcalc-privacy")
    assert installed.metadata["Name"] == PROJECT["name"] == "dpcalc-privacy" and installed.version == dpcalc.__version__
    assert {(e.group, e.name, e.value)
            for e in installed.entry_points} == {("console_scripts", "dpcalc", "dpcalc.__main__:main")}
    own = [r for requirements in PROJECT["optional-dependencies"].values() for r in requirements
           if r.startswith("dpcalc")]
    assert own == ["dpcalc-privacy[test]"]  # an extra that names the other project would install it


def test_the_metadata_says_what_is_supported():
    metadata = distribution("dpcalc-privacy").metadata
    classifiers = metadata.get_all("Classifier")
    assert {"Typing :: Typed",
            *(f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13, 14))} <= set(classifiers)
    assert metadata["Requires-Python"] == ">=3.11" and files("dpcalc").joinpath("py.typed").is_file()
    assert "urls" not in PROJECT  # the project has no page


def test_every_newer_python_declared_is_tried():
    newer = [c.rpartition(" ")[2] for c in PROJECT["classifiers"]
             if c.startswith("Programming Language :: Python :: 3.")][1:]
    assert f"newer=({' '.join(newer)})" in (ROOT / ".ci" / "packages.sh").read_text()
    assert ".ci/packages.sh" in (ROOT / ".ci" / "full").read_text()


def test_only_public_names_of_typer_are_imported():
    """So that every newer version of Typer within the range of pyproject.toml will do."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "dpcalc").rglob("*.py"))
    imported = re.findall(r"^\s*(?:from|import) (typer[.\w]*)(?: import ([\w, ]+))?", text, re.M)
    assert imported and all(not part.startswith("_") for names in imported for name in names
                            for part in re.split(r"[., ]+", name))

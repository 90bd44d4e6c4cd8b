"""Prints each package of pyproject.toml with its range and the installed version, which the tests ran with."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
for requirement in (*project["dependencies"], *project["optional-dependencies"]["test"]):
    name, allowed = re.match(r"([\w-]+)(.*)", requirement).groups()
    try:
        print(f"{name} {version(name)} of {allowed}")
    except PackageNotFoundError:
        print(f"{name} not installed, of {allowed}")

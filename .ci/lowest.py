"""Prints the lower bounds of pyproject.toml as pip constraints: `python .ci/lowest.py > .ci/lowest.txt`."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
for requirement in (*project["dependencies"], *project["optional-dependencies"]["test"]):
    name, lowest = re.match(r"([\w-]+)>=([\d.]+)", requirement).groups()
    print(f"{name}=={lowest}")

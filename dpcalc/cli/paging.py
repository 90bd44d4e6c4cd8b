"""The options of a page, a command that prints text but answers no privacy question."""

from __future__ import annotations

from typing import Any

from dpcalc.core.command import Page


def options_of(page: Page, raw: dict[str, Any]) -> dict[str, Any]:
    """The validated options with their defaults, and the switches. Raises DpcalcError that names the option."""
    from dpcalc.cli.arguments import check_format
    from dpcalc.core.validate import validate

    switches = {name: raw.pop(name) for name, _ in page.switches}
    check_format(raw.get("format"), switches)
    if switches.get("json") and "format" in raw:
        raw["format"] = "json"
    return validate(page, raw).values | switches

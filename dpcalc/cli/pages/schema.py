"""dpcalc schema: the JSON Schema of results."""

from dpcalc.commands import CALCULATORS, calculator
from dpcalc.core.command import Page
from dpcalc.core.errors import DpcalcError
from dpcalc.core.strict_json import indented
from dpcalc.core.validate import not_one_of
from dpcalc.output.schema import of_command, of_result


def text(words: tuple[str, ...]) -> str:
    """The JSON Schema of a result; with the name of a command, of its results and of their parameters."""
    if len(words) > 1:
        raise DpcalcError("usage", f"one command at a time, not {' '.join(words)}")
    if words and words[0] not in CALCULATORS:
        raise DpcalcError("unknown-value", not_one_of(words[0], CALCULATORS))
    return indented(of_command(calculator(words[0])) if words else of_result(CALCULATORS))


COMMAND = Page(
    "schema",
    "Print the JSON Schema of a result (--json); with a command, of its results and their parameters.",
    "[COMMAND]",
    text,
    (("schema | jq -r .properties.schema.const", "dpcalc/v1"),
     ("schema subsample | jq -r .title", "a result of dpcalc subsample")),
    words=lambda: CALCULATORS,
)

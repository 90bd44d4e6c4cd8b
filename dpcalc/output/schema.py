"""The JSON Schema of results and parameters, generated from the quantities and the models of guarantees."""

from typing import Any

from dpcalc import __version__
from dpcalc.core import quantities
from dpcalc.core.command import OUTPUT, Command, Option
from dpcalc.core.quantities import LARGEST_COUNT
from dpcalc.core.validate import describe

STATUS = quantities.STATUS.choices
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TEXT, _TEXTS = {"type": "string"}, {"type": "array", "items": {"type": "string"}}
_NUMBER = {"anyOf": [{"type": "number"}, {"enum": ["inf", "-inf"]}]}  # JSON has no infinity
_RANGES = "^([0-9]+(:[0-9]+)?(,[0-9]+(:[0-9]+)?)*|@.+)$"
_NUMBERS = {"type": "object", "additionalProperties": _NUMBER}
_LEVELS = {"type": "array", "items": {"type": "number"}}
_SCHEDULE = {"type": "object", "required": ["kind", "step"], "additionalProperties": False,  # online-noise --schedule
             "properties": {"kind": {"const": "schedule"}, "step": _LEVELS, "sigma": _LEVELS, "scale": _LEVELS}}
_FEEDBACK = {"type": "object", "required": ["kind", "feedback"], "additionalProperties": False,  # --solve feedback
             "properties": {"kind": {"const": "feedback"}, "feedback": {"type": "number"}}}
_AUDIT = {"type": "object", "required": ["kind", "status", "bound"], "additionalProperties": False,  # no guarantee
          "properties": {"kind": {"const": "audit"}, "status": {"enum": list(STATUS)}, "bound": _TEXT}}
_COUNTS = {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2}
_ROW = {
    "type": "object",
    "required": ["name", "status", "witness", "source", "assumptions", "errata"],
    "properties": {"name": _TEXT, "curve": _TEXT, "conversion": _TEXT, "status": {"enum": list(STATUS)},
                   "witness": {"type": "object"},
                   "digits": {"type": "object", "additionalProperties": _TEXT}, "source": _TEXT,
                   "assumptions": _TEXTS, "errata": _TEXTS, "statements": _TEXTS,
                   **dict.fromkeys(("adjacency", "assumes", "command"), _TEXT)},
    "additionalProperties": _NUMBER,
}


def of_result(commands: tuple[str, ...]) -> dict[str, Any]:
    """The schema of the record dpcalc/v1, which every calculator prints."""
    from dpcalc.accounting.guarantee import json_schema

    guarantee = json_schema()
    definitions = guarantee.pop("$defs", {})
    properties = {
        "schema": {"const": "dpcalc/v1"}, "version": _TEXT, "command": {"enum": list(commands)},
        "parameters": {"type": "object"}, "options": {"type": "object"},
        "inputs": {"type": "array", "items": {"type": "object"}},
        "result": _NUMBERS,
        "status": {"enum": [*STATUS, None]}, "bound": {"type": ["string", "null"]},
        "solved": {"type": ["string", "null"]},
        "guarantee": {"anyOf": [guarantee, _SCHEDULE, _FEEDBACK, _AUDIT]}, "bounds": {"type": "array", "items": _ROW},
        "adjacency": _TEXT, "released": _TEXT, "notes": _TEXTS,
    }
    certified = {"certified": _NUMBERS}  # --certify: bits of ball arithmetic, and the ends of the enclosure
    roc = {"roc": {"type": "array", "items": _NUMBERS},  # tv with --fpr or --roc: {fpr, tpr} for each point
           "id": {"type": ["string", "number", "boolean", "null"]}}  # --batch: the id of the line, as it was given
    reason = {"type": "object", "required": ["name", "reason"], "properties": {"name": _TEXT, "reason": _TEXT}}
    gain = {"type": "object", "required": ["assumption", "options", "bound", "command"],
            "additionalProperties": _NUMBER,
            "properties": {"assumption": _TEXT, "options": {"type": "object"}, "bound": _TEXT, "command": _TEXT}}
    numbers = [(of, f"total_{of}") for of in ("epsilon", "rho", "mu", "spent")]
    release = {"type": "object", "required": ["name"], "additionalProperties": False, "patternProperties": {"^_": {}},
               "anyOf": [{"required": list(names)} for names in numbers],
               "properties": {"name": _TEXT, "parts": _TEXTS, "date": _TEXT, "note": _TEXT, **dict.fromkeys(
                   (*(name for names in numbers for name in names), "left", "share"), _NUMBER)}}
    of_filter = ("order", "budget", "spent", "left", "delta_reserve")
    adaptive = {"type": "object", "required": ["filter", *of_filter], "additionalProperties": False,
                "properties": {"filter": {"enum": ["rdp", "gdp", "pure"]}, "order": {"type": ["number", "null"]},
                               **dict.fromkeys(of_filter[1:], _NUMBER)}}
    ledger = {"releases": {"type": "array", "items": release}, "adaptive": adaptive}
    compared = {"what_if": {"type": "array", "items": gain}, "no_gain": _TEXTS,
                "not_applicable": {"type": "array", "items": reason}}
    audited = {"refuted": {"type": ["boolean", "null"]}}
    return {"$schema": _DIALECT, "title": f"a result of dpcalc {__version__}", "type": "object",
            "required": list(properties),
            "properties": properties | certified | roc | ledger | compared | audited, "$defs": definitions}


def of_command(command: Command) -> dict[str, Any]:
    """The schema of the record of one command, with the schema of its parameters."""
    schema = of_result((command.name,))
    schema["title"] = f"a result of dpcalc {command.name}"
    schema["properties"]["parameters"] = parameters(command)
    return schema


def parameters(command: Command) -> dict[str, Any]:
    """The schema of the parameters of a command: of every option that is not about the output.

    An option that takes a list of numbers is, in an answer about one value, a single number; one that names a file may
    be given the object that the file would hold.
    """
    properties = {o.name: {**_of_values(o), "title": o.quantity.symbol or o.name.replace("_", " ").title(),
                           "description": describe(o.quantity),
                           **({} if o.default is None else {"default": o.default})}
                  for o in command.all_options() if o.group != OUTPUT}
    return {"additionalProperties": False, "properties": properties, "type": "object"}


def _of_values(option: Option) -> dict[str, Any]:
    """The schema of the values of an option."""
    q = option.quantity
    limits = {"exclusiveMaximum": q.lt, "exclusiveMinimum": q.gt, "maximum": q.le, "minimum": q.ge}
    given = {key: limit for key, limit in limits.items() if limit is not None}
    number, text = {**given, "type": "number"}, {"type": ["string", "object"] if q.reads else "string"}
    match q.kind:
        case "number":
            return number
        case "count":
            return {**{key: int(limit) for key, limit in given.items()}, "type": "integer"}
        case "numbers" | "series":
            return {"anyOf": [number, {"items": number, "type": "array"}]}
        case "ranges":
            entry = [number, {"type": "string", "pattern": _RANGES}]
            return {"anyOf": [*entry, {"items": {"anyOf": entry}, "type": "array"}]}
        case "horizon":
            return {"anyOf": [{"type": "integer", "minimum": 1, "maximum": int(LARGEST_COUNT)}, {"enum": ["inf"]}]}
        case "choice":
            return {"enum": list(option.choices or q.choices), "type": "string"}
        case "names":
            return {"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}, {"const": True}]}
        case "share":
            return {"anyOf": [{"pattern": "^[0-9]+/[0-9]+$", "type": "string"}, _COUNTS]}
        case "switch":
            return {"type": "boolean"}
    return {"items": text, "type": "array"} if option.multiple else text

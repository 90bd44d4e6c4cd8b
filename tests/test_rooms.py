"""The rooms of the package: a module imports from rooms below its own, and from its own room without circles."""

import ast
import re
from functools import cache
from pathlib import Path

import dpcalc

PACKAGE = Path(dpcalc.__file__).parent
ROOMS = ("numerics", "core", "pld", "bounds", "accounting", "commands", "output", "verify", "cli")
MODULES = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
           for path in PACKAGE.rglob("*.py")}


def room(module):
    """The number of a module's room; those directly in the package stand above all."""
    name = module.split(".")[1] if "." in module else ""
    return ROOMS.index(name) if name in ROOMS else len(ROOMS)


@cache
def imported(module):
    """What a module imports of the package, at the top or inside a function, but for types alone."""
    text = re.sub(r"^if TYPE_CHECKING:\n(\n| .*\n)+", "", MODULES[module].read_text(encoding="utf-8"), flags=re.M)
    statements = re.findall(r"^ *((?:from|import) [^(\n]+(?:\([^)]*\))?)", text, re.M)
    found = set()
    for node in ast.parse("\n".join(s for s in statements if "dpcalc" in s and "import " in s)).body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "dpcalc":
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                if (node.module, alias.name) != ("dpcalc", "__version__"):
                    found.add(full if full in MODULES else node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in MODULES}
    return found


def test_imports_go_down():
    wrong = [f"{module} imports {other}" for module in MODULES for other in imported(module)
             if room(other) > room(module)]
    assert not wrong, "\n".join(wrong)


def test_there_are_no_circles():
    edges = {module: imported(module) for module in MODULES}
    while leaves := {module for module, others in edges.items() if not (others - {module}) & edges.keys()}:
        for module in leaves:
            del edges[module]
    assert not edges, sorted(edges)


def test_few_modules_stand_outside_the_rooms():
    assert sorted(path.name for path in PACKAGE.glob("*.py")) == ["__init__.py", "__main__.py", "api.py"]
    assert sorted(path.name for path in PACKAGE.iterdir() if path.is_dir()
                  and path.name != "__pycache__") == sorted(ROOMS)


def test_one_module_decides_about_neighbours():
    """No module compares the names of relations, or looks for one, but that one and its parts: the conversion, the words
    of its errors, and what an earlier version wrote."""
    own = {f"dpcalc.accounting.{name}" for name in ("neighbours", "replaced", "ways_out", "older_records", "disjoint_data",
                                                 "disjoint_parts")}
    names, words = {"ADD_REMOVE", "REPLACE_ONE", "ZERO_OUT"}, {"add-remove", "replace-one", "zero-out"}

    def is_named(node):
        inside = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
        return any((isinstance(x, ast.Name) and x.id in names) or (isinstance(x, ast.Constant) and x.value in words)
                   for x in inside)

    texts = {module: path.read_text(encoding="utf-8") for module, path in MODULES.items() if module not in own}
    wrong = [f"{module}, line {node.lineno}" for module, text in texts.items()
             if any(word in text for word in names | words)
             for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Compare)
             and any(isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn) for op in node.ops)
             and any(map(is_named, (node.left, *node.comparators)))]
    assert not wrong

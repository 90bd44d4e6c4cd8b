"""What keeps commands readable: one record carries a question, imports stand at the top, and answers are short."""

import ast
from pathlib import Path

import dpcalc

PACKAGE = Path(dpcalc.__file__).parent
COMMANDS = sorted(PACKAGE.glob("commands/*.py"))
# Modules about the options of a training run, which several runs follow from.
OF_TRAINING = {"compare_answer", "training_run", "what_if"}
# What functions may import, and why it does not stand at the top. tests/test_imports.py fails without these.
LATE = {
    "numpy": "an import that many questions do not need",
    "dpcalc.accounting.digits": "mpmath",
    "dpcalc.accounting.guarantee": "pydantic, which only questions with inputs need",
    "dpcalc.accounting.guarantee_sums": "pydantic",
    "dpcalc.accounting.guarantee_pld": "numpy and pydantic",
    "dpcalc.accounting.mechanisms": "bounds of all mechanisms, in messages of commands that have none",
    "dpcalc.accounting.schemes.shuffle": "bounds of shuffled batches, which few runs need",
    "dpcalc.bounds.sampling.shuffle_profile": "bounds of shuffled batches, which few runs need",
    "dpcalc.bounds.correlated._engine.coefficients_array": "numpy",
    "dpcalc.commands.burn_in_answer": "bounds of one kind of run",
    "dpcalc.bounds.online.listed": "numpy",
    "dpcalc.bounds.pnsgd._engine": "bounds of random batches, for several epochs",
    "dpcalc.bounds.pnsgd._engine.epochs": "bounds of random batches, for several epochs",
    "dpcalc.commands": "bounds of partial passes, which few questions name",
    "dpcalc.pld": "numpy",
}
PARAMETERS_OF_OLD = {"values", "derive", "own"}


def functions(path):
    return [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)]


def test_no_function_takes_parameters_beside_the_run():
    paths = [*(path for path in COMMANDS if path.stem not in OF_TRAINING), PACKAGE / "accounting/answer.py", PACKAGE / "accounting/solve.py"]
    assert not [f"{path.name}: {f.name}({a.arg})" for path in paths for f in functions(path)
                for a in (*f.args.args, *f.args.kwonlyargs) if a.arg in PARAMETERS_OF_OLD]


def test_imports_stand_at_the_top():
    late = [(path.name, node.module if isinstance(node, ast.ImportFrom) else node.names[0].name)
            for path in COMMANDS for f in functions(path) for node in ast.walk(f)
            if isinstance(node, ast.Import | ast.ImportFrom)]
    assert not [f"{name}: {module}" for name, module in late if module not in LATE]


def test_answers_are_short():
    assert not [f"{path.name}: {f.name}" for path in COMMANDS for f in functions(path)
                if f.name == "answer" and f.end_lineno - f.lineno >= 40]

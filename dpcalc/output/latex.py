"""Tables for LaTeX, with the rules of the package booktabs."""

import re
from collections.abc import Iterable

from dpcalc.core.text import printable
from dpcalc.output.tables import TextTable, TitledTable

_CHARACTERS = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
               "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "–": "--", "…": r"\dots{}",
               "≤": r"$\leq$", "≥": r"$\geq$", "∞": r"$\infty$", "−": "$-$", "′": "$'$", "²": "$^2$", "×": r"$\times$",
               "₁": "$_1$", "₂": "$_2$", "√": r"$\sqrt{}$", "ℓ": r"$\ell$"}
_GREEK = {"α": r"\alpha", "β": r"\beta", "δ": r"\delta", "ε": r"\varepsilon", "η": r"\eta", "λ": r"\lambda",
          "μ": r"\mu", "π": r"\pi", "ρ": r"\rho", "σ": r"\sigma", "τ": r"\tau", "Σ": r"\Sigma"}
_SYMBOL = re.compile(rf"([A-Za-z{''.join(_GREEK)}])([0-9]*)(\*?)(\([{''.join(_GREEK)}]\))?")  # C1, δ*, ε(α)
_POWER_OF_TEN = re.compile(r"(-?[0-9.]+)e([+-]?[0-9]+)", re.ASCII)  # 9.4e-05


def latex(written: TextTable | TitledTable) -> str:
    """A tabular environment. What stands beside a titled table becomes comments; the title of a grid is in its head."""
    if isinstance(written, TextTable):
        return "\n".join([*_comments(()), *_tabular(written, [_line(map(_name, written.header))])])
    table, title, across = written.table, written.title, written.across
    if not across:
        return "\n".join([*_comments((title, *written.below)), *_tabular(table, [_line(map(_name, table.header))])])
    size = len(table.header)
    down, *values = table.header
    head = [rf"\multicolumn{{{size}}}{{c}}{{{_words(title)}}} \\", r"\midrule",
            rf" & \multicolumn{{{size - 1}}}{{c}}{{{_name(across)}}} \\", rf"\cmidrule(l){{2-{size}}}",
            _line([_name(down), *map(_cell, values)])]
    return "\n".join([*_comments(written.below), *_tabular(table, head)])


def _comments(lines: tuple[str, ...]) -> list[str]:
    return [r"% needs \usepackage{booktabs}", *(f"% {printable(line)}" for line in lines)]


def _tabular(table: TextTable, head: list[str]) -> list[str]:
    """The lines of the environment: columns of text are aligned to the left, and those of numbers to the right."""
    columns = "".join("l" if name in table.left else "r" for name in table.header)
    return [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *head, r"\midrule",
            *(_line(map(_cell, row)) for row in table.rows), r"\bottomrule", r"\end{tabular}"]


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _name(header: str) -> str:
    """The header of a column: a symbol in math mode, else words."""
    return _symbol(header) if _SYMBOL.fullmatch(header) else _words(header)


def _cell(text: str) -> str:
    """A number with a power of ten in math mode, as 9.4 × 10⁻⁵ and 10⁻⁵, else words."""
    if not _POWER_OF_TEN.fullmatch(text):
        return "".join(f"${_GREEK[c]}$" if c in _GREEK else _CHARACTERS.get(c, c) for c in printable(text))
    mantissa, exponent = text.split("e")
    power = f"10^{{{int(exponent)}}}"
    return f"${power}$" if mantissa == "1" else rf"${mantissa}\times{power}$"


def _words(text: str) -> str:
    """A text in which each blank-separated word that is a symbol or a number is in math mode."""
    return " ".join(_symbol(word) if _SYMBOL.fullmatch(word) else _cell(word) for word in text.split(" "))


def _symbol(text: str) -> str:
    match = _SYMBOL.fullmatch(text)
    assert match
    letter, index, star, argument = match.groups(default="")
    inside = "".join(_GREEK.get(c, c) for c in argument)
    return f"${_GREEK.get(letter, letter)}{f'_{{{index}}}' if index else ''}{'^*' if star else ''}{inside}$"

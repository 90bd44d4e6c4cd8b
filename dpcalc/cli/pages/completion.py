"""dpcalc completion: the script by which a shell completes commands, options and their values."""

from importlib.resources import files
from pathlib import Path

from dpcalc.core.command import Page
from dpcalc.core.errors import DpcalcError
from dpcalc.core.validate import not_one_of

_FILES = {"bash": "dpcalc.bash", "zsh": "_dpcalc", "fish": "dpcalc.fish"}


def text(words: tuple[str, ...]) -> str:
    """The completion script of a shell."""
    if len(words) != 1:
        raise DpcalcError("missing" if not words else "usage", f"name one shell: {', '.join(_FILES)}")
    if words[0] not in _FILES:
        raise DpcalcError("unknown-value", not_one_of(words[0], tuple(_FILES)))
    return script(words[0]).rstrip("\n")


def script(shell: str) -> str:
    """The text of the file for a shell: as installed in the package, or in the folder `completions` of the sources."""
    installed = files("dpcalc").joinpath("completions", _FILES[shell])
    if installed.is_file():
        return installed.read_text(encoding="utf-8")
    return (Path(__file__).parents[3] / "completions" / _FILES[shell]).read_text(encoding="utf-8")


COMMAND = Page(
    "completion",
    "Print the script by which a shell completes commands, options and their values with Tab. "
    "In ~/.bashrc write: eval \"$(dpcalc completion bash)\". "
    "For zsh, save it as _dpcalc in a folder of $fpath. "
    "For fish, save it as ~/.config/fish/completions/dpcalc.fish.",
    "bash|zsh|fish",
    text,
    (("completion bash | tail -n 1", "complete -o bashdefault -F _dpcalc dpcalc"),
     ("completion zsh | head -n 1", "#compdef dpcalc"),
     ("completion fish | grep -c 'a convert '", "1")),
    words=lambda: _FILES,
)

"""dpcalc help: the help of a command, or what `dpcalc explain` prints."""

from collections.abc import Iterable
from importlib import import_module

from dpcalc.cli.pages import explain
from dpcalc.commands import COMMANDS
from dpcalc.commands.topics import NAMES, TOPICS, topic_record
from dpcalc.core.command import Page
from dpcalc.output.catalogue import explained


def text(words: tuple[str, ...]) -> str:
    """The long help of a command; what `dpcalc explain` prints of other words; or the help of the program with the list
    of topics."""
    app = import_module("dpcalc.cli.app")  # by name, because that module imports this one, also by name
    if not words:
        from dpcalc.cli.typer_help import in_list

        topics = {"Topics (dpcalc help TOPIC)": {topic.name: topic.title for topic in TOPICS}}
        return f"{app.full_help()}\n\n{in_list(topics)}"
    topic = topic_record("-".join(words))
    if len(words) == 1 and words[0] in COMMANDS:
        return str(app.full_help(words[0]))
    return explained(topic) if topic else explain.text(words, "table")


def names() -> Iterable[str]:
    return (*COMMANDS, *NAMES)


COMMAND = Page(
    "help",
    "Print the help of a command, a short text on a topic, or what dpcalc explain prints of any other word. Without a "
    "word, list the commands and the topics.",
    "[COMMAND|TOPIC|WORD]",
    text,
    (("help rdp", "Usage: dpcalc rdp …"), ("help delta", "delta: what δ means, …")),
    words=names,
)

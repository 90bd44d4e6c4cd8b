"""dpcalc help: the help of a command, or the text of a topic."""

from collections.abc import Iterable
from importlib import import_module

from dpcalc.cli.pages import explain
from dpcalc.commands import COMMANDS
from dpcalc.commands.topics import NAMES, TOPICS, topic_record
from dpcalc.core.command import Page
from dpcalc.core.errors import DpcalcError
from dpcalc.output.catalogue import explained


def text(words: tuple[str, ...]) -> str:
    """The long help of a command; the explanation of a topic, a bound or an option; or the help of the program with
    the list of topics."""
    app = import_module("dpcalc.cli.app")  # by name, because that module imports this one, also by name
    if not words:
        topics = {"Topics (dpcalc help TOPIC)": {topic.name: topic.title for topic in TOPICS}}
        return f"{app.full_help()}\n\n{app.in_list(topics)}"
    topic = topic_record("-".join(words))
    if len(words) > 1 and topic is None:
        raise DpcalcError("usage", f"one command or topic at a time, not {' '.join(words)}")
    if words[0] in COMMANDS:
        return str(app.full_help(words[0]))
    return explained(topic) if topic else explain.text(words, "table")


def names() -> Iterable[str]:
    return (*COMMANDS, *NAMES)


COMMAND = Page(
    "help",
    "Print the help of a command, or a short text on a topic. Without a word, list the commands and the topics.",
    "[COMMAND|TOPIC]",
    text,
    (("help rdp", "Usage: dpcalc rdp …"), ("help delta", "delta: what δ means, …")),
    words=names,
)

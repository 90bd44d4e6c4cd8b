"""One module a command: options → question → answer. No mathematics here."""

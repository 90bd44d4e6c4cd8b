"""Privacy profiles as dominating pairs, and their tight composition (needs numpy)."""

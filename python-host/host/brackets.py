"""How deep the brackets of a text nest, outside its strings in quotes.

A stranger's text is searched plainly, each byte once: it meets no pattern that repeats a group.
"""

import re

from host.meter import charge

BRACKETS = re.compile(r"[\[\]{}]")


def nests_deeper(text, most):
    """Whether the brackets of a JSON text nest deeper than most. A text that has enough of them pays a cycle for each that opens."""
    opening = text.count("[") + text.count("{")
    if opening <= most:
        return False
    charge(opening)
    return measure_nesting(text) > most


def measure_nesting(text):
    """The deepest nesting of the brackets of a JSON text."""
    depth = found = 0
    for c in BRACKETS.findall(remove_strings(text)):
        depth += 1 if c in "[{" else -1
        found = max(found, depth)
    return found


def remove_strings(text):
    """The text without its strings; without its rest, where a string does not end."""
    kept, at, escape = [], 0, 0
    while True:
        begun = text.find('"', at)
        if begun < 0:
            return "".join(kept) + text[at:]
        kept.append(text[at:begun])
        at = begun + 1
        while True:
            end = text.find('"', at)
            if end < 0:
                return "".join(kept)
            if escape < at:
                escape = text.find("\\", at)
                if escape < 0:
                    escape = len(text)
            if end < escape:
                at = end + 1
                break
            at = escape + 2

"""CIP-3's table as data. The chain sends it at the start; these are its names.

The table is partial in the spec; what it lacks is charged by its nearest
entry: an attribute or a statement as arithmetic, a tuple as arithmetic per
element, a byte moved or compared in bulk as a sixteenth of a cycle.
"""

NAMES = (
    "arithmetic", "call", "dict", "list", "char", "len", "reduce", "sort",
    "str", "list_base", "set_base", "dict_base", "import_first", "import",
    "serialise", "keccak_word",
)
DEFAULTS = (1, 10, 3, 2, 1, 5, 10, 20, 10, 10, 15, 15, 100, 5, 20, 6)


class Table:
    """One attribute an entry; a change takes effect with the next message."""


table = Table()


def install(values):
    if len(values) != len(NAMES):
        raise ValueError("the table of costs has %d entries, not %d" % (len(values), len(NAMES)))
    for name, value in zip(NAMES, values):
        setattr(table, "import_again" if name == "import" else name, value)


install(DEFAULTS)

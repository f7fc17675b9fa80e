"""The frame of a function: the memory that each call of it takes, by its syntax tree.

Only the tree decides, so that all versions of Python charge alike. A slot is eight bytes.
"""

import ast

from host.costs import table

ONE = 64  # names whose places in a frame the price of a call covers
PLACES = 16  # names more that are a cycle: a call clears the place of each
CELLS = 8  # names shared with functions within that the price of a call covers; each of the others is a cycle
CELL = 7  # slots of a name that is shared
LEVEL = 2  # slots that the stack needs for each level of an expression, as it is rewritten
WIDE = 32  # values that Python stacks before it gathers them in a list
COVERED = 48  # slots of a generator that the price of a call covers
SLOTS = 8  # slots for one cycle: 64 bytes
MAX_PARAMETERS = 32  # Python looks for each keyword among all of them
SCOPES = (ast.FunctionDef, ast.Lambda, ast.ClassDef)


class Names:
    """The names of one scope."""

    __slots__ = ("used", "bound", "within")

    def __init__(self):
        self.used = set()  # here and in the scopes within
        self.bound = set()  # here
        self.within = set()  # used in the scopes within

    def count_cells(self):
        """The number of names that a call makes cells for."""
        return len(self.bound & self.within)

    def price_entry(self):
        """The cycles of a call besides those of any call."""
        return max(len(self.used) - ONE, 0) // PLACES + max(self.count_cells() - CELLS, 0)


def measure_stack(node):
    """The slots, or more, that the stack has at most while a node is evaluated."""
    most = held = 0
    for child in list_outside(node) if isinstance(node, SCOPES) else ast.iter_child_nodes(node):
        most = max(most, held + measure_stack(child))
        if isinstance(child, ast.stmt):
            held = 0
        elif isinstance(child, (ast.expr, ast.keyword)):
            held = min(held + 1, WIDE)
    return most + LEVEL


def list_outside(node):
    """The parts of a scope that the scope around it evaluates."""
    if isinstance(node, ast.ClassDef):
        return node.decorator_list + node.bases
    return getattr(node, "decorator_list", []) + [node.args]


def price_generator(names, depth, always):
    """The cycles of making a generator whose stack has a depth: 0, if not always, where a call's price covers them."""
    slots = len(names.used) + CELL * names.count_cells() + depth
    return table.call + slots // SLOTS if always or slots > COVERED else 0


def uses_name(tree, name):
    """Whether a file has a name."""
    return any(type(node) is ast.Name and node.id == name for node in ast.walk(tree))

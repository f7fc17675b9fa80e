"""How much compiling a source takes, measured on its tree before it is compiled.

A unit is what one node takes, some ten microseconds; constructs that compile to more code weigh
more. The measure depends only on the source.
"""

import ast

from host import check
from host.hashing import NEAR_BITS

UNIT = 64  # cycles that a deploy pays for a unit
READ = 8  # cycles whose time a byte may take until the tree is measured: a dense source takes 6 µs a byte
SHORTEST = 256  # bytes that any source counts as, and more: pages of a new child are copied at first
MAX_UNITS = 65_536  # below a second; an actor of 2,000 lines has some 30,000
WEIGHTS = {
    ast.FunctionDef: 60, ast.ClassDef: 25, ast.Lambda: 20, ast.ListComp: 25, ast.SetComp: 25, ast.DictComp: 25,
    ast.GeneratorExp: 25, ast.comprehension: 5, ast.Try: 40, ast.ExceptHandler: 15, ast.With: 40, ast.If: 26,
    ast.While: 28, ast.For: 25, ast.Match: 20, ast.match_case: 20, ast.Yield: 25, ast.JoinedStr: 5, ast.arg: 3,
    ast.AsyncFunctionDef: 120, ast.Await: 80, ast.Import: 5, ast.ImportFrom: 5, ast.Global: 3, ast.Nonlocal: 3, ast.Assert: 5,
    ast.Raise: 5, ast.Delete: 5, ast.MatchSequence: 3, ast.MatchClass: 3,
    ast.AugAssign: 20, ast.Attribute: 4, ast.Set: 5, ast.List: 3, ast.Tuple: 2, ast.Dict: 5, ast.Call: 3, ast.AnnAssign: 6, ast.keyword: 2,
    ast.YieldFrom: 40, ast.Subscript: 2, ast.FormattedValue: 3, ast.Compare: 3, ast.Assign: 2, ast.Expr: 2, ast.UnaryOp: 2,
}
IN_LINE = 16  # of an operator on a number that is written out, which is compiled twice: with small integers in line
PARTS = {  # which parts of a node count besides their own units, and how many units four of them are
    ast.Dict: ("keys", 8), ast.List: ("elts", 2), ast.Tuple: ("elts", 2), ast.Set: ("elts", 2), ast.Call: ("args", 1),
}
WHOLE = 60  # of any source, however short
LARGE = 256  # pairs of large integers, each compared by Python's compiler if their hashes are equal, for one unit
PARSED = 6  # bytes of a source with a fault, which Python parses twice, for one unit


def weigh_node(node):
    """The units of one node."""
    if type(node) is ast.BinOp and type(node.right) is ast.Constant:
        return IN_LINE
    own, parts = WEIGHTS.get(type(node), 1), PARTS.get(type(node))
    return own + len(getattr(node, parts[0])) * parts[1] // 4 if parts else own


def weigh_text(source):
    """The units of a source that is not Python: there is no tree to measure."""
    return len(source) // PARSED + WHOLE


def measure_units(tree):
    """The units of a module. Functions that await are counted twice (awaits.py)."""
    owners = [tree] + [s for s in tree.body if isinstance(s, ast.ClassDef)]
    waiting = [s for owner in owners for s in owner.body if isinstance(s, ast.AsyncFunctionDef)]
    found, large = WHOLE, 0
    for node in list_counted([tree, *waiting]):
        found += weigh_node(node)
        if type(node) is ast.Constant and type(node.value) is int and node.value.bit_length() > NEAR_BITS:
            large += 1
    return found + large * large // LARGE


def list_counted(roots):
    """The nodes below some that count: the texts of an f-string do not, since Python cuts them otherwise from
    patch to patch."""
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        yield node
        below = ast.iter_child_nodes(node)
        waiting += [n for n in below if type(n) is not ast.Constant] if type(node) is ast.JoinedStr else below


def refuse_beyond(found, limit):
    """Refuses units beyond the maximum, or beyond the payer's cycles."""
    if found > MAX_UNITS:
        raise check.Refusal(0, "the code takes %d units to compile, at most %d: split it into several actors. A function counts %d, "
                            "a class %d, a name or an operator 1"
                            % (found, MAX_UNITS, WEIGHTS[ast.FunctionDef], WEIGHTS[ast.ClassDef]))
    if found > limit:
        raise check.Refusal(0, "compiling takes %d units, and the cycles left pay for %d" % (found, limit))


def price_before_units(size, limit):
    """The cycles whose time a source may take before its units are known: no more than are left to pay with."""
    return min(READ * (size + SHORTEST), size + UNIT * min(limit, MAX_UNITS))


def price_units(size, units):
    """The cycles that a source pays for its size and units."""
    return size + UNIT * units

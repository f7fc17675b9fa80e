"""Rules of code that may be deployed: names, attributes, imports, constants, nesting.

The tree is refused unless every node is one the rewriter knows; this module
holds the lists. A Refusal carries the author's line and says what to do.
"""

import ast

from host.meter import INT_BITS

MODULES = frozenset(
    "collections dataclasses enum functools itertools json re struct math decimal typing abc "
    "hashlib base64 hmac heapq bisect string operator pvm_host cowboy_sdk "
    "collections.abc cowboy_sdk.runtime cowboy_sdk.runner __future__".split()
)
CLOCK, CHANCE = "the clock is context()['timestamp_ms'], the block's", "chance is pvm_host.randomness()"
WORLD, KEPT = "what is outside is asked by runners: runner.http of cowboy_sdk", "there are no files; what lasts is kept by set_state"
INSTEAD = {  # replacements for packages that are often imported
    "time": CLOCK, "datetime": CLOCK, "random": CHANCE, "secrets": CHANCE, "os": KEPT, "io": KEPT, "pathlib": KEPT, "pickle": "write json",
    "requests": WORLD, "urllib": WORLD, "http": WORLD, "httpx": WORLD, "aiohttp": WORLD, "socket": WORLD,
    "asyncio": "what waits is an async def under @runner.continuation of cowboy_sdk",
}
MAX_NESTING = 300  # nodes within nodes
FORBIDDEN_NAMES = {
    "eval": "runs text as code", "exec": "runs text as code", "compile": "runs text as code",
    "open": "reaches files; what lasts is kept by set_state", "input": "reads from outside", "breakpoint": "reaches a debugger",
    "globals": "reaches the host's names", "locals": "reaches the host's names",
    "vars": "reaches the host's names", "dir": "reaches the host's names",
    "id": "differs between nodes", "hash": "differs between nodes: use pvm_host.keccak256",
    "float": "makes floats: use integers or decimal.Decimal",
    "complex": "makes floats: use integers", "memoryview": "shares memory",
    "BaseException": "catches the end of cycles: use Exception",
    "GeneratorExit": "catches the end of a generator", "KeyboardInterrupt": "is not raised here",
    "SystemExit": "is not raised here", "MemoryError": "differs between nodes",
    "slice": "hides a copy: write a[b:c]", "help": "reaches the host", "exit": "reaches the host",
    "quit": "reaches the host",
}
# Which attribute a value has is attributes.py's to say; the source may spell every
# name but the interpreter's, and of those read these.
DUNDER_ATTRIBUTES = frozenset(("__init__", "__post_init__", "__name__", "__doc__", "__enter__", "__exit__"))
DUNDER_METHODS = frozenset(
    "__init__ __post_init__ __repr__ __str__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__ __len__ __iter__ "
    "__next__ __contains__ __getitem__ __setitem__ __delitem__ __call__ __enter__ __exit__ __bool__ __int__ "
    "__index__ __bytes__ __neg__ __pos__ __invert__ __abs__ __add__ __sub__ __mul__ __floordiv__ __truediv__ "
    "__mod__ __divmod__ __pow__ __lshift__ __rshift__ __and__ __or__ __xor__ __radd__ __rsub__ __rmul__ "
    "__rfloordiv__ __rtruediv__ __rmod__ __rpow__ __rlshift__ __rrshift__ __rand__ __ror__ __rxor__ __iadd__ "
    "__isub__ __imul__ __ifloordiv__ __imod__ __iand__ __ior__ __ixor__ __reversed__ __missing__".split()
)
DUNDER_NAMES = frozenset(("__name__", "__doc__", "__all__", "__version__", "__author__"))  # that may be read
TEXTS = frozenset(("__doc__", "__version__", "__author__"))  # assigned a text, written out
LISTS = frozenset(("__slots__", "__match_args__", "__all__"))  # assigned names, written out


SYNTAX = "syntax"  # the code of what Python itself refuses, in words of its own


class Refusal(Exception):
    """Why code may not be deployed. The receipt has the code alone; line and reason are for people (decision C20)."""

    def __init__(self, line, reason, code="invalid_code"):
        super().__init__(reason)
        self.code = code
        self.line = line
        self.reason = reason
        self.units = 0  # measured at compiling


def refuse_node(node, reason):
    raise Refusal(getattr(node, "lineno", 0), reason)


def is_dunder(name):
    return name.startswith("__") and name.endswith("__")


def check_attribute(node, name, read=True):
    """An attribute that is read, or else set."""
    if is_dunder(name) and not (read and name in DUNDER_ATTRIBUTES):
        refuse_node(node, "the attribute %s reaches the interpreter" % name)
    if name.startswith("_host_"):
        refuse_node(node, "the attribute %s is not available to actors" % name)


def check_spelling(name):
    """name, where getattr and its like are given one that source may spell."""
    if is_dunder(name) and name not in DUNDER_ATTRIBUTES or name.startswith(("$", "_host_")):
        raise AttributeError("the attribute %s is not available to actors" % name)
    return name


def check_name(node, name, bound):
    """A name that is read or bound; bound holds what the module defines."""
    read = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    if is_dunder(name) and not (read and name in DUNDER_NAMES):
        refuse_node(node, "the name %s is the interpreter's" % name)
    if name in FORBIDDEN_NAMES and name not in bound:
        refuse_node(node, "%s is not allowed: it %s" % (name, FORBIDDEN_NAMES[name]))


def is_declaration(node, target, value):
    """Whether an assignment declares something about a module or class: a text, or names, both
    written out."""
    if not isinstance(target, ast.Name) or target.id not in TEXTS | LISTS:
        return False
    if target.id in TEXTS:
        good = isinstance(value, ast.Constant) and type(value.value) in (str, type(None))
    else:
        items = value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]
        good = all(isinstance(i, ast.Constant) and type(i.value) is str and not is_dunder(i.value)
                   and not i.value.startswith("_host_") for i in items)
    if not good:
        refuse_node(node, "%s is %s, written out" % (target.id, "a text" if target.id in TEXTS else "names that are not the interpreter's"))
    return True


def check_module(node, name):
    if name not in MODULES:
        if name.split(".")[0] in INSTEAD:
            refuse_node(node, "the import of %s is not allowed: %s" % (name, INSTEAD[name.split(".")[0]]))
        refuse_node(node, "the import of %s is not allowed; an actor may import %s" % (name, ", ".join(sorted(MODULES - {"__future__"}))))


def check_constant(node):
    value = node.value
    if isinstance(value, (float, complex)):
        refuse_node(node, "%r is a float; state and messages know integers only: use integers or decimal.Decimal" % value)
    if isinstance(value, int) and value.bit_length() > INT_BITS:
        refuse_node(node, "an integer of more than %d bits" % INT_BITS)


def check_nesting(tree):
    """Refuse a tree that is deeper than every version of Python can walk."""
    level, depth = [tree], 0
    while level:
        depth += 1
        if depth > MAX_NESTING:
            raise Refusal(getattr(level[0], "lineno", 0), "the code is nested deeper than %d levels" % MAX_NESTING, SYNTAX)
        below = []
        for node in level:
            for child in ast.iter_child_nodes(node):
                if not hasattr(child, "lineno"):
                    child.lineno = getattr(node, "lineno", 0)
                below.append(child)
        level = below


def bound_names(tree):
    """Every name the module binds anywhere, in any scope."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            names.add(node.name)
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.add(node.rest)
    return names

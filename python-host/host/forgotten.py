"""State that an author keeps in Python, and that ends with its message.

A tool's, as advice.py is: nothing here decides what may be deployed.
"""

import ast

from host import program, schema
from host.scopes import FUNCTIONS, argument_names, bound_in

# Calls that make something to be filled, and methods that fill or empty it.
MADE = frozenset("dict list set bytearray defaultdict deque Counter OrderedDict".split())
FILLS = frozenset("add append appendleft clear discard extend insert pop popitem popleft remove setdefault update".split())
OURS = frozenset(("storage", "address"))  # what @actor gives
BEGINS = frozenset(("__init__", "__post_init__"))  # run for each message
STORED = (ast.Store, ast.Del)


def note_forgotten(tree, found):
    """Warns of assignments to the instance, the class or the module's own collections."""
    filled = list_mutable(tree.body)
    functions = [s for s in tree.body if isinstance(s, FUNCTIONS)]
    for f in functions:
        Function(f, found, {}, filled).read()
    classes = {s.name: s for s in tree.body if isinstance(s, ast.ClassDef)}
    actor = actor_class(tree)
    declares = actor is not None and "actor" in schema.decorator_names(classes[actor])
    for cls in schema.lineage_of(classes, classes.get(actor)):
        kept = Kept(cls, declares)
        for f in cls.body:
            if isinstance(f, FUNCTIONS) and f.name not in BEGINS:
                Function(f, found, {name: kept for name in [cls.name] + first_argument(f)}, filled).read()


def actor_class(tree):
    """The name of the actor's class; None where bare functions are the actor, or nothing is."""
    refused = []
    try:
        return program.describe_module(tree, refused.append)[0]
    except program.check.Refusal:
        return None


def first_argument(f):
    """The name of the instance in a method."""
    others = set(schema.decorator_names(f)) & {"staticmethod"}
    return [a.arg for a in (f.args.posonlyargs + f.args.args)[:1]] if not others else []


class Kept:
    """Attributes of a class: those filled in place, and those that a function of it sets."""

    def __init__(self, cls, declares):
        self.declares = declares  # the deploy refuses what it does not declare
        self.filled = list_mutable([s for s in cls.body if not declares or not schema.is_declaration(s)])
        self.set = {s.name for s in cls.body if isinstance(s, FUNCTIONS)} | OURS
        for f in cls.body:
            if isinstance(f, ast.FunctionDef) and f.name in BEGINS:
                self.filled |= list_mutable(f.body, first_argument(f)[:1])


def list_mutable(body, me=None):
    """Names, or attributes of me, that a body binds to something to be filled."""
    names = set()
    for node in body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and is_made_here(node.value):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if me is None and isinstance(target, ast.Name):
                    names.add(target.id)
                elif me and isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id in me:
                    names.add(target.attr)
    return names


def is_made_here(value):
    if isinstance(value, ast.Call):
        f = value.func
        return (f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "")) in MADE
    return isinstance(value, (ast.Dict, ast.List, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp))


class Function:
    """A function of the file, which may assign to what does not last."""

    def __init__(self, f, found, owners, filled):
        self.f, self.found, self.owners = f, found, owners
        self.filled = filled - argument_names(f.args) - bound_in(f.body)

    def read(self):
        for node in ast.walk(self.f):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, STORED):
                kept = self.find_owner(node)
                if kept and node.attr not in kept.set and not kept.declares:
                    self.note_forgotten_change(node, "%s.%s" % (node.value.id, node.attr))
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, STORED):
                self.note_fill(node.value)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FILLS:
                self.note_fill(node.func.value)

    def find_owner(self, node):
        return self.owners.get(node.value.id) if isinstance(node.value, ast.Name) else None

    def note_fill(self, node):
        if isinstance(node, ast.Name) and node.id in self.filled:
            self.note_forgotten_change(node, node.id)
        elif isinstance(node, ast.Attribute):
            kept = self.find_owner(node)
            if kept and node.attr in kept.filled:
                self.note_forgotten_change(node, "%s.%s" % (node.value.id, node.attr))

    def note_forgotten_change(self, node, what):
        self.found.append(("warning", node.lineno, "%s is forgotten: it ends with the message; keep it in state, by self.storage of an "
                           "@actor or by set_state" % what))

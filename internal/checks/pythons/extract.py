"""Cuts the tests of CPython's own modules into checks: prints a line of JSON for each test method.

    python extract.py MODULE...

A test method becomes units, each a statement of its body. An assertion becomes calls of tell_ with what
it looks at: the operands, and whether they compare as it says. An expected error is what its body raises.
A unit names what it needs; one that needs what no actor has is left out, and the reason is counted."""

import ast
import collections
import importlib
import inspect
import json
import os
import sys
import textwrap
import types
import unittest
import warnings

MODULES = frozenset("abc base64 bisect collections collections.abc dataclasses decimal enum functools hashlib heapq hmac "
                    "itertools json math operator re string struct typing".split())
PAIRS = {"assertEqual": "==", "assertNotEqual": "!=", "assertIs": "is", "assertIsNot": "is not", "assertIn": "in", "assertNotIn": "not in",
         "assertLess": "<", "assertLessEqual": "<=", "assertGreater": ">", "assertGreaterEqual": ">=", "assertListEqual": "==",
         "assertTupleEqual": "==", "assertDictEqual": "==", "assertSetEqual": "==", "assertSequenceEqual": "==",
         "assertMultiLineEqual": "==", "assertCountEqual": None, "assertIsInstance": None, "assertTypedEqual": "=="}
SINGLE = frozenset("assertTrue assertFalse assertIsNone assertIsNotNone".split())
RAISES = {"assertRaises": 1, "assertRaisesRegex": 2}
METHODS = frozenset("checkequal checkequalnofix checkraises".split())  # of string_tests: expected, object, method, arguments
MAX_LITERAL = 2000  # characters of a module's constant


class Unresolved(Exception):
    """A unit needs what no actor has."""


def method_of_self(node):
    """The name of the method of self that a call calls, or None."""
    f = node.func if isinstance(node, ast.Call) else None
    if isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) and f.value.id == "self":
        return f.attr
    return None


class Telling(ast.NodeTransformer):
    """Makes assertions tell what they look at."""

    def visit_Expr(self, node):
        name = method_of_self(node.value)
        if name is None:
            return self.generic_visit(node)
        args, keywords = node.value.args, node.value.keywords
        if any(isinstance(a, ast.Starred) for a in args[:2]):
            raise Unresolved("an assertion of *")
        if name in PAIRS and len(args) >= 2:
            return self.pair(args, PAIRS[name])
        if name in SINGLE and args:
            return guard_body([tell_value(args[0])])
        if name in RAISES and len(args) > RAISES[name]:
            call = ast.Call(args[RAISES[name]], args[RAISES[name] + 1:], keywords)
            return guard_body([tell_value(call)])
        if name in METHODS and len(args) > 2 and isinstance(args[2], ast.Constant) and isinstance(args[2].value, str):
            return guard_body([tell_value(ast.Call(ast.Attribute(args[1], args[2].value, ast.Load()), args[3:], []))])
        if name == "fail":
            return guard_body([tell_value(ast.Constant("failed"))])
        raise Unresolved("self." + name)

    def pair(self, args, operator):
        left, right = ast.Name("left_", ast.Load()), ast.Name("right_", ast.Load())
        body = [ast.Assign([ast.Name("left_", ast.Store())], args[0]), ast.Assign([ast.Name("right_", ast.Store())], args[1]),
                tell_value(left), tell_value(right)]
        if operator:
            body.append(tell_value(ast.parse("left_ %s right_" % operator, mode="eval").body))
        return guard_body(body)

    def visit_With(self, node):
        names = {method_of_self(item.context_expr) for item in node.items}
        if len(node.items) == 1 and names <= RAISES.keys() | {"subTest"}:
            body = [self.visit(s) for s in node.body]
            if names == {"subTest"}:
                return ast.If(ast.Constant(True), body, [])
            if node.items[0].optional_vars is not None:
                raise Unresolved("an error that is looked at")
            return guard_body(body + [tell_value(ast.Constant("no error"))])
        if None not in names:
            raise Unresolved("with self." + sorted(names)[0])
        return self.generic_visit(node)

    def visit_Constant(self, node):
        if isinstance(node.value, (float, complex)):
            raise Unresolved("a float")
        return node


def is_same_object(a, b):
    """Whether a function or a class is another, or that of a module which a test imported once more."""
    whose = [(type(v), getattr(v, "__module__", None), getattr(v, "__qualname__", None)) for v in (a, b)]
    return a is b or isinstance(a, (types.FunctionType, type)) and whose[0] == whose[1]


def tell_value(value):
    return ast.Expr(ast.Call(ast.Name("tell_", ast.Load()), [value], []))


def guard_body(body):
    """A statement whose error is told."""
    handler = ast.ExceptHandler(ast.Name("Exception", ast.Load()), "error_", [ast.Expr(ast.Call(
        ast.Name("tell_error_", ast.Load()), [ast.Name("error_", ast.Load())], []))])
    return ast.Try(body, [handler], [], [])


class Test:
    """One test method of a class."""

    def __init__(self, cls, name):
        self.cls, self.name = cls, name
        self.prelude, self.sources, self.left_out = {}, [], collections.Counter()
        self.given = set()  # attributes of self
        self.globals = {}

    def cut_units(self):
        units = []
        for part in ("setUp", self.name):
            f = inspect.unwrap(getattr(self.cls, part))
            if part == "setUp" and f is unittest.TestCase.setUp:
                continue
            self.globals = f.__globals__
            tree = ast.parse(textwrap.dedent(inspect.getsource(f))).body[0]
            if not isinstance(tree, ast.FunctionDef):
                raise Unresolved("no plain function")
            local = bound_names(tree)
            for s in tree.body:
                if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)):
                    units += self.make_unit(s, local)
        return units

    def make_unit(self, statement, local):
        try:
            made = Telling().visit(statement)
            if any(isinstance(n, (ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)) for n in outer_nodes(made)):
                raise Unresolved("return")
            needed = self.find_needs(made, local)
            if not isinstance(made, ast.FunctionDef):
                made = guard_body([made])
            text = ast.unparse(ast.fix_missing_locations(made))
        except Unresolved as e:
            self.left_out[str(e)] += 1
            return []
        except RecursionError:
            self.left_out["too deep"] += 1
            return []
        return [{"text": text, "needs": sorted(needed)}]

    def find_needs(self, tree, local):
        """The names of the prelude, each once."""
        needed = set()
        for n in ast.walk(tree):
            if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "self":
                if isinstance(n.ctx, ast.Store):
                    self.given.add(n.attr)
                elif n.attr not in self.given:
                    self.provide("self." + n.attr, getattr(self.cls, n.attr, None))
                    needed.add("self." + n.attr)
        inner, outer = bound_names(tree), default_names(tree)
        for n in ast.walk(tree):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.id not in (local if n in outer else local | inner):
                if n.id in ("self", "tell_", "tell_error_", "left_", "right_", "error_"):
                    continue
                if n.id in self.globals:
                    self.provide(n.id, self.globals[n.id])
                    needed.add(n.id)
                elif not hasattr(__builtins__, n.id):
                    raise Unresolved("the name " + n.id)
        return needed

    def provide(self, name, value):
        """Puts a line into the prelude that makes a name."""
        if name not in self.prelude:
            self.prelude[name] = None  # within a recursion
            try:
                self.prelude[name] = self.make_line(name, value)
            except Unresolved:
                del self.prelude[name]
                raise
        if self.prelude[name] is None and not name.startswith("self."):
            return

    def make_line(self, name, value):
        plain = name.removeprefix("self.")
        if isinstance(value, types.ModuleType):
            if value.__name__ not in MODULES:
                raise Unresolved("the module " + value.__name__)
            if name != plain:
                return "import %s\n%s = %s" % (value.__name__, name, value.__name__)
            return "import %s as %s" % (value.__name__, name) if value.__name__ != name else "import " + name
        source = self.spell_value(plain, value)
        if source.startswith("from "):
            return source if name == plain else "%s\n%s = %s" % (source, name, plain)
        return "%s = %s" % (name, source) if "\n" not in source else source

    def spell_value(self, name, value):
        t = type(value)
        if getattr(__builtins__, getattr(value, "__name__", ""), None) is value and isinstance(value, (type, types.BuiltinFunctionType)):
            return value.__name__
        for m in sorted(MODULES):
            if value is not None and t not in (int, str, bool, bytes) and is_same_object(getattr(sys.modules.get(m), name, None), value):
                return "from %s import %s" % (m, name)
        if t in (int, str, bool, bytes, tuple, list, dict, type(None)) and len(repr(value)) < MAX_LITERAL:
            try:
                ast.literal_eval(repr(value))
            except (ValueError, SyntaxError):
                raise Unresolved("a constant") from None
            if "." in repr(value) and any(isinstance(v, float) for v in flatten_value(value)):
                raise Unresolved("a float")
            return repr(value)
        if isinstance(value, (types.FunctionType, type)) and value.__module__ == self.cls.__module__ and value.__qualname__ == name \
                and not issubclass(value if isinstance(value, type) else int, unittest.TestCase):
            try:
                tree = ast.parse(textwrap.dedent(inspect.getsource(value))).body[0]
            except (OSError, TypeError, SyntaxError):
                raise Unresolved("what has no source") from None
            tree = Telling().visit(tree)
            for need in self.find_needs(tree, {name}):
                pass  # provided before this one
            return ast.unparse(tree) + "\n"
        raise Unresolved("the name " + name)

    def to_record(self):
        units = self.cut_units()
        prelude = [{"name": n, "text": t} for n, t in self.order_prelude()]
        return {"test": "%s.%s.%s" % (self.cls.__module__.removeprefix("test."), self.cls.__name__, self.name), "units": units,
                "prelude": prelude, "left_out": self.left_out}

    def order_prelude(self):
        """The prelude: what was provided within another is before it, and self's attributes are last."""
        found = [(n, t) for n, t in self.prelude.items() if t is not None]
        deep = [p for p in reversed(found) if p[1].endswith("\n")]
        flat_ones = [p for p in found if not p[1].endswith("\n")]
        return sorted(flat_ones + deep, key=lambda p: p[0].startswith("self."))


def flatten_value(value):
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, (list, tuple)):
        return [x for v in value for x in flatten_value(v)]
    return [value]


def outer_nodes(tree):
    """The nodes of a statement that are in no function within."""
    if isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
        return
    yield tree
    for n in ast.iter_child_nodes(tree):
        yield from outer_nodes(n)


def default_names(tree):
    """The names in defaults of parameters, which may be called as their parameter is: they are of the scope around."""
    given = [a for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for a in f.args.defaults + f.args.kw_defaults if a is not None]
    return {n for a in given for n in ast.walk(a) if isinstance(n, ast.Name)}


def bound_names(tree):
    found = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for n in ast.walk(tree):
        if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n is not tree:
            found.add(n.name)
        if isinstance(n, ast.arg):
            found.add(n.arg)
        if isinstance(n, ast.ExceptHandler) and n.name:
            found.add(n.name)
        if isinstance(n, ast.alias):
            found.add((n.asname or n.name).split(".")[0])
        if isinstance(n, (ast.MatchAs, ast.MatchStar)) and n.name:
            found.add(n.name)
        if isinstance(n, ast.MatchMapping) and n.rest:
            found.add(n.rest)
    return found


def tests_of(module):
    for cls in vars(module).values():
        if isinstance(cls, type) and issubclass(cls, unittest.TestCase) and cls.__module__ == module.__name__:
            for name in unittest.TestLoader().getTestCaseNames(cls):
                yield cls, name


def main():
    global __builtins__
    import builtins
    __builtins__ = builtins
    warnings.simplefilter("ignore")
    for m in MODULES:
        importlib.import_module(m)
    out, sys.stdout = sys.stdout, open(os.devnull, "w")
    seen = set()
    for name in sys.argv[1:]:
        try:
            module = importlib.import_module("test." + name)
        except BaseException as e:
            out.write(json.dumps({"missing": name, "why": "%s: %s" % (type(e).__name__, e)}) + "\n")
            continue
        for cls, test in tests_of(module):
            try:
                told = Test(cls, test).to_record()
            except (Unresolved, OSError, TypeError, SyntaxError, AttributeError) as e:
                told = {"test": "%s.%s.%s" % (name, cls.__name__, test), "units": [], "prelude": [], "left_out": {str(e)[:80]: 1}}
            key = json.dumps([told["units"], told["prelude"]])
            if key not in seen:
                seen.add(key)
                out.write(json.dumps(told) + "\n")


main()

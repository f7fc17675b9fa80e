"""Compiles continuations: an async function becomes one that can begin after any of its awaits.

    async def f(self, p):                    def f(self, p):
        ctx = capture()                          run = …; at = where it goes on, 0 for the beginning
        ctx.p = p                                ctx = what was captured
        while ctx.p:                             if at == 0: ctx.p = p
            x = await job(ctx.p)                 while at == 1 or at == 0 and ctx.p:
            ctx.p = x                                if at == 0: return suspend(1, job(ctx.p))
                                                     at = 0
                                                     x = what the job gave
                                                     ctx.p = x

A run that begins after an await skips the statements before it. In if, while and try it takes
the way that leads to the await. Nothing else is kept: a local name that is read after an await,
and was not set again after it, is refused with both lines.
"""

import ast

from host import check
from host.continuations import MAX_AWAITS, RESUME, TIMEOUT
from host.liveness import Liveness
from host.scopes import FUNCTIONS, bound_in, own_names, list_parameters

LOAD, STORE = ast.Load(), ast.Store()
DECORATOR, OTHERS = "continuation", frozenset(("staticmethod", "classmethod", "property"))
HERE = "an await stands in the function itself, in if, while or try; "
FORBIDDEN = {
    ast.For: "a for would lose its place at an await; keep in capture() what is left: while ctx.left: ctx.x = ctx.left.pop(0)",
    ast.With: "a with would be left at an await: await before or after it",
    ast.Match: HERE + "not in match: use if",
}
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Host(ast.expr):
    """A call of the host's object with a name."""

    _fields = ("name", "args")


def names_of(decorators):
    for d in decorators:
        d = d.func if isinstance(d, ast.Call) else d
        yield d.attr if isinstance(d, ast.Attribute) else getattr(d, "id", "")


def lower_continuations(tree, tell=None):
    """Makes plain functions of the continuations in a module and its classes. tell receives
    each refusal, and the body is left out; without tell the refusal is raised. Returns each as
    (name, name of its class), which is None of a function."""
    found = {}
    for owner in [tree] + [s for s in tree.body if isinstance(s, ast.ClassDef)]:
        for i, node in enumerate(owner.body):
            if not isinstance(node, FUNCTIONS):
                continue
            try:
                owner.body[i] = lower_function(node, owner, found)
            except check.Refusal as r:
                if tell is None:
                    raise
                tell(r)
                owner.body[i] = make_plain_function(node, [ast.copy_location(ast.Pass(), node)])
    return [(name, cls) for name, cls in found.items()]


def lower_function(node, owner, found):
    marked = DECORATOR in names_of(node.decorator_list)
    if isinstance(node, ast.FunctionDef):
        if marked:
            check.refuse_node(node, "@runner.continuation decorates only an async def")
        return node
    if not marked:
        check.refuse_node(node, "async def is for continuations: decorate it with @runner.continuation of cowboy_sdk")
    others = OTHERS.intersection(names_of(node.decorator_list))
    if others or check.is_dunder(node.name):
        check.refuse_node(node, "a continuation is a plain method or function: no %s" % (sorted(others) or [node.name])[0])
    if node.name in found:
        check.refuse_node(node, "a second continuation called %s" % node.name)
    method = isinstance(owner, ast.ClassDef)
    found[node.name] = owner.name if method else None
    for other in owner.body:
        if isinstance(other, FUNCTIONS) and other.name in (node.name + RESUME, node.name + TIMEOUT):
            check.refuse_node(other, "the name %s belongs to the continuation %s" % (other.name, node.name))
    return make_plain_function(node, Lowering(node, method).body)


def make_plain_function(node, body):
    new = ast.FunctionDef(node.name, node.args, body, node.decorator_list, None)
    new.type_params = []
    return ast.copy_location(new, node)


def awaits_in(node, found):
    """Into found: each node with an await in it → the first of them; by their ids. Returns the first."""
    first = node if isinstance(node, ast.Await) else None
    for child in ast.iter_child_nodes(node):
        below = awaits_in(child, found)
        first = first or below
    if first is not None:
        found[id(node)] = first
    return first


def at_least(n, line):
    """n, and what is new in it, at line's place."""
    if not hasattr(n, "lineno"):
        ast.copy_location(n, line)
        for child in ast.iter_child_nodes(n):
            at_least(child, line)
    return n


class Lowering:
    """One continuation."""

    def __init__(self, node, method):
        self.count, self.context, self.inside = 0, None, {}
        awaits_in(node, self.inside)
        a = node.args
        if a.kwonlyargs or a.vararg or a.kwarg:
            check.refuse_node(node, "a continuation takes arguments by position alone")
        every = list(ast.walk(node))
        if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in every):
            check.refuse_node(node, "yield in a continuation")
        awaits = [n for n in every if isinstance(n, ast.Await)]
        if len(awaits) > MAX_AWAITS:
            check.refuse_node(awaits[MAX_AWAITS], "more than %d awaits in one continuation" % MAX_AWAITS)
        if method and not a.posonlyargs + a.args:
            check.refuse_node(node, "a method without self")
        kept = {list_parameters(a)[0].arg} if method else set()
        self.local = {p.arg for p in list_parameters(a)} | bound_in(node.body)
        self.local -= {name for n in every if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names}
        self.find_capture(every, {p.arg for p in list_parameters(a)}, kept)
        Liveness(self.local - kept, self.inside).body(node.body, {})
        documented = ast.get_docstring(node, clean=False) is not None
        statements = node.body[documented:]
        start = [self.assign_name("$run", self.call_host("$activation", ast.Constant(node.name))),
                 self.assign_name("$at", self.call_host("$position", self.read_run()))]
        if self.context:
            start.append(self.assign_name(self.context, self.call_host("$kept", self.read_run())))
        start = [at_least(s, node) for s in start]
        self.body = node.body[:documented] + start + self.lower_statements(statements)

    def find_capture(self, every, given, kept):
        """ctx = capture(): which name has what outlives the awaits."""
        captures = [n for n in every if is_capture(n)]
        for n in captures:
            if len(captures) > 1:
                check.refuse_node(captures[1], "a second capture(): a continuation has one")
            if any(k.arg is None for k in n.value.keywords):
                check.refuse_node(n, "capture() takes names with values: ** is none")
            self.context = n.targets[0].id
        targets = {id(n.targets[0]) for n in captures}
        if self.context in given:
            check.refuse_node(captures[0], "%s is an argument already: give what capture() returns another name" % self.context)
        kept |= {self.context} - {None}
        for n in every:
            if id(n) not in targets and own_names(n) & kept:
                check.refuse_node(n, "%s keeps its value in a continuation: it is not assigned again" % sorted(own_names(n) & kept)[0])

    @staticmethod
    def call_host(name, *args):
        return Host(name, list(args))

    @staticmethod
    def read_run():
        return ast.Name("$run", LOAD)

    @staticmethod
    def assign_name(name, value):
        return ast.Assign([ast.Name(name, STORE)], value)

    @staticmethod
    def begins_at(*positions):
        """Whether the run begins at one of these, 0 being the beginning."""
        tests = [ast.Compare(ast.Name("$at", LOAD), [ast.Eq()], [ast.Constant(p)]) for p in positions]
        return tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)

    def has_await(self, node):
        return id(node) in self.inside

    def lower_statements(self, statements):
        out, straight = [], []
        for s in statements:
            if not self.has_await(s):
                straight.append(self.lower_captures(s))
                continue
            if straight:
                out.append(at_least(ast.If(self.begins_at(0), straight, []), straight[0]))
            straight = []
            out += [at_least(n, s) for n in self.lower_waiting(s)]
        return out + straight

    def lower_captures(self, s):
        if is_capture(s):
            keys = [ast.Constant(k.arg) for k in s.value.keywords]
            s.value = at_least(self.call_host("$capture", self.read_run(), ast.Dict(keys, [k.value for k in s.value.keywords])), s.value)
            return s
        for field in ("body", "orelse", "finalbody"):
            if not isinstance(s, FUNCTIONS + (ast.ClassDef,)) and isinstance(getattr(s, field, None), list):
                setattr(s, field, [self.lower_captures(b) for b in getattr(s, field)])
        for part in [*getattr(s, "handlers", ()), *getattr(s, "cases", ())]:
            part.body = [self.lower_captures(b) for b in part.body]
        return s

    def lower_waiting(self, s):
        """A statement with an await in it."""
        if type(s) in (ast.If, ast.While, ast.Try):
            first = self.count + 1
            new = getattr(self, "do_" + type(s).__name__)(s, first)
            return [ast.If(self.begins_at(0, *range(first, self.count + 1)), [ast.copy_location(new, s)], [])]
        value = getattr(s, "value", None)
        others = [*getattr(s, "targets", ()), getattr(s, "target", None), getattr(value, "value", None)]
        if type(s) not in (ast.Expr, ast.Assign, ast.AnnAssign, ast.Return) or type(value) is not ast.Await or \
                any(map(self.has_await, others)):
            within = any(isinstance(n, COMPREHENSIONS) and self.has_await(n) for n in ast.walk(s))
            alone = "await must be the whole right side: write x = await runner.http(url)"
            loop = FORBIDDEN[ast.For].replace("for", "comprehension", 1)
            check.refuse_node(self.inside[id(s)], loop if within else FORBIDDEN.get(type(s), alone))
        self.count += 1
        number = self.count
        task = ast.Return(self.call_host("$suspend", self.read_run(), ast.Constant(number), value.value))
        s.value = ast.copy_location(self.call_host("$awaited", self.read_run()), value)
        return [ast.If(self.begins_at(0), [task], []), ast.If(self.begins_at(number), [self.assign_name("$at", ast.Constant(0)), s], [])]

    def widen_condition(self, test, first):
        """test, at the beginning; or that the run begins at an await of the body."""
        fresh, within = ast.BoolOp(ast.And(), [self.begins_at(0), test]), range(first, self.count + 1)
        return ast.BoolOp(ast.Or(), [self.begins_at(*within), fresh]) if within else fresh

    def do_If(self, s, first):
        self.no_await([s.test])
        body = self.lower_statements(s.body)
        test = at_least(self.widen_condition(s.test, first), s.test)
        return ast.If(test, body, self.lower_statements(s.orelse))

    def do_While(self, s, first):
        self.no_await([s.test] + s.orelse)
        body = self.lower_statements(s.body)
        return ast.While(at_least(self.widen_condition(s.test, first), s.test), body, [self.lower_captures(o) for o in s.orelse])

    def do_Try(self, s, first):
        self.no_await(s.handlers, "an await in except would lose the error: keep in capture() that it failed, and await behind the try")
        self.no_await(s.orelse + s.finalbody)
        if s.finalbody:
            check.refuse_node(s.finalbody[0], "an await in a try with finally, which would run at every await: use except")
        body = self.lower_statements(s.body)
        for h in s.handlers:
            h.body = [self.lower_captures(b) for b in h.body]
        return ast.Try(body, s.handlers, [self.lower_captures(o) for o in s.orelse], [])

    def no_await(self, nodes, why=HERE + "not in a condition, nor in the else of while or try"):
        for n in nodes:
            if self.has_await(n):
                check.refuse_node(self.inside[id(n)], why)


def is_capture(n):
    """ctx = capture(…)"""
    if not isinstance(n, ast.Assign) or len(n.targets) != 1 or not isinstance(n.targets[0], ast.Name):
        return False
    f = n.value.func if isinstance(n.value, ast.Call) and not n.value.args else None
    return isinstance(f, ast.Name) and f.id == "capture" or isinstance(f, ast.Attribute) and f.attr == "capture"

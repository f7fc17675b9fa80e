"""The part of the rewriter that makes statements; Rewriter is the whole."""

import ast

from host import check, constants, frames, scopes
from host.costs import table
from host.known_names import TYPES
from host.rewrite_expressions import (
    LOAD, STORE, Expressions, call_host, charge_inline, is_int, is_short_key, load_name, make_constant, meter_cell,
)
from host.rewrite_scopes import CELLS

MAX_COPIES = 20_000  # nodes that the finally of one try may compile to
ASYNC = ("async stands before def alone: of the actor's method, or of a function at the top of a file of functions, under "
         "@runner.continuation")


class Yields(ast.NodeVisitor):
    """Whether a function's own body yields."""

    found = False

    def visit_Yield(self, node):
        self.found = True

    visit_YieldFrom = visit_Yield

    def visit_FunctionDef(self, node):
        pass

    visit_Lambda = visit_ClassDef = visit_FunctionDef


def has_yield(body):
    v = Yields()
    for s in body:
        v.visit(s)
    return v.found


class Rewriter(Expressions):
    """Statements: each returns the list of statements it becomes."""

    def __init__(self, bound):
        self.bound = bound
        self.function = None  # None, "plain" or "generator"
        self.classes = []  # names of the classes around, for private names
        self.points = None  # probe.Points, where the code is to note what it does
        self.metered = True  # a debugger's is not
        self.branching = True  # the author wrote the branches
        self.nodes = 0  # expressions that were visited
        self.names = frames.Names()  # of the scope around
        self.assigned = set()  # by := anywhere
        self.properties = False  # Python reads a property by a call that no code of ours charges for
        self.waiting = frozenset()  # functions that await, with their classes: made of generated branches

    def rewrite_module(self, tree):
        future = [s for s in tree.body if isinstance(s, ast.ImportFrom) and s.module == "__future__"]
        body = [s for s in tree.body if s not in future]
        self.properties = frames.uses_name(tree, "property")
        start = [ast.Assign([ast.Name("$v", STORE)], meter_cell(1, LOAD))]
        return ast.fix_missing_locations(ast.Module(start + self.rewrite_statements(body), []))

    def rewrite_statements(self, statements, extra=0, head=None):
        """A charge before each run that ends with the head of a compound one. extra is the charge of the head
        around it."""
        out, run, cost, parts = [], [], extra, [(getattr(head, "lineno", 0), extra)] if extra else []
        for s in statements:
            new, c = self.visit_apart(self.rewrite_statement, s)
            run += self.note_statement(s) + new
            cost += max(c, table.arithmetic)
            parts.append((getattr(s, "lineno", 0), max(c, table.arithmetic)))
            if isinstance(s, (ast.If, ast.For, ast.While, ast.Try, ast.With, ast.Match)):
                out += self.locate_nodes(self.note_parts(parts) + self.make_charge(cost), s) + run
                run, cost, parts = [], 0, []
        if run:
            out += self.locate_nodes(self.note_parts(parts) + self.make_charge(cost), statements[-1]) + run
        return out

    def make_charge(self, cost):
        return charge_inline(cost) if self.metered else []

    def make_note(self, *of):
        """A call that notes a fact, if notes are on."""
        return [] if self.points is None else [ast.Expr(call_host(of[0], *map(make_constant, of[1:])))]

    def note_parts(self, parts):
        return [] if self.points is None else self.make_note("$lump", self.points.lump(parts))

    def note_statement(self, s):
        """Before a statement; a docstring does not count."""
        if self.points is None or not hasattr(s, "lineno") or isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant):
            return []
        self.points.lines.add(s.lineno)
        return self.locate_nodes(self.make_note("$line", s.lineno), s)

    def note_ways(self, node, *labels):
        """For each way that a branch goes, the statement at its beginning; None if no branch is noted."""
        if self.points is None or not self.branching or not hasattr(node, "lineno"):
            return None
        first = self.points.number_branch(node.lineno, labels)
        return [self.locate_nodes(self.make_note("$way", node.lineno, first + i), node) for i in range(len(labels))]

    def note_two_ways(self, node, body, orelse, labels):
        """The bodies of a branch, with statements that note the way it went."""
        ways = self.note_ways(node, *labels)
        return (body, orelse) if ways is None else (ways[0] + body, ways[1] + orelse)

    @staticmethod
    def locate_nodes(nodes, at):
        """Nodes below them are given their place in the end (fix_missing_locations)."""
        for n in nodes:
            ast.copy_location(n, at)
        return nodes

    def rewrite_statement(self, node):
        method = getattr(self, "do_" + type(node).__name__, None)
        if method is None:
            check.refuse_node(node, ASYNC if type(node).__name__.startswith("Async") else
                              "%s is not available to actors" % type(node).__name__)
        new = method(node)
        new = new if isinstance(new, list) else [new]
        return [ast.copy_location(n, node) for n in new]

    def do_Expr(self, node):
        if isinstance(node.value, ast.YieldFrom):
            return self.delegate_yield(node.value)
        return ast.Expr(self.visit(node.value))

    def do_Pass(self, node):
        return node

    do_Break = do_Continue = do_Pass

    def do_Global(self, node):
        for n in node.names:
            self.use_name(node, n)
        return node

    do_Nonlocal = do_Global

    def do_Return(self, node):
        return ast.Return(self.rewrite_optional(node.value))

    def do_Raise(self, node):
        self.cost += table.call
        raised = None if node.exc is None else call_host("$raising", self.visit(node.exc))
        return ast.Raise(raised, self.rewrite_optional(node.cause))

    def do_Assert(self, node):
        return ast.Assert(self.visit(node.test), self.rewrite_optional(node.msg))

    def do_Delete(self, node):
        self.cost += table.arithmetic
        out = []
        for t in node.targets:
            if isinstance(t, ast.Subscript) and not isinstance(t.slice, ast.Slice):
                self.cost += table.list if is_int(t.slice) else table.dict
                out.append(ast.Expr(call_host("$delete", self.visit(t.value), self.visit(t.slice))))
            else:
                out.append(ast.Delete([self.visit(t)]))
        return out

    def do_Assign(self, node):
        self.cost += table.arithmetic
        if any(check.is_declaration(node, t, node.value) for t in node.targets) and len(node.targets) == 1:
            return node
        value = self.visit(node.value)
        t = node.targets[0]
        if len(node.targets) == 1 and isinstance(t, ast.Subscript) and not isinstance(t.slice, ast.Slice):
            self.cost += table.list if is_int(t.slice) else table.dict
            where, index = self.visit(t.value), self.visit(t.slice)
            if is_short_key(index):
                return ast.Assign([ast.Subscript(where, index, STORE)], value)
            return ast.Expr(call_host("$put", value, where, index))
        return ast.Assign(self.rewrite_each(node.targets), self.fit_values(node.targets, value, node.value))

    def fit_values(self, targets, value, source):
        """The values that a target consumes: an iterable, whose order is not a set's."""
        for t in targets:
            if isinstance(t, (ast.Tuple, ast.List)) and not isinstance(source, (ast.Tuple, ast.List)):
                starred = any(isinstance(e, ast.Starred) for e in t.elts)
                value = call_host("$spread" if starred else "$unpack", value)
            elif isinstance(t, ast.Subscript) and isinstance(t.slice, ast.Slice):
                value = call_host("$sequence", value)
        return value

    def do_AugAssign(self, node):
        self.cost += 2 * table.arithmetic
        t, kind = node.target, type(node.op)
        if isinstance(t, ast.Name):
            self.use_name(t, t.id)
            value = self.visit(node.value)
            function = self.rewrite_operator(node, kind)
            return ast.Assign([t], self.rewrite_operation(kind, ast.Name(t.id, LOAD), value, *self.in_place(kind, function)))
        function = make_constant(self.rewrite_operator(node, kind)[1:])
        if isinstance(t, ast.Attribute):
            check.check_attribute(t, t.attr, False)
            if isinstance(t.value, ast.Name):
                return self.augment_attribute(t, kind, function, node)
            where, key, way = self.visit(t.value), make_constant(self.mangle_name(t.attr)), "$iattr"
        elif isinstance(t.slice, ast.Slice):
            check.refuse_node(node, "an augmented assignment to a slice: assign the slice")
        else:
            self.cost += table.dict
            where, key, way = self.visit(t.value), self.visit(t.slice), "$iitem"
        return ast.Expr(call_host(way, function, where, key, self.visit(node.value)))

    @staticmethod
    def in_place(kind, function):
        """How two values are combined into the first: for operation."""
        if kind not in (ast.Add, ast.Sub, ast.Mult):
            return call_host, "$i", make_constant(function[1:])
        return lambda a, b: call_host(function, a, b, constants.make_constant("$i" + function[1:])),

    def augment_attribute(self, t, kind, function, node):
        """name.attribute += value, read and set in line if the attribute is plain."""
        self.visit(t.value)
        old, value, to = self.rewrite_member(t.value, t.attr, LOAD), self.visit(node.value), self.rewrite_member(t.value, t.attr, STORE)
        return ast.Assign([to], self.rewrite_operation(kind, old, value, call_host, "$i", function))

    def do_AnnAssign(self, node):
        """Annotations are never evaluated. In a class they mark a field."""
        t = node.target
        in_class = self.classes and self.function is None and isinstance(t, ast.Name)
        if in_class and "ClassVar" not in ast.dump(node.annotation):
            self.visit(t)
            return ast.AnnAssign(t, constants.make_constant("$any"), self.rewrite_optional(node.value), 1)
        if node.value is None:
            return ast.Pass()
        return self.do_Assign(ast.copy_location(ast.Assign([t], node.value), node))

    def do_If(self, node):
        constant = isinstance(node.test, ast.Constant)
        test = self.visit(node.test)
        body, orelse = self.rewrite_statements(node.body), self.rewrite_statements(node.orelse) if node.orelse else []
        if not constant:
            body, orelse = self.note_two_ways(node, body, orelse, ("true", "false"))
        return ast.If(test, body, orelse)

    def do_While(self, node):
        constant = isinstance(node.test, ast.Constant)
        test, cost = self.visit_apart(self.visit, node.test)
        self.cost += cost
        body = self.rewrite_statements(node.body, cost + table.arithmetic, node)
        orelse = self.rewrite_statements(node.orelse) if node.orelse else []
        if not constant:
            body, orelse = self.note_two_ways(node, body, orelse, ("entered", "ended"))
        return ast.While(test, body, orelse)

    def do_For(self, node):
        iterable = call_host("$iter", self.visit(node.iter))
        target, before = node.target, []
        if isinstance(target, (ast.Tuple, ast.List)):
            before = [ast.copy_location(ast.Assign([self.visit(target)], call_host("$unpack", load_name("$each"))), node)]
            target = ast.Name("$each", STORE)
        elif isinstance(target, ast.Name):
            self.visit(target)
        else:
            check.refuse_node(node, "a loop variable that is not a name: assign it in the body")
        body = self.rewrite_statements(node.body, 2 * table.arithmetic, node)
        orelse = self.rewrite_statements(node.orelse) if node.orelse else []
        body, orelse = self.note_two_ways(node, before + body, orelse, ("entered", "ended"))
        return ast.For(target, iterable, body, orelse)

    def do_Try(self, node):
        if any(has_yield([s]) for s in node.finalbody):
            check.refuse_node(node, "yield within finally")
        self.count_copies(node)
        handlers = []
        for h in node.handlers:
            kind, cost = (constants.make_constant("$Exception"), 0) if h.type is None else self.visit_apart(self.visit, h.type)
            if h.name:
                self.use_name(h, h.name)
            caught = [ast.copy_location(ast.Expr(call_host("$caught")), h)]
            if self.function != "generator":
                caught.append(ast.copy_location(ast.Assign([meter_cell(1, STORE)], load_name("$v")), h))
            body = caught + self.rewrite_statements(h.body, cost + table.arithmetic, h)
            handlers.append(ast.copy_location(ast.ExceptHandler(kind, h.name, body), h))
        parts = [self.rewrite_statements(b) if b else [] for b in (node.body, node.orelse, node.finalbody)]
        return ast.Try(parts[0], handlers, parts[1], parts[2])

    @staticmethod
    def count_copies(node):
        """Python compiles a finally once for each way out of its try."""
        inner = [n for s in node.finalbody for n in ast.walk(s)]
        if any(isinstance(n, ast.Try) and n.finalbody for n in inner):
            check.refuse_node(node, "a finally within a finally")
        ways = (n for s in node.body + node.handlers + node.orelse for n in ast.walk(s))
        if len(inner) * (2 + sum(isinstance(n, (ast.Return, ast.Break, ast.Continue)) for n in ways)) > MAX_COPIES:
            check.refuse_node(node, "a finally this long with this many ways out of its try: move it into a function")

    def do_With(self, node):
        items = []
        for i in node.items:
            self.cost += 2 * table.call
            if i.optional_vars is not None and not isinstance(i.optional_vars, ast.Name):
                check.refuse_node(node, "with … as something that is not a name")
            manager = call_host("$manager", self.visit(i.context_expr))
            items.append(ast.withitem(manager, self.rewrite_optional(i.optional_vars)))
        return ast.With(items, self.rewrite_statements(node.body))

    def do_Match(self, node):
        subject = call_host("$weighed", self.visit(node.subject))
        cases, self.fits = [], []
        for c in node.cases:
            self.cost += 2 * table.arithmetic
            guard, pattern, fits = self.rewrite_optional(c.guard), self.rewrite_pattern(c.pattern), self.fits
            cases.append(ast.match_case(pattern, guard, self.rewrite_statements(c.body)))
            self.fits = fits
        self.note_cases(node, cases)
        return [ast.copy_location(f, node) for f in self.fits] + [ast.Match(subject, cases)]

    def note_cases(self, node, cases):
        """Notes which case is taken, and that none is, where that may be."""
        last = node.cases[-1]
        whole = last.guard is None and isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
        labels = ["case %d" % (i + 1) for i in range(len(cases))] + ([] if whole else ["no case"])
        ways = self.note_ways(node, *labels)
        if ways is None:
            return
        for case, noted in zip(cases, ways):
            case.body = noted + case.body
        if not whole:
            cases.append(ast.match_case(ast.copy_location(ast.MatchAs(), node), None, ways[-1]))

    def fit_class_pattern(self, p):
        """Rewrites a class pattern to ask for the attributes that surface lets it read."""
        if isinstance(p.cls, ast.Name) and p.cls.id in TYPES and p.cls.id not in self.bound:
            if p.kwd_attrs:
                check.refuse_node(p, "attributes of %s in a pattern" % p.cls.id)
            return ast.copy_location(load_name("$T" + p.cls.id), p)
        id = "$p%d" % len(self.fits)
        names = ast.Tuple([make_constant(a) for a in p.kwd_attrs], LOAD)
        self.fits.append(ast.Assign([ast.Name(id, STORE)], call_host("$fit", p.cls, make_constant(len(p.patterns)), names)))
        return ast.copy_location(load_name(id), p)

    def rewrite_pattern(self, p):
        self.cost += table.arithmetic
        if isinstance(p, ast.MatchValue) and not isinstance(p.value, ast.Constant):
            if not isinstance(p.value, (ast.Attribute, ast.UnaryOp)):
                check.refuse_node(p, "a pattern that is not a constant")
            if isinstance(p.value, ast.UnaryOp):
                check.check_constant(p.value.operand)
            else:
                p.value = ast.copy_location(ast.Attribute(call_host("$box", self.read_dotted_name(p.value)), "value", LOAD), p)
        elif isinstance(p, ast.MatchValue):
            check.check_constant(p.value)
        elif isinstance(p, ast.MatchClass):
            for a in p.kwd_attrs:
                check.check_attribute(p, a, False)
            p.cls = self.read_dotted_name(p.cls)
            p.cls = self.fit_class_pattern(p)
        for n in (getattr(p, "name", None), getattr(p, "rest", None)):
            if n:
                self.use_name(p, n)
        for field in ("patterns", "kwd_patterns"):
            if hasattr(p, field):
                setattr(p, field, [self.rewrite_pattern(q) for q in getattr(p, field)])
        if getattr(p, "pattern", None) is not None:
            p.pattern = self.rewrite_pattern(p.pattern)
        for k in getattr(p, "keys", ()):
            if not isinstance(k, ast.Constant):
                check.refuse_node(p, "a mapping pattern whose key is not a constant")
            check.check_constant(k)
        return p

    def read_dotted_name(self, node):
        """The object that a pattern names, or an attribute of it."""
        if isinstance(node, ast.Attribute):
            check.check_attribute(node, node.attr)
            value, attribute = self.read_dotted_name(node.value), make_constant(self.mangle_name(node.attr))
            return ast.copy_location(call_host("$attr", value, attribute), node)
        if not isinstance(node, ast.Name):
            check.refuse_node(node, "a pattern that is not a constant")
        self.use_name(node, node.id)
        return node

    def do_Import(self, node):
        new = []
        for a in node.names:
            check.check_module(node, a.name)
            top = a.name.split(".")[0]
            bound = a.asname or top
            self.use_name(node, bound)
            new.append(ast.Assign([ast.Name(bound, STORE)], call_host("$import", make_constant(a.name if a.asname else top))))
        return new

    def do_ImportFrom(self, node):
        if node.level:
            check.refuse_node(node, "a relative import: an actor is one file")
        check.check_module(node, node.module)
        if node.module == "__future__":
            check.refuse_node(node, "from __future__ belongs at the beginning of the file")
        new = []
        for a in node.names:
            if a.name == "*":
                check.refuse_node(node, "import *: name what you import")
            self.check_export(node, a.name)
            bound = a.asname or a.name
            self.use_name(node, bound)
            new.append(ast.Assign([ast.Name(bound, STORE)], call_host("$importfrom", make_constant(node.module), make_constant(a.name))))
        return new

    exported = staticmethod(lambda module, name: True)

    def check_export(self, node, wanted):
        check.check_attribute(node, wanted)
        if not self.exported(node.module, wanted):
            check.refuse_node(node, "%s has no %s that an actor may use" % (node.module, wanted))

    def do_ClassDef(self, node):
        self.cost += 5 * table.call
        if getattr(node, "type_params", None):
            check.refuse_node(node, "type parameters are not available to actors")
        for k in node.keywords:
            if k.arg != "frozen":
                check.refuse_node(node, "a class takes no keywords here (metaclass and the like)")
        self.use_name(node, node.name)
        decorators, bases = self.rewrite_each(node.decorator_list), [self.visit(b) for b in node.bases]
        outer, self.function = self.function, None
        self.classes.append(node.name)
        body, _ = self.visit_scope(None, self.rewrite_statements, node.body)
        self.classes.pop()
        self.function = outer
        names = ast.keyword("$names", make_constant(frozenset(self.names_of(node.body))))
        new = ast.ClassDef(node.name, bases, [names], body, decorators)
        new.type_params = []
        return new

    @staticmethod
    def names_of(body):
        """Names that the statements of a class define, in it and not in a scope within."""
        found, below = set(), list(body)
        while below:
            n = below.pop()
            if isinstance(n, (ast.FunctionDef, ast.ClassDef)):
                found.add(n.name)
                below += n.decorator_list
                continue
            if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load):
                found.add(n.id)
            elif isinstance(n, ast.alias):
                found.add((n.asname or n.name).split(".")[0])
            elif isinstance(n, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and n.name:
                found.add(n.name)
            elif isinstance(n, ast.MatchMapping) and n.rest:
                found.add(n.rest)
            below += ast.iter_child_nodes(n)
        return found

    def do_FunctionDef(self, node):
        self.cost += table.arithmetic
        if getattr(node, "type_params", None):
            check.refuse_node(node, "type parameters are not available to actors")
        if check.is_dunder(node.name) and node.name not in check.DUNDER_METHODS:
            check.refuse_node(node, "the method %s is the interpreter's" % node.name)
        decorators, args = self.rewrite_each(node.decorator_list), self.visit_defaults(node.args)
        outer, self.function = self.function, "generator" if has_yield(node.body) else "plain"
        branching, self.branching = self.branching, (node.name, self.classes[-1] if self.classes else None) not in self.waiting
        lambda_outer, self.in_lambda = self.in_lambda, False
        self.names.bound.add(node.name)
        depth = max(map(frames.measure_stack, node.body)) if self.function == "generator" else 0
        guarded, names = self.visit_scope(args, self.guard_call, node)
        self.cost += len(names.used) // CELLS
        entry = self.make_note("$into", node.lineno) + self.make_prologue(check.is_dunder(node.name), names.price_entry())
        body = self.locate_nodes(entry, node) + [guarded]
        if self.function == "generator":
            body = self.make_generator(node, args, body, frames.price_generator(names, depth, self.properties))
        self.branching = branching
        if ast.get_docstring(node, clean=False) is not None:
            body.insert(0, node.body[0])
        self.function, self.in_lambda = outer, lambda_outer
        new = ast.FunctionDef(node.name, args, body, decorators, None)
        new.type_params = []
        return new

    def make_generator(self, node, args, body, cost):
        """The body of a function that charges for a generator, and then makes it by a function within, of the same parameters.
        No code of a generator runs when it is made."""
        if not cost or not self.metered:
            return body
        given = [p.arg for p in scopes.list_parameters(args)]
        own = ast.arguments([], [ast.arg(n) for n in given], None, [], [], None, [])
        within = ast.FunctionDef("$" + node.name, own, body, [], None)
        within.type_params = []
        makes = ast.Return(ast.Call(load_name(within.name), [load_name(n) for n in given], []))
        return self.locate_nodes(self.make_charge(cost) + [within, makes], node)

    def make_prologue(self, called_by_operators, more):
        deeper = ast.AugAssign(meter_cell(1, STORE), ast.Add(), make_constant(1))
        limit = ast.If(ast.Compare(meter_cell(1, LOAD), [ast.Gt()], [meter_cell(2, LOAD)]), [ast.Expr(call_host("$deep"))], [])
        level = make_constant(True) if self.function == "generator" else meter_cell(1, LOAD)
        # The charge comes first, so that a function entered after the end of
        # cycles ends at once.
        cost = (table.call if called_by_operators else table.arithmetic) + more
        return self.make_charge(cost) + [deeper, limit, ast.Assign([ast.Name("$v", STORE)], level)]

    def guard_call(self, node):
        body = self.rewrite_statements(node.body)
        if self.function == "generator":
            undo = ast.If(load_name("$v"), [ast.AugAssign(meter_cell(1, STORE), ast.Sub(), make_constant(1))], [])
        else:
            undo = ast.Assign([meter_cell(1, STORE)], ast.BinOp(load_name("$v"), ast.Sub(), make_constant(1)))
        return ast.copy_location(ast.Try(body, [], [], self.locate_nodes([undo] + self.make_note("$back"), node)), node)

    def visit_Yield(self, node):
        """((yield (value, $v := False, $down())[0]), $v := True, $up())[0]"""
        if self.in_lambda or self.function != "generator":
            check.refuse_node(node, "yield outside of a function")
        self.cost += table.arithmetic
        value = make_constant(None) if node.value is None else self.visit(node.value)
        off = ast.NamedExpr(ast.Name("$v", STORE), make_constant(False))
        on = ast.NamedExpr(ast.Name("$v", STORE), make_constant(True))
        given = ast.Subscript(ast.Tuple([value, off, call_host("$down")], LOAD), make_constant(0), LOAD)
        return ast.Subscript(ast.Tuple([ast.Yield(given), on, call_host("$up")], LOAD), make_constant(0), LOAD)

    def visit_YieldFrom(self, node):
        check.refuse_node(node, "the value of yield from: loop and yield")

    def delegate_yield(self, node):
        """yield from x, as a statement, is a loop that yields."""
        body = [ast.Expr(ast.Yield(ast.Name("$each", LOAD)))]
        loop = ast.For(ast.Name("$each", STORE), node.value, body, [])
        for n in (loop, *ast.walk(body[0])):
            ast.copy_location(n, node)
        branching, self.branching = self.branching, False
        new = self.do_For(loop)
        self.branching = branching
        return new

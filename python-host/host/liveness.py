"""Finds local names that a continuation reads after an await which forgot them."""

import ast

from host import check
from host.scopes import bound_in, read_in

LOAD = ast.Load()
MAX_LOOPS = 3  # around an await: each doubles the work of the analysis


class Liveness:
    """Goes through a function along every way. lost is name → the line of the await that forgot
    it, on one way; None if no way leads further."""

    def __init__(self, names, inside):
        self.names, self.inside = names, inside
        self.loops = []  # of each loop around: the ways that leave it by break, and those that continue

    def body(self, statements, lost):
        for s in statements:
            if lost is None:
                return None
            lost = getattr(self, "at_" + type(s).__name__, self.at_other)(s, lost)
        return lost

    def forgotten_by(self, node):
        """The names that the awaits in a node forget."""
        first = self.inside.get(id(node))
        return {} if first is None else {name: first.lineno for name in self.names}

    def read(self, nodes, lost):
        for node in nodes:
            here = {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
            for name, n in read_in(node):
                if name in lost and name not in here:
                    check.refuse_node(n, "%s does not outlive the await of line %d: keep it in what capture() gives, as in ctx.%s = %s"
                                      % (name, lost[name], name, name))
            self.bind_names(here, lost)

    @staticmethod
    def bind_names(names, lost):
        for name in names:
            lost.pop(name, None)

    def at_other(self, s, lost):
        targets = getattr(s, "targets", [])
        target = getattr(s, "target", None)
        if isinstance(s, ast.AugAssign) and isinstance(target, ast.Name):
            self.read([ast.copy_location(ast.Name(target.id, LOAD), target)], lost)
        value = getattr(s, "value", None)
        if isinstance(value, ast.Await):
            self.read([value], lost)
            lost.update(self.forgotten_by(value))
            self.read(targets + [target] * (target is not None), lost)
        else:
            self.read([s], lost)
        self.bind_names(bound_in([s]), lost)
        return None if isinstance(s, (ast.Return, ast.Raise)) else lost

    @staticmethod
    def join(*ways):
        ways = [w for w in ways if w is not None]
        return {name: line for w in ways for name, line in w.items()} if ways else None

    def at_FunctionDef(self, s, lost):
        self.bind_names({s.name}, lost)  # it may call itself
        return self.at_other(s, lost)

    def at_Break(self, s, lost):
        self.leave_way(0, lost)

    def at_Continue(self, s, lost):
        self.leave_way(1, lost)

    def leave_way(self, way, lost):
        if self.loops:
            self.loops[-1][way].append(lost)

    def at_If(self, s, lost):
        self.read([s.test], lost)
        return self.join(self.body(s.body, dict(lost)), self.body(s.orelse, lost))

    def analyse_loop(self, s, head, begin):
        """A loop that awaits is analysed twice, and so each loop within it."""
        waits = id(s) in self.inside
        if waits and sum(1 for loop in self.loops if loop[2]) == MAX_LOOPS:
            check.refuse_node(self.inside[id(s)], "an await in more than %d loops" % MAX_LOOPS)
        for _ in range(1 + waits):
            self.loops.append(([], [], waits))
            end = self.body(s.body, begin(dict(head)))
            left, on, _ = self.loops.pop()
            head = self.join(head, end, *on)
        return self.join(self.body(s.orelse, begin(dict(head))), *left)

    def at_While(self, s, lost):
        def begin_while(lost):
            self.read([s.test], lost)
            return lost
        return self.analyse_loop(s, lost, begin_while)

    def at_For(self, s, lost):
        self.read([s.iter], lost)

        def begin_for(lost):
            self.bind_names(bound_in([s.target]), lost)
            return lost
        return self.analyse_loop(s, lost, begin_for)

    def at_Try(self, s, lost):
        end = self.body(s.body, dict(lost))
        thrown = self.join(lost, end, *map(self.forgotten_by, s.body))
        ends = [None if end is None else self.body(s.orelse, end)]
        for h in s.handlers:
            caught = dict(thrown)
            if h.type is not None:
                self.read([h.type], caught)
            self.bind_names({h.name}, caught)
            ends.append(self.body(h.body, caught))
        after = self.join(*ends)
        return self.body(s.finalbody, after if after is not None else thrown) if s.finalbody else after

    def at_With(self, s, lost):
        for item in s.items:
            self.read([item.context_expr], lost)
            self.bind_names(bound_in([item.optional_vars] * (item.optional_vars is not None)), lost)
        return self.body(s.body, lost)

    def at_Match(self, s, lost):
        self.read([s.subject], lost)
        ends = [lost]
        for case in s.cases:
            way = dict(lost)
            self.read([case.pattern], way)
            self.bind_names(bound_in([case.pattern]), way)
            if case.guard is not None:
                self.read([case.guard], way)
            ends.append(self.body(case.body, way))
        return self.join(*ends)

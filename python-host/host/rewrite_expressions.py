"""Rewrites an actor's syntax tree so that it counts its own steps.

- Each straight-line run of statements and each element of a comprehension begins with a charge.
  It is the sum of the run's entries in CIP-3's table, with all branches of an expression.
- Operators, subscripts, attributes and iteration whose cost grows with their
  operands go through the functions of ops, which charge for that.
- Each function counts its depth.

Names that begin with $ are reserved for the host; no source can spell them.
"""

import ast

from host import check, constants
from host.costs import table
from host.known_names import BUILTINS, METHOD_NAMES, STATICS
from host.rewrite_scopes import LOAD, Scopes, call_host
from host.weights import SMALL

STORE = ast.Store()
OPERATORS = {
    ast.Add: "$add", ast.Sub: "$sub", ast.Mult: "$mul", ast.Div: "$div", ast.FloorDiv: "$floordiv", ast.Mod: "$mod",
    ast.Pow: "$pow", ast.LShift: "$lshift", ast.RShift: "$rshift", ast.BitOr: "$or", ast.BitXor: "$xor",
    ast.BitAnd: "$and", ast.MatMult: None,
}

IN_LINE = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.BitOr, ast.BitXor, ast.BitAnd, ast.RShift)
IN_LINE_BELOW = SMALL >> 1  # so that a sum or difference of two is below SMALL
UNARY = {ast.USub: "$neg", ast.UAdd: "$pos", ast.Invert: "$invert"}
SHORT = 256  # bytes of a constant key whose comparison a look-up's price covers
FEW = 16  # entries of a literal that need no charge for their hashes


def load_name(id):
    return ast.Name(id, LOAD)


def make_constant(value):
    return ast.Constant(value)


def is_int(node):
    return isinstance(node, ast.Constant) and type(node.value) is int


def is_small(first, again):
    """Whether a value is an integer that no operator charges for: as it is
    evaluated here, and as it is read again."""
    whole = ast.Compare(call_host("$type", first), [ast.Is()], [constants.make_constant("$int")])
    within = ast.Compare(make_constant(-IN_LINE_BELOW), [ast.Lt(), ast.Lt()], [again, make_constant(IN_LINE_BELOW)])
    return ast.BoolOp(ast.And(), [whole, within])


def meter_cell(i, ctx):
    return ast.Subscript(constants.make_constant("$m"), make_constant(i), ctx)


def charge_inline(cost):
    """$m[0] -= cost; and stop below zero."""
    return [
        ast.AugAssign(meter_cell(0, STORE), ast.Sub(), make_constant(cost)),
        ast.If(ast.Compare(meter_cell(0, LOAD), [ast.Lt()], [make_constant(0)]), [ast.Expr(call_host("$out"))], []),
    ]


def is_short_key(node):
    """Whether a key is a text whose hash no actor chooses and whose comparison is short."""
    return isinstance(node, ast.Constant) and type(node.value) in (str, bytes) and len(node.value) <= SHORT


class Expressions(Scopes):
    """Expressions: each visit adds what it costs to self.cost."""

    def visit(self, node):
        self.nodes += 1
        method = getattr(self, "visit_" + type(node).__name__, None)
        if method is None:
            check.refuse_node(node, "%s is not available to actors" % type(node).__name__)
        new = method(node)
        return ast.copy_location(new, node) if isinstance(new, ast.AST) and hasattr(node, "lineno") else new

    def rewrite_each(self, nodes):
        return [self.visit(n) for n in nodes]

    def rewrite_optional(self, node):
        return None if node is None else self.visit(node)

    def visit_Constant(self, node):
        check.check_constant(node)
        return node

    def visit_Name(self, node):
        self.use_name(node, node.id)
        if node.id == "super" and "super" not in self.bound:
            check.refuse_node(node, "super is called where it stands: super().name")
        return node

    def visit_Host(self, node):
        """A call that awaits.py inserted."""
        self.cost += table.call
        return call_host(node.name, *self.rewrite_each(node.args))

    def visit_Await(self, node):
        check.refuse_node(node, "await outside of a continuation: an async def under @runner.continuation")

    def visit_NamedExpr(self, node):
        self.cost += table.arithmetic
        self.assigned.add(node.target.id)
        self.visit(node.target)
        return ast.NamedExpr(node.target, self.visit(node.value))

    def visit_BinOp(self, node):
        self.cost += table.arithmetic
        kind = type(node.op)
        left, right = self.visit(node.left), self.visit(node.right)
        return self.rewrite_operation(kind, left, right, call_host, self.rewrite_operator(node, kind))

    def rewrite_operation(self, kind, left, right, make, *before):
        """left kind right. It is in line if right is a small integer and left turns out to be
        one, since no operator charges for that; otherwise it is make(*before, left, right)."""
        kept = self.evaluate_once(left) if kind in IN_LINE and is_int(right) and abs(right.value) < IN_LINE_BELOW else None
        if kept is None:
            return make(*before, left, right)
        first, again = kept
        return ast.IfExp(is_small(first, again), ast.BinOp(again, kind(), right), make(*before, again, right))

    def evaluate_once(self, node):
        """A name, element or attribute as it is evaluated, and as it is read again;
        None where it cannot be kept. More would make code that takes long to compile."""
        if type(node) is ast.Name:
            return node, node
        element = type(node) is ast.Subscript or type(node) is ast.IfExp and type(node.body) in (ast.Subscript, ast.Attribute)
        if not element or self.in_comprehension or self.function is None and not self.in_lambda:
            return None  # where a name of ours would be the actor's attribute, or no name can be bound
        return ast.NamedExpr(ast.Name("$a", STORE), node), ast.Name("$a", LOAD)

    def rewrite_operator(self, node, kind):
        if OPERATORS[kind] is None:
            check.refuse_node(node, "@ between values is not available to actors")
        return OPERATORS[kind]

    def visit_UnaryOp(self, node):
        self.cost += table.arithmetic
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not) or isinstance(operand, ast.Constant):
            return ast.UnaryOp(node.op, operand)
        return call_host(UNARY[type(node.op)], operand)

    def visit_BoolOp(self, node):
        self.cost += table.arithmetic * (len(node.values) - 1)
        return ast.BoolOp(node.op, self.rewrite_each(node.values))

    def visit_IfExp(self, node):
        self.cost += table.arithmetic
        return ast.IfExp(self.visit(node.test), self.visit(node.body), self.visit(node.orelse))

    def visit_Compare(self, node):
        self.cost += table.arithmetic * len(node.ops)
        values = self.rewrite_each([node.left] + node.comparators)
        if any(isinstance(op, (ast.In, ast.NotIn)) for op in node.ops):
            if len(node.ops) > 1:
                check.refuse_node(node, "a chain of comparisons with in: write them one by one")
            found = call_host("$in", *values)
            return found if isinstance(node.ops[0], ast.In) else ast.UnaryOp(ast.Not(), found)
        small = any(isinstance(v, ast.Constant) for v in values) and len(node.ops) == 1
        if not small and not all(isinstance(op, (ast.Is, ast.IsNot)) for op in node.ops):
            self.cost += table.arithmetic  # of looking at what is compared
            values = [v if isinstance(v, ast.Constant) else call_host("$weighed", v) for v in values]
        return ast.Compare(values[0], node.ops, values[1:])

    def visit_Call(self, node):
        f = node.func
        direct = isinstance(f, ast.Name) and f.id in BUILTINS and f.id not in self.bound
        if direct:
            self.cost += table.arithmetic  # the built-in charges what it does
        elif isinstance(f, ast.Attribute) and f.attr in METHOD_NAMES:
            self.cost += table.list
        else:
            self.cost += table.call
        if isinstance(f, ast.Name) and f.id == "super" and "super" not in self.bound:
            if node.args or node.keywords:
                check.refuse_node(node, "super takes no arguments here")
            return node
        args = [self.rewrite_spread(a) for a in node.args]
        keywords = []
        for k in node.keywords:
            if k.arg is None:
                keywords.append(ast.keyword(None, call_host("$mapping", self.visit(k.value))))
            else:
                self.cost += table.arithmetic
                self.check_identifier(node, k.arg)
                keywords.append(ast.keyword(k.arg, self.visit(k.value)))
        called = self.rewrite_method(f) if isinstance(f, ast.Attribute) else self.visit(f)
        return ast.Call(ast.copy_location(constants.make_constant("$$" + f.id), f) if direct else called, args, keywords)

    def rewrite_spread(self, node):
        if isinstance(node, ast.Starred):
            return ast.copy_location(ast.Starred(call_host("$spread", self.visit(node.value)), node.ctx), node)
        return self.visit(node)

    def visit_Attribute(self, node):
        """value.name is $attr(value, name), which knows the readable attributes of each type. A
        library, or an instance of an actor's plain class, is the common case: it is read in
        line."""
        self.cost += table.arithmetic
        read = isinstance(node.ctx, ast.Load)
        check.check_attribute(node, node.attr, read)
        return self.rewrite_member(self.visit(node.value), node.attr, node.ctx)

    def rewrite_method(self, node):
        """value.name that is called: mostly a built-in method, if it has the name of one."""
        made = self.visit_Attribute(node)
        static = "%s.%s" % (node.value.id, node.attr) if isinstance(node.value, ast.Name) and node.value.id not in self.bound else ""
        if static in STATICS:
            made = constants.make_constant("$$" + static)
        elif isinstance(made, ast.IfExp) and node.value.id != "self":
            if node.attr == "append":
                grows = ast.Compare(call_host("$type", node.value), [ast.In()], [constants.make_constant("$growing")])
                made = ast.IfExp(grows, made.body, made.orelse)
            elif node.attr in METHOD_NAMES:
                made = made.orelse
        return ast.copy_location(made, node)

    def rewrite_member(self, value, attr, ctx):
        way = call_host("$attr" if isinstance(ctx, ast.Load) else "$own", value, make_constant(self.mangle_name(attr)))
        if not isinstance(value, ast.Name):
            return way if isinstance(ctx, ast.Load) else ast.Attribute(way, attr, ctx)
        shows = "$open" if isinstance(ctx, ast.Load) and not attr.startswith("_") else "$plain"
        plain = ast.Compare(call_host("$type", value), [ast.In()], [constants.make_constant(shows)])
        if isinstance(ctx, ast.Load):
            return ast.IfExp(plain, ast.Attribute(value, attr, LOAD), way)
        return ast.Attribute(ast.IfExp(plain, value, way), attr, ctx)

    def mangle_name(self, attr):
        """The name that Python gives a private attribute within a class."""
        if attr.startswith("__") and not attr.endswith("__") and self.classes and self.classes[-1].lstrip("_"):
            return "_%s%s" % (self.classes[-1].lstrip("_"), attr)
        return attr

    def visit_Subscript(self, node):
        index = node.slice
        if isinstance(index, ast.Slice):
            self.cost += table.list
            parts = [make_constant(None) if p is None else self.visit(p) for p in (index.lower, index.upper, index.step)]
            value = self.visit(node.value)
            if isinstance(node.ctx, ast.Load):
                return call_host("$slice", value, *parts)
            return ast.Subscript(call_host("$moved", value), ast.Slice(*parts), node.ctx)
        self.cost += table.list if is_int(index) else table.dict
        value, index = self.visit(node.value), self.visit(index)
        if isinstance(node.ctx, ast.Load):
            return ast.Subscript(value, index, node.ctx) if is_short_key(index) else self.rewrite_index(value, index)
        return ast.Subscript(call_host("$target", value), call_host("$key", index), node.ctx)

    def rewrite_index(self, value, index):
        """value[index], of a list or tuple in line."""
        if type(value) is not ast.Name or not (type(index) is ast.Name or is_int(index)):
            return call_host("$at", value, index)
        row = ast.Compare(call_host("$type", value), [ast.In()], [constants.make_constant("$rows")])
        return ast.IfExp(row, ast.Subscript(value, index, LOAD), call_host("$at", value, index))

    def visit_List(self, node):
        if isinstance(node.ctx, ast.Load):
            self.cost += table.list_base + table.list * len(node.elts)
        if not isinstance(node.ctx, ast.Load):
            return self.rewrite_targets(node)
        return ast.List([self.rewrite_spread(e) for e in node.elts], node.ctx)

    def visit_Tuple(self, node):
        self.cost += table.arithmetic * (1 + len(node.elts))
        if not isinstance(node.ctx, ast.Load):
            return self.rewrite_targets(node)
        return ast.Tuple([self.rewrite_spread(e) for e in node.elts], node.ctx)

    def rewrite_targets(self, node):
        """Nested targets unpack values that may have the order of a set: flat ones only."""
        new = []
        for e in node.elts:
            if isinstance(e, (ast.Tuple, ast.List)):
                check.refuse_node(e, "targets within targets: unpack in two steps")
            if isinstance(e, ast.Starred):
                new.append(ast.copy_location(ast.Starred(self.visit(e.value), e.ctx), e))
                continue
            if isinstance(e, ast.Subscript) and isinstance(e.slice, ast.Slice):
                check.refuse_node(e, "a slice among several targets: assign it alone")
            new.append(self.visit(e))
        return type(node)(new, node.ctx)

    def visit_Set(self, node):
        self.cost += table.set_base + 5 * len(node.elts)
        elements = [self.rewrite_spread(e) for e in node.elts]
        if len(elements) > FEW or any(isinstance(e, ast.Starred) for e in elements):
            return call_host("$set_of", ast.Tuple(elements, LOAD))
        return ast.Set([call_host("$key", e) for e in elements])

    def visit_Dict(self, node):
        n, merged = len(node.keys), sum(k is None for k in node.keys)
        self.cost += table.dict_base + table.dict * n
        if n > FEW and not all(map(is_short_key, node.keys)):
            self.cost += n * (n >> 3)
        keys, values = [], []
        for k, v in zip(node.keys, node.values):
            if k is None:
                keys.append(None)
                values.append(call_host("$mapping", self.visit(v), make_constant(merged)))
                continue
            k = self.visit(k)
            keys.append(k if is_short_key(k) else call_host("$key", k))
            values.append(self.visit(v))
        return ast.Dict(keys, values)

    def visit_JoinedStr(self, node):
        parts = []
        for p in node.values:
            if isinstance(p, ast.FormattedValue):
                spec = make_constant("") if p.format_spec is None else self.visit(p.format_spec)
                self.cost += table.str
                parts.append(call_host("$format", self.visit(p.value), make_constant(p.conversion), spec))
            else:
                parts.append(p)
        return call_host("$text", ast.Tuple(parts, LOAD))

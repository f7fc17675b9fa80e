"""The part of the rewriter that makes scopes: lambdas and comprehensions."""

import ast

from host import check, constants, frames, scopes
from host.costs import table

LOAD = ast.Load()
CELLS = 8  # names of a function that its making may bind for one cycle
SHORT_GENERATOR = 32  # nodes of a generator expression whose frame the price of a call covers; 2 more are a cycle: their memory


def call_host(function, *args):
    """A call of the host's object with a name."""
    return ast.Call(constants.make_constant(function), list(args), [])


class Scopes:
    """cost gathers the charge of the run being rewritten; a scope that runs
    later, or many times, gathers its own."""

    cost = nodes = 0
    bound = frozenset()
    in_lambda = False
    in_comprehension = False

    def use_name(self, node, id):
        """Checks a name, and notes that the scope around uses it, or binds it here."""
        check.check_name(node, id, self.bound)
        self.names.used.add(id)
        if not isinstance(getattr(node, "ctx", None), ast.Load):
            self.names.bound.add(id)

    def visit_scope(self, args, visit, *given):
        """Visit as a scope, whose parameters are in args: (result, its names)."""
        outer, self.names = self.names, frames.Names()
        if args is not None:
            self.names.bound |= scopes.argument_names(args)
            self.names.used |= self.names.bound
            if len(self.names.bound) > frames.MAX_PARAMETERS:
                check.refuse_node(scopes.list_parameters(args)[0], "%d parameters of one function, at most %d: take a dict or a list"
                                  % (len(self.names.bound), frames.MAX_PARAMETERS))
        new = visit(*given)
        found, self.names = self.names, outer
        outer.used |= found.used
        outer.within |= found.used
        return new, found

    def check_identifier(self, node, id):
        if check.is_dunder(id):
            check.refuse_node(node, "the name %s is the interpreter's" % id)

    def visit_apart(self, visit, *args):
        """Visit with a separate charge: (result, charge)."""
        saved, self.cost = self.cost, 0
        try:
            new = visit(*args)
            return new, self.cost
        finally:
            self.cost = saved

    def visit_defaults(self, args):
        """Defaults are evaluated where the function is made; annotations never."""
        for a in args.posonlyargs + args.args + args.kwonlyargs + [args.vararg, args.kwarg]:
            if a is not None:
                self.check_identifier(a, a.arg)
                a.annotation = None
        args.defaults = [self.visit(d) for d in args.defaults]
        args.kw_defaults = [None if d is None else self.visit(d) for d in args.kw_defaults]
        return args

    def visit_Lambda(self, node):
        """lambda: ($enter(cost), body, $down())[1]"""
        self.cost += table.arithmetic
        args = self.visit_defaults(node.args)
        outer, self.in_lambda = self.in_lambda, True
        (body, cost), names = self.visit_scope(args, self.visit_apart, self.visit, node.body)
        self.cost += len(names.used) // CELLS
        self.in_lambda = outer
        entered = call_host("$enter", ast.Constant(cost + names.price_entry() + table.arithmetic))
        three = ast.Tuple([entered, body, call_host("$down")], LOAD)
        return ast.Lambda(args, ast.Subscript(three, ast.Constant(1), LOAD))

    def enter_comprehension(self, *given):
        """As made, within a separate scope: Python 3.11 has shared names in cells there. Names that := binds are bound outside."""
        made, names = self.visit_scope(None, self.visit_generators, *given)
        self.names.bound |= names.bound & self.assigned
        return made

    def visit_generators(self, generators, make, price):
        """Visits make within generators. The charge goes into the first condition of the
        innermost loop, which runs once per element."""
        new, count = [], 0
        outer, self.in_comprehension = self.in_comprehension, True
        for i, g in enumerate(generators):
            if g.is_async:
                check.refuse_node(g.iter, "async in a comprehension")
            if i == 0:
                iterable = call_host("$iter", self.visit(g.iter))
            else:
                source, cost = self.visit_apart(self.visit, g.iter)
                new[-1].ifs = new[-1].ifs + [call_host("$tick", ast.Constant(cost))]
                iterable = call_host("$iter", source)
            target = g.target
            unpack = []
            if isinstance(target, (ast.Tuple, ast.List)):
                count += 1
                fresh = "$%d" % count
                inner = self.visit(target)
                one = ast.List([call_host("$unpack", ast.Name(fresh, LOAD))], LOAD)
                unpack = [ast.comprehension(inner, one, [], 0)]
                target = ast.Name(fresh, ast.Store())
            else:
                target = self.visit(target)
            ifs, cost = self.visit_apart(lambda: [self.visit(c) for c in g.ifs])
            ticked = [call_host("$tick", ast.Constant(cost + table.arithmetic))]
            if unpack:
                new += [ast.comprehension(target, iterable, ticked, 0)] + unpack
                new[-1].ifs = ifs
            else:
                new.append(ast.comprehension(target, iterable, ticked + ifs, 0))
        made, cost = self.visit_apart(make)
        self.in_comprehension = outer
        new[-1].ifs = new[-1].ifs + [call_host("$tick", ast.Constant(cost + price))]
        return new, made

    def visit_ListComp(self, node):
        self.cost += table.list_base
        generators, elt = self.enter_comprehension(node.generators, lambda: self.visit(node.elt), table.list)
        return ast.ListComp(elt, generators)

    def visit_SetComp(self, node):
        self.cost += table.set_base
        generators, elt = self.enter_comprehension(node.generators, lambda: self.visit(node.elt), 5)
        return call_host("$set_of", ast.GeneratorExp(elt, generators))

    def visit_DictComp(self, node):
        self.cost += table.dict_base
        generators, (k, v) = self.enter_comprehension(
            node.generators, lambda: (self.visit(node.key), self.visit(node.value)), table.dict)
        return call_host("$dict_of", ast.GeneratorExp(ast.Tuple([k, v], LOAD), generators))

    def visit_GeneratorExp(self, node):
        nodes = self.nodes
        (generators, elt), names = self.visit_scope(
            None, self.enter_comprehension, node.generators, lambda: self.visit(node.elt), table.arithmetic)
        self.names.bound |= names.bound
        self.cost += table.call + len(names.used) // CELLS + max(self.nodes - nodes - SHORT_GENERATOR, 0) // 2
        return call_host("$lazy", ast.GeneratorExp(elt, generators))

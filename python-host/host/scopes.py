"""Which names code binds, scope by scope."""

import ast

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def list_parameters(a):
    return a.posonlyargs + a.args + a.kwonlyargs + [x for x in (a.vararg, a.kwarg) if x]


def argument_names(a):
    return {n.arg for n in list_parameters(a)}


def list_defaults(a):
    """The defaults of arguments, which are read where the function is made."""
    return a.defaults + [d for d in a.kw_defaults if d is not None]


def bound_in(nodes):
    """Names that nodes bind in their own scope; := within a comprehension too."""
    names, todo = set(), list(nodes)
    while todo:
        node = todo.pop()
        if isinstance(node, FUNCTIONS + (ast.ClassDef,)):
            names.add(node.name)
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, COMPREHENSIONS):
            todo += [n for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
            continue
        names |= own_names(node)
        todo += ast.iter_child_nodes(node)
    return names


def own_names(node):
    """Names that one node binds, without those below."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        return {node.id}
    if isinstance(node, ast.alias):
        return {(node.asname or node.name).split(".")[0]}
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        return {node.name}
    if isinstance(node, ast.MatchMapping) and node.rest:
        return {node.rest}
    return set()


def read_in(node):
    """The names that a node reads from its own scope or from those around: (name, node), in the order of the source."""
    found = []

    def read_scope(below, mine):
        found.extend(r for n in below for r in read_in(n) if r[0] not in mine)

    def walk_node(n):
        if isinstance(n, ast.Name):
            if not isinstance(n.ctx, ast.Store):
                found.append((n.id, n))
        elif isinstance(n, FUNCTIONS):
            walk_each(n.decorator_list + list_defaults(n.args))
            read_scope(n.body, argument_names(n.args) | bound_in(n.body))
        elif isinstance(n, ast.Lambda):
            walk_each(list_defaults(n.args))
            read_scope([n.body], argument_names(n.args) | bound_in([n.body]))
        elif isinstance(n, ast.ClassDef):
            walk_each(n.decorator_list + n.bases + [k.value for k in n.keywords])
            read_scope(n.body, bound_in(n.body))
        elif isinstance(n, COMPREHENSIONS):
            read_scope(ast.iter_child_nodes(n), {m for g in n.generators for m in bound_in([g.target])})
        elif isinstance(n, ast.AnnAssign):
            walk_each([x for x in (n.target, n.value) if x is not None])
        else:
            walk_each(ast.iter_child_nodes(n))

    def walk_each(nodes):
        for n in nodes:
            walk_node(n)
    walk_node(node)
    return found

"""Advice to an author about a file before it is deployed. It has all that a deploy would
refuse, and mistakes that only a run would show.

A tool's, not the chain's: nothing here decides what may be deployed.
"""

import ast

from cowboy_sdk import runner
from host import awaits, check, compiling, imports, program, schema
from host.forgotten import actor_class, note_forgotten
from host.protocol import MAX_ADVICE
from host.rewrite import Rewriter
from host.scopes import COMPREHENSIONS, argument_names, bound_in, list_defaults

PACKAGES = ("pvm_host", "cowboy_sdk", "cowboy_sdk.runtime", "cowboy_sdk.runner")
NO_JOBS = ("continuation", "cancel", "RunnerError", "RunnerTimeout")  # of cowboy_sdk.runner; its other names make jobs
CHAIN = ("pvm_host", "cowboy_sdk.runtime", "cowboy_sdk")  # packages that have the chain's calls, under the same names
PERHAPS = {"storage": ": perhaps self.storage"}  # of names that are not defined
HANDLER_OF = {"schedule_timer": "handle_timer"}  # what takes the name of a handler of this actor
HANDLES = frozenset((  # public attributes of an actor in tests, at the console and in Python clients
    "address again announced apply_upgrade as_then attributes balance bid by call chain delete_state deployed dry_run entries events "
    "handlers lines logs name origin read schema send set_state source state state_int timers upgrade upgrade_terms upgrades").split())


class TolerantRewriter(Rewriter):
    """The rewriter of a deploy, which continues after code that it refuses."""

    def __init__(self, bound, found):
        super().__init__(bound)
        self.found = found

    def rewrite_or_note(self, way, node, instead):
        kept = self.function, list(self.classes)
        try:
            return way(node)
        except check.Refusal as r:
            self.function, self.classes = kept
            self.found.append(("error", r.line, r.reason))
            return instead

    def rewrite_statement(self, node):
        return self.rewrite_or_note(super().rewrite_statement, node, [ast.copy_location(ast.Pass(), node)])

    def visit(self, node):
        return self.rewrite_or_note(super().visit, node, ast.copy_location(ast.Constant(None), node))


def advise(source):
    """Findings: (kind, line, words), in the order of their lines."""
    found = []
    try:
        tree = program.parse_source(source)
        check.check_nesting(tree)
        compiling.refuse_beyond(compiling.measure_units(tree), compiling.MAX_UNITS)
        lowered = program.parse_source(source)
        awaits.lower_continuations(lowered, lambda r: found.append(("error", r.line, r.reason)))
        note_warnings(tree, handlers_of(lowered, found), found)
        note_errors(lowered, found)
        if not any(kind == "error" for kind, _, _ in found):
            program.load_source(source, imports.is_exported)
    except check.Refusal as r:
        found.append(("error", r.line, r.reason))
    return sorted(set(found), key=lambda f: (f[1], f[0], f[2]))[:MAX_ADVICE]


def handlers_of(tree, found):
    """The handlers, None where a deploy refuses what is to be the actor."""
    try:
        def note_refusal(r):
            found.append(("error", r.line, r.reason))
        actor, handlers, sdk, functions = program.describe_module(tree, note_refusal)
        said = schema.make_schema(tree, actor, functions, handlers, sdk, tell=note_refusal)
        note_untyped_methods(said, functions, found)
        note_hidden_handlers(said.handlers, functions, found)
        return handlers
    except check.Refusal as r:
        found.append(("error", r.line, r.reason))
        return None


def note_untyped_methods(said, functions, found):
    """Methods without an argument that are raw, in a class with typed ones."""
    if all(h.raw for h in said.handlers.values()):
        return
    for name, h in said.handlers.items():
        f = functions[name]
        if h.raw and h.result is None and len(f.args.args) <= 1 and name not in program.CHAINS:
            found.append(("warning", f.lineno, "%s has no annotation, so that it takes and returns bytes: write def %s(self) -> None: "
                          "if that is not meant" % (name, name)))


def note_hidden_handlers(handlers, functions, found):
    """Handlers that an attribute of handles hides."""
    for name in handlers:
        if name in HANDLES and name not in program.CHAINS:
            found.append(("note", functions[name].lineno, "%s is an attribute of every actor in tests, at the console and in Python "
                          "clients: call the handler by actor.handlers.%s(…)" % (name, name)))


def note_errors(tree, found):
    """The refusals of a deploy for statements and expressions."""
    every = TolerantRewriter(check.bound_names(tree), found)
    every.exported = imports.is_exported
    try:
        every.rewrite_module(tree)
    except RecursionError:
        found.append(("error", 0, "the code is nested too deeply"))
    except (AttributeError, TypeError, ValueError):
        if not found:  # a replacement for refused code fits no further
            raise


def note_warnings(tree, handlers, found):
    packages, functions = read_imports(tree)
    Names(found).read_module(tree)
    note_forgotten(tree, found)
    note_uncallable_functions(tree, found)
    if handlers is not None and not handlers and not any("cannot be called" in words for _, _, words in found):
        found.append(("warning", 1, "the actor has no handler to be called: a handler takes one argument, payload, and its name "
                      "begins with no _"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            found.append(("warning", node.lineno, "global %s: each message begins with the module run anew, so this is "
                          "forgotten; keep it by set_state" % ", ".join(node.names)))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in packages:
            package = packages[node.value.id]
            if not imports.is_exported(package, node.attr):
                found.append(("warning", node.lineno, "%s has no %s%s" % (package, node.attr, suggest_name(node.attr, package))))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call):
            if name_chain_call(node.value.func, packages, functions) == "context" and not hasattr(dict, node.attr):
                found.append(("warning", node.lineno, "context() is a dict: write context()[%r]" % node.attr))
        elif isinstance(node, ast.Call) and handlers is not None:
            note_unknown_handler(node, packages, functions, handlers, found)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            note_unsubmitted_job(node.value.func, packages, found)


def note_unsubmitted_job(f, packages, found):
    """A job that is made, and then forgotten."""
    of = packages.get(f.value.id) if isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name) else None
    if of == "cowboy_sdk.runner" and f.attr in runner.__all__ and f.attr not in NO_JOBS:
        found.append(("warning", f.lineno, "the job is never submitted: await it in a continuation, or call its submit()"))


def read_imports(tree):
    """The meaning of the module's names: packages, and functions of them."""
    packages, functions, others = {}, {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for a in node.names:
                if a.name in PACKAGES and (a.asname or "." not in a.name):
                    packages[a.asname or a.name] = a.name
        elif isinstance(node, ast.ImportFrom) and node.module in PACKAGES:
            for a in node.names:
                if "%s.%s" % (node.module, a.name) in PACKAGES:
                    packages[a.asname or a.name] = "%s.%s" % (node.module, a.name)
                else:
                    functions[a.asname or a.name] = a.name
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            others.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            others.add(node.name)
        elif isinstance(node, ast.arg):
            others.add(node.arg)
    return ({k: v for k, v in packages.items() if k not in others},
            {k: v for k, v in functions.items() if k not in others})


def suggest_name(wanted, package):
    """A name that was perhaps meant."""
    letters = set(wanted)
    best, score = "", 2  # at most this many letters differ
    for name in type(imports.make_package(package)).__dict__:
        if not name.startswith("_") and len(letters ^ set(name)) <= score and name[:2] == wanted[:2]:
            best, score = name, len(letters ^ set(name)) - 1
    return ": perhaps %s" % best if best else ""


def note_unknown_handler(node, packages, functions, handlers, found):
    """The handler that a timer of this actor is to call."""
    called = name_chain_call(node.func, packages, functions)
    if called not in HANDLER_OF or any(k.arg is None for k in node.keywords):
        return
    given = [k.value for k in node.keywords if k.arg == "handler"]
    if given and not (isinstance(given[0], ast.Constant) and isinstance(given[0].value, str)):
        return
    handler = given[0].value if given else HANDLER_OF[called]
    if handler not in handlers:
        found.append(("warning", node.lineno, "a timer is to call %s%s, which is not a handler of this actor; it has %s" % (
            handler, "" if given else " (unless handler= names another)", ", ".join(sorted(handlers)[:20]) or "none")))


def name_chain_call(f, packages, functions):
    """The name of a call of the chain, under whatever name the file has it; otherwise None."""
    if isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name):
        return f.attr if packages.get(f.value.id) in CHAIN else None
    return functions.get(f.id) if isinstance(f, ast.Name) else None


def note_uncallable_functions(tree, found):
    """Functions that callers cannot reach, and that the file itself does not use."""
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} | {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    classes = {s.name: s for s in tree.body if isinstance(s, ast.ClassDef)}
    actor = actor_class(tree)
    methods = [s for c in schema.lineage_of(classes, classes.get(actor)) for s in c.body]
    for f in methods if actor else tree.body:
        if not isinstance(f, ast.FunctionDef) or f.name.startswith("_") or f.name in used or f.name in program.CHAINS:
            continue
        why = program.explain_uncallable(f, 1 if actor else 0)
        if why and not f.decorator_list:
            found.append(("warning", f.lineno, why))


class Names:
    """Names that nothing binds. Annotations are never evaluated, so not read."""

    def __init__(self, found):
        self.found = found
        self.told = set()

    def read_module(self, tree):
        known = {n for n in program.NAMES if not n.startswith("$")} | {"__name__", "super"} | check.DUNDER_NAMES
        self.read_all(tree.body, [known | bound_in(tree.body) | list_globals(tree)])

    def read_all(self, nodes, scopes):
        for node in nodes:
            self.read(node, scopes)

    def read(self, node, scopes):
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load) and not any(node.id in s for s in scopes):
                self.note_undefined(node)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.read_all(node.decorator_list + list_defaults(node.args), scopes)
            self.read_all(node.body, without_class(scopes) + [argument_names(node.args) | bound_in(node.body)])
        elif isinstance(node, ast.Lambda):
            self.read_all(list_defaults(node.args), scopes)
            self.read(node.body, without_class(scopes) + [argument_names(node.args) | bound_in([node.body])])
        elif isinstance(node, ast.ClassDef):
            self.read_all(node.decorator_list + node.bases + [k.value for k in node.keywords], scopes)
            self.read_all(node.body, without_class(scopes) + [ClassScope(bound_in(node.body))])
        elif isinstance(node, COMPREHENSIONS):
            self.read_all(ast.iter_child_nodes(node), scopes + [{n for g in node.generators for n in bound_in([g.target])}])
        elif isinstance(node, ast.AnnAssign):
            self.read_all([n for n in (node.target, node.value) if n is not None], scopes)
        else:
            self.read_all(ast.iter_child_nodes(node), scopes)

    def note_undefined(self, node):
        if node.id not in check.FORBIDDEN_NAMES and (node.id, node.lineno) not in self.told:
            self.told.add((node.id, node.lineno))
            self.found.append(("warning", node.lineno, "%s is not defined%s" % (node.id, PERHAPS.get(node.id, ""))))


class ClassScope(set):
    """Names of a class, which functions within do not see."""


def without_class(scopes):
    return [s for s in scopes if not isinstance(s, ClassScope)]


def list_globals(tree):
    return {n for node in ast.walk(tree) if isinstance(node, ast.Global) for n in node.names}

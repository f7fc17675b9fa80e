"""An actor's code: checked, rewritten, compiled once; run once a message.

Every message runs the whole module in a fresh namespace, so that a global is not hidden state,
and then one handler.
"""

import ast
import types

from host import (
    actor_code, awaits, bids, builtin_names, chain, check, compiling, constants, continuations, errors, jobs, meter,
    probe, representation, attributes, schema, storage, typed)
from host.protocol import BID_HANDLER, DISPATCHER, GOVERNANCE, MAX_MESSAGE, MIGRATE_HANDLER
from host.rewrite import Rewriter
from host.schema import decorator_names, is_marked, lineage_of

import cowboy_sdk

DEFAULT_INIT = ("init", "deploy")
AGAIN = frozenset(("setter", "getter", "deleter", "overload"))  # decorators of a method that has another's name
# What the chain itself calls unless another is named.
CHAINS = ("init", "handle_timer", "handle_message", BID_HANDLER, MIGRATE_HANDLER, jobs.HANDLER)
CALLED = ("call", "read")  # kinds of messages that an account or another actor begins, not the chain
FILE = "actor.py"
MAX_OUTPUT = 16 << 20  # bytes that a handler returns
MAX_FRAMES = 20  # lines of a traceback


class Code:
    """Compiled code and the facts about it that need no run."""

    __slots__ = ("program", "actor", "handlers", "sdk", "units", "resumes", "schema", "document", "typed")

    def __init__(self, program, actor, handlers, sdk, units, resumes, schema):
        self.schema = schema
        self.document = schema.kept  # the one form of it
        self.typed = {name: h for name, h in schema.handlers.items() if not h.raw}
        self.units = units  # of compiling: extent
        self.resumes = resumes  # what wakes a continuation → (its name, whether it is a method)
        self.program = program
        self.actor = actor  # the name of the actor's class, None for bare functions
        self.handlers = handlers  # name → (takes a payload, first line of its documentation)
        self.sdk = sdk  # decorators say who may call


def parse_source(source):
    try:
        text = source.decode("utf-8")
    except UnicodeDecodeError:
        raise check.Refusal(0, "the code is not UTF-8") from None
    try:
        tree = ast.parse(text, FILE)
        tree.source = text
        return tree
    except SyntaxError as e:
        raise check.Refusal(e.lineno or 0, "syntax: %s" % e.msg, check.SYNTAX) from None
    except (RecursionError, MemoryError):
        raise check.Refusal(0, "the code is nested too deeply", check.SYNTAX) from None
    except ValueError as e:
        raise check.Refusal(0, "syntax: %s" % e, check.SYNTAX) from None


def load_source(source, exported, limit=compiling.MAX_UNITS, tell=None):
    """Compile source, or raise a Refusal, which knows the measured units; tell gets the units of compiled code."""
    measured = compiling.weigh_text(source)
    try:
        tree = parse_source(source)
        check.check_nesting(tree)
        measured = compiling.measure_units(tree)
        compiling.refuse_beyond(measured, limit)
        if tell is not None:
            tell(measured)
        return compile_tree(tree, exported, measured)
    except check.Refusal as e:
        e.units = measured
        raise


def compile_tree(tree, exported, measured):
    waiting = awaits.lower_continuations(tree)
    actor, handlers, sdk, functions = describe_module(tree)
    said = schema.make_schema(tree, actor, functions, handlers, sdk, {name for name, _ in waiting})
    resumes = resumed_by(tree, actor, waiting)
    rewriter = Rewriter(check.bound_names(tree))
    rewriter.exported = exported
    if probe.asked:
        rewriter.points, rewriter.waiting = probe.Points(runs=True), frozenset(waiting)
    try:
        tree = rewriter.rewrite_module(tree)
        program = constants.bind_constants(compile(tree, FILE, "exec", dont_inherit=True, optimize=0), NAMES)
    except SyntaxError as e:
        raise check.Refusal(e.lineno or 0, "syntax: %s" % e.msg, check.SYNTAX) from None
    except (RecursionError, MemoryError):
        raise check.Refusal(0, "the code is nested too deeply", check.SYNTAX) from None
    return Code(program, actor, handlers, sdk, measured, resumes, said)


def list_points(source, exported):
    """Where the lines and branches of a source are, as a host that notes them has them."""
    tree = parse_source(source)
    check.check_nesting(tree)
    waiting = awaits.lower_continuations(tree)
    rewriter = Rewriter(check.bound_names(tree))
    rewriter.exported, rewriter.points, rewriter.waiting = exported, probe.Points(runs=False), frozenset(waiting)
    rewriter.rewrite_module(tree)
    return rewriter.points


def resumed_by(tree, actor, waiting):
    """The handlers that resume the continuations of a file, by the names that the dispatcher and the
    watchdog call."""
    classes = {s.name: s for s in tree.body if isinstance(s, ast.ClassDef)}
    mine = {c.name for c in lineage_of(classes, classes.get(actor))}
    found = {}
    for name, cls in waiting:
        if cls is not None and cls not in mine:
            check.refuse_node(classes[cls], "the continuation %s of %s, which is not the actor's class" % (name, cls))
        for end in (continuations.RESUME, continuations.TIMEOUT):
            found[name + end] = name, cls is not None
    return found


def compile_library(source):
    """Compile a library that is written in metered Python."""
    tree = ast.parse(source, "library")
    rewritten = Rewriter(check.bound_names(tree)).rewrite_module(tree)
    return constants.bind_constants(compile(rewritten, "library", "exec", dont_inherit=True), NAMES)


def may_handle(node):
    return isinstance(node, ast.FunctionDef) and (not node.name.startswith("_") or is_marked(node))


def describe_module(tree, tell=None):
    """Which class is the actor, and the handlers: functions of at most one argument. A function that callers or the chain are to
    call, and cannot, is refused: tell gets the refusal; without tell it is raised."""
    classes = {s.name: s for s in tree.body if isinstance(s, ast.ClassDef)}
    reader = schema.Reader(tree)
    marked = [c for c in classes.values() if "actor" in decorator_names(c)]
    functions = [s for s in tree.body if may_handle(s)]
    sdk = bool(marked)
    if len(marked) > 1:
        check.refuse_node(marked[1], "a second class under @actor: an actor is one class")
    if marked:
        chosen = marked[0]
    elif functions or not classes:
        return None, collect_handlers(functions, 0, tell), any(is_marked(f) for f in functions), {f.name: f for f in functions}
    else:
        chosen = plain_class(classes)
    if sdk:
        for c in lineage_of(classes, chosen):
            refuse_duplicates(c, tell)
    body = [s for c in reversed(lineage_of(classes, chosen)) for s in c.body if may_handle(s)]
    return chosen.name, collect_handlers(body, 1, tell, reader if sdk else None), sdk, {f.name: f for f in body}


def refuse_duplicates(cls, tell):
    """Refuses two methods of one name, of which Python keeps the last, and a name that @actor takes."""
    seen = {}
    for f in cls.body:
        if not isinstance(f, ast.FunctionDef) or set(decorator_names(f)) & AGAIN:
            continue
        refusal = None
        if f.name in seen:
            refusal = check.Refusal(f.lineno, "a second method %s: that of line %d would never run" % (f.name, seen[f.name]))
        elif f.name in schema.GIVEN:
            refusal = check.Refusal(f.lineno, "%s cannot be called: @actor gives the class an attribute of that name" % f.name)
        if refusal is not None:
            if tell is None:
                raise refusal
            tell(refusal)
        seen[f.name] = f.lineno


def plain_class(classes):
    """CIP-5 Appendix B's style: the one class, or the one named …Actor."""
    if len(classes) == 1:
        return next(iter(classes.values()))
    named = [c for c in classes.values() if c.name.endswith("Actor")]
    if len(named) != 1:
        last = list(classes.values())[-1]
        check.refuse_node(last, "which class is the actor: decorate one with @actor of cowboy_sdk, or name one …Actor")
    return named[0]


def collect_handlers(functions, skip, tell=None, reader=None):
    """The handlers among functions, of which the last of a name counts; skip is 1 of methods. With a reader annotations count."""
    handlers, others = {}, {}
    for f in functions:
        handlers.pop(f.name, None)
        others.pop(f.name, None)
        if set(decorator_names(f)) & {"property", "staticmethod", "classmethod"} and not is_marked(f):
            continue
        why = explain_uncallable(f, skip, reader is not None and schema.is_typed(f, True) and (
            is_marked(f) or schema.has_known_types(reader, f)))
        if why:
            others[f.name] = f, why
            continue
        takes = len(f.args.posonlyargs) + len(f.args.args) - skip > 0 or f.args.vararg is not None
        doc = schema.join_lines(f)[:1]
        handlers[f.name] = (takes, "".join(doc))
    for f, why in others.values():
        if is_marked(f) or f.name in CHAINS:
            refusal = check.Refusal(f.lineno, why)
            if tell is None:
                raise refusal
            tell(refusal)
    return handlers


def explain_uncallable(f, skip, typed=False):
    """Why a function cannot be a handler, or nothing. It depends only on the syntax tree."""
    others = sorted(set(decorator_names(f)) & {"property", "staticmethod", "classmethod"})
    if others:
        return "%s cannot be called: a handler is a %s without @%s" % (f.name, "method" if skip else "function", others[0])
    if f.name.startswith("_"):
        return "%s cannot be called: the name of a handler begins with no _" % f.name
    a = f.args
    given = [arg.arg for arg in a.posonlyargs + a.args]
    needed = len(given) - len(a.defaults)
    if len(given) < skip and a.vararg is None:
        return "%s cannot be called: a method takes self first, as in def %s(self, payload)" % (f.name, f.name)
    if typed:
        return ""
    if needed - skip > 1:
        return ("%s cannot be called: a handler takes one argument, payload, and %s takes %d (%s); annotate them all under @actor, or read "
                "them from payload, as by json.loads(payload)" % (f.name, f.name, needed - skip, ", ".join(given[skip:needed])))
    bare = [k.arg for k, d in zip(a.kwonlyargs, a.kw_defaults) if d is None]
    if bare:
        return "%s cannot be called: a handler takes one argument, payload; give %s a default" % (f.name, bare[0])
    return ""


class Fault(Exception):
    """An end that is not an exception of the actor's."""

    def __init__(self, status, code, message):
        self.status, self.code, self.message = status, code, message


NAMES = None


def make_space():
    global NAMES
    if NAMES is None:
        NAMES = builtin_names.make_namespace()
    return {"__builtins__": NAMES, "__name__": "actor"}


def run_code(code, kind, handler, payload):
    """Run one message; returns its output or raises."""
    now = chain.now
    space = now.space = make_space()
    now.schema = code.schema
    now.declared = code.schema.state
    try:
        found = run_handler(code, space, kind, handler, payload)
        if now.slots:
            try:
                storage.flush_changes()
            except typed.Wrong as w:
                raise Fault("reverted", "bad_state", clip_message(w.words())) from None
        return found
    finally:
        space.clear()


probe.stop = run_code.__code__


def run_handler(code, space, kind, handler, payload):
    """The output of a handler, before its state is written."""
    if kind == "init":
        handler = next((h for h in DEFAULT_INIT if h in code.handlers), None)
    said = code.typed.get(handler)
    awaited, given = False, None
    if said is not None:
        awaited = said.result is not None  # it is given the result of a job
        given = None if awaited else read_arguments(said, payload)
    exec(code.program, space)
    meter.show_used()
    if probe.asked:
        probe.enter_host()
    if handler is None:
        return b""
    if handler in code.resumes:
        return check_output(resume_continuation(code, space, kind, handler, payload))
    takes = code.handlers.get(handler)
    if takes is None:
        raise Fault("no_handler", "no_handler", "the actor has no handler %s; it has %s"
                    % (handler[:100], ", ".join(sorted(code.handlers)[:50]) or "none"))
    target = find_handler(code, space, handler)
    bid = handler == BID_HANDLER and kind in CALLED
    if handler == jobs.HANDLER:
        payload = read_outcome(kind, payload)
    elif awaited:
        from_dispatcher(kind, handler)
    elif kind in CALLED and not (bid and chain.now.about.sender == GOVERNANCE):
        check_caller(target, handler, code, space)
    meter.charge(10)
    if said is not None:
        return run_typed(said, target, given_result(said, kind, handler, payload) if awaited else given)
    if not takes[0]:
        found = target()
    else:
        found = target(bids.make_context(payload) if bid else payload)
    return check_output(bids.encode_answer(found) if bid else found)


def read_arguments(said, payload):
    """The arguments of a typed handler, which are refused before the actor's code runs."""
    try:
        return said.read(payload)
    except typed.Wrong as w:
        raise Fault("reverted", "bad_argument", clip_message(w.words())) from None


def given_result(said, kind, handler, payload):
    """The arguments of a method that is given the result of a job."""
    given = jobs.result_for(said, payload)
    if given is None:
        raise Fault("reverted", "not_callable", "%s accepts only results of this actor's own open jobs" % handler)
    return given


def run_typed(said, target, given):
    """The output of a typed handler."""
    if said.result is None:
        try:
            given = said.build_arguments(given)
        except typed.Wrong as w:
            raise Fault("reverted", "bad_argument", clip_message(w.words())) from None
    found = target(**given)
    if said.waits:
        return check_output(found)
    try:
        return said.write_output(found)
    except typed.Wrong as w:
        raise Fault("reverted", "bad_result", clip_message(w.words())) from None


def find_handler(code, space, handler):
    if code.actor is None:
        target = space.get(handler)
    else:
        cls = space.get(code.actor)
        if not actor_code.is_class(cls):
            raise Fault("reverted", "no_actor_class", "%s is no longer a class" % code.actor)
        try:
            target = attributes.get_attribute(cls(), handler)
        except AttributeError:
            target = None
    if not callable(target):
        raise Fault("no_handler", "no_handler", "the handler %s is no longer a function" % handler)
    return target


def read_outcome(kind, payload):
    """The outcome that on_runner_result is given."""
    from_dispatcher(kind, jobs.HANDLER)
    result = jobs.take_result(payload)
    if result is None:
        raise Fault("reverted", "not_callable", "%s takes the outcomes of this actor's own jobs: this one is not awaited" % jobs.HANDLER)
    return result


def from_dispatcher(kind, handler):
    if kind != "call" or chain.now.about.sender != DISPATCHER:
        raise Fault("reverted", "not_callable", "only the dispatcher calls %s, when a job ended" % handler)


def resume_continuation(code, space, kind, handler, payload):
    """Resume a continuation after its await."""
    name, method = code.resumes[handler]
    if handler.endswith(continuations.RESUME):
        from_dispatcher(kind, handler)
        run = continuations.find_resumed(name, payload)
    elif kind == "timer":
        run = continuations.timed_out(name, payload)
    else:
        raise Fault("reverted", "not_callable", "only the watchdog calls %s" % handler)
    if run is None:
        return None
    f = chain.now.continuations.get(name, (None,))[0]
    if f is None:
        raise Fault("no_handler", "no_handler", "%s is no longer a continuation" % name)
    me = [space[code.actor]()] if method and actor_code.is_class(space.get(code.actor)) else []
    chain.now.resumed = run
    meter.charge(10)
    try:
        found = f(*me, *[None] * (f.__code__.co_argcount - len(me)))
    except errors.RunnerError as e:
        if not continuations.is_untouched(run, e):
            raise
        continuations.end_failed(run, *explain_error(e)[1:])
        return None
    continuations.end_run(run)
    return found


def is_actor(cls):
    """Whether a class has the decorator @actor."""
    return actor_code.is_class(cls) and any("_host_actor" in b.__dict__ for b in cls.__mro__)


def check_caller(target, handler, code, space):
    """Refuses callers that the SDK's decorators do not let in."""
    f = target.__func__ if type(target) is types.MethodType else target
    access = f.__dict__.get("_host_access", UNMARKED) if actor_code.is_function(f) else UNMARKED
    if access is not UNMARKED and f.__code__.co_name != handler:
        raise Fault("reverted", "not_callable", "%s is the function %s: a handler has its own name" % (handler, f.__code__.co_name))
    if access is UNMARKED:
        if not (code.sdk or code.actor is not None and is_actor(space.get(code.actor))):
            return
        raise Fault("reverted", "not_callable", "%s has neither @public nor @callable_by: only the chain calls it" % handler)
    if access is not None and not cowboy_sdk.may_call(access):
        caller = chain.now.about.sender.hex()
        raise Fault("reverted", "not_callable", "%s refuses 0x%s: its @callable_by does not name that caller" % (handler, caller))


UNMARKED = object()


def check_output(value):
    if value is None:
        return b""
    if type(value) is bytes or type(value) is bytearray:
        if len(value) > MAX_OUTPUT:
            raise ValueError("a handler returned more than %d bytes" % MAX_OUTPUT)
        return bytes(value)
    if isinstance(value, str):
        raise TypeError("a handler returns bytes or None: encode the text, as in text.encode()")
    if type(value) is int:
        raise TypeError("a handler returns bytes or None: encode the number, as in str(n).encode()")
    raise TypeError("a handler returns bytes or None, not %s" % type(value).__name__)


def to_snake_case(name):
    out = []
    for i, c in enumerate(name):
        if c.isupper() and i and (not name[i - 1].isupper() or i + 1 < len(name) and name[i + 1].islower()):
            out.append("_")
        out.append(c.lower())
    return "".join(out)[:64]


def explain_error(error):
    """(code, message, words): the message, for people, has the author's lines, innermost last, and may have words
    of CPython's. The words are those that a calling actor is told, the same on every node. None of the
    author's code runs here, since nothing would charge or catch it."""
    kind = type(error)
    code = errors.code_of(error) or to_snake_case(kind.__name__)
    frames = list_places(error)
    if len(frames) > MAX_FRAMES:
        frames = frames[:MAX_FRAMES // 2] + ["…"] + frames[-MAX_FRAMES // 2:]
    said, shown = representation.explain_error(error), representation.tell_error(error)
    words = kind.__name__ + (": " + said if said else "")
    message = ": ".join(["; ".join(frames)] * bool(frames) + [kind.__name__]) + (": " + shown if shown else "")
    return replace_surrogates(code), clip_message(message), clip_message(words)


INLINED = ("<listcomp>", "<setcomp>", "<dictcomp>")  # have separate frames before Python 3.12


def list_places(error):
    """The author's lines on the way to an error, innermost last; alike in all
    versions of Python."""
    found, tb = [], BaseException.__traceback__.__get__(error)
    while tb is not None:
        code = tb.tb_frame.f_code
        if code.co_filename == FILE:
            if code.co_name in INLINED and found:
                found[-1] = (tb.tb_lineno, found[-1][1])
            else:
                found.append((tb.tb_lineno, code.co_name))
        tb = tb.tb_next
    return ["line %d, in %s" % place for place in found]


def innermost_place(error):
    """The innermost of the author's lines on the way to an error, or nothing."""
    return "".join(list_places(error)[-1:]).encode("utf-8", "replace")


def replace_surrogates(text):
    """text as UTF-8 can say it."""
    return text.encode("utf-8", "replace").decode()


def clip_message(message):
    raw = message.encode("utf-8", "replace")
    if len(raw) > MAX_MESSAGE:
        raw = raw[:MAX_MESSAGE - 3].decode("utf-8", "ignore").encode() + "…".encode()
    return raw.decode("utf-8", "replace")

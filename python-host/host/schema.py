"""The schema of an actor's file: what its annotations say, read from the syntax tree. No code of the file runs.

Handlers of a class under @actor are typed where anything of them is annotated, unless their one argument is
called payload. All other handlers are raw: they take and return bytes. A schema is JSON of one form (authors
read it in docs/ACTORS.md), and the chain stores it with the code.
"""

import ast
import re
from json.encoder import encode_basestring

from host import check, jobs, meter, records, storage, typed
from host.protocol import BID_HANDLER, MAX_SCHEMA, MIGRATE_HANDLER
from host.typed import ATOMS, Field, Handler, Wrong

VERSION = 1
MAX_ARGUMENTS, MAX_FIELDS, MAX_TYPES, MAX_MEMBERS, MAX_HANDLERS, MAX_STATE = 32, 64, 64, 256, 256, 256
MAX_NAME, MAX_DOC = 64, 1024  # bytes
MAX_LINEAGE = 64  # classes of the file that one is built on, itself included
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
OURS = frozenset("u8 u16 u32 u64 Amount Address Hash List Map Bounds Result emit interface".split())  # of cowboy_sdk
HINTS = frozenset("Optional List Dict Tuple Annotated".split())  # of typing
BUILT_IN = frozenset("int bool str bytes list dict tuple".split())
RAW = frozenset((jobs.HANDLER, BID_HANDLER))  # names that the chain gives its objects
ENUMS = frozenset(("Enum", "IntEnum", "StrEnum"))
NO_TYPE = "no type of an argument, a result or state"
MARKS = ("public", "callable_by")
OF_METHODS = frozenset(("property", "staticmethod", "classmethod"))
OF_HANDLERS = OF_METHODS | frozenset(MARKS + ("continuation", "setter", "getter", "deleter"))  # decorators of a handler
OF_SDK = frozenset(MARKS + ("actor", "interface", "OWNER", "SELF"))
INSTEAD = {"float": "no node has the same floats: use int, or text", "Any": "a caller has to know what it is: name the type",
           "set": "a set has no order: use list", "object": "a caller has to know what it is: name the type"}


class Attribute:
    """An attribute of the actor's class that is state. kind is value, list or map."""

    __slots__ = ("name", "kind", "type", "key", "default", "line")

    def __init__(self, name, kind, type, line, key=None, default=records.UNSET):
        self.name, self.kind, self.type, self.line, self.key, self.default = name, kind, type, line, key, default

    def described(self):
        found = {"name": self.name}
        if self.kind == "list":
            return {**found, "list": self.type.form}
        if self.kind == "map":
            found["key"] = self.key.form
        found["type"] = self.type.form
        if self.default is not records.UNSET:
            found["default"] = typed.json.loads(self.default)
        return found


class Schema:
    """A file's declarations about its actor. handlers and state are by their names."""

    __slots__ = ("actor", "doc", "types", "handlers", "events", "state", "attributes", "interfaces", "kept", "typed")

    def __init__(self, actor, doc):
        self.actor, self.doc = actor, doc
        self.types, self.handlers, self.events, self.state = {}, {}, [], {}
        self.kept = b""  # its document
        self.typed = False  # whether anything of it is typed: an argument, state, an event, a dataclass
        self.interfaces = {}  # class under @interface → its methods, by name
        self.attributes = {}  # the class's object for each of state

    def described(self):
        found = {"schema": VERSION, "handlers": [h.described() for h in self.handlers.values()]}
        if self.actor:
            found["actor"] = self.actor
        if self.doc:
            found["doc"] = self.doc
        if self.types:
            found["types"] = {n: self.types[n].described() for n in sorted(self.types)}
        if self.events:
            found["events"] = self.events
        if self.state:
            found["state"] = [a.described() for a in self.state.values()]
        return found

    def write_defaults(self):
        """The defaults of its document, as JSON."""
        records_of = [t.fields for t in self.types.values() if isinstance(t, typed.Record)]
        for fields in [h.arguments for h in self.handlers.values()] + records_of + [self.state.values()]:
            for field in fields:
                if field.default is not records.UNSET:
                    yield field.default

    def write_document(self):
        """Its one form."""
        return write_json(self.described()).encode()


def write_json(v):
    """JSON with sorted names and no spaces."""
    t = type(v)
    if t is str:
        return encode_basestring(v)
    if t is list:
        return "[%s]" % ",".join(map(write_json, v))
    if t is dict:
        return "{%s}" % ",".join(["%s:%s" % (encode_basestring(k), write_json(v[k])) for k in sorted(v, key=str.encode)])
    return "null" if v is None else str(v) if t is int else "true" if v else "false"


def first_paragraph(node):
    """A documentation's first paragraph."""
    return " ".join(join_lines(node)).encode("utf-8", "replace")[:MAX_DOC].decode("utf-8", "ignore")


def join_lines(node):
    """The lines of a documentation's first paragraph, each without its indentation and double spaces."""
    first = node.body[0] if node.body else None
    text = first.value.value if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) else None
    lines = []
    for line in text.split("\n") if type(text) is str else ():
        line = " ".join(line.split())
        if not line and lines:
            break
        lines += [line] * bool(line)
    return lines


def decorator_names(node):
    """What the decorators of a class or function are: as resolve found, otherwise as they are written."""
    words = getattr(node, "words", None)
    if words is not None:
        return words
    written = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    return [d.attr if isinstance(d, ast.Attribute) else getattr(d, "id", "") for d in written]


def resolve_decorators(tree):
    """Notes what the decorators of a file's classes and functions are, through its imports. A name of ours that the file has from
    elsewhere, or binds again, is "": it is not ours."""
    if hasattr(tree, "is_resolved"):
        return
    tree.is_resolved = True
    ours, packages, bound = {}, set(), set()
    loaded = list(nodes_outside_functions(tree.body))
    for s in loaded:
        if isinstance(s, ast.ImportFrom) and s.module == "cowboy_sdk" and not s.level:
            ours.update({a.asname or a.name: a.name for a in s.names})
        elif isinstance(s, ast.Import):
            packages |= {a.asname or a.name for a in s.names if a.name == "cowboy_sdk"}
            bound |= {a.asname or a.name for a in s.names if a.name != "cowboy_sdk"}
        elif isinstance(s, ast.ImportFrom):
            bound |= {a.asname or a.name for a in s.names}
        elif isinstance(s, (ast.FunctionDef, ast.ClassDef)):
            bound.add(s.name)
        elif isinstance(s, ast.Name) and isinstance(s.ctx, ast.Store):
            bound.add(s.id)
    meant = {"ours": {n: w for n, w in ours.items() if n not in bound}, "packages": packages - bound, "bound": bound}
    for s in loaded:
        if isinstance(s, (ast.FunctionDef, ast.ClassDef)):
            s.meant = meant
            s.words = [meaning_of_decorator(d.func if isinstance(d, ast.Call) else d, meant) for d in s.decorator_list]


def nodes_outside_functions(statements):
    """The nodes of statements that run when a file is loaded: all but the bodies of functions. Each is met once, whatever
    the depth."""
    waiting = statements[::-1]
    while waiting:
        s = waiting.pop()
        yield s
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef)):
            waiting += s.decorator_list[::-1]
        elif not isinstance(s, ast.Lambda):
            waiting += list(ast.iter_child_nodes(s))[::-1]


def meaning_of_decorator(node, meant):
    word = sdk_word(node, meant)
    if word:
        return word
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return "" if name in OF_SDK or name in OF_METHODS and (isinstance(node, ast.Attribute) or name in meant["bound"]) else name


def sdk_word(node, meant):
    """The word of cowboy_sdk that a name of the file is, or nothing."""
    if isinstance(node, ast.Name):
        return meant["ours"].get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in meant["packages"]:
        return node.attr
    return None


def check_name(node, name, what):
    """name, if callers may know it."""
    if len(name) > MAX_NAME or NAME.fullmatch(name) is None:
        check.refuse_node(node, "%s is called %s: callers know names of at most %d ASCII letters, digits and _, with a letter first" % (
            what, name, MAX_NAME))
    return name


def next_depth(node):
    check.refuse_node(node, "types nest deeper than %d" % typed.MAX_DEPTH)


def is_class_var(annotation):
    """Whether an attribute belongs to the class: ClassVar is a word of its annotation."""
    if isinstance(annotation, ast.Name):
        return "ClassVar" in annotation.id
    for node in ast.walk(annotation):
        word = getattr(node, "id", None) or getattr(node, "attr", None) or getattr(node, "value", None)
        if type(word) is str and "ClassVar" in word:
            return True
    return False


def check_count(node, n, most, what):
    if n > most:
        check.refuse_node(node, "%s: at most %d are allowed" % (what, most))


class Reader:
    """Reads the annotations of one file."""

    def __init__(self, tree):
        self.source = getattr(tree, "source", "")
        self.classes = {s.name: s for s in tree.body if isinstance(s, ast.ClassDef)}
        self.names, self.packages = read_imports(tree)
        resolve_decorators(tree)
        self.types = {}  # those that the schema has, by name
        self.known = {}  # all that were read, or their refusals: each class is read once, whoever names it
        self.own = {}  # a class's own fields, by its name
        self.reading = []  # the records around

    def source_of(self, node):
        """A node as its author wrote it: the bytes of the source, never a text that Python makes of the tree."""
        return " ".join((ast.get_source_segment(self.source, node) or "this").split())

    def meaning_of(self, node):
        """The meaning of a name in an annotation: a word of ours, or a class of the file."""
        if isinstance(node, ast.Name):
            if node.id in self.classes:
                return node.id
            found = self.names.get(node.id)
            return found if found is not None else node.id if node.id in BUILT_IN or node.id in INSTEAD else None
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in self.packages:
            return node.attr if node.attr in OURS | HINTS | frozenset(("Any",)) else None
        return None

    def type(self, node, depth=0):
        """The type that an annotation names."""
        if depth == typed.MAX_DEPTH:
            next_depth(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self.read_union(node, depth)
        if isinstance(node, ast.Subscript):
            return self.read_composed(node, depth)
        word = self.meaning_of(node)
        if word in self.classes:
            return self.of_file(node, word, depth)
        if word in ATOMS:
            return ATOMS[word]
        if word in INSTEAD:
            check.refuse_node(node, "%s is %s: %s" % (word, NO_TYPE, INSTEAD[word]))
        if isinstance(node, ast.Constant) and type(node.value) is str:
            check.refuse_node(node, "an annotation in quotes: annotations never run, so write %s without them" % node.value[:40])
        if word in ("list", "List", "dict", "Dict", "Map", "tuple", "Tuple", "Optional"):
            check.refuse_node(node, "%s of what: write %s[…]" % (word, word))
        check.refuse_node(node, "%s is %s: those are %s, list[…], dict[…], tuple[…], dataclasses and enums of this file" % (
            self.source_of(node)[:60], NO_TYPE, ", ".join(ATOMS)))

    def read_union(self, node, depth):
        sides = [node.left, node.right]
        nothing = [isinstance(s, ast.Constant) and s.value is None for s in sides]
        if sum(nothing) != 1:
            check.refuse_node(node, "a union of several types: only T | None has a form")
        return self.make_optional(node, sides[nothing.index(False)], depth)

    def make_optional(self, node, inner, depth):
        of = self.type(inner, depth + 1)
        if isinstance(of, typed.Optional):
            check.refuse_node(node, "optional twice")
        return typed.Optional(of)

    def read_composed(self, node, depth):
        word = self.meaning_of(node.value)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if word == "Optional" and len(inner) == 1:
            return self.make_optional(node, inner[0], depth)
        if word in ("list", "List") and len(inner) == 1:
            return typed.List(self.type(inner[0], depth + 1))
        if word in ("tuple", "Tuple") and inner and not any(isinstance(i, ast.Constant) for i in inner):
            check_count(node, len(inner), MAX_ARGUMENTS, "a tuple of %d" % len(inner))
            return typed.Tuple([self.type(i, depth + 1) for i in inner])
        if word in ("dict", "Dict", "Map") and len(inner) == 2:
            key = self.type(inner[0], depth + 1)
            if key.form not in typed.KEYS:
                check.refuse_node(inner[0], "a key is one of %s, not %s" % (", ".join(sorted(typed.KEYS)), key.words))
            return typed.Dict(key, self.type(inner[1], depth + 1))
        if word == "Annotated" and len(inner) == 2:
            return self.read_bounded(node, *inner)
        check.refuse_node(node, "%s is %s" % (self.source_of(node)[:60], NO_TYPE))

    def read_bounded(self, node, of, bounds):
        """Annotated[int, Bounds(a, b)], and of str."""
        word = self.meaning_of(of)
        if not (word in ("int", "str") and isinstance(bounds, ast.Call) and self.meaning_of(bounds.func) == "Bounds"
                and len(bounds.args) == 2 and not bounds.keywords):
            check.refuse_node(node, "Annotated is of int or str with Bounds, as in Annotated[int, Bounds(0, 100)]")
        low, high = [read_literal(b) for b in bounds.args]
        if type(low) is not int or type(high) is not int or low > high:
            check.refuse_node(node, "Bounds are two integers written out, the lower first")
        if word == "str":
            if low < 0 or not 1 <= high <= typed.MAX_BYTES:
                check.refuse_node(node, "Bounds of a text are its characters, 0 to %d" % typed.MAX_BYTES)
            return typed.Text(low, high)
        whole = ATOMS["int"]
        if low < whole.low or high > whole.high:
            check.refuse_node(node, "Bounds of int are within -2^255 and 2^255-1")
        return typed.Integer(None, low, high)

    def of_file(self, node, name, depth):
        """A dataclass or an enum of the file, which the schema has from here on."""
        if name in self.reading:
            check.refuse_node(node, "%s has itself within it: %s" % (name, " → ".join(self.reading + [name])))
        found = self.read_once(self.known, name, lambda: self.class_of(node, name))
        if depth + found.height > typed.MAX_DEPTH:
            next_depth(node)
        if name not in self.types:
            self.adopt_types(self.classes[name], found.within)
        return found

    def read_once(self, kept, name, read):
        """What read returns for a name, or its refusal: it reads once, however often the name is used."""
        if name not in kept:
            try:
                kept[name] = read()
            except check.Refusal as e:
                kept[name] = e
        found = kept[name]
        if isinstance(found, check.Refusal):
            raise check.Refusal(found.line, found.reason)
        return found

    def adopt_types(self, node, types):
        """The schema has these types too."""
        new = types.keys() - self.types.keys()
        check_count(node, len(self.types) + len(new), MAX_TYPES, "more than %d types in a schema" % MAX_TYPES)
        self.types.update(types)

    def class_of(self, node, name):
        """The type that a class of the file is, whatever is around the name."""
        cls = self.classes[name]
        check_name(cls, name, "a type")
        bases = {b.attr if isinstance(b, ast.Attribute) else getattr(b, "id", "") for b in cls.bases}
        if bases & ENUMS:
            return self.read_enumeration(cls)
        if "dataclass" not in decorator_names(cls):
            check.refuse_node(node, "%s is neither a dataclass nor an Enum: decorate it with @dataclass" % name)
        return self.read_record(cls)

    def read_record(self, cls):
        made = typed.Record(cls.name, first_paragraph(cls))
        if any(isinstance(d, ast.Call) and any(k.arg == "init" for k in d.keywords) for d in cls.decorator_list):
            check.refuse_node(cls, "%s has no __init__ of its fields: leave init= out" % cls.name)
        fields, within = {}, {cls.name: made}
        self.reading.append(cls.name)
        try:
            for c in reversed(lineage_of(self.classes, cls)):
                own, types = self.read_once(self.own, c.name, lambda: self.fields_of(c))
                fields.update(own)
                within.update(types)
                check_count(cls, len(fields), MAX_FIELDS, "more than %d fields" % MAX_FIELDS)
        finally:
            self.reading.pop()
        made.set_fields(fields.values(), within)
        return made

    def fields_of(self, cls):
        """The fields that a class itself declares, by their names, and the types within them."""
        found = {}
        around, self.types = self.types, {}
        try:
            for s in cls.body:
                if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name) and not is_class_var(s.annotation):
                    check_count(cls, len(found) + 1, MAX_FIELDS, "more than %d fields" % MAX_FIELDS)
                    name = check_name(s, s.target.id, "a field of " + cls.name)
                    t = self.type(s.annotation, 1)
                    found[name] = Field(name, t, self.default(s, t, s.value))
            return found, self.types
        finally:
            self.types = around

    def read_enumeration(self, cls):
        members, seen = {}, set()
        for s in cls.body:
            if not (isinstance(s, ast.Assign) and len(s.targets) == 1 and isinstance(s.targets[0], ast.Name)):
                continue
            if s.targets[0].id.startswith("_"):
                continue
            check_count(cls, len(members) + 1, MAX_MEMBERS, "more than %d members" % MAX_MEMBERS)
            value = read_literal(s.value)
            if type(value) is not str and (type(value) is not int or abs(value) > typed.SAFE):
                check.refuse_node(s, "a member of %s is a text, or an integer within 2^53, written out" % cls.name)
            if value in seen or seen and type(value) is not type(next(iter(seen))):
                check.refuse_node(s, "the members of %s are all texts or all integers, each once" % cls.name)
            if type(value) is str:
                check_encodable(s, value)
            seen.add(value)
            members[check_name(s, s.targets[0].id, "a member of " + cls.name)] = value
        if not members:
            check.refuse_node(cls, "%s has no members" % cls.name)
        return typed.Enumeration(cls.name, first_paragraph(cls), members)

    def default(self, node, t, value):
        """A default in its wire form."""
        if value is None:
            return records.UNSET
        if isinstance(value, ast.Call) and getattr(value.func, "id", getattr(value.func, "attr", "")) == "field":
            given = {k.arg: k.value for k in value.keywords}
            if "init" in given or "kw_only" in given:
                check.refuse_node(node, "a field that callers fill has neither init= nor kw_only=")
            if "default" in given:
                return self.default(node, t, given["default"])
            made = getattr(given.get("default_factory"), "id", None)
            if made in ("list", "dict") and type(t) is {"list": typed.List, "dict": typed.Dict}[made]:
                return "[]" if made == "list" else "{}"
            if "default_factory" in given:
                check.refuse_node(node, "a default that callers can know is list, dict or written out")
            return records.UNSET
        if isinstance(t, typed.Enumeration) or isinstance(t, typed.Optional) and isinstance(t.of, typed.Enumeration):
            of = t if isinstance(t, typed.Enumeration) else t.of
            if isinstance(value, ast.Attribute) and getattr(value.value, "id", "") == of.name and value.attr in of.members:
                found = of.members[value.attr]
                return encode_basestring(found) if of.texts else str(found)
        found = read_literal(value)
        if isinstance(found, Unwritten):
            check.refuse_node(node, "a default is written out, so that callers know it: %s is not" % self.source_of(value)[:40])
        try:
            return meter.call_unpaid(t.text, found)
        except Wrong as w:
            check.refuse_node(node, "the default %s" % w.words())


def check_encodable(node, text):
    try:
        text.encode()
    except UnicodeEncodeError:
        check.refuse_node(node, "a text with half of a surrogate pair")


class Unwritten:
    """An expression that is not a literal, where one is required."""


def read_literal(node):
    """The value that is written out, of the types of ours; otherwise Unwritten."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        v = node.operand.value
        return -v if type(v) is int else Unwritten()
    if isinstance(node, ast.List):
        return read_literals(node.elts)
    if isinstance(node, ast.Tuple):
        return tuple(read_literals(node.elts))
    if isinstance(node, ast.Dict) and set(map(type, node.keys)) <= {ast.Constant}:
        return dict(zip([k.value for k in node.keys], read_literals(node.values)))
    return Unwritten()


def read_literals(nodes):
    return [e.value if type(e) is ast.Constant else read_literal(e) for e in nodes]


def read_imports(tree):
    """Names of ours and of typing, by the file's names for them, and the file's names for their
    modules."""
    names, packages = {}, set()
    for s in tree.body:
        if isinstance(s, ast.ImportFrom) and s.module in ("cowboy_sdk", "typing"):
            known = OURS if s.module == "cowboy_sdk" else HINTS | frozenset(("Any",))
            names.update({a.asname or a.name: a.name for a in s.names if a.name in known})
        elif isinstance(s, ast.Import):
            packages |= {a.asname or a.name for a in s.names if a.name in ("cowboy_sdk", "typing")}
    return names, packages


def lineage_of(classes, current):
    """A class of the file and those that it is built on."""
    found = {}
    while current is not None and current not in found:
        check_count(current, len(found) + 1, MAX_LINEAGE, "a class on more than %d classes" % (MAX_LINEAGE - 1))
        found[current] = True
        base = next((b.id for b in current.bases if isinstance(b, ast.Name) and b.id in classes), None)
        current = classes.get(base)
    return list(found)


def is_annotated(f):
    """Whether anything of a method is annotated: then callers know its types, unless it takes a payload."""
    a = f.args
    given = (a.posonlyargs + a.args)[1:] + a.kwonlyargs
    if len(given) == 1 and given[0].arg == "payload":
        return False
    given += [g for g in (a.vararg, a.kwarg) if g is not None]
    return any(g.annotation is not None for g in given) or f.returns is not None


INTERFACE = frozenset(("send", "limit", "address"))  # names of every class under @interface
GIVEN = frozenset(("address", "storage"))  # what @actor gives
BEGINS = frozenset(("__init__", "__post_init__"))  # run for each message


def is_marked(f):
    return any(n in MARKS for n in decorator_names(f))


def is_typed(f, sdk):
    """Whether a method of the actor's class is typed. A method that no caller needs stays as it is if its types
    are foreign."""
    return sdk and f.name not in RAW and is_annotated(f) and not OF_METHODS.intersection(decorator_names(f))


def given_result(reader, f):
    """For a method whose first argument is a Result[T]: T, and the method without that
    argument."""
    a = f.args
    first = (a.posonlyargs + a.args)[1:2]
    note = first[0].annotation if first else None
    if not isinstance(note, ast.Subscript) or reader.meaning_of(note.value) != "Result":
        return None, f
    if len(a.args) < 2 or len(a.defaults) >= len(a.args) - 1:
        check.refuse_node(f, "the Result stands first, and has no default")
    rest = ast.arguments(a.posonlyargs, a.args[:1] + a.args[2:], a.vararg, a.kwonlyargs, a.kw_defaults, a.kwarg, a.defaults)
    without = ast.copy_location(ast.FunctionDef(f.name, rest, f.body, f.decorator_list, f.returns), f)
    if is_marked(f):
        check.refuse_node(f, "%s takes the Result of a job, which the chain alone gives: leave @public out" % f.name)
    return (reader.type(note.slice), first[0].arg), without


def read_arguments(reader, f):
    """The arguments of a typed handler."""
    a = f.args
    if a.vararg or a.kwarg or a.posonlyargs[1:]:
        check.refuse_node(f, "%s takes *, ** or / arguments: callers give each by its name" % f.name)
    given = (a.posonlyargs + a.args)[1:]
    defaults = [None] * (len(given) - len(a.defaults)) + a.defaults[max(0, len(a.defaults) - len(given)):]
    given, defaults = given + a.kwonlyargs, defaults + a.kw_defaults
    check_count(f, len(given), MAX_ARGUMENTS, "%s takes %d arguments" % (f.name, len(given)))
    found = []
    for g, d in zip(given, defaults):
        if g.annotation is None:
            check.refuse_node(f, "%s is annotated in part: %s has no type" % (f.name, g.arg))
        check_name(f, g.arg, "an argument of " + f.name)
        t = reader.type(g.annotation)
        found.append(Field(g.arg, t, reader.default(g, t, d)))
    return found


def read_result(reader, f):
    """The type of a result, None of nothing."""
    r = f.returns
    if r is None or isinstance(r, ast.Constant) and r.value is None:
        return None
    return reader.type(r)


def read_callers(f):
    """The permitted callers of a method, as far as the file writes them out."""
    if f.name == MIGRATE_HANDLER:
        return "chain"
    for d, name in zip(f.decorator_list, decorator_names(f)):
        if name == "public":
            return "anyone"
        if name == "callable_by" and isinstance(d, ast.Call):
            return [c for c in [read_caller(a, f.meant) for a in d.args] if c is not None]
    return "chain"


def read_caller(node, meant):
    word = sdk_word(node, meant)
    if word in ("OWNER", "SELF"):
        return word
    if isinstance(node, ast.Constant) and type(node.value) is str and len(node.value) == 42 and typed.parse_hexadecimal(node.value):
        return node.value.lower()
    if isinstance(node, ast.Constant) and type(node.value) is bytes and len(node.value) == 20:
        return "0x" + node.value.hex()
    return None


def has_known_types(reader, f):
    """Whether all that an unmarked method takes and returns has types of ours."""
    before = dict(reader.types)
    try:
        read_arguments(reader, given_result(reader, f)[1])
        read_result(reader, f)
        return True
    except check.Refusal:
        reader.types = before
        return False


def make_schema(tree, actor, functions, takes, sdk, waiting=(), tell=None):
    """The schema of a file, read by reader. functions are those that may handle, by name; takes those of them that are handlers."""
    reader = Reader(tree)
    cls = reader.classes.get(actor)
    found = Schema(actor or "", first_paragraph(cls if cls is not None else tree))
    for name, f in functions.items():
        if name not in takes:
            continue
        with Told(tell):
            check_name(f, name, "a handler")
            if sdk:
                check_decorated(f)
            if cls is not None and is_typed(f, sdk):
                returns = None if name in waiting else read_result(reader, f)
                result, g = given_result(reader, f)
                found.handlers[name] = Handler(name, first_paragraph(f), read_callers(f), read_arguments(reader, g), returns,
                                               waits=name in waiting,
                                               result=result)
            else:
                who = read_callers(f) if sdk or name == MIGRATE_HANDLER else "anyone"
                found.handlers[name] = Handler(name, first_paragraph(f), who, raw=True)
    bare = all(h.raw for h in found.handlers.values())  # nothing of it is typed, so that nothing of it is refused
    if not bare:
        check_count(tree, len(found.handlers), MAX_HANDLERS, "%d handlers" % len(found.handlers))
    if cls is not None and "actor" in decorator_names(cls):
        refused = read_attributes(reader, cls, found, tell)
        for c in lineage_of(reader.classes, cls):
            check_assigned(c, actor, found, refused, tell)
        check_replaced(tree, {c.name for c in lineage_of(reader.classes, cls)}, found, tell)
    for c in reader.classes.values():
        if any(reader.meaning_of(d) == "interface" for d in c.decorator_list):
            with Told(tell):
                found.interfaces[c.name] = read_interface(reader, c)
    with Told(tell):
        read_events(reader, tree, found)
    found.types, found.attributes = reader.types, storage.make_attributes(found)
    found.typed = bool(not bare or found.types or found.state or found.events)
    if sum(map(len, found.write_defaults())) <= MAX_SCHEMA:  # a default counts in each class that inherits it
        found.kept = found.write_document()
        if bare and len(found.kept) > MAX_SCHEMA:
            found.handlers = {n: Handler(n, "", h.callers, raw=True) for n, h in list(found.handlers.items())[:MAX_HANDLERS]}
            found.kept = found.write_document()
    if not 0 < len(found.kept) <= MAX_SCHEMA:
        check.refuse_node(cls or tree, "a schema of more than %d bytes: shorten documentation, or take arguments out" % MAX_SCHEMA)
    return found


class Told:
    """Raises a refusal, or tells it."""

    def __init__(self, tell):
        self.tell = tell

    def __enter__(self):
        return self

    def __exit__(self, kind, refusal, _):
        if kind is check.Refusal and self.tell is not None:
            self.tell(refusal)
            return True
        return False


def is_declaration(s):
    """Whether a statement of an actor's class declares state."""
    return isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name) and not s.target.id.startswith("_") and \
        not is_class_var(s.annotation)


def read_attributes(reader, cls, found, tell):
    """Reads the attributes of the actor's class that are state; the names of those that are refused."""
    refused = set()
    classes = lineage_of(reader.classes, cls)
    methods = {s.name for c in classes for s in c.body if isinstance(s, ast.FunctionDef)}
    for c in reversed(classes):
        for s in c.body:
            if not is_declaration(s):
                continue
            refused.add(s.target.id)
            with Told(tell):
                check_count(cls, len(found.state) + 1, MAX_STATE, "more than %d attributes" % MAX_STATE)
                name = check_name(s, s.target.id, "an attribute")
                if name in GIVEN or name in methods:
                    check.refuse_node(s, "the attribute %s has the name of %s" % (
                        name, "what @actor gives" if name in GIVEN else "a method"))
                found.state[name] = read_attribute(reader, name, s)
                refused.discard(name)
    return refused


def read_attribute(reader, name, s):
    word = reader.meaning_of(s.annotation.value) if isinstance(s.annotation, ast.Subscript) else None
    if word in ("list", "List"):
        if s.value is not None:
            check.refuse_node(s, "%sbegins empty: leave its default out" % written_as(word, "List"))
        return Attribute(name, "list", reader.type(s.annotation).of, s.lineno)
    if word in ("dict", "Dict", "Map"):
        parts = s.annotation.slice.elts if isinstance(s.annotation.slice, ast.Tuple) else []
        if len(parts) != 2:
            check.refuse_node(s, "a Map is of two types, Map[K, V]")
        key, to = reader.type(parts[0]), reader.type(parts[1])
        each = key.of if isinstance(key, typed.Tuple) else [key]
        if any(k.form not in typed.KEYS for k in each):
            check.refuse_node(s, "the keys of a Map are of %s, or tuples of them, not %s" % (", ".join(sorted(typed.KEYS)), key.words))
        return Attribute(name, "map", to, s.lineno, key, map_default(reader, s, to))
    t = reader.type(s.annotation)
    return Attribute(name, "value", t, s.lineno, default=reader.default(s, t, s.value))


def map_default(reader, s, to):
    """The default of Map(default=…)."""
    if s.value is None:
        return records.UNSET
    if not isinstance(s.value, ast.Call) or reader.meaning_of(s.value.func) != "Map" or s.value.args or \
            [k.arg for k in s.value.keywords] != ["default"]:
        check.refuse_node(s, "%sbegins empty: leave its default out, or write Map(default=…) for entries that are absent"
                          % written_as(reader.meaning_of(s.annotation.value), "Map"))
    return reader.default(s, to, s.value.keywords[0].value)


def written_as(word, kind):
    """The subject of a refusal: what the author wrote, and what it is as an attribute."""
    return "a %s " % kind if word == kind else "%s[…] as an attribute is a %s, which " % (word, kind)


def check_decorated(f):
    """Refuses a decorator that could put another function in the handler's place, under other callers."""
    for d, word in zip(f.decorator_list, decorator_names(f)):
        if word not in OF_HANDLERS:
            check.refuse_node(d, "the handler %s has a decorator that is not of cowboy_sdk: call that function from the handler" % f.name)


def check_replaced(tree, classes, found, tell):
    """Refuses another function under a handler's name, set on the actor's class: the schema would tell the callers of the one that
    is written there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)) and isinstance(node.value, ast.Name) and \
                node.value.id in classes and node.attr in found.handlers:
            with Told(tell):
                check.refuse_node(node, "%s.%s is a handler: define it in the class, once" % (node.value.id, node.attr))


def check_assigned(cls, actor, found, refused, tell):
    """Refuses what a method assigns that would end with its message in silence. Attributes that were refused themselves are told."""
    kept = {s.name for s in cls.body if isinstance(s, ast.FunctionDef)} | refused
    for f in cls.body:
        if not isinstance(f, ast.FunctionDef):
            continue
        given = (f.args.posonlyargs + f.args.args)[:1]
        me = {given[0].arg, actor} if given and "staticmethod" not in decorator_names(f) else {actor}
        begins = f.name in BEGINS
        for node in ast.walk(f):
            if not (isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)) and isinstance(node.value, ast.Name)):
                continue
            if node.value.id not in me or node.attr.startswith("_") or node.attr in kept or node.attr in GIVEN:
                continue
            with Told(tell):
                check_stored(node, found.state, begins, actor)


def check_stored(node, state, begins, actor):
    what = "%s.%s" % (node.value.id, node.attr)
    a = state.get(node.attr)
    if a is None and not begins:
        check.refuse_node(node, "%s ends with the message: declare it in the class to keep it, as in %s: int = 0, "
                          "or call it %s._%s if it is "
                          "for this message alone" % (what, node.attr, node.value.id, node.attr))
    if a is not None and begins:
        check.refuse_node(node, "%s is state, and %s runs for each message: set it in init, which runs once" % (what, "__init__"))
    if a is not None and node.value.id == actor:
        check.refuse_node(node, "%s is state of an instance: write self.%s" % (what, node.attr))
    if a is not None and a.kind != "value":
        check.refuse_node(node, "%s is a %s: change its entries, since it is not assigned as a whole" % (what, a.kind.capitalize()))


def read_interface(reader, cls):
    """The methods of a class under @interface, which another actor answers."""
    methods = {}
    for f in cls.body:
        if isinstance(f, ast.Expr) and isinstance(f.value, ast.Constant):
            continue
        if not isinstance(f, ast.FunctionDef) or f.decorator_list or not f.args.args:
            check.refuse_node(f, "a class under @interface has methods alone, as in def charge(self, who: Address) -> int: ...")
        if f.name in INTERFACE or f.name in methods:
            check.refuse_node(f, "%s is @interface's own name, or is given twice" % f.name)
        methods[check_name(f, f.name, "a method")] = Handler(f.name, "", "anyone", read_arguments(reader, f), read_result(reader, f))
    return methods


def read_events(reader, tree, found):
    """The records that some emit(Name(…)) of the file makes."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and reader.meaning_of(node.func) == "emit" and node.args):
            continue
        made = node.args[0]
        name = made.func.id if isinstance(made, ast.Call) and isinstance(made.func, ast.Name) else None
        if name not in reader.classes:
            continue
        t = reader.of_file(node, name, 0)
        if not isinstance(t, typed.Record):
            check.refuse_node(node, "emit takes an instance of a dataclass")
        if name not in found.events:
            found.events.append(name)

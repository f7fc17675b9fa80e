"""The types of typed handlers: how JSON becomes a value, and a value JSON.

An annotation is read from the syntax tree (schema.py) and becomes one of these types. read takes the objects
that json.loads made of a payload, before any code of the actor has run. An instance of a class of the actor's
file waits there as Made until build. text writes the one form of a value. pack and unpack are the form in
state, which is deterministic CBOR.

Errors about a value are written here, with its path, and never in CPython's words.
"""

import json
import re
import types
from json.encoder import encode_basestring

from host import actor_code, brackets, cbor, chain, enums, hashing, records
from host.costs import table
from host.meter import charge, call_unpaid

SAFE = (1 << 53) - 1  # a number beyond it may have lost digits on its way
MAX_DEPTH = 16  # of lists and objects within one another, and of types
MAX_BYTES = 1 << 20  # of a payload or a result
MAX_DIGITS = 78  # of 2^256
MAX_TOLD = 40  # characters of a wrong value that an error repeats
ELEMENT, NAME, OBJECT = 5, 3, 10  # cycles of each in a payload, besides its bytes
LIST = 8  # cycles of a list
INDEX = 4  # cycles of an element of which a value is made or written
WHOLE = re.compile(r"-?[1-9][0-9]{0,%d}|0" % (MAX_DIGITS - 1))


class Wrong(Exception):
    """A value that does not fit its type. Its path grows from within."""

    def __init__(self, what, *path):
        self.what, self.path = what, list(path)

    def within_part(self, part):
        self.path.append(part)
        return self

    def words(self):
        path = "".join(reversed(self.path)).lstrip(".")
        return "%s %s" % (path, self.what) if path else self.what


class Number:
    """A number of JSON, as it was written."""

    __slots__ = ("text",)

    def __init__(self, text):
        self.text = text


class Object:
    """An object of JSON, duplicate names included. An open one may have names that a record of the actor lacks."""

    __slots__ = ("pairs", "open")

    def __init__(self, pairs, open=False):
        charge(OBJECT + NAME * len(pairs))
        self.pairs, self.open = pairs, open


def open_object(pairs):
    return Object(pairs, True)


class Made:
    """An instance to be, of a class of the actor's, once that class has run."""

    __slots__ = ("of", "held")

    def __init__(self, of, held):
        self.of, self.held = of, held


def parse_json(payload, made=Object):
    """The content of a payload, of str, Number, bool, None, list and Object. Its objects are open if made is opened:
    an answer of others may have more than the actor asks for."""
    charge(table.serialise + len(payload))
    if len(payload) > MAX_BYTES:
        raise Wrong("has %d bytes: at most %d are read" % (len(payload), MAX_BYTES))
    try:
        text = payload.decode("utf-8")
    except UnicodeDecodeError:
        raise Wrong("is not UTF-8") from None
    if brackets.nests_deeper(text, MAX_DEPTH):
        raise Wrong("nests deeper than %d" % MAX_DEPTH)
    try:
        return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=Number, object_pairs_hook=made)
    except (json.JSONDecodeError, RecursionError):
        raise Wrong("is not JSON") from None


def show_foreign(v):
    """A stranger's value in an error."""
    t = type(v)
    if t is Number:
        return clip_text(v.text)
    if t is str:
        return '"%s"' % clip_text(v)
    if v is None or t is bool:
        return "null" if v is None else "true" if v else "false"
    return "a list" if t is list else "an object"


def clip_text(text):
    """A stranger's text on one line, not too long."""
    more = len(text) > MAX_TOLD
    text = encode_basestring(text[:MAX_TOLD])[1:-1]
    return text + "…" if more else text


def show_own(v):
    """A value of the actor's in an error."""
    t = type(v)
    if v is None or t is bool:
        return repr(v)
    if t is int:
        return str(v) if v.bit_length() < 300 else "a larger integer"
    return '"%s"' % clip_text(v) if t is str else t.__name__


def parse_hexadecimal(text):
    """The bytes of 0x and pairs of hexadecimal digits, or None."""
    if text[:2] != "0x":
        return None
    try:
        raw = bytes.fromhex(text[2:])
    except ValueError:
        return None
    return raw if len(text) == 2 + 2 * len(raw) else None  # fromhex takes spaces too


def utf8(text):
    """A text as its bytes, or Wrong if it has half of a surrogate pair."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Wrong("has half of a surrogate pair") from None


class Type:
    """One type: form is how the schema writes it, words how Python does."""

    plain = True  # nothing of it is built by a class of the file
    composed = False  # a value of it can be changed in place
    height = 1  # of the types within one another, itself included
    within = {}  # the classes of the file in it, itself included, by name

    def refuse(self, v, show=show_foreign):
        raise Wrong("is %s: this is %s" % (self.noun, show(v)))

    def build(self, v):
        return v

    def key(self, text):
        """A key of an object, as a value."""
        return self.read(text)

    def unpack(self, v):
        """The value of bytes in state, which only pack wrote."""
        return v


class Integer(Type):
    def __init__(self, word, low, high):
        self.low, self.high = low, high
        self.numeric = -SAFE <= low and high <= SAFE
        bounds = [n if abs(n) <= SAFE else str(n) for n in (low, high)]
        self.form = word or {"int": bounds}
        self.words = word or "Annotated[int, Bounds(%d, %d)]" % (low, high)
        self.noun = "an amount in wei" if word == "Amount" else "an integer from %d to %d" % (low, high)

    def read(self, v):
        t = type(v)
        text = v.text if t is Number else v if t is str else ""
        if WHOLE.fullmatch(text) is None:
            self.refuse(v)
        n = int(text)
        if t is Number and not -SAFE <= n <= SAFE:
            raise Wrong("is a number beyond 2^53: write its digits in quotes")
        if not self.low <= n <= self.high:
            self.refuse(v)
        return n

    def check(self, v):
        if type(v) is not int or not self.low <= v <= self.high:
            self.refuse(v, show_own)

    def text(self, v):
        self.check(v)
        return str(v) if self.numeric else '"%d"' % v

    def pack(self, v):
        self.check(v)
        n = ~v if v < 0 else v
        if n < 1 << 64:
            return cbor.encode_head(cbor.NEGATIVE if v < 0 else cbor.UINT, n)
        raw = n.to_bytes((n.bit_length() + 7) // 8, "big")
        return bytes((cbor.NEGATIVE_BIGNUM if v < 0 else cbor.BIGNUM,)) + cbor.encode_head(cbor.BYTES, len(raw)) + raw


class Bool(Type):
    form = words = "bool"
    noun = "true or false"

    def read(self, v):
        if type(v) is not bool:
            self.refuse(v)
        return v

    def text(self, v):
        if type(v) is not bool:
            self.refuse(v, show_own)
        return "true" if v else "false"

    def pack(self, v):
        return b"\xf5" if self.text(v) == "true" else b"\xf4"


class Text(Type):
    form = words = "str"
    noun = "a text"

    def __init__(self, low=0, high=0):
        self.low, self.high = low, high
        if high:
            self.form, self.words = {"str": [low, high]}, "Annotated[str, Bounds(%d, %d)]" % (low, high)

    def check_size(self, v):
        if self.high and not self.low <= len(v) <= self.high:
            raise Wrong("has %d to %d characters: this has %d" % (self.low, self.high, len(v)))

    def read(self, v):
        if type(v) is not str:
            self.refuse(v)
        utf8(v)
        self.check_size(v)
        return v

    def check(self, v):
        if type(v) is not str:
            self.refuse(v, show_own)
        charge(len(v))
        self.check_size(v)
        return utf8(v)

    def text(self, v):
        self.check(v)
        return encode_basestring(v)

    def pack(self, v):
        raw = self.check(v)
        return cbor.encode_head(cbor.TEXT, len(raw)) + raw


class Binary(Type):
    def __init__(self, word, size):
        self.form = self.words = word
        self.size = size  # 0: any
        self.noun = "%d bytes, 0x and %d hexadecimal digits" % (size, 2 * size) if size else "bytes, 0x and pairs of hexadecimal digits"

    def read(self, v):
        fits = type(v) is str and (not self.size or len(v) == 2 + 2 * self.size)
        raw = parse_hexadecimal(v) if fits else None
        if raw is None:
            self.refuse(v)
        return raw

    def check(self, v):
        if type(v) is chain.ActorRef and self.form == "Address":
            return v.address
        if type(v) is not bytes or self.size and len(v) != self.size:
            self.refuse(v, show_own)
        charge(len(v))
        return v

    def text(self, v):
        return '"0x%s"' % self.check(v).hex()

    def pack(self, v):
        v = self.check(v)
        return cbor.encode_head(cbor.BYTES, len(v)) + v


class Optional(Type):
    def __init__(self, of):
        self.of, self.plain, self.composed = of, of.plain, of.composed
        self.height, self.within = 1 + of.height, of.within
        self.form, self.words, self.noun = {"optional": of.form}, of.words + " | None", of.noun

    def read(self, v):
        return None if v is None else self.of.read(v)

    def build(self, v):
        return None if v is None else self.of.build(v)

    def text(self, v):
        return "null" if v is None else self.of.text(v)

    def pack(self, v):
        return b"\xf6" if v is None else self.of.pack(v)

    def unpack(self, v):
        return None if v is None else self.of.unpack(v)


def map_each(types, values, do):
    """do(type, value) of each, with the place of a wrong one."""
    made, i = [], 0
    try:
        for t, v in zip(types, values):
            made.append(do(t, v))
            i += 1
    except Wrong as w:
        raise w.within_part("[%d]" % i)
    return made


class Forever:
    """The same type for each element."""

    def __init__(self, of):
        self.of = of

    def __iter__(self):
        return self

    def __next__(self):
        return self.of


class List(Type):
    noun = "a list"
    composed = True

    def __init__(self, of):
        self.of, self.plain = of, of.plain
        self.height, self.within = 1 + of.height, of.within
        self.form, self.words = {"list": of.form}, "list[%s]" % of.words

    def read(self, v):
        if type(v) is not list:
            self.refuse(v)
        charge(LIST + ELEMENT * len(v))
        return map_each(Forever(self.of), v, Type_read)

    def build(self, v):
        return v if self.plain else [self.of.build(x) for x in v]

    def text(self, v):
        if type(v) is not list:
            self.refuse(v, show_own)
        charge(LIST + INDEX * len(v))
        return "[%s]" % ",".join(map_each(Forever(self.of), v, Type_text))

    def pack(self, v):
        if type(v) is not list:
            self.refuse(v, show_own)
        charge(LIST + INDEX * len(v))
        return cbor.encode_head(cbor.ARRAY, len(v)) + b"".join(map_each(Forever(self.of), v, Type_pack))

    def unpack(self, v):
        charge(LIST)
        return [self.of.unpack(x) for x in v]


def Type_read(t, v):
    return t.read(v)


def Type_text(t, v):
    return t.text(v)


def Type_pack(t, v):
    return t.pack(v)


class Tuple(Type):
    composed = True

    def __init__(self, of):
        self.of, self.plain = of, all(t.plain for t in of)
        self.height, self.within = 1 + max(t.height for t in of), {n: t for part in of for n, t in part.within.items()}
        self.form, self.words = {"tuple": [t.form for t in of]}, "tuple[%s]" % ", ".join(t.words for t in of)
        self.noun = "a list of %d" % len(of)

    def read(self, v):
        if type(v) is not list:
            self.refuse(v)
        if len(v) != len(self.of):
            raise Wrong("is a list of %d: this has %d" % (len(self.of), len(v)))
        charge(LIST + ELEMENT * len(v))
        return tuple(map_each(self.of, v, Type_read))

    def build(self, v):
        return v if self.plain else tuple(t.build(x) for t, x in zip(self.of, v))

    def check(self, v):
        if type(v) is not tuple or len(v) != len(self.of):
            self.refuse(v, show_own)
        charge(LIST + INDEX * len(v))

    def text(self, v):
        self.check(v)
        return "[%s]" % ",".join(map_each(self.of, v, Type_text))

    def pack(self, v):
        self.check(v)
        return cbor.encode_head(cbor.ARRAY, len(v)) + b"".join(map_each(self.of, v, Type_pack))

    def unpack(self, v):
        charge(LIST)
        return tuple(t.unpack(x) for t, x in zip(self.of, v))


class Dict(Type):
    noun = "an object"
    composed = True

    def __init__(self, of, to):
        self.of, self.to, self.plain = of, to, to.plain
        self.height, self.within = 1 + to.height, to.within
        self.form, self.words = {"dict": [of.form, to.form]}, "dict[%s, %s]" % (of.words, to.words)

    def read(self, v):
        if type(v) is not Object:
            self.refuse(v)
        made = {}
        for name, x in v.pairs:
            try:
                k = self.of.key(name)
                charge(INDEX)
                n = len(made)
                hashing.set_item(self.to.read(x), made, k)
                if len(made) == n:
                    raise Wrong("is given twice")
            except Wrong as w:
                raise w.within_part("." + clip_text(name))
        return made

    def build(self, v):
        return v if self.plain else hashing.dict_of((k, self.to.build(x)) for k, x in v.items())

    def sorted_rows(self, v, write):
        """(key as in JSON, value) of each, by the keys' bytes."""
        if type(v) is not dict:
            self.refuse(v, show_own)
        charge(LIST + 2 * INDEX * len(v))
        rows = []
        for k, x in v.items():
            try:
                name = write_key(self.of, k)
            except Wrong as w:
                raise w.within_part(".(a key)")
            try:
                rows.append((name.encode(), name, write(self.to, x)))
            except Wrong as w:
                raise w.within_part("." + clip_text(name))
        return sorted(rows)

    def text(self, v):
        return "{%s}" % ",".join([encode_basestring(name) + ":" + x for _, name, x in self.sorted_rows(v, Type_text)])

    def pack(self, v):
        rows = self.sorted_rows(v, Type_pack)
        return cbor.encode_head(cbor.MAP, len(rows)) + b"".join([cbor.encode_head(cbor.TEXT, len(raw)) + raw + x for raw, _, x in rows])

    def unpack(self, v):
        charge(LIST)
        return hashing.dict_of((self.of.key(k), self.to.unpack(x)) for k, x in v.items())


def write_key(t, v):
    """A key as in an object."""
    if type(t) is Text:
        t.check(v)
        return v
    text = t.text(v)
    return text[1:-1] if text[:1] == '"' else text


class Field:
    """A field of a record, or an argument. default is UNSET, or its wire form as a JSON text."""

    __slots__ = ("name", "type", "default")

    def __init__(self, name, type, default=records.UNSET):
        self.name, self.type, self.default = name, type, default

    def described(self):
        found = {"name": self.name, "type": self.type.form}
        if self.default is not records.UNSET:
            found["default"] = json.loads(self.default)
        return found


class Fields(tuple):
    """The fields of a record, or the arguments of a handler, with the tables that reading one asks. They are made once."""

    def __new__(cls, of, fields):
        self = tuple.__new__(cls, fields)
        self.of, self.known = of, {f.name: f for f in self}
        self.told = ", ".join(self.known) or "none"
        self.needed = [f for f in self if f.default is records.UNSET]
        self.built = [f for f in self if not f.type.plain]  # by classes of the file
        self.sorted = sorted(self, key=lambda f: f.name)
        return self

    def refuse_unknown(self, name):
        return Wrong("is unknown: %s has %s" % (self.of, self.told), "." + clip_text(name))

    def refuse_missing(self, made):
        """Refuses values by their names of which a needed one is missing."""
        for f in self.needed:
            if f.name not in made:
                raise Wrong("is missing: " + f.type.words, "." + f.name)

    def read(self, v):
        """The values of an object by their names, of those that are given."""
        made = {}
        for name, x in v.pairs:
            f = self.known.get(name)
            if f is None:
                if v.open:
                    continue
                raise self.refuse_unknown(name)
            if name in made:
                raise Wrong("is given twice", "." + name)
            try:
                made[name] = f.type.read(x)
            except Wrong as w:
                raise w.within_part("." + name)
        self.refuse_missing(made)
        return made

    def build(self, made):
        """The same, as what the actor is given."""
        if self.built and made:
            for f in self.built:
                if f.name in made:
                    made[f.name] = f.type.build(made[f.name])
        return made


class Record(Type):
    """A dataclass of the file. fields are given once they are read."""

    plain = False
    composed = True

    def __init__(self, name, doc):
        self.form = self.words = self.name = name
        self.doc, self.fields = doc, Fields(name, ())
        self.noun = "an object, " + name

    def set_fields(self, fields, within):
        """Its fields are read, with the classes in them."""
        self.fields, self.within = Fields(self.name, fields), within
        self.height = 1 + max((f.type.height for f in self.fields), default=0)

    def described(self):
        found = {"record": [f.described() for f in self.fields]}
        return {"doc": self.doc, **found} if self.doc else found

    def read(self, v):
        if type(v) is not Object:
            self.refuse(v)
        return Made(self, self.fields.read(v))

    def build(self, v):
        return self.of_file()(**self.fields.build(v.held))

    def of_file(self):
        found = chain.now.space.get(self.name)
        if not actor_code.is_class(found) or records.fields_of(found) is None:
            raise Wrong("is a %s, which is no longer a dataclass of this file" % self.name)
        return found

    def sorted_rows(self, v, write):
        if type(v) is not self.of_file():
            self.refuse(v, show_own)
        charge(OBJECT + NAME * len(self.fields))
        rows = []
        for f in self.fields.sorted:
            try:
                rows.append((f.name, write(f.type, getattr(v, f.name, None))))
            except Wrong as w:
                raise w.within_part("." + f.name)
        return rows

    def text(self, v):
        return "{%s}" % ",".join(['"%s":%s' % row for row in self.sorted_rows(v, Type_text)])

    def pack(self, v):
        rows = [(f.encode(), x) for f, x in self.sorted_rows(v, Type_pack)]
        return cbor.encode_head(cbor.MAP, len(rows)) + b"".join([cbor.encode_head(cbor.TEXT, len(f)) + f + x for f, x in rows])

    def unpack(self, v):
        """A field that an older code did not write has its default."""
        held = {f.name: f.type.unpack(v[f.name]) for f in self.fields if f.name in v}
        if not len(held) == len(v) == len(self.fields):
            chain.now.older = True
        return self.of_file()(**held)


class Enumeration(Type):
    """An Enum of the file: its members' values are all texts or all integers."""

    plain = False

    def __init__(self, name, doc, members):
        self.form = self.words = self.name = name
        self.doc, self.members = doc, members  # name → value
        self.values, self.within = {v: n for n, v in members.items()}, {name: self}
        self.noun = "one of " + ", ".join([clip_text(str(v)) for v in self.values])[:400]
        self.texts = all(type(v) is str for v in self.values)

    def described(self):
        found = {"enum": [{"name": n, "value": v} for n, v in self.members.items()]}
        return {"doc": self.doc, **found} if self.doc else found

    def read(self, v):
        t = type(v)
        if self.texts:
            value = v if t is str else None
        else:
            value = int(v.text) if t is Number and WHOLE.fullmatch(v.text) else None
        if value not in self.values:
            self.refuse(v)
        return Made(self, value)

    def build(self, v):
        return self.find_member(v.held)

    def find_member(self, value):
        cls = chain.now.space.get(self.name)
        if not actor_code.is_class(cls) or not issubclass(cls, enums.Enum):
            raise Wrong("is a %s, which is no longer an Enum of this file" % self.name)
        return cls(value)

    def value(self, v):
        cls = chain.now.space.get(self.name)
        if type(v) is not cls or v._value_ not in self.values:
            self.refuse(v, show_own)
        charge(INDEX)
        return v._value_

    def text(self, v):
        v = self.value(v)
        return encode_basestring(v) if self.texts else str(v)

    def pack(self, v):
        v = self.value(v)
        return Text().pack(v) if self.texts else Integer("int", -SAFE, SAFE).pack(v)

    def unpack(self, v):
        return self.find_member(v)


class Handler:
    """A handler of the actor's class as callers know it."""

    __slots__ = ("name", "doc", "callers", "arguments", "returns", "raw", "waits", "result")

    def __init__(self, name, doc, callers, arguments=(), returns=None, raw=False, waits=False, result=None):
        self.result = result  # the type of a job's result that it is given as its first argument, with that argument's name
        self.name, self.doc, self.callers = name, doc, callers
        self.arguments, self.returns, self.raw = Fields(name, arguments), returns, raw
        self.waits = waits  # it is a continuation, whose message returns the id of a job

    def described(self):
        found = {"name": self.name, "callers": self.callers}
        if self.doc:
            found["doc"] = self.doc
        if self.raw or self.result is not None:  # callers give it nothing that a schema can say
            return {**found, "raw": True}
        found["arguments"] = [f.described() for f in self.arguments]
        if self.returns is not None:
            found["returns"] = self.returns.form
        return found

    def read(self, payload):
        """The arguments that a payload has, before the module has run."""
        first = payload[:1]
        if b"\xa0" <= first <= b"\xbf":
            charge(table.serialise)
            raise Wrong("begins as CBOR does, which no version reads yet: arguments are JSON", "the payload")
        try:
            v = parse_json(payload or b"{}")
        except Wrong as w:
            raise w.within_part("the payload") from None
        if type(v) is not Object:
            raise Wrong("the arguments are an object: this is " + show_foreign(v))
        return self.arguments.read(v)

    def build_arguments(self, made):
        return self.arguments.build(made)

    def write_payload(self, arguments):
        """The payload of arguments by their names, as this actor gives them. Omitted arguments stay omitted."""
        charge(table.serialise + OBJECT + NAME * len(arguments))
        rows = []
        for name in sorted(arguments):
            f = self.arguments.known.get(name)
            if f is None:
                raise self.arguments.refuse_unknown(name)
            try:
                rows.append('"%s":%s' % (name, f.type.text(arguments[name])))
            except Wrong as w:
                raise w.within_part("." + name)
        self.arguments.refuse_missing(arguments)
        return bound_text("{%s}" % ",".join(rows), "payload")

    def write_output(self, value):
        """The output of a result."""
        if self.returns is None:
            if value is not None:
                raise Wrong("%s returns nothing: this is %s" % (self.name, show_own(value)))
            return b""
        charge(table.serialise)
        try:
            return bound_text(self.returns.text(value))
        except Wrong as w:
            raise w.within_part("result") from None


def handler_of(method):
    """The handler that self.name is, of the running actor."""
    f = getattr(method, "__func__", None)
    if type(method) is not types.MethodType or not actor_code.is_function(f):
        raise TypeError("a handler is named as in self.renew, without a call")
    said = chain.now.schema.handlers.get(f.__name__)
    if said is None:
        raise TypeError("%s is not a handler of this actor" % f.__name__[:MAX_TOLD])
    return said


def payload_of(said, args, arguments):
    """The payload of arguments for a handler of this actor, or a TypeError at the author's line."""
    if said.raw:
        if args or arguments:
            raise TypeError("%s takes bytes, and no arguments by name" % said.name)
        return b""
    try:
        return said.write_payload(name_arguments(said, args, arguments))
    except Wrong as w:
        raise TypeError("%s: %s" % (said.name, w.words())) from None


class Default:
    """What an attribute holds that was not set. A value that cannot change is made once; any other is read anew, and paid for."""

    __slots__ = ("type", "text", "value")

    def __init__(self, type, text):
        self.type, self.text, self.value = type, text, None
        if type.plain and not type.composed:
            self.value = call_unpaid(self.read)

    def read(self):
        return self.type.build(self.type.read(json.loads(self.text, parse_int=Number, object_pairs_hook=Object)))

    def make_default(self):
        t = self.type
        if t.plain and not t.composed:
            return self.value
        charge(table.serialise + len(self.text))
        return self.read()


def name_arguments(handler, args, arguments):
    """Arguments by their names, of those given by their places too."""
    if len(args) > len(handler.arguments):
        raise Wrong("%s takes %d arguments: these are %d" % (handler.name, len(handler.arguments), len(args)))
    for f, v in zip(handler.arguments, args):
        if f.name in arguments:
            raise Wrong("is given twice", "." + f.name)
        arguments[f.name] = v
    return arguments


def read_answer(handler, raw):
    """The result of another actor's handler."""
    if handler.returns is None:
        if raw:
            raise Wrong("%s returned %d bytes: its interface says nothing" % (handler.name, len(raw)))
        return None
    try:
        return handler.returns.build(handler.returns.read(parse_json(raw, open_object)))
    except Wrong as w:
        raise w.within_part("the answer of " + handler.name) from None


def bound_text(text, *path):
    raw = text.encode()
    charge(len(raw))
    if len(raw) > MAX_BYTES:
        raise Wrong("has %d bytes: at most %d are written" % (len(raw), MAX_BYTES), *path)
    return raw


ATOMS = {
    "int": Integer("int", -(1 << 255), (1 << 255) - 1), "Amount": Integer("Amount", 0, (1 << 256) - 1),
    **{"u%d" % n: Integer("u%d" % n, 0, (1 << n) - 1) for n in (8, 16, 32, 64)},
    "bool": Bool(), "str": Text(), "bytes": Binary("bytes", 0), "Address": Binary("Address", 20), "Hash": Binary("Hash", 32),
}
KEYS = frozenset(("str", "int", "Address", "Hash"))  # what keys of a dict may be

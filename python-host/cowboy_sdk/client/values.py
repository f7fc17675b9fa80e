"""Values of a schema's types, and their one form on the wire. docs/CLIENTS.md has the forms."""

import dataclasses
import enum
import json
import re

from cowboy_sdk.client.attributes import TELLING

SAFE = (1 << 53) - 1  # a number beyond it may have lost digits on its way
MAX_DEPTH = 16  # of lists and objects within one another
MAX_BYTES = 1 << 20  # of a payload or a result
MAX_TOLD = 40  # characters of a wrong value that an error repeats
WHOLE = re.compile(r"-?[1-9][0-9]{0,77}|0")
HEX = re.compile(r"0x(?:[0-9a-fA-F]{2})*")
ESCAPED = re.compile(r'["\\\x00-\x1f]')
SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
RANGES = {"int": (-(1 << 255), (1 << 255) - 1), "Amount": (0, (1 << 256) - 1), **{"u%d" % n: (0, (1 << n) - 1) for n in (8, 16, 32, 64)}}
SIZES = {"bytes": 0, "Address": 20, "Hash": 32}
__unittest = True  # unittest leaves the lines of this file out of tracebacks


class WrongValue(ValueError):
    """A value that does not fit its type. path is its place, like members[2].paid. Nothing was sent."""

    code = "bad_argument"

    def __init__(self, path, what):
        super().__init__("%s %s" % (path, what) if path else what)
        self.path = path


class Number:
    """A number of JSON, with the digits of its text."""

    def __init__(self, text):
        self.text = text


class Object(list):
    """An object of JSON as its pairs: a name may occur twice."""

    open = False  # whether it may have names that its record lacks


class Open(Object):
    """An object of an answer. The actor's code may have become newer than the schema."""

    open = True


class Schema:
    """The schema of an actor's annotations. classes are the file's records and enums by their names; without them values are dicts."""

    def __init__(self, hash, text, classes=None):
        self.hash, self.classes = hash, classes or {}
        told = json.loads(text)
        if told.get("schema") != 1:
            raise ValueError("the schema has version %r: this SDK reads version 1" % (told.get("schema"),))
        self.types, self.events = told.get("types", {}), told.get("events", [])
        self.handlers = {h["name"]: h for h in told["handlers"]}
        self.state = {a["name"]: a for a in told.get("state", [])}

    def agrees(self, told):
        """Whether a schema, as the network answers it, has the same handlers and types."""
        mine = {"handlers": list(self.handlers.values()), "types": self.types, "events": self.events}
        return what_callers_see(told) == what_callers_see(mine)

    def handler(self, name):
        found = self.handlers.get(name)
        if found is None:
            raise AttributeError("the schema has no handler %s; it has %s" % (name, ", ".join(self.handlers)))
        return found

    def payload(self, handler, given, address=lambda v: v):
        """The arguments of a handler in their one form. A field with its default is left out. address resolves what names one."""
        fields = self.handler(handler).get("arguments", [])
        known = {f["name"]: f for f in fields}
        rows = {}
        for name, v in given.items():
            f = known.get(name)
            if f is None:
                raise WrongValue(clip_text(name), "is unknown: %s has %s" % (handler, ", ".join(known) or "none"))
            text = self.text(f["type"], v, name, address, 1)
            if "default" not in f or text != self.default_text(f):
                rows[name] = text
        for f in fields:
            if f["name"] not in given and "default" not in f:
                raise WrongValue(f["name"], "is missing: " + type_words(f["type"]))
        raw = ("{%s}" % ",".join('"%s":%s' % (n, rows[n]) for n in sorted(rows))).encode()
        if len(raw) > MAX_BYTES:
            raise WrongValue("", "the arguments have %d bytes: at most %d are sent" % (len(raw), MAX_BYTES))
        return raw

    def default_text(self, f):
        return self.text(f["type"], self.read_value(f["type"], reparse_json(f["default"]), f["name"]), f["name"])

    # Values to the wire.

    def text(self, t, v, path="", address=lambda v: v, depth=0):
        bounds = range_of(t)
        if bounds is not None:
            return integer_text(t, bounds, v, path)
        if isinstance(t, dict):
            return self.compound_text(t, v, path, address, depth)
        if t == "bool":
            if type(v) is not bool:
                raise WrongValue(path, "is true or false: this is " + show_argument(v))
            return "true" if v else "false"
        if t == "str":
            return quote_text(check_text(v, path))
        if t in SIZES:
            return '"0x%s"' % to_binary(t, address(v) if t == "Address" else v, path).hex()
        return self.named_text(t, v, path, address, depth)

    def named_text(self, t, v, path, address, depth):
        of = self.find_type(t)
        if "enum" in of:
            v = v.value if isinstance(v, enum.Enum) else v
            if not any(v == m["value"] and type(v) is type(m["value"]) for m in of["enum"]):
                raise WrongValue(path, "is one of %s: this is %s" % (", ".join(str(m["value"]) for m in of["enum"]), show_argument(v)))
            return quote_text(v) if isinstance(v, str) else str(v)
        if dataclasses.is_dataclass(v) and not isinstance(v, type):
            v = {f.name: getattr(v, f.name) for f in dataclasses.fields(v)}
        if not isinstance(v, dict):
            raise WrongValue(path, "is an object, %s: this is %s" % (t, show_argument(v)))
        known = {f["name"]: f for f in of["record"]}
        for name in v:
            if name not in known:
                raise WrongValue(path_within(path, name), "is unknown: %s has %s" % (t, ", ".join(known) or "none"))
        depth = next_depth(depth, path)
        rows = []
        for name in sorted(known):
            f, at = known[name], path_within(path, name)
            if name in v:
                rows.append('"%s":%s' % (name, self.text(f["type"], v[name], at, address, depth)))
            elif "default" in f:
                rows.append('"%s":%s' % (name, self.default_text(f)))
            else:
                raise WrongValue(at, "is missing: " + type_words(f["type"]))
        return "{%s}" % ",".join(rows)

    def compound_text(self, t, v, path, address, depth):
        (form, of), = t.items()
        if form == "optional":
            return "null" if v is None else self.text(of, v, path, address, depth)
        if form == "str":
            return quote_text(check_length(of, check_text(v, path), path))
        if form in ("list", "tuple"):
            if not isinstance(v, (list, tuple)):
                raise WrongValue(path, "is a list: this is " + show_argument(v))
            depth = next_depth(depth, path)
            rows = [self.text(x, y, "%s[%d]" % (path, i), address, depth) for i, (x, y) in enumerate(pair_items(t, v, path))]
            return "[%s]" % ",".join(rows)
        if form == "dict":
            if not isinstance(v, dict):
                raise WrongValue(path, "is an object: this is " + show_argument(v))
            depth = next_depth(depth, path)
            rows = []
            for k, x in v.items():
                name = k if of[0] == "str" else self.text(of[0], k, path_within(path, str(k)), address)[1:-1]
                at = path_within(path, check_text(name, path))
                rows.append((name.encode(), quote_text(name) + ":" + self.text(of[1], x, at, address, depth)))
            return "{%s}" % ",".join(text for _, text in sorted(rows))
        raise WrongValue(path, "has a form that this SDK does not know: " + form)

    def find_type(self, t):
        if t not in self.types:
            raise ValueError("the schema has a type %s that this SDK does not know" % t)
        return self.types[t]

    # The wire to values.

    def decode(self, t, raw):
        return self.read_value(t, parse_json(raw, Open), "")

    def arguments(self, handler, raw):
        """The values of a payload by the names of arguments."""
        v = parse_json(raw or b"{}")
        if not isinstance(v, Object):
            raise WrongValue("", "the arguments are an object: this is " + show_json(v))
        return self.read_fields(handler, self.handler(handler).get("arguments", []), v, "")

    def read_value(self, t, v, path):
        bounds = range_of(t)
        if bounds is not None:
            return read_integer(t, bounds, v, path)
        if isinstance(t, dict):
            return self.read_compound(t, v, path)
        if t == "bool":
            if type(v) is not bool:
                raise WrongValue(path, "is true or false: this is " + show_json(v))
            return v
        if t == "str":
            return check_text(v, path, show_json)
        if t in SIZES:
            return read_binary(t, v, path)
        of = self.find_type(t)
        if "enum" in of:
            for m in of["enum"]:
                if v == m["value"] if isinstance(m["value"], str) else isinstance(v, Number) and v.text == str(m["value"]):
                    return self.classes[t](m["value"]) if t in self.classes else m["value"]
            raise WrongValue(path, "is one of %s: this is %s" % (", ".join(str(m["value"]) for m in of["enum"]), show_json(v)))
        if not isinstance(v, Object):
            raise WrongValue(path, "is an object, %s: this is %s" % (t, show_json(v)))
        made = self.read_fields(t, of["record"], v, path)
        return self.classes[t](**made) if t in self.classes else made

    def read_compound(self, t, v, path):
        (form, of), = t.items()
        if form == "optional":
            return None if v is None else self.read_value(of, v, path)
        if form == "str":
            return check_length(of, check_text(v, path, show_json), path)
        if form in ("list", "tuple"):
            if type(v) is not list:
                raise WrongValue(path, "is a list: this is " + show_json(v))
            found = [self.read_value(x, y, "%s[%d]" % (path, i)) for i, (x, y) in enumerate(pair_items(t, v, path))]
            return tuple(found) if form == "tuple" else found
        if form == "dict":
            if not isinstance(v, Object):
                raise WrongValue(path, "is an object: this is " + show_json(v))
            found = {}
            for name, x in v:
                at = path_within(path, name)
                k = self.read_value(of[0], name, at)
                if k in found:
                    raise WrongValue(at, "is given twice")
                found[k] = self.read_value(of[1], x, at)
            return found
        raise WrongValue(path, "has a form that this SDK does not know: " + form)

    def read_fields(self, of, fields, v, path):
        known = {f["name"]: f for f in fields}
        found = {}
        for name, x in v:
            at = path_within(path, name)
            if name not in known:
                if v.open:
                    continue
                raise WrongValue(at, "is unknown: %s has %s" % (of, ", ".join(known) or "none"))
            if name in found:
                raise WrongValue(at, "is given twice")
            found[name] = self.read_value(known[name]["type"], x, at)
        for f in fields:
            if f["name"] not in found and "default" not in f:
                raise WrongValue(path_within(path, f["name"]), "is missing: " + type_words(f["type"]))
        return found


def what_callers_see(told):
    """The part of a schema that a client is made of, without texts for readers."""
    handlers = {h["name"]: [h.get("raw", False), h.get("arguments", []), h.get("returns")] for h in told["handlers"]
                if h.get("callers") != "chain"}
    types = {name: {k: v for k, v in t.items() if k != "doc"} for name, t in told.get("types", {}).items()}
    return integers_as_digits([handlers, types, told.get("events", [])])


def integers_as_digits(v):
    """JSON whose integers are digits."""
    if isinstance(v, dict):
        return {k: integers_as_digits(x) for k, x in v.items()}
    if isinstance(v, list):
        return [integers_as_digits(x) for x in v]
    return str(v) if is_whole(v) else v


def parse_json(raw, made=Object):
    """A value of JSON: str, Number, bool, None, list or made, which is Object or Open."""
    if len(raw) > MAX_BYTES:
        raise WrongValue("", "the payload has %d bytes: at most %d are read" % (len(raw), MAX_BYTES))
    try:
        v = json.loads(raw.decode("utf-8"), parse_int=Number, parse_float=Number, parse_constant=Number, object_pairs_hook=made)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise WrongValue("", "the payload is not JSON") from None
    check_nesting(v, 0)
    return v


def check_nesting(v, depth):
    if isinstance(v, list):
        next_depth(depth, "")
        for x in v:
            check_nesting(x[1] if isinstance(v, Object) else x, depth + 1)


def reparse_json(v):
    """A value of the schema's own JSON, as parse_json returns it."""
    return parse_json(json.dumps(v).encode())


def next_depth(depth, path):
    if depth >= MAX_DEPTH:
        raise WrongValue(path, "nests deeper than %d" % MAX_DEPTH)
    return depth + 1


def path_within(path, name):
    return "%s.%s" % (path, clip_text(name)) if path else clip_text(name)


def pair_items(t, v, path):
    """The types of a list's or a tuple's items, with the items."""
    if "list" in t:
        return [(t["list"], x) for x in v]
    if len(v) != len(t["tuple"]):
        raise WrongValue(path, "is a list of %d: this has %d" % (len(t["tuple"]), len(v)))
    return list(zip(t["tuple"], v))


def range_of(t):
    if isinstance(t, str):
        return RANGES.get(t)
    return tuple(map(int, t["int"])) if "int" in t else None


def integer_noun(t, bounds):
    return "an amount in wei" if t == "Amount" else "an integer from %d to %d" % bounds


def is_whole(v):
    """Whether a value is an integer, of an actor's attribute too."""
    return type(v) in (int, TELLING[int])


def integer_text(t, bounds, v, path):
    if not is_whole(v) or not bounds[0] <= v <= bounds[1]:
        raise WrongValue(path, "is %s: this is %s" % (integer_noun(t, bounds), show_argument(v)))
    return str(v) if -SAFE <= bounds[0] and bounds[1] <= SAFE else '"%d"' % v


def read_integer(t, bounds, v, path):
    text = v.text if isinstance(v, Number) else v if isinstance(v, str) else ""
    if WHOLE.fullmatch(text) is None:
        raise WrongValue(path, "is %s: this is %s" % (integer_noun(t, bounds), show_json(v)))
    n = int(text)
    if isinstance(v, Number) and not -SAFE <= n <= SAFE:
        raise WrongValue(path, "is a number beyond 2^53: write its digits in quotes")
    if not bounds[0] <= n <= bounds[1]:
        raise WrongValue(path, "is %s: this is %s" % (integer_noun(t, bounds), show_json(v)))
    return n


def check_text(v, path, show=None):
    if not isinstance(v, str):
        raise WrongValue(path, "is a text: this is " + (show or show_argument)(v))
    try:
        v.encode()
    except UnicodeEncodeError:
        raise WrongValue(path, "has half of a surrogate pair") from None
    return v


def check_length(bounds, v, path):
    low, high = map(int, bounds)
    if not low <= len(v) <= high:
        raise WrongValue(path, "has %d to %d characters: this has %d" % (low, high, len(v)))
    return v


def to_binary(t, v, path):
    if isinstance(v, str) and HEX.fullmatch(v):
        v = bytes.fromhex(v[2:])
    if not isinstance(v, (bytes, bytearray)) or SIZES[t] and len(v) != SIZES[t]:
        raise WrongValue(path, "is %s: this is %s" % (binary_noun(t), show_argument(v)))
    return bytes(v)


def binary_noun(t):
    n = SIZES[t]
    return "%d bytes, 0x and %d hexadecimal digits" % (n, 2 * n) if n else "bytes, 0x and pairs of hexadecimal digits"


def read_binary(t, v, path):
    if not isinstance(v, str) or HEX.fullmatch(v) is None or SIZES[t] and len(v) != 2 + 2 * SIZES[t]:
        raise WrongValue(path, "is %s: this is %s" % (binary_noun(t), show_json(v)))
    return bytes.fromhex(v[2:])


def escape_text(text):
    return ESCAPED.sub(lambda m: SHORT.get(m[0]) or "\\u%04x" % ord(m[0]), text)


def quote_text(text):
    return '"%s"' % escape_text(text)


def type_words(t):
    """A type in Python's words."""
    if isinstance(t, str):
        return t
    (form, of), = t.items()
    if form == "optional":
        return type_words(of) + " | None"
    if form == "list":
        return "list[%s]" % type_words(of)
    if form in ("tuple", "dict"):
        return "%s[%s]" % (form, ", ".join(map(type_words, of)))
    return "Annotated[%s, Bounds(%s, %s)]" % (form, *of)


def clip_text(text):
    """A text on one line, not too long."""
    return escape_text(text) if len(text) <= MAX_TOLD else escape_text(text[:MAX_TOLD]) + "…"


def show_json(v):
    """A value as the text of an error shows it."""
    if isinstance(v, Number):
        return clip_text(v.text)
    if isinstance(v, str):
        return '"%s"' % clip_text(v)
    if v is None or isinstance(v, bool):
        return json.dumps(v)
    return "an object" if isinstance(v, Object) else "a list"


def show_argument(v):
    """A value of the program, in an error."""
    return clip_text(repr(v))

"""The worst values of each type that a stranger may send, and the places that they reach.

A generator yields the values of one class of host.typed, each of about a size in bytes of JSON. A class without
a generator fails the measurement: a new type cannot be forgotten here.
"""

import functools
import json
from collections import namedtuple

from host import cbor, meter, typed

LARGE, SHORT = 100_000, 30_000  # bytes of a value that is sent, and of a default
DEPLOYED = 12_000  # bytes of a source that names a type often
PRIME = 2**61 - 1  # its multiples have equal hashes
FIELDS, MEMBERS = 64, 256  # the most that a record has, and an enumeration
DEEP = 14  # lists within lists: an object and a field are around them, and no type nests deeper than 16
WORDS = ["m" * 60 + "%03d" % i for i in range(MEMBERS)]
HEAD = """
from dataclasses import dataclass
from enum import Enum
from cowboy_sdk import Address, Amount, Bounds, Hash, List, Map, Result, actor, interface, public, u8, u32, u64
from typing import Annotated, Optional
"""
WIDE = "@dataclass\nclass Wide:\n" + "".join("    f%d: u8 | None = None\n" % i for i in range(FIELDS))
WIDER = "@dataclass\nclass Part:\n    a: u8 | None = None\n@dataclass\nclass Wide:\n" + "".join(
    "    f%d: Part | None = None\n" % i for i in range(FIELDS))
NEEDED = "@dataclass\nclass Wide:\n" + "".join("    f%d: u8\n" % i for i in range(FIELDS))
NOTE = "@dataclass\nclass Note:\n    who: Address\n    paid: Amount\n    note: str | None = None\n"
NAMED = "class Word(Enum):\n" + "".join('    M%d = "%s"\n' % (i, w) for i, w in enumerate(WORDS))
COUNTED = "class Number(Enum):\n" + "".join("    M%d = %d\n" % (i, i * 1009) for i in range(MEMBERS))


class Value(namedtuple("Value", "name of json state literal declared", defaults=("",))):
    """A value of the type that the annotation of names: its JSON, its bytes in state, and how Python writes it. None
    where it has none of that kind."""


class Row(namedtuple("Row", "name source handler payload held")):
    """A message: held is what the chain answers each question with."""


def encode_state(v):
    return meter.call_unpaid(cbor.pack_value, v, "a value", 1 << 26)


def to_state_value(v):
    """v with tuples as lists and keys as texts, as state has them."""
    if type(v) is dict:
        return {str(k): to_state_value(x) for k, x in v.items()}
    return [to_state_value(x) for x in v] if type(v) in (list, tuple) else v


def to_json(v):
    t = type(v)
    if t is int:
        return '"%d"' % v if abs(v) > typed.SAFE else str(v)
    if t is bytes:
        return '"0x%s"' % v.hex()
    if t is list or t is tuple:
        return "[%s]" % ",".join(map(to_json, v))
    if t is dict:
        return "{%s}" % ",".join(["%s:%s" % (json.dumps(str(k)), to_json(x)) for k, x in v.items()])
    return json.dumps(v, ensure_ascii=False)


def written_value(name, of, v, declared=""):
    """A value that Python can write out."""
    return Value(name, of, to_json(v), encode_state(to_state_value(v)), repr(v), declared)


def json_value(name, of, text, declared="", state=None):
    """A value that only JSON can say."""
    return Value(name, of, text, state, None, declared)


def json_list(item, size, last=None):
    """A list of items in JSON, of which the last may be another."""
    n = max(size // (len(item) + 1), 1)
    return "[%s]" % ",".join([item] * (n - 1) + [item if last is None else last])


def state_list(item, n, last=None):
    """n encoded items, of which the last may be another."""
    return cbor.encode_head(cbor.ARRAY, n) + item * (n - 1) + (item if last is None else last)


def integer_values(size):
    for name, of, n, long in (
            ("one digit", "u8", 1, 2), ("one digit of int", "int", 1, 2), ("2^53", "u64", 2**53, 19), ("2^53 - 1", "int", 2**53 - 1, 17),
            ("2^53 + 1 below zero", "int", -2**53 - 1, 21), ("2^61 - 1", "u64", PRIME, 22), ("78 digits", "Amount", 2**256 - 1, 81),
            ("within bounds", "Annotated[int, Bounds(0, 5)]", 5, 2)):
        yield written_value(name, "list[%s]" % of, [n] * (size // long))
    yield json_value("a number beyond 2^53 at the end", "list[u64]", json_list('"1"', size, str(2**53 + 1)))
    yield json_value("79 digits at the end", "list[int]", json_list("1", size, '"%s"' % ("9" * 79)))
    kept = bytes((cbor.BIGNUM,)) + cbor.encode_head(cbor.BYTES, size) + b"\xff" * size
    yield json_value("digits", "int", '"%s"' % ("9" * size), "", kept)
    yield json_value("digits of a number", "int", "9" * size)


def boolean_values(size):
    yield written_value("trues", "list[bool]", [True] * (size // 5))
    yield json_value("null at the end", "list[bool]", json_list("true", size, "null"))


def text_values(size):
    yield written_value("longest", "str", "a" * size)
    yield written_value("wide letters", "str", "\U0001f600" * (size // 4))
    yield written_value("empty ones", "list[str]", [""] * (size // 3))
    yield written_value("short ones", "list[str]", ["ab"] * (size // 5))
    yield written_value("short ones within bounds", "list[Annotated[str, Bounds(1, 9)]]", ["\u00e9"] * (size // 5))
    yield written_value("quotes", "str", '"' * (size // 2))
    yield written_value("NUL", "str", "\0" * (size // 6))
    yield written_value("too long for its bounds", "Annotated[str, Bounds(1, 9)]", "a" * size)._replace(literal=None)
    yield json_value("escapes", "str", '"%s"' % ("\\u00e9" * (size // 6)))
    yield json_value("backslashes", "str", '"%s"' % ("\\\\" * (size // 2)))
    yield json_value("half a surrogate pair at the end", "str", '"%s\\ud800"' % ("a" * size))
    yield json_value("wide letters and half a surrogate pair", "str", '"%s\\ud800"' % ("\U0001f600" * (size // 4)))
    yield json_value("half a surrogate pair in the last", "list[str]", json_list('"a"', size, '"\\ud800"'))
    yield json_value("brackets", "str", '"%s"' % ("[" * size))
    yield json_value("quotes and brackets", "str", '"%s"' % ('\\"[' * (size // 3)))
    yield json_value("quotes without a comma", "str", '"' * size)
    yield json_value("brackets and quotes", "str", '[""' * (size // 3))
    yield json_value("spaces", "str", " " * size + '""')


def binary_values(size):
    yield written_value("longest", "bytes", bytes(size // 2))
    yield written_value("empty ones", "list[bytes]", [b""] * (size // 5))
    yield written_value("short ones", "list[bytes]", [b"a"] * (size // 7))
    yield written_value("addresses", "list[Address]", [bytes(20)] * (size // 45))
    yield written_value("hashes", "list[Hash]", [bytes(32)] * (size // 69))
    for name, end in (("odd", "0"), ("wrong at the end", "0g"), ("a space at the end", " 0"), ("wide at the end", "\u0660\u0660")):
        yield json_value(name, "bytes", '"0x%s%s"' % ("ab" * (size // 2), end))
    yield json_value("spaces", "bytes", '"0x%s"' % (" " * size))
    yield json_value("an address that is long", "Address", '"0x%s"' % ("ab" * (size // 2)))
    yield json_value("an odd one at the end", "list[bytes]", json_list('"0xab"', size, '"0xa"'))


def optional_values(size):
    yield written_value("nulls", "list[u8 | None]", [None] * (size // 5))
    yield written_value("numbers", "list[u8 | None]", [1] * (size // 2))
    yield written_value("null", "Optional[str]", None)
    yield json_value("false at the end", "list[u8 | None]", json_list("null", size, "false"))


def list_values(size):
    deep, of, state, value = "1", "u8", b"\x01", 1
    for _ in range(DEEP):
        deep, of, state, value = "[%s]" % deep, "list[%s]" % of, state_list(state, 1), [value]
    inner, body = of[5:-1], deep[1:-1]
    n = size // (len(body) + 1)
    yield written_value("empty ones", "list[list[u8]]", [[]] * (size // 3))
    yield written_value("ones of one", "list[list[u8]]", [[1]] * (size // 4))
    yield Value("deep", "list[%s]" % inner, json_list(body, size), state_list(state[1:], n), repr([value[0]] * n))
    yield json_value("deep and wrong at the end", "list[%s]" % inner, json_list(body, size, body.replace("1", "-1")), "",
                     state_list(state[1:], n, state[1:-1] + b"\x20"))
    yield json_value("deeper than is read", "list[u8]", "[" * size)
    yield json_value("no comma at the end", "list[u8]", json_list("1", size)[:-1] + " 1]")
    yield json_value("an object instead", "list[u8]", "{%s}" % ",".join(['"a":1'] * (size // 6)))


def tuple_values(size):
    of = "tuple[%s]" % ", ".join(["u8"] * 32)
    yield written_value("ones of 32", "list[%s]" % of, [(1,) * 32] * (size // 66))
    yield written_value("ones of one", "list[tuple[u8]]", [(1,)] * (size // 4))
    yield json_value("one short at the end", "list[%s]" % of, json_list(to_json([1] * 32), size, to_json([1] * 31)), "",
                     state_list(state_list(b"\x01", 32), size // 66, state_list(b"\x01", 31)))
    yield json_value("wrong at the end", "list[%s]" % of, json_list(to_json([1] * 32), size, to_json([1] * 31 + [-1])))


def colliding_slots(n):
    """n numbers, of which half fill a run of a table's places, and half look for a place along it."""
    size = 1 << (2 * n).bit_length()
    found, at = [], 0
    for _ in range(n // 2):
        found.append(at)
        at = (5 * at + 1) % size
    return found + [size * (3 + i) for i in range(n - n // 2)]


def dict_values(size):
    n = size // 26
    equal = {i * PRIME: 1 for i in range(n)}
    yield written_value("equal hashes", "dict[int, u8]", equal)
    yield written_value("equal hashes of large numbers", "dict[int, u8]", {i * PRIME * 2**180: 1 for i in range(size // 80)})
    yield written_value("equal hashes below zero", "dict[int, u8]", {-i * PRIME: 1 for i in range(n)})._replace(literal=None)
    yield written_value("equal hashes, of lists", "dict[int, list[u8]]", {i * PRIME: [] for i in range(n)})
    yield written_value("equal hashes, few", "list[dict[int, u8]]", [{i * PRIME: 1 for i in range(200)}] * (n // 200))
    yield written_value("occupied slots", "dict[int, u8]", {k: 1 for k in colliding_slots(size // 12)})
    yield written_value("numbers", "dict[int, u8]", {i: 1 for i in range(size // 10)})
    yield written_value("texts", "dict[str, u8]", {"%d" % i: 1 for i in range(size // 10)})
    yield written_value("long texts", "dict[str, u8]", {"a" * 1000 + "%d" % i: 1 for i in range(size // 1010)})
    yield written_value("empty ones", "list[dict[str, u8]]", [{}] * (size // 3))
    yield written_value("ones of one", "list[dict[str, u8]]", [{"a": 1}] * (size // 8))
    yield json_value("addresses", "dict[Address, u8]", "{%s}" % ",".join(['"0x%040x":1' % i for i in range(size // 47)]))
    rows = ",".join(['"%d":1' % k for k in equal])
    yield json_value("a name twice at the end", "dict[int, u8]", '{%s,"0":1}' % rows)
    yield json_value("one name", "dict[str, u8]", "{%s}" % ",".join(['"a":1'] * (size // 6)), "",
                     cbor.encode_head(cbor.MAP, size // 6) + b"\x61a\x01" * (size // 6))
    yield json_value("records, equal hashes", "dict[int, Wide]", "{%s}" % ",".join(['"%d":{}' % k for k in equal]), WIDE,
                     encode_state({str(k): {} for k in equal}))


def record_values(size):
    for name, declared in (("64 optional fields, empty", WIDE), ("64 optional records, empty", WIDER)):
        yield json_value(name, "list[Wide]", json_list("{}", size), declared, state_list(b"\xa0", size // 3))
        yield json_value(name + ", wrong at the end", "list[Wide]", json_list("{}", size, '{"f63":false}'), declared)
        yield json_value(name + ", a name unknown at the end", "list[Wide]", json_list("{}", size, '{"f64":1}'), declared)
    full = {"f%d" % i: 1 for i in range(FIELDS)}
    of_parts = {"f%d" % i: {} for i in range(FIELDS)}
    short = {k: v for k, v in full.items() if k != "f63"}
    yield json_value("64 fields", "list[Wide]", json_list(to_json(full), size), NEEDED,
                     state_list(encode_state(full), size // len(to_json(full))))
    yield json_value("64 optional fields", "list[Wide]", json_list(to_json(full), size), WIDE,
                     state_list(encode_state(full), size // len(to_json(full))))
    yield json_value("64 records", "list[Wide]", json_list(to_json(of_parts), size), WIDER,
                     state_list(encode_state(of_parts), size // len(to_json(of_parts))))
    yield json_value("64 fields, one short at the end", "list[Wide]", json_list(to_json(full), size, to_json(short)), NEEDED)
    yield json_value("64 fields, a name twice at the end", "Wide", to_json(full)[:-1] + ',"f0":1}', WIDE)
    yield json_value("names unknown", "Wide", "{%s}" % ",".join(['"g%d":1' % i for i in range(size // 10)]), WIDE,
                     encode_state({"g%d" % i: 1 for i in range(size // 10)}))
    yield json_value("one field, empty", "list[Part]", json_list("{}", size), WIDER, state_list(b"\xa0", size // 3))
    note = {"who": bytes(20), "paid": 1}
    yield json_value("of three fields", "list[Note]", json_list(to_json(note), size), NOTE,
                     state_list(encode_state(note), size // len(to_json(note))))


def enumeration_values(size):
    longest = to_json(WORDS[-1])
    yield json_value("longest", "list[Word]", json_list(longest, size), NAMED, state_list(encode_state(WORDS[-1]), size // len(longest)))
    yield json_value("a near miss at the end", "list[Word]", json_list(longest, size, to_json(WORDS[-1][:-1] + "z")), NAMED)
    yield json_value("a long miss", "Word", to_json("m" * size), NAMED, encode_state("m" * size))
    yield json_value("numbers", "list[Number]", json_list("1009", size), COUNTED, state_list(encode_state(1009), size // 5))
    yield json_value("a number that misses", "list[Number]", json_list("1009", size, "1010"), COUNTED)
    yield json_value("keys", "dict[str, Word]", "{%s}" % ",".join(['"%d":%s' % (i, longest) for i in range(size // 70)]), NAMED)


GENERATORS = {
    typed.Integer: integer_values, typed.Bool: boolean_values, typed.Text: text_values, typed.Binary: binary_values,
    typed.Optional: optional_values, typed.List: list_values, typed.Tuple: tuple_values, typed.Dict: dict_values,
    typed.Record: record_values, typed.Enumeration: enumeration_values,
}


def list_type_classes(of=typed.Type):
    for cls in of.__subclasses__():
        yield cls
        yield from list_type_classes(cls)


def types_without_generator():
    return [t.__name__ for t in list_type_classes() if t not in GENERATORS]


@functools.cache
def hostile_values(size):
    """Each type's name, and a value of it: made once, since several places take those of one size."""
    return [(t.__name__, v) for t, generate in GENERATORS.items() for v in generate(size)]


def make_source(v, body, outside=""):
    return (HEAD + v.declared + outside + "@actor\nclass A:\n" + body).encode()


def as_payload(v):
    if v.json is not None:
        yield make_source(v, "    @public\n    def take(self, x: %s): pass\n" % v.of), "take", ('{"x":%s}' % v.json).encode(), None


def as_answer(v):
    if v.json is not None:
        other = "@interface\nclass Other:\n    def give(self) -> %s: ...\n" % v.of
        yield (make_source(v, "    @public\n    def ask(self, payload): Other(bytes(20)).give()\n", other), "ask", b"",
               v.json.encode("utf-8", "surrogatepass"))


def as_result(v):
    if v.json is not None:
        told = {"job_id": bytes(32), "status": "Completed", "result": v.json.encode(), "error": None, "correlation_id": b""}
        yield (make_source(v, "    def then(self, result: Result[%s]): pass\n" % v.of), "then", encode_state(told),
               encode_state(["json", b"{}", "then"]))


def as_state(v):
    if v.state is not None:
        yield make_source(v, "    m: Map[str, %s]\n    @public\n    def look(self, payload): self.m['k']\n" % v.of), "look", b"", v.state


AGAIN = "        while True:\n            del m['a']\n            m['a']\n"


def as_default(v):
    if v.literal is not None:
        yield (make_source(v, "    m: Map[str, %s] = Map(default=%s)\n    @public\n    def look(self, payload):\n        m = self.m\n"
                              "        m['a'] = m['a']\n%s" % (v.of, v.literal, AGAIN)), "look", b"", None)


PLACES = {"payload": (as_payload, LARGE), "answer": (as_answer, LARGE), "result": (as_result, LARGE), "state": (as_state, LARGE),
          "default": (as_default, SHORT)}


def message_rows():
    """The messages of each value in each place."""
    for place, (put, size) in PLACES.items():
        for t, v in hostile_values(size):
            for row in put(v):
                yield Row("%s of %s: %s" % (place, t, v.name), *row)
    yield from result_rows()


def result_rows():
    """Results of a handler: what it returns is written for its caller."""
    body = NOTE + "E, D, R = [], {}, Note(bytes(20), 5)\n"
    for name, of, value in (("lists", "list[list[u8]]", "[E] * 20000"), ("objects", "list[dict[str, u8]]", "[D] * 20000"),
                            ("records", "list[Note]", "[R] * 9000"), ("numbers", "list[int]", "[1] * 20000"),
                            ("names", "dict[str, u8]", "{'a' * 1000 + str(i): 1 for i in range(2000)}"),
                            ("short names", "dict[int, u8]", "{i: 1 for i in range(20000)}"),
                            ("texts", "list[str]", "[''] * 20000"), ("bytes", "list[bytes]", "[b''] * 20000"),
                            ("nulls", "list[u8 | None]", "[None] * 20000"), ("bools", "list[bool]", "[True] * 20000"),
                            ("tuples", "list[tuple[u8]]", "[(1,)] * 20000")):
        made = HEAD + body + "@actor\nclass A:\n    @public\n    def give(self) -> %s: return %s\n" % (of, value)
        yield Row("written: " + name, made.encode(), "give", b"", None)


def deploy_sources():
    """Sources that name the type of each value often, and write its defaults out."""
    for t, v in hostile_values(DEPLOYED // 8):
        for name, piece in (("arguments", "    @public\n    def h%%d(self, x: %s): pass\n" % v.of),
                            ("unmarked", "    def h%%d(self, x: %s, y: float): pass\n" % v.of),
                            ("defaults", None if v.literal is None else "    m%%d: Map[str, %s] = Map(default=%s)\n" % (
                                v.of, v.literal.replace("%", "%%")))):
            if piece is not None:
                head = make_source(v, "").decode()
                pieces = [piece % i for i in range(max(DEPLOYED // len(piece), 1))][:250]
                yield "deploy of %s: %s, %s" % (t, v.name, name), head + "".join(pieces)

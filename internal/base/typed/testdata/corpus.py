"""Writes payloads.json: payloads of typed handlers, by the host's own reader, for the clients in Go, Python and TypeScript.

    PYTHONPATH=python-host python3 internal/base/typed/testdata/corpus.py > internal/base/typed/testdata/payloads.json

A legal payload stands beside its one form, which json.dumps writes here; a refused one beside the path that the host names. The schema is
that of SOURCE.
"""

import ast
import json
import random

from cowboy_sdk.testing import offchain  # noqa: F401: makes the host importable outside a host
from host import meter, schema, typed

SOURCE = r'''
from dataclasses import dataclass
from enum import Enum
from typing import Annotated
from cowboy_sdk import Address, Amount, Bounds, Hash, actor, public, u8, u16, u32, u64

class Color(Enum):
    RED = "red"
    BLUE = "bl'u\"e\u2028"

class Level(Enum):
    LOW = -1
    HIGH = 7

@dataclass
class Leaf:
    number: u32
    note: str | None = None

@dataclass
class Box:
    who: Address
    paid: Amount
    leaves: list[Leaf]
    color: Color = Color.RED
    level: Level = Level.HIGH
    small: u8 = 3

@actor
class Corpus:
%s'''
TYPES = """int u8 u16 u32 u64 Amount Annotated[int,Bounds(-5,150)] Annotated[int,Bounds(0,9007199254740992)] bool str
Annotated[str,Bounds(1,8)] bytes Address Hash str|None list[int] list[list[u8]|None] tuple[Address,Amount] dict[str,u64] dict[int,bool]
dict[Address,list[str]] dict[Hash,Leaf] Color Level Leaf Box list[Box] dict[str,dict[str,Level]]""".split()
TEXTS = ["", "a", "hé", "𝔸", "\u2028", '"\\/', "\b\f\n\r\t\x00\x1f\x7f", "<&>", "__proto__", "\ufeff", "\uffff", "zzzzzzzz"]
SAFE = typed.SAFE
ONE, OTHER = "0x" + "ab" * 20, "0x" + "01" * 20
WRONG = ["null", "true", "1.5", "1e2", "NaN", "Infinity", "-0", '"-0"', "01", '"01"', '"+1"', "[]", "{}", "[[]]", '"x"', '"0x"', '"0xa"',
         '"0X00"', "9007199254740992", "-9007199254740992", '"%s"' % (1 << 256), '"%s"' % -((1 << 255) + 1),
         '"%s"' % ("9" * 79), '"\\ud800"',
         '"\\udc00\\ud800"', "256", "-6", '"red "', '"%s"' % ONE[:-2], '{"x":1}', '{"number":1,"number":2}', '{"number":1,"more":2}',
         '{"note":"x"}', '["%s"]' % ONE, '["%s","1","2"]' % ONE, '{"1":true,"01":true}',
         '{"%s":[],"%s":[]}' % (ONE, ONE.upper().replace("X", "x")),
         "[" * 16 + "]" * 16, "[" * 15 + "]" * 15, '"' + "é" * 9 + '"', "\t[1 , \"2\"]\n", '{"a":{"b":9}}', '{"a":"9007199254740993"}']
WHOLE = ["", "{}", "[]", "null", '{"v":1} x', '{"v":1,}', '{"v" 1}', '{v:1}', "{'v':1}", '{"v":1,"v":2}', '{"w":1}', '{"v":1,"w":2}',
         '{"\\u0076":1}',
         '\ufeff{"v":1}', '{"v":1}\x00', '{"v":tru}', '{"v":"\n"}', '{"v":"\\x"}', ' {"v":1} ']


def read_schema():
    body = "".join("    @public\n    def h%d(self, v: %s): ...\n" % row for row in enumerate(TYPES))
    body += "    @public\n    def two(self, b: u8, a: Amount): ...\n"
    tree = ast.parse(SOURCE % body)
    found = next(c for c in tree.body if getattr(c, "name", "") == "Corpus")
    functions = {f.name: f for f in found.body}
    return schema.make_schema(tree, "Corpus", functions, set(functions), True)


def random_form(t, rng, depth=0):
    """A value of a type as JSON has it in the one form, for json.dumps."""
    if isinstance(t, typed.Integer):
        n = rng.choice([t.low, t.high, max(t.low, 0), rng.randint(t.low, t.high), max(t.low, min(t.high, rng.randint(-9, 9)))])
        return n if t.numeric else str(n)
    if isinstance(t, typed.Bool):
        return rng.random() < 0.5
    if isinstance(t, typed.Text):
        return rng.choice([s for s in TEXTS if not t.high or t.low <= len(s) <= t.high])
    if isinstance(t, typed.Binary):
        return "0x" + rng.randbytes(t.size or rng.randint(0, 9)).hex()
    if isinstance(t, typed.Optional):
        return None if rng.random() < 0.4 else random_form(t.of, rng, depth + 1)
    if isinstance(t, typed.List):
        return [random_form(t.of, rng, depth + 1) for _ in range(rng.randint(0, 3))]
    if isinstance(t, typed.Tuple):
        return [random_form(x, rng, depth + 1) for x in t.of]
    if isinstance(t, typed.Dict):
        return {str(random_form(t.of, rng)): random_form(t.to, rng, depth + 1) for _ in range(rng.randint(0, 4))}
    if isinstance(t, typed.Enumeration):
        return rng.choice(list(t.values))
    return {f.name: random_form(f.type, rng, depth + 1) for f in t.fields}


def write_loosely(v, rng):
    """The same value in another form that is read too."""
    if isinstance(v, dict):
        rows = [json.dumps(k, ensure_ascii=rng.random() < 0.5) + rng.choice([":", " : "]) + write_loosely(x, rng) for k, x in v.items()]
        rng.shuffle(rows)
        return "{%s}" % rng.choice([",", " ,\n"]).join(rows)
    if isinstance(v, list):
        return "[%s]" % rng.choice([",", ", "]).join(write_loosely(x, rng) for x in v)
    return json.dumps(v, ensure_ascii=rng.random() < 0.5)


def write_one_form(v):
    return json.dumps(v, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def find_refusal(handler, payload):
    """The path at which the host refuses a payload, None where it takes it."""
    meter.begin_message(1 << 40)
    try:
        handler.read(payload)
    except typed.Wrong as w:
        path = "".join(reversed(w.path)).lstrip(".")
        return "" if path == "the payload" else path
    return None


def main():
    rng, found = random.Random(28), read_schema()
    legal, refused = [], []
    for name, h in found.handlers.items():
        for _ in range(8):
            v = {f.name: random_form(f.type, rng) for f in h.arguments}
            raw = write_loosely(v, rng)
            assert find_refusal(h, raw.encode()) is None, (name, raw)
            legal.append([name, raw, write_one_form(v)])
        if name == "two":
            continue
        for wrong in WRONG:
            raw = '{"v":%s}' % wrong
            path = find_refusal(h, raw.encode())
            if path is not None:
                refused.append([name, raw, path])
    for raw in WHOLE:
        path = find_refusal(found.handlers["h0"], raw.encode())
        if path is None:
            legal.append(["h0", raw, '{"v":"1"}'])
        else:
            refused.append(["h0", raw, path])
    told = {"schema": found.write_document().decode(), "legal": legal, "refused": refused}
    rows = {k: json.dumps(v) if k == "schema" else "[\n%s\n]" % ",\n".join(map(json.dumps, v)) for k, v in told.items()}
    print("{\n%s\n}" % ",\n".join("%s: %s" % (json.dumps(k), row) for k, row in rows.items()))


if __name__ == "__main__":
    main()

"""Prices of typed handlers: processor time a cycle of decoding hostile payloads and of writing results, as a multiple of a plain loop's.

    python3 -I -S -B python-host/prices/decoding.py [--bound X]

Prints a line for each, and ends with 1 if one is above the bound, 15.
"""

import argparse
import os
import sys
import time

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]

import measure  # noqa: E402: in this folder

from host import chain, imports, meter, outcome, program, serving, warmup  # noqa: E402: above this folder

SOURCE = b'''
from dataclasses import dataclass
from enum import Enum
from cowboy_sdk import actor, public, Address, Amount, u8

class K(Enum):
    A = "a"

@dataclass
class M:
    who: Address
    paid: Amount
    note: str | None = None

E, D, R = [], {}, M(bytes(20), 5)

@actor
class Taker:
    @public
    def lists(self, x: list[list[u8]]): pass
    @public
    def dicts(self, x: list[dict[str, u8]]): pass
    @public
    def ids(self, x: dict[int, u8]): pass
    @public
    def numbers(self, x: list[int]): pass
    @public
    def texts(self, x: list[str]): pass
    @public
    def datas(self, x: list[bytes]): pass
    @public
    def text(self, x: str): pass
    @public
    def records(self, x: list[M]): pass
    @public
    def enums(self, x: list[K]): pass
    @public
    def maybes(self, x: list[bool | None]): pass
    @public
    def gives_lists(self) -> list[list[u8]]: return [E] * 20000
    @public
    def gives_dicts(self) -> list[dict[str, u8]]: return [D] * 20000
    @public
    def gives_records(self) -> list[M]: return [R] * 9000
    @public
    def gives_numbers(self) -> list[int]: return [1] * 20000
'''
N = 50_000
WHO = '"0x%s"' % ("ab" * 20)


def several(item, n=N):
    return '{"x":[%s]}' % ",".join([item] * n)


ATTACKS = [
    ("empty lists", "lists", several("[]")), ("empty objects", "dicts", several("{}")), ("one digit", "numbers", several("1")),
    ("76 digits", "numbers", several('"%s"' % ("1" * 76), 9000)), ("nulls", "maybes", several("null")),
    ("empty texts", "texts", several('""')), ("empty bytes", "datas", several('"0x"')), ("escapes", "text", '{"x":"%s"}' % ("\\u00e9" * N)),
    ("keys", "ids", '{"x":{%s}}' % ",".join('"%d":1' % i for i in range(N))), ("enums", "enums", several('"a"')),
    ("records", "records", several('{"who":%s,"paid":1}' % WHO, 9000)), ("spaces", "text", '{"x":%s"a"}' % (" " * 500_000)),
    ("brackets in a text", "text", '{"x":"%s"}' % ("[" * 500_000)), ("one name often", "text", "{%s}" % ",".join(['"x":"a"'] * N)),
    ("depth", "text", "[" * 900_000), ("no end", "text", '"\\' * 300_000), ("writing lists", "gives_lists", ""),
    ("writing objects", "gives_dicts", ""), ("writing records", "gives_records", ""), ("writing numbers", "gives_numbers", ""),
]


def message(code, handler, payload, cycles=1 << 40):
    """Cycles and nanoseconds of one message, and how it ended."""
    about = serving.CALLED.named(serving.CALLED.read(warmup.CALL))
    chain.now = chain.Message(about, "call")
    saved = meter.begin(cycles)
    before = time.thread_time_ns()
    ended, _ = outcome.outcome(lambda _: code, b"", "call", handler, payload)
    took = time.thread_time_ns() - before
    used = cycles if meter.account.over else cycles - meter.left()
    meter.end(saved)
    return used, took, ended


def least(code, handler, payload, cycles=1 << 40):
    """The lowest time a cycle of three runs."""
    runs = [message(code, handler, payload, cycles) for _ in range(3)]
    return min(took / used for used, took, _ in runs), runs[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bound", type=float, default=15)
    bound = parser.parse_args().bound
    measure.start()
    plain, _ = least(program.load(b"def f(p):\n    for i in range(10**9): pass\n", imports.exported), "f", b"", 3_000_000)
    code, worst = program.load(SOURCE, imports.exported), 0
    for name, handler, payload in ATTACKS:
        each, (used, _, ended) = least(code, handler, payload.encode())
        worst = max(worst, each / plain)
        print("%-20s %9d cycles %6.1f loops  %s" % (name, used, each / plain, ended))
    print("the worst: %.1f plain loops a cycle, each of %.1f ns" % (worst, plain))
    return worst > bound


if __name__ == "__main__":
    sys.exit(main())

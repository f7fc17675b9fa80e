# Made by `devnet actor client every --lang py`. Do not edit.
# Its schema is 0xb1985c2897bb3e362cf3a05082b60477571646eb3661ffb2bf7b8ff2820bff04.
# flake8: noqa
"""Every type. */ \"\"\" \\ `tick`
A second line.
"""
from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Unpack

from cowboy_sdk.client import AddressLike, Handle, Handlers, Receipt, Schema, Terms


class Color(enum.Enum):
    """A color."""
    RED = 'red'
    BLUE = 'bl\'u"e\U00002028'


@dataclass
class Receipt_:
    self: bool


@dataclass
class Box:
    a_b: int
    aB: int = 3
    tags: list[str] = field(default_factory=lambda: ['x', '\xe9'])
    color: Color = Color.RED
    inner: Receipt_ = field(default_factory=lambda: Receipt_(self=True))


class Level(enum.Enum):
    LOW = -1
    HIGH = 7


@dataclass
class record:
    pass


SCHEMA = Schema(
    '0xb1985c2897bb3e362cf3a05082b60477571646eb3661ffb2bf7b8ff2820bff04',
    '{"schema":1,"actor":"Every","types":{"Box":{"record":[{"name":"a_b","type":"u64"},{"name":"aB","type":"u8","default":3},{"name":"tags","type":{"list":"str"},"default":["x","\xe9"]},{"name":"color","type":"Color","default":"red"},{"name":"inner","type":"Receipt","default":{"self":true}}]},"Color":{"enum":[{"name":"RED","value":"red"},{"name":"BLUE","value":"bl\'u\\"e\U00002028"}]},"Level":{"enum":[{"name":"LOW","value":-1},{"name":"HIGH","value":7}]},"Receipt":{"record":[{"name":"self","type":"bool"}]},"record":{"record":[]}},"handlers":[{"name":"every","arguments":[{"name":"i","type":"int"},{"name":"b8","type":"u8"},{"name":"b16","type":"u16"},{"name":"b32","type":"u32"},{"name":"b64","type":"u64"},{"name":"amount","type":"Amount"},{"name":"age","type":{"int":["0","150"]}},{"name":"far","type":{"int":["0","9007199254740992"]}},{"name":"yes","type":"bool"},{"name":"text","type":"str"},{"name":"short","type":{"str":["1","8"]}},{"name":"data","type":"bytes"},{"name":"who","type":"Address"},{"name":"hash","type":"Hash"},{"name":"maybe","type":{"optional":{"list":{"optional":"int"}}}},{"name":"pair","type":{"tuple":["Address","Amount"]}},{"name":"byname","type":{"dict":["str","u64"]}},{"name":"bynumber","type":{"dict":["int",{"list":"bool"}]}},{"name":"byaddress","type":{"dict":["Address","Level"]}},{"name":"box","type":"Box"},{"name":"level","type":"Level","default":7},{"name":"nested","type":{"list":{"list":"Color"}},"default":[["red"],[]]},{"name":"known","type":{"dict":["str","int"]},"default":{"__proto__":"5"}},{"name":"or_text","type":{"optional":"str"},"default":"x"},{"name":"key","type":"bytes","default":"0x0102"}],"returns":"Box"},{"name":"balance","arguments":[{"name":"of","type":"Address"}],"returns":"Amount"},{"name":"constructor","arguments":[]},{"name":"then","arguments":[]},{"name":"scan","arguments":[]},{"name":"actor","arguments":[{"name":"self","type":"int"},{"name":"value","type":"Amount"}]},{"name":"set_it","arguments":[{"name":"record","type":"record","default":{}}]},{"name":"setIt","arguments":[]},{"name":"raw","raw":true}],"events":["Box"]}',
    {'Box': Box, 'Color': Color, 'Level': Level, 'Receipt': Receipt_, 'record': record},
)


class EveryHandlers(Handlers):
    schema = SCHEMA

    def every(self, *, i: int, b8: int, b16: int, b32: int, b64: int, amount: int, age: int, far: int, yes: bool, text: str, short: str, data: bytes, who: AddressLike, hash: bytes, maybe: list[int | None] | None, pair: tuple[bytes, int], byname: dict[str, int], bynumber: dict[int, list[bool]], byaddress: dict[bytes, Level], box: Box, level: Level = Level.HIGH, nested: list[list[Color]] = [[Color.RED], []], known: dict[str, int] = {'__proto__': 5}, or_text: str | None = 'x', key: bytes = bytes.fromhex('0102'), **terms: Unpack[Terms]) -> Receipt[Box]:
        return self._call('every', {'i': i, 'b8': b8, 'b16': b16, 'b32': b32, 'b64': b64, 'amount': amount, 'age': age, 'far': far, 'yes': yes, 'text': text, 'short': short, 'data': data, 'who': who, 'hash': hash, 'maybe': maybe, 'pair': pair, 'byname': byname, 'bynumber': bynumber, 'byaddress': byaddress, 'box': box, 'level': level, 'nested': nested, 'known': known, 'or_text': or_text, 'key': key}, terms)

    def balance(self, *, of: AddressLike, **terms: Unpack[Terms]) -> Receipt[int]:
        return self._call('balance', {'of': of}, terms)

    def constructor(self, **terms: Unpack[Terms]) -> Receipt[None]:
        return self._call('constructor', {}, terms)

    def then(self, **terms: Unpack[Terms]) -> Receipt[None]:
        return self._call('then', {}, terms)

    def scan(self, **terms: Unpack[Terms]) -> Receipt[None]:
        return self._call('scan', {}, terms)

    def actor(_self, *, self: int, value: int) -> Receipt[None]:
        return _self._call('actor', {'self': self, 'value': value}, {})

    def set_it(self, *, record: record = record(), **terms: Unpack[Terms]) -> Receipt[None]:
        """Set it.

        A backslash \\ and quotes \"\"\" end with \"
        """
        return self._call('set_it', {'record': record}, terms)

    def setIt(self, **terms: Unpack[Terms]) -> Receipt[None]:
        return self._call('setIt', {}, terms)

    def raw(self, payload: bytes | str = b"", **terms: Unpack[Terms]) -> Receipt[bytes]:
        return self._send('raw', payload, terms)


class Every(Handle, EveryHandlers):  # type: ignore[misc]
    """Every type. */ \"\"\" \\ `tick`
    A second line.
    """
    schema = SCHEMA

    @property
    def handlers(self) -> EveryHandlers:
        """Every handler, also one that has the name of an attribute of the handle."""
        return EveryHandlers(self)

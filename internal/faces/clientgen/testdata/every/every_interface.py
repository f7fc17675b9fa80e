# Made by `devnet actor client every --lang actor`: copy it into the actor that calls.
# Its schema is 0xb1985c2897bb3e362cf3a05082b60477571646eb3661ffb2bf7b8ff2820bff04.
from dataclasses import dataclass
from enum import Enum
from typing import Annotated

from cowboy_sdk import Address, Amount, Bounds, Hash, interface, u16, u32, u64, u8


class Color(Enum):
    RED = 'red'
    BLUE = 'bl\'u"e\U00002028'


@dataclass
class Receipt_:
    self: bool


@dataclass
class Box:
    a_b: u64
    aB: u8 = 3
    tags: list[str] = ['x', '\xe9']
    color: Color = Color.RED
    inner: Receipt_ = Receipt_(self=True)


class Level(Enum):
    LOW = -1
    HIGH = 7


@dataclass
class record:
    pass


@interface
class Every:
    """Every type. */ \"\"\" \\ `tick`
    A second line.
    """

    def every(self, i: int, b8: u8, b16: u16, b32: u32, b64: u64, amount: Amount, age: Annotated[int, Bounds(0, 150)], far: Annotated[int, Bounds(0, 9007199254740992)], yes: bool, text: str, short: Annotated[str, Bounds(1, 8)], data: bytes, who: Address, hash: Hash, maybe: list[int | None] | None, pair: tuple[Address, Amount], byname: dict[str, u64], bynumber: dict[int, list[bool]], byaddress: dict[Address, Level], box: Box, level: Level = Level.HIGH, nested: list[list[Color]] = [[Color.RED], []], known: dict[str, int] = {'__proto__': 5}, or_text: str | None = 'x', key: bytes = bytes.fromhex('0102')) -> Box: ...

    def balance(self, of: Address) -> Amount: ...

    def constructor(self) -> None: ...

    def then(self) -> None: ...

    def scan(self) -> None: ...

    def actor(_self, self: int, value: Amount) -> None: ...

    def set_it(self, record: record = record()) -> None: ...

    def setIt(self) -> None: ...

    def raw(self, payload): ...

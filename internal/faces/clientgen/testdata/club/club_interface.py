# Made by `devnet actor client club --lang actor`: copy it into the actor that calls.
# Its schema is 0x104b58f9eb4eb9b0315e48e32ac8705e79ccd4df240ba5dddd12c58afda79fc6.
from dataclasses import dataclass

from cowboy_sdk import Address, Amount, interface


@dataclass
class Joined:
    who: Address
    members: int


@dataclass
class Member:
    who: Address
    paid: Amount
    note: str | None = None


@interface
class Club:
    """A club: members pay to join."""

    def join(self, who: Address, amount: Amount, note: str | None = None) -> int: ...

    def member(self, who: Address) -> Member | None: ...

    def blob(self, payload): ...

    def everyone(self) -> list[Member]: ...

    def set_price(self, price: Amount) -> None: ...

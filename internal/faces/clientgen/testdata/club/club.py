# Made by `devnet actor client club --lang py`. Do not edit.
# Its schema is 0x104b58f9eb4eb9b0315e48e32ac8705e79ccd4df240ba5dddd12c58afda79fc6.
# flake8: noqa
"""A club: members pay to join."""
from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Unpack

from cowboy_sdk.client import AddressLike, Handle, Handlers, Receipt, Schema, Terms


@dataclass
class Joined:
    who: bytes
    members: int


@dataclass
class Member:
    who: bytes
    paid: int
    note: str | None = None


SCHEMA = Schema(
    '0x104b58f9eb4eb9b0315e48e32ac8705e79ccd4df240ba5dddd12c58afda79fc6',
    '{"schema":1,"actor":"Club","types":{"Joined":{"record":[{"name":"who","type":"Address"},{"name":"members","type":"int"}]},"Member":{"record":[{"name":"who","type":"Address"},{"name":"paid","type":"Amount"},{"name":"note","type":{"optional":"str"},"default":null}]}},"handlers":[{"name":"join","arguments":[{"name":"who","type":"Address"},{"name":"amount","type":"Amount"},{"name":"note","type":{"optional":"str"},"default":null}],"returns":"int"},{"name":"renew","callers":"chain","arguments":[{"name":"who","type":"Address"},{"name":"period","type":"u32"}]},{"name":"member","arguments":[{"name":"who","type":"Address"}],"returns":{"optional":"Member"}},{"name":"blob","raw":true},{"name":"everyone","arguments":[],"returns":{"list":"Member"}},{"name":"set_price","arguments":[{"name":"price","type":"Amount"}]}],"events":["Joined"]}',
    {'Joined': Joined, 'Member': Member},
)


class ClubHandlers(Handlers):
    schema = SCHEMA

    def join(self, *, who: AddressLike, amount: int, note: str | None = None, **terms: Unpack[Terms]) -> Receipt[int]:
        """Join for at least the price; returns how many members there are."""
        return self._call('join', {'who': who, 'amount': amount, 'note': note}, terms)

    def member(self, *, who: AddressLike, **terms: Unpack[Terms]) -> Receipt[Member | None]:
        """A member, or nothing."""
        return self._call('member', {'who': who}, terms)

    def blob(self, payload: bytes | str = b"", **terms: Unpack[Terms]) -> Receipt[bytes]:
        """Bytes, as before."""
        return self._send('blob', payload, terms)

    def everyone(self, **terms: Unpack[Terms]) -> Receipt[list[Member]]:
        """All members, in the order in which they joined."""
        return self._call('everyone', {}, terms)

    def set_price(self, *, price: int, **terms: Unpack[Terms]) -> Receipt[None]:
        """What joining costs from now on."""
        return self._call('set_price', {'price': price}, terms)


class Club(Handle, ClubHandlers):
    """A club: members pay to join."""
    schema = SCHEMA

    @property
    def handlers(self) -> ClubHandlers:
        """Every handler, also one that has the name of an attribute of the handle."""
        return ClubHandlers(self)

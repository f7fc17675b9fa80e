"""Handles: an actor whose handlers are methods."""

from __future__ import annotations

import copy
import json
from typing import Any, Generic, TypedDict, TypeVar, Union

from cowboy_sdk.client import answers
from cowboy_sdk.client.values import Schema

T = TypeVar("T")
AddressLike = Union[str, bytes, "ChainActor", "Handle"]
__unittest = True  # unittest leaves the lines of this file out of tracebacks


class ChainActor:
    """An actor of a chain, by which its handle calls it: cowboy_sdk.testing.Actor."""


class Receipt(answers.Receipt, Generic[T]):
    """How a call ended, with the handler's result. Of a read it has status, output and value."""

    value: T

    def __init__(self, fields: dict[str, Any], value: T) -> None:
        answers.Record.__init__(self, "receipt", dict(fields, value=value))

    def __repr__(self) -> str:
        if hasattr(self, "height"):
            return super().__repr__()
        return "<read: %r>" % (self.value,) if self.ok else "<read: %s>" % self.status


class Terms(TypedDict, total=False):
    """The terms of a call besides its arguments."""

    sender: AddressLike  # the account that signs; alice unless given
    value: int  # in wei, moved to the actor
    sponsor: int  # in wei, the most that timers of the actor may cost the sender
    cycles: int  # the most that it may use
    cells: int
    read: bool  # ask the latest state, without a transaction
    dry_run: bool  # execute it on the latest state, and change nothing


class Handlers:
    """Every handler of an actor as a method."""

    schema: Schema

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def _call(self, handler: str, arguments: dict[str, Any], terms: Terms) -> Receipt[Any]:
        __tracebackhide__ = True
        return self._handle._call(handler, arguments, terms)

    def _send(self, handler: str, payload: bytes | str, terms: Terms) -> Receipt[Any]:
        __tracebackhide__ = True
        return self._handle._send(handler, payload, terms)


class Handle:
    """An actor by what deploy returned, or by its name or address on a chain. Generated classes are below it."""

    schema: Schema

    def __init__(self, actor: Any, name: str | bytes | None = None, **terms: Any) -> None:
        if not isinstance(actor, ChainActor):
            if name is None:
                raise TypeError("give an actor that deploy returned, or a chain and the actor's name")
            actor = actor.actor(name)
        self._actor, self._terms = actor, terms
        told = self.chain.get("/actor/%s/schema" % self.chain.path(actor))
        if not hasattr(type(self), "schema"):
            self.schema = Schema("", json.dumps(told))
        elif not self.schema.agrees(told):
            shown = actor.name or answers.show_value(actor.address)
            raise TypeError("the schema of %s changed: run devnet actor client %s again" % (shown, shown))

    def __getattr__(self, name: str) -> Any:
        """A handler of a handle that was made without a generated class."""
        if name.startswith("_") or name == "schema":
            raise AttributeError(name)
        return Dynamic(self, name)

    @property
    def handlers(self) -> Any:
        """Every handler, also one that has the name of an attribute of the handle."""
        return ByName(self)

    def __repr__(self) -> str:
        return "<%s %s>" % (type(self).__name__, self._actor.name or answers.show_value(self._actor.address))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.schema.handlers]

    def by(self, sender: AddressLike | None = None, **terms: Any) -> Any:
        """The same actor with terms of its calls: club.by("bob", value=5).join(…)."""
        if sender is not None:
            terms["sender"] = sender
        other = copy.copy(self)
        other._terms = dict(self._terms, **terms)
        return other

    @property
    def chain(self) -> Any:
        return self._actor.chain

    @property
    def address(self) -> bytes:
        return self._actor.address

    @property
    def name(self) -> str:
        return self._actor.name

    @property
    def balance(self) -> int:
        return self._actor.balance

    @property
    def timers(self) -> list[Any]:
        return self._actor.timers

    @property
    def logs(self) -> list[str]:
        return self._actor.logs

    def state(self, key: bytes | str | None = None) -> Any:
        return self._actor.state(key)

    def call(self, handler: str, payload: Any = b"", sender: AddressLike = "alice", **more: Any) -> answers.Receipt:
        """Call with bytes, as Actor.call."""
        __tracebackhide__ = True
        return self._actor.call(handler, payload, sender, **more)

    def events(self, event: type[T] | str, since: int = 1) -> list[Any]:
        """The values of its events of a type of the schema, in order."""
        name = event if isinstance(event, str) else next((n for n, c in self.schema.classes.items() if c is event), event.__name__)
        return [self.schema.decode(name, e.data) for e in self._actor.events(name, since)]

    def _resolve_address(self, v: Any) -> Any:
        """An address of what may name one: an account's or an actor's name, an actor, a handle, bytes."""
        return self.chain.address(v) if isinstance(v, str) else getattr(v, "address", v)

    def _call(self, handler: str, arguments: dict[str, Any], terms: Terms) -> Receipt[Any]:
        __tracebackhide__ = True
        payload = self.schema.payload(handler, arguments, self._resolve_address)
        receipt = self._call_with_terms(handler, payload, terms)
        returns = self.schema.handler(handler).get("returns")
        return Receipt(receipt, None if returns is None else self.schema.decode(returns, receipt["output"]))

    def _send(self, handler: str, payload: bytes | str, terms: Terms) -> Receipt[Any]:
        __tracebackhide__ = True
        receipt = self._call_with_terms(handler, payload, terms)
        return Receipt(receipt, receipt["output"])

    def _call_with_terms(self, handler: str, payload: Any, terms: Any) -> dict[str, Any]:
        __tracebackhide__ = True
        more = dict(self._terms, **terms)
        sender = self._resolve_address(more.pop("sender", "alice"))
        if more.pop("read", False):
            return {"status": "ok", "handler": handler, "output": self._actor.read(handler, payload, sender)}
        if more.pop("dry_run", False):
            return self._actor.dry_run(handler, payload, sender, **more).__dict__
        return self._actor.call(handler, payload, sender, **more).__dict__

    def _submit_with_terms(self, handler: str, payload: Any, terms: Any) -> bytes:
        more = dict(self._terms, **terms)
        return self._actor.send(handler, payload, self._resolve_address(more.pop("sender", "alice")), **more)


class ByName:
    """The handlers of a handle without a generated class."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return Dynamic(self._handle, name)

    def __dir__(self) -> list[str]:
        return list(self._handle.schema.handlers)


class Dynamic:
    """One handler, called by the schema that the network told: club.join(who="bob", amount=5)."""

    def __init__(self, handle: Handle, name: str) -> None:
        self._handle, self._name = handle, name
        self._raw = handle.schema.handler(name).get("raw", False)

    def __repr__(self) -> str:
        return "<handler %s of %r>" % (self._name, self._handle._actor)

    def __call__(self, *payload: Any, **given: Any) -> Receipt[Any]:
        __tracebackhide__ = True
        told, terms = self._split_terms(payload, given)
        if self._raw:
            return self._handle._send(self._name, told, terms)
        return self._handle._call(self._name, told, terms)

    def by(self, sender: AddressLike | None = None, **terms: Any) -> Dynamic:
        """The same handler with terms of its calls, also those that it has as arguments."""
        return Dynamic(self._handle.by(sender, **terms), self._name)

    def send(self, *payload: Any, **given: Any) -> bytes:
        """Hand a call in without waiting: the transaction's hash, for chain.receipt."""
        __tracebackhide__ = True
        told, terms = self._split_terms(payload, given)
        if not self._raw:
            told = self._handle.schema.payload(self._name, told, self._handle._resolve_address)
        return self._handle._submit_with_terms(self._name, told, terms)

    def _split_terms(self, payload: tuple[Any, ...], given: dict[str, Any]) -> tuple[Any, Any]:
        """The payload or the arguments of a call, and its terms."""
        __tracebackhide__ = True
        if self._raw:
            if len(payload) > 1:
                raise TypeError("%s takes one payload: got %d" % (self._name, len(payload)))
            return payload[0] if payload else given.pop("payload", b""), given
        arguments = self._handle.schema.handler(self._name)["arguments"]
        if payload:
            named = ", ".join(f["name"] + "=…" for f in arguments)
            raise TypeError("%s takes each argument by its name: %s" % (self._name, named or "none"))
        taken = {f["name"] for f in arguments}
        terms = {n: given.pop(n) for n in list(given) if n in Terms.__annotations__ and n not in taken}
        return given, terms

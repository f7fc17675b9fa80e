"""Actors and timers of a chain, for a test."""

import json
from difflib import get_close_matches
from functools import wraps
from urllib.parse import quote

from cowboy_sdk.client.answers import Receipt, Record, read_record, show_value, to_bytes, to_hex
from cowboy_sdk.client.attributes import wrap_attribute
from cowboy_sdk.client.handle import ChainActor, Handle
from cowboy_sdk.testing.conversation import DevnetError

__unittest = True  # unittest leaves the lines of this file out of tracebacks


class Timer(Record):
    """A timer in any state; story lists its events."""

    def __init__(self, chain, form):
        super().__init__("timer", read_record("timer", form).__dict__)
        self.__dict__["_chain"] = chain

    @property
    def story(self):
        return [read_record(e["kind"], e) for e in self._chain.get("/timer/0x%s/story" % self.id.hex())["story"]]

    def cancel(self):
        """By the system key, as governance may."""
        return Receipt(self._chain.post("/devnet/timer/cancel", {"id": "0x" + self.id.hex()}))


def state_of(actor, schema, name):
    """A value of typed state, or its Entries."""
    of = schema.state[name]
    if "list" in of or "key" in of:
        return Entries(actor, schema, of)
    return schema.decode(of["type"], actor.read(name))


class Entries:
    """A List or a Map of an actor's state: club.members[0], len(club.members), club.log["bob"]."""

    def __init__(self, actor, schema, of):
        self._actor, self._schema, self._of = actor, schema, of

    def __getitem__(self, key):
        __tracebackhide__ = True
        try:
            raw = self._actor.read("%s[%s]" % (self._of["name"], key_text(key)))
        except DevnetError as error:
            if error.code != "not_set":
                raise
            raise (IndexError if "list" in self._of else KeyError)(key) from None
        return self._schema.decode(self._of.get("list", self._of.get("type")), raw)

    def __len__(self):
        if "list" not in self._of:
            raise TypeError("a Map of state keeps no length")
        return int(json.loads(self._actor.read("len(%s)" % self._of["name"])))

    def __repr__(self):
        return "<state %s of %r>" % (self._of["name"], self._actor)


def key_text(key):
    """A key of a Map or a List in brackets."""
    if isinstance(key, tuple):
        return ",".join(map(key_text, key))
    if isinstance(key, Actor):
        key = key.address
    return '"0x%s"' % key.hex() if isinstance(key, bytes) else json.dumps(str(key) if isinstance(key, int) else key)


def suggest_name(name, known):
    near = get_close_matches(name, known, 1)
    return "; did you mean %s?" % near[0] if near else ""


def tell_of_handler(method):
    """A method that says how to call the handler of its name, where its arguments are not its own."""
    @wraps(method)
    def call_method(self, *arguments, **given):
        __tracebackhide__ = True
        try:
            return method(self, *arguments, **given)
        except TypeError as error:
            if error.__traceback__.tb_next is not None:
                raise
            raise TypeError(self._not_a_handler(method.__name__, str(error))) from None  # the arguments do not fit

    return call_method


class Actor(ChainActor):
    """A deployed actor. Its handlers are methods: club.join(who="bob", amount=5), or counter.add("2") of one that takes bytes."""

    def __init__(self, chain, address, name, source, origin):
        self.chain, self._address, self._name, self.source, self.origin = chain, address, name, source, origin
        self.deployed = None  # its deploy's receipt
        self.announced = None  # the source of the last upgrade

    def __repr__(self):
        return "<actor %s>" % (self.name or show_value(self.address))

    @tell_of_handler
    def again(self):
        """Another handle of the same actor: what a test sets on one is not on the other."""
        other = Actor(self.chain, self.address, self.name, self.source, self.origin)
        other.deployed, other.announced = self.deployed, self.announced
        return other

    @tell_of_handler
    def as_then(self, then):
        """Forget the upgrades since then, a handle of the same actor."""
        self.source, self.announced = then.source, then.announced
        return self

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        handle = self._make_handle()
        if name in handle.schema.handlers:
            return getattr(handle.handlers, name)
        if name in handle.schema.state:
            return state_of(self, handle.schema, name)
        state = handle.schema.state
        raise AttributeError("%r has no attribute and no handler %s; its handlers are %s%s%s" % (
            self, name, ", ".join(handle.schema.handlers) or "none", "; its state is " + ", ".join(state) if state else "",
            suggest_name(name, [*handle.schema.handlers, *state])))

    def _not_a_handler(self, name, words=None):
        """Words for a call of an attribute that is no call of it: the way to the handler of its name, if there is one."""
        try:
            there = name in self._make_handle().schema.handlers
        except (AttributeError, DevnetError):
            there = False
        if there:
            return "%s is an attribute of every actor here: call the handler by %s.handlers.%s(…)" % (name, self.name or "actor", name)
        return words or "%s is an attribute, and %r has no handler of that name" % (name, self)

    def __dir__(self):
        schema = self._make_handle().schema
        return sorted({*super().__dir__(), *schema.handlers, *schema.state})

    @property
    def handlers(self):
        """Every handler, also one that has the name of an attribute: token.handlers.balance(of="bob")."""
        return self._make_handle().handlers

    def _make_handle(self):
        """By the schema of the code that it has now."""
        try:
            return Handle(self)
        except DevnetError as error:
            if error.code != "no_schema":
                raise
            raise AttributeError("%r has no schema: call it by call(NAME, PAYLOAD)" % self) from None

    @tell_of_handler
    def lines(self):
        return (self.origin or self.name or "the actor") + ".py", self.source.splitlines()

    @tell_of_handler
    def call(self, handler, payload=b"", sender="alice", **more):
        """As Chain.call."""
        __tracebackhide__ = True
        return self.chain.call(self, handler, payload, sender, **more)

    @tell_of_handler
    def dry_run(self, handler, payload=b"", sender="alice", **more):
        """As Chain.dry_run."""
        return self.chain.dry_run(self, handler, payload, sender, **more)

    @tell_of_handler
    def send(self, handler, payload=b"", sender="alice", **more):
        """As Chain.send."""
        return self.chain.send(self, handler, payload, sender, **more)

    @tell_of_handler
    def read(self, handler, payload=b"", sender=None):
        """As Chain.read."""
        __tracebackhide__ = True
        return self.chain.read(self, handler, payload, sender)

    @tell_of_handler
    def bid(self, late=0, owner=None, **told):
        """As Chain.bid."""
        __tracebackhide__ = True
        return self.chain.bid(self, late, owner, **told)

    @tell_of_handler
    def upgrade(self, source, migrate=b"", sender="alice", **more):
        """As Chain.upgrade."""
        __tracebackhide__ = True
        return self.chain.upgrade(self, source, migrate, sender, **more)

    @tell_of_handler
    def apply_upgrade(self, sender="alice"):
        """As Chain.apply_upgrade."""
        __tracebackhide__ = True
        return self.chain.apply_upgrade(self, sender)

    @tell_of_handler
    def upgrade_terms(self, by=None, delay=None, never=False, sender="alice"):
        """As Chain.upgrade_terms."""
        __tracebackhide__ = True
        return self.chain.upgrade_terms(self, by, delay, never, sender)

    @property
    def upgrades(self):
        """The state of its upgrade: done, by, delay and announced."""
        return read_record("upgrades", self.chain.get("/actor/" + quote(self.chain.path(self), safe=""))["upgrades"])

    @property
    def address(self):
        return wrap_attribute(self, "address", self._address)

    @address.setter
    def address(self, address):
        self._address = address

    @property
    def name(self):
        return wrap_attribute(self, "name", self._name)

    @property
    def balance(self):
        return wrap_attribute(self, "balance", self.chain.balance(self))

    @tell_of_handler
    def set_state(self, key, value):
        """As Chain.set_state."""
        return self.chain.set_state(self, key, value)

    @tell_of_handler
    def delete_state(self, key):
        """As Chain.delete_state."""
        return self.chain.delete_state(self, key)

    @property
    def timers(self):
        """The pending ones; chain.timers(actor) has those in every state."""
        return wrap_attribute(self, "timers", self.chain.timers(self, "pending"))

    @property
    def logs(self):
        """The lines it printed, oldest first."""
        return wrap_attribute(self, "logs", [line["line"] for line in self.chain.pages("/actor/%s/logs" % self.chain.path(self))])

    @tell_of_handler
    def events(self, name=None, since=1):
        return self.chain.events(self, name, since)

    @tell_of_handler
    def state(self, key=None):
        """The value of a key, or None; without a key all of them."""
        if key is None:
            return self.entries()
        key = to_bytes(key, "a key")
        return self.entries(key).get(key)

    @tell_of_handler
    def state_int(self, key, default=0):
        """A number that the SDK's set_int keeps."""
        value = self.state(key)
        return default if value is None else int.from_bytes(value, "big", signed=True)

    @tell_of_handler
    def entries(self, prefix=b""):
        """Keys and values of its state."""
        return {bytes.fromhex(e["key"][2:]): bytes.fromhex(e["value"][2:]) for e in self._state_entries(prefix)}

    @tell_of_handler
    def attributes(self, prefix=b""):
        """Its declared state by the schema, as JSON: {"price": "5", 'log["0x…"]': {…}}. Other keys are left out."""
        found = (e["typed"] for e in self._state_entries(prefix) if "typed" in e)
        return {t["attribute"]: t["value"] for t in found if "value" in t}

    def _state_entries(self, prefix):
        query = {"prefix": to_hex(prefix, "a prefix")} if prefix else {}
        return self.chain.pages("/actor/%s/state" % quote(self.chain.path(self)), query)

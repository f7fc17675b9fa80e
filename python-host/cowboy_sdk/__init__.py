"""The SDK's on-chain part: actors as classes, with callers said by decorators.

    from cowboy_sdk import actor, public, callable_by, OWNER

    @actor
    class Counter:
        @public
        def add(self, payload): ...

        @callable_by(OWNER)
        def reset(self, payload): ...

Under @actor a handler without @public or @callable_by refuses every caller. The chain itself still runs init, deploy, timers' handlers,
get_gas_bid, on_runner_result and the code after an await.
"""

from host import actor_code, chain, exact, meter, representation, typed
from host.attribute_tables import show_attributes
from host.bids import CONTEXT, PARAMS, TIERS, GBAContext, TxFeeParams
from host.costs import table
from host.sealed import DECLARED, Sealed, make_library

import pvm_host
from cowboy_sdk import runner, runtime
from pvm_host import schedule_timer

__all__ = (
    "actor public callable_by OWNER SELF call send ActorRef Storage runtime runner capture schedule_timer PriorityTier "
    "GBAContext TxFeeParams u8 u16 u32 u64 Amount Address Hash List Map Bounds Result emit later interface"
).split()

PriorityTier = make_library("PriorityTier", TIERS)
u8 = u16 = u32 = u64 = Amount = Address = Hash = List = Map = Bounds = Result = DECLARED  # never run: host/schema.py reads annotations
ATTRIBUTE = 4  # cycles of an attribute of the class that is state


class _Who(Sealed):
    """A caller known by its part."""

    __slots__ = ("_host_part",)

    def __init__(self, part):
        object.__setattr__(self, "_host_part", part)


representation.RECORDS[_Who] = lambda _text, who: who._host_part
OWNER = _Who("OWNER")
SELF = _Who("SELF")


class Storage(Sealed):
    """The actor's state as a dictionary of bytes; keys may be str."""

    __slots__ = ()

    def __getitem__(self, key):
        value = chain.look_up(key)
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key, value):
        chain.put_state(key, value)

    def __delitem__(self, key):
        chain.delete_state(key)

    def __contains__(self, key):
        return chain.look_up(key) is not None

    def get(self, key, default=None):
        value = chain.look_up(key)
        return default if value is None else value

    def get_int(self, key, default=0):
        """A number kept by set_int."""
        value = chain.look_up(key)
        if value is None:
            return default
        meter.charge(len(value) // 8 + 1)
        return int.from_bytes(value, "big", signed=True)

    def set_int(self, key, value):
        """Keep a number as its shortest two's complement, big endian."""
        value = exact.require_integer(value, "what set_int keeps")
        meter.charge(value.bit_length() // 64 + 1)
        chain.put_state(key, value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True))


def actor(cls):
    """Make cls this file's actor; it has self.address and self.storage."""
    if not actor_code.is_class(cls):
        raise TypeError("@actor decorates only a class of this file")
    cls._host_actor = True
    cls.address = chain.now.about.me
    cls.storage = Storage()
    if chain.now.schema is not None:
        for name, attribute in chain.now.schema.attributes.items():
            meter.charge(ATTRIBUTE)
            setattr(cls, name, attribute)
    return cls


def _mark_access(handler, access):
    if not actor_code.is_function(handler):
        raise TypeError("@public and @callable_by decorate only a handler")
    handler._host_access = access
    return handler


def public(handler):
    """Anyone may call it."""
    return _mark_access(handler, None)


def callable_by(*callers):
    """Only these may call it: OWNER, SELF, or addresses."""
    if not callers:
        raise TypeError("callable_by names at least one caller")
    meter.charge(10 * len(callers))
    allowed = tuple(c if type(c) is _Who else chain.check_address(c, "a caller") for c in callers)

    def mark(handler):
        return _mark_access(handler, allowed)
    return mark


def may_call(access):
    """Whether the sender of this message is among access."""
    m = chain.now.about
    for who in access:
        if m.sender == (m.owner if who is OWNER else m.me if who is SELF else who):
            return True
    return False


def call(target, method, args=b"", cycles_limit=100_000):
    """Run a handler of target now; returns its bytes."""
    return pvm_host.call_actor(target, method, args, cycles_limit)


def send(target, payload=b"", handler="handle_message"):
    """Deliver payload to target in the next block."""
    pvm_host.send_message(target, payload, handler)


def emit(event):
    """An event: an instance of a dataclass of this file, whose name the event has."""
    name = type(event).__name__
    if name not in chain.now.schema.events:
        raise TypeError("emit takes an instance of a dataclass, made in the call, as in emit(Joined(who))")
    meter.charge(table.serialise)
    try:
        data = typed.bound_text(chain.now.schema.types[name].text(event))
    except typed.Wrong as w:
        raise TypeError("%s: %s" % (name, w.words())) from None
    pvm_host.emit_event(name, data)


class Later(Sealed):
    """A call of this actor's own handler that no timer has yet."""

    __slots__ = ("_host_handler", "_host_payload")

    def __init__(self, handler, payload):
        object.__setattr__(self, "_host_handler", handler)
        object.__setattr__(self, "_host_payload", payload)

    def at(self, height, **terms):
        """At a height, with the terms of schedule_timer. Returns the timer's id."""
        return pvm_host.schedule_timer(height, self._host_payload, handler=self._host_handler, **terms)

    def after(self, blocks, **terms):
        """After so many blocks."""
        return self.at(chain.now.about.height + exact.require_integer(blocks, "how many blocks"), **terms)


representation.RECORDS[Later] = lambda _text, later: "<a call of %s>" % later._host_handler


def later(method, /, *args, **arguments):
    """A call of a handler of this actor by a timer, as in later(self.renew, who=who).after(100). The arguments are checked now."""
    said = typed.handler_of(method)
    if said.result is not None:
        raise TypeError("%s is given the result of a job, not called by a timer" % said.name)
    return Later(said.name, typed.payload_of(said, args, arguments))


class _Sending:
    """Vault(a).send: the same actor, whose methods are messages of the next block."""

    def __get__(self, instance, owner=None):
        if instance is None:
            raise AttributeError("send belongs to an actor, as in %s(address).send" % owner.__name__)
        return _bind_actor(owner, instance.__dict__["address"], sends=True)


def _bind_actor(cls, address, sends=False, cycles=None):
    made = object.__new__(cls)
    made.__dict__.update(address=address, _host_sends=sends, _host_cycles=cycles)
    return made


def _make_asking_method(said):
    """A method of a class under @interface."""
    def ask(self, /, *args, **arguments):
        meter.charge(table.call)
        held = self.__dict__
        address, cycles = chain.check_address(held.get("address")), held.get("_host_cycles")
        try:
            payload = said.write_payload(typed.name_arguments(said, args, arguments))
        except typed.Wrong as w:
            raise TypeError("%s: %s" % (said.name, w.words())) from None
        if held.get("_host_sends"):
            pvm_host.send_message(address, payload, said.name, **({} if cycles is None else {"cycles_limit": cycles}))
            return None
        raw = pvm_host.call_actor(address, said.name, payload, cycles or 0)
        try:
            return typed.read_answer(said, raw or b"")
        except typed.Wrong as w:
            raise pvm_host.CallError("bad_answer", w.words()) from None
    ask.__name__ = said.name
    return ask


def _limit(self, *, cycles):
    """The same actor, whose next call has at most so many cycles."""
    cycles = chain.check_number(cycles, 64, "cycles")
    return _bind_actor(type(self), self.__dict__["address"], self.__dict__.get("_host_sends", False), cycles)


def _of_address(self, address):
    meter.charge(table.call)
    self.__dict__.update(address=chain.check_address(address), _host_sends=False, _host_cycles=None)


def interface(cls):
    """Over a class of methods without bodies: another actor, whose handlers they are."""
    methods = chain.now.schema.interfaces.get(getattr(cls, "__name__", None))
    if not actor_code.is_class(cls) or methods is None:
        raise TypeError("@interface decorates a class at the top of this file")
    meter.charge(ATTRIBUTE * (3 + len(methods)))
    for name, said in methods.items():
        setattr(cls, name, _make_asking_method(said))
    cls.__init__, cls.limit, cls.send = _of_address, _limit, _Sending()
    return cls


def capture(**names):
    """In a continuation, ctx = capture(): its attributes are what outlives an await."""
    raise RuntimeError("capture() is a statement of a continuation: write ctx = capture()")


class ActorRef(Sealed):
    """Another actor, by address."""

    __slots__ = ("address",)

    def __init__(self, address):
        object.__setattr__(self, "address", chain.check_address(address))

    def __eq__(self, other):
        return type(other) is ActorRef and self.address == other.address

    def __hash__(self):
        return hash(self.address)

    def call(self, method, args=b"", cycles_limit=100_000):
        return call(self.address, method, args, cycles_limit)

    def send(self, payload=b"", handler="handle_message"):
        send(self.address, payload, handler)


representation.RECORDS[ActorRef] = lambda _text, ref: "ActorRef(0x%s)" % ref.address.hex()
chain.ActorRef = ActorRef
# The classes that actors call, and what they may read of an instance.
show_attributes(Later, "at after")
CLASSES = {Storage: "get get_int set_int", ActorRef: "address call send", GBAContext: " ".join(CONTEXT), TxFeeParams: " ".join(PARAMS)}

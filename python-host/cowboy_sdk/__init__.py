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

from host import actor_code, chain, exact, meter, representation
from host.bids import CONTEXT, PARAMS, TIERS, GBAContext, TxFeeParams
from host.sealed import Sealed, library

import pvm_host
from cowboy_sdk import runner, runtime
from pvm_host import schedule_timer

__all__ = (
    "actor public callable_by OWNER SELF call send ActorRef Storage runtime runner capture schedule_timer PriorityTier "
    "GBAContext TxFeeParams"
).split()

PriorityTier = library("PriorityTier", TIERS)


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
        value = chain.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key, value):
        chain.put(key, value)

    def __delitem__(self, key):
        chain.delete(key)

    def __contains__(self, key):
        return chain.get(key) is not None

    def get(self, key, default=None):
        value = chain.get(key)
        return default if value is None else value

    def get_int(self, key, default=0):
        """A number kept by set_int."""
        value = chain.get(key)
        if value is None:
            return default
        meter.charge(len(value) // 8 + 1)
        return int.from_bytes(value, "big", signed=True)

    def set_int(self, key, value):
        """Keep a number as its shortest two's complement, big endian."""
        value = exact.integer(value, "what set_int keeps")
        meter.charge(value.bit_length() // 64 + 1)
        chain.put(key, value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True))


def actor(cls):
    """Make cls this file's actor; it has self.address and self.storage."""
    if not actor_code.is_class(cls):
        raise TypeError("@actor decorates only a class of this file")
    cls._host_actor = True
    cls.address = chain.now.about.me
    cls.storage = Storage()
    return cls


def _mark(handler, access):
    if not actor_code.is_function(handler):
        raise TypeError("@public and @callable_by decorate only a handler")
    handler._host_access = access
    return handler


def public(handler):
    """Anyone may call it."""
    return _mark(handler, None)


def callable_by(*callers):
    """Only these may call it: OWNER, SELF, or addresses."""
    if not callers:
        raise TypeError("callable_by names at least one caller")
    meter.charge(10 * len(callers))
    allowed = tuple(c if type(c) is _Who else chain.address(c, "a caller") for c in callers)

    def mark(handler):
        return _mark(handler, allowed)
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


def capture(**names):
    """In a continuation, ctx = capture(): its attributes are what outlives an await."""
    raise RuntimeError("capture() is a statement of a continuation: write ctx = capture()")


class ActorRef(Sealed):
    """Another actor, by address."""

    __slots__ = ("address",)

    def __init__(self, address):
        object.__setattr__(self, "address", chain.address(address))

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
CLASSES = {Storage: "get get_int set_int", ActorRef: "address call send", GBAContext: " ".join(CONTEXT), TxFeeParams: " ".join(PARAMS)}

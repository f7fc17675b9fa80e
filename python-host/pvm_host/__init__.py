"""The chain, as a Python actor sees it (CIP-5, CIP-6).

State, payloads and addresses are bytes; an address may also be given as 0x and
40 hexadecimal digits. A refusal of the chain is a HostError with its code, and
may be caught; running out of cycles or cells may not. A refusal of set_state, delete_state or emit_event ends the message, since they
wait for no answer.
"""

from host import actor_code, attributes, chain, exact, meter
from host.bids import Tier
from host.chain import check_address as _address
from host.chain import check_bytes as _data
from host.chain import check_text as _name
from host.chain import check_number as _number
from host.errors import CallError, HostError, JobError, SendError, StateError, TimerError, TransferError

__all__ = (
    "HostError StateError TimerError CallError SendError TransferError JobError schedule_timer schedule_timer_ex "
    "extend_timer cancel_timer set_gas_bidder get_state set_state delete_state emit_event send_message call_actor submit_job "
    "block_height self_address context keccak256 randomness charge_gas get_balance transfer"
).split()

SEND_CYCLES = 100_000  # prepaid for the delivery of a message unless given
SEND_CELLS = 10_000


def schedule_timer(height, payload=b"", fee_payer=None, gas_limit=None, expires_at=None, max_fee_per_cycle=None,
                   max_priority_fee_per_cycle=None, *, handler=None, bid=None, gba=None, priority_tier_hint=None,
                   watch=None, cycles_limit=None):
    """Call handler (default handle_timer) with payload at height. Returns the timer's id.

    fee_payer is this actor, or who signed the transaction that calls it, within
    its sponsor. cycles_limit is an older name of gas_limit.

    With watch, a key of this actor's state or (actor, key), it is due when that
    key's value changes, at height at the earliest.
    """
    if cycles_limit is not None:
        if gas_limit is not None:
            raise TypeError("gas_limit and cycles_limit are two names of one argument: give one")
        gas_limit = cycles_limit
    watched, key = _split_watch(watch)
    asked = {"height": _number(height, 64, "the height"), "payload": _data(payload), "handler": _name(handler or "", "the handler")}
    if fee_payer is not None:
        asked["fee_payer"] = _address(fee_payer, "fee_payer")
    for name, given, bits in (("gas_limit", gas_limit, 64), ("expires_at", expires_at, 64), ("max_fee_per_cycle", max_fee_per_cycle, 256),
                              ("max_priority_fee_per_cycle", max_priority_fee_per_cycle, 256), ("bid", bid, 256)):
        if given is not None:
            asked[name] = _number(given, bits, name)
    if gba is not None:
        asked["gba"] = _address(gba, "gba")
    if priority_tier_hint is not None:
        asked["priority_tier_hint"] = _tier_text(priority_tier_hint)
    if watched is not None:
        asked["watched"], asked["key"] = watched, key
    return chain.ask_chain(chain.SCHEDULE, **asked)


def _tier_text(hint):
    """A PriorityTier, an Enum like it, or its value."""
    if hint is None:
        return None
    if not isinstance(hint, str):
        hint = tier_value(hint)
    return _name(hint, "priority_tier_hint")


def tier_value(hint):
    """The type of a tier: its class computes nothing."""
    if type(hint) is Tier:
        return hint.value
    kind = actor_code.kind_of(type(hint))
    return attributes.object_dict(hint).get("_value_") if kind is not None and kind.enumeration else hint


def _split_watch(watch):
    if watch is None:
        return None, None
    if isinstance(watch, tuple):
        if len(watch) != 2:
            raise ValueError("watch is a key of this actor's state, or (actor, key)")
        return _address(watch[0], "the watched actor"), chain.state_key(watch[1])
    return chain.now.about.me, chain.state_key(watch)


def schedule_timer_ex(height, payload, fee_payer=None, gas_limit=None, expires_at=None):
    """schedule_timer with payer, limit and expiry by position."""
    return schedule_timer(height, payload, fee_payer=fee_payer, gas_limit=gas_limit, expires_at=expires_at)


def _check_timer_id(timer_id):
    timer_id = _data(timer_id, "the timer's id")
    if len(timer_id) != 32:
        raise ValueError("a timer's id is 32 bytes")
    return timer_id


def extend_timer(timer_id, new_expires_at):
    """Let a timer of this actor live until new_expires_at."""
    chain.ask_chain(chain.EXTEND, timer_id=_check_timer_id(timer_id), new_expires_at=_number(new_expires_at, 64, "new_expires_at"))


def cancel_timer(timer_id):
    """End a timer of this actor before it fires."""
    chain.request_of(chain.CANCEL, _check_timer_id(timer_id))


def set_gas_bidder(bidder=None):
    """Let bidder's get_gas_bid price this actor's timers from now on; None: the protocol's own agent."""
    chain.ask_chain(chain.BIDDER, bidder=None if bidder is None else _address(bidder, "the bidder"))


def get_state(key):
    """The value under key, or None."""
    return chain.look_up(key)


def set_state(key, value):
    """Keep value under key."""
    chain.put_state(key, value)


def delete_state(key):
    """Forget key."""
    chain.delete_state(key)


def emit_event(name, payload=b""):
    """Write an event into the receipt."""
    chain.tell_pair(chain.EMIT, _name(name, "the event's name"), _data(payload))


def send_message(target, payload=b"", handler="handle_message", cycles_limit=SEND_CYCLES, cells_limit=SEND_CELLS):
    """Deliver payload to target's handler in the next block, prepaid."""
    chain.ask_chain(chain.SEND, target=_address(target, "the target"), handler=_name(handler, "the handler"), payload=_data(payload),
                    cycles_limit=_number(cycles_limit, 64, "cycles_limit"), cells_limit=_number(cells_limit, 64, "cells_limit"))


def call_actor(target, method, payload=b"", cycles_limit=0):
    """Run a handler of target now, with at most cycles_limit cycles (0: all that remain)."""
    return chain.ask_chain(chain.CALL, chain.CALLING, target=_address(target, "the target"), method=_name(method, "the method"),
                           payload=_data(payload), cycles_limit=_number(cycles_limit, 64, "cycles_limit"))


def submit_job(payload):
    """Submit a job to the runners: a JobSpec in deterministic CBOR, without submitter and submitted_at. Returns its id.

    max_price, tip and the limits of the callback go from this actor's balance
    into escrow. Anyone's job may call any handler back: the reader of an outcome compares the sender with 0x02, and the job's id with the
    returned one.
    cowboy_sdk's runner writes the spec and does both.
    """
    return chain.request_of(chain.SUBMIT, _data(payload, "the job"))


def block_height():
    """The height of the block this message runs in."""
    meter.charge(1)
    return chain.now.about.height


def self_address():
    """This actor's address."""
    meter.charge(1)
    return chain.now.about.me


def context():
    """The whole context of the message and its block."""
    meter.charge(20)
    m = chain.now.about
    return {"chain_id": m.chain_id, "block_height": m.height, "timestamp_ms": m.timestamp, "tx_hash": m.tx_hash,
            "sender": m.sender, "self": m.me, "owner": m.owner, "kind": chain.now.kind,
            "value": int.from_bytes(m.value, "big")}


def keccak256(data):
    """keccak256 of data, as in Ethereum."""
    return chain.request_of(chain.KECCAK, _data(data, "what is hashed"), chain.WAITING)


def randomness(domain=b""):
    """32 bytes that were unknown before the parent block, by block, actor and domain."""
    return chain.request_of(chain.RANDOMNESS, _data(domain, "the domain"), chain.WAITING)


def charge_gas(amount):
    """Spend cycles on nothing."""
    amount = exact.require_integer(amount, "what charge_gas takes")
    if amount < 0:
        raise ValueError("charge_gas takes an int of at least 0")
    meter.charge(amount)


def get_balance(address=None):
    """The balance of address, or of this actor, in wei."""
    of = chain.now.about.me if address is None else _address(address)
    return int.from_bytes(chain.request_of(chain.BALANCE, of, chain.WAITING), "big")


def transfer(to, amount):
    """Give amount wei of this actor's balance to to."""
    chain.ask_chain(chain.TRANSFER, to=_address(to, "the receiver"), amount=_number(amount, 256, "the amount"))

"""The conversation with the chain while a message runs.

request waits for an answer, within which the chain may hand this host another
message. effect waits for none: it rides with the next request or the reply,
each with the steps made before it, so that the chain charges in the order of
the program whatever was batched. A refused effect ends the message.
"""

import re
from struct import Struct

import exact
import meter
from costs import table
from wire import NO_VALUE, U32, items

GET, BALANCE, CALL, KECCAK, RANDOMNESS, SCHEDULE, CANCEL, EXTEND, TRANSFER, SEND, FLUSH, BIDDER = range(1, 13)
SET, DELETE, EMIT, LOG, READ = range(20, 25)
BARE = (KECCAK, RANDOMNESS, BALANCE)  # whose answer the chain charges less for than waiting for it takes
WAITING = 4  # calls that waiting for such an answer costs
MAX_EFFECTS = 64  # buffered before a flush
MAX_EFFECT_BYTES = 256 << 10
MAX_PAYLOAD = 16 << 20
MAX_STEPS = 1 << 62  # that an operation reports
MAX_LOG = 4096  # bytes of a printed line
HEX_ADDRESS = re.compile("0x([0-9a-fA-F]{40})")
HEAD = Struct("<BQB")
HEAD_OF_ITEM = Struct("<BQBI")  # and the length of the one item
NO_EFFECTS = U32.pack(0)
ANSWER = Struct("<BBQQ")
KINDS = {1: "init", 2: "call", 3: "timer", 4: "read"}


class Message:
    """One message and what it did that the chain was not told yet."""

    __slots__ = ("kind", "sender", "me", "owner", "height", "timestamp", "chain_id", "tx_hash", "effects", "bytes",
                 "known", "modules", "lines")

    def __init__(self):
        self.effects, self.bytes = [], 0
        self.known = {}  # key → value: read or written in this message
        self.modules = {}
        self.lines = ""  # printed and not ended yet


ActorRef = None  # cowboy_sdk's class, which knows this module
pipe = None
serve = None  # runs a message that arrives while this one waits
now = Message()


def error_class(op):
    import pvm_host
    return {GET: pvm_host.StateError, CALL: pvm_host.CallError, SEND: pvm_host.SendError, SCHEDULE: pvm_host.TimerError,
            CANCEL: pvm_host.TimerError, EXTEND: pvm_host.TimerError, BIDDER: pvm_host.TimerError,
            TRANSFER: pvm_host.TransferError,
            BALANCE: pvm_host.TransferError}.get(op, pvm_host.HostError)


def packed(op, args):
    """One operation: u8 op, u64 steps since the last, u8 count, items. Its
    arguments are bytes by now, so that no step is reported and then lost."""
    steps = meter.report()
    if not 0 <= steps <= MAX_STEPS:
        steps = max(0, min(steps, MAX_STEPS))
    n = len(args)
    if n == 1 and args[0] is not None:
        return HEAD_OF_ITEM.pack(op, steps, 1, len(args[0])) + args[0]
    parts = [HEAD.pack(op, steps, n)]
    for a in args:
        if a is None:
            parts.append(NO_VALUE)
        else:
            parts.append(U32.pack(len(a)))
            parts.append(a)
    return b"".join(parts)


def take_effects():
    m = now
    if not m.effects:
        return NO_EFFECTS
    blob = U32.pack(len(m.effects)) + b"".join(m.effects)
    m.effects, m.bytes = [], 0
    return blob


def effect(op, *args):
    meter.charge(table.call)
    record = packed(op, args)
    size = len(record)
    if size > MAX_PAYLOAD:
        raise ValueError("more than %d bytes" % MAX_PAYLOAD)
    m = now
    m.effects.append(record)
    m.bytes += size
    if len(m.effects) >= MAX_EFFECTS or m.bytes >= MAX_EFFECT_BYTES:
        request(FLUSH)


def request(op, *args):
    """Ask the chain; return the answer's items or raise."""
    global now
    meter.charge(0 if op == FLUSH else table.call * (WAITING if op in BARE else 1))
    for a in args:
        if a is not None and len(a) > MAX_PAYLOAD:
            raise ValueError("more than %d bytes" % MAX_PAYLOAD)
    last = packed(op, args)
    pipe.write(b"Q", take_effects() + last)
    while True:
        kind, frame = pipe.read()
        if kind == 65:
            break
        serve(kind, frame)
    _, status, cycles, _cells = ANSWER.unpack_from(frame)
    meter.refill(cycles)
    found = items(frame, ANSWER.size)
    if status == 0:
        return found
    if status == 2:
        meter.stop()
    code, text = (found[i].decode("utf-8", "replace") for i in (0, 1))
    raise error_class(op)(code, text)


def number(value, bits=64, what="a number"):
    """An unsigned integer as 8 or 32 bytes, big endian."""
    value = exact.integer(value, what)
    if not 0 <= value < 1 << bits:
        raise ValueError("%s lies outside 0..2^%d-1" % (what, bits))
    return value.to_bytes(bits // 8, "big")


def optional(value, bits, what):
    return None if value is None else number(value, bits, what)


def data(value, what="the payload"):
    """Bytes as they are; text is refused, since its encoding is a choice."""
    t = type(value)
    if t is bytes:
        return value
    if t is bytearray:
        meter.charge(len(value) // 16)
        return bytes(value)
    if isinstance(value, str):
        raise TypeError("%s is bytes: encode the text, as in text.encode()" % what)
    raise TypeError("%s is bytes, not %s" % (what, t.__name__))


def address(value, what="the address"):
    """20 bytes, or 0x and 40 hexadecimal digits, or an ActorRef."""
    t = type(value)
    if t is ActorRef:
        return value.address
    if isinstance(value, str):
        found = HEX_ADDRESS.fullmatch(exact.string(value))
        if found is None:
            raise ValueError("%s is 20 bytes, or 0x and 40 hexadecimal digits" % what)
        return bytes.fromhex(found[1])
    value = data(value, what)
    if len(value) != 20:
        raise ValueError("%s is 20 bytes, or 0x and 40 hexadecimal digits" % what)
    return value


def name(value, what):
    value = exact.string(value, what)
    meter.charge(len(value))
    return value.encode()


def get(key):
    key = state_key(key)
    known = now.known
    if key in known:
        effect(READ, key)
        return known[key]
    value = request(GET, key)[0]
    known[key] = value
    return value


def put(key, value):
    key, value = state_key(key), data(value, "the value")
    effect(SET, key, value)
    now.known[key] = value


def delete(key):
    key = state_key(key)
    effect(DELETE, key)
    now.known[key] = None


def state_key(key):
    if type(key) is bytes:
        return key
    if isinstance(key, str):
        key = exact.string(key)
        meter.charge(len(key))
        return key.encode()
    return data(key, "the key")


def log(line):
    raw = line.encode("utf-8", "replace")
    if len(raw) > MAX_LOG:
        raw = raw[:MAX_LOG].decode("utf-8", "ignore").encode() + " …".encode()
    effect(LOG, raw)


def show(*values, sep=" ", end="\n"):
    """print: to the actor's log, a line for each line."""
    import text
    sep, end = (exact.string(s, "what print puts between and after") for s in (" " if sep is None else sep, "\n" if end is None else end))
    shown = text.joined([p for v in values for p in (text.to_str(v), sep)][:-1] + [end] if values else [end])
    m = now
    whole = m.lines + shown
    *lines, m.lines = whole.split("\n")
    if len(m.lines) > MAX_LOG:
        lines.append(m.lines)
        m.lines = ""
    for line in lines:
        log(line)

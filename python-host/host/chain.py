"""The conversation with the chain while a message runs.

request waits for an answer, within which the chain may hand this host another
message. effect waits for none: it rides with the next request or the reply,
each with the steps made before it, so that the chain charges in the order of
the program whatever was batched. A refused effect ends the message.
"""

import re
from functools import partial
from struct import Struct

from host import errors, exact, formatting, meter, probe, protocol, wire
from host.costs import table
from host.meter import report_steps
from host.protocol import ANSWER, MAX_EFFECTS, REQUEST
from host.wire import FORMS, MAPS, NAMES, NAMES_OF_BYTES
from host.wire import read_value as value_of


class Operation:
    """An operation of the chain, by its name in protocol."""

    __slots__ = ("raised", "names", "start", "head", "first", "second")

    def __init__(self, name, raised=errors.HostError):
        form = FORMS[name]
        self.raised = raised  # if the chain refuses it
        self.names = tuple(form)  # of its fields
        self.start = wire.encode_name("op") + wire.encode_name(name) + wire.encode_name("steps") + bytes((wire.NUMBER64,))
        if form:  # all up to the first field's bytes, and what the second's begin with
            start, self.first = MAPS[2 + len(form)] + self.start, NAMES_OF_BYTES[form[0]]
            self.head = partial(Struct(">%dsQ%dsI" % (len(start), len(self.first))).pack, start)
            self.second = NAMES_OF_BYTES[form[1]] if len(form) == 2 else None


GET = Operation("get_state", errors.StateError)
BALANCE = Operation("get_balance", errors.TransferError)
CALL = Operation("call_actor", errors.CallError)
KECCAK, RANDOMNESS = Operation("keccak256"), Operation("randomness")
SCHEDULE, CANCEL, EXTEND, BIDDER = (
    Operation(n, errors.TimerError) for n in ("schedule_timer", "cancel_timer", "extend_timer", "set_gas_bidder"))
TRANSFER = Operation("transfer", errors.TransferError)
SUBMIT, CANCEL_JOB = Operation("submit_job", errors.JobError), Operation("call_actor", errors.JobError)
SEND = Operation("send_message", errors.SendError)
FLUSH = Operation("flush")
SET, DELETE, EMIT, LOG, READ, NOTES = map(Operation, ("set_state", "delete_state", "emit_event", "print", "read", "notes"))
HARMLESS = frozenset((GET, BALANCE, KECCAK, RANDOMNESS, FLUSH))  # requests that change nothing
ENDS = {name: Operation(name) for name in protocol.ENDS}
WAITING = 10  # calls that an answer costs which the chain charges less for than waiting for it takes
CALLING = 6  # calls that another actor's message costs in addition to the chain's charge: two such waits, of which it pays most
MAX_EFFECT_BYTES = 256 << 10
MAX_PAYLOAD = 16 << 20
MAX_LOG = 4096  # bytes of a printed line
RESERVED = b"\0runner/"  # begins the keys under which the SDK remembers what it waits for
HEX_ADDRESS = re.compile("0x([0-9a-fA-F]{40})")
NAMED_KEY = re.compile(rb"[A-Za-z][A-Za-z0-9_]*(?=[/#]|\Z)")  # of an attribute's key
COUNT, SIZE = Struct(">Q"), Struct(">I")
ANSWERED = wire.Beginning(protocol.ANSWER_BEGINS)
BARE = MAPS[len(protocol.ANSWER_BEGINS)][0]  # the head of an answer that says no more
VALUE = wire.encode_name("value")  # of one that is a value
VALUE_AT = ANSWERED.size + len(VALUE)


class Message:
    """One message and what it did that the chain was not told yet."""

    __slots__ = ("about", "kind", "effects", "bytes", "known", "ahead", "modules", "lines", "changes", "continuations", "resumed", "space",
                 "schema", "declared", "slots", "older")

    def __init__(self, about=None, kind=None, ahead=None):
        self.about = about  # what a call begins with, by its names
        self.kind = kind
        self.effects, self.bytes = [], 0
        self.known = {}  # key → value: read or written in this message
        self.ahead = ahead  # the same for values that the chain sent ahead, which no outcome depends on
        self.modules = {}
        self.lines = ""  # printed and not ended yet
        self.changes = 0  # of its requests and effects, without printed lines
        self.continuations = {}  # name → (function, timeout): those of the running module
        self.space = None  # the names of its module, once it runs
        self.schema = None  # of its file
        self.declared = ()  # the attributes of its class that are state, by name
        self.slots = {}  # key → what it uses of the state that its class declares, in the order of first use
        self.older = False  # a value that was read lacks fields, or has some that the file lacks: older code wrote it
        self.resumed = None  # the continuation that this message resumes, until it has begun


ActorRef = None  # cowboy_sdk's class, which knows this module
pipe = None
serve = None  # runs a message that arrives while this one waits
now = Message()


def pack_operation(op, fields):
    """One operation, with the steps since the last. Its fields are numbers and
    bytes by now, so that no step is reported and then lost."""
    parts, n = [b"", op.start, COUNT.pack(report_steps())], 2
    for name, v in fields.items():
        if v is not None:
            n += 1
            parts += (NAMES[name], value_of(v))
    parts[0] = MAPS[n]
    return b"".join(parts)


def packed_bytes(op, value):
    """The same of one whose only field are bytes, at once."""
    return op.head(report_steps(), op.first, len(value)) + value


def packed_pair(op, first, second):
    """The same of one whose two fields are bytes."""
    return op.head(report_steps(), op.first, len(first)) + first + op.second + SIZE.pack(len(second)) + second


def packed_all(op, *values):
    """The same of any number of fields of bytes."""
    return pack_operation(op, dict(zip(op.names, values)))


END_PACKED = (None, packed_bytes, packed_pair, packed_all)  # by how many fields an end has


def take_effects():
    m = now
    if not m.effects:
        return b""
    blob = b"".join(m.effects)
    m.effects, m.bytes = [], 0
    return blob


def send_effect(record):
    """Send an effect to the chain with the next frame; record is packed, and paid for."""
    size = len(record)
    if size > MAX_PAYLOAD:
        raise ValueError("more than %d bytes" % MAX_PAYLOAD)
    m = now
    m.effects.append(record)
    m.bytes += size
    if len(m.effects) >= MAX_EFFECTS or m.bytes >= MAX_EFFECT_BYTES or probe.asked:  # its charge is the running line's
        ask_with(FLUSH, pack_operation(FLUSH, {}))


def send_bytes(op, value):
    """An effect of bytes."""
    meter.charge(table.call)
    if op is DELETE:
        now.changes += 1
    send_effect(packed_bytes(op, value))


def tell_pair(op, first, second):
    """An effect of two."""
    meter.charge(table.call)
    now.changes += 1
    send_effect(packed_pair(op, first, second))


def ask_chain(op, calls=1, **fields):
    """Ask the chain, at the price of a number of calls; return the value it answers, or raise."""
    meter.charge(calls * table.call)
    for v in fields.values():
        if type(v) is bytes:
            check_size(v)
    return ask_with(op, pack_operation(op, fields))


def request_of(op, value, calls=1):
    """The same for operations with bytes only; waiting for the answer costs a number of calls."""
    meter.charge(calls * table.call)
    return ask_with(op, packed_bytes(op, check_size(value)))


def check_size(value):
    if len(value) > MAX_PAYLOAD:
        raise ValueError("more than %d bytes" % MAX_PAYLOAD)
    return value


def ask_with(op, record):
    if op not in HARMLESS:
        now.changes += 1
    before = probe.settle_and_read() if probe.asked else 0
    pipe.write(REQUEST, take_effects() + record)
    while True:
        kind, frame = pipe.read()
        if kind == ANSWER:
            break
        serve(kind, frame)
    bare = frame[1] == BARE
    if bare or frame.startswith(VALUE, ANSWERED.size):
        rest = None
    else:
        rest = ANSWERED.rest(frame)
        if b"over" in rest:
            meter.finish_message()
    meter.refill_cycles(ANSWERED.read(frame)[0])
    if probe.asked and (op is CALL or op is CANCEL_JOB):
        probe.note_call(before)
    if rest is not None:
        raise op.raised(*(rest[n].decode("utf-8", "replace") for n in (b"code", b"message")))
    return None if bare else wire.read_piece(frame, VALUE_AT)[0]


def check_number(value, bits=64, what="a number"):
    """An unsigned integer below 2^bits."""
    if type(value) is not int:
        value = exact.require_integer(value, what)
    if value < 0 or value >> bits:
        raise ValueError("%s lies outside 0..2^%d-1" % (what, bits))
    return value


def check_bytes(value, what="the payload"):
    """Bytes as they are; text is refused, since its encoding is a choice."""
    t = type(value)
    if t is bytes:
        return value
    if t is bytearray:
        meter.charge(len(value) // 16)
        return bytes(value)
    if isinstance(value, str):
        raise TypeError("%s is bytes: encode the text, as in text.encode()" % what)
    if t is int and what in ("the value", "the payload"):
        raise TypeError("%s is bytes, not int: encode the number, as in str(n).encode()" % what)
    raise TypeError("%s is bytes, not %s" % (what, t.__name__))


def check_address(value, what="the address"):
    """20 bytes, or 0x and 40 hexadecimal digits, or an ActorRef."""
    t = type(value)
    if t is ActorRef:
        return value.address
    if isinstance(value, str):
        found = HEX_ADDRESS.fullmatch(exact.require_text(value))
        if found is None:
            raise ValueError("%s is 20 bytes, or 0x and 40 hexadecimal digits" % what)
        return bytes.fromhex(found[1])
    value = check_bytes(value, what)
    if len(value) != 20:
        raise ValueError("%s is 20 bytes, or 0x and 40 hexadecimal digits" % what)
    return value


def check_text(value, what):
    if type(value) is not str:
        value = exact.require_text(value, what)
    meter.charge(len(value))
    return value.encode()


def get_state(key):
    """The value under a key. The first time it costs what waiting for it takes,
    whether it was sent ahead or not."""
    if type(key) is not bytes:
        key = state_key(key)
    known = now.known
    if key in known:
        send_bytes(READ, key)
        return known[key]
    ahead = now.ahead
    if ahead and key in ahead:
        meter.charge(WAITING * table.call)
        send_effect(packed_bytes(READ, key))
        value = ahead[key]
    else:
        value = request_of(GET, key, WAITING)
    known[key] = value
    return value


def put_state(key, value):
    keep_state(check_free_key(state_key(key)), check_bytes(value, "the value"))


def keep_state(key, value):
    tell_pair(SET, key, value)
    now.known[key] = value


def delete_state(key):
    forget_state(check_free_key(state_key(key)))


def forget_state(key):
    send_bytes(DELETE, key)
    now.known[key] = None


def check_free_key(key):
    """A key that an actor may write: not one of the SDK's."""
    if key[:len(RESERVED)] == RESERVED:
        raise ValueError("keys that begin with \\0runner/ are reserved: the SDK stores open awaits there")
    return check_undeclared(key) if now.declared else key


def look_up(key):
    """The value under a key that an actor spells itself."""
    key = state_key(key)
    return get_state(check_undeclared(key) if now.declared else key)


def check_undeclared(key):
    """A key that belongs to no attribute of the class: this message's changes of attributes are not
    in state yet."""
    name = NAMED_KEY.match(key)
    found = now.declared.get(name[0].decode()) if name is not None else None
    if found is not None and (len(key) == len(name[0])) == (found.kind == "value"):
        raise ValueError("%s is state that the class declares: write self.%s" % (found.name, found.name))
    return key


def state_key(key):
    if type(key) is bytes:
        return key
    if isinstance(key, str):
        key = exact.require_text(key)
        meter.charge(len(key))
        return key.encode()
    return check_bytes(key, "the key")


def log_line(line):
    raw = line.encode("utf-8", "replace")
    if len(raw) > MAX_LOG:
        raw = raw[:MAX_LOG].decode("utf-8", "ignore").encode() + " …".encode()
    send_bytes(LOG, raw)


def print_lines(*values, sep=" ", end="\n"):
    """print: to the actor's log, a line for each line."""
    sep, end = (exact.require_text(s, "what print puts between and after")
                for s in (" " if sep is None else sep, "\n" if end is None else end))
    shown = formatting.join_pieces([p for v in values for p in (formatting.text_piece(v), sep)][:-1] + [end] if values else [end])
    m = now
    meter.charge(table.call + len(m.lines) // 64)
    whole = m.lines + shown
    *lines, m.lines = whole.split("\n")
    if len(m.lines) > MAX_LOG:
        lines.append(m.lines)
        m.lines = ""
    for line in lines:
        log_line(line)

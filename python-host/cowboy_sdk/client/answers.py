"""Answers of the chain as Python values: bytes, integers, and records that read as their author wrote them."""

import json

# The fields of the HTTP API's forms that are bytes, and those that are amounts in wei.
BYTES = frozenset(
    "actor address arguments block by code_hash data deployed_as fee_payer gba hash id key output owner parent payload proposer public_key "
    "result sender sponsor state_root to value".split())
AMOUNTS = frozenset(
    "after amount balance basefee_cell basefee_cycle basefee_lane_timer before bid burned cell cycle fee fee_paid lane_timer "
    "max_fee_per_cycle max_priority_fee_per_cycle priority sponsor tip tip_paid tip_per_cycle tips timers transactions value".split())
ADDRESS = 20


def to_bytes(value, what="a payload"):
    """A payload or key as bytes: str is UTF-8, a dict or list is JSON."""
    if value is None:
        return b""
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (dict, list)):
        return json.dumps(value, separators=(",", ":"), default=_in_json).encode()
    raise TypeError("%s is bytes, str, or a dict or list as JSON; got %r: say which bytes it is, str(n) or n.to_bytes(8, \"big\")"
                    % (what, value))


def _in_json(value):
    """Bytes, and an actor's address, as actors read them in JSON: 0x and hexadecimal digits."""
    value = getattr(value, "address", value)
    if isinstance(value, (bytes, bytearray)):
        return "0x" + value.hex()
    raise TypeError("%r has no form in JSON" % (value,))


def to_schema_json(value):
    """An argument as JSON of a schema: integers as digits beyond 2^53, bytes and what has an address as 0x and hexadecimal digits."""
    if isinstance(value, (list, tuple)):
        return [to_schema_json(v) for v in value]
    if isinstance(value, dict):
        return {str(k): to_schema_json(v) for k, v in value.items()}
    if isinstance(value, int) and abs(value) >= 1 << 53:
        return str(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return _in_json(value)


def to_hex(value, what="a payload"):
    return "0x" + to_bytes(value, what).hex()


def wei_digits(value):
    """An amount as the API takes it."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError("an amount is a whole number of wei, and not %r" % (value,))
    return str(value)


class Record:
    """Something the chain answered, by its names."""

    def __init__(self, kind, fields):
        self.__dict__.update(fields)
        self.__dict__["_kind"] = kind

    def __repr__(self):
        shown = ("%s=%s" % (k, show_value(v)) for k, v in self.__dict__.items() if not k.startswith("_"))
        return "%s(%s)" % (self._kind, ", ".join(shown))

    def __eq__(self, other):
        return isinstance(other, Record) and self.__dict__ == other.__dict__

    def __hash__(self):
        return hash(self._kind)


def read_record(kind, form):
    """The record of one of the API's forms."""
    return Record(kind, {_field_name(k): read_value(k, v) for k, v in form.items()})


def _field_name(key):
    return key + "_" if key == "from" else key  # a word of Python


def read_value(key, v):
    if key == "typed":
        return v  # JSON, as the actor's schema has it
    if isinstance(v, dict):
        return read_record(key, v)
    if isinstance(v, list):
        return [read_value(key[:-1] if key.endswith("s") else key, one) for one in v]
    if isinstance(v, str):
        if key in BYTES and v.startswith("0x"):
            return bytes.fromhex(v[2:])
        if key in AMOUNTS and v.isdigit():
            return int(v)
    return v


def show_value(v):
    """A value as an author writes it: an address in hexadecimal, text as bytes."""
    if isinstance(v, bytes) and len(v) >= ADDRESS and not is_printable(v):
        return "0x" + v.hex()
    return repr(v)


def is_printable(data):
    try:
        return data.decode().isprintable()
    except UnicodeDecodeError:
        return False


class Event(Record):
    """An event that an actor emitted. typed is its data by the actor's schema, as JSON; None if it has no type."""

    typed = None

    def __init__(self, name, data, actor, height, typed=None):
        fields = {"name": name, "data": data, "actor": actor, "height": height}
        super().__init__("event", fields if typed is None else dict(fields, typed=typed["value"]))


class Receipt(Record):
    """How one execution ended: status, output, cycles, cells, fee, events, logs, error (code and message, or None)."""

    def __init__(self, form):
        fields = read_record("receipt", form).__dict__
        fields["events"] = [Event(e.name, e.data, e.actor, fields["height"], e.__dict__.get("typed")) for e in fields["events"]]
        super().__init__("receipt", fields)

    @property
    def ok(self):
        return self.status == "ok"

    def __repr__(self):
        ended = repr(self.output) if self.ok else "%s: %s: %s" % (self.status, self.error.code, self.error.message)
        return "<%s at height %d: %s, %d cycles, %d cells, fee %d>" % (
            self.handler or self.origin, self.height, ended, self.cycles, self.cells, self.fee)

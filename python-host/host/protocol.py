"""Names and numbers that both sides of the pipe need.

Written from internal/environment/pyhost/protocol.go, never by hand:

    go test ./internal/environment/pyhost -run TestProtocolIsWhatPythonReads -rewrite
"""

# The types of frames.
LOAD = 76  # L
DROP = 88  # X
COSTS = 80  # P
INSPECT = 73  # I
CALL = 67  # C
ANSWER = 65  # A
HELLO = 72  # H
REQUEST = 81  # Q
REPLY = 82  # R
NO = 78  # N
FINE = 68  # D
FORK = 70  # F
TRY = 84  # T
END = 69  # E
ADVICE = 86  # V
POINTS = 75  # K
ENDED = 90  # Z

# Limits that both sides keep.
MAX_FRAME = 67108864
MAX_EFFECTS = 64
MAX_ADVICE = 100
MAX_MESSAGE = 4096
SIGNALLED = 64
MAX_SCHEMA = 65536
MAX_POINTS = 100000
MAX_NOTES = 20000

# Operations with an answer, and the names of their fields.
REQUESTS = {
    "get_state": ("key",),
    "get_balance": ("address",),
    "call_actor": ("target", "method", "payload", "cycles_limit"),
    "keccak256": ("data",),
    "randomness": ("domain",),
    "schedule_timer": (
        "height", "payload", "handler", "fee_payer", "gas_limit",
        "expires_at", "max_fee_per_cycle", "max_priority_fee_per_cycle", "bid", "gba",
        "priority_tier_hint", "watched", "key",
    ),
    "cancel_timer": ("timer_id",),
    "extend_timer": ("timer_id", "new_expires_at"),
    "transfer": ("to", "amount"),
    "send_message": ("target", "handler", "payload", "cycles_limit", "cells_limit"),
    "flush": (),
    "set_gas_bidder": ("bidder",),
    "submit_job": ("payload",),
}

# Operations without an answer.
EFFECTS = {
    "set_state": ("key", "value"),
    "delete_state": ("key",),
    "emit_event": ("name", "payload"),
    "print": ("line",),
    "read": ("key",),
    "notes": ("rows",),
}

# How a message ends.
ENDS = {
    "ok": ("output",),
    "reverted": ("code", "message", "words"),
    "out_of_cycles": ("where",),
    "no_handler": ("code", "message"),
    "invalid_code": ("code", "message"),
    "crashed": ("message",),
}

# Other maps from a host.
TOLD = {
    "hello": ("version",),
    "fork": ("pid", "rate", "page"),
    "part": ("name", "missing"),
    "refusal": ("units", "line", "reason", "code"),
    "description": ("units", "schema"),
    "handler": ("name", "doc"),
    "attempt": ("name", "exit", "signal"),
    "advice": ("kind", "line", "words"),
    "point": ("line", "way", "label"),
}

# Fields at the beginning of every call, with their sizes in bytes; 0 is a number.
CALL_BEGINS = (
    ("kind", 0),
    ("code", 32),
    ("cycles", 0),
    ("sender", 20),
    ("me", 20),
    ("owner", 20),
    ("tx_hash", 32),
    ("height", 0),
    ("timestamp", 0),
    ("chain_id", 0),
    ("value", 32),
)

# Fields at the beginning of every answer.
ANSWER_BEGINS = (
    ("cycles", 0),
)

# Why a message is handled, by its number.
KINDS = (
        "", "init", "call", "timer", "read",
        "migrate",
    )

# CIP-3's table, which holds until the chain sends the one in force.
DEFAULT_COSTS = {
    "arithmetic": 1,
    "call": 10,
    "dict": 3,
    "list": 2,
    "char": 1,
    "len": 5,
    "reduce": 10,
    "sort": 20,
    "str": 10,
    "list_base": 10,
    "set_base": 15,
    "dict_base": 15,
    "import_first": 100,
    "import_again": 5,
    "serialise": 20,
    "keccak_word": 6,
}

BID_HANDLER = "get_gas_bid"
WAITING = bytes.fromhex("0072756e6e65722f77616974696e67")  # the key of the places of continuations that wait
WAITS_AT = bytes.fromhex("0072756e6e65722f61742f")  # begins the key of each
GRACE = 1024  # blocks after its watchdog's height in which a place is still kept
MIGRATE_HANDLER = "migrate"  # of an upgrade
GOVERNANCE = bytes.fromhex("0000000000000000000000000000000000000009")  # who calls it for the chain
DISPATCHER = bytes.fromhex("0000000000000000000000000000000000000002")  # reports how jobs ended

"""The host's work for each frame: load, drop, costs, inspect, call, advise."""

import gc
import os
import sys
import traceback

from host import advice, chain, check, compiling, costs, imports, meter, probe, program, protocol, wire
from host.outcome import outcome
from host.wire import Beginning, entries, pairs, piece, record

COLLECT_EVERY = 512  # messages
COLLECT_CYCLES = 1_000_000  # of messages: what they left behind in circles is collected, so that no other pays for it
CALLED = Beginning(protocol.CALL_BEGINS)
HANDLER, PAYLOAD, KNOWN = (len(wire.name(n)) for n in ("handler", "payload", "known"))  # what follows, in this order
HEAD = wire.BYTES.size  # of the bytes that hold what is known
sources = {}  # hash → source or Code; the chain says what to drop
handled = 0
uncollected = 0  # cycles of the messages since the last collection
before_typed = None  # in a child: what comes before its first message to typed code, once


def code_of(hash):
    found = sources[hash]
    if type(found) is bytes:
        found = sources[hash] = meter.uncounted(program.load, found, imports.exported)
    if before_typed is not None and found.schema.typed:
        meter.uncounted(before_typed)
        meter.shown()
    return found


def load(frame):
    """Keeps code, and returns its hash."""
    told = entries(frame)
    sources[told[b"code"]] = told[b"source"]
    return told[b"code"]


def drop(frame):
    sources.pop(entries(frame)[b"code"], None)


def set_costs(frame):
    costs.install({n.decode(): cost for n, cost in entries(frame).items()})
    for h in list(sources):
        sources.pop(h)
    imports.SHIMS.clear()


def inspect(frame):
    told = entries(frame)
    try:
        code = in_time(told[b"source"], told[b"limit"])
    except check.Refusal as e:
        reason = e.reason.encode("utf-8", "replace")[:4096]
        chain.pipe.write(protocol.NO, record(units=e.units, line=e.line, reason=reason, code=e.code.encode()))
        return
    found = [record(name=n.encode(), doc=d.encode()[:512]) for n, (_, d) in code.handlers.items()]
    chain.pipe.write(protocol.FINE, record(units=code.units, schema=code.document) + b"".join(found))


def in_time(source, limit):
    """Compile the source of a deploy, while the page shows what that pays for."""
    before = compiling.payable(len(source), limit)
    meter.inspect(before)
    try:
        return program.load(source, imports.exported, limit, lambda units: meter.show(max(before, compiling.paid(len(source), units))))
    finally:
        meter.inspected()


def call(frame):
    """One message. Answers how it ended, after the effects that the chain was not told yet."""
    global handled, uncollected
    about = CALLED.named(CALLED.read(frame))
    handler, at = piece(frame, CALLED.size + HANDLER)
    payload, at = piece(frame, at + PAYLOAD)
    kind = protocol.KINDS[about.kind]
    outer, chain.now = chain.now, chain.Message(about, kind, pairs(frame, at + KNOWN + HEAD) if at < len(frame) else None)
    saved = meter.begin(about.cycles)
    noted = probe.begin(about.cycles) if probe.asked else None
    try:
        ended, fields = outcome(code_of, about.code, kind, handler.decode("utf-8", "replace"), payload)
        reply = chain.take_effects()
        if probe.asked:
            reply += chain.packed_bytes(chain.NOTES, probe.report())
        reply += chain.END_PACKED[len(fields)](chain.ENDS[ended], *fields)
    finally:
        if probe.asked:
            probe.end(noted)
        left = meter.left()
        uncollected += about.cycles - (left if left > 0 else 0)
        meter.end(saved)
        chain.now = outer
    chain.pipe.write(protocol.REPLY, reply)
    handled += 1
    if (handled % COLLECT_EVERY == 0 or uncollected > COLLECT_CYCLES) and saved[1] == 0:
        uncollected = 0
        gc.collect()


def advise(frame):
    """The advice about a file, for its author."""
    found = [
        record(kind=kind.encode(), line=line, words=words.encode("utf-8", "replace")[:protocol.MAX_MESSAGE])
        for kind, line, words in advice.advise(entries(frame)[b"source"])]
    chain.pipe.write(protocol.ADVICE, b"".join(found))


def points(frame):
    """The lines of a source, and the ways of its branches."""
    found = program.points(entries(frame)[b"source"], imports.exported)
    rows = [record(line=line) for line in sorted(found.lines)]
    rows += [record(line=line, way=way, label=label.encode()) for (line, way), label in sorted(found.ways.items())]
    chain.pipe.write(protocol.POINTS, b"".join(rows[:protocol.MAX_POINTS]))


HANDLERS = {
    protocol.LOAD: load, protocol.DROP: drop, protocol.COSTS: set_costs, protocol.INSPECT: inspect, protocol.CALL: call,
    protocol.ADVICE: advise, protocol.POINTS: points,
}
VERSION = b"%d.%d.%d" % sys.version_info[:3]


def serve(kind, frame):
    HANDLERS[kind](frame)


def serve_all(handlers):
    """Serve until the chain is gone."""
    try:
        while True:
            kind, frame = chain.pipe.read()
            handlers[kind](frame)
    except BaseException as e:
        sys.stderr.write("".join(traceback.format_exception(e))[-4000:])
        sys.stderr.flush()
        os._exit(4)

"""The host's work for each frame: load, drop, costs, inspect, call, advise."""

import gc
import os
import sys
import traceback

from host import advice, chain, check, compiling, costs, imports, meter, probe, program, protocol, wire
from host.outcome import run_message
from host.wire import Beginning, read_entries, read_pairs, read_piece, read_record

COLLECT_EVERY = 512  # messages
COLLECT_CYCLES = 1_000_000  # of messages: what they left behind in circles is collected, so that no other pays for it
CALLED = Beginning(protocol.CALL_BEGINS)
HANDLER, PAYLOAD, KNOWN = (len(wire.encode_name(n)) for n in ("handler", "payload", "known"))  # what follows, in this order
HEAD = wire.BYTES.size  # of the bytes that hold what is known
sources = {}  # hash → source or Code; the chain says what to drop
handled = 0
uncollected = 0  # cycles of the messages since the last collection
before_typed = None  # in a child: what comes before its first message to typed code, once


def code_of(hash):
    found = sources[hash]
    if type(found) is bytes:
        found = sources[hash] = meter.call_uncounted(program.load_source, found, imports.is_exported)
    if before_typed is not None and found.schema.typed:
        meter.call_uncounted(before_typed)
        meter.show_used()
    return found


def load_code(frame):
    """Keeps code, and returns its hash."""
    told = read_entries(frame)
    sources[told[b"code"]] = told[b"source"]
    return told[b"code"]


def drop_code(frame):
    sources.pop(read_entries(frame)[b"code"], None)


def set_costs(frame):
    costs.install_costs({n.decode(): cost for n, cost in read_entries(frame).items()})
    for h in list(sources):
        sources.pop(h)
    imports.SHIMS.clear()


def inspect_code(frame):
    told = read_entries(frame)
    try:
        code = in_time(told[b"source"], told[b"limit"])
    except check.Refusal as e:
        reason = e.reason.encode("utf-8", "replace")[:4096]
        chain.pipe.write(protocol.NO, read_record(units=e.units, line=e.line, reason=reason, code=e.code.encode()))
        return
    found = [read_record(name=n.encode(), doc=d.encode()[:512]) for n, (_, d) in code.handlers.items()]
    chain.pipe.write(protocol.FINE, read_record(units=code.units, schema=code.document) + b"".join(found))


def in_time(source, limit):
    """Compile the source of a deploy, while the page shows what that pays for."""
    before = compiling.price_before_units(len(source), limit)
    meter.begin_inspection(before)
    try:
        def show_units(units):
            meter.show_inspection(max(before, compiling.price_units(len(source), units)))
        return program.load_source(source, imports.is_exported, limit, show_units)
    finally:
        meter.end_inspection()


def call_handler(frame):
    """One message. Answers how it ended, after the effects that the chain was not told yet."""
    global handled, uncollected
    about = CALLED.named(CALLED.read(frame))
    handler, at = read_piece(frame, CALLED.size + HANDLER)
    payload, at = read_piece(frame, at + PAYLOAD)
    kind = protocol.KINDS[about.kind]
    outer, chain.now = chain.now, chain.Message(about, kind, read_pairs(frame, at + KNOWN + HEAD) if at < len(frame) else None)
    saved = meter.begin_message(about.cycles)
    noted = probe.begin_notes(about.cycles) if probe.asked else None
    try:
        ended, fields = run_message(code_of, about.code, kind, handler.decode("utf-8", "replace"), payload)
        reply = chain.take_effects()
        if probe.asked:
            reply += chain.packed_bytes(chain.NOTES, probe.write_report())
        reply += chain.END_PACKED[len(fields)](chain.ENDS[ended], *fields)
    finally:
        if probe.asked:
            probe.end_notes(noted)
        left = meter.cycles_left()
        uncollected += about.cycles - (left if left > 0 else 0)
        meter.end_message(saved)
        chain.now = outer
    chain.pipe.write(protocol.REPLY, reply)
    handled += 1
    if (handled % COLLECT_EVERY == 0 or uncollected > COLLECT_CYCLES) and saved[1] == 0:
        uncollected = 0
        gc.collect()


def advise_author(frame):
    """The advice about a file, for its author."""
    found = [
        read_record(kind=kind.encode(), line=line, words=words.encode("utf-8", "replace")[:protocol.MAX_MESSAGE])
        for kind, line, words in advice.advise(read_entries(frame)[b"source"])]
    chain.pipe.write(protocol.ADVICE, b"".join(found))


def answer_points(frame):
    """The lines of a source, and the ways of its branches."""
    found = program.list_points(read_entries(frame)[b"source"], imports.is_exported)
    rows = [read_record(line=line) for line in sorted(found.lines)]
    rows += [read_record(line=line, way=way, label=label.encode()) for (line, way), label in sorted(found.ways.items())]
    chain.pipe.write(protocol.POINTS, b"".join(rows[:protocol.MAX_POINTS]))


HANDLERS = {
    protocol.LOAD: load_code, protocol.DROP: drop_code, protocol.COSTS: set_costs, protocol.INSPECT: inspect_code,
    protocol.CALL: call_handler,
    protocol.ADVICE: advise_author, protocol.POINTS: answer_points,
}
VERSION = b"%d.%d.%d" % sys.version_info[:3]


def serve_frame(kind, frame):
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

"""Prices of programs: processor time a cycle, as a multiple of a plain loop's.

    python3 -I -S -B python-host/prices/measure.py [--only WORD] [--cycles N] [--worst N] [--bound X] [--part I/N]

Each program runs in a separate child, between plain loops. Its ratio is its processor
time a cycle over the lower time a cycle of those loops. A noisy machine makes single ratios
too high, so a suspect runs again, alone, and the lowest of its ratios counts. First writes to
pages of memory count as FAULT each, whatever they take here: virtual machines differ in them by
a hundred times, and the bytes a cycle have a bound of their own. A program whose
ratio grows with its cycles costs more than it pays in the long run: suspects run with four
times the cycles too.
"""

import argparse
import gc
import itertools
import os
import resource
import sys
import threading
import time
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), HERE]

import child  # noqa: E402: in this folder
import corpus  # noqa: E402
import deploys  # noqa: E402
import hostile  # noqa: E402
from handlers import wrap_body  # noqa: E402

from host import chain, check, imports, main as host_main, meter, ops, outcome, probe, program  # noqa: E402: above this folder
from host import protocol, serving, typed, warmup, wire  # noqa: E402

CYCLES = 300_000  # eight milliseconds of a plain loop
PLAIN_CYCLES, WARM_CYCLES = 30_000, 20_000
PLAIN = wrap_body("for i in range(10**9): pass")
KILLED = {"ended": "killed", "took": child.SECONDS * 10**9, "base": 0, "ratio": float("inf"), "units": 0, "held": 0, "why": ""}
AGAIN, MOST_AGAIN = 6, 18  # measurements of a suspect, and of one that would fail: a slow moment of the machine only adds
AIM = 8  # plain loops that any row may take a cycle
VALUE_CYCLES = 1_000_000  # of a message with a hostile value
MOST_BYTES = 60  # a cycle that a program may hold
CYCLES_A_UNIT = 64  # of compiling, which a deploy pays besides one cycle per byte
FRESH = 24 << 20  # bytes that any child holds
FAULT = 500  # nanoseconds of a first write to a page, as measured on a machine of its own


class Chain:
    """Answers each question of a message: what is held or no value, and no charge of the chain's."""

    held = None

    def write(self, kind, maps):
        """Drops a frame."""

    def read(self):
        value = b"" if self.held is None else wire.encode_name("value") + wire.read_value(self.held)
        cycles = warmup.encode_number("cycles", max(meter.cycles_left(), 0))
        return protocol.ANSWER, bytes((protocol.ANSWER,)) + wire.MAPS[1 + bool(value)] + cycles + value


def start_host():
    """The host as main starts it, without its walls and pipes."""
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(50_000)
    sys.set_int_max_str_digits(4300)
    sys.unraisablehook = lambda _: None
    chain.pipe, chain.serve = Chain(), serving.serve_frame
    imports.install_imports()
    imports.warm_libraries()
    warmup.prepare_warmup()
    gc.disable()
    gc.collect()
    gc.freeze()


def read_usage():
    """Processor time in nanoseconds, and first writes to pages, of this thread so far. The clock of the process would
    advance by whole ticks of some milliseconds, since the child has a limit of processor time (Linux 6.18)."""
    return time.thread_time_ns(), resource.getrusage(resource.RUSAGE_THREAD).ru_minflt


def time_since(start):
    """Processor time since start, in which a page costs FAULT at most; at least a nanosecond."""
    took, pages = (now - then for now, then in zip(read_usage(), start, strict=True))
    return max(took - pages * max(min(warmup.time_page(time.thread_time_ns) for _ in range(3)) - FAULT, 0), 1)


def run_message(code, cycles, handler="f", payload=b""):
    """One message: how it ended, the cycles it used, its processor time in nanoseconds. The dispatcher sends it."""
    about = serving.CALLED.named(serving.CALLED.read(warmup.CALL))._replace(sender=protocol.DISPATCHER)
    chain.now = chain.Message(about, "call")
    saved = meter.begin_message(cycles)
    before = read_usage()
    ended, fields = outcome.run_message(lambda _: code, b"", "call", handler, payload)
    took = time_since(before)
    used = cycles if meter.account.over else cycles - meter.cycles_left()
    meter.end_message(saved)
    return ended, used, took, fields


class Loop:
    """A plain loop in this child: base is its least time a cycle. CPython specialises it in a first run, which does not count."""

    def __init__(self):
        self.code, self.base = program.load_source(PLAIN, imports.is_exported), float("inf")
        run_message(self.code, WARM_CYCLES)
        for _ in range(3):
            self.measure_again()

    def measure_again(self):
        _, used, took, _ = run_message(self.code, PLAIN_CYCLES)
        self.base = min(self.base, took / used)
        return self.base


def measure_program(source, cycles):
    """The findings of a child, which runs this."""
    plain = Loop()
    before = read_usage()
    code = program.load_source(source, imports.is_exported)
    loading = time_since(before)
    held = peak_memory()
    ended, used, took, fields = run_message(code, cycles)
    held = peak_memory() - held
    base = plain.measure_again()
    return {"ended": ended, "used": used, "took": took, "base": base, "ratio": took / max(used, 1) / base, "units": code.units,
            "loading": loading, "held": held, "why": fields[-1].decode() if ended == "reverted" else ""}


def measure_deploy(name, source):
    """The row of a source: its time by the cycles that a deploy of it pays."""
    def measure_once():
        plain = Loop()
        before = read_usage()
        try:
            units, why = program.load_source(source, imports.is_exported).units, ""
        except check.Refusal as e:
            units, why = e.units, e.reason
        took = time_since(before)
        paid = len(source) + CYCLES_A_UNIT * units
        base = plain.measure_again()
        return {"used": paid, "took": took, "base": base, "ratio": took / paid / base, "held": 0, "why": why, "ended": ""}
    return find_least_row(name, measure_once)


def measure_value(row):
    """The row of a message with a hostile value: the least time of three, as CPython specialises what ran before."""
    def measure_once():
        plain, code = Loop(), program.load_source(row.source, imports.is_exported)
        chain.pipe.held = row.held
        runs = [run_message(code, VALUE_CYCLES, row.handler, row.payload) for _ in range(3)]
        chain.pipe.held = None
        ended, used, took, fields = min(runs, key=lambda r: r[2] / max(r[1], 1))
        base = plain.measure_again()
        return {"used": used, "took": took, "base": base, "ratio": took / max(used, 1) / base, "held": 0, "ended": ended,
                "why": "" if ended == "ok" else fields[-1].decode()}
    return find_least_row(row.name, measure_once, 4 * child.SECONDS)


def find_least_row(name, found, seconds=child.SECONDS):
    """The row with the lowest of several ratios, each found in a child."""
    best = None
    for _ in range(AGAIN):
        row = child.run_in_child(found, seconds) or {**KILLED, "used": 0}
        if "error" in row:
            return {"name": name, **row}
        best = row if best is None or row["ratio"] < best["ratio"] else best
        if best["ratio"] < AIM * 0.9 or best["ended"] == "killed":
            break
    return {"name": name, **best}


def judge_each(what, rows, said):
    """Prints the dearest of rows, and those beyond the bound."""
    found, failed = [], []
    for row in rows:
        if "error" in row:
            failed.append("%s: %s" % (row["name"], row["error"]))
            continue
        found.append(row)
        if said.progress:
            print(format_row(row), flush=True)
    found.sort(key=lambda row: -row["ratio"])
    failed += ["%s: %.1f plain loops a cycle, at most %g" % (r["name"], r["ratio"], said.bound) for r in found if r["ratio"] > said.bound]
    base = min((row["base"] for row in found if row["base"]), default=0)
    print("%d %s on Python %s; a plain loop takes %.1f ns a cycle" % (len(found), what, sys.version.split()[0], base))
    for row in found[:said.worst]:
        print(format_row(row))
    return failed


def judge_values(said):
    i, n = map(int, said.part.split("/"))
    rows = (measure_value(row) for row in itertools.islice(hostile.message_rows(), i, None, n) if said.only in row.name)
    failed = judge_each("hostile values", rows, said)
    failed += ["%s has no generator of hostile values: write one in prices/hostile.py" % t for t in hostile.types_without_generator()]
    return print_failures(failed)


def judge_deploys(said):
    i, n = map(int, said.part.split("/"))
    sources = itertools.islice(itertools.chain(deploys.SOURCES, hostile.deploy_sources()), i, None, n)
    rows = (measure_deploy(name, s.encode()) for name, s in sources if said.only in name)
    return print_failures(judge_each("sources that are deployed", rows, said))


def print_failures(failed):
    """The status after lines about what failed."""
    for line in failed:
        print("FAILED", line)
    return 1 if failed else 0


def peak_memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def price_program(p, cycles):
    """A program's row: its ratio is infinite where its child was ended."""
    found = child.run_in_child(lambda: measure_program(p.source, cycles), max(child.SECONDS, cycles * child.SECONDS // 100_000))
    if found is None:
        found = {**KILLED, "used": cycles}
    return {"name": p.name, **found}


def measure_suspect(p, first, cycles, bound):
    """The lowest of a suspect's ratios. One that would fail is measured more often."""
    best = first
    for times in range(MOST_AGAIN):
        if best["ratio"] <= (bound * 0.8 if times < AGAIN else bound) or best["ended"] == "killed":
            break
        again = price_program(p, cycles)
        best = min(best, again, key=lambda row: row["ratio"])
    return best


def growth_of_ratio(p, row, cycles):
    """How many times its ratio a program with four times the cycles has: the lowest of three."""
    return min(price_program(p, 4 * cycles)["ratio"] for _ in range(3)) / row["ratio"]


def format_row(row):
    return "%9.1f %10d %9.2f %7.0f  %s%s" % (row["ratio"], row["used"], row["took"] / 1e6, row["held"] / max(row["used"], 1), row["name"],
                                             "  (%s)" % row["why"][:60] if row["why"] else "")


def main():
    said = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    said.add_argument("--only", default="", help="programs whose name has this word")
    said.add_argument("--cycles", type=int, default=CYCLES, help="cycles of a program")
    said.add_argument("--worst", type=int, default=30, help="rows to print")
    said.add_argument("--bound", type=float, default=AIM, help="the ratio above which a program fails")
    said.add_argument("--part", default="0/1", help="of the programs, each N-th from the I-th on")
    said.add_argument("--written", action="store_true", help="leave out the programs that are generated")
    said.add_argument("--generated", action="store_true", help="leave out the programs that are written out")
    said.add_argument("--progress", action="store_true", help="print each row when it is known")
    said.add_argument("--list", action="store_true", help="print the programs, and run none")
    said.add_argument("--deploys", action="store_true", help="measure sources that are compiled, and no programs")
    said.add_argument("--values", action="store_true", help="measure messages with hostile values, and no programs")
    said.add_argument("--forgotten", default="", help="a type of host.typed whose generator is forgotten: a fault for tests of the measure")
    said.add_argument("--free", default="", help="a function of host.ops that charges nothing: a fault for tests of the measure")
    said = said.parse_args()
    if said.free:
        setattr(ops, said.free, lambda *_: None)
    if said.forgotten:
        del hostile.GENERATORS[getattr(typed, said.forgotten)]
    if said.values:
        return judge_values(said)
    if said.deploys:
        return judge_deploys(said)
    i, n = map(int, said.part.split("/"))
    programs = (p for p in corpus.list_programs(not said.written, i, n) if said.only in p.name)
    if said.generated:
        programs = (p for p in programs if p.may_fail)
    if said.list:
        for p in programs:
            print(p.name + "\n" + p.source.decode())
        return 0
    return judge_programs(programs, said)


def judge_programs(programs, said):
    rows, failed = [], []
    for p in programs:
        row = price_program(p, said.cycles)
        if "error" in row:
            failed.append("%s: %s" % (p.name, row["error"]))
            continue
        row = measure_suspect(p, row, said.cycles, said.bound)
        rows.append(row)
        if said.progress:
            print(format_row(row), flush=True)
        if row["ended"] == "reverted" and not p.may_fail:
            failed.append("%s is not priced, since it ends: %s" % (p.name, row["why"]))
        elif row["ratio"] > said.bound:
            failed.append("%s: %.1f plain loops a cycle, at most %g" % (p.name, row["ratio"], said.bound))
        elif row["ratio"] > said.bound / 3 and growth_of_ratio(p, row, said.cycles) > 2.5:
            failed.append("%s: its price falls behind its time: with four times the cycles a cycle takes over twice as long" % p.name)
        elif row["held"] - FRESH > MOST_BYTES * row["used"]:
            failed.append("%s: %d bytes a cycle are held, at most %d" % (p.name, row["held"] // row["used"], MOST_BYTES))
    rows.sort(key=lambda row: -row["ratio"])
    base = min((row["base"] for row in rows if row["base"]), default=0)
    print("%d programs on Python %s, %d cycles each; a plain loop takes %.1f ns a cycle" % (
        len(rows), sys.version.split()[0], said.cycles, base))
    print("%9s %10s %9s %7s" % ("x loop", "cycles", "CPU ms", "B/cycle"))
    for row in rows[:said.worst]:
        print(format_row(row))
    return print_failures(failed)


if __name__ == "__main__":
    probe.asked = False
    threading.stack_size(256 << 20)
    status = []

    def run_main():
        start_host()
        status.append(main())
    worker = threading.Thread(target=host_main.run_in_one_chunk, args=(lambda _: run_main(), None))
    worker.start()
    worker.join()
    sys.stdout.flush()
    os._exit(status[0] if status else 2)

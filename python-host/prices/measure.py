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

from host import chain, check, imports, meter, ops, outcome, probe, program  # noqa: E402: above this folder
from host import protocol, serving, warmup, wire  # noqa: E402

CYCLES = 300_000  # eight milliseconds of a plain loop
PLAIN_CYCLES = 30_000
PLAIN = corpus.whole("for i in range(10**9): pass")
KILLED = {"ended": "killed", "took": child.SECONDS * 10**9, "base": 0, "ratio": float("inf"), "units": 0, "held": 0, "why": ""}
AGAIN = 4  # measurements of a suspect
MOST_BYTES = 60  # a cycle that a program may hold
CYCLES_A_UNIT = 30  # of compiling, which a deploy pays besides one cycle per byte
FRESH = 24 << 20  # bytes that any child holds
FAULT = 500  # nanoseconds of a first write to a page, as measured on a machine of its own


class Chain:
    """Answers each question of a message: no value, and no charge of the chain's."""

    def write(self, kind, maps):
        """Drops a frame."""

    def read(self):
        return protocol.ANSWER, bytes((protocol.ANSWER,)) + wire.MAPS[1] + warmup.number("cycles", max(meter.meter[0], 0))


def start():
    """The host as main starts it, without its walls and pipes."""
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(50_000)
    sys.set_int_max_str_digits(4300)
    sys.unraisablehook = lambda _: None
    chain.pipe, chain.serve = Chain(), serving.serve
    imports.install()
    imports.warm()
    warmup.prepare()
    gc.disable()
    gc.collect()
    gc.freeze()


def timed():
    """Processor time in nanoseconds, and first writes to pages, of this thread so far."""
    return time.thread_time_ns(), resource.getrusage(resource.RUSAGE_THREAD).ru_minflt


def since(start):
    """Processor time since start, in which a page costs FAULT at most; at least a nanosecond."""
    took, pages = (now - then for now, then in zip(timed(), start, strict=True))
    return max(took - pages * max(min(warmup.page() for _ in range(3)) - FAULT, 0), 1)


def run(code, cycles):
    """One message: how it ended, the cycles it used, its processor time in nanoseconds."""
    about = serving.CALLED.named(serving.CALLED.read(warmup.CALL))
    chain.now = chain.Message(about, "call")
    saved = meter.begin(cycles)
    before = timed()
    ended, fields = outcome.outcome(lambda _: code, b"", "call", "f", b"")
    took = since(before)
    used = cycles if meter.account.over else cycles - meter.meter[0]
    meter.end(saved)
    return ended, used, took, fields


def measure(source, cycles):
    """The findings of a child, which runs this."""
    plain = program.load(PLAIN, imports.exported)
    loops = [run(plain, PLAIN_CYCLES) for _ in range(3)]
    before = timed()
    code = program.load(source, imports.exported)
    loading = since(before)
    held = peak()
    ended, used, took, fields = run(code, cycles)
    held = peak() - held
    loops.append(run(plain, PLAIN_CYCLES))
    base = min(t / u for _, u, t, _ in loops)
    return {"ended": ended, "used": used, "took": took, "base": base, "ratio": took / max(used, 1) / base, "units": code.units,
            "loading": loading, "held": held, "why": fields[-1].decode() if ended == "reverted" else ""}


def deploy(name, source):
    """The row of a source: its time by the cycles that a deploy of it pays."""
    def found():
        plain = program.load(PLAIN, imports.exported)
        loops = [run(plain, PLAIN_CYCLES) for _ in range(3)]
        before = timed()
        try:
            units, why = program.load(source, imports.exported).units, ""
        except check.Refusal as e:
            units, why = e.units, e.reason
        took = since(before)
        loops.append(run(plain, PLAIN_CYCLES))
        paid = len(source) + CYCLES_A_UNIT * units
        base = min(t / u for _, u, t, _ in loops)
        return {"used": paid, "took": took, "base": base, "ratio": took / paid / base, "held": 0, "why": why, "ended": ""}
    best = None
    for _ in range(AGAIN):
        row = child.in_child(found) or {**KILLED, "used": 0}
        if "error" in row:
            return {"name": name, **row}
        best = row if best is None or row["ratio"] < best["ratio"] else best
        if best["ratio"] < 8:
            break
    return {"name": name, **best}


def judge_deploys(said):
    rows = []
    i, n = map(int, said.part.split("/"))
    for name, source in deploys.SOURCES[i::n]:
        if said.only in name:
            rows.append(deploy(name, source.encode()))
            if said.progress:
                print(rows[-1].get("error") or shown(rows[-1]), flush=True)
    failed = ["%s: %s" % (row["name"], row["error"]) for row in rows if "error" in row]
    rows = sorted((row for row in rows if "error" not in row), key=lambda row: -row["ratio"])
    beyond = [row for row in rows if row["ratio"] > said.bound]
    failed += ["%s: %.1f plain loops a cycle, at most %g" % (row["name"], row["ratio"], said.bound) for row in beyond]
    print("%d sources that are deployed" % len(rows))
    for row in rows[:said.worst]:
        print(shown(row))
    for line in failed:
        print("FAILED", line)
    return 1 if failed else 0


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def price(p, cycles):
    """A program's row: its ratio is infinite where its child was ended."""
    found = child.in_child(lambda: measure(p.source, cycles), max(child.SECONDS, cycles * child.SECONDS // 100_000))
    if found is None:
        found = {**KILLED, "used": cycles}
    return {"name": p.name, **found}


def settled(p, first, cycles, bound):
    """The lowest of a suspect's ratios, and whether more cycles make it higher."""
    best = first
    for _ in range(AGAIN):
        if best["ratio"] <= bound or best["ended"] == "killed":
            break
        again = price(p, cycles)
        best = min(best, again, key=lambda row: row["ratio"])
    return best


def grown(p, row, cycles):
    """How many times its ratio a program with four times the cycles has: the lowest of three."""
    return min(price(p, 4 * cycles)["ratio"] for _ in range(3)) / row["ratio"]


def shown(row):
    return "%9.1f %10d %9.2f %7.0f  %s%s" % (row["ratio"], row["used"], row["took"] / 1e6, row["held"] / max(row["used"], 1), row["name"],
                                             "  (%s)" % row["why"][:60] if row["why"] else "")


def main():
    said = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    said.add_argument("--only", default="", help="programs whose name has this word")
    said.add_argument("--cycles", type=int, default=CYCLES, help="cycles of a program")
    said.add_argument("--worst", type=int, default=30, help="rows to print")
    said.add_argument("--bound", type=float, default=15, help="the ratio above which a program fails")
    said.add_argument("--part", default="0/1", help="of the programs, each N-th from the I-th on")
    said.add_argument("--written", action="store_true", help="leave out the programs that are generated")
    said.add_argument("--generated", action="store_true", help="leave out the programs that are written out")
    said.add_argument("--progress", action="store_true", help="print each row when it is known")
    said.add_argument("--list", action="store_true", help="print the programs, and run none")
    said.add_argument("--deploys", action="store_true", help="measure sources that are compiled, and no programs")
    said.add_argument("--free", default="", help="a function of host.ops that charges nothing: a fault for tests of the measure")
    said = said.parse_args()
    if said.free:
        setattr(ops, said.free, lambda *_: None)
    if said.deploys:
        return judge_deploys(said)
    i, n = map(int, said.part.split("/"))
    programs = (p for p in corpus.programs(not said.written, i, n) if said.only in p.name)
    if said.generated:
        programs = (p for p in programs if p.may_fail)
    if said.list:
        for p in programs:
            print(p.name + "\n" + p.source.decode())
        return 0
    return judge(programs, said)


def judge(programs, said):
    rows, failed = [], []
    for p in programs:
        row = price(p, said.cycles)
        if "error" in row:
            failed.append("%s: %s" % (p.name, row["error"]))
            continue
        row = settled(p, row, said.cycles, said.bound * 0.8)
        rows.append(row)
        if said.progress:
            print(shown(row), flush=True)
        if row["ended"] == "reverted" and not p.may_fail:
            failed.append("%s is not priced, since it ends: %s" % (p.name, row["why"]))
        elif row["ratio"] > said.bound:
            failed.append("%s: %.1f plain loops a cycle, at most %g" % (p.name, row["ratio"], said.bound))
        elif row["ratio"] > said.bound / 3 and grown(p, row, said.cycles) > 2.5:
            failed.append("%s: its price falls behind its time: with four times the cycles a cycle takes over twice as long" % p.name)
        elif row["held"] - FRESH > MOST_BYTES * row["used"]:
            failed.append("%s: %d bytes a cycle are held, at most %d" % (p.name, row["held"] // row["used"], MOST_BYTES))
    rows.sort(key=lambda row: -row["ratio"])
    base = min((row["base"] for row in rows if row["base"]), default=0)
    print("%d programs on Python %s, %d cycles each; a plain loop takes %.1f ns a cycle" % (
        len(rows), sys.version.split()[0], said.cycles, base))
    print("%9s %10s %9s %7s" % ("x loop", "cycles", "CPU ms", "B/cycle"))
    for row in rows[:said.worst]:
        print(shown(row))
    for line in failed:
        print("FAILED", line)
    return 1 if failed else 0


if __name__ == "__main__":
    probe.asked = False
    threading.stack_size(256 << 20)
    status = []

    def work():
        start()
        status.append(main())
    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    sys.stdout.flush()
    os._exit(status[0] if status else 2)

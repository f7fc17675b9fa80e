#!/usr/bin/env python3
"""Measures this checkout against another commit, both built on this machine, in turns in one run.

    scripts/bench-against.py COMMIT [--pairs N] [--only WORD] [--output FILE]

Each row is measured once in each build for a pair, and which comes first alternates. The ratio is this
checkout's figure over the commit's: the median of the pairs, then every pair. What the machine does besides
meets both. It prints a table in Markdown; nothing of it is a test.
"""

import argparse
import glob
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

PACKAGES = {  # test binaries and the folders that they run in
    "box": "internal/worlds/box", "sim": "internal/worlds/sim", "pyhost": "internal/environment/pyhost",
}
READY = "Ctrl-C"  # in the line that `devnet up` prints once it serves
PATIENCE = 900  # seconds of one measurement


class NotMeasured(Exception):
    """A row that one of the builds, or this machine, has no figure for."""


class Build:
    """One commit's sources, with the command and the test binaries that were built of them."""

    def __init__(self, name, sources, folder):
        self.name, self.sources, self.folder = name, sources, folder
        os.makedirs(folder, exist_ok=True)

    def compile_all(self):
        environment = dict(os.environ, CGO_ENABLED="0")
        subprocess.run(["make", "-s", "build"], cwd=self.sources, env=environment, check=True)  # as each commit is built
        shutil.copy(os.path.join(self.sources, "bin", "devnet"), self.path("devnet"))
        for name, package in PACKAGES.items():
            subprocess.run(["go", "test", "-c", "-o", self.path(name), "./" + package], cwd=self.sources, env=environment, check=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_benchmark(self, package, benchmark, times, metric, *more):
        """The figure with the unit `metric` of one benchmark."""
        command = [self.path(package), "-test.run", "^$", "-test.bench", "^" + benchmark.replace("/", "$/^") + "$", "-test.benchtime",
                   times, "-test.timeout", "%ds" % PATIENCE, *more]
        done = subprocess.run(command, cwd=os.path.join(self.sources, PACKAGES[package]), capture_output=True, text=True, timeout=PATIENCE)
        found = re.search(r"([0-9.e+]+) %s\b" % re.escape(metric), done.stdout)
        if done.returncode or not found:
            raise NotMeasured("%s of %s printed no %s: %s" % (benchmark, self.name, metric, (done.stdout + done.stderr).strip()[-200:]))
        return float(found.group(1))

    def peak_of_benchmark(self, package, benchmark, times):
        """The most memory that one benchmark's process held, in MiB."""
        command = [self.path(package), "-test.run", "^$", "-test.bench", "^" + benchmark.replace("/", "$/^") + "$", "-test.benchtime",
                   times]
        process = subprocess.Popen(command, cwd=os.path.join(self.sources, PACKAGES[package]), stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise NotMeasured("%s of %s ended with %d" % (benchmark, self.name, process.returncode))
        return used.ru_maxrss / 1024


ENDINGS = []  # networks that run


class Network:
    """A `devnet up` of four validators and four runners that runs in a folder of its own."""

    def __init__(self, build, *flags, cache=None):
        self.folder = tempfile.mkdtemp(prefix="devnet-bench-")
        environment = dict(os.environ)
        if cache is not None:
            environment["XDG_CACHE_HOME"] = cache
        ENDINGS.append(self)
        began = time.monotonic()
        self.process = subprocess.Popen([build.path("devnet"), "up", "--home", self.folder + "/home", "--http", "127.0.0.1:0", *flags],
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
        self.address = ""
        for line in self.process.stdout:
            self.address = self.address or "".join(re.findall(r"http://127\.0\.0\.1:\d+", line)[:1])
            if READY in line:
                break
        self.started_ms = (time.monotonic() - began) * 1000
        self.cpu_ms = self.used_cpu_ms()

    def used_cpu_ms(self):
        """User and system time of the process and of the children that it waited for."""
        fields = open("/proc/%d/stat" % self.process.pid).read().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) * 1000 / os.sysconf("SC_CLK_TCK")

    def voluntary_switches(self):
        total = 0
        for status in glob.glob("/proc/%d/task/*/status" % self.process.pid):
            try:
                total += int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", open(status).read(), re.M).group(1))
            except OSError:  # a thread that ended meanwhile
                continue
        return total

    def height(self):
        with urllib.request.urlopen(self.address + "/block/latest", timeout=10) as answer:
            return int(re.search(rb'"height":\s*"?(\d+)', answer.read()).group(1))

    def size(self):
        return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(self.folder) for name in names)

    def stop(self):
        ENDINGS.remove(self)
        self.process.send_signal(signal.SIGINT)
        self.process.stdout.read()
        self.process.wait(timeout=60)
        shutil.rmtree(self.folder, ignore_errors=True)


def start_with_empty_cache(build):
    cache = tempfile.mkdtemp(prefix="devnet-bench-cache-")
    network = Network(build, cache=cache)
    network.stop()
    shutil.rmtree(cache, ignore_errors=True)
    return network.started_ms


def start_again(build):
    network = Network(build)
    network.stop()
    return network.started_ms


def start_again_cpu(build):
    network = Network(build)
    network.stop()
    return network.cpu_ms


def version_cpu(build):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(20):
        subprocess.run([build.path("devnet"), "--version"], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000 / 20


def first_actor_test(build):
    with tempfile.TemporaryDirectory(prefix="devnet-bench-") as folder:
        environment = dict(os.environ, XDG_CACHE_HOME=build.path("cache"))
        subprocess.run([build.path("devnet"), "actor", "new", "hello"], cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
        began = time.monotonic()
        done = subprocess.run([build.path("devnet"), "test"], cwd=folder + "/hello", env=environment, capture_output=True, text=True)
        if done.returncode:
            raise NotMeasured("`devnet test`: " + done.stderr.strip().splitlines()[0])
        return (time.monotonic() - began) * 1000


def idle_wakeups(build):
    network = Network(build)
    time.sleep(3)
    before, began = network.voluntary_switches(), time.monotonic()
    time.sleep(10)
    rate = (network.voluntary_switches() - before) / (time.monotonic() - began)
    network.stop()
    return rate


def empty_block_bytes(build):
    network = Network(build, "--runners", "0", "--block-time", "10ms")
    while network.height() < 200:
        time.sleep(0.1)
    first, before = network.height(), network.size()
    while network.height() < first + 2000:
        time.sleep(0.2)
    grown = (network.size() - before) / (network.height() - first)
    network.stop()
    return grown


def measure_benchmark(package, name, times, metric, *more):
    return lambda build: build.run_benchmark(package, name, times, metric, *more)


ROWS = [  # what, unit, aim of the ratio (negative: at least), how
    ("first start with an empty cache folder", "ms", 0.30, start_with_empty_cache),
    ("a later start, 4 validators and 4 runners", "ms", 0.65, start_again),
    ("CPU of a later start", "ms", 0.65, start_again_cpu),
    ("CPU of `devnet --version`", "ms", 0.6, version_cpu),
    ("first `devnet test` of a new project", "ms", 0.6, first_actor_test),
    ("transaction to final receipt, p50", "ms", 0.6, measure_benchmark("box", "BenchmarkTransaction/all-on", "300x", "ms-p50")),
    ("timers scheduled", "timers/s", -1.8, measure_benchmark("box", "BenchmarkSchedule/all-on", "1x", "timers/s")),
    ("blocks, 4 validators", "blocks/s", -1.4, measure_benchmark("box", "BenchmarkBlocks/all-on", "2000x", "blocks/s")),
    ("CPU of a block", "ms", 0.65, measure_benchmark("box", "BenchmarkBlocks/all-on", "2000x", "ms-cores/block")),
    ("memory of 4 validators", "MiB", 0.6, measure_benchmark("box", "BenchmarkMemory", "1x", "MiB-resident")),
    ("memory in a storm of timers, peak", "MiB", 0.6, lambda build: build.peak_of_benchmark("box", "BenchmarkSchedule/all-on", "1x")),
    ("disk of an empty block", "bytes", 0.35, empty_block_bytes),
    ("seeds of a campaign, a core", "seeds/h", -1.6, measure_benchmark("sim", "BenchmarkSeed/timeless", "60x", "seeds/h/core")),
    ("virtual time over real, ten timers a block", "s/s", -1.6, measure_benchmark("sim", "BenchmarkTimers/go", "1500x", "virtual-s/s")),
    ("the same, Python actors", "s/s", -1.0, measure_benchmark("sim", "BenchmarkTimers/python", "300x", "virtual-s/s")),
    ("40 validators, 2,000 runners, 6 blocks: CPU", "s", 0.33, measure_benchmark(
        "sim", "BenchmarkTenThousandRunners", "1x", "cpu-s", "-crowd-validators", "40", "-crowd", "2000", "-crowd-blocks", "6")),
    ("idle: wakeups a second", "/s", 0.6, idle_wakeups),
    ("Python calls that read and write, sent ahead", "calls/s", -1.6, measure_benchmark(
        "pyhost", "BenchmarkReadWriteSentAhead", "10000x", "calls/s")),
]


def measure_pairs(measure, before, after, pairs):
    """Figures of both builds, in turns."""
    figures = []
    for i in range(pairs):
        if i % 2:
            now = measure(after)
            was = measure(before)
        else:
            was = measure(before)
            now = measure(after)
        figures.append((was, now))
    return figures


def row_of(what, unit, aim, figures):
    ratios = [now / was for was, now in figures]
    middle = statistics.median(ratios)
    met = middle <= aim if aim > 0 else middle >= -aim
    wanted = ("≤ %.2f" % aim if aim > 0 else "≥ %.2f" % -aim) + ("" if met else ", missed")
    was, now = (statistics.median(column) for column in zip(*figures))
    return "| %s | %.4g %s | %.4g %s | **%.2f** | %s | %s |" % (
        what, was, unit, now, unit, middle, wanted, " ".join("%.2f" % r for r in ratios))


def main():
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("commit", help="what to measure against, such as a tag")
    asked.add_argument("--pairs", type=int, default=5, help="measurements of each build in each row (5)")
    asked.add_argument("--only", default="", help="rows whose name has this word")
    asked.add_argument("--output", help="a file for the table besides")
    asked = asked.parse_args()
    here = subprocess.run(["git", "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=True).stdout.strip()
    rows = [row for row in ROWS if asked.only in row[0]]
    if not rows:
        raise SystemExit("no row has %r in its name; they are:\n  %s" % (asked.only, "\n  ".join(row[0] for row in ROWS)))
    folder = tempfile.mkdtemp(prefix="devnet-bench-")
    base = folder + "/sources"
    added = subprocess.run(["git", "worktree", "add", "-q", "--detach", base, asked.commit], cwd=here)
    if added.returncode:
        raise SystemExit("%s is no commit of this repository: git log names some" % asked.commit)
    try:
        before, after = Build(asked.commit, base, folder + "/before"), Build("this checkout", here, folder + "/after")
        for build in (before, after):
            print("building", build.name, file=sys.stderr)
            build.compile_all()
            start_again(build)  # later starts remember what the first asked of Python
        lines = ["| what | before | after | ratio | aim | every pair |", "|---|---|---|---|---|---|"]
        print("\n".join(lines))
        for what, unit, aim, measure in rows:
            try:
                lines.append(row_of(what, unit, aim, measure_pairs(measure, before, after, asked.pairs)))
            except NotMeasured as why:
                lines.append("| %s | | | not measured | | %s |" % (what, " ".join(str(why).split())))
            print(lines[-1], flush=True)
        if asked.output:
            with open(asked.output, "w", encoding="utf-8") as out:
                out.write("\n".join(lines) + "\n")
    finally:
        for network in list(ENDINGS):
            network.stop()
        subprocess.run(["git", "worktree", "remove", "--force", base], cwd=here)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

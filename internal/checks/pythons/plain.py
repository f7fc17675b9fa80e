"""Runs generated programs in plain CPython: a line of JSON in, a line out.

Each program runs in a process of its own, which ends after some seconds: what
it saw until then is told, check by check."""

import gc
import json
import os
import resource
import signal
import sys


def write_checks(source, checks, out):
    """Writes a line of JSON for each check of a program: what it saw."""
    module = sys.modules["actor"] = type(sys)("actor")  # where dataclasses look for what a text of an annotation names
    space = module.__dict__
    space["__builtins__"] = __builtins__
    exec(compile(source, "actor", "exec", dont_inherit=True), space)
    for n in range(checks):
        seen = []
        space["c%d" % n](seen.append)
        out.write(json.dumps(seen) + "\n")
        out.flush()


def limit_process(cpu, memory):
    """Ends this process after so many seconds of work, also within C."""
    signal.setitimer(signal.ITIMER_PROF, cpu)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run_child(asked, pipe):
    gc.disable()
    limit_process(0.5, 1 << 29)
    sys.setrecursionlimit(400)
    sys.stdout = open(os.devnull, "w")
    with os.fdopen(pipe, "w") as out:
        write_checks(asked["source"], asked["checks"], out)


def run_apart(asked):
    readable, writable = os.pipe()
    pid = os.fork()
    if pid == 0:
        failed = 1
        try:
            os.close(readable)
            run_child(asked, writable)
            failed = 0
        except BaseException as e:
            print("plain.py:", type(e).__name__, e, file=sys.stderr)
        finally:
            os._exit(failed)
    os.close(writable)
    with os.fdopen(readable) as found:
        lines = [line for line in found if line.endswith("\n")]
    os.waitpid(pid, 0)
    return "[" + ",".join(line.strip() for line in lines) + "]"


def main():
    import collections, dataclasses, decimal, enum, fractions, functools, heapq, hmac, itertools, re, string, typing  # noqa: once for all
    import base64, bisect, hashlib, math, operator, struct  # noqa: E401,F401
    gc.freeze()
    for line in sys.stdin:
        print(run_apart(json.loads(line)), flush=True)


main()

"""A child process with bounded time and memory."""

import json
import os
import resource
import signal

SECONDS = 2  # of processor time, after which a child is ended: some 200 plain loops
MEMORY = 4 << 30


def run_in_child(do, seconds=SECONDS):
    """The result of do, made in a child with bounded time and memory; None of a child that was ended.
    Where do fails, the result is {"error": why}."""
    r, w = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            signal.signal(signal.SIGXCPU, signal.SIG_DFL)
            found = do()
        except BaseException as e:
            found = {"error": "%s: %s" % (type(e).__name__, e)}
        os.write(w, json.dumps(found).encode())
        os._exit(0)
    os.close(w)
    with os.fdopen(r, "rb") as f:
        raw = f.read()
    os.waitpid(child, 0)
    return json.loads(raw) if raw else None

"""The start of the host: its limits, its libraries, then the fork server."""

import gc
import mmap
import os
import sys
import threading

from host import chain, fork_server, imports, meter, probe, serving, wall, warmup
from host.wire import Pipe

PAGE = 3  # the descriptor of the page that the chain reads
STACK = 256 << 20  # bytes: more than DEPTH_IN_ALL frames of any version need


def main(server_bytes, child_bytes, notes):
    """Serve until stdin ends. Only the pipe uses standard output."""
    meter.share(mmap.mmap(PAGE, meter.PAGE_BYTES))
    sink = os.dup2(1, PAGE)
    os.dup2(2, 1)
    probe.asked = bool(notes)
    wall.only(sink)
    wall.bound_memory(server_bytes, child_bytes)
    sys.setrecursionlimit(50_000)
    sys.set_int_max_str_digits(4300)
    sys.unraisablehook = lambda _: None
    chain.pipe, chain.serve = Pipe(0, sink), serving.serve
    imports.install()
    warmup.prepare()
    gc.disable()
    gc.collect()
    threading.stack_size(STACK)
    worker = threading.Thread(target=fork_server.run, args=(sink,))
    worker.start()
    worker.join()

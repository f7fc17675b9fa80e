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
SLOTS = 1 << 21  # of eight bytes: more than the frames of a program take together


def run_in_one_chunk(run, sink):
    """Call run, all of whose frames have room in one chunk of memory.

    Python takes frames from chunks of 16 KiB, and maps and unmaps a chunk for each call that crosses its end: such a call
    takes 800 times as long as any other. The frame of this function is larger than the half of a chunk, which is twice
    as large as the next power of two below. So as much is left behind it, and nobody touches the frame itself.
    """
    run(sink)


run_in_one_chunk.__code__ = run_in_one_chunk.__code__.replace(co_stacksize=SLOTS + 1)


def main(server_bytes, child_bytes, notes):
    """Serve until stdin ends. Only the pipe uses standard output."""
    meter.share_page(mmap.mmap(PAGE, meter.PAGE_BYTES))
    sink = os.dup2(1, PAGE)
    os.dup2(2, 1)
    probe.asked = bool(notes)
    wall.close_above(sink)
    wall.bound_memory(server_bytes, child_bytes)
    sys.setrecursionlimit(50_000)
    sys.set_int_max_str_digits(4300)
    sys.unraisablehook = lambda _: None
    chain.pipe, chain.serve = Pipe(0, sink), serving.serve_frame
    imports.install_imports()
    warmup.prepare_warmup()
    gc.disable()
    gc.collect()
    threading.stack_size(STACK)
    worker = threading.Thread(target=run_in_one_chunk, args=(fork_server.run_server, sink))
    worker.start()
    worker.join()

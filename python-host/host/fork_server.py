"""The third wall: what runs a program does not live on.

This process never runs an author's code, only messages of the host (warmup). It keeps code
compiled and forks a child for each conversation (a block, a number of reads). The child runs
the messages and ends with the conversation. So whatever a program leaves in the interpreter,
by any hole, meets no other block, and every validator's interpreter begins a block alike.

Both speak through the same two pipes, one after the other:

  L, X, P  load, drop, costs: kept by their receiver
  F        the fork server forks a child, which says F and has the pipes from then on
  T        the fork server tries what its children must not do, and says how each ended
  E        the child ends; the fork server says Z and has them again

A child that ends otherwise takes the fork server with it: the exit code says how. A
child that the chain ends in the midst of a message does not: the chain notes it in the
page. Once the child is gone it draws a token, which is in the page and comes through the
pipe. The fork server skips the child's unread input up to the token, sends it back after
the child's unfinished output, and says Z.
"""

import gc
import os

from host import chain, imports, meter, protocol, serving, wall, warmup
from host.wire import read_record


def keep_code(frame):
    """Load code, compiled if possible; otherwise the child refuses it."""
    hash = serving.load_code(frame)
    try:
        warmup.note_running(serving.code_of(hash))
    except Exception:
        pass


def set_costs(frame):
    serving.set_costs(frame)
    imports.warm_libraries()


def drawn_token():
    """The token in the page: of the child that the chain ended last."""
    return bytes(meter.page[meter.TOKEN:meter.TOKEN_END])


def fork_child(frame):
    global forks
    gc.freeze()
    measures, forks = forks % warmup.MEASURED == 0 or meter.words[meter.MEASURE] == 1, forks + 1
    meter.words[meter.MEASURE] = 0
    me, before = os.getpid(), drawn_token()
    child = os.fork()
    if child == 0:
        walls.narrow_child(me)
        warmup.run_warmup()
        rate, page = (warmup.time_loop(), warmup.time_page()) if measures else (0, 0)
        chain.pipe.write(protocol.FORK, read_record(pid=os.getpid(), rate=rate, page=page))
        serving.serve_all({**serving.HANDLERS, protocol.END: lambda frame: os._exit(0)})
    chain.pipe.forget()
    _, status = os.waitpid(child, 0)
    if meter.words[meter.STATE] == meter.ENDED:
        meter.words[meter.STATE] = meter.IDLE
        chain.pipe.skip(before, drawn_token)
    elif status != 0:
        os._exit(protocol.SIGNALLED + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
    chain.pipe.write(protocol.ENDED, b"")


def try_all(frame):
    """Names of attempts, each with the status of the child that made it."""
    me, found = os.getpid(), []
    for name, do in wall.list_attempts(walls, me).items():
        child = os.fork()
        if child == 0:
            walls.narrow_child(me)
            wall.attempt_in_child(do)
        _, status = os.waitpid(child, 0)
        ended = {"signal": os.WTERMSIG(status)} if os.WIFSIGNALED(status) else {"exit": os.WEXITSTATUS(status)}
        found.append(read_record(name=name.encode(), **ended))
    chain.pipe.write(protocol.TRY, b"".join(found))


HANDLERS = {
    protocol.TRY: try_all, protocol.LOAD: keep_code, protocol.DROP: serving.drop_code, protocol.COSTS: set_costs, protocol.FORK: fork_child,
}
walls = None
forks = 0  # children so far


def run_server(sink):
    """Build the walls, say hello, and serve."""
    global walls
    walls = wall.Wall(sink)
    walls.build()
    warmup.specialise_code()
    parts = [read_record(name=name.encode(), missing=why.encode()) for name, why in walls.parts.items()]
    chain.pipe.write(protocol.HELLO, b"".join([read_record(version=serving.VERSION)] + parts))
    serving.serve_all(HANDLERS)

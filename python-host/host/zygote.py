"""The third wall: what runs a program does not live on.

This process never runs an author's code. It keeps code compiled and forks a
child for each conversation (a block, a number of reads); the child runs the
messages and ends with the conversation. So what a program leaves behind in the
interpreter, by whatever hole, meets no other block, and every validator's
interpreter begins a block alike.

Both speak through the same two pipes, one after the other:

  L, X, P  load, drop, costs: kept by who gets them
  F        the fork server forks a child, which says F and has the pipes from then on
  T        the fork server tries what its children must not do, and says how each ended
  E        the child ends; the fork server says Z and has them again

A child that ends otherwise takes the fork server with it: the exit code says how.
"""

import gc
import os

import chain
import imports
import main
import wall
from wire import item

SIGNALLED = 64  # and the signal: the exit code when a child was killed


def keep(frame):
    """Load code, compiled if it can be; what cannot is the child's to refuse."""
    main.load(frame)
    try:
        main.code_of(frame[1:33])
    except Exception:
        pass


def set_costs(frame):
    main.set_costs(frame)
    imports.warm()


def fork(frame):
    gc.freeze()
    me = os.getpid()
    child = os.fork()
    if child == 0:
        standing.narrow(me)
        chain.pipe.write(b"F", b"")
        main.serve_all({**main.HANDLERS, ord("E"): lambda frame: os._exit(0)})
    chain.pipe.forget()
    _, status = os.waitpid(child, 0)
    if status != 0:
        os._exit(SIGNALLED + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status))
    chain.pipe.write(b"Z", b"")


def try_all(frame):
    """Names of attempts, each with the status of the child that made it."""
    me, found = os.getpid(), []
    for name, do in wall.attempts(standing, me).items():
        child = os.fork()
        if child == 0:
            standing.narrow(me)
            wall.attempt(do)
        _, status = os.waitpid(child, 0)
        ended = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        found += [item(name.encode()), item(b"%d" % ended)]
    chain.pipe.write(b"T", b"".join(found))


HANDLERS = {ord("T"): try_all, ord("L"): keep, ord("X"): main.drop, ord("P"): set_costs, ord("F"): fork}
standing = None


def run(sink):
    """Build the walls, say hello, and serve."""
    global standing
    standing = wall.Wall(sink)
    standing.build()
    parts = [b for name, why in standing.parts.items() for b in (item(name.encode()), item(why.encode()))]
    chain.pipe.write(b"H", b"".join([item(main.VERSION)] + parts))
    main.serve_all(HANDLERS)

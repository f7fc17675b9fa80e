"""How a message ends, whatever its actor does.

Nothing that an actor raises may pass this function, since above it is the loop
of the host, which would end: so it catches all there is, and what it says of an
error it says without running the actor's code.
"""

import chain
import check
import meter
import own
import program

OK, REVERTED, OVER, NO_HANDLER, REFUSED, CRASHED = range(6)


def outcome(code_of, hash, kind, handler, payload):
    """(status, items) of one message; code_of(hash) gives the actor's code."""
    mark = len(own.MADE)
    try:
        return ended(code_of, hash, kind, handler, payload)
    except MemoryError:
        return CRASHED, (b"crash", b"out of memory")
    finally:
        own.forget(mark)


def ended(code_of, hash, kind, handler, payload):
    try:
        output = program.run(code_of(hash), kind, handler, payload)
        if chain.now.lines:
            chain.log(chain.now.lines)
        if not meter.account.over:
            return OK, (output,)
    except meter.Abort as e:
        return OVER, (program.place(e),)
    except meter.Crash as e:
        return CRASHED, (b"crash", str(e).encode("utf-8", "replace")[:500])
    except MemoryError:
        return CRASHED, (b"crash", b"out of memory")
    except check.Refusal as e:
        return REFUSED, (b"invalid_code", ("line %d: %s" % (e.line, e.reason)).encode("utf-8", "replace")[:4096])
    except program.Fault as e:
        return NO_HANDLER if e.status == "no_handler" else REVERTED, (e.code.encode(), e.message.encode("utf-8", "replace"))
    except BaseException as e:
        if not meter.account.over:
            code, message = program.explain(e)
            return REVERTED, (code.encode(), message.encode())
        return OVER, (program.place(e),)
    return OVER, (b"",)

"""How a message ends, whatever its actor does.

No error of an actor may pass this function, since the host's loop above it would end. So it
catches all errors, and describes them without running the actor's code.
"""

from host import actor_code, chain, check, meter, program
from host.protocol import MAX_MESSAGE


def outcome(code_of, hash, kind, handler, payload):
    """(end, its fields) of one message, as in protocol.ENDS; code_of(hash) gives the actor's
    code."""
    mark = len(actor_code.MADE)
    try:
        return ended(code_of, hash, kind, handler, payload)
    except MemoryError:
        return crashed(b"out of memory")
    finally:
        actor_code.forget(mark)


def ended(code_of, hash, kind, handler, payload):
    try:
        output = program.run(code_of(hash), kind, handler, payload)
        if chain.now.lines:
            chain.log(chain.now.lines)
        if not meter.account.over:
            return "ok", (output,)
    except meter.Abort as e:
        return over(program.place(e))
    except meter.Crash as e:
        return crashed(str(e).encode("utf-8", "replace")[:500])
    except MemoryError:
        return crashed(b"out of memory")
    except check.Refusal as e:
        message = ("line %d: %s" % (e.line, e.reason)).encode("utf-8", "replace")[:MAX_MESSAGE]
        return "invalid_code", (e.code.encode(), message)
    except program.Fault as e:
        return e.status, (e.code.encode(), e.message.encode("utf-8", "replace")) + (b"",) * (e.status == "reverted")
    except BaseException as e:
        if not meter.account.over:
            code, message, words = program.explain(e)
            return "reverted", (code.encode(), message.encode(), words.encode())
        return over(program.place(e))
    return over(b"")


def over(where):
    return "out_of_cycles", (where,)


def crashed(message):
    return "crashed", (message,)

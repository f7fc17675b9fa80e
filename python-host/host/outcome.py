"""How a message ends, whatever its actor does.

No error of an actor may pass this function, since the host's loop above it would end. So it
catches all errors, and describes them without running the actor's code.
"""

from host import actor_code, chain, check, meter, program
from host.protocol import MAX_MESSAGE


def run_message(code_of, hash, kind, handler, payload):
    """(end, its fields) of one message, as in protocol.ENDS; code_of(hash) gives the actor's
    code."""
    mark = len(actor_code.MADE)
    try:
        return run_to_end(code_of, hash, kind, handler, payload)
    except MemoryError:
        return end_crashed(b"out of memory")
    finally:
        actor_code.forget_classes(mark)


def run_to_end(code_of, hash, kind, handler, payload):
    try:
        output = program.run_code(code_of(hash), kind, handler, payload)
        if chain.now.lines:
            chain.log_line(chain.now.lines)
        if not meter.account.over:
            return "ok", (output,)
    except meter.Abort as e:
        return end_out_of_cycles(program.innermost_place(e))
    except meter.Crash as e:
        return end_crashed(str(e).encode("utf-8", "replace")[:500])
    except MemoryError:
        return end_crashed(b"out of memory")
    except check.Refusal as e:
        message = ("line %d: %s" % (e.line, e.reason)).encode("utf-8", "replace")[:MAX_MESSAGE]
        return "invalid_code", (e.code.encode(), message)
    except program.Fault as e:
        return e.status, (e.code.encode(), e.message.encode("utf-8", "replace")) + (b"",) * (e.status == "reverted")
    except BaseException as e:
        if not meter.account.over:
            code, message, words = program.explain_error(e)
            return "reverted", (code.encode(), message.encode(), words.encode())
        return end_out_of_cycles(program.innermost_place(e))
    return end_out_of_cycles(b"")


def end_out_of_cycles(where):
    return "out_of_cycles", (where,)


def end_crashed(message):
    return "crashed", (message,)

"""The words of errors, the same under every Python (decision C20).

CPython words an error otherwise from patch to patch. So what a program can read of an error keeps its
arguments only where an actor or the host raised it. One that C or a library raised has the words of
this table, by its type and by the operation, or none. The message for people has CPython's own.
"""

import opcode

from host import actor_code, weights

RAISES = opcode.opmap["RAISE_VARARGS"]
HOSTS = ("host.", "cowboy_sdk", "pvm_host")  # modules whose raise statements have our words
VALUES = (KeyError, StopIteration)  # whose arguments are values of the program and no words
UNRAISED = object()

WORDS = {  # (type, operation) or type → words; call_through is what functions are called that hand arguments on
    (ValueError, "make_int"): "not the text of an integer",
    (ValueError, "index"): "not found", (ValueError, "remove"): "not found",
    (ValueError, "UNPACK_SEQUENCE"): "another number of values", (ValueError, "UNPACK_EX"): "another number of values",
    (TypeError, "UNPACK_SEQUENCE"): "these values cannot be unpacked", (TypeError, "UNPACK_EX"): "these values cannot be unpacked",
    (TypeError, "CALL"): "called with other arguments", (TypeError, "call_through"): "called with other arguments",
    TypeError: "not for values of these types", ValueError: "not for this value",
    ZeroDivisionError: "division by zero", IndexError: "no such index", OverflowError: "a number is too large",
    AttributeError: "no such attribute", RecursionError: "nested too deeply", UnboundLocalError: "a name has no value yet",
}


def origin_of(error):
    """Where an error was raised: (the innermost frame of an actor's or the host's, its opcode, whether
    that is the innermost of all); UNRAISED if it never was."""
    found, tb = UNRAISED, BaseException.__traceback__.__get__(error)
    while tb is not None:
        frame = tb.tb_frame
        if frame.f_builtins is actor_code.BUILTINS[0] or str(frame.f_globals.get("__name__")).startswith(HOSTS):
            found = frame, frame.f_code.co_code[tb.tb_lasti], tb.tb_next is None
        elif found is UNRAISED:
            found = frame, 0, False
        tb = tb.tb_next
    return found


def has_own_arguments(error):
    """Whether an actor or the host gave an error its arguments."""
    if actor_code.kind_of(type(error)) is not None:
        return True
    found = origin_of(error)
    return found is UNRAISED or found[1] == RAISES and found[2]


def readable_arguments(error):
    """The arguments of an error as a program may read them."""
    raw = BaseException.args.__get__(error)
    if not raw or isinstance(error, VALUES) or has_own_arguments(error):
        return raw
    if isinstance(error, UnicodeError):
        return raw[:-1] + ("",)
    words = of_table(error)
    return (words,) if words else ()


weights.arguments_of = readable_arguments


def of_table(error):
    """The words for what C raised."""
    t = type(error)
    if t is NameError and type(error.name) is str:
        return "the name %s is not defined" % error.name
    return WORDS.get((t, operation_of(error))) or WORDS.get(t, "")


def operation_of(error):
    """The operation that raised an error: the method that a function of the host wraps, that function
    itself, or the instruction of an actor's code."""
    frame, at, _ = origin_of(error)
    if frame.f_builtins is actor_code.BUILTINS[0]:
        name = opcode.opname[at]
        return "CALL" if name.startswith("CALL") else name  # the kinds of calls differ by minor version
    wrapped = frame.f_locals.get("raw")
    return getattr(wrapped, "__name__", None) or frame.f_code.co_name

"""The host's functions as constants of an actor's code.

A name is looked up in two tables each time it is read. Each message has its own tables, so the
interpreter never learns where to look. A constant needs no look-up. So for an object of the
host the rewriter writes a complex number, which no source can spell (check.constant). bind puts
the object in its place once the code is compiled.

An actor reads no code object, so these are as far from it as the host's names.
"""

import ast

NUMBERS = {}  # name of the host's → the imaginary part that stands for it
NAMES = [None]  # by that number


def make_constant(name):
    """The constant that will be what the host calls name."""
    number = NUMBERS.get(name)
    if number is None:
        number = NUMBERS[name] = len(NAMES)
        NAMES.append(name)
    return ast.Constant(complex(0, number))


def bind_constants(code, space):
    """code with the host's things in it and in all code within it, by their names in space. A function of ours has
    the name of the author's function around it."""
    return code.replace(co_consts=tuple(bind_constant(c, space) for c in code.co_consts), co_name=code.co_name.lstrip("$"),
                        co_qualname=".".join(own_parts(code.co_qualname.split("."))))


def own_parts(parts):
    """The parts of a qualified name, without those of functions of ours."""
    found = []
    for part in parts:
        if part.startswith("$"):
            found.pop()  # <locals>
        else:
            found.append(part)
    return found


def bind_constant(constant, space):
    t = type(constant)
    if t is complex:
        return space[NAMES[int(constant.imag)]]
    if t is type(bind_constants.__code__):
        return bind_constants(constant, space)
    return constant

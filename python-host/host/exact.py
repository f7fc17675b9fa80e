"""Values of exact types, made without running any of an author's code.

A class on int or str may not replace their methods (actor_code.define), so these are
a second lock on the same door: what leaves for the chain, or bounds a loop of
the host's, is an int or a str and nothing that looks like one.
"""


def require_integer(value, what="a number"):
    """The int that value is; a bool does not count."""
    t = type(value)
    if t is int:
        return value
    if t is bool or not issubclass(t, int):
        raise TypeError("%s is an int, not %s" % (what, t.__name__))
    return int.__index__(value)


def require_text(value, what="a name"):
    """The str that value is."""
    t = type(value)
    if t is str:
        return value
    if not issubclass(t, str):
        raise TypeError("%s is a str, not %s" % (what, t.__name__))
    return str.__str__(value)


def plain_value(value):
    """value, or the int or str that an instance of a class on one of them is."""
    t = type(value)
    if t is bytes or t is str or t is int or t is bool or value is None:
        return value
    if issubclass(t, int):
        return int.__index__(value)
    if issubclass(t, str):
        return str.__str__(value)
    return value


def exact_arguments(f):
    """f, given only exact numbers and texts among its own arguments."""
    def call_through(*args, **kwargs):
        if kwargs:
            kwargs = {k: plain_value(v) for k, v in kwargs.items()}
        return f(*map(plain_value, args), **kwargs)
    call_through.__name__, call_through.__doc__ = f.__name__, f.__doc__
    return call_through

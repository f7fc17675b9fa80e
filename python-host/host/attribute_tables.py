"""Attributes that actors may read, type by type: the tables that attributes asks.

They are separate from it, so that the module of a value can list its readable attributes
without importing attributes.
"""

import collections
import json
import re
import types

VALUE = "value"
TABLE = {}  # built-in type → name → the method that charges for its work
PROPERTIES = {  # built-in type → attributes that are values, not methods
    collections.deque: {"maxlen"}, range: {"start", "stop", "step"},
    int: {"real", "imag", "numerator", "denominator"},
}
SURFACE = {}  # type of the host's → names of its instances that may be read
ERRORS = {  # type of an error → names besides args, which attributes.arguments shows
    BaseException: ("add_note",), StopIteration: ("value",), UnicodeError: ("start", "end", "reason", "encoding", "object"),
    json.JSONDecodeError: ("msg", "doc", "pos", "lineno", "colno"), re.error: ("msg", "pattern", "pos", "lineno", "colno"),
}
FOUND = {}


def show_attributes(cls, names):
    """Instances of cls show these names."""
    SURFACE[cls] = frozenset(names.split())


NAMED = set()  # functions that bear the name under which Python has them


def under_name(f, name):
    """f with a name of Python's. A function that stands under several names is another one for each."""
    if type(f) is not types.FunctionType or f.__name__ == name:
        return f
    if f in NAMED:
        again = types.FunctionType(f.__code__, f.__globals__, name, f.__defaults__, f.__closure__)
        again.__kwdefaults__ = f.__kwdefaults__
        again.__dict__.update(f.__dict__)
        f = again
    f.__name__ = f.__qualname__ = name
    NAMED.add(f)
    return f


def name_methods():
    """Names the methods of TABLE, once it is whole."""
    for methods in TABLE.values():
        for name, f in methods.items():
            methods[name] = under_name(f, name)


def find_attribute(t, name):
    """How an instance of a type of the host's answers name: VALUE, a function, or None."""
    found = FOUND.get((t, name))
    if found is None:
        found = search_bases(t, name)
        if found is not None:
            FOUND[t, name] = found
    return found


def search_bases(t, name):
    for base in t.__mro__:
        if name in TABLE.get(base, ()):
            return TABLE[base][name]
        if name in PROPERTIES.get(base, ()):
            return VALUE
    return None

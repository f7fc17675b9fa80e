"""Attributes and their readable names, type by type.

attr is how rewritten code, getattr and operator's getters read every attribute. It may read all
attributes that an actor put on its own values. A built-in value has those that
attribute_tables.TABLE charges for, any other value those in attribute_tables.SURFACE. Every
other attribute is refused.
"""

import collections
import decimal
import re
import types

from host import actor_code, enums, sealed, words
from host.attribute_tables import ERRORS, PROPERTIES, SURFACE, TABLE, VALUE, find_attribute, show_attributes
from host.exact import plain_value
from host.meter import charge

NAMED = ("__name__", "__doc__")
GROWING = frozenset((list, collections.deque, bytearray))  # whose append is charged by its call
MIXED = 4  # cycles of reading an attribute of an instance of a class that is built on one of the host's
REFUSED = 15  # an AttributeError is made, with words
HELD = 2  # cycles of reading what a built-in value holds
ABOVE = 4  # and of each class in which it may be
ARGUMENT = 8  # cycles of an argument of an error
SEARCHED = 4  # characters of a text searched for an address in one cycle
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def refuse_attribute(value, name):
    charge(REFUSED)
    t = type(value)
    raise AttributeError("%r object has no attribute %r that an actor may use" % (t.__name__, name))


def get_attribute(value, name):
    """value.name"""
    t = type(value)
    if t in actor_code.PLAIN or t in actor_code.OPEN and name[:1] != "_":
        return getattr(value, name)
    methods = TABLE.get(t)
    if methods is not None:
        found = methods.get(name) or find_attribute(t, name)
        if found is None:
            refuse_attribute(value, name)
        if name == "append" and t in GROWING:
            return value.append
        if found == VALUE:
            charge(HELD)
            return getattr(value, name)
        return types.MethodType(found, value)
    listed = SURFACE.get(t)
    if listed is not None:
        if name in listed:
            return getattr(value, name)
        refuse_attribute(value, name)
    return of_other(value, t, name)


def of_other(value, t, name):
    if t is sealed.Type:
        return value.__name__ if name == "__name__" else sealed.static_method(value, name)
    if t is types.FunctionType or t is types.MethodType:
        return of_function(value, name)
    if t is super:
        return of_super(value, name)
    if isinstance(value, type):
        return of_class(value, name)
    if actor_code.kind_of(t) is not None:
        return of_mixed(value, t, name)
    if isinstance(value, BaseException):
        return of_error(value, name)
    if issubclass(t, sealed.Library):
        if name.startswith("_"):
            refuse_attribute(value, name)
        return getattr(value, name)
    found = find_attribute(t, name)
    if found is None:
        refuse_attribute(value, name)
    return getattr(value, name) if found == VALUE else types.MethodType(found, value)


def of_function(f, name):
    if name in NAMED:
        return getattr(f, name)
    inner = f.__func__ if type(f) is types.MethodType else f
    if actor_code.is_function(inner) and not name.startswith("_host_") and name in inner.__dict__:
        return inner.__dict__[name]
    refuse_attribute(f, name)


def of_mixed(value, t, name):
    """An attribute of an instance whose class an actor built on one of the host's."""
    charge(MIXED + ABOVE * len(t.__mro__))
    for base in t.__mro__:
        if base in actor_code.KINDS:
            if name in base.__dict__:
                if name in UNLISTED:
                    refuse_attribute(value, name)
                return getattr(value, name)
        elif name in base.__dict__:
            return of_base(value, base, name)
    held = object_dict(value)
    if name in held and not (actor_code.is_sunder(name) and name not in ("_value_", "_name_")):
        return held[name]
    refuse_attribute(value, name)


def object_dict(value):
    try:
        return object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}


BASE_VALUES = {enums.Enum: frozenset(("name", "value")), enums.Flag: frozenset(("name", "value"))}
UNLISTED = actor_code.ROW - {"_asdict", "_replace", "_fields"}  # what namedtuple puts into a class, and keeps


def of_base(value, base, name):
    if base in TABLE and name in TABLE[base]:
        return types.MethodType(TABLE[base][name], value)
    if name in PROPERTIES.get(base, ()) or name in BASE_VALUES.get(base, ()):
        return getattr(value, name)
    if issubclass(base, BaseException):
        return of_error(value, name)
    if base in SURFACE and name in SURFACE[base]:
        return getattr(value, name)
    if name in NAMED or name == "__init__" and base is object:
        return getattr(value, name)
    refuse_attribute(value, name)


def of_error(error, name):
    """An attribute of an exception: its subject, never a part of the interpreter."""
    if name == "args":
        found = error_arguments(error)
        charge(ARGUMENT * len(found))
        charge(sum(len(a) for a in found if type(a) is str) // SEARCHED)
        return found
    if name == "__init__":
        return getattr(error, name)
    if name == "__doc__":
        return type(error).__doc__
    for base in type(error).__mro__:
        if name in ERRORS.get(base, ()):
            found = getattr(error, name)
            if name == "reason" and not words.has_own_arguments(error):
                return ""
            if type(found) is str:
                charge(len(found) // SEARCHED)
            return found if base is BaseException else check_harmless(found)
    refuse_attribute(error, name)


def error_arguments(error):
    """error.args; () for decimal's errors, whose args are lists of the library's classes."""
    if isinstance(error, decimal.DecimalException):
        return ()
    return tuple(check_harmless(a) for a in words.readable_arguments(error))


def check_harmless(value):
    """value unchanged if an actor may have put it there; otherwise its type's name."""
    t = type(value)
    if t is str:
        return without_address(value)
    if t in TABLE or value is None or value is Ellipsis or actor_code.kind_of(t) is not None or isinstance(value, Exception):
        return value
    if t is sealed.Type or isinstance(value, sealed.Sealed) or t in SURFACE or actor_code.is_class(value) or actor_code.is_function(value):
        return value
    return value.__name__ if isinstance(value, type) else t.__name__


def without_address(text):
    """An error's text, the same on every node: Python writes addresses into some."""
    return ADDRESS.sub("", text) if " at 0x" in text else text


def of_super(value, name):
    """super().name: the next class's own, or the metered method of a base."""
    mine = value.__self__
    mro = value.__self_class__.__mro__
    charge(1 + len(mro) // 8)
    for base in mro[mro.index(value.__thisclass__) + 1:]:
        if name not in base.__dict__:
            continue
        if base in actor_code.KINDS:
            return getattr(value, name)
        if name == "__init__" and (base is object or issubclass(base, (BaseException, enums.Enum))):
            return getattr(value, name)
        if isinstance(mine, type):
            break
        return of_base(mine, base, name)
    raise AttributeError("super has no %s that an actor may use" % name)


def of_class(cls, name):
    """An attribute of a class: the actor's own, or the metered method of a base."""
    if name in NAMED:
        return plain_value(getattr(cls, name))
    mine = actor_code.kind_of(cls) is not None
    charge(ABOVE + (len(cls.__mro__) if mine else 0))
    for base in cls.__mro__ if mine else ():
        if name in base.__dict__:
            if base in actor_code.KINDS:
                if actor_code.is_sunder(name) and actor_code.KINDS[base].enumeration or name in UNLISTED:
                    break
                return getattr(cls, name)
            if base in TABLE and name in TABLE[base]:
                return TABLE[base][name]
            break
    if name == "__init__" and (mine or cls is object or issubclass(cls, BaseException)):
        return getattr(cls, name) if issubclass(cls, BaseException) else object.__init__
    raise AttributeError("%s has no %s that an actor may use" % (cls.__name__, name))


def is_readable(value, name):
    """Whether a pattern may read value.name by itself: it is the actor's own or a plain value."""
    t = type(value)
    if t in actor_code.PLAIN:
        return True
    if actor_code.kind_of(t) is None:
        return name in SURFACE.get(t, ()) or name in PROPERTIES.get(t, ())
    charge(len(t.__mro__))
    for base in t.__mro__:
        if name in base.__dict__:
            return base in actor_code.KINDS or name in BASE_VALUES.get(base, ()) or name in PROPERTIES.get(base, ())
    return True


show_attributes(property, "setter getter deleter")
show_attributes(sealed.Function, "__name__ __doc__")

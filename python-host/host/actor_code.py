"""Classes and functions that the running actors made.

Everything else that an actor can hold belongs to the host, and is the same
object for every message: nothing of it may be changed, and of it only what
surface lists may be read. A class is known from the moment its statement ends
until its message does.
"""

import types
import typing

from host import enums
from host.meter import charge
from host.weights import PLAIN

PENDING = []  # class statements being carried out: (name, bases, Kind)
OPEN = {}  # these, and types of libraries, whose attributes without a leading underscore may all be read
GIVING = set()  # types of the host's whose attributes an actor may set, as they let it
KINDS = {}  # every class made by a running message → its Kind
MADE = []  # the same, in order, so that a message forgets its own at its end
BUILTINS = []  # the one namespace of built-in names, by which own functions are known

# Names that a class built on such a base may not define: the host relies on them.
_FREE = frozenset("__init__ __repr__ __str__ __doc__".split())
_NUMBER = (frozenset(dir(int)) | {"is_integer"}) - _FREE
_TEXT = frozenset(dir(str)) - _FREE
ROW = frozenset("__len__ __iter__ __getitem__ __contains__ __reversed__ __mul__ __rmul__ __imul__ _fields _field_defaults _make _asdict "
                "_replace".split())
_ERROR = frozenset("args add_note with_traceback".split())
RELIED = ((int, _NUMBER), (str, _TEXT), (tuple, ROW), (BaseException, _ERROR))
NAMED_TUPLE = typing.NamedTuple.__mro_entries__((typing.NamedTuple,))[0]  # whose metaclass makes a class on tuple
SUNDERS = frozenset("_missing_ _generate_next_value_ _order_ _ignore_".split())


class Kind:
    """The host's record of an actor's class."""

    __slots__ = ("names", "relied", "fits", "enumeration")

    def __init__(self, names, relied, enumeration):
        self.names = names  # that its author defined, in it and in its bases
        self.relied = relied  # base and names which may not be replaced
        self.enumeration = enumeration
        self.fits = {}  # of patterns: match.fit


def is_function(value):
    """Whether an actor's own code made this function."""
    return type(value) is types.FunctionType and value.__builtins__ is BUILTINS[0]


def is_code(error):
    """Whether an error was raised by an actor's code, innermost."""
    tb = BaseException.__traceback__.__get__(error)
    while tb.tb_next is not None:
        tb = tb.tb_next
    return tb.tb_frame.f_builtins is BUILTINS[0]


def is_class(value):
    return isinstance(value, type) and value in KINDS


def is_sunder(name):
    return len(name) > 2 and name[0] == name[-1] == "_" and name[1] != "_" and name[-2] != "_"


BARE = {object}  # bases that add nothing an actor could read
BASES = set()  # what a class may be built on besides an actor's own: filled by the makers of names


def relied_on(bases):
    found = {}
    for base in bases:
        if base in KINDS:
            found.update(KINDS[base].relied)
        elif base is NAMED_TUPLE:
            found[tuple] = ROW
        else:
            found.update((b, names) for b, names in RELIED if issubclass(base, b))
    return tuple(found.items())


def refuse_replacements(relied, names, enumeration):
    """Refuses names that would replace what the host relies on."""
    for base, kept in relied:
        taken = sorted(names & kept)
        if taken:
            raise TypeError("a class on %s may add methods but not replace its %s: hold one in an attribute instead"
                            % (base.__name__, taken[0]))
    if enumeration:
        for name in sorted(names):
            if is_sunder(name) and name not in SUNDERS:
                raise TypeError("the name %s belongs to enum" % name)


def prepare_class(bases, names):
    """The record of a class to be, checked before its statement is executed."""
    for b in bases:
        if b not in KINDS and b not in BARE and b not in BASES:
            raise TypeError("a class cannot be built on %s here: hold one instead" % getattr(b, "__name__", "this"))
    names = names.union(*(KINDS[b].names for b in bases if b in KINDS))
    relied = relied_on(bases)
    enumeration = any(issubclass(b, enums.Enum) for b in bases)
    refuse_replacements(relied, names, enumeration)
    return Kind(names, relied, enumeration)


def register_class(cls, kind):
    KINDS[cls] = kind
    MADE.append(cls)
    if type(cls) is type and all(b in KINDS or b in BARE for b in cls.__mro__):
        PLAIN[cls] = OPEN[cls] = True
    return cls


def register_plain(cls, kind):
    """The same of one that is built on nothing."""
    KINDS[cls] = kind
    MADE.append(cls)
    PLAIN[cls] = OPEN[cls] = True


def kind_of(t):
    """The Kind of a class of an actor's, None for any other. The members of an
    enumeration are made, and may run their author's code, before its statement
    ends."""
    kind = KINDS.get(t)
    if kind is None and PENDING and t.__module__ == "actor":
        name, bases, pending = PENDING[-1]
        if t.__bases__ == bases and t.__name__ == name:
            register_class(t, pending)
            return pending
    return kind


def forget_classes(mark):
    """A message ended, which began when there were mark classes."""
    while len(MADE) > mark:
        cls = MADE.pop()
        KINDS.pop(cls, None)
        PLAIN.pop(cls, None)
        OPEN.pop(cls, None)


def refuse_attribute(value, name):
    t = type(value)
    what = "the class " + value.__name__ if isinstance(value, type) and value in KINDS else t.__name__
    raise AttributeError("the attribute %s of %s cannot be set" % (name, what))


MIXED = 2  # cycles of setting an attribute of an instance of a class that is built on one of the host's
HEIR = 16  # cycles of a class whose attributes change with those of another: Python forgets what it knew of each


def list_heirs(cls):
    """cls and every class below it, once each; all are kept until their message ends."""
    found = {cls: True}
    todo = [cls]
    while todo:
        charge(HEIR)
        for below in type.__subclasses__(todo.pop()):
            if below not in found:
                found[below] = True
                todo.append(below)
    return found


def check_settable(value, name):
    """value, if its attribute name may be set: an actor made it, and the host does not rely on
    that attribute."""
    t = type(value)
    if t in PLAIN:
        return value
    kind = kind_of(t)
    if kind is not None:
        charge(MIXED)
        if is_sunder(name) and kind.enumeration or any(name in kept for _, kept in kind.relied):
            refuse_attribute(value, name)
        return value
    if isinstance(value, type) and value in KINDS:
        for cls in list_heirs(value):
            kind = KINDS.get(cls)
            if kind is not None and (kind.enumeration and is_sunder(name) or any(name in kept for _, kept in kind.relied)):
                refuse_attribute(value, name)
        return value
    if is_function(value) or t in GIVING:
        return value
    raise AttributeError("an attribute of %s cannot be set" % t.__name__)

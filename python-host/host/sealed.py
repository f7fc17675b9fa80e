"""What an actor may hold of the host and cannot change: functions as bound
methods, types and libraries as sealed objects."""

import types

from meter import INT_BITS, charge
from costs import table


class Sealed:
    __slots__ = ()

    def __setattr__(self, name, value):
        raise AttributeError("a library cannot be changed")

    __delattr__ = lambda self, name: self.__setattr__(name, None)


class Function:
    """A host function. Its slots cannot be reached: reading them is refused."""

    __slots__ = ("_host_call", "__name__")
    __module__ = "host_function"

    def __init__(self, f):
        object.__setattr__(self, "_host_call", f)
        object.__setattr__(self, "__name__", f.__name__)

    def __call__(self, *args, **kwargs):
        return self._host_call(*args, **kwargs)

    def __setattr__(self, name, value):
        raise AttributeError("a library cannot be changed")


_TYPES = {}  # id of a Type → (real, construct, statics)
_PROXIES = {}  # real type → Type


class Type(Sealed):
    """A built-in type as actors see it: calling it is charged."""

    __slots__ = ("__name__",)
    _host_shown = True

    def __init__(self, real, construct, statics=(), name=None):
        object.__setattr__(self, "__name__", name or real.__name__)
        _TYPES[id(self)] = (real, construct, dict(statics))
        _PROXIES[real] = self

    def __call__(self, *args, **kwargs):
        return _TYPES[id(self)][1](*args, **kwargs)

    def __getattr__(self, name):
        return static(self, name)

    def __instancecheck__(self, value):
        return isinstance(value, _TYPES[id(self)][0])

    def __subclasscheck__(self, cls):
        real = _TYPES[id(self)][0]
        return issubclass(_TYPES[id(cls)][0] if isinstance(cls, Type) else cls, real)

    def __mro_entries__(self, bases):
        real = _TYPES[id(self)][0]
        if real not in BASES:
            raise TypeError("a class cannot be built on %s here: hold one instead" % self.__name__)
        return (STAND_INS.get(real, real),)

    def __getitem__(self, _parameters):
        return self

    def __or__(self, other):
        return Union((self, other))

    __ror__ = __or__

    def __repr__(self):
        return "<class %r>" % self.__name__


class Text(str):
    """str as a base: made of a str alone, since making one of anything else is
    charged only by the proxy's call."""

    def __new__(cls, value=""):
        if not isinstance(value, str):
            raise TypeError("a class on str is made of a str")
        charge(len(value))
        return str.__new__(cls, value)


class Integer(int):
    """int as a base: made of an int alone."""

    def __new__(cls, value=0):
        if not isinstance(value, int) or value.bit_length() > INT_BITS:
            raise TypeError("a class on int is made of an int of at most %d bits" % INT_BITS)
        return int.__new__(cls, value)


STAND_INS = {str: Text, int: Integer}
BASES = set()


class Union(Sealed):
    """int | str, for isinstance and annotations."""

    __slots__ = ("_host_of",)
    _host_shown = True

    def __init__(self, of):
        object.__setattr__(self, "_host_of", of)

    def __instancecheck__(self, value):
        return any(value is None if t is None else isinstance(value, t) for t in self._host_of)

    def __or__(self, other):
        if len(self._host_of) > 100:
            raise TypeError("a union of more than 100 types")
        return Union(self._host_of + (other,))

    def __call__(self):
        raise TypeError("a union cannot be called")

    def __repr__(self):
        return "<union>"


def real(t):
    return _TYPES[id(t)][0] if isinstance(t, Type) else t


def static(t, name):
    statics = _TYPES[id(t)][2] if id(t) in _TYPES else ()
    if name in statics:
        return statics[name]
    raise AttributeError("%s has no attribute %r that an actor may use" % (t.__name__, name))


class Hint(Sealed):
    """A name of typing: means nothing when the code runs."""

    __slots__ = ()

    def __call__(self, *args, **kwargs):
        return self

    def __getitem__(self, _parameters):
        return self

    def __or__(self, _other):
        return self

    __ror__ = __or__

    def __mro_entries__(self, bases):
        return ()

    def __instancecheck__(self, value):
        raise TypeError("isinstance with a name of typing")


HINT = Hint()


def library(name, names):
    """An object with these attributes, which cannot be changed."""
    held = {"__slots__": (), "__module__": "host_library", "_host_open": True, "__setattr__": Sealed.__setattr__}
    for k, v in names.items():
        if isinstance(v, types.FunctionType):
            v = staticmethod(v)  # its attributes cannot be set: builtin_names.own
        held[k] = v
    return type(name, (), held)()


def paid(f, cost):
    """f for a fixed charge."""
    def call(*args, **kwargs):
        charge(cost)
        return f(*args, **kwargs)
    call.__name__ = f.__name__
    return call

"""Objects of the host that an actor may hold and cannot change: functions as bound methods,
types and libraries as sealed objects."""

import types

from host import actor_code
from host.attribute_tables import show_attributes
from host.meter import INT_BITS, charge


class Sealed:
    __slots__ = ()

    def __setattr__(self, name, value):
        raise AttributeError("a library cannot be changed")

    def __delattr__(self, name):
        self.__setattr__(name, None)

    def __repr__(self):
        return "<%s>" % type(self).__name__


class Function(Sealed):
    """A host function. Only its name may be read, if it has one."""

    __slots__ = ("_host_call", "__name__")

    def __init__(self, f, name=None):
        object.__setattr__(self, "_host_call", f)
        if name != "":
            object.__setattr__(self, "__name__", name or f.__name__)

    def __call__(self, /, *args, **kwargs):
        return self._host_call(*args, **kwargs)

    def __repr__(self):
        return "<function %s>" % getattr(self, "__name__", "of operator")


_TYPES = {}  # id of a Type → (real, construct, statics)
_PROXIES = {}  # real type → Type


class Type(Sealed):
    """A built-in type as actors see it: calling it is charged."""

    __slots__ = ("__name__",)

    def __init__(self, real, construct, statics=(), name=None):
        object.__setattr__(self, "__name__", name or real.__name__)
        _TYPES[id(self)] = (real, construct, dict(statics))
        _PROXIES[real] = self

    def __call__(self, /, *args, **kwargs):
        return _TYPES[id(self)][1](*args, **kwargs)

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

    def __getitem__(self, of):
        if not hasattr(_TYPES[id(self)][0], "__class_getitem__"):
            raise TypeError("the type %s has no types of elements" % self.__name__)
        return Alias(self, of if type(of) is tuple else (of,))

    __iter__ = None  # without this, Python calls __getitem__ without an end

    def __or__(self, other):
        return unite_types(self, other)

    def __ror__(self, other):
        return unite_types(other, self)

    def __repr__(self):
        return "<class %r>" % self.__name__


ALIASED = 8  # cycles of a type with types of elements, besides one for each
MAX_ALIASED = 32  # types in one, with those within


class Alias(Sealed):
    """list[int]: called it is list, and no value is tested for it."""

    __slots__ = ("_host_of", "_host_elements", "_host_size")

    def __init__(self, of, elements):
        charge(ALIASED + len(elements))
        if not all(isinstance(e, (type, Type, Alias, Union, Hint)) or e is None or e is Ellipsis or type(e) is str for e in elements):
            raise TypeError("the types of the elements of %s are types" % of.__name__)
        size = len(elements) + sum(e._host_size for e in elements if type(e) is Alias)
        if size > MAX_ALIASED:
            raise TypeError("a type of more than %d types of elements" % MAX_ALIASED)
        for slot, value in zip(self.__slots__, (of, elements, size)):
            object.__setattr__(self, slot, value)

    def __call__(self, /, *args, **kwargs):
        return self._host_of(*args, **kwargs)

    def __eq__(self, other):
        if type(other) is not Alias:
            return NotImplemented
        charge(self._host_size)
        for of in self._host_elements + other._host_elements:
            if isinstance(of, Hint):
                of.refuse()
        return self._host_of is other._host_of and self._host_elements == other._host_elements

    def __hash__(self):
        charge(self._host_size)
        return hash((id(self._host_of), self._host_elements))

    def __or__(self, other):
        return unite_types(self, other)

    def __ror__(self, other):
        return unite_types(other, self)

    def __mro_entries__(self, bases):
        return self._host_of.__mro_entries__(bases)

    def refuse(self):
        raise TypeError("isinstance with the types of elements: name %s alone" % self._host_of.__name__)

    def __instancecheck__(self, _value):
        self.refuse()

    def __subclasscheck__(self, _cls):
        self.refuse()

    def __repr__(self):
        return "%s[%s]" % (self._host_of.__name__, ", ".join(map(element_text, self._host_elements)))


def element_text(of):
    """The text of a type of elements."""
    if of is Ellipsis:
        return "..."
    if isinstance(of, Type):
        return of.__name__
    if isinstance(of, type):
        return ("" if of.__module__ == "builtins" else of.__module__ + ".") + of.__qualname__
    if isinstance(of, (Union, Hint)):
        raise TypeError("a type of such elements has no text")
    return repr(of)


class Text(str):
    """str as a base: made only of a str, since making one of another type is charged only by
    the proxy's call."""

    def __new__(cls, value=""):
        if not isinstance(value, str):
            raise TypeError("a class on str is made of a str")
        value = str.__str__(value)
        charge(len(value))
        return str.__new__(cls, value)


class Integer(int):
    """int as a base: made only of an int."""

    def __new__(cls, value=0):
        if not isinstance(value, int) or int.bit_length(value) > INT_BITS:
            raise TypeError("a class on int is made of an int of at most %d bits" % INT_BITS)
        return int.__new__(cls, int.__index__(value))


class Abstract:
    """abc.ABC as a base: builtin_names.build_class checks its abstract methods, without a
    metaclass, which would keep a register of classes."""

    __slots__ = ()


class Protocol:
    """typing.Protocol as a base: which methods a value has is asked by hasattr here."""

    __slots__ = ()


STAND_INS = {str: Text, int: Integer}
BASES = set()
actor_code.BARE.update((Abstract, Protocol))
actor_code.BASES.update((Text, Integer))


class Union(Sealed):
    """int | str, for isinstance and annotations."""

    __slots__ = ("_host_of",)

    def __init__(self, of):
        object.__setattr__(self, "_host_of", of)

    def __instancecheck__(self, value):
        return any(value is None if t is None else isinstance(value, t) for t in self._host_of)

    def __eq__(self, other):
        if type(other) is not Union:
            return NotImplemented
        charge(len(self._host_of) + len(other._host_of))
        return frozenset(self._host_of) == frozenset(other._host_of)

    def __hash__(self):
        charge(len(self._host_of))
        return hash(frozenset(self._host_of))

    def __or__(self, other):
        return unite_types(self, other)

    def __ror__(self, other):
        return unite_types(other, self)

    def __call__(self):
        raise TypeError("a union cannot be called")

    def __repr__(self):
        return " | ".join("None" if t is None or t is type(None) else element_text(t) for t in self._host_of)


UNITED = 20  # cycles of making a union, in addition to one for each of its types
MAX_UNITED = 100
SEVERAL = frozenset((tuple, Union, types.UnionType))  # types of values that isinstance takes for several types


def unite_types(a, b):
    """The union of two types or unions, each type once; one type alone is itself. With a name of typing it is one, and with
    what is no type there is none."""
    for of in (a, b):
        if isinstance(of, Hint):
            return of
        if not (of is None or isinstance(of, (type, Type, Alias, Union, types.UnionType))):
            return NotImplemented
    found = tuple(dict.fromkeys(type(None) if t is None else t for t in unite_paid(a, b)))
    return found[0] if len(found) == 1 else Union(found)


def unite_paid(a, b):
    """The types of two types or unions, whose union is paid for."""
    found = sum((parts_of(t) or (t,) for t in (a, b)), ())
    charge(UNITED + len(found))
    if len(found) > MAX_UNITED:
        raise TypeError("a union of more than %d types" % MAX_UNITED)
    return found


def parts_of(kinds):
    """The types of a union or a tuple; None of a type."""
    t = type(kinds)
    if t is tuple:
        return kinds
    if t is Union:
        return tuple(type(None) if k is None else k for k in kinds._host_of)
    return kinds.__args__ if t is types.UnionType else None


def real_type(t):
    return _TYPES[id(t)][0] if isinstance(t, Type) else t


def called_function(made):
    """The function that a call of a function or a type of the host's runs."""
    return made._host_call if type(made) is Function else _TYPES[id(made)][1]


def static_method(t, name):
    known = _TYPES.get(id(t))
    found = None if known is None else known[2].get(name)
    if found is not None:
        return found
    raise AttributeError("%s has no attribute %r that an actor may use" % (t.__name__, name))


class Hint(Sealed):
    """A name of typing: means nothing when the code runs."""

    __slots__ = ()

    def __call__(self, /, *args, **kwargs):
        raise TypeError("a name of typing is called: it means nothing when the code runs")

    def refuse(self):
        raise TypeError("a name of typing is compared: it means nothing when the code runs")

    def __eq__(self, _other):
        self.refuse()

    def __hash__(self):
        self.refuse()

    def __getitem__(self, _parameters):
        return self

    __iter__ = None  # as above

    def __or__(self, _other):
        return self

    __ror__ = __or__

    def __mro_entries__(self, bases):
        return ()

    def __repr__(self):
        return "<a name of typing>"

    def __instancecheck__(self, value):
        raise TypeError("isinstance with a name of typing")


HINT = Hint()


class ContentsHint(Hint):
    """A name of typing for values with contents: a class on it has methods by it in Python, as == of the contents, and none here."""

    __slots__ = ()

    def __mro_entries__(self, bases):
        raise TypeError("a class cannot be built on a name of typing for values with contents: hold one instead")


CONTENTS_HINT = ContentsHint()


class Declared(Hint):
    """A name of ours that a declaration calls, as in Map(default=0)."""

    __slots__ = ()

    def __call__(self, /, *args, **kwargs):
        return self


DECLARED = Declared()


class Library(Sealed):
    """Imported packages, and other named groups of the host's objects."""

    __slots__ = ()


def make_type(cls, shown=""):
    """cls of the host's as actors see it: it can be called and tested for, and
    not built on. Its instances show the names in shown."""
    show_attributes(cls, shown)
    return Type(cls, cls)


def make_library(name, names):
    """An object with these attributes, which cannot be changed."""
    held = {"__slots__": ()}
    for k, v in names.items():
        held[k] = staticmethod(v) if isinstance(v, types.FunctionType) else v
    return type(name, (Library,), held)()


def charge_fixed(f, cost):
    """f for a fixed charge."""
    def call_through(*args, **kwargs):
        charge(cost)
        return f(*args, **kwargs)
    call_through.__name__ = f.__name__
    return call_through

"""Dataclasses of the host's own. The standard library's compiles code for each class, in every message.

A class under @dataclass has one __init__ that walks its fields, and methods that compare rows of them. Errors
for wrong calls are written here, so that they are the same under every version of Python. The class holds its
fields as `dataclasses` does.
"""

import types
from collections import OrderedDict, deque
from dataclasses import FrozenInstanceError
from operator import attrgetter

from host import actor_code, enums, representation, sealed
from host.attribute_tables import show_attributes
from host.costs import table
from host.hashing import charge_lookups
from host.meter import charge, show_used
from host.weights import weigh_value

DATACLASS, FIELD = 80, 30  # cycles of making a dataclass, and of each of its fields
INSTANCE, HELD = 10, 3  # cycles of making an instance, and of each of its fields


class Missing(sealed.Sealed):
    """dataclasses.MISSING."""

    __slots__ = ()


UNSET = Missing()  # no default, or no value given
ORDER = ("__lt__", "__le__", "__gt__", "__ge__")


class Field(sealed.Sealed):
    """The arguments of field() for an attribute, and the facts about every attribute of a
    dataclass."""

    __slots__ = ("name", "type", "default", "factory", "init", "repr", "compare", "hash", "kw_only")

    def __init__(self, default, factory, init=True, repr=True, compare=True, hash=None, kw_only=None, name=None, type=None):
        for slot, value in zip(self.__slots__, (name, type, default, factory, init, repr, compare, hash, kw_only)):
            object.__setattr__(self, slot, value)

    def with_name(self, name, type, kw_only):
        """The same under its name."""
        kw_only = kw_only if self.kw_only is None else self.kw_only
        return Field(self.default, self.factory, self.init, self.repr, self.compare, self.hash, kw_only, name, type)

    default_factory = property(lambda self: self.factory)

    def is_required(self):
        return self.default is UNSET and self.factory is UNSET


show_attributes(Field, "name default default_factory init repr compare hash kw_only")
show_attributes(Missing, "")


def field(*, default=UNSET, default_factory=UNSET, init=True, repr=True, compare=True, kw_only=None, hash=None):
    if default is not UNSET and default_factory is not UNSET:
        raise ValueError("cannot specify both default and default_factory")
    charge(INSTANCE)
    return Field(default, default_factory, bool(init), bool(repr), bool(compare), None if hash is None else bool(hash),
                 None if kw_only is None else bool(kw_only))


def fields_of(cls):
    return getattr(cls, "__dataclass_fields__", None)


def dataclass(cls=None, /, *, init=True, repr=True, eq=True, order=False, frozen=False, unsafe_hash=False,
              kw_only=False, slots=False, match_args=True):
    if slots:
        raise TypeError("dataclass with slots makes a second class; leave it out")

    def wrap_class(cls):
        if not actor_code.is_class(cls):
            raise TypeError("dataclass decorates a class of this file")
        fields = collect_fields(cls, bool(kw_only), bool(frozen))
        if issubclass(cls, (enums.Enum, tuple, int, str)):
            raise TypeError("dataclass decorates a plain class")
        cls.__dataclass_fields__ = fields
        own = frozenset(cls.__dict__)
        cls._host_frozen = bool(frozen)
        if init and "__init__" not in own:
            cls.__init__ = init_of(cls, fields)
        if repr and "__repr__" not in own:
            cls.__repr__ = representation.as_record
        compared = [n for n, f in fields.items() if f.compare]
        set_hash(cls, fields, own, eq, frozen, unsafe_hash)
        if eq and "__eq__" not in own:
            cls.__eq__ = equal_by(compared)
        if order:
            add_ordering(cls, compared, own, eq)
        if frozen:
            freeze_class(cls, fields, own)
        if match_args and "__match_args__" not in own:
            cls.__match_args__ = tuple([n for n, f in fields.items() if f.init and not f.kw_only])
        return cls
    return wrap_class if cls is None else wrap_class(cls)


def collect_fields(cls, kw_only, frozen):
    """The fields of a class, by name: those of the classes that it is built on, then its own."""
    own = cls.__dict__.get("__annotations__", ())
    below = [b for b in cls.__mro__[-1:0:-1] if "__dataclass_fields__" in b.__dict__]
    charge(DATACLASS + FIELD * (len(own) + sum(len(b.__dataclass_fields__) for b in below)))
    show_used()
    found = {}
    for b in below:
        found.update(b.__dataclass_fields__)
        if b._host_frozen != frozen:
            raise TypeError("a frozen dataclass and one that is not frozen cannot be built on one another")
    for name in own:
        given = getattr(cls, name, UNSET)
        if type(given) is types.MemberDescriptorType:  # of __slots__, and no default
            given = UNSET
        f = (given if type(given) is Field else Field(given, UNSET)).with_name(name, own[name], kw_only)
        if f.default is not UNSET and type(f.default).__hash__ is None:
            raise ValueError("the default of the field %s can be changed: use default_factory" % name)
        if type(cls.__dict__.get(name)) is Field:
            if f.default is UNSET:
                delattr(cls, name)
            else:
                setattr(cls, name, f.default)
        found[name] = f
    for name, value in cls.__dict__.items():
        if type(value) is Field and name not in own:
            raise TypeError("%r is a field but has no type annotation" % name)
    return found


def init_of(cls, fields):
    """The __init__ of a dataclass."""
    rows = list(fields.values())
    named = [f for f in rows if f.init]
    positional = [f.name for f in named if not f.kw_only]
    optional = None
    for f in named:
        if f.kw_only:
            continue
        if optional is not None and f.is_required():
            raise TypeError("non-default argument %r follows default argument" % f.name)
        if not f.is_required():
            optional = f.name
    whole = len(positional) == len(rows)  # each field is given by its place, where all are given
    known = frozenset(f.name for f in named)
    price = INSTANCE + HELD * len(rows)
    what = cls.__qualname__ + ".__init__()"
    put = object.__setattr__
    begins = any("__post_init__" in b.__dict__ for b in cls.__mro__)

    def __init__(self, /, *args, **kwargs):
        charge(price + len(kwargs))
        if whole and len(args) == len(positional) and not kwargs:
            for name, value in zip(positional, args):
                put(self, name, value)
        else:
            given = bind_arguments(what, positional, known, args, kwargs)
            check_given(what, named, given)
            for f in rows:
                fill_field(self, f, given.get(f.name, UNSET))
        if begins:
            self.__post_init__()
    __init__.__qualname__ = cls.__qualname__ + ".__init__"
    return __init__


def bind_arguments(what, positional, known, args, kwargs):
    """The arguments of a call by their names."""
    if len(args) > len(positional):
        raise TypeError("%s takes %d positional arguments but %d were given" % (what, 1 + len(positional), 1 + len(args)))
    given = dict(zip(positional, args))
    for name, value in kwargs.items():
        if name not in known:
            raise TypeError("%s got an unexpected keyword argument %r" % (what, name))
        if name in given:
            raise TypeError("%s got multiple values for argument %r" % (what, name))
        given[name] = value
    return given


def check_given(what, named, given):
    missing = [f.name for f in named if f.is_required() and f.name not in given]
    if missing:
        raise TypeError("%s lacks %s" % (what, ", ".join(missing[:10])))


def fill_field(self, f, value):
    if value is UNSET:
        if f.factory is not UNSET:
            value = f.factory()
        elif f.default is UNSET:
            return
        else:
            value = f.default
    object.__setattr__(self, f.name, value)


def equal_by(names):
    """The __eq__ of a dataclass: of rows, so that a field that is the same object is equal."""
    row = row_by(names)

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return row(self) == row(other)
    return __eq__


def row_by(names):
    """A function of an instance: its values of these fields."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple([getattr(value, n) for n in names])


def compared_by(operator, names):
    row = row_by(names)

    def compare_fields(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return getattr(tuple, operator)(row(self), row(other))
    compare_fields.__name__ = operator
    return compare_fields


def add_ordering(cls, names, own, eq):
    if not eq:
        raise ValueError("eq must be true if order is true")
    for operator in ORDER:
        if operator in own:
            raise TypeError("the class %s has %s already: leave order=True out" % (cls.__name__, operator))
        setattr(cls, operator, compared_by(operator, names))


def set_hash(cls, fields, own, eq, frozen, unsafe):
    """As in `dataclasses`: equal instances that cannot change have a hash, mutable ones cannot have one."""
    explicit = "__hash__" in own and not (cls.__dict__["__hash__"] is None and "__eq__" in own)
    if unsafe and explicit:
        raise TypeError("the class %s has __hash__ already: leave unsafe_hash=True out" % cls.__name__)
    if unsafe or eq and frozen and not explicit:
        names = [n for n, f in fields.items() if (f.compare if f.hash is None else f.hash)]
        row = row_by(names)
        cls.__hash__ = lambda self: hash(row(self))
    elif eq and not frozen and not explicit:
        cls.__hash__ = None


def freeze_class(cls, fields, own):
    """Refuses to change what a frozen class has."""
    if "__setattr__" in own or "__delattr__" in own:
        raise TypeError("the class %s has __setattr__ already: leave frozen=True out" % cls.__name__)

    def __setattr__(self, name, value):
        if type(self) is cls or name in fields:
            raise FrozenInstanceError("cannot assign to field %r" % name)
        super(cls, self).__setattr__(name, value)

    def __delattr__(self, name):
        if type(self) is cls or name in fields:
            raise FrozenInstanceError("cannot delete field %r" % name)
        super(cls, self).__delattr__(name)
    cls.__setattr__, cls.__delattr__ = __setattr__, __delattr__


def is_dataclass(obj):
    charge(1)
    value = obj
    return fields_of(value if isinstance(value, type) else type(value)) is not None


def is_instance(value):
    return not isinstance(value, type) and fields_of(type(value)) is not None


def field_values(class_or_instance):
    """dataclasses.fields."""
    found = fields_of(class_or_instance if isinstance(class_or_instance, type) else type(class_or_instance))
    if found is None:
        raise TypeError("must be called with a dataclass type or instance")
    charge(4 * len(found))
    return tuple(found.values())


def replace(value, /, **changes):
    if not is_instance(value):
        raise TypeError("replace() should be called on dataclass instances")
    found = fields_of(type(value))
    charge(50 + 8 * len(found) + 8 * len(changes))
    for f in found.values():
        if not f.init:
            if f.name in changes:
                raise ValueError("field %s is not an argument of the class, so it cannot be replaced" % f.name)
        elif f.name not in changes:
            changes[f.name] = getattr(value, f.name)
    return type(value)(**changes)


def asdict(obj):
    weigh_value(obj)
    if not is_instance(obj):
        raise TypeError("asdict takes an instance of a dataclass")
    return copy_plain(obj, dict)


def astuple(obj):
    weigh_value(obj)
    if not is_instance(obj):
        raise TypeError("astuple takes an instance of a dataclass")
    return copy_plain(obj, tuple)


def copy_plain(value, make):
    """value with a dict or tuple in place of each dataclass, and containers of its own, as Python copies what can be
    changed. Without make no dataclass may be in it: Python copies those in a deque and keeps them."""
    charge(table.call)
    t = type(value)
    if is_instance(value) and make is not None:
        found = [(f.name, copy_plain(getattr(value, f.name), make)) for f in field_values(value)]
        return dict(found) if make is dict else tuple([v for _, v in found])
    if t is deque:
        return deque([copy_plain(v, None) for v in value], value.maxlen)
    if t is list or t is tuple:
        return t([copy_plain(v, make) for v in value])
    if isinstance(value, tuple):
        return tuple.__new__(t, [copy_plain(v, make) for v in tuple.__iter__(value)])
    if t is dict or t is OrderedDict:
        charge_lookups(0, value)
        return t([(copy_plain(k, make), copy_plain(v, make)) for k, v in value.items()])
    if t is set or t is bytearray:
        charge(table.dict * len(value))
        return value.copy()
    if isinstance(value, CONTAINERS) or actor_code.kind_of(t) is not None and not isinstance(value, UNCHANGED):
        raise TypeError("asdict and astuple copy no %s: make it a dataclass, a list or a dict" % t.__name__)
    return value


CONTAINERS = (dict, enums.EnumType)
UNCHANGED = (int, str, enums.Enum)  # on which a class may be built


def make_names():
    return {"dataclass": dataclass, "field": field, "asdict": asdict, "astuple": astuple, "fields": field_values, "MISSING": UNSET,
            "replace": replace, "is_dataclass": is_dataclass}

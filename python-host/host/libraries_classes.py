"""The libraries of classes: typing, abc, enum, dataclasses. Sealed, curated, and charged."""

import dataclasses

from host import actor_code, enums, representation, sealed
from host.costs import table
from host.meter import charge
from host.sealed import HINT, Function, Type
from host.weights import weigh

HINTS = (
    "Any Optional Union List Dict Tuple Set FrozenSet Callable Iterable Iterator Sequence Mapping MutableMapping Type "
    "Generic Protocol TypeVar NewType ClassVar Final Literal NoReturn Never Self Generator Collection Hashable Sized "
    "Annotated TypeAlias overload final cast override runtime_checkable MutableSequence Container Reversible Deque "
    "DefaultDict Counter OrderedDict"
).split()


def _hint_cast(_kind, value):
    return value


def _as_is(value):
    return value


def abc_hints():
    return {n: HINT for n in HINTS}


def typing_names():
    names = {n: HINT for n in HINTS}
    for n in ("overload", "final", "override", "runtime_checkable"):
        names[n] = _as_is
    names.update(cast=_hint_cast, TYPE_CHECKING=False, NamedTuple=_NamedTuple())
    return names


class _NamedTuple(sealed.Sealed):
    """typing.NamedTuple as a base."""

    __slots__ = ()

    def __mro_entries__(self, bases):
        return (actor_code.NAMED_TUPLE,)


def base_only(cls, name=None):
    def refuse(*_args, **_kwargs):
        raise TypeError("%s is a base for a class here; it is not called" % (name or cls.__name__))
    sealed.BASES.add(cls)
    actor_code.BASES.add(cls)
    return Type(cls, refuse, {}, name)


def of_file(cls, decorator):
    """A decorator changes a class: one that the actor made."""
    if not actor_code.is_class(cls):
        raise TypeError("%s decorates only a class of this file" % decorator)
    return cls


def _abstract(f):
    if not actor_code.is_function(f):
        raise TypeError("abstractmethod decorates only a method, below other decorators")
    f.__isabstractmethod__ = True
    return f


actor_code.BASES.add(actor_code.NAMED_TUPLE)


def abc_names():
    return {"ABC": base_only(sealed.Abstract, "ABC"), "abstractmethod": Function(_abstract)}


def enum_names():
    names = {}
    for cls in (enums.Enum, enums.IntEnum, enums.Flag, enums.IntFlag, enums.StrEnum):
        names[cls.__name__] = base_only(cls)
    return {**names, "auto": _auto, "unique": _unique}


def _unique(cls):
    if not issubclass(of_file(cls, "unique"), enums.Enum):
        raise TypeError("unique decorates only an enumeration")
    charge(8 * len(cls.__members__))
    aliases = ["%s -> %s" % (alias, member.name) for alias, member in cls.__members__.items() if alias != member.name]
    if aliases:
        raise ValueError("duplicate values found in %s: %s" % (cls.__name__, ", ".join(aliases)))
    return cls


def _auto():
    return enums.auto()


DATACLASS, FIELD = 2000, 250  # cycles of making a dataclass, and of each of its fields
FEW_FIELDS = 8  # of an instance, which the price of its call covers


def _dataclass(cls=None, *, init=True, repr=True, eq=True, order=False, frozen=False, unsafe_hash=False,
               kw_only=False, slots=False, match_args=True):
    if slots:
        raise TypeError("dataclass with slots makes a second class; leave it out")

    def wrap(cls):
        own = len(of_file(cls, "dataclass").__dict__.get("__annotations__", ()))
        fields = own + sum(len(b.__dict__.get("__dataclass_fields__", ())) for b in cls.__mro__[1:])
        charge((DATACLASS + FIELD * fields) * (2 + bool(order) + bool(frozen)) // 2)
        if issubclass(cls, (enums.Enum, tuple, int, str)):
            raise TypeError("dataclass decorates only a plain class")
        equal = "__eq__" in cls.__dict__
        made = dataclasses.dataclass(cls, init=bool(init), repr=False, eq=bool(eq), order=bool(order), frozen=bool(frozen),
                                     unsafe_hash=bool(unsafe_hash), kw_only=bool(kw_only), match_args=bool(match_args))
        if repr and "__repr__" not in cls.__dict__:
            made.__repr__ = representation.as_record
        if eq and not equal:
            made.__eq__ = equal_by([n for n, f in made.__dataclass_fields__.items() if f.compare and f._field_type is representation.FIELD])
        if init and len(made.__dataclass_fields__) > FEW_FIELDS:
            made.__init__ = priced_init(made.__init__, len(made.__dataclass_fields__) * (3 if frozen else 1))
        return made
    return wrap if cls is None else wrap(cls)


def equal_by(names):
    """The __eq__ of a dataclass: of rows, so that a field that is the same object is equal. 3.13 has another."""
    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return tuple([getattr(self, n) for n in names]) == tuple([getattr(other, n) for n in names])
    return __eq__


def priced_init(init, price):
    """The __init__ of many fields, which a call's own price does not cover."""
    def __init__(self, /, *args, **kwargs):
        charge(price)
        init(self, *args, **kwargs)
    __init__.__qualname__ = init.__qualname__
    return __init__


def _field(*, default=dataclasses.MISSING, default_factory=dataclasses.MISSING, init=True, repr=True, compare=True,
           kw_only=dataclasses.MISSING, hash=None):
    kw_only = kw_only if kw_only is dataclasses.MISSING else bool(kw_only)
    return dataclasses.field(default=default, default_factory=default_factory, init=bool(init), repr=bool(repr),
                             compare=bool(compare), kw_only=kw_only, hash=None if hash is None else bool(hash))


def _field_names(value):
    found = dataclasses.fields(value)
    charge(4 * len(found))
    return tuple(f.name for f in found)


def _replace(value, /, **changes):
    charge(50 + 8 * len(getattr(type(value), "__dataclass_fields__", ())) + 8 * len(changes))
    return dataclasses.replace(value, **changes)


def _asdict(value):
    weigh(value)
    if isinstance(value, type) or not dataclasses.is_dataclass(value):
        raise TypeError("asdict takes an instance of a dataclass")
    return _plain(value, dict)


def _astuple(value):
    weigh(value)
    if isinstance(value, type) or not dataclasses.is_dataclass(value):
        raise TypeError("astuple takes an instance of a dataclass")
    return _plain(value, tuple)


def _plain(value, make):
    charge(table.call)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        found = [(f, _plain(getattr(value, f), make)) for f in _field_names(value)]
        return dict(found) if make is dict else tuple(v for _, v in found)
    if type(value) in (list, tuple):
        return type(value)(_plain(v, make) for v in value)
    if type(value) is dict:
        return {k: _plain(v, make) for k, v in value.items()}
    return value


def dataclass_names():
    return {"dataclass": _dataclass, "field": _field, "asdict": _asdict, "astuple": _astuple, "fields": _field_names,
            "replace": _replace, "is_dataclass": sealed.paid(dataclasses.is_dataclass, 1)}

"""The libraries of classes: typing, abc and enum; dataclasses is in records. Sealed, curated, and charged."""

from host import actor_code, enums, exact, sealed
from host.attribute_tables import show_attributes
from host.meter import charge
from host.sealed import CONTENTS_HINT, HINT, Function, Type

HINTS = (
    "Any Optional Union List Dict Tuple Set FrozenSet Callable Iterable Iterator Sequence Mapping MutableMapping Type "
    "Generic Protocol TypeVar NewType ClassVar Final Literal NoReturn Never Self Generator Collection Hashable Sized "
    "Annotated TypeAlias overload final cast override runtime_checkable MutableSequence Container Reversible Deque "
    "DefaultDict Counter OrderedDict"
).split()


def _hint_cast(_kind, value):
    return value


class NewType(sealed.Sealed):
    """typing.NewType: a name for a type, whose call returns its argument."""

    __slots__ = ("__name__", "_host_of")

    def __init__(self, name, tp):
        object.__setattr__(self, "__name__", exact.require_text(name, "the name of a NewType"))
        object.__setattr__(self, "_host_of", tp)

    def __call__(self, value, /):
        return value

    def __or__(self, _other):
        return HINT

    __ror__ = __or__

    def __repr__(self):
        return "actor." + self.__name__


show_attributes(NewType, "__name__")


def _type_var(_name, *_constraints, **_bounds):
    return HINT


def _as_is(value):
    return value


CONTENTS = frozenset("List Dict Tuple Set FrozenSet Deque DefaultDict Counter OrderedDict Sequence MutableSequence Mapping "
                     "MutableMapping".split())


def abc_hints():
    return {n: CONTENTS_HINT if n in CONTENTS else HINT for n in HINTS}


def typing_names():
    names = abc_hints()
    for n in ("overload", "final", "override", "runtime_checkable"):
        names[n] = _as_is
    names.update(NewType=NewType, TypeVar=_type_var, Protocol=base_only(sealed.Protocol, "Protocol"))
    names.update(cast=_hint_cast, TYPE_CHECKING=False, NamedTuple=_NamedTuple())
    return names


class _NamedTuple(sealed.Sealed):
    """typing.NamedTuple as a base."""

    __slots__ = ()

    def __mro_entries__(self, bases):
        return (actor_code.NAMED_TUPLE,)


def base_only(cls, name=None):
    def refuse_instance(*_args, **_kwargs):
        raise TypeError("%s is a base for a class here; it is not called" % (name or cls.__name__))
    sealed.BASES.add(cls)
    actor_code.BASES.add(cls)
    return Type(cls, refuse_instance, {}, name)


def of_file(cls, decorator):
    """A decorator changes a class: one that the actor made."""
    if not actor_code.is_class(cls):
        raise TypeError("%s decorates only a class of this file" % decorator)
    return cls


def mark_abstract(funcobj):
    f = funcobj
    if not actor_code.is_function(f):
        raise TypeError("abstractmethod decorates only a method, below other decorators")
    f.__isabstractmethod__ = True
    return f


actor_code.BASES.add(actor_code.NAMED_TUPLE)


def abc_names():
    return {"ABC": base_only(sealed.Abstract, "ABC"), "abstractmethod": Function(mark_abstract, "abstractmethod")}


def enum_names():
    names = {}
    for cls in (enums.Enum, enums.IntEnum, enums.Flag, enums.IntFlag, enums.StrEnum):
        names[cls.__name__] = base_only(cls)
    return {**names, "auto": make_auto, "unique": check_unique}


def check_unique(enumeration):
    cls = enumeration
    if not issubclass(of_file(cls, "unique"), enums.Enum):
        raise TypeError("unique decorates only an enumeration")
    charge(8 * len(cls.__members__))
    aliases = ["%s -> %s" % (alias, member.name) for alias, member in cls.__members__.items() if alias != member.name]
    if aliases:
        raise ValueError("duplicate values found in %s: %s" % (cls.__name__, ", ".join(aliases)))
    return cls


def make_auto():
    return enums.auto()

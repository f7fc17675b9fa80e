"""enum for actors, made by this file.

The standard library's enum changed in 3.11.1 to 3.11.5, in 3.12 and in 3.13. This concerns
the bits that a Flag takes, what auto() follows, members of members, classes within. An
actor's receipts may depend on none of that (decision C20), so these classes take nothing of
it.

A class statement gives its names to Names, in their order; EnumType makes the class and then
its members, one by one. An enumeration is built on nothing, int, str, a named tuple, or plain
classes of the actor. Flag refuses a value with an unknown bit, IntFlag keeps it.
"""

from host import weights
from host.meter import INT_BITS, charge, cycles_left

MEMBER = 90  # cycles of making a member
PSEUDO = 50  # cycles of making a combination of flags
COMPARED = 4  # cycles of comparing a value with a member's, in addition to its weight
RESERVED = frozenset(("mro", ""))
FLAGS = ()  # Flag, once there is one
OPERATORS = ("__or__", "__and__", "__xor__", "__ror__", "__rand__", "__rxor__", "__invert__")
shown = None  # representation.as_repr, which knows this module


def is_sunder(name):
    return len(name) > 2 and name[0] == name[-1] == "_" and name[1] != "_" and name[-2] != "_"


def is_dunder(name):
    return len(name) > 4 and name[:2] == name[-2:] == "__"


def list_names(names):
    """The names of _ignore_ or _order_, a text or a sequence."""
    return names.replace(",", " ").split() if isinstance(names, str) else list(names)


class auto:
    """The next value of an enumeration: one, however many names have it."""

    __slots__ = ("value",)


class Names(dict):
    """The names of a class statement, of which some are members."""

    def __init__(self, cls, following):
        self.cls, self.following = cls, following
        self.members, self.ignored, self.values, self.counted = {}, (), [], False

    def __setitem__(self, name, value):
        if name == "_ignore_":
            self.ignored = frozenset(list_names(value))
            taken = sorted(self.ignored & set(self.members))
            if taken:
                raise ValueError("_ignore_ cannot specify already set names: %s" % ", ".join(taken))
        elif name == "_generate_next_value_":
            if self.counted:
                raise TypeError("_generate_next_value_ must be defined before members")
            self.following = getattr(value, "__func__", value)
        elif name in self.members:
            raise TypeError("%r already defined" % name)
        elif name in self.ignored or is_sunder(name) or is_dunder(name) or name.startswith("_%s__" % self.cls.lstrip("_")):
            pass
        elif hasattr(value, "__get__") or isinstance(value, type):
            pass  # a method, a property or a nested class
        elif name in self:
            raise TypeError("%r already defined as %s" % (name, type(self[name]).__name__))
        else:
            value = self.members[name] = self.count_autos(name, value)
            self.values.append(value)
        super().__setitem__(name, value)

    def count_autos(self, name, value):
        """value, with the numbers of auto()."""
        if type(value) is auto:
            return self.next_of(name, value)
        if type(value) is tuple and any(type(v) is auto for v in value):
            return tuple(self.next_of(name, v) if type(v) is auto else v for v in value)
        return value

    def next_of(self, name, of):
        self.counted = True
        if not hasattr(of, "value"):
            charge(len(self.values))
            of.value = self.following(name, 1, len(self.members), self.values[:])
        return of.value


def next_number(name, start, count, last):
    """One more than the largest value."""
    if not last:
        return start
    return 1 + find_largest(last)


def next_bit(name, start, count, last):
    """The bit above the highest."""
    if not last:
        return start
    return 1 << find_largest(last).bit_length()


def find_largest(values):
    if not all(isinstance(v, int) for v in values):
        raise TypeError("auto() follows a member that is not a number")
    return max(map(int.__index__, values))


def lower_name(name, start, count, last):
    return name.lower()


class Redirect:
    """A member called name or value: the class shows it, its members show their own."""

    __slots__ = ("member", "held")

    def __init__(self, member, held):
        self.member, self.held = member, held

    def __get__(self, instance, owner=None):
        return self.member if instance is None else getattr(instance, self.held)

    def __set__(self, instance, value):
        raise AttributeError("cannot set attribute %r" % self.held.strip("_"))


def held_by(name):
    """A property that reads a held attribute."""
    def read_value(self):
        return getattr(self, name)
    return property(read_value)


class EnumType(type):
    """The type of enumerations."""

    @classmethod
    def __prepare__(metacls, name, bases):
        for base in bases:
            if isinstance(base, EnumType) and base._member_map_:
                raise TypeError("<enum %r> cannot extend %r" % (name, base))
        first = first_of(bases)
        if first is not None and not isinstance(bases[-1], EnumType):
            raise TypeError("the enumeration that %s is built on must be the last base" % name)
        return Names(name, first._following_ if first is not None else None)

    def __new__(metacls, name, bases, names):
        members = getattr(names, "members", {})
        invalid = sorted(RESERVED & set(members))
        if invalid:
            raise ValueError("invalid enum member name(s) %r" % invalid[0])
        order = names.get("_order_")
        ignored = getattr(names, "ignored", ())
        kept = {k: v for k, v in names.items() if k not in members and k not in ignored and k not in ("_ignore_", "_order_")}
        cls = super().__new__(metacls, name, bases, kept)
        made = type.__setattr__
        for held in ("_member_map_", "_by_value_"):
            made(cls, held, {})
        for held in ("_canonical_", "_loose_"):
            made(cls, held, [])
        for held in ("_mask_", "_singles_"):
            made(cls, held, 0)
        if "_generate_next_value_" in names:
            made(cls, "_following_", staticmethod(names.following))
        if first_of(bases) is not None:
            made(cls, "_base_", data_of(cls))
        if issubclass(cls, FLAGS):
            for operator in OPERATORS:
                if operator not in kept:  # int's own would come first
                    made(cls, operator, getattr(FLAGS[0], operator))
        for member, value in members.items():
            add_member(cls, member, value)
        if order is not None:
            in_order(cls, list_names(order))
        return cls

    def __call__(cls, value, *more, **keywords):
        """The member with a value."""
        if more or keywords:
            raise TypeError("an enumeration is written as a class here")
        weights.weigh_value(value)
        charge(3 + len(cls._member_map_) // 16)
        return find_member(cls, value)

    def __contains__(cls, value):
        """Whether value is a member, or that of one."""
        weights.weigh_value(value)
        charge(3 + len(cls._member_map_) // 16)
        if isinstance(value, cls):
            return value._name_ in cls._member_map_
        return member_of(cls, value) is not None

    def __iter__(cls):
        return (cls._member_map_[n] for n in cls._canonical_)

    def __reversed__(cls):
        return (cls._member_map_[n] for n in reversed(cls._canonical_))

    def __len__(cls):
        return len(cls._canonical_)

    def __bool__(cls):
        return True

    def __getitem__(cls, name):
        if type(name) is slice:
            raise TypeError("an enumeration has no slices")  # 3.12 hashes a slice, 3.11 does not
        return cls._member_map_[name]

    @property
    def __members__(cls):
        return cls._member_map_

    def __setattr__(cls, name, value):
        if name in cls.__dict__.get("_member_map_", ()):
            raise AttributeError("cannot reassign member %r" % name)
        super().__setattr__(name, value)

    def __delattr__(cls, name):
        if name in cls.__dict__.get("_member_map_", ()):
            raise AttributeError("%r cannot delete member %r." % (cls.__name__, name))
        super().__delattr__(name)

    def __repr__(cls):
        return "<%s %r>" % ("flag" if issubclass(cls, FLAGS) else "enum", cls.__name__)


def first_of(bases):
    """The enumeration that a class is built on: the last of its bases that is one."""
    return next((b for b in reversed(bases) if isinstance(b, EnumType)), None)


def data_of(cls):
    """The type of a member's data: int, str, a class of named tuples, or None."""
    if issubclass(cls, BaseException):
        raise TypeError("an enumeration is built on int, str, a named tuple or plain classes")
    if issubclass(cls, FLAGS) and issubclass(cls, (str, tuple)):
        raise TypeError("a Flag is built on int or on plain classes")
    found = next((t for t in (int, str) if issubclass(cls, t)), None)
    if issubclass(cls, tuple):
        found = next(b for b in cls.__mro__ if "_fields" in b.__dict__)
    return found


def add_member(cls, name, value):
    """Make the member of a class statement."""
    charge(MEMBER)
    weights.weigh_value(value)
    args = value if isinstance(value, tuple) else (value,)
    member = make_member(cls, value, args)
    member._name_ = name
    member.__init__(*args)
    value = member._value_
    if issubclass(cls, Flag):
        if not isinstance(value, int):
            raise TypeError("the value of a flag is an int, not %s" % type(value).__name__)
        value = int.__index__(value)
        if value >= 0:
            type.__setattr__(cls, "_mask_", cls._mask_ | value)
            type.__setattr__(cls, "_singles_", cls._singles_ | (value if value.bit_count() == 1 else 0))
    same = member_of(cls, value)
    if same is not None:
        member = same
    elif not issubclass(cls, Flag) or value.bit_count() == 1 and value > 0:
        cls._canonical_.append(name)
    cls._member_map_[name] = member
    if same is None:
        try:
            cls._by_value_[value] = member
        except TypeError:
            cls._loose_.append(member)
    held = {"name": "_name_", "value": "_value_"}.get(name)
    type.__setattr__(cls, name, member if held is None else Redirect(member, held))


def make_member(cls, value, args):
    """A member that has its value."""
    base = cls._base_
    if base is int or base is str:
        if len(args) != 1 or not isinstance(args[0], base):
            raise TypeError("a member of %s is made of one %s" % (cls.__name__, base.__name__))
        if base is int:
            value = int.__index__(args[0])
            if value.bit_length() > INT_BITS:
                raise OverflowError("a member of more than %d bits" % INT_BITS)
        else:
            value = str.__str__(args[0])
            charge(len(value))
        member = base.__new__(cls, value)
    elif base is not None:
        member, value = base.__new__(cls, *args), base(*args)
    else:
        member = object.__new__(cls)
        fields = next((b for b in cls.__mro__ if "__dataclass_fields__" in b.__dict__), None)
        if fields is not None:
            value = fields(*args)
    member._value_ = value
    return member


def in_order(cls, order):
    """Refuse an _order_ that differs from the members' order."""
    wanted = [n for n in order if n not in cls._member_map_ or n in cls._canonical_]
    if wanted != cls._canonical_:
        raise TypeError("member order does not match _order_")


def member_of(cls, value):
    """The member with a value, or None."""
    try:
        return cls._by_value_.get(value)
    except TypeError:  # compared with every member
        before = cycles_left()
        weights.weigh_value(value)
        charge(len(cls._loose_) * (COMPARED + before - cycles_left()))
        return next((m for m in cls._loose_ if m._value_ == value), None)


def find_member(cls, value):
    """cls(value), or the author's error, or the error that it is not a value."""
    if type(value) is cls:
        return value
    found = member_of(cls, value)
    if found is not None:
        return found
    if not cls._member_map_:
        raise TypeError("%s has no members" % cls.__qualname__)
    found = cls._missing_(value)
    if isinstance(found, cls):
        return found
    if found is not None:
        raise TypeError("error in %s._missing_: returned neither None nor a member" % cls.__qualname__)
    raise ValueError("%s is not a valid %s" % (shown(value), cls.__qualname__))


class Enum(metaclass=EnumType):
    """A member of a class statement, with a name and a value."""

    _base_ = None
    _following_ = staticmethod(next_number)

    def __init__(self, *_args):
        pass

    @classmethod
    def _missing_(cls, value):
        return None

    def __hash__(self):
        return hash(self._name_)

    def __repr__(self):
        return "<%s.%s>" % (type(self).__name__, self._name_)

    def __str__(self):
        return "%s.%s" % (type(self).__name__, self._name_)

    name = held_by("_name_")
    value = held_by("_value_")


class ReprEnum(Enum):
    """Members with the text of their value."""


class IntEnum(int, ReprEnum):
    """Members that are integers."""


class StrEnum(str, ReprEnum):
    """Members that are texts."""

    _following_ = staticmethod(lower_name)


def make_flag_operator(do):
    """An operator of two flags of one class, or of one on int and an integer."""
    def combine_flags(self, other):
        cls = type(self)
        if isinstance(other, cls):
            other = other._value_
        elif cls._base_ is not int or not isinstance(other, int):
            return NotImplemented
        return find_member(cls, do(self._value_, int.__index__(other)))
    return combine_flags


class Flag(Enum):
    """Members that are sets of bits. A Flag with an unknown bit is refused."""

    _following_ = staticmethod(next_bit)
    _keeps_ = False

    @classmethod
    def _missing_(cls, value):
        if not isinstance(value, int):
            return None
        value = int.__index__(value)
        if value.bit_length() > INT_BITS:
            raise OverflowError("flags of more than %d bits" % INT_BITS)
        if value < 0:
            size = cls._mask_.bit_length()
            if cls._keeps_ and value < -(1 << size):
                size = value.bit_length()
            value += 1 << size
        if value < 0 or not cls._keeps_ and value & ~cls._mask_:
            return None
        return member_of(cls, value) or combine_members(cls, value)

    __or__ = __ror__ = make_flag_operator(lambda a, b: a | b)
    __and__ = __rand__ = make_flag_operator(lambda a, b: a & b)
    __xor__ = __rxor__ = make_flag_operator(lambda a, b: a ^ b)

    def __invert__(self):
        cls = type(self)
        return find_member(cls, ~self._value_ if cls._keeps_ else cls._singles_ & ~self._value_)

    def __contains__(self, other):
        if not isinstance(other, type(self)):
            raise TypeError("unsupported operand type(s) for 'in': %r and %r" % (type(other).__name__, type(self).__name__))
        return other._value_ & self._value_ == other._value_

    def __iter__(self):
        return iter(list_bits(type(self), self._value_))

    def __len__(self):
        return self._value_.bit_count()

    def __bool__(self):
        return bool(self._value_)


FLAGS = (Flag,)  # what is made from here on


class IntFlag(int, ReprEnum, Flag):
    """Flags that are integers. Unknown bits are kept."""

    _keeps_ = True


def list_bits(cls, value):
    """The members of one bit that a value has, as they were written."""
    charge(len(cls._canonical_))
    return [m for n in cls._canonical_ if (m := cls._member_map_[n])._value_ & value]


def combine_members(cls, value):
    """A combination of members; None if only some of its bits belong to members."""
    members, covered = list_bits(cls, value), 0
    for m in members:
        covered |= m._value_
    if covered != value:
        charge(len(cls._member_map_))
        for m in cls._member_map_.values():
            if m._value_ > 0 and m._value_.bit_count() > 1 and m._value_ & value == m._value_:
                members.append(m)
                covered |= m._value_
    if covered and covered != value and not cls._keeps_:
        return None
    name = "|".join(m._name_ for m in members)
    if covered and covered != value:
        name += "|%s" % (hex if (value ^ covered).bit_length() > 1024 else str)(value ^ covered)
    charge(PSEUDO + len(name) // 16)
    member = int.__new__(cls, value) if cls._base_ is int else object.__new__(cls)
    member._value_, member._name_ = value, name if covered else None
    cls._by_value_[value] = member
    return member

"""Classes in patterns, and managers in with: where Python reads attributes or
hands out objects by itself."""

from host import actor_code, attributes, ops, sealed
from host.meter import charge

FITTING = 4  # cycles of trying a class, and of looking at each attribute that a pattern reads
FITTED = 50  # cycles of preparing a class for patterns, once a message


class FitType(type):
    """A class to match against: it lets through what may be read by a pattern."""

    def __instancecheck__(cls, value):
        charge(FITTING * (1 + len(cls._host_names)))
        if not isinstance(value, cls._host_real):
            return False
        for name in cls._host_names:
            if not attributes.is_readable(value, name):
                raise TypeError("a pattern cannot read %s of %s" % (name, type(value).__name__))
        return True


class Box:
    """A value, as an attribute: patterns compare with nothing else."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


def tested_type(kind):
    """The type that a value is tested for, which is no Protocol: of those only the names are known."""
    if type(kind) is not sealed.Type and isinstance(kind, type) and sealed.Protocol in kind.__bases__:
        raise TypeError("a test for the Protocol %s: ask hasattr for its methods" % kind.__name__)
    return sealed.real_type(kind)


def fit_pattern(cls, count, names):
    """The replacement of cls in a pattern with count places and these names."""
    charge(FITTING)
    real = tested_type(cls)
    if not isinstance(real, type):
        raise TypeError("called match pattern must be a class")
    if not names and (count == 0 or count == 1 and type(cls) is sealed.Type):
        return real
    kind = actor_code.kind_of(real)
    fits = {} if kind is None else kind.fits
    if (count, names) not in fits:
        charge(FITTED)
        places = match_args(real) if kind is not None and count else ()
        held = {"_host_real": real, "_host_names": places[:count] + names, "__match_args__": places, "__name__": real.__name__}
        fits[count, names] = FitType(real.__name__, (), held)
    return fits[count, names]


def match_args(cls):
    for base in cls.__mro__:
        if "__match_args__" in base.__dict__:
            found = base.__dict__["__match_args__"]
            if base in actor_code.KINDS and type(found) is tuple and all(type(n) is str for n in found):
                return found
    return ()


class Manager:
    """A context manager of an actor's, as with uses it: its __exit__ sees the
    actor's own errors, without a traceback, and no end of the message."""

    __slots__ = ("manager",)

    def __init__(self, manager):
        self.manager = manager

    def bound(self, name):
        value = self.manager
        t = type(value)
        if actor_code.kind_of(t) is not None:
            charge(len(t.__mro__) // 2)
            for base in t.__mro__:
                if name in base.__dict__:
                    found = base.__dict__[name]
                    bind = getattr(type(found), "__get__", None)
                    return found if bind is None else bind(found, value, t)
        raise TypeError("%r object does not support the context manager protocol" % t.__name__)

    def __enter__(self):
        self.bound("__exit__")
        return self.bound("__enter__")()

    def __exit__(self, kind, error, _traceback):
        if isinstance(error, Exception):
            ops.cut_context(error)
        if error is None:
            return self.bound("__exit__")(None, None, None)
        if isinstance(error, Exception):
            return self.bound("__exit__")(kind, error, None)
        if isinstance(error, GeneratorExit):
            self.bound("__exit__")(None, None, None)
        return False

"""Named tuples: what a class of theirs makes of all fields at once is charged by the field."""

from host.costs import table
from host.meter import charge

FEW = 32  # fields that the price of a call covers
KEYWORDS = 32  # fields that a keyword is compared with for one cycle


def priced(cls):
    """Make a class of namedtuple charge for each field of a copy."""
    for name, made in (("_asdict", cls.__dict__["_asdict"]), ("_replace", _replace)):
        setattr(cls, name, per_field(made))
    if len(cls._fields) > FEW:
        cls.__new__ = staticmethod(matched(cls.__new__, len(cls._fields)))


def matched(made, fields):
    """Python looks for each keyword among all fields, and names all fields that lack a value."""
    def new(cls, /, *values, **named):
        if len(values) < fields:
            charge(fields + fields * len(named) // KEYWORDS)
        return made(cls, *values, **named)
    new.__name__, new.__qualname__ = made.__name__, made.__qualname__
    return new


def _replace(self, /, **values):
    """A copy with other values. Each minor version words its error otherwise."""
    names = next(b.__dict__["_fields"] for b in type(self).__mro__ if "_fields" in b.__dict__)
    unknown = [n for n in values if n not in names]
    if unknown:
        raise ValueError("Got unexpected field names: %s" % ", ".join(unknown))
    return tuple.__new__(type(self), [values.get(n, v) for n, v in zip(names, tuple.__iter__(self))])


def per_field(made):
    def method(row, /, **kwargs):
        charge(table.call + table.dict * (tuple.__len__(row) + len(kwargs)))
        return made(row, **kwargs)
    method.__name__, method.__qualname__ = made.__name__, made.__qualname__
    return method

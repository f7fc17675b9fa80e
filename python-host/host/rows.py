"""Named tuples: what a class of theirs makes of all fields at once is charged by the field."""

from host.costs import table
from host.meter import charge

FEW = 32  # fields that the price of a call covers
KEYWORDS = 32  # fields that a keyword is compared with for one cycle


def price_class(cls):
    """Make a class of namedtuple charge for each field of a copy."""
    for name, made in (("_asdict", cls.__dict__["_asdict"]), ("_replace", replace_fields)):
        setattr(cls, name, per_field(made))
    if len(cls._fields) > FEW:
        cls.__new__ = staticmethod(match_fields(cls.__new__, len(cls._fields)))


def match_fields(made, fields):
    """Python looks for each keyword among all fields, and names all fields that lack a value."""
    def make_row(cls, /, *values, **named):
        if len(values) < fields:
            charge(fields + fields * len(named) // KEYWORDS)
        return made(cls, *values, **named)
    make_row.__name__, make_row.__qualname__ = made.__name__, made.__qualname__
    return make_row


def replace_fields(self, /, **values):
    """A copy with other values. Each minor version words its error otherwise."""
    names = next(b.__dict__["_fields"] for b in type(self).__mro__ if "_fields" in b.__dict__)
    unknown = [n for n in values if n not in names]
    if unknown:
        raise ValueError("Got unexpected field names: %s" % ", ".join(unknown))
    return tuple.__new__(type(self), [values.get(n, v) for n, v in zip(names, tuple.__iter__(self))])


def per_field(made):
    def call_priced(row, /, **kwargs):
        charge(table.call + table.dict * (tuple.__len__(row) + len(kwargs)))
        return made(row, **kwargs)
    call_priced.__name__, call_priced.__qualname__ = made.__name__, made.__qualname__
    return call_priced

"""Named tuples: what a class of theirs makes of all fields at once is charged by the field."""

from host.costs import table
from host.meter import charge


def priced(cls):
    """Make a class of namedtuple charge for each field of a copy."""
    for name, made in (("_asdict", cls.__dict__["_asdict"]), ("_replace", _replace)):
        setattr(cls, name, per_field(made))


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

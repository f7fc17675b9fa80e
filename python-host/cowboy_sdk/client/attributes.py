"""Attributes of actors in a test."""

__unittest = True  # unittest leaves the lines of this file out of tracebacks


class Attribute:
    """A value that says how to call the handler of its name, where an author calls it as that."""

    of = None  # the actor and the attribute

    def __call__(self, *_arguments, **_given):
        __tracebackhide__ = True
        raise TypeError(self.of[0]._not_a_handler(self.of[1]))


TELLING = {kind: type(kind.__name__, (Attribute, kind), {}) for kind in (int, str, bytes, list)}


def wrap_attribute(actor, name, value):
    """A value of an attribute as an Attribute, if it is of a kind that has one."""
    if type(value) not in TELLING:
        return value
    made = TELLING[type(value)](value)
    made.of = actor, name
    return made

"""Typed state: the attributes that a class under @actor declares.

    price: Amount = 5               one key, price
    members: List[Address]          members/ and eight bytes of an index, one key each; members# is how many
    log: Map[Address, Member]       log/ and the key's bytes, one key each

A message reads a value when it first uses it, and writes changed values once, at its end, in the order of first
use. A failed message writes nothing. State holds values in deterministic CBOR.
"""

from host import cbor, chain, exact, records, representation, typed
from host.attribute_tables import show_attributes
from host.costs import table
from host.meter import charge, lazy_iterator
from host.sealed import Sealed
from host.typed import Wrong

SLOT, ATOM = 5, 2  # cycles of finding a value of this message, and of one that is coded, besides its bytes
COUNT = typed.ATOMS["u64"]  # how a List keeps its length
NONE = typed.Default(COUNT, "0")
ABSENT = object()
UNREAD = object()
OTHERS = (cbor.Malformed, AttributeError, IndexError, KeyError, TypeError, ValueError, Wrong)


class Slot:
    """A value of state in this message. before is its bytes in state, or UNREAD if they were not asked for.
    Of a record that older code wrote, before has the fields of this code, so that reading it changes nothing."""

    __slots__ = ("name", "type", "value", "there", "before", "changed")

    def __init__(self, name, type, value, there, before):
        self.name, self.type, self.value, self.there, self.before = name, type, value, there, before
        self.changed = False  # it was assigned or deleted


def price_value(t, raw):
    charge((table.serialise if t.composed else ATOM) + len(raw))


def pack_checked(t, value):
    raw = t.pack(value)
    price_value(t, raw)
    return raw


def unpack_checked(name, t, raw):
    price_value(t, raw)
    try:
        reader = cbor.Whole(raw)
        value = t.unpack(reader.value())
        if reader.at != len(raw):
            raise Wrong("is followed by something")
        if t.plain and not t.composed:
            t.text(value)
        return value
    except OTHERS:
        raise TypeError("%s holds what is no %s: other code wrote it" % (name, t.words)) from None


def open_slot(name, key, t, default):
    """The slot under a key, which is read unless it was used before."""
    charge(SLOT)
    found = chain.now.slots.get(key)
    if found is not None:
        return found
    raw = chain.get_state(key)
    if raw is not None:
        chain.now.older = False
        value = unpack_checked(name, t, raw)
        found = Slot(name, t, value, True, pack_checked(t, value) if chain.now.older else raw)
    elif default is records.UNSET:
        found = Slot(name, t, ABSENT, False, None)
    else:
        value = default.make_default()
        found = Slot(name, t, value, False, pack_checked(t, value))
    chain.now.slots[key] = found
    return found


def assign_value(name, key, t, value):
    """Keeps a value until the end of the message. A value that cannot be changed in place is checked now, at
    the author's line."""
    charge(SLOT)
    if not t.composed:
        try:
            t.pack(value)
        except Wrong as w:
            raise TypeError(w.within_part("." + name).words()) from None
    found = chain.now.slots.get(key)
    if found is None:
        found = chain.now.slots[key] = Slot(name, t, value, False, UNREAD)
    found.value, found.changed = value, True


def remove_slot(found):
    found.value, found.changed = ABSENT, True


def flush_changes():
    """Writes what the message changed. Wrong names the attribute."""
    for key, s in chain.now.slots.items():
        if s.value is ABSENT:
            if s.changed and s.there:
                chain.forget_state(key)
        elif s.changed or s.type.composed:
            try:
                raw = pack_checked(s.type, s.value)
            except Wrong as w:
                raise w.within_part("." + s.name) from None
            if raw != s.before:
                chain.keep_state(key, raw)
    chain.now.slots.clear()


def default_of(attribute):
    """What an attribute holds that was not set: a typed.Default, or UNSET."""
    return attribute.default if attribute.default is records.UNSET else typed.Default(attribute.type, attribute.default)


class Value:
    """An attribute of one value, as in the actor's class."""

    def __init__(self, attribute):
        self.name, self.key = attribute.name, attribute.name.encode()
        self.type, self.default = attribute.type, default_of(attribute)

    def __get__(self, instance, owner=None):
        if instance is None:
            raise AttributeError("%s is state of an instance: read it by self.%s" % (self.name, self.name))
        value = open_slot(self.name, self.key, self.type, self.default).value
        if value is ABSENT:
            raise AttributeError("%s was not set yet" % self.name)
        return value

    def __set__(self, instance, value):
        assign_value(self.name, self.key, self.type, value)

    def __delete__(self, instance):
        found = open_slot(self.name, self.key, self.type, records.UNSET)
        if found.value is ABSENT:
            raise AttributeError("%s was not set yet" % self.name)
        remove_slot(found)


class Several:
    """An attribute of many values: a List or a Map, which the actor cannot replace."""

    def __init__(self, attribute):
        self.name = attribute.name
        self.held = {"list": StateList, "map": StateMap}[attribute.kind](attribute)

    def __get__(self, instance, owner=None):
        charge(SLOT)
        return self.held

    def __set__(self, instance, value):
        self.__delete__(instance)

    def __delete__(self, instance):
        raise AttributeError("%s is not assigned as a whole: change its entries" % self.name)


class StateList(Sealed):
    """A List of state: a key for each element."""

    __slots__ = ("_host_name", "_host_type")

    def __init__(self, attribute):
        object.__setattr__(self, "_host_name", attribute.name)
        object.__setattr__(self, "_host_type", attribute.type)

    def _host_count(self):
        return open_slot(self._host_name, self._host_name.encode() + b"#", COUNT, NONE).value

    def _host_resize(self, n):
        assign_value(self._host_name, self._host_name.encode() + b"#", COUNT, n)

    def _host_key(self, i):
        return self._host_name.encode() + b"/" + i.to_bytes(8, "big")

    def _host_at(self, i):
        found = open_slot("%s[%d]" % (self._host_name, i), self._host_key(i), self._host_type, records.UNSET)
        if found.value is ABSENT:
            raise TypeError("%s[%d] is missing: other code deleted it" % (self._host_name, i))
        return found

    def _host_index(self, i):
        i, n = exact.require_integer(i, "the index of a List"), self._host_count()
        if not -n <= i < n:
            raise IndexError("%s has %d elements: there is no %s" % (self._host_name, n, typed.show_own(i)))
        return i % n

    def __len__(self):
        return self._host_count()

    def __eq__(self, _other):
        raise TypeError("%s is a List of state: compare its elements, as in list(self.%s) == […]" % (self._host_name, self._host_name))

    __hash__ = Sealed.__hash__

    def __getitem__(self, i):
        return self._host_at(self._host_index(i)).value

    def __setitem__(self, i, value):
        i = self._host_index(i)
        assign_value("%s[%d]" % (self._host_name, i), self._host_key(i), self._host_type, value)

    def __iter__(self):
        return lazy_iterator(self._host_each())

    def _host_each(self):
        i = 0
        while i < self._host_count():
            yield self._host_at(i).value
            i += 1

    def __contains__(self, value):
        for x in self._host_each():
            charge(SLOT)
            if type(x) is type(value) and x == value:
                return True
        return False

    def append(self, value):
        """Add an element at the end."""
        n = self._host_count()
        assign_value("%s[%d]" % (self._host_name, n), self._host_key(n), self._host_type, value)
        self._host_resize(n + 1)

    def pop(self):
        """Take the last element away, and return it."""
        n = self._host_count()
        if n == 0:
            raise IndexError("%s is empty" % self._host_name)
        found = self._host_at(n - 1)
        value = found.value
        remove_slot(found)
        self._host_resize(n - 1)
        return value


class StateMap(Sealed):
    """A Map of state: a key for each entry. It has no order, and is not walked."""

    __slots__ = ("_host_name", "_host_type", "_host_keys", "_host_default")

    def __init__(self, attribute):
        for slot_name, v in zip(self.__slots__, (attribute.name, attribute.type, attribute.key, default_of(attribute))):
            object.__setattr__(self, slot_name, v)

    def _host_key(self, k):
        try:
            return self._host_name.encode() + b"/" + key_bytes(self._host_keys, k)
        except Wrong as w:
            raise TypeError(w.within_part(".the key of " + self._host_name).words()) from None

    def _host_slot(self, k, default):
        return open_slot(self._host_called(k), self._host_key(k), self._host_type, default)

    def _host_called(self, k):
        return "%s[%s]" % (self._host_name, typed.show_own(k))

    def __getitem__(self, k):
        found = self._host_slot(k, self._host_default)
        if found.value is ABSENT:
            if self._host_default is records.UNSET:
                raise KeyError(k)
            found.value, found.before = self._host_default.make_default(), UNREAD
        return found.value

    def __setitem__(self, k, value):
        assign_value(self._host_called(k), self._host_key(k), self._host_type, value)

    def __delitem__(self, k):
        found = self._host_slot(k, records.UNSET)
        if not self._host_there(found):
            raise KeyError(k)
        found.there = True
        remove_slot(found)

    @staticmethod
    def _host_there(found):
        return found.value is not ABSENT and (found.there or found.changed)

    def __contains__(self, k):
        return self._host_there(self._host_slot(k, self._host_default))

    def get(self, k, default=None):
        """The entry of k, or default without one."""
        found = self._host_slot(k, self._host_default)
        return found.value if self._host_there(found) else default

    def __bool__(self):
        raise TypeError("%s is a Map, which has no length: keep a count beside it" % self._host_name)

    def __eq__(self, _other):
        raise TypeError("%s is a Map, which has no length and no order: compare its entries" % self._host_name)

    __hash__ = Sealed.__hash__

    def __iter__(self):
        raise TypeError("%s is a Map, which has no order: keep a List of the keys that are to be walked" % self._host_name)


def key_bytes(t, k):
    """A key of a Map as the end of a key of state."""
    charge(SLOT)
    if type(t) is typed.Tuple:
        if type(k) is not tuple or len(k) != len(t.of):
            t.refuse(k, typed.show_own)
        parts = [key_bytes(of, x) for of, x in zip(t.of, k)]
        return b"".join([len(p).to_bytes(4, "big") + p for p in parts])
    if type(t) is typed.Integer:
        t.check(k)
        return k.to_bytes(32, "big", signed=True)
    return t.check(k)


show_attributes(StateList, "append pop")
show_attributes(StateMap, "get")
representation.RECORDS[StateList] = representation.RECORDS[StateMap] = lambda _text, held: "<state %s>" % held._host_name


def make_attributes(schema):
    """The class's object for each declared attribute."""
    return {a.name: Value(a) if a.kind == "value" else Several(a) for a in schema.state.values()}

"""The expectations of a test, and the messages of those not met."""

import json
import re
from contextlib import contextmanager

from cowboy_sdk.client.answers import to_bytes
from cowboy_sdk.client.values import integers_as_digits

# A line that a host names before the author's own words, with its actor where another one was called, or one that it refuses.
PLACE = re.compile(r"(?:([^;:]{1,64}?) )?line (\d+)(?:, in [^;:]+)?(; |: )")
CALLED = re.compile(r"CallError: [^:]*: (?=[^;:]{1,64} line \d)")


def find_places(message):
    """(actor or None, line) of each line that a message names, innermost last."""
    found, at = [], 0
    while True:
        if message.startswith("…; ", at):
            at += 3
            continue
        place = PLACE.match(message, at)
        if place is None:
            return found
        found.append((place[1], int(place[2])))
        at = place.end()
        if place[3] == ": ":
            called = CALLED.match(message, at)
            if called is None or place[1] is None:
                return found
            at = called.end()


class Reverted(AssertionError):
    """An execution ended otherwise than ok. code and message come from the chain; receipt is None for a read. source is the
    name and the lines of a file, named returns those of another actor, or None."""

    def __init__(self, what, status, code, message, receipt=None, source=None, chain=None, named=None):
        self.status, self.code, self.message, self.receipt, self.chain = status, code, message, receipt, chain
        text = "%s ended with %s: %s: %s" % (what, status, code, message)
        found = find_places(message)
        for i, (actor, number) in enumerate(found):
            if i + 1 < len(found) and found[i + 1][0] == actor:
                continue  # the innermost of each actor
            name, lines = (named and named(actor) if actor else source) or ("", ())
            if 0 < number <= len(lines):
                text += "\n    %s:%d: %s" % (name, number, lines[number - 1].strip())
        super().__init__(text)


@contextmanager
def expect_revert(code=None, match=None):
    """Within it an execution ends with that code (user_error, out_of_cycles, …, or the status), and a message that match is found in."""
    caught = Caught()
    try:
        yield caught
    except Reverted as reverted:
        if code is not None and code not in (reverted.code, reverted.status):
            raise AssertionError("expected a revert with %s, and it was %s: %s" % (code, reverted.code, reverted.message)) from reverted
        if match is not None and not re.search(match, reverted.message):
            raise AssertionError("expected a revert whose message has %r, and it was %r" % (match, reverted.message)) from reverted
        caught.error = reverted
        if reverted.chain is not None:
            reverted.chain.mark_expected_failure(reverted.receipt.hash)
    else:
        raise AssertionError("expected a revert%s, and nothing reverted" % (" with " + code if code else ""))


class Caught:
    """The Reverted that expect_revert waited for."""

    error = None


def is_same_data(wanted, raw, data):
    """Whether an event has the wanted data, which is raw as bytes."""
    if data == raw or not isinstance(wanted, dict):
        return data == raw
    try:
        return integers_as_digits(json.loads(data)) == integers_as_digits(json.loads(raw))
    except ValueError:
        return False  # the event is not JSON


@contextmanager
def expect_event(chain, name, data=None, actor=None):
    """Within it an event of that name is emitted, with that data and by that actor if they are given. A dict may name
    its members in any order, and have an integer for its digits."""
    before = chain.height
    found = []
    yield found
    events = chain.events(since=before + 1)
    for event in events:
        by = actor is None or event.actor == chain.address(actor)
        if event.name == name and by and (data is None or is_same_data(data, to_bytes(data), event.data)):
            found.append(event)
    if not found:
        told = ", ".join("%s %r" % (e.name, e.data) for e in events) or "none"
        raise AssertionError("expected the event %s%s; there were: %s" % (name, "" if data is None else " %r" % to_bytes(data), told))

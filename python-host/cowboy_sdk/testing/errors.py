"""The expectations of a test, and the messages of those not met."""

import json
import re
from contextlib import contextmanager

from cowboy_sdk.client.values import plain

# The lines that a host names before the author's own words, innermost last, or the one that it refuses.
LINE = re.compile(r"(?:(?:line \d+, in [^;:]+|…); )*line (\d+)(?:, in [^;:]+)?: ")


class Reverted(AssertionError):
    """An execution ended otherwise than ok. code and message come from the chain; receipt is None for a read."""

    def __init__(self, what, status, code, message, receipt=None, source=None, chain=None):
        self.status, self.code, self.message, self.receipt, self.chain = status, code, message, receipt, chain
        text = "%s ended with %s: %s: %s" % (what, status, code, message)
        found = LINE.match(message)
        if source and found:
            name, lines = source
            number = int(found[1])
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
            reverted.chain.waited_for(reverted.receipt.hash)
    else:
        raise AssertionError("expected a revert%s, and nothing reverted" % (" with " + code if code else ""))


class Caught:
    """The Reverted that expect_revert waited for."""

    error = None


def same(wanted, raw, data):
    """Whether an event has the wanted data, which is raw as bytes."""
    if data == raw or not isinstance(wanted, dict):
        return data == raw
    try:
        return plain(json.loads(data)) == plain(json.loads(raw))
    except ValueError:
        return False  # the event is not JSON


@contextmanager
def expect_event(chain, name, data=None, actor=None):
    """Within it an event of that name is emitted, with that data and by that actor if they are given. A dict may name
    its members in any order, and have an integer for its digits."""
    from cowboy_sdk.testing.values import to_bytes

    before = chain.height
    found = []
    yield found
    events = chain.events(since=before + 1)
    for event in events:
        if event.name == name and (data is None or same(data, to_bytes(data), event.data)) and (actor is None or event.actor == chain.address(actor)):
            found.append(event)
    if not found:
        told = ", ".join("%s %r" % (e.name, e.data) for e in events) or "none"
        raise AssertionError("expected the event %s%s; there were: %s" % (name, "" if data is None else " %r" % to_bytes(data), told))

"""SimulatedChain: one actor and CIP-6's verbs, on the same network."""

from cowboy_sdk.client.answers import show_value, to_bytes
from cowboy_sdk.testing.chain import Chain


class SimulatedChain:
    """A chain with one actor, deployed from a file, a module, a class or an instance (CIP-6)."""

    def __init__(self, instance, init=b"", fund=10**13, seed=1, chain=None, **options):
        self.chain = chain or Chain(seed, **options)
        self.actor = self.chain.deploy(instance, init=init, fund=fund)
        self.sender = "alice"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.chain.close()

    def call(self, handler, payload=b"", **more):
        """The output of a handler, once its transaction is final, or Reverted."""
        __tracebackhide__ = True
        return self.actor.call(handler, payload, self.sender, **more).output

    def state(self, key):
        """The value of a key, or None."""
        return self.actor.state(key)

    def assert_state(self, key, expected):
        """The value of a key is what is expected; None: there is no such key."""
        found, wanted = self.state(key), None if expected is None else to_bytes(expected, "what is expected")
        if found != wanted:
            raise AssertionError("%s is %s, and %s was expected" % (show_value(to_bytes(key)), show_value(found), show_value(wanted)))

    def snapshot(self):
        """The actor's state now; revert goes back to it."""
        return State(self.actor.entries(), self.chain.snapshot())

    def revert(self, snapshot):
        """Make the whole chain what it was."""
        self.chain.revert(snapshot.of)

    def events(self, name=None):
        """The events emitted by emit_event so far, in order."""
        return self.actor.events(name)

    def set_sender(self, sender):
        """Set the caller of the next calls: an account by name or address, or an actor or other address, which is impersonated."""
        self.chain.sender(sender)
        self.sender = sender

    @property
    def block_height(self):
        return self.chain.height

    def set_block_height(self, height):
        """Advance to a height; all due items on the way happen. Only revert goes back."""
        now = self.chain.height
        if height < now:
            raise ValueError("the chain is at height %d, and does not go back to %d: revert to a snapshot" % (now, height))
        if height > now:
            self.chain.advance(to=height)

    def advance_block(self, n=1):
        """Advance by n blocks: timers that are due fire, messages are delivered. The fires' receipts."""
        since = self.chain.height + 1
        self.chain.advance(blocks=n)
        return [r for r in self.chain.receipts(since, self.actor) if r.origin == "timer"]

    def timers(self):
        """The pending ones."""
        return self.actor.timers

    def check_determinism(self, scenario):
        """Run scenario(simulated) again and again, also where validators execute by themselves: it ends alike, or raises."""
        def run_alone(chain):
            other = object.__new__(SimulatedChain)
            other.chain, other.sender = chain, self.sender
            other.actor = chain.actors.get(self.actor.address) or chain.deploy(self.actor.source, self.actor.name, fund=10**13)
            scenario(other)
        self.chain.check_determinism(run_alone)


class State(dict):
    """Keys and values of an actor's state, and the chain they are of."""

    def __init__(self, entries, of):
        super().__init__(entries)
        self.of = of

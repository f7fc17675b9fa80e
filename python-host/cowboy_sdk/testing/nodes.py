"""Validators and links, and what can be done to them: the faults of the scenarios, by their names (docs/SCENARIOS.md)."""

from cowboy_sdk.client.answers import Record, read_record


class Network:
    """Validators and links of a chain."""

    @property
    def validators(self):
        """By name: v0, v1, …; each in its present state."""
        found = (Validator(self, form) for form in self.get("/validators"))
        return sorted(found, key=lambda v: (len(v.name), v.name))

    @property
    def runners(self):
        """The devnet's own, by name: r0, r1, …; each in its present state."""
        found = (Runner(self, form) for form in self.get("/runners?limit=1000") if form["name"])
        return sorted(found, key=lambda r: (len(r.name), r.name))

    def fault(self, verb, **arguments):
        """Make a fault, as POST /devnet/fault takes it; its effect so far."""
        return read_record("fault", self.post("/devnet/fault", dict(arguments, verb=verb)))

    def faults(self):
        """Those so far, and what each did."""
        return [read_record("fault", f) for f in self.get("/devnet/faults")]

    def partition(self, *groups):
        """Nodes reach only nodes of their group; an empty last group stands for the rest. Runners reach all where none is named."""
        return self.fault("partition", groups=[[_node_name(n) for n in group] for group in groups])

    def bridge(self, node, left, right):
        """left and right reach one another only through node."""
        return self.fault("bridge", node=_node_name(node), left=[_node_name(n) for n in left], right=[_node_name(n) for n in right])

    def link(self, a, b, **properties):
        """Set the packets between a and b: latency="20ms", jitter, loss, duplicate, reorder, bandwidth, one_way."""
        return self.fault("link", a=_node_name(a), b=_node_name(b), **properties)

    def heal(self):
        """Remove the faults of all links."""
        return [read_record("fault", f) for f in self.post("/devnet/heal", {})]

    def join_validator(self, name=""):
        return read_record("move", self.post("/devnet/validator/join", {"name": _node_name(name)} if name else {}))

    def leave_validator(self, name):
        return read_record("move", self.post("/devnet/validator/leave", {"name": _node_name(name)}))


def _node_name(node):
    return node.name if isinstance(node, (Validator, Runner)) else node


class Validator(Record):
    """A validator in its state at the request, and its faults."""

    def __init__(self, chain, form):
        super().__init__("validator", read_record("validator", form).__dict__)
        self.__dict__["_chain"] = chain

    def crash(self):
        """Its process ends, and what its disk had not synced is lost."""
        return self._chain.fault("crash", node=self.name)

    def restart(self):
        return self._chain.fault("restart", node=self.name)

    def freeze(self):
        return self._chain.fault("freeze", node=self.name)

    def thaw(self):
        return self._chain.fault("thaw", node=self.name)

    def wipe(self):
        """Empty the disk of one that does not run."""
        return self._chain.fault("wipe", node=self.name)

    def disk_fail(self, on=True):
        return self._chain.fault("disk_fail", node=self.name, on=on)

    def clock_skew(self, skew):
        """How far ahead of the others its clock is: "2s"."""
        return self._chain.fault("clock_skew", node=self.name, skew=skew)

    def twin(self, on=True):
        """Start a second process with its key and an empty home, or end that."""
        return self._chain.fault("twin", node=self.name, on=on)

    def misbehave(self, kind):
        """Lie, as docs/SCENARIOS.md lists it; "honest" ends it."""
        return self._chain.fault("misbehave", node=self.name, kind=kind)


class Runner(Record):
    """A runner of the devnet's own in its state at the request, and its faults."""

    def __init__(self, chain, form):
        super().__init__("runner", read_record("runner", form).__dict__)
        self.__dict__["_chain"] = chain

    def drop(self):
        """Its process ends, and its connections close without a Goodbye."""
        return self._chain.fault("drop", node=self.name)

    def restart(self):
        return self._chain.fault("restart", node=self.name)

    def freeze(self):
        return self._chain.fault("freeze", node=self.name)

    def thaw(self):
        return self._chain.fault("thaw", node=self.name)

    def blackhole(self, on=True):
        """It keeps pinging, and answers no job."""
        return self._chain.fault("blackhole", node=self.name, on=on)

    def slow(self, delay):
        """Its work on each job takes longer: "2s"; "0s" ends it."""
        return self._chain.fault("slow", node=self.name, delay=delay)

    def saturate(self, on=True):
        """It takes no new jobs."""
        return self._chain.fault("saturate", node=self.name, on=on)

    def misbehave(self, kind):
        """Lie, as docs/SCENARIOS.md lists it for runners; "honest" ends it."""
        return self._chain.fault("misbehave", node=self.name, kind=kind)

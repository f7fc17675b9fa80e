"""Chain: a whole network in virtual time, for tests of actors."""

import atexit
import json
import weakref
from urllib.parse import quote, urlencode

from cowboy_sdk.client.answers import ADDRESS, Event, Receipt, Record, read_record, show_value, to_bytes, to_hex, to_schema_json, wei_digits
from cowboy_sdk.testing import gas, mocks, sources
from cowboy_sdk.testing.actors import Actor, Timer
from cowboy_sdk.testing.conversation import Bench, DevnetError, Live, Up
from cowboy_sdk.testing.errors import Reverted
from cowboy_sdk.testing.nodes import Network

PAGE = 1000  # entries of a list at once
MAX_MADE = 256  # deploys that are remembered; a bench keeps four times as many snapshots
CBY = 10**9  # wei
OPEN = weakref.WeakSet()  # chains whose devnet runs
__unittest = True  # unittest leaves the lines of this file out of tracebacks


@atexit.register
def _close_all():
    for chain in list(OPEN):
        chain.close()


def copy_handles(actors):
    """Other handles of the same actors, for another test."""
    return {address: actor.again() for address, actor in actors.items()}


class Chain(Network):
    """A network of validators, funded accounts, and the actors that a test deploys.

    seed decides every key and every moment of it: one seed is one run. validators is their number; block_time is "auto" (a block when
    there is something to do) or a duration like "1s". params are protocol parameters that differ from the defaults, and policy is the
    timer lane's policy. With apart every validator executes all by itself; runners is the number of runners that do jobs. It is closed by
    close, at the end of with, or of the process.

    http is the address of a running network, which is used as it is. live starts a separate `devnet up` by the other arguments. Either
    has no snapshots, and events from before the test are not listed.
    """

    def __init__(self, seed=1, validators=1, block_time="auto", params=None, policy=None, apart=False, http=None, runners=0,
                 live=False):
        params = {key: str(value) for key, value in (params or {}).items()}
        if policy is not None:
            params["cip1.policy"] = policy
        self.options = {"validators": validators, "block_time": block_time, "params": params, "apart": apart, "runners": runners}
        self.seed = seed
        self.live = bool(http) or live
        self.bench = Live(http) if http else (Up if live else Bench)(seed=seed, **self.options)
        OPEN.add(self)
        self.accounts = {name: bytes.fromhex(a[2:]) for name, a in self.bench.opened["accounts"].items()}
        self.actors = {}  # address → Actor
        self.costs = gas.report  # is told of each receipt, or None
        self._told = 0  # height up to which costs knows all
        self._made = {}  # what was deployed on the first snapshot, in order → snapshot and actors
        self._so_far = None  # deploys since the first snapshot, while there was nothing else
        self._first = None
        self.failed, self.is_next_step = None, set()  # the hash of the last transaction that failed; those that expect_revert waited for
        self._begun = self.height if self.live else 0  # what was before is not the test's

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        OPEN.discard(self)
        self.bench.close()

    def __repr__(self):
        return "<chain of seed %d at height %d>" % (self.seed, self.height)

    # What it is now.

    @property
    def height(self):
        """Height of the latest final block."""
        return self.get("/height")["height"]

    @property
    def block(self):
        """The latest final block."""
        return read_record("block", self.get("/block/latest"))

    @property
    def time_ms(self):
        """The latest block's, in milliseconds since 1970."""
        return self.block.timestamp_ms

    @property
    def basefee(self):
        """The next block's base fees, in wei."""
        return read_record("basefee", self.get("/basefee"))

    @property
    def params(self):
        """The protocol parameters in force, by name."""
        return {p["key"]: p["value"] for p in self.get("/params")}

    def set_param(self, key, value, at=0):
        """Set a protocol parameter from a height on; 0 is the next it may hold from."""
        return read_record("change", self.post("/devnet/params", {"key": key, "value": str(value), "at": at}))

    # Cheats: instructions of the system key, which every validator executes.

    def set_balance(self, of, amount):
        """Give an account or actor a balance, in wei. The difference counts as minted or removed."""
        return read_record("balance", self.post("/devnet/balance", {"account": self.path(of), "balance": wei_digits(amount)}))

    def set_state(self, actor, key, value):
        """Give a key of an actor's state another value: bytes, str, or a dict or list as JSON. Timers that watch it become due."""
        body = {"actor": self.path(actor), "key": to_hex(key, "a key"), "value": to_hex(value, "a value")}
        return read_record("state", self.post("/devnet/state", body))

    def delete_state(self, actor, key):
        """Remove a key of an actor's state."""
        return read_record("state", self.post("/devnet/state", {"actor": self.path(actor), "key": to_hex(key, "a key")}))

    def mine(self, blocks=1):
        """Make a number of blocks now. Unlike advance it skips no height. It works while automine is off."""
        mined = read_record("advance", self.post("/devnet/mine", {"blocks": blocks}))
        self._count_costs()
        return mined

    def automine(self, on):
        """Whether blocks are made by themselves. While it is off, send hands transactions in, and mine makes their block."""
        return read_record("pace", self.post("/devnet/automine", {"on": bool(on)}))

    def address(self, of):
        """The address of an account's name, an actor, or an address in any form."""
        if isinstance(of, Actor):
            return of.address
        if isinstance(of, (bytes, bytearray)) and len(of) == ADDRESS:
            return bytes(of)
        if isinstance(of, str) and of in self.accounts:
            return self.accounts[of]
        if isinstance(of, str) and of.startswith("0x") and len(of) == 2 + 2 * ADDRESS:
            return bytes.fromhex(of[2:])
        for actor in self.actors.values():
            if actor.name and actor.name == of:
                return actor.address
        raise ValueError("unknown account, actor or address %r; the accounts are %s" % (of, ", ".join(self.accounts)))

    def actor(self, name):
        """An actor of any deployer, by its name or address."""
        address = name
        if isinstance(name, str) and not name.startswith("0x"):
            address = next((a.address for a in self.actors.values() if a.name == name), None)
        known = self.actors.get(self.address(address)) if address is not None else None
        if known is not None:
            return known
        shown = name if isinstance(name, str) else self.path(name)
        told = self.get("/actor/" + quote(shown, safe=""))
        return Actor(self, bytes.fromhex(told["address"][2:]), told["name"], "", None)

    def name(self, address):
        """The test's name for an address: an account's or actor's name, otherwise hexadecimal."""
        for name, known in self.accounts.items():
            if known == address:
                return name
        actor = self.actors.get(address)
        return actor.name if actor and actor.name else "0x" + address.hex()

    def balance(self, of):
        """In wei."""
        return int(self.get("/account/" + self.path(of))["balance"])

    # What is done on it.

    def deploy(self, source, name="", init=b"", fund=0, sender="alice", cycles=None, cells=None, args=None, upgrade=None):
        """Deploy an actor from a file, the text of one, a module, a class or an instance. Returns it, or raises Reverted.

        init is the payload of an init that takes bytes; args are the arguments of a typed one: {"price": 5, "owner": bob}.
        upgrade names the account that may upgrade it, as in upgrade={"by": "alice", "delay": 20}; without it no account may.
        """
        origin, text = sources.read_source(source)
        if name == "" and origin:
            name = origin
        told = None if args is None else {k: to_schema_json(v) for k, v in args.items()}
        key = (text, name, to_bytes(init), fund, self.address(sender), cycles, cells, json.dumps(told, sort_keys=True), repr(upgrade))
        prefix = self._so_far
        if prefix is not None and prefix + (key,) in self._made:
            snapshot, actors = self._made[prefix + (key,)]
            self._restore_snapshot(snapshot)
            self.actors, self._so_far = copy_handles(actors), prefix + (key,)
            return list(self.actors.values())[-1]
        body = {"from": self.sender(sender), "code": to_hex(text, "code"), "fund": wei_digits(fund), "name": self._free_name(name)}
        body.update({"init": to_hex(init)} if told is None else {"args": told})
        if upgrade is not None:
            body["upgrade"] = {"by": self.path(upgrade["by"]), "delay": upgrade.get("delay", 0)}
        actor = Actor(self, None, name, text, origin)
        self._receive_receipt("deploy of " + (name or "an actor"), self.post("/devnet/deploy", _add_limits(body, cycles, cells)), actor)
        if prefix is not None and len(self._made) < MAX_MADE:
            self._remember_deploys(prefix + (key,))
        return actor

    def upgrade(self, actor, source, migrate=b"", sender="alice", code_hash=None, cycles=None, cells=None, end=()):
        """Give an actor new code, or announce it if its terms have a delay: the Receipt, or Reverted. migrate is the payload of the new
        code's migrate, a dict for a typed one. code_hash is the hash of the code that the actor must have, by default its latest. end names
        waiting continuations that end when the upgrade applies."""
        __tracebackhide__ = True
        _, text = sources.read_source(source)
        body = {"from": self.sender(sender), "actor": self.path(actor), "code": to_hex(text, "code"), "migrate": to_hex(migrate)}
        if code_hash is not None:
            body["code_hash"] = to_hex(code_hash, "a hash")
        if end:
            body["end"] = list(end)
        form = self.post("/devnet/upgrade", _add_limits(body, cycles, cells))
        known, former = self._find_actor(actor), None
        if known is not None:
            former, known.source = known.source, text  # a failure is one of the new lines
        try:
            receipt = self._receive_receipt("an upgrade", form, known)
        except Reverted:
            if known is not None:
                known.source = former
            raise
        if known is not None and form["applies_at"] is not None:
            known.source, known.announced = former, text
        return receipt

    def apply_upgrade(self, actor, sender="alice"):
        """Apply the announced upgrade of an actor, from its height on: the Receipt, or Reverted."""
        __tracebackhide__ = True
        known = self._find_actor(actor)
        form = self.post("/devnet/upgrade/apply", {"from": self.sender(sender), "actor": self.path(actor)})
        receipt = self._receive_receipt("an upgrade", form, known)
        if known is not None and known.announced is not None:
            known.source = known.announced
        return receipt

    def upgrade_terms(self, actor, by=None, delay=None, never=False, sender="alice"):
        """Hand the upgrades of an actor over, lengthen their delay, or end them for good: the Receipt, or Reverted."""
        __tracebackhide__ = True
        body = {"from": self.sender(sender), "actor": self.path(actor), "never": never}
        if by is not None:
            body["by"] = self.path(by)
        if delay is not None:
            body["delay"] = delay
        return self._receive_receipt("new terms of upgrades", self.post("/devnet/upgrade/terms", body))

    def _remember_deploys(self, deploys):
        """Keep the network for the next test that begins with these deploys, and begin from it. So the first test has the run
        that the next one has. A deploy that leaves work under way, such as a job, is made again instead."""
        try:
            snapshot = self.bench.ask("snapshot")["snapshot"]
        except DevnetError as error:
            if error.code != "not_at_rest":
                raise
            return
        self._made[deploys] = (snapshot, copy_handles(self.actors))
        self._restore_snapshot(snapshot)
        self._so_far = deploys

    def _free_name(self, name):
        """The name, or none if an earlier actor may have it: the test knows both by the result of deploy."""
        return "" if self.live or any(a.name == name for a in self.actors.values()) else name

    def call(self, to, handler, payload=b"", sender="alice", value=0, sponsor=0, cycles=None, cells=None):
        """A transaction that calls a handler, once it is final: its Receipt, or Reverted."""
        __tracebackhide__ = True  # pytest then shows the test's own line
        body = self._call_body(to, handler, payload, sender, value, sponsor, cycles, cells)
        what = "%s(%s)" % (handler, show_value(to_bytes(payload)))
        return self._receive_receipt(what, self.post("/devnet/send", body), self._find_actor(to))

    def dry_run(self, to, handler, payload=b"", sender="alice", value=0, sponsor=0, cycles=None, cells=None):
        """The result of a call on the latest state, which it does not change."""
        body = dict(self._call_body(to, handler, payload, sender, value, sponsor, cycles, cells), dry_run=True)
        return Receipt(self.get("/devnet/send", body))

    def send(self, to, handler, payload=b"", sender="alice", value=0, sponsor=0, cycles=None, cells=None):
        """Hand in a transaction without waiting: its hash, for receipt. Several of them may be in one block."""
        body = self._call_body(to, handler, payload, sender, value, sponsor, cycles, cells)
        if self.live:
            return bytes.fromhex(self.post("/devnet/send", dict(body, no_wait=True))["hash"][2:])
        return bytes.fromhex(self.post("/devnet/send", body, wait=False)["hash"][2:])

    def transfer(self, to, amount, sender="alice"):
        """Pay; its Receipt, or Reverted."""
        body = {"from": self.sender(sender), "to": self.path(to), "value": wei_digits(amount)}
        return self._receive_receipt("a transfer", self.post("/devnet/send", body))

    def read(self, actor, handler, payload=b"", sender=None):
        """The output of a handler that is run read-only, or Reverted."""
        __tracebackhide__ = True
        body = {"actor": self.path(actor), "handler": handler, "payload": to_hex(payload)}
        if sender is not None:
            body["from"] = self.path(sender)
        result = self.get("/actor/read", body)
        if result["status"] != "ok":
            error = result["error"] or {"code": result["status"], "message": ""}
            raise Reverted("a read: " + handler, result["status"], error["code"], error["message"], source=self._lines_of(actor),
                           named=self._lines_by_name)
        return bytes.fromhex(result["output"][2:])

    def bid(self, actor, late=0, owner=None, **told):
        """The answer of an actor's get_gas_bid for a timer of owner (default: its own) that is late by the given number of blocks. The
        lane of the next block would ask it so. max_fee_per_cycle and max_priority_fee_per_cycle are the answer, tip_per_cycle and
        priced_out its effect, context the question. Names of that may be given, to tell it another number. Or Reverted."""
        __tracebackhide__ = True
        body = {"bidder": self.path(actor), "late": late, "with": {name: wei_digits(number) for name, number in told.items()}}
        if owner is not None:
            body["actor"] = self.path(owner)
        result = self.get("/actor/bid", body)
        if result["status"] != "ok":
            error = result["error"] or {"code": result["status"], "message": ""}
            raise Reverted("get_gas_bid", result["status"], error["code"], error["message"], source=self._lines_of(actor),
                           named=self._lines_by_name)
        context = {name: int(number) for name, number in result.pop("context").items()}
        found = read_record("bid", result)
        found.__dict__["context"] = context
        return found

    def receipt(self, hash):
        """The receipt of a transaction, a fire or a message by its hash, or None while it is not final."""
        try:
            return Receipt(self.get("/transaction/0x%s/receipt" % hash.hex()))
        except DevnetError as error:
            if error.status == 404:
                return None
            raise

    def advance(self, blocks=None, to=None, to_next_timer=False):
        """Time travel: by a number of blocks, to a height, or to where the next timer is due. All that is due on the way happens."""
        given = {"blocks": blocks, "to": to, "to_next_timer": to_next_timer or None}
        asked = {k: v for k, v in given.items() if v is not None}
        if len(asked) != 1:
            raise TypeError("advance takes one of blocks, to and to_next_timer")
        travelled = read_record("advance", self.post("/devnet/advance", asked))
        self._count_costs()
        return travelled

    # What became of it.

    def blocks(self, since=1):
        """Final blocks from a height on."""
        head, found, since = self.height, [], max(since, self._begun + 1)
        while since <= head:
            page = self.get("/blocks?" + urlencode({"from": since, "limit": PAGE}))
            if not page:
                break
            found += (read_record("block", b) for b in page)
            since = page[-1]["height"] + 1
        return found

    def receipts(self, since=1, of=None):
        """The executions of the blocks from a height on, in order: transactions, fires and messages; with of only those of an actor."""
        mine = None if of is None else self.address(of)
        found = []
        for block in self.blocks(since):
            found += (Receipt(r) for r in self.pages("/block/%d/receipts" % block.height))
        return [r for r in found if mine is None or mine in (r.to, r.sender)]

    def events(self, actor=None, name=None, since=1):
        """The events that actors emitted by emit_event since a height, in order."""
        mine = None if actor is None else self.address(actor)
        return [e for r in self.receipts(since) for e in r.events
                if (mine is None or e.actor == mine) and (name is None or e.name == name)]

    def chain_events(self, since=1):
        """The chain's own events, which belong to no receipt: timers that ended unfired, parameters that changed."""
        return [Event(e.name, e.data, e.actor, b.height) for b in self.blocks(since) for e in b.events]

    def timers(self, actor=None, status=None, due_by=None):
        """Timers in any state, oldest first."""
        asked = {"actor": None if actor is None else self.path(actor), "status": status, "due_by": due_by}
        query = {k: v for k, v in asked.items() if v is not None}
        return [Timer(self, t) for t in self.pages("/timers", query)]

    # Snapshots.

    def snapshot(self):
        """The network as it is now, for revert. It refuses while a fault is in force or a transaction waits."""
        return Snapshot(self, self.bench.ask("snapshot")["snapshot"], copy_handles(self.actors))

    def revert(self, snapshot):
        """Make it that network again: every revert to one snapshot begins the same run."""
        self._restore_snapshot(snapshot.number)
        self.actors = {a: self.actors.get(a, then.again()).as_then(then) for a, then in snapshot.actors.items()}
        self._so_far = None

    def restart(self):
        """Start over, at genesis. Deploys that then come first are remembered, so that each is made once. A live network continues."""
        self.failed, self.is_next_step = None, set()
        if self.live:
            self.actors, self._begun = {}, self.height
            return
        if self._first is None:
            self._first = self.bench.ask("snapshot")["snapshot"]
        self._restore_snapshot(self._first)
        self.actors, self._so_far = {}, ()

    def _restore_snapshot(self, number):
        self.bench.revert(number)
        self.failed = None
        self._told = 0 if self.costs is None else self.height

    def check_determinism(self, scenario):
        """Run scenario(chain) twice from here, and on a network of four validators that each execute all by themselves.

        Raises AssertionError where any of them ends with other receipts or another
        state. It needs a chain at rest; the scenario deploys what it uses.
        """
        runs = []
        here = self.snapshot()
        for _ in range(2):
            self.revert(here)
            since = self.height + 1
            scenario(self)
            runs.append(self._outcomes_since(since))
        if runs[0] != runs[1]:
            raise AssertionError("the scenario ended differently when it ran again:\n  %s\n  %s" % tuple(runs))
        with Chain(self.seed, 4, self.options["block_time"], self.options["params"], apart=True) as other:
            scenario(other)
            other.advance(blocks=1)
            if len({v.state_root for v in other.validators if v.height == other.height}) != 1:
                raise AssertionError("validators that execute by themselves do not agree on the state")

    def _outcomes_since(self, since):
        return [(r.handler, r.status, r.output, r.cycles, r.cells, [(e.name, e.data) for e in r.events]) for r in self.receipts(since)]

    # Others.

    def mock(self, name, handlers):
        """An actor of others: an actor that answers each handler with bytes, or reverts (mocks.reverts), or a list of these in turn.

        It is deployed as every actor is; calls of it are listed by its calls().
        """
        return mocks.Mock(self, name, handlers)

    def run(self, time):
        """Let the given network time pass, "5s", without travel: runners connect, are drawn, and work."""
        self._so_far = None
        self.bench.ask("run", **{"for": time})
        self._count_costs()

    def jobs(self):
        """Jobs in any state, the latest first."""
        return [read_record("job", j) for j in self.pages("/jobs", {"order": "newest"})]

    def job(self, id):
        """A job by its id, in its present state."""
        return read_record("job", self.get("/job/0x" + id.hex()))

    def submit_job(self, **request):
        """A job of an account, as POST /devnet/job/submit takes it: kind="custom", executor="manual", params="…"."""
        return read_record("job", self.post("/devnet/job/submit", request))

    def deliver_result(self, id, result):
        """The result of a job of the executor manual, from every runner that waits for one; run then brings it to the chain."""
        self._so_far = None
        self.bench.ask("answer", job="0x" + id.hex(), result=to_hex(result, "a result"))

    def mock_runner(self, kind, answers, match="", runner=None):
        """The answers of runners for jobs of a kind (http, llm, mcp, ethsend, custom) whose text has match in it: bytes, text, a dict or
        list as JSON, or fails("why"). With a list each job in turn has the next answer, and the last is repeated. runner: only that one
        brings it."""
        turns = answers if isinstance(answers, list) else [answers]
        if not turns:
            raise ValueError("a mock has an answer at least")
        told = [{"error": a.why} if isinstance(a, mocks.fails) else {"result": to_hex(a, "an answer")} for a in turns]
        self._so_far = None
        self.bench.ask("mock", mock={"kind": kind, "match": match, "runner": runner or "", "answers": told})

    # How it is asked.

    def get(self, path, body=None):
        """A request that changes nothing."""
        return self.bench.request("GET" if body is None else "POST", path, body)[1]

    def post(self, path, body, wait=True):
        """A request that may change something."""
        self._so_far = None
        return self.bench.request("POST", path, body, wait)[1]

    def pages(self, path, query=None):
        """All entries of a list."""
        found = []
        while True:
            page = self.get(path + "?" + urlencode(dict(query or {}, offset=len(found), limit=PAGE)))
            found += page
            if len(page) < PAGE:
                return found

    def path(self, of):
        return "0x" + self.address(of).hex()

    def sender(self, of):
        """The account that signs, or the actor or address that is impersonated: the system key signs then, and pays the fee."""
        return self.path(of)

    def _call_body(self, to, handler, payload, sender, value, sponsor, cycles, cells):
        body = {"from": self.sender(sender), "to": self.path(to), "handler": handler, "payload": to_hex(payload),
                "value": wei_digits(value)}
        if sponsor:
            body["sponsor"] = wei_digits(sponsor)
        return _add_limits(body, cycles, cells)

    def _receive_receipt(self, what, form, actor=None):
        __tracebackhide__ = True
        receipt = Receipt(form.get("receipt", form))
        if receipt.ok and actor is not None and actor.address is None:
            actor.address, actor.deployed = receipt.to, receipt
            self.actors[actor.address] = actor
        self._count_costs()
        if not receipt.ok:
            error = receipt.error or Record("error", {"code": receipt.status, "message": ""})
            self.failed = receipt.hash
            raise Reverted(what, receipt.status, error.code, error.message, receipt, actor and actor.lines(), self, self._lines_by_name)
        return receipt

    def mark_expected_failure(self, hash):
        """A failure that the test expected does not explain another."""
        self.is_next_step.add(hash)
        if self.failed == hash:
            self.failed = None

    def _find_actor(self, of):
        return of if isinstance(of, Actor) else self.actors.get(self.address(of))

    def _lines_by_name(self, of):
        """The name and the lines of the file of an actor that a message names, or None."""
        return next((a.lines() for a in self.actors.values() if of in (a.name, "0x" + a.address.hex())), None)

    def _lines_of(self, of):
        actor = self._find_actor(of)
        return actor and actor.lines()

    def _count_costs(self):
        """Adds what was executed since the last count to the gas report."""
        if self.costs is None:
            return
        for receipt in self.receipts(self._told + 1):
            self.costs.add(self.actors.get(receipt.to), receipt)
        self._told = self.height


def _add_limits(body, cycles, cells):
    if cycles is not None:
        body["cycles_limit"] = cycles
    if cells is not None:
        body["cells_limit"] = cells
    return body


class Snapshot:
    """A network that revert can make again."""

    def __init__(self, chain, number, actors):
        self.chain, self.number, self.actors = chain, number, actors

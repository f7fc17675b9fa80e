"""`devnet console`: a Python prompt on a network, with the handles and the verbs of tests.

    devnet console                       on a running network
    devnet console --new                 on a simulated one of its own
    devnet console -c "club.balance"     one statement

    python3 -m cowboy_sdk.testing.console [--http HOST:PORT | --new OPTIONS] [-c CODE]
"""

import argparse
import builtins
import code
import json
import keyword
import os
import sys

from cowboy_sdk.client.handle import Dynamic
from cowboy_sdk.testing import CBY, Chain, DevnetError, DevnetGone, Reverted, conversation
from cowboy_sdk.testing.actors import Actor

HISTORY = "~/.devnet_history"
MAX_HISTORY = 1000  # lines
VERBS = ("advance automine balance blocks call chain_events delete_state deploy dry_run events job jobs mine read receipt receipts run "
         "send set_balance set_param set_state submit_job timers transfer").split()
HELP = """Names of accounts and actors are handles; Tab completes them.

    club.join(who=bob, amount=5)   a call, once it is final, from alice; sender=bob is from bob
    alice.call(club.join, …)       the same; sender=vault impersonates an actor
    club.add("5")                  a handler that takes bytes; club.call("add", "5") too
    club.handlers.balance()        a handler that has the name of an attribute
    club.attributes()  club.state()  club.balance  club.timers  club.logs
    deploy("club.py")  net.advance(to_next_timer=True)  mine(3)  automine(False)
    set_balance(bob, 5 * CBY)  club.set_state("price", "5")  timers()  accounts
    refresh()                      actors that were deployed elsewhere

help(net) lists all verbs; docs/ACTORS.md describes them. Ctrl-C ends a wait, Ctrl-D the console."""


class Account:
    """An account that the devnet signs for."""

    def __init__(self, chain, name):
        self.chain, self.name, self.address = chain, name, chain.accounts[name]

    def __repr__(self):
        return "<account %s>" % self.name

    @property
    def balance(self):
        """In wei."""
        return self.chain.balance(self.address)

    def call(self, to, *arguments, **more):
        """Call a handler: alice.call(club.join, who=bob, amount=5), or alice.call(club, "join", payload)."""
        if isinstance(to, Dynamic):
            return to.by(self.address)(*arguments, **more)
        return self.chain.call(to, *arguments, sender=self.address, **more)

    def send(self, to, *arguments, **more):
        """As call, without waiting: the transaction's hash."""
        if isinstance(to, Dynamic):
            return to.by(self.address).send(*arguments, **more)
        return self.chain.send(to, *arguments, sender=self.address, **more)

    def dry_run(self, to, *arguments, **more):
        """As call, and nothing changes."""
        if isinstance(to, Dynamic):
            return to.by(self.address, dry_run=True)(*arguments, **more)
        return self.chain.dry_run(to, *arguments, sender=self.address, **more)

    def transfer(self, to, amount):
        """Pay, in wei."""
        return self.chain.transfer(to, amount, sender=self.address)


class Network(Chain):
    """The network of the console: the chain of tests, which also finds actors that it did not deploy."""

    def refresh(self):
        """Find the actors that were deployed elsewhere."""
        for found in self.pages("/actors"):
            address = bytes.fromhex(found["address"][2:])
            if address not in self.actors:
                self.actors[address] = Actor(self, address, found["name"], "", None)
        return list(self.actors.values())

    def address(self, of):
        return of.address if isinstance(of, Account) else super().address(of)

    def deploy(self, source, name="", **more):
        """Deploy an actor from a file, the text of one, a module, a class or an instance."""
        made = super().deploy(source, name, **more)
        self.names.add_actor(made)
        return made

    def _free_name(self, name):
        """The name itself: the network refuses a taken name and says what to do."""
        return name


class Names(dict):
    """The names of the prompt. Schemas of actors deployed elsewhere are looked up at their first use."""

    def __init__(self, net):
        super().__init__()
        self.net = net
        self.update({verb: getattr(net, verb) for verb in VERBS})
        self.update({name: Account(net, name) for name in net.accounts})
        self.update(net=net, chain=net, CBY=CBY, accounts=[Account(net, name) for name in net.accounts], refresh=self.refresh,
                    __name__="__console__", __builtins__=dict(vars(builtins), help=self.help))
        net.names = self
        self.refresh()

    def refresh(self):
        """Make handles of the actors that were deployed elsewhere."""
        for actor in self.net.refresh():
            self.add_actor(actor)

    def add_actor(self, actor):
        """An actor's name leads to it, if it is a word of Python that is free."""
        free = isinstance(self.get(actor.name, actor), Actor)
        if free and actor.name.isidentifier() and not keyword.iskeyword(actor.name):
            self[actor.name] = actor

    def help(self, *of):
        """The names of the console; help(thing) as in Python."""
        if of:
            builtins.help(*of)
        else:
            print(HELP)

    def __missing__(self, name):
        if name not in vars(builtins) and not name.startswith("_"):
            self.refresh()
            if name in self:
                return self[name]
        raise KeyError(name)


class Prompt(code.InteractiveConsole):
    """Prints what the network refused without the lines of the SDK."""

    failed = False

    def showtraceback(self):
        error = sys.exc_info()[1]
        Prompt.failed = True
        if isinstance(error, (DevnetError, DevnetGone, Reverted)):
            self.write("%s: %s\n" % (type(error).__name__, error))
        elif isinstance(error, KeyboardInterrupt):
            self.write("interrupted; the network goes on\n")
        else:
            super().showtraceback()

    def showsyntaxerror(self, *arguments, **more):
        Prompt.failed = True
        super().showsyntaxerror(*arguments, **more)

    def run_statements(self, text, name):
        """Run statements, and print the value of an expression. Whether they ended well."""
        for mode in ("eval", "exec"):
            try:
                compiled = compile(text, name, mode)
                break
            except SyntaxError:
                if mode == "exec":
                    self.showsyntaxerror(name)
                    return False
        if mode == "eval":
            try:
                value = eval(compiled, self.locals)
                if value is not None:
                    print(repr(value))
            except SystemExit:
                raise
            except BaseException:
                self.showtraceback()
        else:
            self.runcode(compiled)
        return not self.failed


def set_up_history(names):
    """History and completion on a terminal, if this Python has readline."""
    try:
        import readline
        import rlcompleter
    except ImportError:
        return lambda: None
    readline.set_completer(rlcompleter.Completer(names).complete)
    readline.parse_and_bind("bind ^I rl_complete" if "libedit" in (readline.__doc__ or "") else "tab: complete")
    file = os.path.expanduser(HISTORY)
    try:
        readline.read_history_file(file)
    except OSError:
        pass
    readline.set_history_length(MAX_HISTORY)

    def write_history():
        try:
            os.close(os.open(file, os.O_CREAT | os.O_WRONLY, 0o600))
            readline.write_history_file(file)
        except OSError:
            pass
    return write_history


def open_network(told):
    if told.new:
        options = json.loads(told.new)
        conversation.own_group[0] = True  # Ctrl-C at this prompt is not for it
        return Network(**options)
    return Network(http=told.http)


def main():
    words = argparse.ArgumentParser(prog="devnet console")
    words.add_argument("--http")
    words.add_argument("--new")
    words.add_argument("-c", dest="code")
    told = words.parse_args()
    sys.path.append(os.getcwd())  # generated clients are imported from there, after Python's own modules
    try:
        net = open_network(told)
    except (DevnetError, DevnetGone) as error:
        sys.exit("devnet: %s" % error)
    with net:
        names = Names(net)
        prompt = Prompt(names)
        if told.code is not None:
            return 0 if prompt.run_statements(told.code, "<-c>") else 1
        if not sys.stdin.isatty():
            return 0 if prompt.run_statements(sys.stdin.read(), "<stdin>") else 1
        sys.ps1, sys.ps2 = ">>> ", "... "
        keep = set_up_history(names)
        try:
            where = "a simulated network" if told.new else "the network at " + told.http
            prompt.interact("%s, at height %d. help() lists what there is; Ctrl-D ends it." % (where, net.height), "")
        finally:
            keep()
    return 0


if __name__ == "__main__":
    sys.exit(main())

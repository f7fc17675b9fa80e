"""A failed test whose network is held: it stays where it failed, and is served over HTTP while a person looks at it."""

import sys
import threading

from cowboy_sdk.testing.conversation import Bench, DevnetError

USUAL = "127.0.0.1:4000"  # where devnet's commands look without --http


def serve_network(chain, address=USUAL):
    """Serve the network of a chain until its next request; returns the address. Where another program has it, any port is taken."""
    try:
        return chain.bench.ask("hold", address=address)["address"]
    except DevnetError as error:
        if error.code != "address_taken":
            raise
        return chain.bench.ask("hold", address=address.rpartition(":")[0] + ":0")["address"]


def introduction_lines(address):
    """The lines that say where the network is, and what to type."""
    flag = "" if address == USUAL else " --http " + address
    return [
        "The network of this test stands where it failed, at http://%s. In another terminal, for example:" % address,
        "  devnet status%s" % flag,
        "  devnet timer list%s" % flag,
        "  devnet block%s" % flag,
        "Enter goes on with the next test; Ctrl-C ends the run." if sys.stdin.isatty() else "Ctrl-C ends the run.",
    ]


def wait_for_enter():
    """Return when somebody presses Enter. Where nobody can, only a signal ends it."""
    if sys.stdin.isatty():
        sys.stdin.readline()
    else:
        threading.Event().wait()


def can_hold(chain):
    """Whether the network of a chain can be held: a live one is there for everybody already."""
    return isinstance(getattr(chain, "bench", None), Bench)

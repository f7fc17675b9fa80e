"""How a failure says with which seed it fails again, and a skipped test why."""

import os
import shlex


def replay_words(seed, test, unit=False):
    """Seed and command, for the end of a failure; for a live network, which has another past by then, only its address."""
    if os.environ.get("DEVNET_TEST_HTTP"):
        return "on the network at " + os.environ["DEVNET_TEST_HTTP"]
    tested = os.environ.get("DEVNET_TEST")  # the paths that `devnet test` was given
    if tested is not None and unit:
        command = "devnet test --unittest --seed %d -k %s %s" % (seed, shlex.quote(test), tested)
    elif tested is not None:
        command = "devnet test --seed %d %s" % (seed, shlex.quote(test))
    elif unit:
        command = "DEVNET_SEED=%d python3 -m unittest %s" % (seed, shlex.quote(test))
    else:
        command = "pytest --devnet-seed %d %s" % (seed, shlex.quote(test))
    return "seed %d; again: %s" % (seed, command)


def skip_reason(options, http):
    """Of a test on a live network."""
    wanted = ", ".join("%s=%r" % o for o in sorted(options.items()))
    return "the test needs a separate network (%s), and the tests run on the one at %s" % (wanted, http)

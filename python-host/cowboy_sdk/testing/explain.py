"""The explanation of a failed test, next to its failure: the trace of the last failed transaction, fire or message that no expect_revert
waited for."""

from cowboy_sdk.testing.conversation import DevnetError, DevnetGone

BLOCKS = 32  # that are looked at for fires and messages that failed


def trace_lines(chain):
    """None where nothing failed that the test did not expect."""
    try:
        failed = _last_failure(chain)
        if failed is None:
            return []
        return ["trace of the last failure:"] + chain.get("/transaction/0x%s/trace?text=true" % failed.hex())["text"]
    except (DevnetError, DevnetGone) as error:
        return ["the last failure has no trace: %s" % error]


def _last_failure(chain):
    """Its hash, or None."""
    since = max(chain.height + 1 - BLOCKS, 1)
    for receipt in reversed(chain.receipts(since)):
        if not receipt.ok and receipt.hash not in chain.is_next_step:
            return receipt.hash
    return chain.failed

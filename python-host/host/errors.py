"""Refusals of the chain, as an actor may catch them: pvm_host's errors."""

from host import actor_code, attribute_tables, representation


class HostError(Exception):
    """A refusal of the chain: code is its name, message says more."""

    def __init__(self, code, message=""):
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self):
        return "%s: %s" % (self.code, self.message)


class StateError(HostError):
    """get_state was refused."""


class TimerError(HostError):
    """A timer was not scheduled, extended or cancelled."""


class CallError(HostError):
    """The call of another actor failed; code comes from the callee."""


class SendError(HostError):
    """A message was not accepted."""


class TransferError(HostError):
    """Nothing was transferred."""


class JobError(HostError):
    """A job was not submitted or cancelled."""


class RunnerError(HostError):
    """A job failed; code is why: timeout, no_candidates, refused, disagreement, invalid_results or bad_result."""


class RunnerTimeout(RunnerError):
    """A continuation waited longer than its timeout_blocks; code is continuation_timeout."""


ERRORS = frozenset((HostError, StateError, TimerError, CallError, SendError, TransferError, JobError, RunnerError, RunnerTimeout))
for _error in ERRORS:
    _error.__module__ = "pvm_host"  # where authors have it from: the text of the class names it
actor_code.BASES.update(ERRORS)
attribute_tables.ERRORS[HostError] = ("code", "message")
representation.ERRORS[HostError] = lambda text, e: "%s: %s" % tuple(text.str(e.__dict__.get(n)) for n in ("code", "message"))


def code_of(error):
    """The code of an uncaught refusal; None of any other error."""
    code = error.__dict__.get("code") if type(error) in ERRORS else None
    return code if type(code) is str else None

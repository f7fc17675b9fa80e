"""Jobs for runners: their requests, submission and outcomes.

An outcome arrives as a call of the dispatcher, but anyone may submit a job whose callback is
any handler of any actor. So an outcome is read only if its job's id was given to this actor
when it submitted the job. The id is stored in the actor's state, under keys of the SDK.
"""

from host import cbor, chain, errors, exact, meter, representation, typed
from host.attribute_tables import show_attributes
from host.libraries_data import _loads as loads
from host.protocol import DISPATCHER
from host.sealed import Sealed

HANDLER = "on_runner_result"  # what the outcome of Task.submit is given to
MAX_SPEC = 1 << 20  # bytes; the chain's own bound is a parameter, and lower
MAX_CONTEXT = 1 << 16  # bytes that a job keeps for its outcome
MAX_TEXT = 1 << 20
CBY = 10**9  # wei
MODES = {
    "none": "None", "economic_bond": "EconomicBond", "majority_vote": "MajorityVote", "structured_match": "StructuredMatch",
    "deterministic": "Deterministic", "semantic_similarity": "SemanticSimilarity",
}
MODES.update({v: v for v in list(MODES.values())})
FORMATS = ("bytes", "text", "json")
TERMS = {  # fields of every job in addition to its kind's, with their defaults
    "runners": 1, "mode": None, "threshold": None, "field": None, "checks": None, "tee": False, "max_price": CBY, "tip": 0,
    "timeout_blocks": 30, "pool": None, "max_input_tokens": 4096, "max_output_tokens": 1024, "max_wall_time": 30,
    "max_memory_mb": 256, "max_retries": 3, "max_return_bytes": 65536, "expected_ms": 1000, "data_format": None,
}


def check_text(value, what):
    value = exact.require_text(value, what)
    meter.charge(10 + len(value) // 16)
    if len(value) > MAX_TEXT:
        raise ValueError("%s has more than %d characters" % (what, MAX_TEXT))
    return value


def check_optional(read, value, *more):
    return None if value is None else read(value, *more)


class Task(Sealed):
    """A job that is not submitted yet: await it in a continuation, or submit it."""

    __slots__ = ("_host_spec", "_host_format", "_host_life")

    def __init__(self, spec, data_format, life):
        object.__setattr__(self, "_host_spec", spec)  # without callback
        object.__setattr__(self, "_host_format", data_format)
        object.__setattr__(self, "_host_life", life)  # blocks after which it has ended, whatever happens

    def submit(self, context=b""):
        """Submit it; on_runner_result is given its outcome, with context. Returns the job's id."""
        context = chain.check_bytes(context, "the context")
        if len(context) > MAX_CONTEXT:
            raise ValueError("the context has more than %d bytes" % MAX_CONTEXT)
        return self._host_submit(HANDLER, context)

    def _host_submit(self, handler, context):
        job = submit_job(self, handler, b"")
        kept = [self._host_format, context] + [handler] * (handler != HANDLER)
        chain.keep_state(key_of(job), cbor.pack_value(kept, "the context", 2 * MAX_CONTEXT))
        return job

    def then(self, method, /, *args, **arguments):
        """Submit it; method of this actor is given its Result[T], with these arguments. Returns the job's id."""
        said = typed.handler_of(method)
        if said.result is None:
            raise TypeError("%s takes a Result first, as in def %s(self, result: Result[int])" % (said.name, said.name))
        context = typed.payload_of(said, args, arguments)
        if len(context) > MAX_CONTEXT:
            raise ValueError("the arguments have more than %d bytes" % MAX_CONTEXT)
        return self._host_submit(said.name, context)


show_attributes(Task, "submit then")
representation.RECORDS[Task] = lambda _text, task: "<a job of %s>" % next(iter(task._host_spec["job_type"]))


def key_of(job):
    return chain.RESERVED + b"job/" + job


def make_task(kind, asked, data_format, mode, given):
    """A Task of a kind that asks for this, with the terms that its author gave."""
    meter.charge(4 * len(TERMS))
    for name in given:
        if name not in TERMS:
            raise TypeError("a job takes no %s; besides the fields of its kind it takes %s" % (name, ", ".join(TERMS)))
    t = {**TERMS, "data_format": data_format, **given}

    def check_number(name, bits=64):
        return chain.check_number(t[name], bits, name)
    runners, timeout, retries = check_number("runners"), check_number("timeout_blocks"), check_number("max_retries")
    verification = {
        "mode": check_choice(t["mode"] if t["mode"] is not None else "None" if runners == 1 else mode, MODES, "the mode"),
        "runners": runners,
        "threshold": check_optional(chain.check_number, t["threshold"], 64, "threshold"),
        "field": check_optional(check_text, t["field"], "the field"),
        "checks": [] if t["checks"] is None else t["checks"], "tee_required": check_flag(t["tee"], "tee"),
    }
    form = check_choice(t["data_format"], {f: f for f in FORMATS}, "the data_format")
    spec = {
        "job_type": {kind: asked}, "verification": verification,
        "max_price": check_number("max_price", 256), "tip": check_number("tip", 256),
        "timeout_blocks": timeout, "required_runner_pool": check_optional(check_text, t["pool"], "the pool"),
        "bounds": {
            "max_input_tokens": check_number("max_input_tokens"), "max_output_tokens": check_number("max_output_tokens"),
            "max_wall_time_seconds": check_number("max_wall_time"), "max_memory_mb": check_number("max_memory_mb"), "max_retries": retries,
        },
        "result_schema": {
            "max_return_bytes": check_number("max_return_bytes"), "expected_execution_ms": check_number("expected_ms"), "data_format": form,
        },
    }
    return Task(spec, form, 2 * timeout * (1 + min(retries, 1 << 16)) + 2)


def check_choice(value, words, what):
    value = exact.require_text(value, what)
    if value not in words:
        raise ValueError("%s is one of %s" % (what, ", ".join(words)))
    return words[value]


def check_flag(value, what):
    if type(value) is not bool:
        raise TypeError("%s is True or False" % what)
    return value


def submit_job(job, handler, correlation):
    """The id of a job, which calls handler of this actor back."""
    callback = {"actor": chain.now.about.me, "handler": handler, "correlation_id": correlation, "context": b""}
    return chain.request_of(chain.SUBMIT, cbor.pack_value({**job._host_spec, "callback": callback}, "the job", MAX_SPEC))


def cancel_job(job):
    """End a job of this actor's at the dispatcher, which returns its escrow."""
    chain.ask_chain(chain.CANCEL_JOB, target=DISPATCHER, method=b"cancel", payload=job, cycles_limit=0)


class Outcome:
    """How a job ended: what the dispatcher tells (decision J19)."""

    __slots__ = ("job", "status", "result", "error", "correlation")

    def __init__(self, payload):
        told = cbor.unpack_value(payload)
        self.job, self.status, self.result, self.error = told["job_id"], told["status"], told["result"], told["error"]
        self.correlation = told["correlation_id"]

    def value(self, data_format):
        """The result as the job's author asked for it, or a RunnerError."""
        if self.status != "Completed":
            raise errors.RunnerError(self.error["code"], self.error["message"])
        try:
            if data_format == "json":
                return loads(self.result)
            if data_format == "text":
                meter.charge(len(self.result) // 16)
                return self.result.decode()
        except ValueError as e:
            raise errors.RunnerError("bad_result", "the result is no %s: %s" % (data_format, representation.explain_error(e))) from None
        return self.result


def read_outcome(payload):
    """The dispatcher's outcome; None for data that it did not write."""
    try:
        return Outcome(payload)
    except (cbor.Malformed, KeyError, TypeError):
        return None


class Result(Sealed):
    """The argument of on_runner_result: how a job ended."""

    __slots__ = tuple("job_id ok value code message context".split())

    def __init__(self, *values):
        for n, v in zip(self.__slots__, values):
            object.__setattr__(self, n, v)


show_attributes(Result, " ".join(Result.__slots__))
representation.RECORDS[Result] = lambda t, r: representation.show_fields("Result", [(n, t.repr(getattr(r, n))) for n in Result.__slots__])


def typed_value(t, told, data_format):
    """The result of a job as a T, or a RunnerError."""
    if data_format != "json":
        value = told.value(data_format)
        if type(value) is not {"str": str, "bytes": bytes}.get(t.form):
            raise errors.RunnerError("bad_result", "the result is %s, and no %s" % (data_format, t.words))
        return value
    if told.status != "Completed":
        raise errors.RunnerError(told.error["code"], told.error["message"])
    try:
        return t.build(t.read(typed.parse_json(told.result, typed.open_object)))
    except typed.Wrong as w:
        raise errors.RunnerError("bad_result", w.within_part("the result").words()) from None


def result_for(said, payload):
    """The Result and the other arguments of a method that then named; None of any job that is not its own."""
    told = read_outcome(payload)
    kept = None if told is None else chain.get_state(key_of(told.job))
    record = None if kept is None else cbor.unpack_value(kept)
    if record is None or record[2:] != [said.name]:
        return None
    chain.forget_state(key_of(told.job))
    arguments = said.build_arguments(said.read(record[1]))
    t, name = said.result
    try:
        found = Result(told.job, True, typed_value(t, told, record[0]), None, None, b"")
    except errors.RunnerError as e:
        found = Result(told.job, False, None, e.code, e.message, b"")
    return {name: found, **arguments}


def take_result(payload):
    """The Result of a job that this actor submitted, once; None of any other."""
    told = read_outcome(payload)
    kept = None if told is None else chain.get_state(key_of(told.job))
    if kept is None:
        return None
    data_format, context, *handler = cbor.unpack_value(kept)
    if handler:
        return None  # another handler waits for it
    chain.forget_state(key_of(told.job))
    try:
        return Result(told.job, True, told.value(data_format), None, None, context)
    except errors.RunnerError as e:
        return Result(told.job, False, None, e.code, e.message, context)

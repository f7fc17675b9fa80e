"""Continuations while they run: an async function that awaits runners' jobs.

awaits.py compiled it to a plain function that can begin after any of its awaits. At an await it
submits the job, sets a watchdog timer, stores the number of the await and its captured values,
and returns. The job's outcome or the watchdog, whichever is first, makes the host call it again
from there. The second of the two finds no continuation that waits for it.

Each actor has LIVE places for those that wait. A place is given back when its
continuation ends. Where the message of an outcome and that of the watchdog both
fail, the place is given to another once its watchdog is long past.
"""

from host import actor_code, cbor, chain, errors, exact, jobs, meter
from host.jobs import Task
from host.protocol import GRACE, WAITING, WAITS_AT

LIVE = 100  # continuations of one actor that wait (CIP-6)
MAX_AWAITS = 8  # of one continuation, from its beginning to its end (CIP-6)
MAX_CAPTURED = 64 << 10  # bytes of the values that one captures (CIP-6)
RESUME, TIMEOUT = "__resume", "__timeout"  # what the dispatcher and the watchdog call, after the function's name
PLACES = WAITING  # a bit for each place that is taken: an upgrade looks at them
PLACE = WAITS_AT


class Captured:
    """The values that outlive the awaits of a continuation: its attributes."""

    def __setattr__(self, name, value):
        meter.charge(5)
        if name.startswith("_"):
            raise AttributeError("attributes of capture() begin with a letter, not %s" % name)
        if type(value) not in cbor.KINDS:
            cbor.wrong_kind("what capture() keeps as " + name, value)
        object.__setattr__(self, name, value)


actor_code.OPEN[Captured] = True
actor_code.GIVING.add(Captured)


class Activation:
    """One run of a continuation: from its beginning, or from an await, to the next or to its end."""

    __slots__ = ("name", "at", "captured", "place", "awaits", "outcome", "waits", "error")

    def __init__(self, name, at=0, place=None, awaits=0, outcome=None):
        self.name, self.at, self.place, self.awaits, self.outcome = name, at, place, awaits, outcome
        self.captured = Captured()
        self.waits = False  # it has reached an await again
        self.error = None  # what its await raised, and how much the message had changed by then


def begin_run(name):
    """The run that begins: of the continuation that this message resumes, or a new one."""
    resumed = chain.now.resumed
    if resumed is None or resumed.name != name:
        return Activation(name)
    chain.now.resumed = None
    return resumed


def position_of(run):
    return run.at


def captured_of(run):
    return run.captured


def capture_values(run, names):
    """ctx = capture(name=value, …)"""
    for name, value in names.items():
        setattr(run.captured, name, value)
    return run.captured


def take_outcome(run):
    """The value of the await at which a continuation resumes, or its error."""
    try:
        return run.outcome()
    except errors.RunnerError as e:
        run.error = e, chain.now.changes
        raise


def is_untouched(run, error):
    """Whether an error is what the await raised, and its message did nothing since."""
    return run.error is not None and run.error[0] is error and run.error[1] == chain.now.changes


def end_failed(run, message, words):
    """The author let an await's error pass: that is the end of the continuation, and not of the
    message, whose undoing would have the watchdog raise another."""
    run.waits = False
    end_run(run)
    chain.log_line("%s failed: %s" % (run.name, message))  # for people, as the message of a receipt
    chain.tell_pair(chain.EMIT, b"continuation.failed", words.encode())


def mark_continuation(f, timeout):
    """@runner.continuation, for f."""
    if not actor_code.is_function(f):
        raise TypeError("@runner.continuation decorates only an async def")
    chain.now.continuations[f.__name__] = (f, timeout)
    return f


def suspend_run(run, at, task):
    """await task: submit it and wait. Returns the job's id, with which this run ends."""
    if run.name not in chain.now.continuations:
        raise RuntimeError("%s is not a continuation: decorate it with cowboy_sdk's runner.continuation" % run.name)
    if type(task) is not Task:
        raise TypeError("await takes a job of runner's, as in await runner.http(url), not %s" % type(task).__name__)
    if run.awaits == MAX_AWAITS:
        raise RuntimeError("more than %d awaits in one continuation: begin another" % MAX_AWAITS)
    timeout = chain.now.continuations[run.name][1]
    captured = cbor.pack_value(run.captured.__dict__, "what capture() keeps", MAX_CAPTURED)
    place, new = run.place, run.place is None
    if new:
        place = take_place()
    due = chain.now.about.height + (task._host_life if timeout is None else timeout)
    timer = chain.ask_chain(chain.SCHEDULE, height=chain.check_number(due, 64, "the height of the watchdog"),
                            handler=(run.name + TIMEOUT).encode(),
                            payload=place + due.to_bytes(8, "big"))
    try:
        job = jobs.submit_job(task, run.name + RESUME, place)
    except errors.HostError:
        chain.request_of(chain.CANCEL, timer)
        if new:
            give_place(place)
        raise
    state = [run.name, at, run.awaits + 1, job, timer, task._host_format]
    chain.keep_state(PLACE + place, due.to_bytes(8, "big") + cbor.pack_value(state, "the state", MAX_CAPTURED) + captured)
    run.place, run.waits = place, True
    return job


def read_places():
    raw = chain.get_state(PLACES)
    return 0 if raw is None else int.from_bytes(raw, "big")


def write_places(taken):
    chain.keep_state(PLACES, taken.to_bytes((LIVE + 7) // 8, "big"))


def take_place():
    """A free place."""
    taken = read_places()
    if taken == (1 << LIVE) - 1:
        taken = sweep_places(taken)
    free = (~taken & taken + 1).bit_length() - 1
    write_places(taken | 1 << free)
    return bytes((free,))


def sweep_places(taken):
    """taken without the places whose continuation nothing will wake any more."""
    meter.charge(10 * LIVE)
    height = chain.now.about.height
    for n in range(LIVE):
        place = PLACE + bytes((n,))
        if due_of(chain.get_state(place)) + GRACE < height:
            chain.forget_state(place)
            taken &= ~(1 << n)
    if taken == (1 << LIVE) - 1:
        raise errors.JobError("too_many_continuations", "%d continuations of this actor wait already" % LIVE)
    return taken


def due_of(record):
    return int.from_bytes(record[:8], "big")


def give_place(place):
    write_places(read_places() & ~(1 << place[0]))


def end_run(run):
    """A run returned. Unless it waits again its place is free."""
    if run.place is not None and not run.waits:
        chain.forget_state(PLACE + run.place)
        give_place(run.place)


def read_place(place):
    """The record of a place: its continuation, with the job that it waits for; None for a free place."""
    record = chain.get_state(PLACE + place) if len(place) == 1 else None
    if record is None:
        return None
    reader = cbor.Whole(record)
    reader.at = 8
    meter.charge(len(record))
    name, at, awaits, job, timer, data_format = reader.value()
    run = Activation(name, at, place, awaits)
    for k, v in reader.value().items():
        setattr(run.captured, k, v)
    return run, due_of(record), job, timer, data_format


def find_resumed(name, payload):
    """The run that an outcome of the dispatcher resumes; None if none waits for it."""
    outcome = jobs.read_outcome(payload)
    found = None if outcome is None else read_place(outcome.correlation)
    if found is None or found[0].name != name or found[2] != outcome.job:
        return refuse_late(name)
    run, _, _, timer, data_format = found
    stop_other(chain.CANCEL, timer)
    run.outcome = lambda: outcome.value(data_format)
    return run


def stop_other(cancel, id):
    """Whether a timer, or a job, had not ended before."""
    try:
        if cancel is chain.CANCEL:
            chain.request_of(cancel, id)
        else:
            jobs.cancel_job(id)
        return True
    except errors.HostError:
        return False


def timed_out(name, payload):
    """The same for the watchdog: the job is cancelled, and the await raises."""
    found = read_place(payload[:1])
    if found is None or found[0].name != name or found[1].to_bytes(8, "big") != payload[1:]:
        return refuse_late(name)
    run, due, job, _, _ = found
    stop_other(chain.CANCEL_JOB, job)

    def raise_timeout():
        raise errors.RunnerTimeout("continuation_timeout", "no outcome of job 0x%s by height %d" % (job.hex(), due))
    run.outcome = raise_timeout
    return run


def refuse_late(name):
    """Something came for which nothing waits: the other was first, or a stranger's job sent it."""
    chain.tell_pair(chain.EMIT, b"continuation.late", name.encode())


def check_timeout(blocks):
    """The timeout of @runner.continuation, None where it gives none."""
    if blocks is None:
        return None
    blocks = exact.require_integer(blocks, "timeout_blocks")
    if not 1 <= blocks < 1 << 32:
        raise ValueError("timeout_blocks of a continuation lies outside 1..2^32-1")
    return blocks


OPERATORS = {"$activation": begin_run, "$position": position_of, "$kept": captured_of, "$capture": capture_values,
             "$awaited": take_outcome, "$suspend": suspend_run}

"""The meter: what the running message may still spend, and how deep it is.

State is one list, because the rewritten code of actors touches it in line:
  meter[0]  cycles left of the slice; below zero stop gives the next slice, or ends the message
  meter[1]  depth of calls and of running generators
  meter[2]  the depth that is refused
All counts depend only on the program, never on the Python version or clock.

At each slice, and at each larger charge, a page shows the cycles so far. The chain
reads it while the message runs (decision C18).
"""

from time import process_time_ns as cpu  # of this process

SLICE = 2048  # cycles: at 15 times a plain loop's price still less than the chain's free allowance
USED, BASE, STATE, WATCHED, MEASURE = 0, 1, 2, 5, 6  # the words of the page
TOKEN, TOKEN_END = 24, 40  # the bytes of its token
IDLE, COUNTING, ENDED = 0, 1, 2  # its state; the chain writes ENDED
PAGE_BYTES = 4096
page = memoryview(bytearray(PAGE_BYTES))  # until main maps the one that is shared
words = page.cast("Q")

DEPTH_PER_CALL = 200  # frames of one message
DEPTH_IN_ALL = 1000  # frames of a message and all that it is called from
NESTING = 100  # containers within containers that anything deep may meet
INT_BITS = 1 << 16  # the largest integer
DEAD = -(1 << 62)
MAX_STEPS = 1 << 62  # that an operation reports

meter = [DEAD, 0, 0]


class Abort(BaseException):
    """The message is over and its code cannot catch that."""


class Crash(BaseException):
    """The host cannot continue: out of memory. An environment error."""


class Account:
    """One message's limits and reports, and the contents that make its comparisons dear. Python makes a
    Decimal of an integer that it compares with one, in time that grows with the square of its length."""

    __slots__ = ("told", "over", "spent", "rest", "zero", "decimals", "largest")

    def __init__(self, told, used):
        self.told = told  # cycles left at the last answer of the chain
        self.over = False
        self.spent = 0  # steps at the moment the meter ran out
        self.rest = 0  # cycles beyond the slice
        self.zero = used + told  # cycles of the outermost message once none are left of this one
        self.decimals = False  # it imported decimal
        self.largest = 0  # bits of the largest integer that was weighed


idle = account = Account(0, 0)


def share_page(mapped):
    """The page is mapped, which the chain reads."""
    global page, words
    page = memoryview(mapped)
    words = page.cast("Q")


def cycles_left():
    """Cycles that the message has left; below zero if it is over."""
    return meter[0] + account.rest


def grant_cycles(cycles):
    """Give the message these cycles, by slices, and show the cycles used."""
    meter[0] = part = cycles if cycles < SLICE else SLICE
    account.rest = cycles - part
    used = account.zero - cycles
    words[USED] = used if used > 0 else 0


def begin_message(cycles):
    """Start a message with cycles left; return what end needs to go back."""
    global account
    saved = (*meter, account)
    account = Account(cycles, 0 if account is idle else account.zero - cycles_left())
    grant_cycles(cycles)
    depth = meter[1] + DEPTH_PER_CALL
    meter[2] = depth if depth < DEPTH_IN_ALL else DEPTH_IN_ALL
    if saved[3] is idle and words[WATCHED]:
        start_clock()
    return saved


def start_clock():
    """The CPU time counts from now on. The clock is a call of the system, so only a message that is watched reads it."""
    words[BASE] = cpu()
    words[STATE] = COUNTING


def begin_inspection(cycles):
    """Start the inspection of a deploy, with the allowance of these cycles."""
    show_inspection(cycles)
    start_clock()


def show_used():
    """Show the cycles so far before the slice ends: what comes next may be dear, and what was is paid for."""
    used = account.zero - account.rest - meter[0]
    words[USED] = used if used > 0 else 0


def show_inspection(cycles):
    """Show how many cycles the inspection pays so far."""
    words[USED] = cycles


def end_inspection():
    """The inspection is over."""
    words[STATE] = IDLE


def end_message(saved):
    """Go back to the message that called this one."""
    global account
    meter[0], meter[1], meter[2], account = saved
    if account is idle:
        words[STATE] = IDLE


def call_uncounted(do, *args):
    """Call do, whose CPU time the chain does not count: its deploy paid for it."""
    state, began = words[STATE], cpu()
    words[STATE] = IDLE
    try:
        return do(*args)
    finally:
        words[BASE] += cpu() - began
        words[STATE] = state


def call_unpaid(do, *args):
    """Call do without a charge: the deploy paid for the objects made from the code, and a message finds
    them ready."""
    kept, meter[0] = meter[0], MAX_STEPS
    try:
        return do(*args)
    finally:
        meter[0] = kept


def report_steps():
    """Steps since the last report, as an operation can tell them."""
    a = account
    if a.over:
        steps, a.spent = a.spent, 0
    else:
        now = meter[0] + a.rest
        steps = a.told - now
        a.told = now
    return steps if 0 <= steps <= MAX_STEPS else max(0, min(steps, MAX_STEPS))


def refill_cycles(cycles):
    """The chain told what is left."""
    if not account.over:
        account.told = cycles
        grant_cycles(cycles)


def end_slice():
    """The slice is spent: continue with the next, or end the message."""
    if not account.over:
        cycles = cycles_left()
        if cycles >= 0:
            grant_cycles(cycles)
            return
    finish_message()


def finish_message():
    """End the message for good: every further step raises again."""
    a = account
    if not a.over:
        a.spent = a.told - cycles_left()
        a.over = True
    a.rest = 0
    meter[0] = DEAD
    raise Abort


def run_out():
    end_slice()


def tick(cost):
    """Charge in an expression; always true."""
    meter[0] -= cost
    if meter[0] < 0:
        end_slice()
    return True


def charge(cost):
    if cost < 0:
        raise ValueError("a charge below zero")
    meter[0] = rest = meter[0] - cost
    if rest < 0:
        end_slice()


def refuse_depth():
    """The function just entered is one too deep."""
    meter[1] -= 1
    raise RecursionError("calls nest deeper than %d" % DEPTH_PER_CALL)


def enter_level():
    meter[1] += 1
    if meter[1] > meter[2]:
        refuse_depth()


def leave_level():
    meter[1] -= 1


def enter_lambda(cost):
    """Charge and count one level for a lambda; leave undoes the level."""
    meter[0] -= cost
    if meter[0] < 0:
        end_slice()
    enter_level()


ELEMENT = 4  # cycles of one step of an iterator: our own, the table has none
KEPT = 4  # cycles of the memory of an iterator of ours, some 250 bytes


class iterator:
    """An iterator that charges and counts a level for each element, and goes on after an error as the one within does.

    Every iterator an actor can hold is one of these, a generator expression or the actor's own code,
    so that whatever consumes it, in C or not, ends with the cycles.
    """

    __slots__ = ("_host_advance", "_host_cost")

    def __init__(self, within, cost):
        self._host_advance, self._host_cost = within.__next__, cost

    def __iter__(self):
        return self

    def __next__(self):
        meter[0] -= self._host_cost
        if meter[0] < 0:
            end_slice()
        meter[1] += 1
        if meter[1] > meter[2]:
            refuse_depth()
        try:
            return self._host_advance()
        finally:
            meter[1] -= 1


def lazy_iterator(within, cost=ELEMENT):
    """within, each of whose elements is charged, and the iterator itself."""
    charge(KEPT)
    return iterator(within, cost)


def charged_generator(iterator, cost=ELEMENT):
    """A generator expression, each of whose elements is charged."""
    advance = iterator.__next__
    while True:
        meter[0] -= cost
        if meter[0] < 0:
            end_slice()
        enter_level()
        try:
            value = advance()
        except StopIteration:
            return
        finally:
            meter[1] -= 1
        yield value

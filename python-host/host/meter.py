"""The meter: what the running message may still spend, and how deep it is.

State is one list, because the rewritten code of actors touches it in line:
  meter[0]  cycles left; below zero the message is over
  meter[1]  depth of calls and of running generators
  meter[2]  the depth that is refused
All counts depend on the program alone, never on the Python version or clock.
"""

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
    """The host cannot go on: out of memory. An environment error."""


class Account:
    """What one message was told it has, and what it reported."""

    __slots__ = ("told", "over", "spent")

    def __init__(self, told):
        self.told = told  # cycles left at the last answer of the chain
        self.over = False
        self.spent = 0  # steps at the moment the meter ran out


account = Account(0)


def begin(cycles):
    """Start a message with cycles left; return what end needs to go back."""
    global account
    saved = (meter[:], account)
    account = Account(cycles)
    meter[0] = cycles
    meter[2] = min(meter[1] + DEPTH_PER_CALL, DEPTH_IN_ALL)
    return saved


def end(saved):
    """Go back to the message that called this one."""
    global account
    meter[:], account = saved


def report():
    """Steps since the last report, as an operation can tell them."""
    a = account
    if a.over:
        steps, a.spent = a.spent, 0
    else:
        left = meter[0]
        steps, a.told = a.told - left, left
    return steps if 0 <= steps <= MAX_STEPS else max(0, min(steps, MAX_STEPS))


def refill(cycles):
    """The chain told what is left."""
    if not account.over:
        account.told = meter[0] = cycles


def stop():
    """End the message for good: every further step raises again."""
    if not account.over:
        account.spent = account.told - meter[0]
        account.over = True
    meter[0] = DEAD
    raise Abort


def out():
    stop()


def tick(cost):
    """Charge in an expression; always true."""
    meter[0] -= cost
    if meter[0] < 0:
        stop()
    return True


def charge(cost):
    if cost < 0:
        raise ValueError("a charge below zero")
    meter[0] -= cost
    if meter[0] < 0:
        stop()


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


def enter(cost):
    """Charge and count one level for a lambda; leave undoes the level."""
    meter[0] -= cost
    if meter[0] < 0:
        stop()
    enter_level()


ELEMENT = 4  # cycles of one step of an iterator: our own, the table has none


def lazy(iterator, cost=ELEMENT):
    """An iterator that charges and counts a level for each element.

    Every iterator an actor can hold is one of these or the actor's own code,
    so that whatever consumes it, in C or not, ends with the cycles.
    """
    advance = iterator.__next__
    while True:
        meter[0] -= cost
        if meter[0] < 0:
            stop()
        enter_level()
        try:
            value = advance()
        except StopIteration:
            return
        finally:
            meter[1] -= 1
        yield value

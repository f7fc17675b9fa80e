"""`devnet debug`: a final execution again, under pdb on its author's own terminal, or under an editor by debugpy.

Actors' code runs as on the chain, but unmetered. A trace of the execution (GET /transaction/{hash}/trace) answers its requests to the
chain, in their former order. If the user makes it go another way, state is kept here and every other request is refused.

    python3 -m cowboy_sdk.testing.debugger TRACE.json FOLDER [HOST:PORT]

At HOST:PORT, which has to be of this machine, an editor attaches by the Debug Adapter Protocol.
"""

import ast
import glob
import inspect
import json
import linecache
import os
import pdb
import sys
import sysconfig
import types

from host import meter


class Cells(list):
    __hash__ = object.__hash__


class Table(dict):
    __hash__ = object.__hash__


def replace_in_host(old, new):
    """Put something in another's place, in every module of the host that holds it already."""
    for name, module in list(sys.modules.items()):
        if name == "host" or name.startswith("host."):
            for key, value in list(vars(module).items()):
                if value is old:
                    setattr(module, key, new)


# debugpy has tables by code, whose hash is made of its constants: so the host's own (host.constants) need one.
replace_in_host(meter.meter, Cells(meter.meter))
UNMETERED = 1 << 60
meter.begin_message(UNMETERED)  # the libraries below charge from now on, also for what they do here

from host import actor_code, awaits, chain, check, constants, errors, imports, program, schema, weights  # noqa: E402
from host.rewrite import Rewriter  # noqa: E402

replace_in_host(actor_code.OPEN, Table(actor_code.OPEN))
replace_in_host(weights.PLAIN, Table(weights.PLAIN))

OWN = ["host", "host.*", "pvm_host", "cowboy_sdk", "cowboy_sdk.*", "importlib.*", "types"]
NAMES = {chain.GET: "get_state", chain.READ: "get_state", chain.BALANCE: "get_balance", chain.CALL: "call_actor",
         chain.CANCEL_JOB: "call_actor", chain.KECCAK: "keccak256", chain.RANDOMNESS: "randomness", chain.SCHEDULE: "schedule_timer",
         chain.CANCEL: "cancel_timer", chain.EXTEND: "extend_timer", chain.BIDDER: "set_gas_bidder", chain.TRANSFER: "transfer",
         chain.SUBMIT: "submit_job", chain.SEND: "send_message", chain.SET: "set_state", chain.DELETE: "delete_state",
         chain.EMIT: "emit_event", chain.LOG: "print"}
OVER = ("out_of_cycles", "out_of_cells")


def decode_hex(text):
    return None if text is None else bytes.fromhex(text[2:])


class Debugger(pdb.Pdb):
    """Stops only in functions of actors: `break` shows the loading of a file."""

    def __init__(self):
        super().__init__(skip=OWN, nosigint=True)
        self.prompt = "(debug) "

    def stop_at(self, place):
        """At the line of an actor that failed."""
        print_line("It stops at the line that failed; q ends it.")
        self.reset()
        self.interaction(None, types.TracebackType(None, place.tb_frame, place.tb_lasti, place.tb_lineno))

    def lookupmodule(self, filename):
        """For `break FILE:LINE`: of files those of actors, which no path of Python's leads to."""
        return next((path for path in FILES if filename in (path, os.path.basename(path), os.path.basename(path)[:-3])), None)

    def user_call(self, frame, arguments):
        """A function is stopped in at its first line."""

    def get_stack(self, frame, traceback):
        """The actors' frames among the frames."""
        stack, at = super().get_stack(frame, traceback)
        theirs = [place for place in stack if place[0].f_code.co_filename in FILES]
        return (theirs, len(theirs) - 1) if theirs else (stack, at)

    def user_line(self, frame):
        if is_in_actor(frame) or self.break_here(frame):
            super().user_line(frame)

    def user_return(self, frame, value):
        if is_in_actor(frame):
            super().user_return(frame, value)

    def user_exception(self, frame, error):
        if is_in_actor(frame):
            super().user_exception(frame, error)


class Editor:
    """An editor that attaches to debugpy. It stops at the first line, as pdb does, and at its user's breakpoints."""

    def __init__(self, address):
        os.environ["LIBRARY_ROOTS"] = os.pathsep.join([FOLDER_OF_SDK, *sysconfig.get_paths().values()])  # what is stepped over
        import debugpy
        host, port = address.rsplit(":", 1)
        try:
            address = debugpy.listen((host.strip("[]"), int(port)))
        except RuntimeError as error:
            sys.exit("devnet: nothing can listen at %s: %s\n  Name a free port: --dap %s:0 takes any." % (address, error, host))
        print_line("An editor may attach at %s:%d. Ctrl-C ends the wait." % address)
        try:
            debugpy.wait_for_client()
        except KeyboardInterrupt:
            sys.exit(1)

    def runcall(self, function, *arguments):
        sys.setprofile(self.suspend_at_entry)
        return function(*arguments)

    @staticmethod
    def suspend_at_entry(frame, event, argument):
        if event == "call" and is_in_actor(frame):
            sys.setprofile(None)
            import pydevd
            pydevd.settrace(suspend=True, trace_only_current_thread=True, patch_multiprocessing=False, stop_at_frame=frame)

    def stop_at(self, place):
        """It has stopped there already, if its user wants it to stop at exceptions."""


FILES = {}  # file of an actor's code → what it was compiled to, None before
FOLDER_OF_SDK = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def is_in_actor(frame):
    """Whether a frame is of a function of an actor: a file is loaded without a stop."""
    return frame.f_code.co_flags & inspect.CO_OPTIMIZED and frame.f_code.co_filename in FILES


def find_local_file(text):
    """The file of this folder, or of one in it, that has a text: an editor's breakpoints are there. None if there is none."""
    data = text.encode("utf-8", "surrogatepass")
    for path in sorted(glob.glob("*.py")) + sorted(glob.glob("*/*.py")):
        if os.path.isfile(path) and os.path.getsize(path) == len(data):
            with open(path, "rb") as file:
                if file.read() == data:
                    return os.path.abspath(path)
    return None


class Diverged(errors.HostError):
    """The code makes a request that the execution did not make."""


def has_code(call):
    """Whether an actor's code ran: that of a contract is the chain's own, and is not in a trace."""
    return int(call["code_hash"], 16) != 0


def is_debugger_asking():
    """Whether who debugs asks, and not the code that runs: a debugger stands between."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code is not Player.run_call.__code__:
        file = frame.f_code.co_filename
        if os.path.basename(file) in ("pdb.py", "bdb.py") or "pydevd" in file or "debugpy" in file:
            return True
        frame = frame.f_back
    return False


def print_looks(print_lines):
    """print that keeps what who debugs prints apart from the lines of the code that runs."""
    def print_apart(*values, sep=" ", end="\n"):
        if not is_debugger_asking():
            return print_lines(*values, sep=sep, end=end)
        theirs, chain.now.lines = chain.now.lines, ""
        try:
            print_lines(*values, sep=sep, end=end)
        finally:
            rest, chain.now.lines = chain.now.lines, theirs
        if rest:
            print_line(rest)
        return None
    return print_apart


class Chain:
    """The chain as one handler saw it: what it asked, in order, with the answers."""

    def __init__(self, player, call):
        self.player, self.call = player, call
        self.steps, self.at = call["steps"], 0
        self.state = {}  # what is known of it by now
        self.other = False  # it goes another way than then
        self.looked = set()  # keys that were looked at: the code may know their values without asking
        for step in self.steps:
            key = decode_hex(step.get("key"))
            if key is not None and key not in self.state:
                self.state[key] = decode_hex(step.get("old" if step["what"] != "get_state" else "value"))

    def take_step(self, name, key):
        """The requested step, or None if the execution did not have it."""
        if self.other:
            return None
        while self.at < len(self.steps) and self.is_needless_read(self.steps[self.at], name, key):
            self.at += 1
        step = self.steps[self.at] if self.at < len(self.steps) else None
        if step is not None and step["what"] == name and (key is None or decode_hex(step.get("key")) == key):
            self.at += 1
            return step
        self.other = True
        if step is None and self.call["status"] in OVER:
            print_line("Here the execution had used up its limit. It goes on unmetered, and nothing more of the chain is known.")
        else:
            print_line("The execution asked here for %s, and now %s is asked for: from here on it is another. It runs on Python %d.%d here."
                       % (describe_step(step) if step else "nothing more", name + show_key(key), *sys.version_info[:2]))
        return None

    def is_needless_read(self, step, name, key):
        """Whether a step is a read that the code need not make, since its value was looked at."""
        read = decode_hex(step.get("key"))
        return step["what"] == "get_state" and read in self.looked and (name != "get_state" or key != read)

    def answer_look(self, name, key, value):
        """A request of who debugs: it moves the execution on by nothing."""
        if name in ("set_state", "delete_state"):
            self.state[key] = value if name == "set_state" else None
        elif name == "get_state":
            if key not in self.state:
                raise Diverged("not_recorded", "the execution did not read%s: its value is not known here" % show_key(key))
            self.looked.add(key)
            return self.state[key]
        elif name == "print":
            print_line(value.decode("utf-8", "replace"))
        elif name != "emit_event":
            raise Diverged("not_recorded", "a look cannot ask for %s: there is no answer to it" % name)
        return None

    def answer_request(self, op, key=None, value=None):
        name = NAMES[op]
        if is_debugger_asking():
            return self.answer_look(name, key, value)
        if name == "get_state" and key in self.looked and self.steps[self.at:self.at + 1] and not self.is_next_step(name, key):
            return self.state[key]
        if name == "print":
            print_line("print: " + value.decode("utf-8", "replace"))
        step = self.take_step(name, key)
        error = step and step.get("error")
        if name == "set_state" and not error:
            self.state[key] = value
        elif name == "delete_state" and not error:
            self.state[key] = None
        if step is None:
            return self.answer_unknown(name, key, op)
        if name == "call_actor":
            return self.replay_call(step, op)
        if error:
            raise op.raised(error["code"], error["message"])
        return step_answer(name, step)

    def is_next_step(self, name, key):
        step = self.steps[self.at]
        return step["what"] == name and decode_hex(step.get("key")) == key

    def replay_call(self, step, op):
        """A call of another actor: it runs as well, and answers as before."""
        well = self.player.run_call(step["call"]) if step.get("call") and has_code(step["call"]) else True
        error = step.get("error")
        if error:
            raise op.raised(error["code"], error["message"])
        if not well:
            self.other = True
            raise op.raised("not_recorded", "the call fails here, and did not then")
        return decode_hex(step.get("value")) or b""

    def answer_unknown(self, name, key, op):
        """State as this run left it, nothing for a write; Diverged for what only the execution could know."""
        if name == "get_state":
            return self.state.get(key)
        if name in ("set_state", "delete_state", "emit_event", "print"):
            return None
        raise Diverged("not_recorded", "the execution did not ask for %s here: there is no answer to it" % name)


def show_key(key):
    """The key of a request, for people."""
    return "" if key is None else " of %r" % bytes(key)


def describe_step(step):
    return step["what"] + show_key(decode_hex(step.get("key")))


def step_answer(name, step):
    if name == "get_state":
        return decode_hex(step.get("value"))
    if name == "get_balance":
        return int(step["amount"]).to_bytes(32, "big")
    return decode_hex(step.get("id"))


class Player:
    """Runs the calls of a trace, each with its chain."""

    def __init__(self, trace, folder, local=False):
        self.trace, self.calls = trace, []
        self.files = {}  # hash of a code → its file
        taken = set()
        for i, source in enumerate(trace["sources"]):
            name = "".join(c for c in source["name"] if c.isalnum() or c in "-_") or "actor"
            while name in taken:
                name += "-%d" % i
            taken.add(name)
            path = find_local_file(source["text"]) if local else None
            if path is None:
                path = os.path.join(folder, name + ".py")
                with open(path, "w", encoding="utf-8", newline="") as file:
                    file.write(source["text"])
            self.files[source["code_hash"]] = path, source["text"]
            FILES[path] = None
            linecache.checkcache(path)

    def run_call(self, call):
        """One handler: True where it ended well."""
        self.calls.append(Chain(self, call))
        outer, chain.now = chain.now, chain.Message(self.message_context(call), call["kind"])
        saved, mark = meter.begin_message(UNMETERED), len(actor_code.MADE)
        try:
            output = program.run_code(self.load_code(call), call["kind"], call["handler"], decode_hex(call["payload"]))
            if chain.now.lines:
                print_line("print: " + chain.now.lines)
            print_line("%s returned %r" % (call_title(call), output))
            return True
        except program.Fault as fault:
            print_line("%s ended with %s: %s" % (call_title(call), fault.code, fault.message))
        except pdb.bdb.BdbQuit:
            raise
        except Exception as error:
            self.stop_at_error(call, error)
        finally:
            actor_code.forget_classes(mark)
            meter.end_message(saved)
            chain.now = outer
            self.calls.pop()
        return False

    @staticmethod
    def stop_at_error(call, error):
        found, at = None, error.__traceback__
        while at is not None:
            if at.tb_frame.f_code.co_filename in FILES:
                found = at
            at = at.tb_next
        print_line("%s raised %s: %s" % (call_title(call), type(error).__name__, error))
        if found is not None:
            debugger.stop_at(found)

    def message_context(self, call):
        block = self.trace["block"]
        return types.SimpleNamespace(
            kind=call["kind"], code=decode_hex(call["code_hash"]), cycles=UNMETERED, sender=decode_hex(call["sender"]),
            me=decode_hex(call["actor"]), owner=decode_hex(call["owner"]), tx_hash=decode_hex(block["tx_hash"]),
            height=block["height"], timestamp=block["timestamp_ms"], chain_id=block["chain_id"],
            value=int(call["value"]).to_bytes(32, "big"))

    def load_code(self, call):
        path, text = self.files[call["code_hash"]]
        if FILES[path] is None:
            FILES[path] = load_without_meter(path, text)
        return FILES[path]


def call_title(call):
    return "%s.%s" % (call["name"] or call["actor"], call["handler"])


def load_without_meter(path, text):
    """Code that is not metered, in the author's own lines."""
    tree = ast.parse(text, path)
    waiting = awaits.lower_continuations(tree)
    actor, handlers, sdk, functions = program.describe_module(tree)
    said = schema.make_schema(tree, actor, functions, handlers, sdk, {name for name, _ in waiting})
    resumes = program.resumed_by(tree, actor, waiting)
    rewriter = Rewriter(check.bound_names(tree))
    rewriter.exported, rewriter.metered = imports.is_exported, False
    tree = rewriter.rewrite_module(tree)
    code = constants.bind_constants(compile(tree, path, "exec", dont_inherit=True, optimize=0), program.NAMES)
    return program.Code(code, actor, handlers, sdk, 0, resumes, said)


def print_line(line):
    print(line, flush=True)


def answer_by_player(player):
    def current_chain():
        return player.calls[-1]

    def ask_chain(op, calls=1, **fields):
        return current_chain().answer_request(op)

    def request_of(op, value, calls=1):
        return current_chain().answer_request(op, value if op is chain.GET else None)

    def send_bytes(op, value):
        current_chain().answer_request(op, value if op is not chain.LOG else None, value)

    def tell_pair(op, first, second):
        current_chain().answer_request(op, first if op is chain.SET else None, second)

    for function in (ask_chain, request_of, send_bytes, tell_pair):
        getattr(chain, function.__name__)  # what is not there is not replaced
        setattr(chain, function.__name__, function)


debugger = None


def main(trace_file, folder, address=None):
    global debugger
    with open(trace_file, encoding="utf-8") as file:
        trace = json.load(file)
    call = trace["call"]
    about = "%s in block %d ended with %s. It begins at its first line" % (call_title(call), trace["block"]["height"], call["status"])
    print_line(about + ("." if address else "; n goes on by a line, s into functions, h helps."))
    sys.setrecursionlimit(50_000)
    debugger = Editor(address) if address else Debugger()
    chain.print_lines = print_looks(chain.print_lines)
    imports.install_imports()
    player = Player(trace, folder, local=address is not None)
    answer_by_player(player)
    try:
        debugger.runcall(player.run_call, call)
    except pdb.bdb.BdbQuit:
        pass


if __name__ == "__main__":
    main(*sys.argv[1:])

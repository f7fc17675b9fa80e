"""The conversation with a devnet: a separate `devnet bench`, in frames of JSON, one per line.

Its other end is internal/faces/bench, whose package comment has the frames. A
request is one of the HTTP API (docs: GET /openapi.json of a devnet).
"""

import json
import os
import select
import shutil
import subprocess
import threading
import time

VERSION = 1  # of the frames
PATIENCE = 300  # seconds that a live network may take over a request: an advance takes minutes
MAX_ANSWER = 256 << 20  # bytes
MAX_READ_REPEATS = 5  # how often a read is asked again
REPEATABLE = {(429, "too_many_reads"), (503, "host_failed")}  # it did nothing, and may do better later
__unittest = True  # unittest leaves the lines of this file out of tracebacks


class DevnetError(Exception):
    """The devnet refused what the test asked for; code is for programs."""

    def __init__(self, status, code, message, hint="", field=""):
        super().__init__("%s: %s%s" % (code, message, "\n  " + hint if hint else ""))
        self.status, self.code, self.message, self.hint, self.field = status, code, message, hint, field
        self.retry_after = 0  # seconds; 0 if the answer does not say


class DevnetGone(Exception):
    """There is no devnet to speak to, or it ended."""


def find_program():
    """$DEVNET, which `devnet test` sets, or the one on PATH."""
    named = os.environ.get("DEVNET")
    found = shutil.which(named or "devnet")
    if found is None:
        raise DevnetGone("there is no %s: run the tests with `devnet test`, put devnet on PATH, or name it by the variable DEVNET"
                         % (named or "devnet on PATH"))
    return found


class Given:
    """A bench that `devnet test` began before Python started, with the verbs of subprocess.Popen that Bench uses. Its end is
    seen by its output's, and `devnet test` ends it at the latest when the tests are over."""

    def __init__(self, told):
        parent, read, write = map(int, told.split(":"))
        if parent != os.getppid():
            raise ValueError("the chain belongs to another process")
        for pipe in (read, write):
            os.set_inheritable(pipe, False)  # else it would not end before all that a test starts
        self.stdout, self.stdin = open(read, "rb"), open(write, "wb")

    def poll(self):
        """None while it runs. Nothing is asked just now, so that an output which can be read is at its end."""
        return 0 if self.stdout.closed or select.select([self.stdout], [], [], 0)[0] else None

    def wait(self, timeout=None):
        if not select.select([self.stdout], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired("devnet bench", timeout)

    def kill(self):
        """`devnet test` does."""


def _inherit_bench():
    """The bench of $DEVNET_BENCH, or None. Processes that a test starts are not to take it for theirs."""
    told = os.environ.pop("DEVNET_BENCH", None)
    try:
        return told and Given(told)
    except (OSError, ValueError):
        return None


begun = [_inherit_bench()]  # is the first network's
own_group = [False]  # whether a bench is out of reach of the terminal's Ctrl-C


def begin_bench():
    """The process of a bench: the one that was begun already, once, or a new one."""
    given, begun[0] = begun[0], None
    return given or subprocess.Popen([find_program(), "bench"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     start_new_session=own_group[0])


class Bench:
    """One network in virtual time, in a separate process. Threads may share it."""

    def __init__(self, **config):
        self.lock, self.asked = threading.Lock(), 0
        self.going_back = None  # the snapshot that comes before what is asked next
        self.process = begin_bench()
        try:
            self.opened = self.ask("open", open=dict(config, version=VERSION))
        except BaseException:
            self.close()
            raise

    def revert(self, number):
        """Go back to a snapshot. It is done before the next request, if that is no other snapshot: a test's deploys are in one."""
        with self.lock:
            if self.process.poll() is not None:
                raise DevnetGone("the devnet of this chain has ended")
            self.going_back = number

    def ask(self, do, **fields):
        """The body of the answer to a frame, or a DevnetError."""
        return self.exchange_frames(do, fields)[1]

    def request(self, method, path, body=None, wait=True):
        """Status and body of a request of the HTTP API. Without wait a transaction is handed in, and its end not waited for."""
        fields = {"method": method, "path": path}
        if body is not None:
            fields["body"] = body
        if not wait:
            fields["wait"] = False
        return self.exchange_frames("request", fields)

    def exchange_frames(self, do, fields):
        with self.lock:
            back = [] if self.going_back is None else [self.encode_frame("revert", {"snapshot": self.going_back})]
            frames = back + [self.encode_frame(do, fields)]
            self.going_back = None
            try:
                self.process.stdin.write(b"".join(frames))
                self.process.stdin.flush()
                answers = [self.read_answer(self.asked - left) for left in reversed(range(len(frames)))]
            except (OSError, ValueError) as error:
                raise DevnetGone("the devnet of this chain has ended: %s" % error) from None
        for answer in answers:
            body = answer["body"]
            if answer["status"] >= 400:
                raise DevnetError(answer["status"], **body["error"])
        return answer["status"], body

    def encode_frame(self, do, fields):
        self.asked += 1
        return json.dumps(dict(fields, id=self.asked, do=do)).encode() + b"\n"

    def read_answer(self, number):
        """The answer to a frame. Answers to earlier messages, whose wait was interrupted, are skipped."""
        while True:
            line = self.process.stdout.readline(MAX_ANSWER)
            if not line.endswith(b"\n"):
                raise DevnetGone("the devnet of this chain ended in the middle of a conversation; its output is above")
            answer = json.loads(line)
            if answer["id"] in (0, number):
                return answer

    def close(self):
        """End the network. It may be called again."""
        with self.lock:
            if self.process.poll() is None:
                self.process.stdin.close()
                try:
                    self.process.wait(10)
                except subprocess.TimeoutExpired:
                    self.process.kill()
                    self.process.wait()
            self.process.stdout.close()


class Live:
    """A network that runs: the same requests over HTTP. It cannot go back, and each sender waits."""

    def __init__(self, address):
        import http.client  # with all that TLS and mail need: longer than a test takes
        self.errors = (OSError, http.client.HTTPException)
        self.connection = http.client.HTTPConnection(address.removeprefix("http://").rstrip("/"), timeout=PATIENCE)
        self.lock = threading.Lock()
        found = self.request("GET", "/devnet/accounts")[1]
        self.opened = {"accounts": {a["name"]: a["address"] for a in found}}

    def revert(self, number):
        self.ask("revert")

    def ask(self, do, **_):
        raise DevnetError(409, "live", "a live network has no %s" % do, "Run this test on simulated ones: without --http.", "do")

    def request(self, method, path, body=None, wait=True):
        """As Bench.request; wait is not looked at. A read that was refused for its time is asked again."""
        for _ in range(MAX_READ_REPEATS):
            try:
                return self.exchange_http(method, path, body)
            except DevnetError as error:
                if (error.status, error.code) not in REPEATABLE:
                    raise
                time.sleep(max(error.retry_after, 1))
        return self.exchange_http(method, path, body)

    def exchange_http(self, method, path, body):
        with self.lock:
            try:
                self.close_ended_connection()
                self.connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
                answer = self.connection.getresponse()
                status, text, after = answer.status, answer.read(MAX_ANSWER), answer.getheader("Retry-After", "")
            except KeyboardInterrupt:
                self.connection.close()  # the answer that is on its way is nobody's
                raise
            except self.errors as error:
                self.connection.close()
                raise DevnetGone("no network answers at %s:%d: %s" % (self.connection.host, self.connection.port, error)) from None
        body = json.loads(text)
        if status >= 400:
            error = DevnetError(status, **body["error"])
            error.retry_after = int(after) if after.isdigit() else 0
            raise error
        return status, body

    def close_ended_connection(self):
        """Closes a connection that the network closed since its last answer, as one does that was started again."""
        kept = self.connection.sock
        if kept is not None and select.select([kept], [], [], 0)[0]:
            self.connection.close()

    def close(self):
        self.connection.close()


class Up(Live):
    """A live network of this chain's own: `devnet up` in a process, without files, which ends with the chain."""

    def __init__(self, seed, validators, block_time, params, apart, runners):
        if apart:
            raise TypeError("on a live network validators share what they execute: apart is for simulated ones")
        import tempfile
        words = [find_program(), "up", "--ephemeral", "--json", "--http", "127.0.0.1:0", "--seed", str(seed),
                 "--validators", str(validators), "--runners", str(runners), "--block-time", block_time]
        with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as settings:
            settings.write("[params]\n" + "".join("%s = %s\n" % (json.dumps(k), json.dumps(v)) for k, v in sorted(params.items())))
            settings.flush()
            self.process = subprocess.Popen(words + ["--config", settings.name], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
            line = self.process.stdout.readline(MAX_ANSWER)
        try:
            if not line:
                raise DevnetGone("devnet up did not start; its output is above")
            threading.Thread(target=self.process.stdout.read, daemon=True).start()  # so that it never waits for a reader
            super().__init__(json.loads(line)["http"])
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise

    def close(self):
        super().close()
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

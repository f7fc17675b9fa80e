"""The second wall: what the operating system refuses to this process.

The first wall is the interpreter's inside (check.py, sealed.py). An attacker that gets through
it finds a process that can compute, read the chain's frames, answer, and end; nothing else. No
root is needed for any of it.

  limits     no descriptor can be opened, no file grow, no core be written
             (setrlimit; every system); in the child no process be made
  descriptors  only the two pipes and the standard error are open
  privileges no program gains any (no_new_privs; Linux)
  files      none can be reached (landlock; Linux with it)
  calls      a list of system calls is allowed (seccomp; Linux on x86-64 and arm64)

A call that is not on the list kills the process at once: only code that has broken the first
wall makes one, and nothing that such code does may become an outcome. Opening and inspecting
files is refused by an error instead, since the C library and the interpreter do it by
themselves, without harm.

The fork server (fork_server.py) may fork and wait as well; it never runs a program.
"""

import os
import resource
import signal
import sys
from struct import Struct

# The numbers: x86-64, arm64. None: the machine has no such call.
COMPUTE = {
    "mremap": (25, 216), "munmap": (11, 215), "brk": (12, 214), "madvise": (28, 233), "futex": (202, 98),
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "sigaltstack": (131, 132),
    "sched_yield": (24, 124), "clock_gettime": (228, 113), "getrandom": (318, 278), "getpid": (39, 172),
    "gettid": (186, 178), "exit": (60, 93), "exit_group": (231, 94), "restart_syscall": (219, 128),
}
FORK = {
    "fork": (57, None), "wait4": (61, 260), "prctl": (157, 167), "seccomp": (317, 277), "prlimit64": (302, 261),
    "getppid": (110, 173), "set_robust_list": (273, 99), "set_tid_address": (218, 96), "rseq": (334, 293),
}
LOOK = {
    "open": (2, None), "openat": (257, 56), "stat": (4, None), "fstat": (5, 80), "lstat": (6, None),
    "newfstatat": (262, 79), "statx": (332, 291), "access": (21, None), "faccessat": (269, 48),
    "faccessat2": (439, 439), "readlink": (89, None), "readlinkat": (267, 78), "getcwd": (79, 17), "close": (3, 57),
}
READ, WRITE, MMAP, MPROTECT, CLONE, CLONE3 = (0, 63), (1, 64), (9, 222), (10, 226), (56, 220), (435, 435)
SECCOMP = (317, 277)
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # the column, and AUDIT_ARCH
LANDLOCK = (444, 446)  # on every machine: create_ruleset, restrict_self
KILL, ALLOW, ERRNO = 0x80000000, 0x7FFF0000, 0x00050000  # SECCOMP_RET_…
EPERM, ENOSYS = 1, 38
EXIT_WALL = 6  # of a child whose wall could not be built
PROT_EXEC = 4
NEW_NAMESPACES = 0x7E020080  # the CLONE_NEW… flags
NO_NEW_PRIVS, DEATH_SIGNAL, SET_FILTER, THREAD_SYNC = 38, 1, 1, 1
FILES_ALL = (1 << 13) - 1  # landlock's rights over files, first version
INSTRUCTION = Struct("<HBBI")
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06  # of classic BPF
NUMBER_AT, ARCH_AT, ARGUMENT_AT, ARGUMENT = 0, 4, 16, 8  # in struct seccomp_data, little endian


def assemble_return(action):
    return [(RETURN, 0, 0, action)]


def assemble_call(number, then):
    """Instructions that do then for one call; they must return."""
    return [] if number is None else [(EQUAL, 0, len(then), number)] + then


def assemble_argument(index, test, value, hit, miss):
    """Decides a call by the lower half of one argument."""
    return [(LOAD, 0, 0, ARGUMENT_AT + ARGUMENT * index), (test, 0, 1, value)] + assemble_return(hit) + assemble_return(miss)


def assemble_filter(machine, sink, forks):
    """The filter as BPF: of the child, or of the fork server."""
    column, arch = MACHINES[machine]
    code = [(LOAD, 0, 0, ARCH_AT), (EQUAL, 1, 0, arch)] + assemble_return(KILL) + [(LOAD, 0, 0, NUMBER_AT)]
    code += assemble_call(READ[column], assemble_argument(0, EQUAL, 0, ALLOW, KILL))
    to = [(LOAD, 0, 0, ARGUMENT_AT), (EQUAL, 1, 0, sink), (EQUAL, 0, 1, 2)]
    code += assemble_call(WRITE[column], to + assemble_return(ALLOW) + assemble_return(KILL))
    for call in (MMAP, MPROTECT):  # no memory may be made code
        code += assemble_call(call[column], assemble_argument(2, ANY_BIT, PROT_EXEC, KILL, ALLOW))
    allowed = {**COMPUTE, **(FORK if forks else {})}
    for numbers in allowed.values():
        code += assemble_call(numbers[column], assemble_return(ALLOW))
    for numbers in LOOK.values():
        code += assemble_call(numbers[column], assemble_return(ERRNO | EPERM))
    if forks:
        code += assemble_call(CLONE[column], assemble_argument(0, ANY_BIT, NEW_NAMESPACES, KILL, ALLOW))
        code += assemble_call(CLONE3[column], assemble_return(ERRNO | ENOSYS))  # its flags cannot be seen: the C library takes clone
    return b"".join(INSTRUCTION.pack(*i) for i in code + assemble_return(KILL)), len(code) + 1


class Wall:
    """Built once by the fork server; narrowed by each child after its fork."""

    def __init__(self, sink):
        self.parts = dict.fromkeys(("limits", "privileges", "files", "calls"), "")  # why one is missing
        self.libc, self.filters = None, {}
        if sys.platform != "linux":
            self.note_lacking("%s has none" % sys.platform, "privileges", "files", "calls")
            return
        try:
            import ctypes  # here, since a Python may lack it, and build() forgets it
        except ImportError:
            self.note_lacking("this Python has no ctypes", "privileges", "files", "calls")
            return
        self.errno, self.word = ctypes.get_errno, ctypes.c_ulong
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.syscall.restype = ctypes.c_long
        self.machine = machine = os.uname().machine
        if machine not in MACHINES or sys.maxsize < 1 << 32:
            self.note_lacking("there is no list of calls for %s" % machine, "calls")
            return
        self.seccomp = SECCOMP[MACHINES[machine][0]]
        for forks in (True, False):
            text, length = assemble_filter(machine, sink, forks)
            held = ctypes.create_string_buffer(text, len(text))
            fprog = ctypes.create_string_buffer(Struct("@HP").pack(length, ctypes.addressof(held)))
            self.filters[forks] = (fprog, held)

    def note_lacking(self, why, *parts):
        for part in parts:
            self.parts[part] = self.parts[part] or why

    def call(self, function, *args):
        """Its result, and errno if that is below zero."""
        found = function(*(self.word(a) if isinstance(a, int) else a for a in args))
        return found, self.errno() if found < 0 else 0

    def build(self):
        """The fork server's walls, for all its threads."""
        if self.libc:
            _, error = self.call(self.libc.prctl, NO_NEW_PRIVS, 1, 0, 0, 0)
            if error:
                self.note_lacking(os.strerror(error), "privileges")
            self.restrict_files()
        for limit in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):
            self.set_limit(limit, 0)
        self.install_filter(True, THREAD_SYNC)
        for name in [n for n in sys.modules if n.split(".")[0] in ("ctypes", "_ctypes")]:
            del sys.modules[name]

    def narrow_child(self, parent):
        """A child's walls: it makes no process, and ends when its parent does."""
        self.set_limit(resource.RLIMIT_NPROC, 0)
        most = resource.getrlimit(resource.RLIMIT_AS)[1]
        bound_memory(most, most)
        if self.libc:
            self.call(self.libc.prctl, DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(0)
        stood = not self.parts["calls"]
        self.install_filter(False, 0)
        if stood and self.parts["calls"]:
            os._exit(EXIT_WALL)  # the fork server has it, so the system does not lack it
        self.libc, self.filters = None, {}

    def set_limit(self, which, value):
        try:
            resource.setrlimit(which, (value, value))
        except (OSError, ValueError) as e:
            self.note_lacking(str(e), "limits")

    def restrict_files(self):
        """A ruleset that handles every right over files and grants none."""
        create, restrict = LANDLOCK
        rights = Struct("<Q").pack(FILES_ALL)
        ruleset, error = self.call(self.libc.syscall, create, rights, len(rights), 0)
        if not error:
            _, error = self.call(self.libc.syscall, restrict, ruleset, 0)
            os.close(ruleset)
        if error:
            self.note_lacking(os.strerror(error), "files")

    def install_filter(self, forks, flags):
        if self.parts["calls"]:
            return
        done, error = self.call(self.libc.syscall, self.seccomp, SET_FILTER, flags, self.filters[forks][0])
        if done != 0:
            self.note_lacking(os.strerror(error or EPERM), "calls")


RAW = {  # calls without a Python function: x86-64, arm64, arguments
    "socket": (41, 198, 2, 1, 0), "ptrace": (101, 117, 0, 0, 0, 0), "peek": (310, 270, 1, 0, 0, 0, 0, 0),
    "unshare": (272, 97, 0), "memfd": (319, 279, 0, 0), "io_uring": (425, 425, 1, 0), "dup": (32, 23, 0),
    "executable memory": (9, 222, 0, 4096, 7, 0x22, -1, 0), "read another descriptor": (0, 63, 2, 0, 0),
}


def list_attempts(standing, parent):
    """Actions that programs must not do, each harmless if it succeeds, and computing, which
    they must: name → function."""
    found = {
        "compute": lambda: bytearray(1 << 22),
        "open": lambda: os.open("/etc/passwd", os.O_RDONLY),
        "write": lambda: os.open("/tmp/devnet-wall", os.O_CREAT | os.O_WRONLY),
        "list": lambda: os.listdir("/"),
        "environ": lambda: os.open("/proc/self/environ", os.O_RDONLY),
        "exec": lambda: os.execv(sys.executable, [sys.executable, "-c", ""]),
        "fork": lambda: os.fork() or os._exit(EXIT_ALLOWED),
        "kill": lambda: os.kill(parent, 0),
    }
    if standing.filters:
        column, raw, call = MACHINES[standing.machine][0], standing.libc.syscall, standing.call
        for name, (x86, arm, *args) in RAW.items():
            found[name] = lambda n=(x86, arm)[column], args=args: end_failed(call(raw, n, *args)[1])
    return found


def end_failed(error):
    if error:
        raise OSError(error, os.strerror(error))


EXIT_ALLOWED, EXIT_REFUSED = 0, 1


def attempt_in_child(do):
    """Do it in a child inside its walls, and end with its outcome."""
    try:
        do()
    except (OSError, MemoryError):
        os._exit(EXIT_REFUSED)
    os._exit(EXIT_ALLOWED)


def bound_memory(now, most):
    """Limit the address space; where a system has no such limit the meter bounds
    memory all the same."""
    try:
        resource.setrlimit(resource.RLIMIT_AS, (now, most))
    except (OSError, ValueError):
        pass


def close_above(highest):
    """Close every descriptor above one."""
    os.closerange(highest + 1, 1 << 16)

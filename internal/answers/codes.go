package answers

import "github.com/cowboyinc/devnet/validators/history"

// CodeNoProgramHost is how a Reader says that this machine runs no programs:
// Python is missing.
const CodeNoProgramHost = "no_program_host"

// CodeHostFailed is the code with which a Reader reports that the host of programs
// failed on a program: it crashed, or took too long.
const CodeHostFailed = "host_failed"

// CodeLateBefore is the code with which a Reader refuses a read whose handler was late in a read
// before, while another such read runs.
const CodeLateBefore = "late_before"

// CodeNotKept reports that the requested blocks are pruned.
const CodeNotKept = history.CodeNotKept

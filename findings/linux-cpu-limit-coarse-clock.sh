#!/usr/bin/env bash
# Linux 6.18 (x86_64, 250 ticks a second), by golang.org/x/sys v0.49.0: once a process has a limit of processor time (RLIMIT_CPU,
# `ulimit -t`), its clock CLOCK_PROCESS_CPUTIME_ID advances only when the scheduler accounts, each tick of 4 ms for a thread that
# works, where it advanced at each read before. The limit is inherited, so that one in a login shell or a batch system does it to
# every program below. CLOCK_THREAD_CPUTIME_ID stays fine. Python's time.process_time_ns, and the clock of a process that another
# one reads by its id, are the coarse one.
# Who charges programs for processor time, or ends what used too much, sees 0 or 4 ms for what took 100 µs.
set -euo pipefail
folder=$(mktemp -d)
trap 'chmod -R u+w "$folder"; rm -rf "$folder"' EXIT
cd "$folder"
cat >main.go <<'GO'
package main

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

const reads = 100_000

// advances counts the reads of a clock that showed more than the read before, while this thread works.
func advances(clock int32) int {
	count, last := 0, read(clock)
	for range reads {
		if now := read(clock); now > last {
			count, last = count+1, now
		}
	}
	return count
}

func read(clock int32) int64 {
	var at unix.Timespec
	if err := unix.ClockGettime(clock, &at); err != nil {
		panic(err)
	}
	return at.Nano()
}

func main() {
	runtime.LockOSThread()
	var none unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CPU, &none); err != nil {
		panic(err)
	}
	if none.Cur != unix.RLIM_INFINITY {
		fmt.Println("this shell has a limit of processor time already: ulimit -t unlimited, or another shell")
		os.Exit(1)
	}
	fine, thread := advances(unix.CLOCK_PROCESS_CPUTIME_ID), advances(unix.CLOCK_THREAD_CPUTIME_ID)
	fmt.Printf("without a limit: the process's clock advanced at %d of %d reads, the thread's at %d\n", fine, reads, thread)
	if err := unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: 3600, Max: none.Max}); err != nil {
		panic(err)
	}
	coarse, still := advances(unix.CLOCK_PROCESS_CPUTIME_ID), advances(unix.CLOCK_THREAD_CPUTIME_ID)
	fmt.Printf("with one of an hour: the process's clock advanced at %d of %d reads, the thread's at %d\n", coarse, reads, still)
	if fine < reads*9/10 || thread < reads*9/10 || still < reads*9/10 || coarse > reads/100 {
		fmt.Println("this is not what Linux 6.18 did")
		os.Exit(1)
	}
}
GO
go mod init finding >/dev/null 2>&1
go get golang.org/x/sys@v0.49.0 >/dev/null 2>&1
go mod tidy >/dev/null 2>&1
CGO_ENABLED=0 go build -o steps .
uname -r
./steps

package doctor

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"syscall"

	"github.com/cowboyinc/devnet/internal/environment/pyhost"
)

// wantFiles are the open files that a network of some dozen nodes takes.
const wantFiles = 256

// noLimit is how a system says that a process has no limit: at most 2^63-1.
const noLimit uint64 = math.MaxInt64

// processLimit is a limit of each process that is started here.
type processLimit struct {
	name    string // in words
	raise   string // the command of a shell
	which   int
	atLeast uint64
	is      uint64 // 2^63-1 or more: none
}

// readLimits reads the limits that nodes and hosts of Python live by. Go has raised that of files as far as it may.
func readLimits() ([]processLimit, error) {
	all := []processLimit{
		{name: "memory", raise: "ulimit -v unlimited", which: syscall.RLIMIT_AS, atLeast: pyhost.DefaultAddressSpace},
		{name: "open files", raise: fmt.Sprintf("ulimit -n %d", wantFiles), which: syscall.RLIMIT_NOFILE, atLeast: wantFiles},
		{name: "file size", raise: "ulimit -f unlimited", which: syscall.RLIMIT_FSIZE, atLeast: wantDiskBytes},
		{name: "CPU time", raise: "ulimit -t unlimited", which: syscall.RLIMIT_CPU, atLeast: noLimit},
	}
	for i := range all {
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(all[i].which, &limit); err != nil {
			return nil, fmt.Errorf("the limit of %s cannot be read: %w", all[i].name, err)
		}
		all[i].is = limit.Cur
	}
	return all, nil
}

// checkLimits reports whether the limits of a process leave a network and its programs what they may take.
func checkLimits(all []processLimit) finding {
	f := finding{What: "limits", OK: true}
	var are, raise []string
	for _, l := range all {
		if l.is >= noLimit {
			are = append(are, "no limit of "+l.name)
			continue
		}
		are = append(are, fmt.Sprintf("%s at most %s", l.name, l.describeAmount()))
		if l.is < l.atLeast {
			raise = append(raise, l.raise)
		}
	}
	f.Is = strings.Join(are, ", ")
	if len(raise) == 0 {
		return f
	}
	f.OK = false
	f.Do = "In the shell that starts the network type: " + strings.Join(raise, "; ")
	if cpu := all[len(all)-1]; cpu.is < noLimit {
		f.Is += ": the network is ended once it has used that"
		if runtime.GOOS == "linux" {
			f.Is += ", and until then Linux counts the CPU time of programs in steps of up to a tick of its scheduler, some 4 ms"
		}
	}
	return f
}

// describeAmount is the limit in words.
func (l *processLimit) describeAmount() string {
	switch l.which {
	case syscall.RLIMIT_CPU:
		return fmt.Sprintf("%d s", l.is)
	case syscall.RLIMIT_NOFILE:
		return fmt.Sprint(l.is)
	}
	return fmt.Sprintf("%d MiB", l.is>>20)
}

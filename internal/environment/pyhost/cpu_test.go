package pyhost

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cpu is the time that the session's process and its children have been on a
// processor. Where the system does not tell, it is the wall clock's.
func (s *session) cpu(start time.Time) time.Duration {
	if s.host == nil {
		return 0
	}
	if d, ok := cpuOf(s.host.cmd.Process.Pid); ok {
		return d
	}
	return time.Since(start)
}

func cpuOf(pid int) (total time.Duration, ok bool) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	for _, dir := range threads {
		text, err := os.ReadFile(dir + "/schedstat")
		if err != nil {
			return 0, false
		}
		first, _, _ := strings.Cut(string(text), " ")
		ns, _ := strconv.ParseInt(first, 10, 64)
		total += time.Duration(ns)
		children, _ := os.ReadFile(dir + "/children")
		for _, child := range strings.Fields(string(children)) {
			n, _ := strconv.Atoi(child)
			more, _ := cpuOf(n)
			total += more
		}
	}
	return total, len(threads) > 0
}

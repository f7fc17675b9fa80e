package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxPasses bounds the search for processes that fork faster than they are killed.
const maxPasses = 64

// endStrays kills every process whose environment has a variable, whatever group or session
// it is in. Processes of other users are not seen.
func endStrays(variable string) {
	for range maxPasses {
		if killStrays(variable) == 0 {
			return
		}
	}
}

// killStrays returns how many processes it killed.
func killStrays(variable string) (killed int) {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environments {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || pid == os.Getpid() {
			continue
		}
		if killStray(pid, path, variable) {
			killed++
		}
	}
	return killed
}

// killStray kills a process that has the variable. The number is held by a descriptor first, so
// that no other process is killed that gets the number meanwhile.
func killStray(pid int, path, variable string) (killed bool) {
	held, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(held)
	environment, err := os.ReadFile(path)
	if err != nil || !hasVariable(environment, variable) {
		return false
	}
	return unix.PidfdSendSignal(held, unix.SIGKILL, nil, 0) == nil
}

func hasVariable(environment []byte, variable string) bool {
	for each := range bytes.SplitSeq(environment, []byte{0}) {
		if string(each) == variable {
			return true
		}
	}
	return false
}

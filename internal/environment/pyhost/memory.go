package pyhost

import (
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// The number of hosts bounds the memory of all hosts together. Each has its own
// limit, which no block's cycles should reach, so that memory decides nothing.
const (
	purposes      = 2         // hosts for blocks, and as many for reads
	serverMemory  = 768 << 20 // of a fork server, at most what its child may take: it compiles
	machineShare  = 2         // all hosts together: this part of the machine's memory, but for one of each
	assumedMemory = 8 << 30   // of a machine that does not say
)

// Memory returns how many hosts run at most, and how many bytes they may take
// together.
func (p *Pool) Memory() (hosts int, bytes uint64) {
	hosts = purposes * p.config.Hosts
	return hosts, uint64(hosts) * hostBytes(p.config.AddressSpace)
}

func hostBytes(addressSpace uint64) uint64 { return addressSpace + serverBytes(addressSpace) }

func serverBytes(addressSpace uint64) uint64 { return min(addressSpace, serverMemory) }

// hostsFor returns how many hosts for one purpose fit a machine: at most one per
// core.
func hostsFor(cores int, memory, addressSpace uint64) int {
	bears := memory / machineShare / purposes / hostBytes(addressSpace)
	return int(max(1, min(uint64(cores), bears)))
}

// memoryLimits are the files in which Linux says how many bytes a container may use: cgroup v2
// and v1. Without a limit, v2 writes "max" and v1 a number above any machine's memory.
var memoryLimits = []string{"sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"}

// machineMemory returns the bytes of memory that this process may use: the
// machine's, or its container's.
func machineMemory() uint64 {
	if runtime.GOOS != "linux" {
		return assumedMemory
	}
	return memoryOf(os.DirFS("/"))
}

// memoryOf reads the files of a Linux.
func memoryOf(root fs.FS) uint64 {
	memory := uint64(assumedMemory)
	if text, err := fs.ReadFile(root, "proc/meminfo"); err == nil {
		fields := strings.Fields(string(text))
		if len(fields) > 1 && fields[0] == "MemTotal:" {
			if kib, err := strconv.ParseUint(fields[1], 10, 53); err == nil {
				memory = kib << 10
			}
		}
	}
	for _, file := range memoryLimits {
		if text, err := fs.ReadFile(root, file); err == nil {
			if limit, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil {
				memory = min(memory, limit)
			}
		}
	}
	return memory
}

package pyhost

import (
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
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

// groupsFile says in which control groups of Linux this process is, a hierarchy a line: N:CONTROLLERS:PATH. Version 2 has
// no controllers in its line.
const groupsFile = "proc/self/cgroup"

// The folders of groups and the file of each that says how many bytes it may use. Without a limit, version 2 writes "max"
// and version 1 a number above any machine's memory.
const (
	groups2, limit2 = "sys/fs/cgroup", "memory.max"
	groups1, limit1 = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
)

// limitFiles lists the files of all limits that bind this process: of its groups and those above. A container sees its own
// group as the root, whatever groupsFile says.
func limitFiles(root fs.FS) []string {
	files := []string{path.Join(groups2, limit2), path.Join(groups1, limit1)}
	text, err := fs.ReadFile(root, groupsFile)
	if err != nil {
		return files
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		folder, file := groups2, limit2
		if fields[1] != "" {
			folder, file = groups1, limit1
		}
		if fields[1] != "" && !slices.Contains(strings.Split(fields[1], ","), "memory") {
			continue
		}
		for group := path.Join("/", fields[2]); group != "/"; group = path.Dir(group) {
			files = append(files, path.Join(folder, group, file))
		}
	}
	return files
}

// AllowedMemory returns the bytes of memory that this process may use: the machine's, its container's or its group's.
func AllowedMemory() uint64 {
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
	for _, file := range limitFiles(root) {
		if text, err := fs.ReadFile(root, file); err == nil {
			if limit, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil {
				memory = min(memory, limit)
			}
		}
	}
	return memory
}

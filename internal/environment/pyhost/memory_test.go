package pyhost

import (
	"testing"
	"testing/fstest"
)

// The hosts of all purposes together take at most half of a machine's memory, but
// there is one of each.
func TestHostsAreBoundedTogether(t *testing.T) {
	const gib = 1 << 30
	for _, c := range []struct {
		cores  int
		memory uint64
		want   int
	}{
		{2, 24 * gib, 2}, {16, 24 * gib, 2}, {16, 96 * gib, 8}, {64, 1024 * gib, 64}, {8, 8 * gib, 1}, {1, gib, 1},
	} {
		got := hostsFor(c.cores, c.memory, DefaultAddressSpace)
		if got != c.want {
			t.Errorf("%d cores and %d GiB fit %d hosts, want %d", c.cores, c.memory/gib, got, c.want)
		}
		p := &Pool{config: Config{Hosts: got, AddressSpace: DefaultAddressSpace}}
		if hosts, bytes := p.Memory(); hosts != 2*got || got > 1 && bytes > c.memory/2 {
			t.Errorf("%d hosts take %d of %d GiB", hosts, bytes/gib, c.memory/gib)
		}
	}
	if got := AllowedMemory(); got < 64<<20 {
		t.Errorf("this machine has %d bytes", got)
	}
}

// A container's limit is read from cgroup v2 and from v1, which writes a huge number if
// there is no limit.
func TestTheLimitOfAContainerIsRead(t *testing.T) {
	const v1, v2 = "sys/fs/cgroup/memory/memory.limit_in_bytes", "sys/fs/cgroup/memory.max"
	const machine = 24 << 30
	for _, c := range []struct {
		file, text string
		want       uint64
	}{
		{v2, "268435456\n", 256 << 20}, {v2, "max\n", machine},
		{v1, "268435456\n", 256 << 20}, {v1, "9223372036854771712\n", machine},
		{"none", "1", machine},
		// A process is in a group below the root where it is in no container of its own, and bound by all groups above.
		{"sys/fs/cgroup/user.slice/memory.max", "268435456\n", 256 << 20},
		{"sys/fs/cgroup/user.slice/run-1.scope/memory.max", "268435456\n", 256 << 20},
		{"sys/fs/cgroup/memory/ci/memory.limit_in_bytes", "268435456\n", 256 << 20},
		{"sys/fs/cgroup/other.slice/memory.max", "268435456\n", machine},
	} {
		root := fstest.MapFS{"proc/meminfo": {Data: []byte("MemTotal:       25165824 kB\nMemFree: 1 kB\n")}, c.file: {Data: []byte(c.text)},
			"proc/self/cgroup": {Data: []byte("5:cpu,cpuacct:/x\n4:memory:/ci\n0::/user.slice/run-1.scope\n")}}
		if got := memoryOf(root); got != c.want {
			t.Errorf("%s with %q: %d bytes, want %d", c.file, c.text, got, c.want)
		}
	}
}

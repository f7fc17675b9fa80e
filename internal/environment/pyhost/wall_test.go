package pyhost

import (
	"slices"
	"testing"
)

// Everything that a program must not do is tried behind the wall of those that
// run programs, and refused; computing is not.
func TestTheWallRefuses(t *testing.T) {
	p := openPool(t, Config{})
	parts, attempts, err := p.Wall()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range parts {
		if part.Missing != "" {
			t.Logf("%s: %s", part.Name, part.Missing)
		}
	}
	calls := slices.IndexFunc(parts, func(p Part) bool { return p.Name == "calls" })
	if calls < 0 || parts[calls].Missing != "" {
		t.Skip("this system has no list of calls")
	}
	want := map[string]End{Compute: Allowed, "open": Refused, "write": Refused, "list": Refused, "environ": Refused,
		"exec": Killed, "fork": Killed, "kill": Killed, "socket": Killed, "ptrace": Killed, "peek": Killed, "unshare": Killed,
		"memfd": Killed, "io_uring": Killed, "dup": Killed, "executable memory": Killed, "read another descriptor": Killed}
	for _, a := range attempts {
		if a.End != want[a.Name] {
			t.Errorf("%s was %s, want %s", a.Name, a.End, want[a.Name])
		}
		delete(want, a.Name)
	}
	for name := range want {
		t.Errorf("%s was not tried", name)
	}
}

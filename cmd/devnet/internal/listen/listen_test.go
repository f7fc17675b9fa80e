package listen

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestAServerIsCalledByTheNameItListensAtOrByItsMachines(t *testing.T) {
	machine, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	machine = strings.ToLower(machine)
	for address, want := range map[string][]string{
		"devnet.example:4000": {"devnet.example"}, "127.0.0.1:4000": {"127.0.0.1"},
		"0.0.0.0:4000": {machine}, "[::]:4000": {machine}, ":4000": {machine}, "none": nil,
	} {
		if names := CallableNames(address); !slices.Equal(names, want) {
			t.Errorf("%s: %v, not %v", address, names, want)
		}
	}
}

// The log names an API that other machines can reach, if it signs.
func TestAnAPIThatOtherMachinesReachIsWarnedOf(t *testing.T) {
	for bound, warns := range map[string]bool{"127.0.0.1:4000": false, "127.0.0.2:4000": false, "[::1]:4000": false, "[::]:4000": true,
		"0.0.0.0:4000": true, "192.0.2.7:4000": true, "": false} {
		if got := WarnOfExposure(bound, false); (got != "") != warns || warns && !strings.Contains(got, bound) {
			t.Errorf("%q: %q", bound, got)
		}
		if got := WarnOfExposure(bound, true); got != "" {
			t.Errorf("%q, strict: %q", bound, got)
		}
	}
}

// The facts of a network name the API by an address that a browser takes, also if it listens on all.
func TestAnAPIOnAllAddressesIsNamedByOne(t *testing.T) {
	for bound, want := range map[string]string{"127.0.0.1:4000": "127.0.0.1:4000", "192.0.2.7:4000": "192.0.2.7:4000", "": "",
		"[::]:4000":    "127.0.0.1:4000, and all other addresses of this machine",
		"0.0.0.0:4000": "127.0.0.1:4000, and all other addresses of this machine"} {
		if got := ReachableAddress(bound) + NoteAllAddresses(bound); got != want {
			t.Errorf("%q: %q, want %q", bound, got, want)
		}
	}
}

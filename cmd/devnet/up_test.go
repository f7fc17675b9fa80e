package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/internal/environment/home"
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
		if names := callableNames(address); !slices.Equal(names, want) {
			t.Errorf("%s: %v, not %v", address, names, want)
		}
	}
}

func TestTheHintAtTheEndNamesTheHome(t *testing.T) {
	for want, s := range map[string]settings{
		"":                                 {Home: defaultHome},
		" --home /tmp/a":                   {Home: "/tmp/a"},
		" --processes --home 'my network'": {Home: "my network", Processes: true},
	} {
		if got := s.againCommand(); got != self()+" up"+want {
			t.Errorf("%+v is continued by %q, want %q", s, got, self()+" up"+want)
		}
	}
}

// The log names an API that other machines can reach, if it signs.
func TestAnAPIThatOtherMachinesReachIsWarnedOf(t *testing.T) {
	for bound, warns := range map[string]bool{"127.0.0.1:4000": false, "127.0.0.2:4000": false, "[::1]:4000": false, "[::]:4000": true,
		"0.0.0.0:4000": true, "192.0.2.7:4000": true, "": false} {
		if got := exposureWarning(bound, false); (got != "") != warns || warns && !strings.Contains(got, bound) {
			t.Errorf("%q: %q", bound, got)
		}
		if got := exposureWarning(bound, true); got != "" {
			t.Errorf("%q, strict: %q", bound, got)
		}
	}
}

// The facts of a network name the API by an address that a browser takes, also if it listens on all.
func TestAnAPIOnAllAddressesIsNamedByOne(t *testing.T) {
	for bound, want := range map[string]string{"127.0.0.1:4000": "127.0.0.1:4000", "192.0.2.7:4000": "192.0.2.7:4000", "": "",
		"[::]:4000":    "127.0.0.1:4000, and all other addresses of this machine",
		"0.0.0.0:4000": "127.0.0.1:4000, and all other addresses of this machine"} {
		if got := reachableURL(bound) + listensEverywhere(bound); got != want {
			t.Errorf("%q: %q, want %q", bound, got, want)
		}
	}
}

// A process that has not said who it is yet is told without a number: kill 0 would end who types it.
func TestTheProcessOfAHomeMayBeUnknown(t *testing.T) {
	for _, told := range []string{notUp(&home.InUseError{Dir: "h"}).(*failure).hint, notUp(&home.InUseError{Dir: "h"}).Error(),
		(&home.InUseError{Dir: "h"}).Error()} {
		if strings.Contains(told, "kill") || strings.Contains(told, "process 0") {
			t.Error(told)
		}
	}
	if hint := notUp(&home.InUseError{Dir: "h", PID: 12}).(*failure).hint; !strings.Contains(hint, "devnet down --home h") {
		t.Error(hint)
	}
}

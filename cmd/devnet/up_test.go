package main

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
		if names := callable(address); !slices.Equal(names, want) {
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
		if got := s.again(); got != self+" up"+want {
			t.Errorf("%+v is continued by %q, want %q", s, got, self+" up"+want)
		}
	}
}

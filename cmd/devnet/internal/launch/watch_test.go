package launch

import (
	"strings"
	"testing"
)

// A demo of too few nodes is told how many it would have.
func TestADemoOfTooFewNodesIsRefused(t *testing.T) {
	s := defaultSettings()
	s.Validators, s.Runners = 1, new(4)
	if err := s.checkDemo(); err == nil || !strings.Contains(err.Error(), "more nodes than 1 validator and 4 runners") {
		t.Error(err)
	}
}

// What lets others look into connections is refused where it has no place, with the reason.
func TestLookingIntoConnectionsIsRefusedWithStrict(t *testing.T) {
	for _, c := range []struct {
		change func(*Settings)
		want   string
	}{
		{func(s *Settings) { s.Strict, s.Qlog = true, "dir" }, "--qlog lets others look into the connections, which --strict keeps closed"},
		{func(s *Settings) { s.Strict, s.KeyLog = true, "file" }, "--keylog lets others look into the connections, which --strict keeps closed"},
		{func(s *Settings) { s.Processes, s.KeyLog = true, "file" }, ""},
		{func(s *Settings) { s.Processes, s.Strict, s.KeyLog = true, true, "file" }, "--keylog lets others look into the connections"},
		{func(s *Settings) { s.Qlog, s.KeyLog = "dir", "file" }, ""},
	} {
		s := defaultSettings()
		c.change(&s)
		err := s.validateSettings()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

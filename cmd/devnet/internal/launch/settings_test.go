package launch

import (
	"strings"
	"testing"

	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/failure"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/self"
	"github.com/cowboyinc/devnet/internal/environment/home"
)

func TestTheHintAtTheEndNamesTheHome(t *testing.T) {
	for want, s := range map[string]Settings{
		"":                                 {Home: command.DefaultHome},
		" --home /tmp/a":                   {Home: "/tmp/a"},
		" --processes --home 'my network'": {Home: "my network", Processes: true},
	} {
		if got := s.AgainCommand(); got != self.ProgramName()+" up"+want {
			t.Errorf("%+v is continued by %q, want %q", s, got, self.ProgramName()+" up"+want)
		}
	}
}

// A process that has not said who it is yet is told without a number: kill 0 would end who types it.
func TestTheProcessOfAHomeMayBeUnknown(t *testing.T) {
	for _, told := range []string{DescribeFailure(&home.InUseError{Dir: "h"}).(*failure.Failure).Hint,
		DescribeFailure(&home.InUseError{Dir: "h"}).Error(), (&home.InUseError{Dir: "h"}).Error()} {
		if strings.Contains(told, "kill") || strings.Contains(told, "process 0") {
			t.Error(told)
		}
	}
	if hint := DescribeFailure(&home.InUseError{Dir: "h", PID: 12}).(*failure.Failure).Hint; !strings.Contains(hint, "devnet down --home h") {
		t.Error(hint)
	}
}

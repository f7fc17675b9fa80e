package sim

import (
	"testing"
	"time"

	"github.com/cowboyinc/devnet/internal/base/program"
	"github.com/cowboyinc/devnet/internal/base/types"
)

// asking is a host that notes how long it may take, and refuses all code.
type asking struct{ told []time.Duration }

type askingSession struct {
	of   *asking
	left func() time.Duration
}

func (a *asking) Open(program.Purpose) (program.Session, error) { return &askingSession{of: a}, nil }

func (s *askingSession) Bound(by program.Bounds) { s.left = by.Left }
func (s *askingSession) Close()                  {}

func (s *askingSession) Inspect(program.Code) (program.Description, error) {
	if s.left != nil {
		s.of.told = append(s.of.told, s.left())
	}
	return program.Description{}, &program.Refusal{Reason: "it refuses all"}
}

func (s *askingSession) Handle(program.Context, program.Code, program.Message) (program.Outcome, error) {
	return program.Outcome{}, &program.HostError{Failure: program.Crashed, During: "a test"}
}

// A proposer of virtual time bounds its host by no real time: how fast the machine
// is would be part of what a seed does. Each program here costs nothing, so that time
// is left whenever one begins.
func TestHostsHaveAllTheRealTime(t *testing.T) {
	host := &asking{}
	n := aNetwork(t, NetworkConfig{World: Config{Seed: 3}, Validators: 4, Programs: host})
	deploy, _ := n.Deploy("alice", []byte("anything"), types.Wei{})
	n.Submit("v0", deploy, nil)
	letRun(t, n.World, 3*time.Second)
	if len(host.told) == 0 {
		t.Fatal("nobody bounded the host: proposers have a share of the leader's time")
	}
	for _, left := range host.told {
		if left < time.Hour {
			t.Errorf("the host was given %v of real time", left)
		}
	}
}

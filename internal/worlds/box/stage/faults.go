package stage

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/api"
	"github.com/cowboyinc/devnet/internal/faces/scenario"
)

// readable makes an error of a fault's verb one that the script's author reads.
func readable(err error) error {
	var missing *fault.Unsupported
	var refused *api.Error
	switch {
	case err == nil, errors.As(err, &refused):
		return err
	case errors.As(err, &missing):
		return scenario.Unable(missing.Verb, missing.Why)
	}
	return api.Refuse(http.StatusConflict, "refused", "%v", err)
}

// done notes a fault in the trace, or returns why it was not made.
func (s *Stage) done(err error, what ...any) error {
	if err != nil {
		return readable(err)
	}
	s.judge.fault(fmt.Sprint(what...))
	return nil
}

// Crash implements scenario.Backend.
func (s *Stage) Crash(node string) error { return s.done(s.Network.Crash(node), "crash ", node) }

// Restart implements scenario.Backend.
func (s *Stage) Restart(node string) error { return s.done(s.Network.Restart(node), "restart ", node) }

// Freeze implements scenario.Backend.
func (s *Stage) Freeze(node string) error { return s.done(s.Network.Freeze(node), "freeze ", node) }

// Thaw implements scenario.Backend.
func (s *Stage) Thaw(node string) error { return s.done(s.Network.Thaw(node), "thaw ", node) }

// Wipe implements scenario.Backend.
func (s *Stage) Wipe(node string) error {
	s.judge.lose(node)
	return s.done(s.Network.Wipe(node), "wipe ", node)
}

// DiskFail implements scenario.Backend.
func (s *Stage) DiskFail(node string, on bool) error {
	return s.done(s.Network.DiskFail(node, on), "disk_fail ", node, " ", on)
}

// HostFail implements scenario.Backend.
func (s *Stage) HostFail(node string, actor types.Address, how string) error {
	return s.done(s.Network.HostFail(node, actor, how), "host_fail ", node, " ", how, " over ", actor)
}

// ClockSkew implements scenario.Backend.
func (s *Stage) ClockSkew(node string, d time.Duration) error {
	return s.done(s.Network.ClockSkew(node, d), "clock_skew ", node, " ", d)
}

// Misbehave implements scenario.Backend.
func (s *Stage) Misbehave(node, kind string) error {
	if kind == "" {
		kind = "honest"
	} else {
		s.judge.excuse(node) // before its first lie
	}
	return s.done(s.Network.Misbehave(node, kind), "misbehave ", node, " ", kind)
}

// Partition implements scenario.Backend.
func (s *Stage) Partition(groups [][]string) error {
	return s.done(s.Network.Partition(groups), "partition ", groups)
}

// Bridge implements scenario.Backend.
func (s *Stage) Bridge(node string, left, right []string) error {
	return s.done(s.Network.Bridge(node, left, right), "bridge ", node, left, right)
}

// Link implements scenario.Backend.
func (s *Stage) Link(a, b string, link fault.Link) error {
	return s.done(s.Network.Link(a, b, link), "link ", a, " ", b, " ", link)
}

// Heal implements scenario.Backend: all links are again as network(…) had them.
func (s *Stage) Heal() error {
	if err := s.done(s.Network.Heal(), "heal"); err != nil {
		return err
	}
	return s.linkAll()
}

// linkAll sets all links as network(…) had them. That is no fault of the
// script's, and not among Faults.
func (s *Stage) linkAll() error {
	if s.link == (fault.Link{}) {
		return nil
	}
	before := len(s.FaultReceipts())
	nodes := s.List()
	for i, a := range nodes {
		for _, b := range nodes[i+1:] {
			if err := s.Network.Link(a.Name, b.Name, s.link); err != nil {
				return readable(err)
			}
		}
	}
	for i := before; i < len(s.FaultReceipts()); i++ {
		s.given[i] = true
	}
	return nil
}

// Faults implements scenario.Backend.
func (s *Stage) Faults() (all []fault.Receipt) {
	for i, r := range s.FaultReceipts() {
		if !s.given[i] {
			all = append(all, r)
		}
	}
	return all
}

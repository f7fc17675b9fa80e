package stage

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/cowboyinc/devnet/internal/environment/fault"
	"github.com/cowboyinc/devnet/internal/faces/api"
)

// readable makes an error of the operator's one that the script's author reads.
func readable(err error) error {
	var refused *api.Error
	if err == nil || errors.As(err, &refused) {
		return err
	}
	return api.Refuse(http.StatusConflict, "refused", "%v", err)
}

// done notes what the operator did in the trace, or returns why it was not done.
func (s *Stage) done(err error, what ...any) error {
	if err != nil {
		return readable(err)
	}
	s.judge.fault(fmt.Sprint(what...))
	return nil
}

// Do implements fault.World. The oracles are told before a validator lies, or loses
// its votes. After heal all links are again as network(…) had them.
func (s *Stage) Do(o fault.Order) (fault.Effect, error) {
	if err := o.Check(); err != nil {
		return fault.Effect{}, err
	}
	s.judge.before(o, s.Network)
	effect, err := s.Network.Do(o)
	if err != nil {
		return effect, err
	}
	s.judge.fault(o.String())
	if o.Verb == "heal" {
		err = s.linkAll()
	}
	return effect, err
}

// linkAll sets all links as network(…) had them. That is no fault of the
// script's, and not among Faults.
func (s *Stage) linkAll() error {
	if s.link == (fault.Link{}) {
		return nil
	}
	before := len(s.Network.Faults())
	var nodes []string
	for _, v := range s.List() {
		nodes = append(nodes, v.Name)
	}
	validators := len(nodes)
	for _, r := range s.RunnerList() {
		nodes = append(nodes, r.Name)
	}
	for i, a := range nodes[:validators] { // runners send one another nothing
		for _, b := range nodes[i+1:] {
			if _, err := s.Network.Do(fault.Order{Verb: "link", A: a, B: b, Link: s.link}); err != nil {
				return err
			}
		}
	}
	for i := before; i < len(s.Network.Faults()); i++ {
		s.given[i] = true
	}
	return nil
}

// Faults implements fault.World.
func (s *Stage) Faults() (all []fault.Effect) {
	for i, e := range s.Network.Faults() {
		if !s.given[i] {
			all = append(all, e)
		}
	}
	return all
}

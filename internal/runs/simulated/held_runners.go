package simulated

import (
	"github.com/cowboyinc/devnet/internal/answers"
	"github.com/cowboyinc/devnet/internal/answers/model"
)

// RunnerNodes implements api.Backend.
func (h *Held) RunnerNodes() (all []answers.RunnerNode) {
	reader, err := h.Reader("")
	for _, name := range h.Network.Runners() {
		node := answers.RunnerNode{Name: name, Address: h.Key(name).Address(), Running: h.Running(name)}
		registered := true
		if err == nil { // no validator knows otherwise
			runner, wrong := reader.Runner(node.Address)
			registered = wrong == nil && runner != nil && runner.Health != model.RunnerDeregistered
		}
		if r := h.Runner(name); r != nil {
			status := r.Status()
			node.Height, node.Connected, node.Open, node.Accepting = status.Height, status.Connected, len(status.Open), status.Accepting
		}
		switch {
		case !registered && !node.Running:
			node.Left = true
		case !registered:
			node.Missing = []string{"it is not registered"}
		case !node.Running:
			node.Missing = []string{"the runner is stopped"}
		case h.Frozen(name):
			node.Missing = []string{"the runner is frozen"}
		case len(node.Connected) == 0:
			node.Missing = []string{"a connection with a validator"}
		}
		all = append(all, node)
	}
	return all
}

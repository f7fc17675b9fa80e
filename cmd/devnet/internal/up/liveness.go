package up

import (
	"github.com/cowboyinc/devnet/cmd/devnet/internal/command"
	"github.com/cowboyinc/devnet/cmd/devnet/internal/nodetext"
)

// watchLiveness prints once when blocks cease to be made, and why, and when they
// resume.
func (u *running) watchLiveness() {
	var w nodetext.Liveness
	for command.Sleep(u.Context.Context, nodetext.LivenessEvery) {
		if line := w.Line(u.network.Liveness()); line != "" {
			u.printLine("%s", line)
		}
	}
}

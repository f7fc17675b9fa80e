package gateway

import (
	"slices"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// Draft is what a committee is going to be told, where the block that draws it becomes
// final.
type Draft struct {
	AssignmentID
	Deadline  types.Height
	Committee []types.Address
	Spec      *push.JobSpec
}

// drafts holds assignments that were signed and encoded, one for its whole committee. A
// draft's content follows only from its key. A draft of a block that does not become
// final is therefore never found by another's key, and just dropped.
type drafts struct {
	frames map[draftKey][]byte
	order  []draftKey // the keys of frames, oldest first
}

// draftKey names the frame of an assignment: all that is said in it.
type draftKey struct {
	AssignmentID
	deadline types.Height
	spec     types.Hash
}

// frameOf returns the frame of an assignment, and makes it if it has no draft.
func (d *drafts) frameOf(c *Config, key draftKey, spec func() *push.JobSpec) []byte {
	if frame, known := d.frames[key]; known {
		return frame
	}
	f := &push.JobAssignment{JobID: key.Job, JobSpec: *spec(), BlockHeight: key.Drawn, DeadlineBlock: key.deadline}
	f.ValidatorSigned = c.signDigest(f.Digest(c.ChainID))
	frame := push.Write(f)
	if d.frames == nil {
		d.frames = map[draftKey][]byte{}
	}
	if len(d.order) >= maxDrafts {
		delete(d.frames, d.order[0])
		d.order = d.order[1:]
	}
	d.frames[key] = frame
	d.order = append(d.order, key)
	return frame
}

// dropUpTo forgets what the blocks up to a height drew, or would have drawn.
func (d *drafts) dropUpTo(height types.Height) {
	d.order = slices.DeleteFunc(d.order, func(key draftKey) bool {
		over := key.Drawn <= height
		if over {
			delete(d.frames, key)
		}
		return over
	})
}

// onForeseen signs and encodes the frames to push if a block becomes final, while
// validators vote on it. After finality, a runner then waits only for the network.
// Nothing of it leaves before.
func (m *Machine) onForeseen(e Foreseen) {
	if len(e.Drafts) == 0 || !m.chain.headPhase().Pushes() {
		return
	}
	served := m.connections.servedRunners()
	for _, d := range e.Drafts[:min(len(e.Drafts), maxDrafts)] {
		if d.Drawn > m.chain.head.Height && slices.ContainsFunc(d.Committee, func(a types.Address) bool { return served[a] }) {
			m.drafts.frameOf(&m.config, draftKey{d.AssignmentID, d.Deadline, d.Spec.Hash()}, func() *push.JobSpec { return d.Spec })
		}
	}
}

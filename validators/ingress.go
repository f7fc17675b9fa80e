package validators

import (
	"slices"
	"sync"

	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/mesh"
	"github.com/cowboyinc/devnet/internal/environment/env"
	"github.com/cowboyinc/devnet/validators/catchup"
	"github.com/cowboyinc/devnet/validators/rations"
	"github.com/cowboyinc/devnet/validators/simplex"
)

// ingress queues incoming frames for the intake role, within each peer's rations, and
// holds the set to connect with. Meshes call it on their own goroutines.
type ingress struct {
	v *Validator

	mu        sync.Mutex
	rations   *rations.Rations
	attending bool // intake has an attend before it
	members   []types.Validator
	alarm     env.Alarm // rings when the next peer's ban ends
}

func newIngress(v *Validator) *ingress { return &ingress{v: v, rations: rations.New()} }

// classOf returns the urgency of a frame.
func classOf(frame []byte) rations.Class {
	if len(frame) == 0 {
		return rations.Bulk
	}
	switch frame[0] {
	case mesh.Vote, mesh.Certificate:
		return rations.Votes
	case mesh.Proposal, mesh.BlockRequest, mesh.BlockAnswer, mesh.CertificateRequest, mesh.ViewRequest, mesh.ViewAnswer,
		mesh.LifeRequest, mesh.LifeAnswer:
		return rations.Blocks
	}
	return rations.Bulk
}

// answerOf reports whether a frame's kind is used only for answers.
func answerOf(frame []byte) (what rations.Answer, answers bool) {
	if len(frame) == 0 {
		return 0, false
	}
	switch frame[0] {
	case mesh.BlockAnswer:
		return rations.Body, true
	case mesh.Batch:
		return rations.Range, true
	}
	return 0, false
}

// receiveFrame runs on the transport's goroutine: it only hands frames on. A frame
// without room is lost, as on any network.
func (d *ingress) receiveFrame(from types.Address, data []byte) {
	now := d.v.node.Clock.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	what, answers := answerOf(data)
	asked := answers && d.rations.Answers(from, what)
	if answers && !asked {
		d.v.count.refusedFrames.Add(1)
		d.mutePeer(from, d.rations.Blame(now, from, rations.Unasked))
		return
	}
	taken, shut := d.rations.Offer(now, rations.Frame{From: from, Data: data}, classOf(data), asked)
	d.disconnectPeer(from, shut)
	if !taken {
		d.v.count.refusedFrames.Add(1)
		return
	}
	if !d.attending {
		d.attending = true
		d.v.intake.Post(attend{})
	}
}

// nextFrame gives intake its next frame. It posts another attend where more wait, so
// that a role's other events have their turn.
func (d *ingress) nextFrame() (rations.Frame, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if round := d.v.round.Load(); round != nil {
		d.rations.Pace(round.View)
	}
	f, ok := d.rations.Next()
	d.attending = d.rations.Waiting() > 0
	if d.attending {
		d.v.intake.Post(attend{})
	}
	return f, ok
}

// spendRation takes from a peer's rations, and reports whether there was enough.
func (d *ingress) spendRation(from types.Address, of rations.Resource, n int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	ok, muted := d.rations.Spend(d.v.node.Clock.Now(), from, of, n)
	d.mutePeer(from, muted)
	return ok
}

// oweRation takes from a peer's rations what it has been given already.
func (d *ingress) oweRation(from types.Address, of rations.Resource, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rations.Owe(d.v.node.Clock.Now(), from, of, n)
}

// blamePeer notes that a peer sent what no honest peer sends.
func (d *ingress) blamePeer(from types.Address) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mutePeer(from, d.rations.Blame(d.v.node.Clock.Now(), from, rations.Invalid))
}

// noteRequest notes what a message to a peer asks for.
func (d *ingress) noteRequest(to types.Address, message any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch message.(type) {
	case *simplex.BlockRequest:
		d.rations.Expect(to, rations.Body)
	case *catchup.RangeRequest:
		d.rations.Expect(to, rations.Range)
	}
}

// connectMembers names the validators to be connected with.
func (d *ingress) connectMembers(members []types.Validator) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.members = members
	d.rations.Keep(d.v.node.Clock.Now(), members)
	d.connectAllowed()
}

// mutePeer counts and logs that a peer is muted, if due.
func (d *ingress) mutePeer(peer types.Address, due bool) {
	if !due {
		return
	}
	d.v.count.mutedPeers.Add(1)
	d.v.log.Warn("a peer is muted: it sent rubbish, and for a while the validator takes only its frames of the consensus", "peer", peer)
}

// disconnectPeer ends the connection with a peer for a while, if due is true.
func (d *ingress) disconnectPeer(peer types.Address, due bool) {
	if !due {
		return
	}
	d.v.count.shutPeers.Add(1)
	d.v.log.Warn("a peer is shut out: it sent far more than its rations", "peer", peer)
	d.connectAllowed()
}

// connectAllowed connects with the members that are not banned now, and sets the alarm for
// the end of the next ban.
func (d *ingress) connectAllowed() {
	now := d.v.node.Clock.Now()
	d.v.node.Mesh.SetPeers(slices.DeleteFunc(slices.Clone(d.members), func(m types.Validator) bool { return d.rations.Shut(now, m.Address) }))
	at := d.rations.Deadline(now)
	if d.alarm == nil {
		if at == types.Never {
			return
		}
		d.alarm = d.v.node.Clock.NewAlarm(func() { d.v.intake.Post(reopen{}) })
	}
	d.alarm.Set(at)
}

// endBans lets those in whose time is over.
func (d *ingress) endBans() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.connectAllowed()
}

// endAlarm ends the alarm.
func (d *ingress) endAlarm() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.alarm != nil {
		d.alarm.Set(types.Never)
	}
}

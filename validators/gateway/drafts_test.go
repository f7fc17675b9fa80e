package gateway

import (
	"testing"

	"github.com/cowboyinc/devnet/internal/base/crypto"
	"github.com/cowboyinc/devnet/internal/base/types"
	"github.com/cowboyinc/devnet/internal/base/wire/push"
)

// counted counts what a signer signs.
type counted struct {
	crypto.Signer
	signed int
}

func (c *counted) Sign(digest types.Hash) types.Signature {
	c.signed++
	return c.Signer.Sign(digest)
}

// draw makes the next block draw a runner.
func (w *world) draw(to crypto.Signer, committee int) AssignmentID {
	id := w.assign(to, 1, committee)
	w.at(to, id).Drawn++
	id.Drawn++
	return id
}

// foreseeing has a live runner, and a job that the next block draws it for.
func foreseeing(t *testing.T) (*world, *end, AssignmentID, *counted, Draft) {
	w := newWorld(t, nil)
	e := w.live("r0")
	id := w.draw(e.signer, 1)
	e.sent[0] = nil
	signer := &counted{Signer: w.config.Signer}
	w.config.Signer = signer
	return w, e, id, signer, Draft{AssignmentID: id, Deadline: w.at(e.signer, id).Deadline, Committee: []types.Address{e.signer.Address()},
		Spec: spec()}
}

// A block's assignments are signed while it is voted on, leave when it is final, and
// equal those made without drafts.
func TestWhatWasForeseenIsPushedWithoutAnotherSignature(t *testing.T) {
	w, e, id, signer, draft := foreseeing(t)
	w.step(Foreseen{[]Draft{draft}})
	if signer.signed != 1 || len(e.sent[job0]) > 0 {
		t.Fatalf("%d signatures, %d frames before the block is final", signer.signed, len(e.sent[job0]))
	}
	w.block(nil)
	if signer.signed != 1 {
		t.Errorf("%d signatures", signer.signed)
	}
	f := expect[*push.JobAssignment](e, job0)
	by, ok := signatures.Recover(f.Digest(chainID), f.ValidatorSigned)
	if f.JobID != id.Job || f.BlockHeight != id.Drawn || f.DeadlineBlock != draft.Deadline || !ok || by != signer.Address() {
		t.Errorf("pushed %+v", f)
	}
	if len(w.drafts.frames) > 0 || len(w.drafts.order) > 0 {
		t.Errorf("%d drafts outlive their block", len(w.drafts.frames))
	}
}

// Assignments of another block of the same height are not sent.
func TestADraftOfABlockThatIsNotFinalIsNeverSaid(t *testing.T) {
	for name, change := range map[string]func(*Draft){
		"spec":     func(d *Draft) { d.Spec.MaxPrice = types.WeiOf(7) },
		"deadline": func(d *Draft) { d.Deadline++ },
		"job":      func(d *Draft) { d.Job[0]++ },
		"height":   func(d *Draft) { d.Drawn++ },
	} {
		t.Run(name, func(t *testing.T) {
			w, e, id, signer, draft := foreseeing(t)
			change(&draft)
			w.step(Foreseen{[]Draft{draft}})
			w.block(nil)
			f := expect[*push.JobAssignment](e, job0)
			want := push.JobAssignment{JobID: id.Job, JobSpec: *spec(), BlockHeight: id.Drawn, DeadlineBlock: w.at(e.signer, id).Deadline}
			if f.JobID != want.JobID || f.BlockHeight != want.BlockHeight || f.Digest(chainID) != want.Digest(chainID) || signer.signed != 2 {
				t.Errorf("pushed %+v after %d signatures", f, signer.signed)
			}
		})
	}
}

// Nothing is signed ahead for an unconnected runner, in a phase without push, or
// beyond the bound; a draft for one of a committee serves all of it.
func TestDraftsAreFewAndOfThoseWhoAreHere(t *testing.T) {
	w, e, _, signer, draft := foreseeing(t)
	absent := draft
	absent.Committee = []types.Address{{9}}
	w.step(Foreseen{[]Draft{absent}})
	past := draft
	past.Drawn = w.head.Height
	w.step(Foreseen{[]Draft{past}})
	if signer.signed != 0 {
		t.Errorf("%d signatures", signer.signed)
	}
	var many []Draft
	for i := range 2 * maxDrafts {
		one := draft
		one.Job = types.Hash{byte(i), byte(i >> 8), 1}
		many = append(many, one)
	}
	w.step(Foreseen{many})
	w.step(Foreseen{many[maxDrafts:]})
	if signer.signed != 2*maxDrafts || len(w.drafts.frames) != maxDrafts || len(w.drafts.order) != maxDrafts {
		t.Errorf("%d signatures, %d drafts, %d in order", signer.signed, len(w.drafts.frames), len(w.drafts.order))
	}
	second := w.live("r1")
	w.draw(second.signer, 2)
	signer.signed = 0
	w.drafts = drafts{}
	w.block(nil)
	expect[*push.JobAssignment](e, job0)
	second.sent[0] = nil
	expect[*push.JobAssignment](second, job0)
	if signer.signed != 1 {
		t.Errorf("%d signatures for one committee", signer.signed)
	}
}
